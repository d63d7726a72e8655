#pragma once
// Where a texel lies: mip levels, array elements and slices, tiles. It must not know formats beyond their
// bytes.
#include <array>
#include <cstdint>

#include "memory/base/result.hpp"
#include "memory/image/state.hpp"

namespace eum::mem::image {

/// Texels of one level: width, height, slices (3D: of the level; arrays: elements; cubes: faces).
std::array<std::uint32_t, 3> level_size(const SurfaceState& state, unsigned level);

/// Byte offset of a texel from the surface's base; coordinates are inside the level.
std::uint64_t texel_offset(const SurfaceState& state, unsigned level, std::uint32_t x, std::uint32_t y,
                           std::uint32_t slice);

/// Bytes from the base to the end of the last texel of all levels, slices and tiles.
std::uint64_t surface_bytes(const SurfaceState& state);

/// Whether the fields fit each other: a known format, sizes within the manual's limits, a pitch that holds a
/// row (and is a multiple of its tile), levels that exist. The error names the field.
Result<void> check(const SurfaceState& state);

/// Fills in pitch and qpitch so that nothing overlaps, as a driver does.
void choose_layout(SurfaceState& state);

}  // namespace eum::mem::image
