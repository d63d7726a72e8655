#pragma once
// What each function of the math instruction should return, and the permitted error of the hardware: the
// exact value in double, whose own error is below 2^-28 units in the last place of a float, and the
// documented bound. Independent of how Eumulate computes the functions.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "tests/accuracy/math_code.hpp"

namespace eum::accuracy {

/// A part of a function's domain with its own bound. Outside of all ranges only special values are checked.
struct Range {
  double low, high;         ///< of |x|
  double ulp, ulp_times_x;  ///< error at most ulp + ulp_times_x * |x| units in the last place; 0: no bound
  double absolute;          ///< or at most this; 0: no bound
  std::string_view source;  ///< of the bound
};

struct MathFunction {
  std::string_view name;
  unsigned code;  ///< function control
  unsigned sources;
  Element element;
  /// The exact value; NaN if that is the result.
  double (*exact)(double x, double y);
  std::span<const Range> ranges;
};

std::span<const MathFunction> math_functions();

}  // namespace eum::accuracy
