// Numbers are formatted by the host's snprintf, one at a time, with the widest type: OpenCL C's extensions of
// C are removed first.
#include "runtime/printf/conversion.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>

namespace eum::rt {
namespace {

constexpr std::string_view integers = "diouxXc", floats = "fFeEgGaA";
/// A double has up to 309 digits before the point.
constexpr std::size_t most_characters = most_width + 512;

unsigned take_number(std::string_view& rest) {
  unsigned value = 0;
  for (; !rest.empty() && rest[0] >= '0' && rest[0] <= '9'; rest.remove_prefix(1))
    value = std::min(value * 10 + static_cast<unsigned>(rest[0] - '0'), most_width);
  return value;
}

bool take(std::string_view& rest, std::string_view word) {
  if (!rest.starts_with(word)) return false;
  rest.remove_prefix(word.size());
  return true;
}

std::int64_t sign_extended(std::uint64_t bits, unsigned bytes) {
  const unsigned unused = 64 - 8 * bytes;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

double as_double(const PrintfValue& value, std::uint64_t bits) {
  if (value.kind != PrintfValue::Kind::Float) return static_cast<double>(sign_extended(bits, value.bytes));
  if (value.bytes == 8) return std::bit_cast<double>(bits);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

std::int64_t as_integer(const PrintfValue& value, std::uint64_t bits) {
  if (value.kind != PrintfValue::Kind::Float) return sign_extended(bits, value.bytes);
  const double number = as_double(value, bits);
  if (std::isnan(number)) return 0;
  return static_cast<std::int64_t>(std::clamp(number, -0x1p63, 0x1.fffffffffffffp62));
}

/// Number of bytes that an integer conversion uses.
unsigned width_of(const Conversion& conversion, const PrintfValue& value) {
  switch (conversion.length) {
    case Conversion::Length::Char:
      return 1;
    case Conversion::Length::Short:
      return 2;
    case Conversion::Length::Word:
      return 4;
    case Conversion::Length::Long:
      return 8;
    case Conversion::Length::None:
      break;
  }
  return value.elements.size() == 1 ? 4 : value.bytes;
}

template <class T>
void append_by_host(std::string& to, const Conversion& conversion, std::string_view length, T value) {
  std::string format = "%" + conversion.flags;
  if (conversion.width != 0) format += std::to_string(conversion.width);
  if (conversion.precision) format += "." + std::to_string(*conversion.precision);
  format += length;
  format += conversion.specifier;
  std::array<char, most_characters> text;
  const int count = std::snprintf(text.data(), text.size(), format.c_str(), value);
  if (count > 0)
    to.append(text.data(), std::min<std::size_t>(static_cast<std::size_t>(count), text.size() - 1));
}

void append_padded(std::string& to, const Conversion& conversion, std::string_view text) {
  const std::size_t padding = conversion.width > text.size() ? conversion.width - text.size() : 0;
  const bool left = conversion.flags.find('-') != std::string::npos;
  if (!left) to.append(padding, ' ');
  to += text;
  if (left) to.append(padding, ' ');
}

void append_element(std::string& to, const Conversion& conversion, const PrintfValue& value,
                    std::uint64_t bits) {
  if (floats.find(conversion.specifier) != std::string_view::npos) {
    append_by_host(to, conversion, "", as_double(value, bits));
    return;
  }
  const std::int64_t integer = as_integer(value, bits);
  if (conversion.specifier == 'c') {
    const char character = static_cast<char>(integer);
    append_padded(to, conversion, {&character, 1});
    return;
  }
  if (conversion.specifier == 'p') {
    append_by_host(to, conversion, "", reinterpret_cast<const void*>(bits));
    return;
  }
  const unsigned bytes = width_of(conversion, value);
  const bool is_signed = conversion.specifier == 'd' || conversion.specifier == 'i';
  if (is_signed) {
    append_by_host(to, conversion, "ll",
                   static_cast<long long>(sign_extended(static_cast<std::uint64_t>(integer), bytes)));
    return;
  }
  // Zero-extend an unsigned int given for "%lu".
  const unsigned kept = value.kind == PrintfValue::Kind::Float ? bytes : std::min(bytes, value.bytes);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * kept);
  append_by_host(to, conversion, "ll",
                 static_cast<unsigned long long>(static_cast<std::uint64_t>(integer) & mask));
}

}  // namespace

Conversion parse_conversion(std::string_view format) {
  Conversion conversion;
  std::string_view rest = format.substr(1);
  constexpr std::string_view known_flags = "-+ #0";
  for (; !rest.empty() && known_flags.find(rest[0]) != std::string_view::npos; rest.remove_prefix(1))
    if (conversion.flags.find(rest[0]) == std::string::npos) conversion.flags += rest[0];
  if (take(rest, "*"))
    ++conversion.extra_arguments;
  else
    conversion.width = take_number(rest);
  if (take(rest, ".")) {
    if (take(rest, "*"))
      ++conversion.extra_arguments;
    else
      conversion.precision = take_number(rest);
  }
  // The element count is skipped: the vector's value has it too.
  if (rest.size() >= 2 && rest[0] == 'v' && rest[1] >= '0' && rest[1] <= '9') {
    rest.remove_prefix(1);
    take_number(rest);
  }
  // Not in OpenCL C, but accepted by C compilers for 64 bits: ll, j, z, t.
  using Length = Conversion::Length;
  constexpr std::array<std::pair<std::string_view, Length>, 9> lengths{{{"hh", Length::Char},
                                                                        {"hl", Length::Word},
                                                                        {"h", Length::Short},
                                                                        {"ll", Length::Long},
                                                                        {"l", Length::Long},
                                                                        {"j", Length::Long},
                                                                        {"z", Length::Long},
                                                                        {"t", Length::Long},
                                                                        {"L", Length::None}}};
  for (const auto& [word, length] : lengths) {
    if (!take(rest, word)) continue;
    conversion.length = length;
    break;
  }
  if (!rest.empty()) {
    const char c = rest[0];
    if (integers.find(c) != std::string_view::npos || floats.find(c) != std::string_view::npos || c == 's' ||
        c == 'p') {
      conversion.specifier = c;
      rest.remove_prefix(1);
    }
  }
  conversion.characters = format.size() - rest.size();
  return conversion;
}

void append(std::string& to, const Conversion& conversion, const PrintfValue& value) {
  if (value.kind == PrintfValue::Kind::String) {
    std::string_view text = value.text;
    if (conversion.precision) text = text.substr(0, *conversion.precision);
    append_padded(to, conversion, text);
    return;
  }
  Conversion adapted = conversion;
  if (conversion.specifier == 's') {  // for a value that is not a string
    adapted.specifier = value.kind == PrintfValue::Kind::Float     ? 'g'
                        : value.kind == PrintfValue::Kind::Pointer ? 'p'
                                                                   : 'd';
    adapted.precision.reset();
  }
  if (adapted.specifier == 'p' && value.kind != PrintfValue::Kind::Pointer) adapted.specifier = 'x';
  if (adapted.specifier == 'p') adapted.precision.reset();
  for (std::size_t i = 0; i < value.elements.size(); ++i) {
    if (i != 0) to += ',';
    append_element(to, adapted, value, value.elements[i]);
  }
}

}  // namespace eum::rt
