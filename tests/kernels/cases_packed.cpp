// Vectors of 8 and 16-bit integers: packed_char4, packed_uchar4, packed_short2, packed_ushort2. What is
// computed of bytes and words in more bits than they have: mixing.
#include <fmt/format.h>

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

/// For each lane of two vectors of an item, its results in vectors one after the other.
template <class T, size_t kLanes, auto kResultsOf>
void reference_of_pairs(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<T>(buffers, 0), b = elements<T>(buffers, 1), out = elements<T>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++)
    for (size_t lane = 0; lane < kLanes; lane++) {
      const auto all = kResultsOf(a[i * kLanes + lane], b[i * kLanes + lane]);
      for (size_t k = 0; k < all.size(); k++) out[(i * all.size() + k) * kLanes + lane] = all[k];
    }
}

template <class T, size_t kLanes, auto kResultsOf>
KernelCase of_pairs(const char* file, const char* kernel, uint32_t items, uint64_t seed) {
  using S = std::make_signed_t<T>;
  const Pairs<S> pairs = edge_pairs<S>(seed + sizeof(T), items * kLanes);
  return {.name = fmt::format("{}.{}", file, kernel),
          .file = file,
          .kernel = kernel,
          .global = {items, 1, 1},
          .args = {input(pairs.first, element_of<T>()), input(pairs.second, element_of<T>()),
                   output<T>(items * kLanes * kResultsOf(T{}, T{}).size())},
          .reference = reference_of_pairs<T, kLanes, kResultsOf>};
}

template <class T, size_t kLanes>
KernelCase packed(const char* kernel, uint32_t items) {
  return of_pairs<T, kLanes, results<T>>("packed", kernel, items, 400);
}

std::array<uint8_t, 5> mixed_pixels(int x, int y) {
  return {static_cast<uint8_t>((x * 77 + y * 179) >> 8), static_cast<uint8_t>((x + y) >> 1),
          static_cast<uint8_t>((x + y + 1) >> 1), clamped<uint8_t>(x * 3 - 50),
          static_cast<uint8_t>(x + ((y - x) * 77 >> 8))};
}
std::array<int16_t, 4> mixed_sounds(int x, int y) {
  return {static_cast<int16_t>((x * 19661 + 16384) >> 15), static_cast<int16_t>((x + y) >> 1),
          clamped<int16_t>(x + y), static_cast<int16_t>(x * y >> 16)};
}

void reference_overlay(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<uint8_t>(buffers, 0), to = elements<uint8_t>(buffers, 1);
  const size_t width = c.global[0];
  for (size_t y = 0; y < c.global[1]; y++)
    for (size_t x = 0; x < width; x++) {
      const auto at = [&](size_t row, size_t column) { return from[(y + row) * (width + 2) + x + column]; };
      int around = 0;
      for (size_t k = 0; k < 9; k++) around += k == 4 ? 0 : at(k / 3, k % 3);
      const int under = at(1, 1), edge = std::clamp(9 * under - around, 0, 255);
      to[y * width + x] =
          static_cast<uint8_t>(under < 128 ? under * edge >> 7 : 255 - ((255 - under) * (255 - edge) >> 7));
    }
}

}  // namespace

void add_packed_cases(std::vector<KernelCase>& cases) {
  cases.push_back(packed<int8_t, 4>("packed_char4", 60));
  cases.push_back(packed<uint8_t, 4>("packed_uchar4", 61));
  cases.push_back(packed<int16_t, 2>("packed_short2", 100));
  cases.push_back(packed<uint16_t, 2>("packed_ushort2", 101));
  cases.push_back(of_pairs<uint8_t, 16, mixed_pixels>("mixing", "pixels", 61, 410));
  cases.push_back(of_pairs<int16_t, 8, mixed_sounds>("mixing", "sounds", 61, 410));
  constexpr uint32_t width = 53, height = 11;
  cases.push_back({.name = "mixing.edges",
                   .file = "mixing",
                   .kernel = "edges",
                   .dimensions = 2,
                   .global = {width, height, 1},
                   .args = {input(random_bits<uint8_t>(413, (width + 2) * (height + 2))),
                            output<uint8_t>(width * height), scalar(static_cast<int>(width))},
                   .reference = reference_overlay});
}

}  // namespace eum::kernels
