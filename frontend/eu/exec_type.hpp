#pragma once
// The types in which an instruction computes: from the types of its operands to one micro-op type.
// It must not know regions or masks.
#include "frontend/eu/instruction.hpp"
#include "frontend/ir/types.hpp"

namespace eum::eu {

constexpr bool same_size_ints(ir::Type a, ir::Type b) {
  return ir::is_int(a) && ir::is_int(b) && ir::size_of(a) == ir::size_of(b);
}

/// The type to compute in if only the low bits of an integer result count (add, mul, shl, and, mov): the
/// widest of word, the sources and an integer destination; signed if the destination is, so that a condition
/// modifier sees the sign. With a float among sources and destination: the widest float of both, or for
/// integer sources the type that holds them exactly.
ir::Type modular_type(const Instruction& inst);

/// The type to compute in if the order of the values counts (cmp, sel, avg, saturation): for signed and
/// unsigned sources of the same size, the next wider signed type.
ir::Type ordered_type(const Instruction& inst);

/// The next wider integer type of the same signedness, or `type` if there is none; floats stay.
ir::Type widened(ir::Type type);

}  // namespace eum::eu
