// Conversion between numbers and text.
#include "runtime/cli/run/element.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "frontend/ir/semantics/half.hpp"

namespace eum::cli {
namespace {

constexpr std::array<ElementInfo, 11> elements{{
    {"i8", "char", 1, NumberKind::Signed},
    {"u8", "uchar", 1, NumberKind::Unsigned},
    {"i16", "short", 2, NumberKind::Signed},
    {"u16", "ushort", 2, NumberKind::Unsigned},
    {"i32", "int", 4, NumberKind::Signed},
    {"u32", "uint", 4, NumberKind::Unsigned},
    {"i64", "long", 8, NumberKind::Signed},
    {"u64", "ulong", 8, NumberKind::Unsigned},
    {"f16", "half", 2, NumberKind::Float},
    {"f32", "float", 4, NumberKind::Float},
    {"f64", "double", 8, NumberKind::Float},
}};

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::uint64_t low_bits(std::uint64_t value, unsigned bytes) {
  return bytes == 8 ? value : value & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

}  // namespace

const ElementInfo& info(Element element) { return elements[static_cast<std::size_t>(element)]; }

std::optional<Element> parse_element(std::string_view name) {
  for (std::size_t i = 0; i < elements.size(); ++i)
    if (elements[i].name == name) return static_cast<Element>(i);
  return std::nullopt;
}

std::optional<Element> element_of_opencl(std::string_view type_name) {
  for (std::size_t i = 0; i < elements.size(); ++i)
    if (elements[i].opencl == type_name) return static_cast<Element>(i);
  return std::nullopt;
}

std::string element_names() {
  std::string names;
  for (const ElementInfo& e : elements) {
    if (!names.empty()) names += ", ";
    names += e.name;
  }
  return names;
}

Result<std::uint64_t> parse_value(Element element, std::string_view text) {
  const ElementInfo& e = info(element);
  if (e.kind == NumberKind::Float) {
    const std::string copy(text);
    char* end = nullptr;
    const double value = std::strtod(copy.c_str(), &end);
    if (copy.empty() || *end != 0) return error("expected a number for {}, found '{}'", e.name, text);
    return bits_of_float(element, value);
  }
  const bool negative = text.starts_with('-');
  const auto magnitude = parse_unsigned(negative ? text.substr(1) : text);
  if (!magnitude) return error("expected a whole number for {}, found '{}'", e.name, text);
  const std::uint64_t top = std::uint64_t{1} << (8 * e.bytes - 1);
  const std::uint64_t highest = e.kind == NumberKind::Signed ? top - 1 : top - 1 + top;
  const std::uint64_t lowest = e.kind == NumberKind::Signed ? top : 0;  // magnitude of the lowest value
  if (*magnitude > (negative ? lowest : highest))
    return error("expected {} from {}{} to {}, found '{}'", e.name, lowest != 0 ? "-" : "", lowest, highest,
                 text);
  return low_bits(negative ? 0 - *magnitude : *magnitude, e.bytes);
}

std::uint64_t bits_of_float(Element element, double number) {
  switch (element) {
    case Element::f16:
      return ir::to_half(static_cast<float>(number)).bits;
    case Element::f32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(number));
    default:
      return std::bit_cast<std::uint64_t>(number);
  }
}

std::uint64_t bits_of_count(Element element, std::uint64_t value) {
  if (info(element).kind == NumberKind::Float) return bits_of_float(element, static_cast<double>(value));
  return low_bits(value, info(element).bytes);
}

double number_of(Element element, std::uint64_t bits) {
  const ElementInfo& e = info(element);
  switch (element) {
    case Element::f16:
      return ir::to_float(ir::Half{static_cast<std::uint16_t>(bits)});
    case Element::f32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case Element::f64:
      return std::bit_cast<double>(bits);
    default:
      break;
  }
  if (e.kind == NumberKind::Unsigned) return static_cast<double>(bits);
  const unsigned unused = 64 - 8 * e.bytes;
  return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

std::string value_text(Element element, std::span<const std::byte> bytes, std::size_t index) {
  const ElementInfo& e = info(element);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * e.bytes, e.bytes);
  switch (element) {
    case Element::f16:
      return fmt::format("{}", ir::to_float(ir::Half{static_cast<std::uint16_t>(bits)}));
    case Element::f32:
      return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case Element::f64:
      return fmt::format("{}", std::bit_cast<double>(bits));
    default:
      break;
  }
  if (e.kind == NumberKind::Unsigned) return fmt::format("{}", bits);
  const unsigned unused = 64 - 8 * e.bytes;
  return fmt::format("{}", static_cast<std::int64_t>(bits << unused) >> unused);
}

Result<std::uint64_t> parse_count(std::string_view what, std::string_view text) {
  const auto value = parse_unsigned(text);
  if (!value) return error("expected {}, found '{}'", what, text);
  return *value;
}

}  // namespace eum::cli
