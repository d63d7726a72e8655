// Any bytes as a kernel: lowering must not crash, and its result must be well formed. The last byte selects
// family and SIMD width, so that bare kernels are seeds.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory_resource>
#include <span>

#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/verifier.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eum;
  if (size == 0) return 0;
  const auto family = static_cast<gen::Family>((data[size - 1] & 7) % gen::family_count);
  const unsigned simd = 8u << (data[size - 1] >> 3) % 3;
  std::pmr::monotonic_buffer_resource memory;
  const auto function =
      gen::lower_kernel(std::as_bytes(std::span(data, size - 1)), family, simd, "fuzz", &memory);
  if (!function) return 0;
  if (const auto good = ir::verify(*function); !good) {
    std::fprintf(stderr, "%s\n", good.error().message.c_str());
    std::abort();
  }
  return 0;
}
