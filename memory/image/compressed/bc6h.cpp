// BC6H (Khronos Data Format Specification 1.3, 20.2 "BC6H"): values are f16, exactly as defined there.
#include <array>
#include <string_view>

#include "memory/image/channel.hpp"
#include "memory/image/compressed/block.hpp"
#include "memory/image/compressed/bptc.hpp"

namespace eum::mem::image::compressed {
namespace {

/// Destination of a block's bit: bit `bit` of channel `channel` of endpoint `endpoint`.
struct Destination {
  std::uint8_t endpoint, channel, bit;
};

constexpr std::size_t most_bits = 75;  // of all endpoints together

struct Mode {
  std::uint8_t code;
  bool delta;
  std::uint8_t partition, bits;
  std::array<std::uint8_t, 3> delta_bits;
  std::uint8_t layout_size = 0;
  std::array<Destination, most_bits> layout{};
};

/// Reads a row of bc6h_modes.def. A layout of any other form does not compile.
consteval Mode mode_of(std::uint8_t code, bool delta, std::uint8_t partition, std::uint8_t bits,
                       std::uint8_t r, std::uint8_t g, std::uint8_t b, std::string_view layout) {
  Mode mode = {code, delta, partition, bits, {r, g, b}};
  const auto number = [&] {
    unsigned value = 0;
    while (layout.front() >= '0' && layout.front() <= '9') {
      value = value * 10 + static_cast<unsigned>(layout.front() - '0');
      layout.remove_prefix(1);
    }
    return value;
  };
  while (!layout.empty()) {
    const auto channel = std::string_view("rgb").find(layout.front());
    if (channel == std::string_view::npos) throw "not a channel";
    layout.remove_prefix(1);
    const unsigned endpoint = number();
    layout.remove_prefix(1);  // [
    const unsigned last = number();
    unsigned first = last;
    if (layout.front() == ':') {
      layout.remove_prefix(1);
      first = number();
    }
    layout.remove_prefix(1);  // ]
    if (!layout.empty()) layout.remove_prefix(1);
    for (unsigned bit = first;; bit = bit < last ? bit + 1 : bit - 1) {
      mode.layout.at(mode.layout_size++) = {static_cast<std::uint8_t>(endpoint),
                                            static_cast<std::uint8_t>(channel),
                                            static_cast<std::uint8_t>(bit)};
      if (bit == last) break;
    }
  }
  // A block with two subsets has 46 bits of indices, one with one subset has 63.
  if ((code < 2 ? 2 : 5) + mode.layout_size + partition != (partition != 0 ? 82 : 65))
    throw "bits are missing";
  return mode;
}

constexpr auto modes = std::to_array<Mode>({
#define BC6H_MODE(code, delta, partition, bits, r, g, b, layout) \
  mode_of(code, delta, partition, bits, r, g, b, layout),
#include "memory/image/compressed/bc6h_modes.def"
#undef BC6H_MODE
});

const Mode* find_mode(unsigned code) {
  for (const Mode& mode : modes)
    if (mode.code == code) return &mode;
  return nullptr;  // reserved
}

/// Maps an endpoint's value of `bits` bits to the scale used for interpolation.
template <bool is_signed>
int unquantize(int value, unsigned bits) {
  if constexpr (!is_signed) {
    if (bits >= 15 || value == 0) return value;
    if (value == (1 << bits) - 1) return 0xffff;
    return ((value << 16) + 0x8000) >> bits;
  } else {
    if (bits >= 16 || value == 0) return value;
    const int magnitude = std::abs(value);
    const int result =
        magnitude >= (1 << (bits - 1)) - 1 ? 0x7fff : ((magnitude << 15) + 0x4000) >> (bits - 1);
    return value < 0 ? -result : result;
  }
}

/// f16 of an interpolated value. -0x8000, which only 16-bit endpoints can reach, becomes minus infinity.
template <bool is_signed>
std::uint32_t finish(int value) {
  if constexpr (!is_signed) return static_cast<std::uint32_t>((value * 31) >> 6);
  const auto magnitude = static_cast<std::uint32_t>((std::abs(value) * 31) >> 5);
  return value < 0 ? 0x8000 | magnitude : magnitude;
}

}  // namespace

template <bool is_signed>
Texel bc6h(const std::byte* bytes, unsigned x, unsigned y) {
  const unsigned texel = 4 * y + x;
  bptc::BlockBits block(bytes);
  unsigned code = block.take(2);
  if (code >= 2) code |= block.take(3) << 2;
  const Mode* mode = find_mode(code);
  if (mode == nullptr) return {0, 0, 0, channel::f32_one};

  std::array<std::array<std::uint32_t, 3>, 4> raw{};
  for (std::size_t i = 0; i < mode->layout_size; ++i) {
    const Destination& d = mode->layout[i];
    raw[d.endpoint][d.channel] |= block.take(1) << d.bit;
  }
  const unsigned partition = block.take(mode->partition);
  const unsigned subsets = mode->partition != 0 ? 2 : 1, index_bits = subsets == 2 ? 3 : 4;
  const unsigned subset = bptc::subset_of(subsets, partition, texel);
  const int weight = bptc::weight(
      index_bits, bptc::index_of(block, block.position(), index_bits, subsets, partition, texel));

  Texel result = {0, 0, 0, channel::f32_one};
  for (unsigned c = 0; c < 3; ++c) {
    const auto endpoint = [&](unsigned e) {
      std::uint32_t value = raw[e][c];
      if (mode->delta && e != 0) {
        value = raw[0][c] + static_cast<std::uint32_t>(channel::sign_extend(value, mode->delta_bits[c]));
        value &= (1u << mode->bits) - 1;
      }
      return unquantize<is_signed>(
          is_signed ? channel::sign_extend(value, mode->bits) : static_cast<int>(value), mode->bits);
    };
    const int value = bptc::interpolate(endpoint(2 * subset), endpoint(2 * subset + 1), weight);
    result[c] = channel::decode<ChannelKind::FLOAT, 16>(finish<is_signed>(value));
  }
  return result;
}

template Texel bc6h<false>(const std::byte*, unsigned, unsigned);
template Texel bc6h<true>(const std::byte*, unsigned, unsigned);

}  // namespace eum::mem::image::compressed
