#pragma once
// One conversion of a printf format as OpenCL C has them ("%-8.3v4hlf"), and the text it gives a value.
// It must not know where formats and values come from.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eum::rt {

/// An argument of printf: a number, a vector of numbers, an address or a string.
struct PrintfValue {
  enum class Kind : std::uint8_t { Integer, Float, Pointer, String };
  Kind kind = Kind::Integer;
  unsigned bytes = 4;                   ///< of an element
  std::vector<std::uint64_t> elements;  ///< bits; unused ones are 0. One of a scalar
  std::string text;                     ///< String
};

struct Conversion {
  /// OpenCL C 3.0, 6.15.14: hh and h narrow, l is 64 bits wide; hl says that a vector has elements of 32.
  enum class Length : std::uint8_t { None, Char, Short, Word, Long };

  std::string flags;  ///< of "-+ #0"
  unsigned width = 0;
  std::optional<unsigned> precision;
  Length length = Length::None;
  char specifier = 0;            ///< 'd', 'f', ..., or 0: none that OpenCL C knows
  unsigned extra_arguments = 0;  ///< '*' for width or precision, which OpenCL C does not have
  std::size_t characters = 0;    ///< of the format, from the '%' on
};

/// Widths and precisions above are taken for this much, the most that C asks of one conversion.
inline constexpr unsigned most_width = 4095;

/// `format` begins with the '%' of a conversion other than "%%".
Conversion parse_conversion(std::string_view format);

/// `value` as `conversion` wants it; the elements of a vector with commas between them. Where they do not go
/// together, which OpenCL C leaves undefined, the value is converted.
void append(std::string& to, const Conversion& conversion, const PrintfValue& value);

}  // namespace eum::rt
