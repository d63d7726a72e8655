// Mip layouts and tilings of Gen9 (SKL PRM volume 5, "Surface Layout and Tiling"). 2D, cube and 3D surfaces
// place level 1 below level 0, level 2 to the right of level 1 and the others below level 2; slices are
// QPitch rows apart. Linear 1D surfaces have their levels side by side and QPitch in texels.
#include "memory/image/layout.hpp"

#include <algorithm>

#include "memory/image/format.hpp"

namespace eum::mem::image {

namespace {

/// Level widths of linear 1D surfaces are rounded up to a multiple of this many texels.
constexpr std::uint32_t halign_1d = 64;

struct Blocks {
  std::uint32_t bytes = 1, width = 1, height = 1;
};

Blocks blocks_of(const SurfaceState& state) {
  const FormatInfo* format = find_format(state.format);
  if (format == nullptr) return {};
  return {format->bytes, format->block_width, format->block_height};
}

constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
constexpr std::uint32_t round_up_quotient(std::uint32_t value, std::uint32_t divisor) {
  return (value + divisor - 1) / divisor;
}

constexpr std::uint32_t minify(std::uint32_t size, unsigned level) {
  return std::max(level > 31 ? 0 : size >> level, std::min(size, 1u));
}

bool is_linear_1d(const SurfaceState& state) {
  return state.type == SurfaceType::SURFTYPE_1D && state.tiling == TileMode::LINEAR;
}
bool is_buffer(const SurfaceState& state) {
  return state.type == SurfaceType::SURFTYPE_BUFFER || state.type == SurfaceType::SURFTYPE_STRBUF;
}

/// Place of a level within its slice, without the surface's offsets and QPitch.
LevelPlace place_in_slice(const SurfaceState& state, const Blocks& blocks, unsigned level) {
  LevelPlace place;
  if (is_linear_1d(state)) {
    for (unsigned l = 0; l < level; ++l) place.x += round_up(minify(state.width, l), halign_1d);
    return place;
  }
  const std::uint32_t halign = std::max<std::uint32_t>(state.halign, 1) * blocks.width;
  const std::uint32_t valign = std::max<std::uint32_t>(state.valign, 1) * blocks.height;
  if (level > 0) place.y = round_up(level_size(state, 0)[1], valign);
  if (level > 1) place.x = round_up(level_size(state, 1)[0], halign);
  for (unsigned l = 2; l < level; ++l) place.y += round_up(level_size(state, l)[1], valign);
  return place;
}

/// Texels and rows that a slice with all its levels covers.
LevelPlace slice_extent(const SurfaceState& state, const Blocks& blocks) {
  LevelPlace extent;
  for (unsigned level = 0; level < level_count(state); ++level) {
    const auto [width, height, slices] = level_size(state, level);
    const LevelPlace place = place_in_slice(state, blocks, level);
    extent.x = std::max(extent.x, place.x + width);
    extent.y = std::max(extent.y, place.y + height);
  }
  return extent;
}

/// Bytes that one row of the surface needs.
std::uint64_t row_bytes(const SurfaceState& state, const Blocks& blocks) {
  const std::uint32_t width = slice_extent(state, blocks).x + state.x_offset;
  const std::uint64_t bytes = std::uint64_t{round_up_quotient(width, blocks.width)} * blocks.bytes;
  // A W tile is 64 one-byte texels wide but takes 128 bytes of the pitch (SKL PRM volume 5, "W-Major").
  return state.tiling == TileMode::WMAJOR ? 2 * bytes : bytes;
}

}  // namespace

std::array<std::uint32_t, 3> level_size(const SurfaceState& state, unsigned level) {
  switch (state.type) {
    case SurfaceType::SURFTYPE_1D:
      return {minify(state.width, level), 1, state.array ? state.depth : 1};
    case SurfaceType::SURFTYPE_2D:
      return {minify(state.width, level), minify(state.height, level), state.array ? state.depth : 1};
    case SurfaceType::SURFTYPE_CUBE:
      return {minify(state.width, level), minify(state.height, level), state.array ? 6 * state.depth : 6};
    case SurfaceType::SURFTYPE_3D:
      return {minify(state.width, level), minify(state.height, level), minify(state.depth, level)};
    case SurfaceType::SURFTYPE_BUFFER:
    case SurfaceType::SURFTYPE_STRBUF:
      return {state.width, 1, 1};
    case SurfaceType::SURFTYPE_NULL:
      break;
  }
  return {0, 0, 0};
}

unsigned level_count(const SurfaceState& state) {
  if (is_buffer(state)) return 1;
  return std::max<unsigned>(state.min_lod + state.mip_count, state.mip_lod + 1u);
}

std::uint32_t slice_count(const SurfaceState& state) {
  const std::uint32_t slices = level_size(state, 0)[2];
  if (state.type == SurfaceType::SURFTYPE_3D || is_buffer(state) || slices == 0) return slices;
  return state.min_array_element + slices;
}

LevelPlace level_place(const SurfaceState& state, unsigned level, std::uint32_t slice) {
  LevelPlace place = place_in_slice(state, blocks_of(state), level);
  (is_linear_1d(state) ? place.x : place.y) += state.qpitch * slice;
  place.x += state.x_offset;
  place.y += state.y_offset;
  return place;
}

TileSize tile_size(TileMode mode) {
  switch (mode) {
    case TileMode::LINEAR:
      break;
    case TileMode::XMAJOR:
      return {512, 8};
    case TileMode::YMAJOR:
    case TileMode::WMAJOR:
      return {128, 32};
  }
  return {1, 1};
}

std::uint64_t byte_offset(TileMode mode, std::uint32_t pitch, std::uint32_t x, std::uint32_t y) {
  constexpr std::uint64_t tile = 4096;
  switch (mode) {
    case TileMode::LINEAR:
      break;
    case TileMode::XMAJOR:
      return (std::uint64_t{y / 8} * (pitch / 512) + x / 512) * tile + y % 8 * 512 + x % 512;
    case TileMode::YMAJOR:  // columns of 16 bytes, 32 rows high
      return (std::uint64_t{y / 32} * (pitch / 128) + x / 128) * tile + x % 128 / 16 * 512 + y % 32 * 16 +
             x % 16;
    case TileMode::WMAJOR: {  // 64 bytes by 64 rows: blocks of 8x8 in which the bits of x and y alternate
      const std::uint64_t first = (std::uint64_t{y / 64} * (pitch / 128) + x / 64) * tile;
      return first + x % 64 / 8 * 512 + y % 64 / 8 * 64 + (y >> 2 & 1) * 32 + (x >> 2 & 1) * 16 +
             (y >> 1 & 1) * 8 + (x >> 1 & 1) * 4 + (y & 1) * 2 + (x & 1);
    }
  }
  return std::uint64_t{y} * pitch + x;
}

std::uint64_t texel_offset(const SurfaceState& state, unsigned level, std::uint32_t x, std::uint32_t y,
                           std::uint32_t slice) {
  const Blocks blocks = blocks_of(state);
  if (is_buffer(state)) return std::uint64_t{x} * blocks.bytes;
  LevelPlace place = place_in_slice(state, blocks, level);
  place.x += x + state.x_offset;
  place.y += y + state.y_offset;
  if (is_linear_1d(state))  // has no rows, so Surface Pitch does not matter
    return (place.x + std::uint64_t{state.qpitch} * slice) / blocks.width * blocks.bytes;
  place.y += state.qpitch * slice;
  return byte_offset(state.tiling, state.pitch, place.x / blocks.width * blocks.bytes,
                     place.y / blocks.height);
}

std::uint64_t surface_bytes(const SurfaceState& state) {
  const std::uint32_t slices = slice_count(state);
  const auto size = level_size(state, 0);
  if (slices == 0 || *std::min_element(size.begin(), size.end()) == 0) return 0;
  const Blocks blocks = blocks_of(state);
  if (is_buffer(state)) return std::uint64_t{state.width} * blocks.bytes;
  std::uint64_t bytes = 0;
  for (unsigned level = 0; level < level_count(state); ++level) {
    const auto [width, height, depth] = level_size(state, level);
    const std::uint32_t last = state.type == SurfaceType::SURFTYPE_3D ? depth - 1 : slices - 1;
    std::uint64_t end = texel_offset(state, level, width - 1, height - 1, last) + blocks.bytes;
    if (state.tiling != TileMode::LINEAR) {  // to the end of the last row of tiles
      const std::uint32_t rows = state.tiling == TileMode::WMAJOR ? 64 : tile_size(state.tiling).rows;
      const std::uint32_t row = (level_place(state, level, last).y + height - 1) / blocks.height;
      end = (std::uint64_t{row / rows} + 1) * tile_size(state.tiling).rows * state.pitch;
    }
    bytes = std::max(bytes, end);
  }
  return bytes;
}

void choose_layout(SurfaceState& state) {
  const Blocks blocks = blocks_of(state);
  if (is_buffer(state)) {
    state.pitch = blocks.bytes;
    return;
  }
  constexpr std::uint32_t cache_line = 64;
  const std::uint32_t multiple =
      state.tiling == TileMode::LINEAR ? cache_line : tile_size(state.tiling).bytes;
  state.pitch = round_up(static_cast<std::uint32_t>(row_bytes(state, blocks)), multiple);
  const LevelPlace extent = slice_extent(state, blocks);
  state.qpitch = is_linear_1d(state)
                     ? round_up(extent.x, halign_1d)
                     : round_up(extent.y, std::max<std::uint32_t>(state.valign, 1) * blocks.height);
}

Result<void> check(const SurfaceState& state) {
  if (state.type == SurfaceType::SURFTYPE_NULL) return {};
  const FormatInfo* format = find_format(state.format);
  if (format == nullptr && !(is_buffer(state) && state.format == format_raw))
    return error("Surface Format: expected a format of the manual's table, found {:#x}", state.format);
  // SKL PRM volume 2d, RENDER_SURFACE_STATE: Width, Height, Depth.
  struct Limit {
    const char* field;
    std::uint32_t value, most;
  };
  const bool is_3d = state.type == SurfaceType::SURFTYPE_3D;
  const std::uint32_t most = is_buffer(state) ? std::uint32_t{1} << 31 : is_3d ? 2048 : 16384;
  const std::uint32_t height = state.type == SurfaceType::SURFTYPE_1D || is_buffer(state) ? 1 : state.height;
  const std::uint32_t depth = is_3d || state.array ? state.depth : 1;
  const std::uint32_t elements = state.type == SurfaceType::SURFTYPE_CUBE ? 2048 / 6 : 2048;
  for (const Limit& limit : {Limit{"Width", state.width, most}, Limit{"Height", height, most},
                             Limit{"Depth", depth, is_buffer(state) ? 1 : elements}})
    if (limit.value == 0 || limit.value > limit.most)
      return error("{}: expected 1 to {}, found {}", limit.field, limit.most, limit.value);
  if (is_buffer(state)) {
    if (state.tiling != TileMode::LINEAR) return error("Tile Mode: a buffer is expected to be LINEAR");
    return {};
  }
  if (state.type == SurfaceType::SURFTYPE_CUBE && state.width != state.height)
    return error("Height: a cube is expected to have square faces, found {}x{}", state.width, state.height);
  if (state.samples_log2 != 0)
    return error("Number of Multisamples: expected 1, found {}", 1u << state.samples_log2);
  if (state.min_array_element >= 2048)
    return error("Minimum Array Element: expected 0 to 2047, found {}", state.min_array_element);
  for (const auto& [field, value] : {std::pair{"Surface Horizontal Alignment", state.halign},
                                     std::pair{"Surface Vertical Alignment", state.valign}})
    if (value != 4 && value != 8 && value != 16)
      return error("{}: expected 4, 8 or 16, found {}", field, value);
  const std::uint32_t largest = std::max({state.width, height, is_3d ? depth : 1});
  unsigned levels = 1;
  while (levels < 15 && largest >> levels != 0) ++levels;
  if (state.mip_count == 0 || level_count(state) > levels)
    return error("MIP Count: levels expected up to {} of a surface of {} texels, found level {}", levels - 1,
                 largest, level_count(state) - 1);
  if (state.tiling == TileMode::WMAJOR && format->bytes != 1)
    return error("Tile Mode: WMAJOR expects a format of one byte, found {}", format->name);

  const Blocks blocks = blocks_of(state);
  if (!is_linear_1d(state)) {
    // A linear pitch is a multiple of the element's size if that is a power of two.
    const std::uint32_t multiple =
        state.tiling == TileMode::LINEAR ? blocks.bytes & (~blocks.bytes + 1) : tile_size(state.tiling).bytes;
    const std::uint64_t row = row_bytes(state, blocks);
    if (state.pitch < row || state.pitch > 1u << 18 || state.pitch % multiple != 0)
      return error("Surface Pitch: expected {} to {} bytes, a multiple of {}, found {}", row, 1u << 18,
                   multiple, state.pitch);
  }
  if (slice_count(state) > 1) {
    const LevelPlace extent = slice_extent(state, blocks);
    const std::uint32_t least = is_linear_1d(state) ? extent.x : extent.y;
    if (state.qpitch < least || state.qpitch >= 1u << 17 || state.qpitch % 4 != 0)
      return error("Surface QPitch: expected {} to {}, a multiple of 4, found {}", least, (1u << 17) - 4,
                   state.qpitch);
  }
  return {};
}

}  // namespace eum::mem::image
