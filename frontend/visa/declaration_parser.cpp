// Parses declarations of variables, their positions in the payload, and attributes.
#include "frontend/visa/declaration_parser.hpp"

#include <limits>

#include "frontend/visa/expression.hpp"
#include "frontend/visa/operand_parser.hpp"

namespace eum::visa {
namespace {

/// The binary format's field has 16 bits (vISA document 4, variable information).
constexpr std::int64_t max_elements = 0xffff;
/// A predicate has a bit per channel.
constexpr std::int64_t max_predicate_bits = 32;
/// Limit of all variables of a kernel, which every thread has; far above what compilers emit.
constexpr std::uint64_t max_bytes = 16u << 20;
/// Limits how many aliases have to be followed one by one.
constexpr unsigned max_alias_depth = 64;
/// Maximum of the payload's offsets and sizes in bytes: fields of 16 bits.
constexpr std::int64_t max_input = 0xffff;

struct Align {
  std::string_view text;
  std::uint16_t bytes;
};
// Register sizes are those of the larger registers, 64 bytes.
constexpr Align aligns[] = {
    {"byte", 1},   {"word", 2},     {"dword", 4},     {"qword", 8}, {"oword", 16},
    {"hword", 32}, {"wordx32", 64}, {"wordx64", 128}, {"GRF", 64},  {"GRFx2", 128},
    {"2GRF", 128}, {"32word", 64},  {"64word", 128},
};

}  // namespace

bool DeclarationParser::decl() {
  Variable variable;
  variable.location = in_.location();
  const std::string_view name = in_.word();
  if (name.empty()) return in_.fail("a name");
  variable.name = name;
  if (in_.peek_word() != "v_type") return in_.fail("v_type=");
  std::uint32_t seen = 0;
  static constexpr std::string_view keys[] = {"v_type", "type",   "num_elts", "align",
                                              "alias",  "v_name", "attrs"};
  while (!in_.at_line_end()) {
    const std::string_view word = in_.peek_word();
    unsigned index = 0;
    while (index < std::size(keys) && keys[index] != word) ++index;
    const bool fits = index < std::size(keys) && ((word != "type" && word != "align" && word != "alias") ||
                                                  variable.kind == VariableKind::General);
    if (!fits) return in_.fail("a property of this kind of variable or the end of the line");
    if ((seen >> index & 1) != 0) return in_.fail("each property once");
    seen |= 1u << index;
    in_.advance(word.size());
    if (!in_.expect('=') || !key(word, variable)) return false;
  }
  if ((seen & 1u << 2) == 0) return in_.fail("num_elts=");
  if (variable.kind == VariableKind::General && (seen & 1u << 1) == 0) return in_.fail("type=");
  if (variable.kind == VariableKind::Address) variable.type = Type::uw;
  if (!check(variable)) return false;
  const Location place = variable.location;
  if (!names_.declare(name, std::move(variable))) return in_.fail_at(place, "a name not yet declared", name);
  return true;
}

bool DeclarationParser::key(std::string_view word, Variable& variable) {
  if (word == "v_type") return kind(variable);
  if (word == "num_elts") return elements(variable);
  if (word == "align") return align(variable);
  if (word == "alias") return alias(variable);
  if (word == "attrs") return attributes(variable.attributes);
  const std::string_view text = in_.peek_name();
  if (word == "v_name") {
    if (text.empty()) return in_.fail("a name");
    variable.symbol = text;
  } else {
    const auto type = type_of(text);
    if (!type) return in_.fail("a type");
    variable.type = *type;
  }
  in_.advance(text.size());
  return true;
}

bool DeclarationParser::kind(Variable& variable) {
  constexpr std::string_view letters = "GAPST";
  const std::string_view word = in_.peek_word();
  const std::size_t index = word.size() == 1 ? letters.find(word[0]) : std::string_view::npos;
  if (index == std::string_view::npos) return in_.fail("G, A, P, S or T");
  variable.kind = static_cast<VariableKind>(index);
  in_.advance(1);
  return true;
}

bool DeclarationParser::elements(Variable& variable) {
  const std::int64_t max = variable.kind == VariableKind::Predicate ? max_predicate_bits : max_elements;
  std::int64_t count = 0;
  if (!expression(in_, Loosest::Any, 1, max, "a number of elements", count)) return false;
  variable.elements = static_cast<std::uint32_t>(count);
  return true;
}

bool DeclarationParser::align(Variable& variable) {
  const std::string_view rest = in_.rest();
  std::size_t end = 0;
  while (end < rest.size() && is_word(rest[end])) ++end;
  const std::string_view text = rest.substr(0, end);
  for (const Align& row : aligns) {
    if (row.text != text) continue;
    in_.advance(end);
    variable.align = text;
    variable.align_bytes = row.bytes;
    return true;
  }
  if (!in_.at_number() && in_.peek() != '(')
    return in_.fail("an alignment like dword, hword, wordx32 or GRF");
  const Location place = in_.location();
  std::int64_t bytes = 0;
  if (!expression(in_, Loosest::Any, 1, 128, "an alignment", bytes)) return false;
  if ((bytes & (bytes - 1)) != 0) return in_.fail_at(place, "a power of two", std::to_string(bytes));
  variable.align = std::to_string(bytes);
  variable.align_bytes = static_cast<std::uint16_t>(bytes);
  return true;
}

bool DeclarationParser::alias(Variable& variable) {
  // The compiler writes <>, but vISA document 4 says ().
  const bool round = in_.accept('(');
  if (!round && !in_.expect('<')) return false;
  const Location place = in_.location();
  const std::string_view name = in_.peek_name();
  if (name.empty()) return in_.fail("a variable");
  variable.alias = names_.find(name);
  if (variable.alias == no_variable) return in_.fail("a declared variable");
  if (kernel_.variables[variable.alias].kind != VariableKind::General) return in_.fail("a general variable");
  if (names_.depth(variable.alias) + 1 > max_alias_depth)
    return in_.fail_at(place, fmt::format("at most {} aliases of each other", max_alias_depth), name);
  in_.advance(name.size());
  std::int64_t offset = 0;
  if (!in_.expect(',') ||
      !expression(in_, Loosest::Shift, 0, std::numeric_limits<std::int32_t>::max(), "an offset", offset))
    return false;
  variable.alias_offset = static_cast<std::uint32_t>(offset);
  return in_.expect(round ? ')' : '>');
}

bool DeclarationParser::check(const Variable& variable) {
  if (variable.alias != no_variable) {
    const Kernel::Place& place = names_.place(variable.alias);
    const Variable& root = kernel_.variables[place.root];
    const std::uint64_t end = place.offset + variable.alias_offset + variable.bytes();
    return end <= root.bytes() ||
           in_.fail_at(variable.location,
                       fmt::format("an alias within the {} bytes of {}", root.bytes(), root.name),
                       fmt::format("one up to byte {}", end));
  }
  bytes_ += variable.kind == VariableKind::General ? variable.bytes() : 0;
  return bytes_ <= max_bytes ||
         in_.fail_at(variable.location, fmt::format("at most {} bytes of variables", max_bytes),
                     std::to_string(bytes_));
}

bool DeclarationParser::input(std::string_view directive, Location place) {
  Input input;
  input.location = place;
  input.directive = directive;
  const std::string_view name = in_.peek_name();
  if (name.empty()) return in_.fail("a variable");
  input.variable = names_.find(name);
  if (input.variable == no_variable) return in_.fail("a declared variable");
  in_.advance(name.size());
  while (!in_.at_line_end()) {
    const Location key_place = in_.location();
    const std::string_view word = in_.peek_word();
    if (word != "offset" && word != "size" && word != "attrs") return in_.fail("offset=, size= or attrs=");
    in_.advance(word.size());
    if (!in_.expect('=')) return false;
    if (word == "attrs") {
      if (!attributes(input.attributes)) return false;
      continue;
    }
    std::int64_t value = 0;
    if (!expression(in_, Loosest::Any, 0, max_input, "bytes", value)) return false;
    std::uint32_t& field = word == "offset" ? input.offset : input.size;
    field = static_cast<std::uint32_t>(value);
    const Variable& variable = kernel_.variables[input.variable];
    if (word == "size" && variable.kind == VariableKind::General && input.size > variable.bytes())
      return in_.fail_at(key_place, fmt::format("at most the {} bytes of {}", variable.bytes(), name),
                         std::to_string(value));
  }
  kernel_.inputs.push_back(std::move(input));
  return true;
}

bool DeclarationParser::kernel_attribute() { return attribute(kernel_.attributes.emplace_back(), false); }

bool DeclarationParser::attributes(std::vector<Attribute>& out) {
  if (!in_.expect('{')) return false;
  do {
    if (!attribute(out.emplace_back(), true)) return false;
  } while (in_.accept(','));
  return in_.expect('}');
}

bool DeclarationParser::attribute(Attribute& out, bool list) {
  const std::string_view name = in_.word();
  if (name.empty()) return in_.fail("the name of an attribute");
  out.name = name;
  if (!in_.accept('=')) return true;
  if (in_.peek() == '"') {
    std::string text;
    if (!in_.quoted(text)) return false;
    out.value = std::move(text);
    return true;
  }
  if (!list && in_.at_line_end()) return true;
  std::int64_t value = 0;
  if (!expression(in_, list ? Loosest::Shift : Loosest::Any, value)) return false;
  out.value = value;
  return true;
}

}  // namespace eum::visa
