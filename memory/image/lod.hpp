#pragma once
// The level of detail: from gradients to the levels that are filtered, and how. Levels of detail are integers
// in 1/256. It must not know memory or texels.
//
// The squared length of a gradient is fma(z, z, fma(y, y, x * x)) in texels of level 0; lod is log2_fixed()
// of the greater square, that is, half its logarithm. Then (SKL PRM volume 7, "LOD Computation"): the biases
// of sampler and message are added, the result is clamped to the sampler's limits (LOD PreClamp OGL), the min
// or mag filter is chosen by whether lod is at most Base Mip Level, the result is clamped to both the
// sampler's and the surface's levels, and the mip filter is applied: NONE takes level 0, NEAREST
// floor(lod + 1/2), LINEAR floor(lod) and the next level with a weight in 1/256.
#include <array>
#include <cstdint>

#include "memory/image/state.hpp"

namespace eum::mem::image {

using Vector = std::array<float, 3>;

float length_squared(const Vector& v);

/// rint(128 * log2(square)), which is log2 of the square's root in 1/256; powers of two are exact, the rest
/// within 1/256. A square of 0 (or a denormal) gives a very small result, infinity a very large one; a NaN
/// counts as 0.
int log2_fixed(float square);

/// log2(1 + f) is about f * p(f) for f from 0 to 1, within 1.6e-5; the first coefficient is that of the
/// highest power. p(1) is 1.
inline constexpr std::array<float, 5> log2_coefficients = {0.0451490618f, -0.19357574f, 0.415606081f,
                                                           -0.709096432f, 1.44191706f};
/// log2_fixed() of 0.
inline constexpr int smallest_lod = -127 * 128;

/// rint(lod * 256) of lod clamped to +-64; NaN gives 0.
int lod_fixed(float lod);

/// How a lane samples along the major axis of its footprint.
struct Anisotropy {
  unsigned count = 1;    ///< samples: 1, or an even number
  bool along_y = false;  ///< the gradient in y is the major one
  int lod = 0;
};
/// The count is the least even number whose square times the shorter square is at least the longer one, 1 if
/// they are equal, at most `most`; lod is that of the longer length / count.
Anisotropy anisotropy(float square_x, float square_y, unsigned most);
/// Position of sample k of `count`, in lengths of the major gradient: (k + 0.5) / count - 0.5.
float anisotropic_step(unsigned k, unsigned count);

struct LevelChoice {
  unsigned level = 0;   ///< counted from Surface Min LOD
  unsigned weight = 0;  ///< of the next level, 0 to 255; 0: it is not read
  bool magnified = false;
  int clamped = 0;  ///< lod after all clamps
};
/// `least` is the message's mlod.
LevelChoice choose_levels(int lod, int least, const SurfaceState& surface, const SamplerState& sampler);

}  // namespace eum::mem::image
