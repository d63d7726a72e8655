#pragma once
// Parses operands of vISA instructions, from text to Operand. It must not know which instruction they belong
// to; the caller gives the accepted kinds.
#include <algorithm>
#include <string>

#include "frontend/visa/form.hpp"
#include "frontend/visa/lexer.hpp"
#include "frontend/visa/names.hpp"

namespace eum::visa {

class OperandParser {
 public:
  OperandParser(Lexer& in, Names& names, Kernel& kernel) : in_(in), names_(names), kernel_(kernel) {}

  /// A vector operand of one of these kinds; destinations have a different region.
  bool vector(KindSet set, bool destination, Operand& out);
  /// NAME(row,column) without a region.
  bool simple(Operand& out);
  /// NAME.offset or %null.0; `bare`: also NAME and %null only.
  bool raw(bool bare, Operand& out);
  /// NAME only, of a variable of this kind; `general`: or of a general one.
  bool name(VariableKind kind, bool general, Operand& out);
  /// NAME only, of a variable of any kind.
  bool any_name(Operand& out);
  /// A scalar of an lsc instruction: NAME, NAME.element, NAME(row,column), or a number of type `type` if
  /// `number`.
  bool scalar(bool number, Type type, Operand& out);
  bool predicate(Predicate& out);
  /// Size of an element of the operand's variable, at least 1.
  std::uint32_t element_bytes(const Operand& operand) const {
    return std::max<std::uint32_t>(info(kernel_.variables[operand.variable].type).bytes, 1);
  }
  /// A word or a quoted string.
  bool word_or_string(std::string_view what, std::string& out);
  /// Describes operands of these kinds, for errors.
  static std::string describe(KindSet set);

 private:
  bool variable(std::string_view expected, VariableId& id);
  bool general(bool destination, VariableId id, Operand& out);
  bool source_modifier(SourceModifier& modifier);
  bool immediate(Operand& out);
  bool float_immediate(std::size_t length, Operand& out);
  bool indirect(bool destination, Operand& out);
  bool address_of(Operand& out);
  bool type(Type& out);
  bool element(Operand& out, std::string_view what);
  bool two_offsets(Operand& out);
  bool destination_region(Region& out);
  bool source_region(bool indirect, Region& out);

  Lexer& in_;
  Names& names_;
  Kernel& kernel_;
};

/// The type spelled `text`, in lower or upper case.
std::optional<Type> type_of(std::string_view text);

}  // namespace eum::visa
