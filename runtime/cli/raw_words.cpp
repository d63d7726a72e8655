// Shared by disasm and check, for files in which no container lists the kernels.
#include "runtime/cli/raw_words.hpp"

#include <fmt/core.h>

#include "runtime/cli/family_option.hpp"
#include "runtime/cli/files.hpp"

namespace eum::cli {

void add_raw_options(CLI::App& command, RawOptions& to, std::string& kernel) {
  auto* one = command.add_option("--kernel", kernel, "only this kernel");
  auto* family =
      command.add_option("--family", to.family, fmt::format("one of {}, with --raw", family_names()));
  auto* raw = command.add_flag("--raw", to.raw, "the file holds instruction words and nothing else")
                  ->needs(family)
                  ->excludes(one);
  family->needs(raw);
}

std::optional<Failure> read_raw(const std::string& file, const RawOptions& options, RawWords& words) {
  const auto family = family_of(options.family);
  if (!family) return Failure{ExitCode::Usage, family.error()};
  auto bytes = read_file(file);
  if (!bytes) return Failure{ExitCode::BadInput, bytes.error()};
  if (bytes->empty())
    return Failure{ExitCode::BadInput, error("{}: expected instruction words, found nothing", file)};
  words = {std::move(*bytes), *family};
  return std::nullopt;
}

}  // namespace eum::cli
