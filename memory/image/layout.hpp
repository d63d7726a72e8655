#pragma once
// Where a texel lies: mip levels, array elements and slices, tiles. It must not know formats beyond their
// bytes and blocks.
#include <array>
#include <cstdint>

#include "memory/base/result.hpp"
#include "memory/image/state.hpp"

namespace eum::mem::image {

/// Texels of one level: width, height, slices (3D: of the level; arrays: elements; cubes: faces).
std::array<std::uint32_t, 3> level_size(const SurfaceState& state, unsigned level);

/// Levels that lie in memory: those that a sampler may use from Surface Min LOD on, and the one that typed
/// messages use.
unsigned level_count(const SurfaceState& state);

/// Elements, slices or faces that lie in memory, the ones below Minimum Array Element too.
std::uint32_t slice_count(const SurfaceState& state);

/// Byte offset of a texel from the surface's base; of a compressed format the offset of its block. The
/// coordinates are inside the level, `slice` counts from the first one in memory.
std::uint64_t texel_offset(const SurfaceState& state, unsigned level, std::uint32_t x, std::uint32_t y,
                           std::uint32_t slice);

/// Where a slice of a level begins: texels from the left edge of the surface (X Offset included), rows from
/// its top.
struct LevelPlace {
  std::uint32_t x = 0, y = 0;
};
LevelPlace level_place(const SurfaceState& state, unsigned level, std::uint32_t slice);

/// A tile as memory has it: bytes of a row and rows, as Surface Pitch counts them. LINEAR: 1, 1.
struct TileSize {
  std::uint32_t bytes, rows;
};
TileSize tile_size(TileMode mode);

/// Bytes of a row that lie side by side in a tile, from a multiple of it on: a row of an X tile, an OWord of
/// a Y tile (SKL PRM volume 5, "Tiled Memory"). 0: the whole row.
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

/// Offset of the byte `x` of row `y` of a surface with that pitch; without the swizzle of bit 6.
std::uint64_t byte_offset(TileMode mode, std::uint32_t pitch, std::uint32_t x, std::uint32_t y);

/// Bytes from the base to the end of the last texel of all levels, slices and tiles.
std::uint64_t surface_bytes(const SurfaceState& state);

/// Whether the fields fit each other: a known format, sizes within the manual's limits, a pitch that holds a
/// row (and is a multiple of its tile), levels that exist. The error names the field.
Result<void> check(const SurfaceState& state);

/// Fills in pitch and qpitch so that nothing overlaps, as a driver does.
void choose_layout(SurfaceState& state);

}  // namespace eum::mem::image
