// Parses vector operands with regions, raw operands, immediates, predicates.
#include "frontend/visa/operand_parser.hpp"

#include <bit>
#include <charconv>

#include "frontend/visa/expression.hpp"
#include "frontend/visa/variable.hpp"

namespace eum::visa {
namespace {

constexpr std::int64_t max_row = 0xffff, max_column = 0xffff;
/// Maximum offset of a raw operand in bytes (vISA document 5: 16 bits; the assembler also accepts the end
/// itself).
constexpr std::int64_t max_raw_offset = 0x10000;

constexpr OperandKind vector_kind(VariableKind kind) {
  switch (kind) {
    case VariableKind::General:
      return OperandKind::General;
    case VariableKind::Address:
      return OperandKind::Address;
    case VariableKind::Predicate:
      return OperandKind::Predicate;
    case VariableKind::Sampler:
    case VariableKind::Surface:
      return OperandKind::State;
  }
  return OperandKind::None;
}

/// Length of the literal like 1.5 or 2e-3 at the beginning of `text`, 0 if there is none.
std::size_t float_length(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && is_digit(text[i])) ++i;
  if (i == 0) return 0;
  const std::size_t digits = i;
  const auto at = [&](std::size_t index) { return index < text.size() ? text[index] : '\n'; };
  if (at(i) == '.' && is_digit(at(i + 1))) {
    ++i;
    while (is_digit(at(i))) ++i;
  }
  if ((at(i) == 'e' || at(i) == 'E') && (at(i + 1) == '+' || at(i + 1) == '-') && is_digit(at(i + 2))) {
    i += 2;
    while (is_digit(at(i))) ++i;
  }
  return i == digits ? 0 : i;
}

}  // namespace

std::optional<Type> type_of(std::string_view text) {
  if (auto type = parse_type(text)) return type;
  std::string lower(text.substr(0, 8));
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  return text.size() > 8 ? std::nullopt : parse_type(lower);
}

std::string OperandParser::describe(KindSet set) {
  static constexpr std::pair<OperandKind, std::string_view> names[] = {
      {OperandKind::General, "a general variable"},
      {OperandKind::Indirect, "r[...]"},
      {OperandKind::Immediate, "an immediate"},
      {OperandKind::Address, "an address variable"},
      {OperandKind::AddressOf, "&variable"},
      {OperandKind::Predicate, "a predicate variable"},
      {OperandKind::State, "a surface or sampler"},
      {OperandKind::Raw, "variable.offset"},
      {OperandKind::Name, "a surface or sampler name"},
  };
  std::string text;
  for (const auto& [kind, name] : names) {
    if (!contains(set, kind)) continue;
    if (!text.empty()) text += " or ";
    text += name;
  }
  return text;
}

bool OperandParser::variable(std::string_view expected, VariableId& id) {
  const std::string_view name = in_.peek_name();
  if (name.empty()) return in_.fail(expected);
  id = names_.find(name);
  if (id == no_variable) return in_.fail("a declared variable");
  in_.advance(name.size());
  return true;
}

bool OperandParser::vector(KindSet set, bool destination, Operand& out) {
  const char c = in_.peek();
  if (is_letter(c) || c == '%') {
    if (c == 'r' && in_.peek_behind(1) == '[') {
      if (!contains(set, OperandKind::Indirect)) return in_.fail(describe(set));
      return indirect(destination, out);
    }
    const Location place = in_.location();
    VariableId id = no_variable;
    if (!variable("a variable", id)) return false;  // there is a name; it may be unknown
    const OperandKind kind = vector_kind(kernel_.variables[id].kind);
    if (!contains(set, kind)) return in_.fail_at(place, describe(set));
    return general(destination, id, out);
  }
  if (c == '&' && contains(set, OperandKind::AddressOf)) return address_of(out);
  if (destination) return in_.fail(describe(set));
  if (c == '(' && contains(set, OperandKind::General)) {
    SourceModifier modifier = SourceModifier::None;
    if (source_modifier(modifier)) {
      const KindSet modified = set & kinds(OperandKind::General, OperandKind::Indirect);
      if (in_.peek() == '(') return in_.fail(describe(modified));
      if (!vector(modified, false, out)) return false;
      out.modifier = modifier;
      return true;
    }
  }
  const bool number = is_digit(c) || c == '-' || c == '~' || c == '!' || c == '(';
  if (!number || !contains(set, OperandKind::Immediate)) return in_.fail(describe(set));
  return immediate(out);
}

