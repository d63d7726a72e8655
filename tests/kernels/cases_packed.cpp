// Vectors of 8 and 16-bit integers: packed_char4, packed_uchar4, packed_short2, packed_ushort2.
#include <bit>

#include "tests/kernels/case_parts.hpp"

namespace eum::kernels {
namespace {

constexpr size_t kResults = 12;

template <class T>
T clamped(int64_t value) {
  return static_cast<T>(
      std::clamp<int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

/// The twelve results for one pair of components, in the kernel's order.
template <class T>
std::array<T, kResults> results(T left, T right) {
  using U = std::make_unsigned_t<T>;
  constexpr int bits = sizeof(T) * 8;
  const int64_t x = left, y = right;
  const auto ux = static_cast<U>(left), uy = static_cast<U>(right);
  return {static_cast<T>(x + y),
          clamped<T>(x + y),
          clamped<T>(x - y),
          static_cast<T>((x * y) >> bits),
          static_cast<T>(x * y),
          static_cast<T>(std::rotl(ux, uy % bits)),
          static_cast<T>(((x + y) >> 1) ^ ((x + y + 1) >> 1)),
          static_cast<T>(std::countl_zero(ux) + std::popcount(uy)),
          static_cast<T>(std::min(x, y) - std::max(x, y)),
          static_cast<T>(x > y ? x - y : y - x),
          x > y ? right : left,
          clamped<T>(x * y + x)};
}

template <class T, size_t kLanes>
void reference_packed(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<T>(buffers, 0), b = elements<T>(buffers, 1), out = elements<T>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++)
    for (size_t lane = 0; lane < kLanes; lane++) {
      const auto all = results(a[i * kLanes + lane], b[i * kLanes + lane]);
      for (size_t k = 0; k < kResults; k++) out[(i * kResults + k) * kLanes + lane] = all[k];
    }
}

template <class T, size_t kLanes>
KernelCase packed(const char* kernel, uint32_t items) {
  using S = std::make_signed_t<T>;
  const Pairs<S> pairs = edge_pairs<S>(400 + sizeof(T), items * kLanes);
  return {.name = std::string("packed.") + kernel,
          .file = "packed",
          .kernel = kernel,
          .global = {items, 1, 1},
          .args = {input(pairs.first, element_of<T>()), input(pairs.second, element_of<T>()),
                   output<T>(items * kLanes * kResults)},
          .reference = reference_packed<T, kLanes>};
}

}  // namespace

void add_packed_cases(std::vector<KernelCase>& cases) {
  cases.push_back(packed<int8_t, 4>("packed_char4", 60));
  cases.push_back(packed<uint8_t, 4>("packed_uchar4", 61));
  cases.push_back(packed<int16_t, 2>("packed_short2", 100));
  cases.push_back(packed<uint16_t, 2>("packed_ushort2", 101));
}

}  // namespace eum::kernels
