#pragma once
// Align16 as the EU executes it: swizzles and replicate control as regions, channel enables as lanes. It does
// not know which of it Align1 can express in text (align1.cpp).
#include "frontend/eu/instruction.hpp"
#include "frontend/gen/instruction.hpp"

namespace eum::gen {

/// Sets the region of `result`, the operand for source `op` of an Align16 instruction, and its swizzle if no
/// region has the effect. Returns why it cannot, or null.
const char* align16_source(const Operand& op, bool ternary, eu::Operand& result);

/// Computes the lanes that the destination's channel enables select. Returns why it cannot, or null.
const char* align16_enabled(const Operand& dst, std::uint32_t& lanes);

/// Whether executing `form`, the Align1 form of `instruction`, has the same effect, whatever channels are
/// active.
bool is_equivalent(const Instruction& instruction, const Instruction& form);

}  // namespace eum::gen