bool OperandParser::general(bool destination, VariableId id, Operand& out) {
  out.variable = id;
  out.kind = vector_kind(kernel_.variables[id].kind);
  switch (out.kind) {
    case OperandKind::Predicate:
      return true;
    case OperandKind::State:
      return element(out, "an element");
    case OperandKind::Address: {
      std::int64_t width = 0;
      if (!element(out, "an element") || !in_.expect('<') ||
          !expression(in_, Loosest::Shift, 0, 32, "a width", width) || !in_.expect('>'))
        return false;
      out.region = {0, static_cast<std::uint8_t>(width), 0};
      return true;
    }
    default:
      break;
  }
  if (id == eum::visa::id(PredefinedVariable::null)) out.kind = OperandKind::Null;
  if (destination) return (in_.peek() != '(' || two_offsets(out)) && destination_region(out.region);
  return two_offsets(out) && source_region(false, out.region);
}

bool OperandParser::simple(Operand& out) {
  const Location place = in_.location();
  VariableId id = no_variable;
  if (!variable("a general variable", id)) return false;
  if (kernel_.variables[id].kind != VariableKind::General) return in_.fail_at(place, "a general variable");
  out.variable = id;
  out.kind = id == eum::visa::id(PredefinedVariable::null) ? OperandKind::Null : OperandKind::General;
  out.region = {1, 1, 0};
  return two_offsets(out);
}

bool OperandParser::raw(bool bare, Operand& out) {
  const Location place = in_.location();
  VariableId id = no_variable;
  if (!variable("variable.offset", id)) return false;
  const Variable& found = kernel_.variables[id];
  if (found.kind != VariableKind::General) return in_.fail_at(place, "a general variable");
  out.variable = id;
  const bool null = id == eum::visa::id(PredefinedVariable::null);
  out.kind = null ? OperandKind::Null : OperandKind::Raw;
  if (bare && in_.peek() != '.') return true;
  if (!in_.expect('.')) return false;
  std::int64_t offset = 0;
  if (!expression(in_, Loosest::Primary, 0, null ? 0 : max_raw_offset, "an offset", offset)) return false;
  out.column = static_cast<std::uint32_t>(offset);
  return true;
}

bool OperandParser::name(VariableKind kind, bool general, Operand& out) {
  const std::string_view expected = kind == VariableKind::Sampler ? "a sampler"
                                    : general                     ? "a surface or a variable with its address"
                                                                  : "a surface";
  const Location place = in_.location();
  if (!variable(expected, out.variable)) return false;
  const VariableKind found = kernel_.variables[out.variable].kind;
  if (found != kind && !(general && found == VariableKind::General)) return in_.fail_at(place, expected);
  out.kind = OperandKind::Name;
  return true;
}

bool OperandParser::any_name(Operand& out) {
  out.kind = OperandKind::Name;
  return variable("a variable", out.variable);
}

bool OperandParser::scalar(bool number, Type type, Operand& out) {
  const char c = in_.peek();
  if (!is_letter(c) && c != '%') {
    if (!number) return in_.fail("a general variable");
    const Location place = in_.location();
    std::int64_t value = 0;
    if (!expression(in_, Loosest::Any, value)) return false;
    const bool wide = info(type).bytes == 8;
    if (!wide && (value < std::numeric_limits<std::int32_t>::min() ||
                  value > std::numeric_limits<std::uint32_t>::max()))
      return in_.fail_at(place, "a number of 32 bits", std::to_string(value));
    out.kind = OperandKind::Immediate;
    out.type = type;
    out.immediate = wide ? static_cast<std::uint64_t>(value) : static_cast<std::uint32_t>(value);
    return true;
  }
  const Location place = in_.location();
  VariableId id = no_variable;
  if (!variable("a general variable", id)) return false;
  const VariableKind kind = kernel_.variables[id].kind;
  out.variable = id;
  if (kind == VariableKind::Surface) {
    out.kind = OperandKind::State;
    return in_.peek() != '(' || element(out, "an element");
  }
  if (kind != VariableKind::General) return in_.fail_at(place, "a general variable or a surface");
  out.kind = OperandKind::General;
  out.region = {0, 1, 0};
  if (in_.peek() == '(') return two_offsets(out);
  if (!in_.accept('.')) return true;
  return in_.number(out.column, 0xffff, "an element");
}

