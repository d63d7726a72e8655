// Any text as configuration: an error with a place, or registers that are sorted, in range, and all in an
// MsrFile.
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
  // No file of the host may be waited for.
  if (text.find('/') != std::string_view::npos) return 0;
  Result<MsrConfig> config = parse_msr_config(text, "fuzz", "/nonexistent");
  if (!config) {
    require(config.error().message.starts_with("fuzz:"), "an error without a place");
    return 0;
  }
  for (std::size_t i = 0; i < config->msrs.size(); ++i) {
    require(config->msrs[i].address < x86::user_msr_limit, "an address beyond the bitmap");
    require(i == 0 || config->msrs[i - 1].address < config->msrs[i].address, "not sorted, or twice");
  }
  MsrFile file;
  require(static_cast<bool>(file.add_all(*config)), "registers that cannot be added");
  return 0;
}
