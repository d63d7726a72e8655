#pragma once
// What each function of the math instruction should give, and how far the hardware's may be off: the exact
// value in double, whose own error is below 2^-28 units in the last place of a float, and the documented
// bound. It must not know how Eumulate computes any.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "tests/accuracy/math_code.hpp"

namespace eum::accuracy {

/// A part of the domain of a function with a bound of its own. Elsewhere only special values count.
struct Range {
  double low, high;         ///< of |x|
  double ulp, ulp_times_x;  ///< error at most ulp + ulp_times_x * |x| units in the last place; 0: not bound
  double absolute;          ///< or at most this; 0: not bound
  std::string_view source;  ///< of the bound
};

struct MathFunction {
  std::string_view name;
  unsigned code;  ///< function control
  unsigned sources;
  Element element;
  /// The exact value; NaN where the result is one.
  double (*exact)(double x, double y);
  std::span<const Range> ranges;
};

std::span<const MathFunction> math_functions();

}  // namespace eum::accuracy
