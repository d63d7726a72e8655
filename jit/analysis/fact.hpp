#pragma once
// What analysis/linear knows of a value, and what follows for the result of an op from its operands.
#include <cstdint>
#include <span>

#include "frontend/ir/function.hpp"
#include "jit/analysis/symbols.hpp"

namespace eum::jit {

/// What is known of a value.
struct Fact {
  std::uint8_t run = 0;   ///< lanes of each aligned group in which `stride` holds, a power of two; 0: none
  bool exact = false;     ///< no lane is above the largest signed number: conversions to wider types keep it
  bool constant = false;  ///< every lane is `bits`, which is not negative in any type
  std::uint32_t stride = 0;  ///< modulo 2^32, or modulo 2 to the bits of a narrower type
  std::uint32_t bits = 0;
  std::uint32_t align = 1;  ///< a power of two that divides the first lane of each run
  SymbolicSum first{};      ///< lane 0, of a value that is one run
};
inline constexpr std::uint8_t all_lanes = ir::max_lanes;
inline constexpr Fact uniform{.run = all_lanes, .exact = true};

constexpr unsigned lowest_bit(unsigned n) { return n & (0 - n); }

/// The fact of the first result of a pure op whose operands have `facts[operand]`; it includes the first lane
/// only for a join.
Fact fact_of(const ir::Function& function, const ir::Inst& inst, std::span<const Fact> facts);

}  // namespace eum::jit
