#pragma once
// The assembly syntax of i965 tools, in which the Gen7 vectors are written: instructions to that text, and
// both texts in one comparable form.
#include <string>
#include <string_view>

#include "frontend/gen/instruction.hpp"

namespace eum::gen::test {

/// "(+f0.0) add(8) g4<1>F g2<8,8,1>F 0x3f800000F { align1 1Q };". For messages only the descriptor, without
/// its meaning; targets are distances in bytes.
std::string older_text(const Instruction& instruction, Family family);

/// The text without comments, explanations of messages, and insignificant blanks.
std::string normalised(std::string_view older);

}  // namespace eum::gen::test
