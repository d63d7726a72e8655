#pragma once
// The types that an instruction computes in: from the types of its operands to one micro-op type.
// It must not know regions or masks.
#include "frontend/gen/instruction.hpp"
#include "frontend/ir/types.hpp"

namespace eum::gen {

/// The micro-op type of a scalar operand type; uv, v and vf give the type of one element.
constexpr ir::Type ir_type(Type type) {
  switch (type) {
    case Type::uv:
      return ir::Type::u16;
    case Type::v:
      return ir::Type::s16;
    case Type::vf:
      return ir::Type::f32;
    case Type::none:
      return ir::Type::u8;
    default:
      return static_cast<ir::Type>(type);
  }
}
static_assert(ir_type(Type::ub) == ir::Type::u8 && ir_type(Type::q) == ir::Type::s64 &&
              ir_type(Type::hf) == ir::Type::f16 && ir_type(Type::df) == ir::Type::f64);

constexpr bool same_size_ints(ir::Type a, ir::Type b) {
  return ir::is_int(a) && ir::is_int(b) && ir::size_of(a) == ir::size_of(b);
}

/// The type to compute in where only the low bits of an integer result count (add, mul, shl, and, mov): the
/// widest of word, the sources and an integer destination; signed if the destination is, so that a condition
/// modifier sees the sign. With a float among sources and destination: the widest float of both, or for
/// integer sources the type that holds them exactly.
ir::Type modular_type(const Instruction& inst);

/// The type to compute in where the order of the values counts (cmp, sel, avg, saturation): signed and
/// unsigned sources of the same size meet in the next wider signed type.
ir::Type ordered_type(const Instruction& inst);

/// The next wider integer type of the same signedness, or `type` if there is none; floats stay.
ir::Type widened(ir::Type type);

}  // namespace eum::gen
