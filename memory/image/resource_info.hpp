#pragma once
// Results of messages that query the surface itself. It must not know memory.
#include "memory/image/format.hpp"
#include "memory/image/state.hpp"

namespace eum::mem::image {

/// resinfo: width, height, depth of the level, and the number of levels. An array has its element count in
/// place of the first dimension that it lacks; other missing dimensions are 0, as is the size of a missing
/// level.
Texel resource_info(const SurfaceState& state, std::uint32_t lod);

/// sampleinfo: the number of samples.
Texel sample_info(const SurfaceState& state);

}  // namespace eum::mem::image
