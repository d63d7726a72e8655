#pragma once
// Surface formats: the rows of formats.def, and a texel's bits to and from four channels.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "memory/image/state.hpp"

namespace eum::mem::image {

/// What a channel of a texel holds.
enum class ChannelKind : std::uint8_t { None, UNORM, SNORM, UINT, SINT, FLOAT, SRGB };

struct FormatInfo;

/// The row of a format, or null for one that is reserved or unknown.
const FormatInfo* find_format(FormatCode code);
const FormatInfo* find_format(std::string_view name);

/// Red, green, blue, alpha as a shader gets them: bits of f32, or integers. Channels that the format lacks
/// are 0, alpha 1.
using Texel = std::array<std::uint32_t, 4>;

struct FormatInfo {
  std::string_view name;  ///< as the manual has it: "R8G8B8A8_UNORM"
  FormatCode code;
  std::uint8_t bytes;                              ///< a texel; of a compressed format a block
  std::uint8_t block_width = 1, block_height = 1;  ///< texels
  ChannelKind kind = ChannelKind::None;            ///< of red
  bool integer = false;                            ///< channels are integers: never filtered
  bool writable = false;                           ///< typed messages may write it

  /// One texel; `x` and `y` choose it within a compressed block. `bytes` bytes are read.
  Texel (*decode)(const std::byte* texel, unsigned x, unsigned y) = nullptr;
  /// `bytes` bytes are written; null where a format cannot be written.
  void (*encode)(const Texel& channels, std::byte* texel) = nullptr;
};

}  // namespace eum::mem::image
