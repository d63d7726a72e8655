#pragma once
// Addresses a known number of bytes apart: values as the sum of another one and a constant.
#include <cstdint>
#include <optional>

#include "jit/codegen/block_code.hpp"

namespace eum::jit::codegen {

struct ConstantSum {
  ir::ValueId base = ir::no_value;
  std::uint32_t constant = 0;  ///< modulo 2^32
};

/// Takes constants off a value of 32 bits. `definition` gives the instruction that defines a value, or null,
/// and `constant` the number that a value is known to be in each lane.
template <class Definition, class Constant>
ConstantSum constant_sum(ir::ValueId value, const Definition& definition, const Constant& constant) {
  ConstantSum sum{value, 0};
  for (const CodeInst* inst; (inst = definition(sum.base)) != nullptr;) {
    if (inst->op != ir::Op::add || ir::size_of(inst->type) != 4) break;
    const unsigned known = constant(inst->args[1]) ? 1 : 0;
    const std::optional<std::uint32_t> more = constant(inst->args[known]);
    if (!more) break;
    sum = {inst->args[1 - known], sum.constant + *more};
  }
  return sum;
}

}  // namespace eum::jit::codegen
