#include "memory/image/lod.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace eum::mem::image {

float length_squared(const Vector& v) { return std::fma(v[2], v[2], std::fma(v[1], v[1], v[0] * v[0])); }

int log2_fixed(float square) {
  if (!(square > 0)) return smallest_lod;
  const auto bits = std::bit_cast<std::uint32_t>(square);
  const int exponent = static_cast<int>(bits >> 23) - 127;
  if (exponent == -127) return smallest_lod;
  const float f = std::bit_cast<float>((bits & 0x7fffff) | 0x3f800000) - 1;
  float p = log2_coefficients[0];
  for (std::size_t i = 1; i < log2_coefficients.size(); ++i) p = std::fma(p, f, log2_coefficients[i]);
  return exponent * 128 + static_cast<int>(std::nearbyint(f * p * 128));
}

int lod_fixed(float lod) {
  if (std::isnan(lod)) return 0;
  return static_cast<int>(std::nearbyint(std::clamp(lod, -64.0f, 64.0f) * 256));
}

Anisotropy anisotropy(float square_x, float square_y, unsigned most) {
  Anisotropy result;
  result.along_y = square_y > square_x;
  const float longer = result.along_y ? square_y : square_x;
  const float shorter = result.along_y ? square_x : square_y;
  for (unsigned n = 2; n <= most && longer > static_cast<float>(result.count * result.count) * shorter;
       n += 2)
    result.count = n;
  result.lod = log2_fixed(longer / static_cast<float>(result.count * result.count));
  return result;
}

float anisotropic_step(unsigned k, unsigned count) {
  return (static_cast<float>(k) + 0.5f) / static_cast<float>(count) - 0.5f;
}

LevelChoice choose_levels(int lod, int least, const SurfaceState& surface, const SamplerState& sampler) {
  const int last = (surface.mip_count - 1) * 256;
  const int sampler_least = std::max<int>(sampler.min_lod, least);
  if (sampler.lod_preclamp) lod = std::max(std::min<int>(lod, sampler.max_lod), sampler_least);
  LevelChoice choice;
  choice.magnified = lod <= surface.base_mip * 128;  // u4.1
  const int most = std::min<int>(sampler.max_lod, last);
  const int resource_least = surface.resource_min_lod - surface.min_lod * 256;
  choice.clamped = std::max(std::min(lod, most), std::min(std::max(sampler_least, resource_least), last));
  if (sampler.mip_filter == MipFilter::NONE || (choice.magnified && !sampler.lod_clamp_magnification))
    return choice;
  if (sampler.mip_filter == MipFilter::NEAREST) {
    choice.level = static_cast<unsigned>(choice.clamped + 128) >> 8;
  } else {
    choice.level = static_cast<unsigned>(choice.clamped) >> 8;
    choice.weight = static_cast<unsigned>(choice.clamped) & 255;
  }
  return choice;
}

}  // namespace eum::mem::image
