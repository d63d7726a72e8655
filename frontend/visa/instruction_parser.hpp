#pragma once
// Parses one instruction, from text to Instruction and operands, by the items of its form (forms.def) in
// order.
#include <string_view>

#include "frontend/visa/form.hpp"
#include "frontend/visa/lsc_parser.hpp"
#include "frontend/visa/operand_parser.hpp"
#include "frontend/visa/suffix.hpp"

namespace eum::visa {

class InstructionParser {
 public:
  InstructionParser(Lexer& in, Names& names, Kernel& kernel)
      : in_(in), names_(names), kernel_(kernel), operands_(in, names, kernel), lsc_(in, operands_) {}

  /// A line that starts with an instruction's name or its predicate.
  bool instruction();
  /// A label whose name has been read.
  bool label(std::string_view name, Location place);
  /// .function, .file or .loc, whose word has been read.
  bool directive(Opcode opcode, Location place);

 private:
  bool items(std::span<const Item> items);
  bool item(Item item);
  bool name_suffix(Item item);
  bool number_item(Item item);
  bool operand_item(Item item);
  bool several(Item item);
  bool lsc();

  bool suffix(std::uint32_t value);
  bool table_suffix(std::span<const SuffixText> table, std::string_view what);
  bool flag_suffixes(std::span<const SuffixText> table);
  bool fence_flags();
  bool target_flags();
  bool channels();
  bool boolean_function();
  bool atomic_width();
  bool exec_size();
  bool vector(KindSet set, bool destination);
  bool label_operand();
  bool push(const Operand& operand);
  bool finish();

  Lexer& in_;
  Names& names_;
  Kernel& kernel_;
  OperandParser operands_;
  LscParser lsc_;
  Instruction inst_;
  std::size_t suffixes_ = 0;
  std::string_view word_;
  Location name_place_;
};

}  // namespace eum::visa
