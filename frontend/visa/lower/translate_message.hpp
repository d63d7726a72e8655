#pragma once
// Messages of vISA: from operands to what memory is asked.
#include <cstdint>

#include "frontend/eu/instruction.hpp"
#include "frontend/visa/lower/program.hpp"

namespace eum::visa {

/// Fills the message of `result` with what instruction `index` of `unit` sends.
Result<void> translate_message(const Program& program, const Program::Unit& unit, std::uint32_t index,
                               eu::Instruction& result);

}  // namespace eum::visa
