#pragma once
// Translates a GEN instruction to the EU's form: operands as offsets in the register file, flow, messages. It
// must not know what an instruction computes (frontend/eu).
#include "frontend/eu/instruction.hpp"
#include "frontend/gen/instruction.hpp"

namespace eum::gen {

/// Sets `result` to the translation of `instruction`. An error says why the instruction is refused; ip, next
/// and flow of `result` are valid nevertheless, so that the code after it is found.
Result<void> translate(const Instruction& instruction, Family family, eu::Instruction& result);

/// Sets `result` to the message of a send (translate_message.cpp).
Result<void> translate_message(const Instruction& instruction, Family family, eu::Message& result);

}  // namespace eum::gen