bool OperandParser::predicate(Predicate& out) {
  if (!in_.accept('(')) return true;
  out.inverse = in_.accept('!');
  const Location place = in_.location();
  if (!variable("a predicate variable", out.variable)) return false;
  if (kernel_.variables[out.variable].kind != VariableKind::Predicate)
    return in_.fail_at(place, "a predicate variable");
  if (in_.accept('.')) {
    const std::string_view combine = in_.peek_word();
    if (combine != "any" && combine != "all") return in_.fail("any or all");
    out.combine = combine == "any" ? Predicate::Combine::Any : Predicate::Combine::All;
    in_.advance(combine.size());
  }
  return in_.expect(')');
}

bool OperandParser::word_or_string(std::string_view what, std::string& out) {
  if (in_.peek() == '"') return in_.quoted(out);
  const std::string_view word = in_.word();
  if (word.empty()) return in_.fail(what);
  out = word;
  return true;
}

bool OperandParser::source_modifier(SourceModifier& modifier) {
  static constexpr std::pair<std::string_view, SourceModifier> texts[] = {
      {"(-)", SourceModifier::Neg},
      {"(abs)", SourceModifier::Abs},
      {"(-abs)", SourceModifier::NegAbs},
      {"(~)", SourceModifier::Not},
  };
  for (const auto& [text, value] : texts) {
    if (!in_.accept(text)) continue;
    modifier = value;
    return true;
  }
  return false;
}

bool OperandParser::immediate(Operand& out) {
  out.kind = OperandKind::Immediate;
  const Location place = in_.location();
  const bool minus = in_.peek() == '-';
  if (const std::size_t length = float_length(in_.rest().substr(minus ? 1 : 0)))
    return float_immediate(length + minus, out);
  const bool literal = in_.at_number();
  std::int64_t value = 0;
  if (!expression(in_, Loosest::Unary, value) || !in_.expect(':') || !type(out.type)) return false;
  const TypeInfo& row = info(out.type);
  const bool is_float =
      out.type == Type::f || out.type == Type::df || out.type == Type::hf || out.type == Type::bf;
  if (is_float && !literal) return in_.fail_at(place, "the bits of a float as a literal without sign");
  const unsigned bits = row.bytes == 0 ? 8u : row.bytes * 8u;
  // Compilers print small negative values sign-extended to 32 bits.
  if (bits < 32 && value > std::numeric_limits<std::int32_t>::max() &&
      value <= std::numeric_limits<std::uint32_t>::max())
    value = static_cast<std::int32_t>(value);
  if (bits < 64 && (value < -(std::int64_t{1} << (bits - 1)) || value >= std::int64_t{1} << bits))
    return in_.fail_at(place, fmt::format("a value of type {}", row.name), std::to_string(value));
  const auto wide = static_cast<std::uint64_t>(value);
  out.immediate = bits < 64 ? wide & ((std::uint64_t{1} << bits) - 1) : wide;
  return true;
}

bool OperandParser::float_immediate(std::size_t length, Operand& out) {
  const Location place = in_.location();
  const std::string_view text = in_.rest().substr(0, length);
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size())
    return in_.fail("a number that a double can hold");
  in_.advance(length);
  if (!in_.expect(':') || !type(out.type)) return false;
  if (out.type == Type::f) {
    out.immediate = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  } else if (out.type == Type::df) {
    out.immediate = std::bit_cast<std::uint64_t>(value);
  } else {
    return in_.fail_at(place, "a literal of type f or df (others are written as bits)");
  }
  return true;
}

bool OperandParser::type(Type& out) {
  const auto found = type_of(in_.peek_word());
  if (!found) return in_.fail("a type");
  out = *found;
  in_.word();
  return true;
}

