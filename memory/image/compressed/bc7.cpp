// BC7 (Khronos Data Format Specification 1.3, 20.1 "BC7"): values are bytes, exactly as defined there.
#include <array>
#include <bit>

#include "memory/image/channel.hpp"
#include "memory/image/compressed/block.hpp"
#include "memory/image/compressed/bptc.hpp"

namespace eum::mem::image::compressed {
namespace {

/// Number of bits of each part of a block, in the order in which the parts follow the mode.
struct Mode {
  std::uint8_t subsets, partition, rotation, index_selection, colour, alpha;
  std::uint8_t own_p, shared_p;  ///< lowest bits (P-bits), one per endpoint or one per subset: 0 or 1
  std::uint8_t index, second_index;
};

constexpr std::array<Mode, 8> modes = {{
    {3, 4, 0, 0, 4, 0, 1, 0, 3, 0},
    {2, 6, 0, 0, 6, 0, 0, 1, 3, 0},
    {3, 6, 0, 0, 5, 0, 0, 0, 2, 0},
    {2, 6, 0, 0, 7, 0, 1, 0, 2, 0},
    {1, 0, 2, 1, 5, 6, 0, 0, 2, 3},
    {1, 0, 2, 0, 7, 8, 0, 0, 2, 2},
    {1, 0, 0, 0, 7, 7, 1, 0, 4, 0},
    {2, 6, 0, 0, 5, 5, 1, 0, 2, 0},
}};

/// Widens a number of `bits` bits to a byte by repeating its upper bits in the lower ones.
constexpr std::uint8_t expand(std::uint32_t value, unsigned bits) {
  const std::uint32_t top = value << (8 - bits);
  return static_cast<std::uint8_t>(top | top >> bits);
}

std::array<std::uint8_t, 4> decode(const std::byte* bytes, unsigned texel) {
  const auto first = static_cast<std::uint8_t>(bytes[0]);
  if (first == 0) return {};  // a reserved mode: 0, 0, 0, 0
  const auto number = static_cast<unsigned>(std::countr_zero(first));
  const Mode& mode = modes[number];
  bptc::BlockBits block(bytes);
  block.take(number + 1);
  const unsigned partition = block.take(mode.partition);
  const unsigned rotation = block.take(mode.rotation);
  const bool swap_indices = block.take(mode.index_selection) != 0;

  const unsigned count = 2u * mode.subsets;
  std::array<std::array<std::uint32_t, 4>, 6> endpoints{};
  for (unsigned c = 0; c < 4; ++c)
    for (unsigned e = 0; e < count; ++e) endpoints[e][c] = block.take(c < 3 ? mode.colour : mode.alpha);
  std::array<std::uint32_t, 6> p{};
  for (unsigned e = 0; e < count; ++e) {
    if (mode.own_p != 0 || (mode.shared_p != 0 && e % 2 == 0))
      p[e] = block.take(1);
    else if (mode.shared_p != 0)
      p[e] = p[e - 1];
  }
  const unsigned indices = block.position();

  const unsigned p_bits = mode.own_p | mode.shared_p;
  const unsigned subset = bptc::subset_of(mode.subsets, partition, texel);
  unsigned colour_index = bptc::index_of(block, indices, mode.index, mode.subsets, partition, texel);
  unsigned colour_bits = mode.index, alpha_index = colour_index, alpha_bits = mode.index;
  if (mode.second_index != 0) {
    alpha_index = bptc::index_of(block, indices + 16u * mode.index - 1, mode.second_index, 1, 0, texel);
    alpha_bits = mode.second_index;
    if (swap_indices) {
      std::swap(colour_index, alpha_index);
      std::swap(colour_bits, alpha_bits);
    }
  }
  std::array<std::uint8_t, 4> result = {0, 0, 0, 255};
  for (unsigned c = 0; c < 4; ++c) {
    const unsigned bits = c < 3 ? mode.colour : mode.alpha;
    if (bits == 0) continue;
    const auto endpoint = [&](unsigned e) {
      const std::uint32_t value = p_bits != 0 ? endpoints[e][c] << 1 | p[e] : endpoints[e][c];
      return int{expand(value, bits + p_bits)};
    };
    const int weight =
        c < 3 ? bptc::weight(colour_bits, colour_index) : bptc::weight(alpha_bits, alpha_index);
    result[c] =
        static_cast<std::uint8_t>(bptc::interpolate(endpoint(2 * subset), endpoint(2 * subset + 1), weight));
  }
  if (rotation != 0) std::swap(result[3], result[rotation - 1]);
  return result;
}

}  // namespace

template <ChannelKind kind>
Texel bc7(const std::byte* block, unsigned x, unsigned y) {
  const auto bytes = decode(block, 4 * y + x);
  return {channel::decode<kind, 8>(bytes[0]), channel::decode<kind, 8>(bytes[1]),
          channel::decode<kind, 8>(bytes[2]), channel::decode<ChannelKind::UNORM, 8>(bytes[3])};
}

template Texel bc7<ChannelKind::UNORM>(const std::byte*, unsigned, unsigned);
template Texel bc7<ChannelKind::SRGB>(const std::byte*, unsigned, unsigned);

}  // namespace eum::mem::image::compressed
