#pragma once
// From a vISA instruction to what the EU executes: operands as places in the register file, flow, messages.
// It must not know what an instruction computes (frontend/eu).
#include <cstdint>

#include "frontend/eu/instruction.hpp"
#include "frontend/visa/lower/program.hpp"

namespace eum::visa {

/// Fills `result` with what instruction `index` of `unit` does. An error says why it is refused; ip, next and
/// flow of `result` then count nevertheless.
Result<void> translate(const Program& program, const Program::Unit& unit, std::uint32_t index,
                       eu::Instruction& result);

}  // namespace eum::visa
