// Rounding for the references: to float, double, half and integers in the four directions. Based on exact
// arithmetic, not on the host's rounding mode.
#include "tests/kernels/case_parts.hpp"

#include <cmath>

namespace eum::kernels {
namespace {

/// Moves `rounded`, the value nearest to `exact`, to the neighbour that the direction requires.
template <class T>
T directed(T rounded, long double exact, Rounding rounding) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const auto back = static_cast<long double>(rounded);
  switch (rounding) {
    case Rounding::Nearest:
      return rounded;
    case Rounding::Zero:
      if (back > exact && exact >= 0) return std::nextafter(rounded, -infinity);
      if (back < exact && exact < 0) return std::nextafter(rounded, infinity);
      return rounded;
    case Rounding::Up:
      return back < exact ? std::nextafter(rounded, infinity) : rounded;
    case Rounding::Down:
      return back > exact ? std::nextafter(rounded, -infinity) : rounded;
  }
  return rounded;
}

}  // namespace

float to_float(long double value, Rounding rounding) {
  return directed(static_cast<float>(value), value, rounding);
}

double to_double(long double value, Rounding rounding) {
  return directed(static_cast<double>(value), value, rounding);
}

long double to_integer(long double value, Rounding rounding) {
  const long double below = std::floor(value);
  switch (rounding) {
    case Rounding::Zero:
      return std::trunc(value);
    case Rounding::Up:
      return std::ceil(value);
    case Rounding::Down:
      return below;
    case Rounding::Nearest:
      break;
  }
  const long double rest = value - below;
  const bool even = std::fmod(below, 2.0L) == 0;
  // A zero keeps the sign of the operand.
  return std::copysign(rest < 0.5L || (rest == 0.5L && even) ? below : below + 1, value);
}

double from_half(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 0x3ff;
  double magnitude = 0;
  if (exponent == 31)
    magnitude = fraction ? std::numeric_limits<double>::quiet_NaN() : HUGE_VAL;
  else if (exponent == 0)
    magnitude = std::ldexp(fraction, -24);
  else
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

uint16_t to_half(double value, Rounding rounding) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return 0x7e00;
  if (std::isinf(value)) return sign | 0x7c00;
  // On the magnitude, a directed rounding goes towards zero or away from it, depending on the sign.
  const bool away = (rounding == Rounding::Up && !sign) || (rounding == Rounding::Down && sign);
  Rounding of_magnitude = Rounding::Zero;
  if (rounding == Rounding::Nearest)
    of_magnitude = Rounding::Nearest;
  else if (away)
    of_magnitude = Rounding::Up;
  // The unit is 2^-24 up to 2^-13, then doubles with each power of two.
  const int exponent = magnitude > 0 ? std::max(std::ilogb(magnitude), -14) : -14;
  const auto units = static_cast<uint32_t>(to_integer(std::ldexp(magnitude, 10 - exponent), of_magnitude));
  if (exponent > 15) return sign | (of_magnitude == Rounding::Zero ? 0x7bff : 0x7c00);
  // If `units` reaches 2048, the carry into the exponent field gives the right encoding, up to infinity.
  const uint32_t field = units < 1024 ? units : units - 1024 + (static_cast<uint32_t>(exponent + 15) << 10);
  return static_cast<uint16_t>(sign | field);
}

}  // namespace eum::kernels
