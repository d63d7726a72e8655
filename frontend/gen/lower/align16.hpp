#pragma once
// Align16 as the EU executes it: swizzles and replicate control as regions, channel enables as lanes. It must
// not know what Align1 can say of it in text (align1.cpp).
#include "frontend/eu/instruction.hpp"
#include "frontend/gen/instruction.hpp"

namespace eum::gen {

/// Gives source `op` of an Align16 instruction, whose place `result` has, its region; where no region says
/// what the swizzle does, a swizzle too. Returns why it cannot, or null.
const char* align16_source(const Operand& op, bool ternary, eu::Operand& result);

/// Lanes that the channel enables of the destination take. Returns why it cannot say, or null.
const char* align16_enabled(const Operand& dst, std::uint32_t& lanes);

/// Executing `form`, the Align1 form of `instruction`, does the same, whatever channels are on.
bool is_equivalent(const Instruction& instruction, const Instruction& form);

}  // namespace eum::gen
