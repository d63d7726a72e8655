// Media block messages (SKL PRM volume 7, "Media Block Read" and "Write"): a rectangle of bytes. Reads beyond
// an edge return the nearest row and that row's edge pixel; writes there are dropped. Bytes are copied
// without format conversion, but a pixel has the size of the format.
#include <algorithm>
#include <cstring>

#include "memory/image/layout.hpp"
#include "memory/image/message.hpp"
#include "memory/image/texel_fetch.hpp"

namespace eum::mem::image {

namespace {

/// Whether the block's rows are those of a field; the message's override, if present, decides (bit 2:
/// override, then stride, offset).
bool has_line_stride(const MediaMessage& message, const SurfaceState& state) {
  const unsigned bits = message.vertical_stride_override;
  return (bits & 4) != 0 ? (bits & 2) != 0 : state.vertical_line_stride;  // an offset needs a stride
}

const char* refuse(const MediaMessage& message, const SurfaceState& state, const FormatInfo* format) {
  if (has_line_stride(message, state)) return "a media block with a vertical line stride";
  if (message.width == 0 || message.width > 64 || message.height == 0 || message.height > 64)
    return "a media block that is not 1 to 64 bytes wide and high";
  if (state.type == SurfaceType::SURFTYPE_NULL) return nullptr;
  if (state.type != SurfaceType::SURFTYPE_2D) return "a media block of a surface that is not 2D";
  if (state.tiling == TileMode::WMAJOR) return "a media block of a surface in W tiles";
  if (format != nullptr && (format->block_width != 1 || format->block_height != 1))
    return "a media block of a compressed surface";
  if (state.width == 0 || state.height == 0) return "a media block of a surface without texels";
  return nullptr;
}

}  // namespace

ImageFault media_block(const MediaMessage& message, const MediaCall& call) {
  const SurfaceState& state = call.surface->image;
  const FormatInfo* format = find_format(state.format);
  if (const char* reason = refuse(message, state, format))
    return {.kind = ImageFault::Kind::Unsupported, .reason = reason};
  const unsigned row_bytes = media_row_bytes(message.width);
  if (!message.write) std::memset(call.data, 0, std::size_t{row_bytes} * message.height);
  if (state.type == SurfaceType::SURFTYPE_NULL) return {};
  const std::int64_t pixel = format == nullptr ? 1 : format->bytes;
  const std::int64_t width = state.width * pixel, height = state.height;
  const LevelPlace place = level_place(state, state.mip_lod, state.min_array_element);
  const auto left = static_cast<std::int64_t>(place.x) * pixel;
  constexpr std::int64_t widest = 64;  // limit on a block's width
  const std::int64_t adjacent = adjacent_bytes(state.tiling), piece = adjacent != 0 ? adjacent : widest;

  SurfaceMemory memory(*call.surface, call.space);
  for (unsigned row = 0; row < message.height; ++row) {
    const std::int64_t y = std::int64_t{call.y} + row, near_y = std::clamp<std::int64_t>(y, 0, height - 1);
    if (message.write && y != near_y) continue;
    unsigned count = 1;  // contiguous bytes
    for (unsigned column = 0; column < message.width; column += count) {
      std::int64_t x = std::int64_t{call.x} + column;
      count = 1;
      if (x < 0 || x >= width) {
        if (message.write) continue;
        const std::int64_t within = (x % pixel + pixel) % pixel;
        x = x < 0 ? within : width - pixel + within;
      } else {
        const std::int64_t left_in_block = message.width - column;
        count = static_cast<unsigned>(std::min({left_in_block, width - x, piece - (left + x) % piece}));
      }
      const std::uint64_t offset =
          byte_offset(state.tiling, state.pitch, static_cast<std::uint32_t>(left + x),
                      place.y + static_cast<std::uint32_t>(near_y));
      const std::span<std::byte> bytes(call.data + std::size_t{row} * row_bytes + column, count);
      if (message.write ? !memory.write(offset, bytes) : !memory.read(offset, bytes)) return memory.fault();
    }
  }
  return {};
}

}  // namespace eum::mem::image
