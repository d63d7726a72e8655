#include "tests/frontend/eu/model/number.hpp"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

namespace eum::model {
namespace {

constexpr Wide one = 1;

/// The value of the sign, exponent and fraction fields of an IEEE format.
double from_fields(std::uint64_t bits, unsigned exponent_bits, unsigned fraction_bits) {
  const std::uint64_t fraction = bits & ((1ull << fraction_bits) - 1);
  const int exponent = static_cast<int>((bits >> fraction_bits) & ((1ull << exponent_bits) - 1));
  const bool negative = (bits >> (exponent_bits + fraction_bits)) & 1;
  const int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
  double value;
  if (exponent == top)
    value =
        fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    value = std::ldexp(static_cast<double>(fraction), 1 - bias - static_cast<int>(fraction_bits));
  else
    value = std::ldexp(static_cast<double>(fraction | 1ull << fraction_bits),
                       exponent - bias - static_cast<int>(fraction_bits));
  return negative ? -value : value;
}

}  // namespace

Wide lowest(Type type) { return gen::is_signed(type) ? -(one << (bits_of(type) - 1)) : 0; }
Wide highest(Type type) { return (one << (bits_of(type) - (gen::is_signed(type) ? 1 : 0))) - 1; }

Wide wrap(Wide value, unsigned bits, bool is_signed) {
  const Wide span = one << bits;
  Wide rest = value & (span - 1);
  if (is_signed && (rest >> (bits - 1)) != 0) rest -= span;
  return rest;
}
Wide wrap(Wide value, Type type) { return wrap(value, bits_of(type), gen::is_signed(type)); }

Number decode(std::uint64_t bits, Type type) {
  switch (type) {
    case Type::hf:
      return Number::of_float(from_fields(bits, 5, 10));
    case Type::f:
      return Number::of_float(from_fields(bits, 8, 23));
    case Type::df:
      return Number::of_float(from_fields(bits, 11, 52));
    default:
      return Number::of(wrap(static_cast<Wide>(bits), type));
  }
}

double round_to_half(double value) {
  if (value != value || std::isinf(value)) return value;
  constexpr double largest = 65504;
  const double magnitude = std::fabs(value);
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude = m * 2^exponent with m in [0.5, 1)
  const int unit = std::max(exponent - 11, -24);
  // With the sign, so that rounding up and down go in the right direction.
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  if (std::fabs(rounded) <= largest) return std::copysign(rounded, value);
  const int mode = std::fegetround();
  const bool stays = mode == FE_TOWARDZERO || mode == (value > 0 ? FE_DOWNWARD : FE_UPWARD);
  return std::copysign(stays ? largest : std::numeric_limits<double>::infinity(), value);
}

Number to_float(const Number& value, Type type) {
  // A long double holds 64-bit integers exactly, so there is only one rounding.
  const auto whole = static_cast<long double>(value.integer);
  if (type == Type::df) return Number::of_float(value.is_float ? value.real : static_cast<double>(whole));
  const float single = value.is_float ? static_cast<float>(value.real) : static_cast<float>(whole);
  if (type == Type::f) return Number::of_float(single);
  return Number::of_float(round_to_half(single));  // the manual converts df to hf in two steps
}

std::uint64_t encode_float(double value, Type type) {
  if (type == Type::df) return std::bit_cast<std::uint64_t>(value);
  if (type == Type::f) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const std::uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  if (value != value) return sign | 0x7e00;
  if (std::isinf(value)) return sign | 0x7c00;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  if (exponent < -13) return sign | static_cast<std::uint64_t>(std::ldexp(magnitude, 24));
  const auto significand = static_cast<std::uint64_t>(std::ldexp(magnitude, 11 - exponent));
  return sign | static_cast<std::uint64_t>(exponent + 14) << 10 | (significand & 0x3ff);
}

Wide truncate(double value, Type type) {
  if (value != value) return 0;
  if (value >= static_cast<double>(highest(type))) {
    // The largest integer need not be representable as a double; values beyond it clamp.
    if (value >= std::ldexp(1.0, static_cast<int>(bits_of(type)) - (gen::is_signed(type) ? 1 : 0)))
      return highest(type);
  }
  if (value <= static_cast<double>(lowest(type))) return lowest(type);
  return static_cast<Wide>(value);
}

bool is_denormal(double value, Type type) {
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return false;
  if (type == Type::df) return magnitude < std::numeric_limits<double>::min();
  if (type == Type::f) return magnitude < std::numeric_limits<float>::min();
  return magnitude < 0x1p-14;
}

double flush(double value, Type type, const FloatMode& mode) {
  const bool keep = type == Type::df ? mode.keep_df : type == Type::f ? mode.keep_f : mode.keep_hf;
  return !keep && is_denormal(value, type) ? std::copysign(0.0, value) : value;
}

}  // namespace eum::model