bool OperandParser::indirect(bool destination, Operand& out) {
  out.kind = OperandKind::Indirect;
  in_.advance(2);  // r[
  const Location place = in_.location();
  if (!variable("an address variable", out.variable)) return false;
  if (kernel_.variables[out.variable].kind != VariableKind::Address)
    return in_.fail_at(place, "an address variable");
  if (!element(out, "an element")) return false;
  if (in_.accept(',')) {
    std::int64_t offset = 0;
    if (!expression(in_, Loosest::Any, std::numeric_limits<std::int16_t>::min(),
                    std::numeric_limits<std::int16_t>::max(), "an offset", offset))
      return false;
    out.offset = static_cast<std::int32_t>(offset);
  }
  return in_.expect(']') &&
         (destination ? destination_region(out.region) : source_region(true, out.region)) &&
         in_.expect(':') && type(out.type);
}

bool OperandParser::address_of(Operand& out) {
  out.kind = OperandKind::AddressOf;
  in_.advance(1);  // &
  const Location place = in_.location();
  if (!variable("a variable", out.variable)) return false;
  const VariableKind kind = kernel_.variables[out.variable].kind;
  if (kind != VariableKind::General && kind != VariableKind::Surface)
    return in_.fail_at(place, "a general variable or a surface");
  if (!in_.accept('[')) return true;
  std::int64_t offset = 0;
  if (!expression(in_, Loosest::Any, std::numeric_limits<std::int16_t>::min(),
                  std::numeric_limits<std::int16_t>::max(), "an offset", offset))
    return false;
  out.offset = static_cast<std::int32_t>(offset);
  return in_.expect(']');
}

bool OperandParser::element(Operand& out, std::string_view what) {
  std::int64_t column = 0;
  if (!in_.expect('(') || !expression(in_, Loosest::Any, 0, max_column, what, column)) return false;
  out.column = static_cast<std::uint32_t>(column);
  return in_.expect(')');
}

bool OperandParser::two_offsets(Operand& out) {
  std::int64_t row = 0, column = 0;
  if (!in_.expect('(') || !expression(in_, Loosest::Any, 0, max_row, "a register", row) || !in_.expect(',') ||
      !expression(in_, Loosest::Any, 0, max_column, "an element", column))
    return false;
  out.row = static_cast<std::uint16_t>(row);
  out.column = static_cast<std::uint32_t>(column);
  return in_.expect(')');
}

bool OperandParser::destination_region(Region& out) {
  if (!in_.expect('<')) return false;
  const Location place = in_.location();
  std::int64_t stride = 0;
  if (!expression(in_, Loosest::Shift, stride)) return false;
  if (stride != 0 && stride != 1 && stride != 2 && stride != 4)
    return in_.fail_at(place, "a stride of 0, 1, 2 or 4", std::to_string(stride));
  out = {0, 1, static_cast<std::uint8_t>(stride)};
  return in_.expect('>');
}

bool OperandParser::source_region(bool indirect, Region& out) {
  const auto power = [](std::int64_t value, std::int64_t max) {
    return value == 0 || (value > 0 && value <= max && (value & (value - 1)) == 0);
  };
  std::int64_t vertical = 0, width = 0, horizontal = 0;
  if (!in_.expect('<')) return false;
  Location place = in_.location();
  if (!expression(in_, Loosest::Shift, vertical)) return false;
  const bool rows = !indirect || in_.peek() == ';';
  if (rows) {
    if (!power(vertical, 32))
      return in_.fail_at(place, "a vertical stride of 0, 1, 2, 4, 8, 16 or 32", std::to_string(vertical));
    if (!in_.expect(';')) return false;
    place = in_.location();
    if (!expression(in_, Loosest::Shift, width)) return false;
  } else {
    width = vertical;
    vertical = Region::no_stride;
  }
  if (!power(width, 16) || width == 0)
    return in_.fail_at(place, "a width of 1, 2, 4, 8 or 16", std::to_string(width));
  if (!in_.expect(',')) return false;
  place = in_.location();
  if (!expression(in_, Loosest::Shift, horizontal)) return false;
  if (!power(horizontal, 4))
    return in_.fail_at(place, "a stride of 0, 1, 2 or 4", std::to_string(horizontal));
  out = {static_cast<std::uint8_t>(vertical), static_cast<std::uint8_t>(width),
         static_cast<std::uint8_t>(horizontal)};
  return in_.expect('>');
}

}  // namespace eum::visa
