#pragma once
// Translates a vISA instruction to the EU's form: operands as offsets in the register file, flow, messages.
// It must not know what an instruction computes (frontend/eu).
#include <cstdint>

#include "frontend/eu/instruction.hpp"
#include "frontend/visa/lower/program.hpp"

namespace eum::visa {

/// Sets `result` to the translation of instruction `index` of `unit`. An error says why it is refused; ip,
/// next and flow of `result` are valid nevertheless.
Result<void> translate(const Program& program, const Program::Unit& unit, std::uint32_t index,
                       eu::Instruction& result);

}  // namespace eum::visa
