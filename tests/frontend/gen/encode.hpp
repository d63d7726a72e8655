#pragma once
// Decoded instructions back into words, of any family, for programs that tests make up. The inverse of the
// decoder over the same layouts; what the encoding cannot say is lost. It must not know which values are
// legal.
#include <array>
#include <cstddef>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/layout.hpp"

namespace eum::gen::test {

/// Where the fields of the family's words are.
const Layout& layout_of(Family family);

/// Bytes that the distance of this branch counts.
int distance_unit(Opcode opcode, Family family);

/// 16 bytes, never compacted. Targets of branches count `raw`; `send` counts as a whole.
std::array<std::byte, 16> encode(const Instruction& inst, Family family);

}  // namespace eum::gen::test
