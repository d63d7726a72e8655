#pragma once
// From a GEN instruction to what the EU executes: operands as places in the register file, flow, messages.
// It must not know what an instruction computes (frontend/eu).
#include "frontend/eu/instruction.hpp"
#include "frontend/gen/instruction.hpp"

namespace eum::gen {

/// Fills `result` with what `instruction` does. An error says why the instruction is refused; ip, next and
/// flow of `result` then count nevertheless, so that the code behind it is found.
Result<void> translate(const Instruction& instruction, Family family, eu::Instruction& result);

/// Fills `result` with the message of a send (translate_message.cpp).
Result<void> translate_message(const Instruction& instruction, Family family, eu::Message& result);

}  // namespace eum::gen
