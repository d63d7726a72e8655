#pragma once
// From a coordinate to the texels of an axis: reduction, scaling, the two texels of a linear filter with
// their weight, address modes in texel space; faces of cubes. The kernels compute the same, bit for bit. It
// must not know memory or formats.
//
// All is f32, rounded to nearest even after each operation.
//   1. A normalized coordinate s is reduced: WRAP: s - floor(s); MIRROR: |s - 2 * rint(s * 0.5)|;
//      MIRROR_ONCE: |s|; else s. Then NaN, which infinities have become of WRAP and MIRROR, is 0.
//   2. It is multiplied by the size of the level. A coordinate that is not normalized stays as it is.
//   3. A texel offset other than 0 is added; HALF_BORDER clamps to 0 and the size; all clamp to +-2^24.
//   4. Nearest: i = floor(u). Linear: v = u - 0.5, i = floor(v), weight of texel i + 1 rint((v - i) * 256),
//   in
//      1/256. A weight of 256 stays one: texel i counts for nothing.
//   5. i and i + 1 go through the address mode as integers, so that offsets wrap too, and a WRAP that came
//   out
//      as the size is 0, a MIRROR size - 1.
// Of the reduced coordinates this is what the OpenCL specification defines (8.2, "Addressing and filter
// modes"). Address rounding adds nothing: coordinates are not cut to the fixed point of the hardware.
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

/// The first texel of an axis, before its address mode, and what the second one counts.
struct Tap {
  std::int32_t index = 0;
  std::uint32_t weight = 0;  ///< of index + 1, 0 to 256
  bool linear = false;       ///< there is a second one
};

/// Step 4.
Tap nearest_tap(float position);
Tap linear_tap(float position);

/// Indices may be those of no texel but of the border.
constexpr bool is_border(AddressControl mode) {
  return mode == AddressControl::CLAMP_BORDER || mode == AddressControl::HALF_BORDER;
}

/// Step 5. CUBE clamps: faces know their neighbours elsewhere.
inline constexpr std::int32_t border_index = -1;
std::int32_t wrap_index(AddressControl mode, std::int32_t index, std::uint32_t size);
/// The mode that a nearest filter uses: HALF_BORDER never reaches the border.
constexpr AddressControl nearest_mode(AddressControl mode) {
  return mode == AddressControl::HALF_BORDER ? AddressControl::CLAMP : mode;
}

/// Array element: rint, clamped to 0 and count - 1; NaN is 0.
std::uint32_t array_index(float coordinate, std::uint32_t count);

/// +X, -X, +Y, -Y, +Z, -Z, as faces lie in memory.
struct CubePosition {
  unsigned face = 0;
  float s = 0, t = 0;  ///< normalized
};
/// The face that the direction points to, Z before Y before X where coordinates are equal.
CubePosition cube_position(const std::array<float, 3>& direction);
/// d(s, t) where `direction` moves by `delta` on that face.
std::array<float, 2> cube_gradient(unsigned face, const std::array<float, 3>& direction,
                                   const std::array<float, 3>& delta);

struct CubeTexel {
  unsigned face = 0;
  std::int32_t x = 0, y = 0;
};
/// The texel that (x, y), up to `size` outside the face, lies on. Over a corner, where three faces meet and
/// no texel is, x is clamped to the face first.
CubeTexel cross_edge(CubeTexel texel, std::int32_t size);

}  // namespace eum::mem::image
