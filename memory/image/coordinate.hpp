#pragma once
// From a coordinate to the texels of an axis: reduction, scaling, the two texels of a linear filter with
// their weight, address modes in texel space; faces of cubes. The kernels compute the same, bit for bit. It
// must not know memory or formats.
//
// All arithmetic is f32, rounded to nearest even after each operation.
//   1. A normalized coordinate s is reduced: WRAP: s - floor(s); MIRROR: |s - 2 * rint(s * 0.5)|;
//      MIRROR_ONCE: |s|; else s. Then NaN, which WRAP and MIRROR also make of infinities, becomes 0.
//   2. It is multiplied by the size of the level. A coordinate that is not normalized stays as it is.
//   3. A texel offset other than 0 is added; HALF_BORDER clamps to 0 and the size; all modes clamp to +-2^24.
//   4. Nearest: i = floor(u). Linear: v = u - 0.5, i = floor(v), and the weight of texel i + 1, in 1/256, is
//      rint((v - i) * 256). A weight of 256 is kept: texel i then contributes nothing.
//   5. i and i + 1 go through the address mode as integers, so that offsets wrap too, and a WRAP result equal
//      to the size becomes 0, a MIRROR result size - 1.
// For the reduced coordinates this is what the OpenCL specification defines (8.2, "Addressing and filter
// modes"). Address rounding has no effect: coordinates are not truncated to the hardware's fixed point.
#include <array>
#include <cstdint>

#include "memory/image/state.hpp"

namespace eum::mem::image {

struct Axis {
  AddressControl mode = AddressControl::CLAMP;
  bool normalized = true;
  int offset = 0;
  std::uint32_t size = 1;
};

/// Steps 1 to 3.
float texel_position(float coordinate, const Axis& axis);

/// The first texel of an axis, before the address mode, and the weight of the second.
struct Tap {
  std::int32_t index = 0;
  std::uint32_t weight = 0;  ///< of index + 1, 0 to 256
  bool linear = false;       ///< there is a second texel
};

/// Step 4.
Tap nearest_tap(float position);
Tap linear_tap(float position);

/// Whether indices may refer to the border instead of a texel.
constexpr bool is_border(AddressControl mode) {
  return mode == AddressControl::CLAMP_BORDER || mode == AddressControl::HALF_BORDER;
}

/// Step 5. CUBE clamps: the transition to neighbouring faces happens in cross_edge().
inline constexpr std::int32_t border_index = -1;
std::int32_t wrap_index(AddressControl mode, std::int32_t index, std::uint32_t size);
/// The mode that a nearest filter uses: for HALF_BORDER the border is never reached.
constexpr AddressControl nearest_mode(AddressControl mode) {
  return mode == AddressControl::HALF_BORDER ? AddressControl::CLAMP : mode;
}

/// Array element: rint, clamped to 0 and count - 1; NaN is 0.
std::uint32_t array_index(float coordinate, std::uint32_t count);

/// A face's axes: which coordinates are s, t and the major one, and their signs.
struct CubeFace {
  unsigned s, t, major;
  float s_sign, t_sign, major_sign;
};
/// +X, -X, +Y, -Y, +Z, -Z, the order of faces in memory (Vulkan, "Cube Map Face Selection").
inline constexpr CubeFace cube_faces[6] = {{2, 1, 0, -1, -1, 1}, {2, 1, 0, 1, -1, -1}, {0, 2, 1, 1, 1, 1},
                                           {0, 2, 1, 1, -1, -1}, {0, 1, 2, 1, -1, 1},  {0, 1, 2, -1, -1, -1}};

struct CubePosition {
  unsigned face = 0;
  float s = 0, t = 0;  ///< normalized
};
/// The face that the direction points to; where coordinates are equal, Z goes before Y before X.
CubePosition cube_position(const std::array<float, 3>& direction);
/// The change of (s, t) on that face when `direction` changes by `delta`.
std::array<float, 2> cube_gradient(unsigned face, const std::array<float, 3>& direction,
                                   const std::array<float, 3>& delta);

struct CubeTexel {
  unsigned face = 0;
  std::int32_t x = 0, y = 0;
};
/// The texel at (x, y), which may be up to `size` outside the face. At a corner, where three faces meet and
/// there is no texel, x is first clamped to the face.
CubeTexel cross_edge(CubeTexel texel, std::int32_t size);

}  // namespace eum::mem::image
