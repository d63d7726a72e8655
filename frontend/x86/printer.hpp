#pragma once
// Text of user MSR instructions, Intel syntax.
#include <string>

#include "frontend/x86/instruction.hpp"

namespace eum::x86 {

/// "urdmsr rax, rcx", "uwrmsr 0x1b00, rdx": destination first.
std::string print(const Instruction& instruction);

}  // namespace eum::x86
