#pragma once
// Binary floats on 128-bit integers: results are computed exactly and rounded once. Shares nothing with the
// project's semantics.
#include <algorithm>
#include <cstdint>

#include "frontend/ir/types.hpp"

namespace eum::jit::test {

using ir::Type;

/// A binary format: bits of the fraction, exponent of the least normal number.
struct Format {
  Type type;
  unsigned keep_bit;  ///< bit of cr0.0 that keeps denormals
  int fraction, least;
  unsigned bytes;
};
inline constexpr Format f16{Type::f16, 10, 10, -14, 2}, f32{Type::f32, 7, 23, -126, 4},
    f64{Type::f64, 6, 52, -1022, 8};

/// Finite numbers as sign * significand * 2^exponent.
struct Number {
  bool is_negative = false;
  unsigned __int128 significand = 0;
  int exponent = 0;
};

inline Number decode(std::uint64_t bits, const Format& f) {
  const auto exponent_bits = static_cast<unsigned>(8 * f.bytes - 1) - static_cast<unsigned>(f.fraction);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << f.fraction) - 1);
  const auto field = static_cast<int>(bits >> f.fraction & ((std::uint64_t{1} << exponent_bits) - 1));
  const bool sign = (bits >> (8 * f.bytes - 1) & 1) != 0;
  if (field == 0) return {sign, fraction, f.least - f.fraction};
  return {sign, fraction | std::uint64_t{1} << f.fraction, f.least - f.fraction + field - 1};
}

/// The bits of `n` rounded by `rounding` (numbered as in cr0.0: even, up, down, to zero); flushed if
/// denormal.
inline std::uint64_t encode(Number n, const Format& f, unsigned rounding, bool keeps) {
  const std::uint64_t sign = n.is_negative ? std::uint64_t{1} << (8 * f.bytes - 1) : 0;
  if (n.significand == 0) return sign;
  // Three bits more than the fraction has, the last one sticky; denormals have the least exponent.
  const auto shift_right = [&](int by) {
    for (; by > 0; --by, ++n.exponent) n.significand = n.significand >> 1 | (n.significand & 1);
  };
  int top = 127;
  while ((n.significand >> top & 1) == 0) --top;
  if (top < f.fraction + 3) {
    n.significand <<= f.fraction + 3 - top;
    n.exponent -= f.fraction + 3 - top;
  } else {
    shift_right(top - f.fraction - 3);
  }
  // A result is tiny if, rounded as if the exponent were unbounded, it is below the least normal number.
  const auto rounds_up = [&](unsigned __int128 value) {
    const auto low = static_cast<unsigned>(value & 7);
    if (rounding == 0) return low > 4 || (low == 4 && (value >> 3 & 1) != 0);
    return low != 0 && rounding == (n.is_negative ? 2u : 1u);
  };
  const unsigned __int128 full = (n.significand >> 3) + (rounds_up(n.significand) ? 1 : 0);
  const int least = f.least - f.fraction - 3;
  const bool carried = (full >> (f.fraction + 1)) != 0;
  const bool tiny = n.exponent + (carried ? 1 : 0) < least;
  if (n.exponent < least) shift_right(least - n.exponent);
  unsigned __int128 rounded = (n.significand >> 3) + (rounds_up(n.significand) ? 1 : 0);
  const bool is_denormal = (rounded >> f.fraction) == 0;
  // The host flushes tiny results of f32 and f64; for f16 the denormal results are flushed.
  if (!keeps && (f.type == Type::f16 ? is_denormal : tiny)) return sign;
  if (is_denormal) return sign | static_cast<std::uint64_t>(rounded);
  if ((rounded >> (f.fraction + 1)) != 0) {
    rounded >>= 1;
    ++n.exponent;
  }
  const auto field = static_cast<std::uint64_t>(n.exponent - least + 1);
  const std::uint64_t infinity = ((std::uint64_t{1} << (8 * f.bytes - 1)) - 1) >> f.fraction << f.fraction;
  if (field >= infinity >> f.fraction)  // beyond the greatest number
    return sign | (rounding == 0 || rounding == (n.is_negative ? 2u : 1u) ? infinity : infinity - 1);
  return sign | field << f.fraction |
         (static_cast<std::uint64_t>(rounded) & ((std::uint64_t{1} << f.fraction) - 1));
}

/// Exact where exponents differ by less than 60, as those of all f16 numbers do.
inline Number add(Number a, Number b, unsigned rounding) {
  if (a.significand == 0 && b.significand == 0)
    return {a.is_negative == b.is_negative ? a.is_negative : rounding == 2, 0, 0};
  if (a.significand == 0) return b;
  if (b.significand == 0) return a;
  const int low = std::min(a.exponent, b.exponent);
  a.significand <<= a.exponent - low;
  b.significand <<= b.exponent - low;
  if (a.is_negative == b.is_negative) return {a.is_negative, a.significand + b.significand, low};
  if (a.significand == b.significand) return {rounding == 2, 0, 0};
  if (a.significand > b.significand) return {a.is_negative, a.significand - b.significand, low};
  return {b.is_negative, b.significand - a.significand, low};
}
inline Number mul(Number a, Number b) {
  return {a.is_negative != b.is_negative, a.significand * b.significand, a.exponent + b.exponent};
}

/// The rounding and denormal modes of a thread.
struct Mode {
  std::uint32_t cr0;
  unsigned rounding() const { return cr0 >> 4 & 3; }
  bool keeps(const Format& f) const { return (cr0 >> f.keep_bit & 1) != 0; }
  Number operand(std::uint64_t bits, const Format& f) const {
    Number n = decode(bits, f);
    if (!keeps(f) && n.significand >> f.fraction == 0) n.significand = 0;
    return n;
  }
  std::uint64_t result(Number n, const Format& f) const { return encode(n, f, rounding(), keeps(f)); }
};

}  // namespace eum::jit::test
