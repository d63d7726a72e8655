#pragma once
// Decoded ALU instructions back into words of Gen9, for programs that tests make up. The inverse of the
// decoder over the same layout; what the encoding cannot say is lost.
#include <array>
#include <cstddef>

#include "frontend/gen/instruction.hpp"

namespace eum::model {

/// 16 bytes. Align1; instructions with three sources in Align16, as Gen9 has them, with packed or scalar
/// (replicated) sources.
std::array<std::byte, 16> encode(const gen::Instruction& inst);

}  // namespace eum::model
