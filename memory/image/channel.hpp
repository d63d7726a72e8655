#pragma once
// Conversion of one channel of a texel from its bits to what a shader gets (bits of f32, or an integer) and
// back. All of it is integer arithmetic or evaluated at compile time, because the host's rounding and
// denormal modes are the guest's while this code runs. It must not know formats.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "memory/image/format.hpp"

namespace eum::mem::image::channel {

inline constexpr std::uint32_t f32_one = 0x3f800000, f32_infinity = 0x7f800000, f32_quiet = 0x00400000;

constexpr std::uint32_t max_of(unsigned bits) {
  return static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
}

/// value / 2^shift, rounded to nearest, ties to even.
constexpr std::uint64_t shift_to_even(std::uint64_t value, unsigned shift) {
  if (shift == 0) return value;
  if (shift > 63) return 0;  // values are below 2^62
  const std::uint64_t floor = value >> shift, rest = value & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  return floor + (rest > half || (rest == half && (floor & 1) != 0) ? 1 : 0);
}

/// f32 of significand * 2^exponent. The significand has at most 24 bits and the result is not denormal.
constexpr std::uint32_t exact_float(std::uint32_t significand, int exponent) {
  if (significand == 0) return 0;
  const int width = static_cast<int>(std::bit_width(significand));
  return (static_cast<std::uint32_t>(exponent + width + 126) << 23) +
         ((significand << (24 - width)) & 0x7fffff);
}

/// f32 of numerator / denominator, rounded once to nearest even. Both are below 2^32, and the denominator is
/// not 0.
constexpr std::uint32_t ratio(std::uint64_t numerator, std::uint64_t denominator) {
  if (numerator == 0) return 0;
  const unsigned shift = static_cast<unsigned>(27 + std::bit_width(denominator) - std::bit_width(numerator));
  const std::uint64_t scaled = numerator << shift;
  // 27 or 28 bits; the last one is set if the division leaves a remainder.
  const std::uint64_t quotient = scaled / denominator | (scaled % denominator != 0 ? 1 : 0);
  const unsigned excess = static_cast<unsigned>(std::bit_width(quotient)) - 24;
  const auto rounded = static_cast<std::uint32_t>(shift_to_even(quotient, excess));
  // The implicit bit adds one to the exponent, and so does a carry out of the mantissa.
  return (static_cast<std::uint32_t>(149 + static_cast<int>(excess) - static_cast<int>(shift)) << 23) +
         rounded;
}

/// ratio(x, 2^bits - 1): the binary expansion of that fraction repeats the bits of x for ever.
template <unsigned bits>
constexpr std::uint32_t fraction(std::uint32_t x) {
  if (x == 0) return 0;
  if (x == max_of(bits)) return f32_one;
  std::uint64_t repeated = x;
  unsigned width = bits;
  for (; width < bits + 24; width += bits) repeated = repeated << bits | x;
  static_assert(bits <= 16 || bits == 24, "the repeated bits may not fit");
  // At least 25 bits, and the bits beyond them are never all 0, so there are no ties.
  const unsigned excess = static_cast<unsigned>(std::bit_width(repeated)) - 24;
  const auto rounded = static_cast<std::uint32_t>(((repeated >> (excess - 1)) + 1) >> 1);
  return ((149 + excess - width) << 23) + rounded;  // as in ratio
}

constexpr std::int32_t sign_extend(std::uint32_t value, unsigned bits) {
  return static_cast<std::int32_t>(value << (32 - bits)) >> (32 - bits);
}

/// The integer from 0 to `most` that is nearest to x * most, ties to even, for x from 0 to 1 (a NaN counts as
/// 0).
constexpr std::uint32_t scale(std::uint32_t x, std::uint32_t most) {
  if (x > f32_infinity) return 0;
  if (x >= f32_one) return most;
  const std::uint32_t exponent = x >> 23;
  if (exponent == 0) return 0;  // denormals are far below half a step
  return static_cast<std::uint32_t>(
      shift_to_even(((x & 0x7fffff) | 0x800000) * std::uint64_t{most}, 150 - exponent));
}

// Floats with a 5-bit exponent, `mantissa` bits below it and, if signed, the sign above it.

/// Exact; a NaN becomes quiet, as in every conversion of the EU and of F16C.
template <unsigned mantissa, bool is_signed>
constexpr std::uint32_t small_float_to_f32(std::uint32_t x) {
  const std::uint32_t fraction = x & max_of(mantissa), exponent = x >> mantissa & 31;
  const std::uint32_t sign = is_signed ? x >> (mantissa + 5) << 31 : 0;
  if (exponent == 31)
    return sign | f32_infinity | fraction << (23 - mantissa) | (fraction != 0 ? f32_quiet : 0);
  if (exponent == 0) return sign | exact_float(fraction, -14 - static_cast<int>(mantissa));
  return sign | (exponent + 112) << 23 | fraction << (23 - mantissa);
}

/// Rounded to nearest even. In a signed format, numbers beyond the largest become infinity; in an unsigned
/// one they become the largest number, negative numbers 0, and a NaN positive (OpenGL 4.6, 2.3.4.3 and
/// 2.3.4.4).
template <unsigned mantissa, bool is_signed>
constexpr std::uint32_t f32_to_small_float(std::uint32_t x) {
  constexpr std::uint32_t infinity = 31u << mantissa;
  const std::uint32_t magnitude = x & 0x7fffffff;
  const std::uint32_t sign = is_signed ? x >> 31 << (mantissa + 5) : 0;
  if (magnitude > f32_infinity)
    return sign | infinity | (magnitude >> (23 - mantissa) & max_of(mantissa)) | 1u << (mantissa - 1);
  if (!is_signed && x >> 31 != 0) return 0;
  if (magnitude == f32_infinity) return sign | infinity;
  const std::uint32_t exponent = magnitude >> 23;
  if (exponent == 0) return sign;  // far below half of the smallest number
  // Numbers below 2^-14 have the exponent of 2^-14 and no implicit bit.
  const std::uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
  const unsigned below = exponent < 113 ? 113 - exponent : 0;
  const auto rounded = static_cast<std::uint32_t>(shift_to_even(significand, 23 - mantissa + below));
  const std::uint32_t result = (exponent < 113 ? 0 : (exponent - 113) << mantissa) + rounded;
  return sign | std::min(result, is_signed ? infinity : infinity - 1);
}

// sRGB (IEC 61966-2-1): linear = c / 12.92 up to 0.04045, else ((c + 0.055) / 1.055)^2.4.

constexpr double srgb_to_linear(double c) {
  if (c <= 0.04045) return c / 12.92;
  const double y = (c + 0.055) / 1.055;
  double root = 1;  // the fifth root, by Newton's method: y is at least 0.09
  for (int i = 0; i < 12; ++i) root -= (root - y / (root * root * root * root)) / 5;
  const double square = root * root, fourth = square * square;
  return fourth * fourth * fourth;  // y^(12/5)
}

/// f32 of each encoded value.
template <unsigned bits>
inline constexpr auto srgb_values = [] {
  std::array<std::uint32_t, std::size_t{1} << bits> values{};
  for (std::uint32_t i = 0; i < values.size(); ++i)
    values[i] = std::bit_cast<std::uint32_t>(static_cast<float>(srgb_to_linear(i / double{max_of(bits)})));
  return values;
}();

/// From element k on a number is nearer to value k + 1 than to value k: the formula applied to k + 0.5.
template <unsigned bits>
inline constexpr auto srgb_steps = [] {
  std::array<double, max_of(bits)> steps{};
  for (std::uint32_t i = 0; i < steps.size(); ++i) steps[i] = srgb_to_linear((i + 0.5) / max_of(bits));
  return steps;
}();

/// SHAREDEXP spans several channels: see format.cpp.
template <ChannelKind kind, unsigned bits>
constexpr std::uint32_t decode(std::uint32_t x) {
  using enum ChannelKind;
  if constexpr (kind == UNORM) {
    return fraction<bits>(x);
  } else if constexpr (kind == SNORM) {
    const std::int32_t value = sign_extend(x, bits);
    const std::uint32_t magnitude = static_cast<std::uint32_t>(value < 0 ? -std::int64_t{value} : value);
    return (value < 0 ? 0x80000000 : 0) | fraction<bits - 1>(std::min(magnitude, max_of(bits - 1)));
  } else if constexpr (kind == SINT) {
    return static_cast<std::uint32_t>(sign_extend(x, bits));
  } else if constexpr (kind == SRGB) {
    return srgb_values<bits>[x];
  } else if constexpr (kind == FLOAT && bits == 16) {
    return small_float_to_f32<10, true>(x);
  } else if constexpr (kind == FLOAT && bits < 16) {
    return small_float_to_f32<bits - 5, false>(x);
  } else {
    static_assert(kind == UINT || (kind == FLOAT && bits == 32));
    return x;
  }
}

template <ChannelKind kind, unsigned bits>
constexpr std::uint32_t encode(std::uint32_t x) {
  using enum ChannelKind;
  if constexpr (kind == UNORM) {
    return x >> 31 != 0 ? 0 : scale(x, max_of(bits));
  } else if constexpr (kind == SNORM) {
    const std::uint32_t magnitude = scale(x & 0x7fffffff, max_of(bits - 1));
    return (x >> 31 != 0 ? 0 - magnitude : magnitude) & max_of(bits);
  } else if constexpr (kind == UINT) {
    return std::min(x, max_of(bits));
  } else if constexpr (kind == SINT) {
    const auto most = static_cast<std::int32_t>(max_of(bits - 1));
    return static_cast<std::uint32_t>(std::clamp(static_cast<std::int32_t>(x), -most - 1, most)) &
           max_of(bits);
  } else if constexpr (kind == SRGB) {
    const double value = std::bit_cast<float>(x);  // a NaN is below every step
    std::uint32_t low = 0, high = max_of(bits);
    while (low < high) {
      const std::uint32_t middle = (low + high) / 2;
      if (value >= srgb_steps<bits>[middle])
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  } else if constexpr (kind == FLOAT && bits == 16) {
    return f32_to_small_float<10, true>(x);
  } else if constexpr (kind == FLOAT && bits < 16) {
    return f32_to_small_float<bits - 5, false>(x);
  } else {
    static_assert(kind == FLOAT && bits == 32);
    return x;
  }
}

}  // namespace eum::mem::image::channel
