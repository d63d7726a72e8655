#pragma once
// Encodes decoded instructions for any family, for programs that tests make up. The inverse of the decoder
// over the same layouts; what cannot be encoded is lost. Independent of which values are legal.
#include <array>
#include <cstddef>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/layout.hpp"

namespace eum::gen::test {

/// The positions of fields in the family's words.
const Layout& layout_of(Family family);

/// Bytes in a unit of this branch's distance.
int distance_unit(Opcode opcode, Family family);

/// 16 bytes, never compacted. Branch targets are taken from `raw`; all of `send` is encoded.
std::array<std::byte, 16> encode(const Instruction& inst, Family family);

}  // namespace eum::gen::test
