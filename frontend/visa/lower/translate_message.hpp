#pragma once
// Translates vISA messages: from operands to the requested memory operation.
#include <cstdint>

#include "frontend/eu/instruction.hpp"
#include "frontend/visa/lower/program.hpp"

namespace eum::visa {

/// Sets the message of `result` to what instruction `index` of `unit` sends.
Result<void> translate_message(const Program& program, const Program::Unit& unit, std::uint32_t index,
                               eu::Instruction& result);

}  // namespace eum::visa
