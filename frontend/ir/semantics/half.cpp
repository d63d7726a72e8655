// The conversions between f16 and f32, bit by bit, so that no host feature is needed.
#include "frontend/ir/semantics/half.hpp"

#include <xmmintrin.h>

#include <algorithm>
#include <bit>

namespace eum::ir {

float to_float(Half value) {
  const std::uint32_t sign = (value.bits & 0x8000u) << 16;
  const std::uint32_t exponent = (value.bits >> 10) & 31;
  const std::uint32_t fraction = value.bits & 0x3ffu;
  if (exponent == 31) {
    const std::uint32_t quiet = fraction != 0 ? 0x400000u : 0;
    return std::bit_cast<float>(sign | 0x7f800000u | quiet | (fraction << 13));
  }
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  if (fraction == 0) return std::bit_cast<float>(sign);
  // fraction * 2^-24, normal in f32.
  const auto top = static_cast<std::uint32_t>(std::bit_width(fraction)) - 1;
  return std::bit_cast<float>(sign | ((top + 103) << 23) | ((fraction << (23 - top)) & 0x7fffffu));
}

Half to_half(float value) {
  const unsigned mode = _mm_getcsr();
  enum Rounding : unsigned { NearestEven, Down, Up, Zero };  // MXCSR.RC
  const auto rounding = static_cast<Rounding>((mode >> 13) & 3);
  const bool denormals_are_zero = (mode & 0x40) != 0;

  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t exponent = (bits >> 23) & 255;
  std::uint32_t significand = bits & 0x7fffffu;
  const auto result = [&](std::uint32_t magnitude) {
    return Half{static_cast<std::uint16_t>(sign | magnitude)};
  };
  if (exponent == 255) return result(significand != 0 ? 0x7e00u | (significand >> 13) : 0x7c00u);
  const bool away = rounding == Up ? sign == 0 : rounding == Down && sign != 0;
  if (exponent > 142) return result(rounding == NearestEven || away ? 0x7c00u : 0x7bffu);  // 2^16 and above
  if (exponent != 0)
    significand |= 0x800000u;
  else if (denormals_are_zero)
    significand = 0;

  // The value is significand * 2^(exponent - 150); one unit of the result is 2^(exponent - 137) or 2^-24.
  const bool normal = exponent > 112;
  const std::uint32_t shift =
      normal ? 13 : std::min<std::uint32_t>(126 - std::max<std::uint32_t>(exponent, 1), 31);
  std::uint32_t kept = significand >> shift;
  const std::uint32_t rest = significand & ((1u << shift) - 1);
  const std::uint32_t tie = 1u << (shift - 1);
  const bool up =
      rounding == NearestEven ? rest > tie || (rest == tie && (kept & 1) != 0) : away && rest != 0;
  kept += up ? 1 : 0;
  if (normal) kept += (exponent - 113) << 10;  // the leading one of `kept` adds 1 to the exponent
  // A carry out of the largest value gives 0x7c00, infinity, which is right for every mode that rounds up.
  return result(kept);
}

}  // namespace eum::ir
