// ETC1, ETC2 and EAC (Khronos Data Format Specification 1.3, 21 "ETC1" and 22 "ETC2"), decoded exactly as
// defined there: colours are bytes, single channels have 11 bits. Blocks are big-endian; texels are in
// column-major order.
#include <algorithm>
#include <array>
#include <cstring>

#include "memory/image/channel.hpp"
#include "memory/image/compressed/block.hpp"

namespace eum::mem::image::compressed {
namespace {

class BlockBits {
 public:
  explicit BlockBits(const std::byte* block) {
    std::memcpy(&bits_, block, sizeof bits_);
    bits_ = __builtin_bswap64(bits_);
  }
  /// Bits `high` to `low` in the specification's numbering: 63 is the first bit of the block.
  int operator()(unsigned high, unsigned low) const {
    return static_cast<int>(bits_ >> low & ((std::uint64_t{1} << (high - low + 1)) - 1));
  }
  int operator()(unsigned bit) const { return (*this)(bit, bit); }

 private:
  std::uint64_t bits_;
};

using Colour = std::array<int, 3>;

struct Pixel {
  Colour colour{};
  bool transparent = false;
};

constexpr int expand4(int v) { return v * 17; }
constexpr int expand5(int v) { return v << 3 | v >> 2; }
constexpr int expand6(int v) { return v << 2 | v >> 4; }
constexpr int expand7(int v) { return v << 1 | v >> 6; }

Pixel moved(const Colour& colour, int by) {
  Pixel pixel;
  for (std::size_t c = 0; c < 3; ++c) pixel.colour[c] = std::clamp(colour[c] + by, 0, 255);
  return pixel;
}

/// The steps from the base colour, small and large.
constexpr std::array<std::array<int, 2>, 8> modifiers = {
    {{2, 8}, {5, 17}, {9, 29}, {13, 42}, {18, 60}, {24, 80}, {33, 106}, {47, 183}}};
constexpr std::array<int, 8> distances = {3, 6, 11, 16, 23, 32, 41, 64};

/// Two halves, each with its own base colour and table.
Pixel halves(const BlockBits& b, const std::array<Colour, 2>& base, unsigned x, unsigned y, int index,
             bool punch_through) {
  const std::size_t half = (b(32) != 0 ? y : x) >= 2 ? 1 : 0;
  const auto table = static_cast<std::size_t>(half == 0 ? b(39, 37) : b(36, 34));
  if (punch_through && index == 2) return {{}, true};
  int step = modifiers[table][static_cast<std::size_t>(index & 1)];
  if (punch_through && index == 0) step = 0;
  return moved(base[half], index >= 2 ? -step : step);
}

Pixel t_mode(const BlockBits& b, int index) {
  const Colour first = {expand4(b(60, 59) << 2 | b(57, 56)), expand4(b(55, 52)), expand4(b(51, 48))};
  const Colour second = {expand4(b(47, 44)), expand4(b(43, 40)), expand4(b(39, 36))};
  const int distance = distances[static_cast<std::size_t>(b(35, 34) << 1 | b(32))];
  return index == 0 ? moved(first, 0) : moved(second, (2 - index) * distance);
}

Pixel h_mode(const BlockBits& b, int index) {
  const Colour first = {b(62, 59), b(58, 56) << 1 | b(52), b(51) << 3 | b(49, 47)};
  const Colour second = {b(46, 43), b(42, 39), b(38, 35)};
  // The order of the two colours encodes one more bit.
  const int distance =
      distances[static_cast<std::size_t>(b(34) << 2 | b(32) << 1 | (first >= second ? 1 : 0))];
  Colour base = index < 2 ? first : second;
  for (int& c : base) c = expand4(c);
  return moved(base, index % 2 == 0 ? distance : -distance);
}

Pixel planar(const BlockBits& b, unsigned x, unsigned y) {
  const Colour origin = {expand6(b(62, 57)), expand7(b(56) << 6 | b(54, 49)),
                         expand6(b(48) << 5 | b(44, 43) << 3 | b(41, 39))};
  const Colour horizontal = {expand6(b(38, 34) << 1 | b(32)), expand7(b(31, 25)), expand6(b(24, 19))};
  const Colour vertical = {expand6(b(18, 13)), expand7(b(12, 6)), expand6(b(5, 0))};
  Pixel pixel;
  for (std::size_t c = 0; c < 3; ++c) {
    const int value = static_cast<int>(x) * (horizontal[c] - origin[c]) +
                      static_cast<int>(y) * (vertical[c] - origin[c]) + 4 * origin[c] + 2;
    pixel.colour[c] = std::clamp(value >> 2, 0, 255);
  }
  return pixel;
}

/// `has_punch_through`: bit 33 says that all texels are opaque, and there is no individual mode.
Pixel decode(const std::byte* block, unsigned x, unsigned y, bool has_punch_through) {
  const BlockBits b(block);
  const unsigned texel = 4 * x + y;
  const int index = b(16 + texel) << 1 | b(texel);
  const bool punch_through = has_punch_through && b(33) == 0;
  if (!has_punch_through && b(33) == 0) {
    const Colour first = {expand4(b(63, 60)), expand4(b(55, 52)), expand4(b(47, 44))};
    const Colour second = {expand4(b(59, 56)), expand4(b(51, 48)), expand4(b(43, 40))};
    return halves(b, {first, second}, x, y, index, false);
  }
  const Colour first = {b(63, 59), b(55, 51), b(47, 43)};
  const std::array<int, 3> difference = {b(58, 56), b(50, 48), b(42, 40)};
  std::array<Colour, 2> base{};
  for (std::size_t c = 0; c < 3; ++c) {
    const int second = first[c] + (difference[c] ^ 4) - 4;
    if (second < 0 || second > 31) {  // differences out of range select another mode
      if (c == 2) return planar(b, x, y);
      if (punch_through && index == 2) return {{}, true};
      return c == 0 ? t_mode(b, index) : h_mode(b, index);
    }
    base[0][c] = expand5(first[c]);
    base[1][c] = expand5(second);
  }
  return halves(b, base, x, y, index, punch_through);
}

template <ChannelKind kind>
Texel texel_of(const Pixel& pixel) {
  const auto colour = [&](std::size_t c) {
    return channel::decode<kind, 8>(static_cast<std::uint32_t>(pixel.colour[c]));
  };
  return {colour(0), colour(1), colour(2), pixel.transparent ? 0 : channel::f32_one};
}

/// EAC modifiers of indices 0 to 3; those of indices 4 to 7 are -1 minus them.
constexpr std::array<std::array<int, 4>, 16> eac_modifiers = {{{-3, -6, -9, -15},
                                                               {-3, -7, -10, -13},
                                                               {-2, -5, -8, -13},
                                                               {-2, -4, -6, -13},
                                                               {-3, -6, -8, -12},
                                                               {-3, -7, -9, -11},
                                                               {-4, -7, -8, -11},
                                                               {-3, -5, -8, -11},
                                                               {-2, -6, -8, -10},
                                                               {-2, -5, -8, -10},
                                                               {-2, -4, -8, -10},
                                                               {-2, -5, -7, -10},
                                                               {-3, -4, -7, -10},
                                                               {-1, -2, -3, -10},
                                                               {-4, -6, -8, -9},
                                                               {-3, -5, -7, -9}}};

struct Eac {
  int base, multiplier, modifier;
};

Eac eac(const std::byte* block, unsigned x, unsigned y) {
  const BlockBits b(block);
  const unsigned low = 45 - 3 * (4 * x + y);
  const int index = b(low + 2, low);
  const int modifier =
      eac_modifiers[static_cast<std::size_t>(b(51, 48))][static_cast<std::size_t>(index & 3)];
  return {b(63, 56), b(55, 52), index < 4 ? modifier : -1 - modifier};
}

template <ChannelKind kind>
std::uint32_t eac_11(const std::byte* block, unsigned x, unsigned y) {
  const Eac e = eac(block, x, y);
  const int step = e.multiplier != 0 ? e.modifier * e.multiplier * 8 : e.modifier;
  if constexpr (kind == ChannelKind::UNORM)
    return channel::ratio(static_cast<std::uint32_t>(std::clamp(e.base * 8 + 4 + step, 0, 2047)), 2047);
  const int base = std::max((e.base ^ 128) - 128, -127);
  const int value = std::clamp(base * 8 + step, -1023, 1023);
  return (value < 0 ? 0x80000000 : 0) | channel::ratio(static_cast<std::uint32_t>(std::abs(value)), 1023);
}

}  // namespace

template <ChannelKind kind>
Texel etc2_rgb8(const std::byte* block, unsigned x, unsigned y) {
  return texel_of<kind>(decode(block, x, y, false));
}

template <ChannelKind kind>
Texel etc2_rgb8_pta(const std::byte* block, unsigned x, unsigned y) {
  return texel_of<kind>(decode(block, x, y, true));
}

template <ChannelKind kind>
Texel etc2_eac_rgba8(const std::byte* block, unsigned x, unsigned y) {
  Texel texel = texel_of<kind>(decode(block + 8, x, y, false));
  const Eac e = eac(block, x, y);
  texel[3] =
      channel::ratio(static_cast<std::uint32_t>(std::clamp(e.base + e.modifier * e.multiplier, 0, 255)), 255);
  return texel;
}

template <ChannelKind kind>
Texel eac_r11(const std::byte* block, unsigned x, unsigned y) {
  return {eac_11<kind>(block, x, y), 0, 0, channel::f32_one};
}

template <ChannelKind kind>
Texel eac_rg11(const std::byte* block, unsigned x, unsigned y) {
  return {eac_11<kind>(block, x, y), eac_11<kind>(block + 8, x, y), 0, channel::f32_one};
}

template Texel etc2_rgb8<ChannelKind::UNORM>(const std::byte*, unsigned, unsigned);
template Texel etc2_rgb8<ChannelKind::SRGB>(const std::byte*, unsigned, unsigned);
template Texel etc2_rgb8_pta<ChannelKind::UNORM>(const std::byte*, unsigned, unsigned);
template Texel etc2_rgb8_pta<ChannelKind::SRGB>(const std::byte*, unsigned, unsigned);
template Texel etc2_eac_rgba8<ChannelKind::UNORM>(const std::byte*, unsigned, unsigned);
template Texel etc2_eac_rgba8<ChannelKind::SRGB>(const std::byte*, unsigned, unsigned);
template Texel eac_r11<ChannelKind::UNORM>(const std::byte*, unsigned, unsigned);
template Texel eac_r11<ChannelKind::SNORM>(const std::byte*, unsigned, unsigned);
template Texel eac_rg11<ChannelKind::UNORM>(const std::byte*, unsigned, unsigned);
template Texel eac_rg11<ChannelKind::SNORM>(const std::byte*, unsigned, unsigned);

}  // namespace eum::mem::image::compressed
