// BC1 to BC5. Interpolated values are exact fractions, rounded once to f32 (Khronos Data Format Specification
// 1.3, 18 "S3TC" and 19 "RGTC", which define them as numbers, not as bytes).
#include <array>
#include <cstdlib>
#include <cstring>

#include "memory/image/channel.hpp"
#include "memory/image/compressed/block.hpp"

namespace eum::mem::image::compressed {
namespace {

template <class T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// f32 of the linear value of each i / denominator, taken as sRGB.
template <std::uint32_t denominator>
constexpr auto srgb_fractions = [] {
  std::array<std::uint32_t, denominator + 1> values{};
  for (std::uint32_t i = 0; i <= denominator; ++i)
    values[i] =
        std::bit_cast<std::uint32_t>(static_cast<float>(channel::srgb_to_linear(i / double{denominator})));
  return values;
}();

template <ChannelKind kind, std::uint32_t denominator>
std::uint32_t fraction(std::uint32_t numerator) {
  if constexpr (kind == ChannelKind::SRGB)
    return srgb_fractions<denominator>[numerator];
  else
    return channel::ratio(numerator, denominator);
}

enum class Fourth { Colour, TransparentBlack, OpaqueBlack };

/// The eight colour bytes: two 5-6-5 colours, then a two-bit index per texel. `fourth` says what the last
/// index means where the first colour is not numerically larger; Colour: it is always another colour.
template <ChannelKind kind>
Texel colour(const std::byte* block, unsigned x, unsigned y, Fourth fourth) {
  const std::uint32_t c0 = load<std::uint16_t>(block), c1 = load<std::uint16_t>(block + 2);
  const std::uint32_t index = load<std::uint32_t>(block + 4) >> 2 * (4 * y + x) & 3;
  const bool four = fourth == Fourth::Colour || c0 > c1;
  if (!four && index == 3) return {0, 0, 0, fourth == Fourth::TransparentBlack ? 0 : channel::f32_one};
  // Weight of the first colour in sixths; the second colour has the rest.
  constexpr std::array<std::uint32_t, 4> of_four = {6, 0, 4, 2}, of_three = {6, 0, 3, 0};
  const std::uint32_t first = four ? of_four[index] : of_three[index];
  const auto mix = [&](unsigned bit, std::uint32_t most) {
    return (c0 >> bit & most) * first + (c1 >> bit & most) * (6 - first);
  };
  return {fraction<kind, 6 * 31>(mix(11, 31)), fraction<kind, 6 * 63>(mix(5, 63)),
          fraction<kind, 6 * 31>(mix(0, 31)), channel::f32_one};
}

/// The eight bytes of one channel: two values, then a three-bit index per texel.
template <ChannelKind kind>
std::uint32_t single(const std::byte* block, unsigned x, unsigned y) {
  constexpr bool is_signed = kind == ChannelKind::SNORM;
  constexpr int most = is_signed ? 127 : 255;
  const auto bits = load<std::uint64_t>(block);
  const auto value = [&](unsigned bit) {
    const auto byte = static_cast<std::uint8_t>(bits >> bit);
    return is_signed ? static_cast<std::int8_t>(byte) : int{byte};
  };
  const bool eight = value(0) > value(8);
  // -128 means -1, but the comparison uses the bytes as they are.
  const int a = std::max(value(0), -most), b = std::max(value(8), -most);
  const auto index = static_cast<int>(bits >> (16 + 3 * (4 * y + x)) & 7);
  const auto result = [](int numerator, std::uint32_t denominator) {
    return (numerator < 0 ? 0x80000000 : 0) |
           channel::ratio(static_cast<std::uint32_t>(std::abs(numerator)), denominator);
  };
  if (index == 0) return result(a, most);
  if (index == 1) return result(b, most);
  if (eight) return result((8 - index) * a + (index - 1) * b, 7 * most);
  if (index == 6) return is_signed ? 0x80000000 | channel::f32_one : 0;
  if (index == 7) return channel::f32_one;
  return result((6 - index) * a + (index - 1) * b, 5 * most);
}

}  // namespace

template <ChannelKind kind>
Texel dxt1_rgb(const std::byte* block, unsigned x, unsigned y) {
  return colour<kind>(block, x, y, Fourth::OpaqueBlack);
}

template <ChannelKind kind>
Texel bc1(const std::byte* block, unsigned x, unsigned y) {
  return colour<kind>(block, x, y, Fourth::TransparentBlack);
}

template <ChannelKind kind>
Texel bc2(const std::byte* block, unsigned x, unsigned y) {
  Texel texel = colour<kind>(block + 8, x, y, Fourth::Colour);
  texel[3] = channel::ratio(load<std::uint64_t>(block) >> 4 * (4 * y + x) & 15, 15);
  return texel;
}

template <ChannelKind kind>
Texel bc3(const std::byte* block, unsigned x, unsigned y) {
  Texel texel = colour<kind>(block + 8, x, y, Fourth::Colour);
  texel[3] = single<ChannelKind::UNORM>(block, x, y);
  return texel;
}

template <ChannelKind kind>
Texel bc4(const std::byte* block, unsigned x, unsigned y) {
  return {single<kind>(block, x, y), 0, 0, channel::f32_one};
}

template <ChannelKind kind>
Texel bc5(const std::byte* block, unsigned x, unsigned y) {
  return {single<kind>(block, x, y), single<kind>(block + 8, x, y), 0, channel::f32_one};
}

template Texel dxt1_rgb<ChannelKind::UNORM>(const std::byte*, unsigned, unsigned);
template Texel dxt1_rgb<ChannelKind::SRGB>(const std::byte*, unsigned, unsigned);
template Texel bc1<ChannelKind::UNORM>(const std::byte*, unsigned, unsigned);
template Texel bc1<ChannelKind::SRGB>(const std::byte*, unsigned, unsigned);
template Texel bc2<ChannelKind::UNORM>(const std::byte*, unsigned, unsigned);
template Texel bc2<ChannelKind::SRGB>(const std::byte*, unsigned, unsigned);
template Texel bc3<ChannelKind::UNORM>(const std::byte*, unsigned, unsigned);
template Texel bc3<ChannelKind::SRGB>(const std::byte*, unsigned, unsigned);
template Texel bc4<ChannelKind::UNORM>(const std::byte*, unsigned, unsigned);
template Texel bc4<ChannelKind::SNORM>(const std::byte*, unsigned, unsigned);
template Texel bc5<ChannelKind::UNORM>(const std::byte*, unsigned, unsigned);
template Texel bc5<ChannelKind::SNORM>(const std::byte*, unsigned, unsigned);

}  // namespace eum::mem::image::compressed
