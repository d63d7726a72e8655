#pragma once
// One conversion of a printf format in OpenCL C ("%-8.3v4hlf"), and the text that it gives a value. It must
// not know where formats and values come from.
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
  unsigned bytes = 4;                   ///< per element
  std::vector<std::uint64_t> elements;  ///< bits; unused ones are 0. A scalar has one element
  std::string text;                     ///< String
};

struct Conversion {
  /// OpenCL C 3.0, 6.15.14: hh and h narrow, l is 64 bits wide; hl: vector elements of 32 bits.
  enum class Length : std::uint8_t { None, Char, Short, Word, Long };

  std::string flags;  ///< of "-+ #0"
  unsigned width = 0;
  std::optional<unsigned> precision;
  Length length = Length::None;
  char specifier = 0;            ///< 'd', 'f', ..., or 0: none that OpenCL C defines
  unsigned extra_arguments = 0;  ///< number of '*' for width or precision, which OpenCL C does not have
  std::size_t characters = 0;    ///< of the format, from the '%' on
};

/// Limit to which larger widths and precisions are reduced, the most that C requires of one conversion.
inline constexpr unsigned most_width = 4095;

/// `format` begins with the '%' of a conversion other than "%%".
Conversion parse_conversion(std::string_view format);

/// Appends `value` formatted by `conversion`, with commas between the elements of a vector. If they do not
/// match, which OpenCL C leaves undefined, the value is converted.
void append(std::string& to, const Conversion& conversion, const PrintfValue& value);

}  // namespace eum::rt
