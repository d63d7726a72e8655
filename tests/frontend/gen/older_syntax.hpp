#pragma once
// The assembly of i965 tools, in which the Gen7 vectors are written: an instruction to that text, and both
// texts to one form that can be compared.
#include <string>
#include <string_view>

#include "frontend/gen/instruction.hpp"

namespace eum::gen::test {

/// "(+f0.0) add(8) g4<1>F g2<8,8,1>F 0x3f800000F { align1 1Q };". Of a message only the descriptor, without
/// what it means; targets are distances in bytes.
std::string older_text(const Instruction& instruction, Family family);

/// Without comments, explanations of messages, and blanks that say nothing.
std::string normalised(std::string_view older);

}  // namespace eum::gen::test
