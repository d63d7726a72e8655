#pragma once
// Where a texel lies: mip levels, array elements and slices, tiles. It must not know formats beyond their
// bytes and blocks.
#include <array>
#include <cstdint>

#include "memory/base/result.hpp"
#include "memory/image/state.hpp"

namespace eum::mem::image {

/// Dimensions of one level: width, height, slices (3D: of the level; arrays: elements; cubes: faces).
std::array<std::uint32_t, 3> level_size(const SurfaceState& state, unsigned level);

/// Number of levels in memory: those that a sampler may use, from Surface Min LOD on, and the one that typed
/// messages use.
unsigned level_count(const SurfaceState& state);

/// Number of elements, slices or faces in memory, including those below Minimum Array Element.
std::uint32_t slice_count(const SurfaceState& state);

/// Byte offset of a texel from the surface's base; in a compressed format the offset of its block. The
/// coordinates are inside the level; `slice` counts from the first one in memory.
std::uint64_t texel_offset(const SurfaceState& state, unsigned level, std::uint32_t x, std::uint32_t y,
                           std::uint32_t slice);

/// Where a slice of a level begins: x in texels from the left edge of the surface (X Offset included), y in
/// rows from its top.
struct LevelPlace {
  std::uint32_t x = 0, y = 0;
};
LevelPlace level_place(const SurfaceState& state, unsigned level, std::uint32_t slice);

/// Size of a tile in memory: bytes per row, and rows, as Surface Pitch counts them. LINEAR: 1, 1.
struct TileSize {
  std::uint32_t bytes, rows;
};
TileSize tile_size(TileMode mode);

/// How many bytes of a row, from a multiple of that number on, are contiguous in a tile: a row of an X tile,
/// an OWord of a Y tile (SKL PRM volume 5, "Tiled Memory"). 0: the whole row.
constexpr std::uint32_t adjacent_bytes(TileMode mode) {
  switch (mode) {
    case TileMode::LINEAR:
      return 0;
    case TileMode::XMAJOR:
      return 512;
    case TileMode::YMAJOR:
      return 16;
    case TileMode::WMAJOR:
      return 1;
  }
  return 1;
}

/// Offset of byte `x` of row `y` of a surface with that pitch, without bit-6 swizzling.
std::uint64_t byte_offset(TileMode mode, std::uint32_t pitch, std::uint32_t x, std::uint32_t y);

/// Bytes from the base to the end of the last texel of all levels, slices and tiles.
std::uint64_t surface_bytes(const SurfaceState& state);

/// Checks that the fields are consistent: a known format, sizes within the manual's limits, a pitch that
/// holds a row (and is a multiple of the tile's), levels that exist. The error names the field.
Result<void> check(const SurfaceState& state);

/// Fills in pitch and qpitch as a driver does, so that nothing overlaps.
void choose_layout(SurfaceState& state);

}  // namespace eum::mem::image
