#include "memory/image/resource_info.hpp"

#include "memory/image/layout.hpp"

namespace eum::mem::image {

Texel resource_info(const SurfaceState& state, std::uint32_t lod) {
  const std::uint32_t elements = state.array ? state.depth : 0;
  Texel result = {0, 0, 0, state.mip_count};
  if (state.type == SurfaceType::SURFTYPE_NULL) return {0, 0, 0, 0};
  if (state.type == SurfaceType::SURFTYPE_BUFFER || state.type == SurfaceType::SURFTYPE_STRBUF)
    return {state.width, 0, 0, 0};
  if (lod >= state.mip_count) return result;
  const auto size = level_size(state, state.min_lod + lod);
  result[0] = size[0];
  switch (state.type) {
    case SurfaceType::SURFTYPE_1D:
      result[1] = elements;
      break;
    case SurfaceType::SURFTYPE_3D:
      result[1] = size[1];
      result[2] = size[2];
      break;
    default:
      result[1] = size[1];
      result[2] = elements;
  }
  return result;
}

Texel sample_info(const SurfaceState& state) {
  return {state.type == SurfaceType::SURFTYPE_NULL ? 0 : 1u << state.samples_log2, 0, 0, 0};
}

}  // namespace eum::mem::image
