#pragma once
// What messages ask of a surface itself. It must not know memory.
#include "memory/image/format.hpp"
#include "memory/image/state.hpp"

namespace eum::mem::image {

/// resinfo: width, height, depth of the level (of an array its elements in place of the first size that it
/// does not have, of other surfaces 0), and how many levels there are. A level that is not there has no size.
Texel resource_info(const SurfaceState& state, std::uint32_t lod);

/// sampleinfo: samples.
Texel sample_info(const SurfaceState& state);

}  // namespace eum::mem::image
