#pragma once
// The element types of the command line (f32, u64, ...): their rows, and conversion of values from and to
// text.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "memory/base/result.hpp"

namespace eum::cli {

enum class Element : std::uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64 };

enum class NumberKind : std::uint8_t { Signed, Unsigned, Float };

struct ElementInfo {
  std::string_view name;
  std::string_view opencl;  ///< spelling in OpenCL C
  unsigned bytes;
  NumberKind kind;
};

const ElementInfo& info(Element element);
std::optional<Element> parse_element(std::string_view name);
/// "float" is f32; nothing for vectors, structures and pointers.
std::optional<Element> element_of_opencl(std::string_view type_name);
/// "i8, u8, ..."
std::string element_names();

/// The value as bits, from decimal, 0x hexadecimal or, for floats, what strtod reads (inf, nan, 0x1p3).
/// An error if it does not fit.
Result<std::uint64_t> parse_value(Element element, std::string_view text);

/// `value` as an element; integers wrap, floats round to nearest.
std::uint64_t bits_of_count(Element element, std::uint64_t value);
/// `number`, in [0, 1), as a float element.
std::uint64_t bits_of_float(Element element, double number);

/// Element `index` of `bytes` as text that parse_value reads back.
std::string value_text(Element element, std::span<const std::byte> bytes, std::size_t index);

/// The value of bits; 64-bit integers are rounded.
double number_of(Element element, std::uint64_t bits);

/// Parses an unsigned 64-bit integer, decimal or 0x hexadecimal.
Result<std::uint64_t> parse_count(std::string_view what, std::string_view text);

}  // namespace eum::cli
