#pragma once
// Registers to which each turn of a loop adds something, in any order with the same result.
#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/ir/function.hpp"

namespace eum::jit {

/// Integers in the register file that become op(old, term), for one term after the other, in each turn;
/// nothing else in the loop uses them.
struct Reduction {
  ir::Op op;                        ///< add, sub, and_, or_, xor_, min or max
  ir::Type type;                    ///< of up to 32 bits
  std::uint32_t offset;             ///< bytes
  std::uint8_t lanes;               ///< side by side
  ir::ValueId result;               ///< that is written
  std::vector<ir::ValueId> terms;   ///< signed or unsigned
  ir::ValueId mask = ir::no_value;  ///< lanes that get it, of a single term; no_value: all

  /// The term that leaves any number as it is; nothing: there is none that is the same for all types.
  std::optional<std::uint64_t> neutral() const {
    if (op == ir::Op::min || op == ir::Op::max) return std::nullopt;
    return op == ir::Op::and_ ? ~std::uint64_t{} >> (64 - 8 * ir::size_of(type)) : 0;
  }
  /// How terms are combined with each other.
  ir::Op of_terms() const { return op == ir::Op::sub ? ir::Op::add : op; }
};

/// Those of a loop that consists of one block.
std::vector<Reduction> reductions_of(const ir::Function& function, ir::BlockId loop);

}  // namespace eum::jit
