// Any text as configuration: an error with a position, or registers that are sorted, in range, and all in an
// MsrFile.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "runtime/user_msr/msr_file.hpp"

namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "msr_config: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eum;
  using namespace eum::rt;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  // No host file may be opened, since reading it might block.
  if (text.find('/') != std::string_view::npos) return 0;
  Result<MsrConfig> config = parse_msr_config(text, "fuzz", "/nonexistent");
  if (!config) {
    std::size_t line = 0, column = 0;
    require(std::sscanf(config.error().message.c_str(), "fuzz:%zu:%zu: ", &line, &column) == 2,
            "an error without a place");
    auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    require(line >= 1 && line <= lines && column >= 1 && column <= size + 2, "a place outside the text");
    return 0;
  }
  for (std::size_t i = 0; i < config->msrs.size(); ++i) {
    require(config->msrs[i].address < x86::user_msr_limit, "an address beyond the bitmap");
    require(config->msrs[i].address != 0x1c, "IA32_USER_MSR_CTL, which is the machine's own");
    require(i == 0 || config->msrs[i - 1].address < config->msrs[i].address, "not sorted, or twice");
    for (char c : config->msrs[i].name)
      require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "a control character in a name");
  }
  MsrFile file;
  require(static_cast<bool>(file.add_all(*config)), "registers that cannot be added");
  return 0;
}
