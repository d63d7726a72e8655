// Fuzzes the command lines of the debugger: no line may crash the parser, refusals give a reason, and help
// knows every verb. Seeds: tests/fuzz/corpus/debug_command.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/cli/debug/command.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eum::cli::debug;
  const auto command = parse_command({reinterpret_cast<const char*>(data), size});
  if (!command && command.error().message.empty()) std::abort();
  if (command && command->count && *command->count > max_count) std::abort();
  return 0;
}
