// Any text that parses, as a kernel: lowering must not crash, and its result must be well formed. Both
// register sizes are tried.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory_resource>
#include <string_view>

#include "frontend/ir/verifier.hpp"
#include "frontend/visa/lower/lower.hpp"
#include "frontend/visa/parser.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eum;
  const auto module = visa::parse({reinterpret_cast<const char*>(data), size});
  if (!module) return 0;
  for (std::size_t k = 0; k < module->kernels.size() && k < 4; ++k)
    for (const unsigned grf_bytes : {32u, 64u}) {
      std::pmr::monotonic_buffer_resource memory;
      visa::LowerRequest request;
      request.grf_bytes = grf_bytes;
      request.symbols["data"] = 0x1'0000'0000;
      const auto function = visa::lower_kernel(*module, k, "fuzz", request, &memory);
      if (!function) continue;
      if (const auto good = ir::verify(*function); !good) {
        std::fprintf(stderr, "%s\n", good.error().message.c_str());
        std::abort();
      }
    }
  return 0;
}
