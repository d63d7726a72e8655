// The names are those of jit/engines.def.
#include "runtime/cli/engine_option.hpp"

#include <fmt/format.h>

namespace eum::cli {

void add_engine_option(CLI::App& command, std::string& engine, const std::string& more) {
  command.add_option("--engine,--host", engine, fmt::format("{}, auto{}", jit::engine_names(), more))
      ->capture_default_str();
}

Result<jit::EngineKind> engine_of(const std::string& name) {
  if (name == "auto")
    return jit::info(jit::EngineKind::avx512).make() ? jit::EngineKind::avx512 : jit::EngineKind::avx2;
  if (const auto engine = jit::parse_engine(name)) return *engine;
  return error("--engine: expected one of {}, auto, found '{}'", jit::engine_names(), name);
}

}  // namespace eum::cli
