#pragma once
// Reads and writes PNG files as plain texels. It must not know images of a device.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memory/base/result.hpp"

namespace eum::png {

/// Row after row from the top, without gaps. 16-bit channels are little-endian.
struct Picture {
  std::uint32_t width = 0, height = 0;
  unsigned channels = 4;  ///< 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
  unsigned bits = 8;      ///< per channel: 8 or 16
  std::vector<std::byte> texels;

  std::size_t row_bytes() const { return std::size_t{width} * channels * bits / 8; }
};

/// The largest width and height.
inline constexpr std::uint32_t most_pixels = 16384;

/// Contents of a file: grey as it is, widened to at least 8 bits; everything else as RGBA. Colour spaces are
/// not converted. An error says what is wrong with the file.
Result<Picture> read(std::span<const std::byte> file);

/// A file that read() accepts.
Result<std::vector<std::byte>> write(const Picture& picture);

}  // namespace eum::png
