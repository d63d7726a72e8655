#pragma once
// Parses lsc instructions, from text to Lsc and operands. It must not know the other instructions.
#include <array>

#include "frontend/visa/lsc_form.hpp"
#include "frontend/visa/operand_parser.hpp"

namespace eum::visa {

using LscOperands = std::array<Operand, lsc_operand_count>;

class LscParser {
 public:
  LscParser(Lexer& in, OperandParser& operands) : in_(in), operands_(operands) {}

  /// Parses the suffixes of the name `word`, which has been read.
  bool name(std::string_view word, Location place, Lsc& lsc);
  /// Parses everything after the execution size.
  bool operands(Lsc& lsc, LscOperands& out);

 private:
  template <class Enum>
  bool suffix(std::span<const std::string_view> names, std::string_view what, Enum& out);
  bool data(Lsc& lsc, Operand& out);
  bool data_shape(Lsc& lsc);
  bool typed_block_shape(Lsc& lsc);
  bool channel_mask(Lsc& lsc);
  bool block_shape(Lsc& lsc);
  bool elements(Lsc& lsc);
  bool address(Lsc& lsc, LscOperands& out);
  bool model(Lsc& lsc, LscOperands& out);
  bool untyped_address(Lsc& lsc, LscOperands& out);
  bool typed_address(Lsc& lsc, LscOperands& out);
  bool block_address(Lsc& lsc, LscOperands& out);
  bool typed_block_address(Lsc& lsc, LscOperands& out);
  bool scale(Lsc& lsc);
  bool offset(std::int32_t& out);
  bool address_size(Lsc& lsc);
  bool size(std::uint32_t& out);

  Lexer& in_;
  OperandParser& operands_;
};

}  // namespace eum::visa
