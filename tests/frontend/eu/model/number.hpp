#pragma once
// Numbers of the model: exact integers, floats of three formats, and their conversions, written from the
// manual's definitions (IVB volume 4 part 3, 2.2 to 2.4). Independent of frontend/ir and frontend/eu, so that
// it can expose errors in them.
#include <cstdint>

#include "frontend/gen/type.hpp"

namespace eum::model {

using gen::Type;
using Wide = __int128;

/// An exact integer, or a float whose value is exact as a double.
struct Number {
  bool is_float = false;
  Wide integer = 0;
  double real = 0;

  static Number of(Wide value) { return {false, value, 0}; }
  static Number of_float(double value) { return {true, 0, value}; }
  bool is_nan() const { return is_float && real != real; }
};

/// Which denormal operands and results are kept, not flushed to zero (cr0.0).
struct FloatMode {
  bool keep_f = true;
  bool keep_df = true;
  bool keep_hf = true;
};

constexpr unsigned bits_of(Type type) { return 8 * gen::size_of(type); }
/// Smallest and largest value of an integer type.
Wide lowest(Type type);
Wide highest(Type type);
/// The low bits of `value` as a value of the type.
Wide wrap(Wide value, Type type);
Wide wrap(Wide value, unsigned bits, bool is_signed);

/// The value of an element's bits.
Number decode(std::uint64_t bits, Type type);
/// `value` as a float type, rounded by the host's mode.
Number to_float(const Number& value, Type type);
/// The bits of a float that is exact in the type.
std::uint64_t encode_float(double value, Type type);
/// A float as an integer: truncated, clamped to the type's range; NaN gives 0.
Wide truncate(double value, Type type);
/// The value, or a zero of its sign if it is a denormal of the type that the mode flushes.
double flush(double value, Type type, const FloatMode& mode);
bool is_denormal(double value, Type type);

/// Rounds to a half by the host's rounding mode.
double round_to_half(double value);

}  // namespace eum::model
