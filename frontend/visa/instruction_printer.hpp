#pragma once
// Prints instructions and operands by the same forms as the parser. It must not know what instructions do.
#include <string>
#include <string_view>

#include "frontend/visa/form.hpp"
#include "frontend/visa/kernel.hpp"

namespace eum::visa {

class InstructionPrinter {
 public:
  InstructionPrinter(const Kernel& kernel, std::string& out) : kernel_(kernel), out_(out) {}

  void print(const Instruction& inst);

 private:
  void item(Item item);
  void suffix_item(Item item);
  void operand_item(Item item);
  void predicate();
  void exec_size();
  void mask_letters(std::string_view letters, std::uint32_t mask);

  void vector(const Operand& operand, bool destination);
  void raw(const Operand& operand, bool bare);
  void label(const Operand& operand);

  void lsc();
  void lsc_suffixes(const Lsc& lsc);
  void lsc_data(const Lsc& lsc, const Operand& operand);
  void lsc_address(const Lsc& lsc);
  void lsc_model(const Lsc& lsc);
  void lsc_offset(std::int32_t offset);
  void scalar(const Operand& operand);
  const Operand& lsc_operand(LscOperand place) const;

  std::string_view name(const Operand& operand) const { return kernel_.variables[operand.variable].name; }
  const Operand& next_operand() { return kernel_.operands_of(*inst_)[operand_++]; }
  bool more_operands() const { return operand_ < inst_->operand_count; }
  std::uint32_t next_suffix() { return inst_->suffix[suffix_++]; }

  const Kernel& kernel_;
  std::string& out_;
  const Instruction* inst_ = nullptr;
  std::size_t operand_ = 0;
  std::size_t suffix_ = 0;
};

/// Appends `text` in quotes, escaping what the lexer would take for its end.
void append_quoted(std::string& out, std::string_view text);
/// Appends `name`, quoted unless it is a word.
void append_name(std::string& out, std::string_view name);

}  // namespace eum::visa
