#pragma once
// Surface formats: the rows of formats.def, and conversion of a texel's bits to and from four channels.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "memory/image/state.hpp"

namespace eum::mem::image {

/// What a channel of a texel holds. FLOAT is f32, f16 or, with fewer bits, an unsigned float with a 5-bit
/// exponent. SHAREDEXP is an unsigned mantissa whose exponent is in the bits after the channels.
enum class ChannelKind : std::uint8_t { None, UNORM, SNORM, UINT, SINT, FLOAT, SRGB, SHAREDEXP };

/// Where a channel lies in a texel of little-endian bytes. 0 bits: the format lacks the channel.
struct ChannelLayout {
  std::uint8_t bit = 0;  ///< the lowest
  std::uint8_t bits = 0;
  ChannelKind kind = ChannelKind::None;

  bool operator==(const ChannelLayout&) const = default;
};

struct FormatInfo;

/// The row of a format, or null for one that is reserved or unknown.
const FormatInfo* find_format(FormatCode code);
const FormatInfo* find_format(std::string_view name);
/// All rows.
std::span<const FormatInfo> formats();

/// Red, green, blue, alpha as a shader gets them: bits of f32, or integers. Channels that the format lacks
/// are 0, alpha is 1.
using Texel = std::array<std::uint32_t, 4>;

struct FormatInfo {
  std::string_view name;  ///< as in the manual: "R8G8B8A8_UNORM"
  FormatCode code = 0;
  std::uint8_t bytes = 1;                          ///< per texel; per block if the format is compressed
  std::uint8_t block_width = 1, block_height = 1;  ///< texels
  ChannelKind kind = ChannelKind::None;            ///< of the first channel that the format has
  bool integer = false;                            ///< channels are integers: never filtered
  bool writable = false;                           ///< typed messages may write it
  bool readable = false;                           ///< typed messages may read it
  /// Red, green, blue, alpha. The channels of luminance and intensity formats share the same bits. A
  /// compressed format has none here.
  std::array<ChannelLayout, 4> channels{};

  /// Decodes one texel, whatever its bits; `x` and `y` choose it within a compressed block. `bytes` bytes are
  /// read. Never null: RAW, which has no channels, gives 0, 0, 0, 1.
  Texel (*decode)(const std::byte* texel, unsigned x, unsigned y) = nullptr;
  /// Writes `bytes` bytes; bits without a channel become 0. Luminance and intensity take the value of red.
  /// Null for RAW and compressed formats.
  void (*encode)(const Texel& channels, std::byte* texel) = nullptr;
};

/// Bits of a texel that belong to the channels in `components` (bit 0 red), dword by dword.
constexpr std::array<std::uint32_t, 4> channel_bits(const FormatInfo& format, unsigned components) {
  std::array<std::uint32_t, 4> bits{};
  for (unsigned c = 0; c < 4; ++c)
    if ((components >> c & 1) != 0)
      for (unsigned bit = format.channels[c].bit;
           bit < unsigned{format.channels[c].bit} + format.channels[c].bits; ++bit)
        bits[bit / 32] |= 1u << bit % 32;
  return bits;
}

/// Whether a write of `components` leaves some channel unchanged.
constexpr bool is_partial(const FormatInfo& format, unsigned components) {
  return channel_bits(format, components) != channel_bits(format, 15);
}

}  // namespace eum::mem::image
