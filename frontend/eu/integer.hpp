#pragma once
// Integer results as the manual defines them: exact until written to the destination. Where saturation, an
// overflow condition or the accumulator need the exact value, the computation is done in a type that holds
// it; elsewhere in the narrowest type that gives the destination's bits. It must not know individual
// instructions.
#include "frontend/eu/lowering.hpp"

namespace eum::eu {

/// A 128-bit integer in two's complement: u64 and s64.
struct Integer128 {
  ir::ValueId low = ir::no_value, high = ir::no_value;
};

/// Source `index` with its modifiers.
Integer128 source128(Lowering& l, unsigned index);
Integer128 add128(Lowering& l, const Integer128& a, const Integer128& b);
Integer128 mul128(Lowering& l, const Integer128& a, const Integer128& b);
/// By counts of up to 63.
Integer128 shl128(Lowering& l, const Integer128& a, ir::ValueId count);
Integer128 asr128(Lowering& l, const Integer128& a, ir::ValueId count);
Integer128 select128(Lowering& l, ir::ValueId mask, const Integer128& a, const Integer128& b);
/// An ordered or equality comparison.
ir::ValueId compare128(Lowering& l, ir::Op op, const Integer128& a, const Integer128& b);

/// Whether the exact result matters beyond the bits that the destination keeps.
bool looks_at_range(const Instruction& inst);
/// Whether a quadword is among the sources.
bool has_quadwords(const Instruction& inst);
/// An integer type that holds sums, differences and products of the sources, unless these are quadwords.
ir::Type exact_type(const Instruction& inst);
/// An integer type of at least `bytes` that holds the source with its modifiers, up to 64 bits.
ir::Type exact_source_type(const Operand& source, unsigned bytes);
/// Whether no integer type holds the values of all sources.
bool beyond_quadwords(const Instruction& inst);

/// Finishes an instruction with a result beyond 64 bits.
void finish128(Lowering& l, const Integer128& result);
/// Whether the accumulator receives the result exactly, up to its width.
bool keeps_exact_result(const Instruction& inst);

/// Finishes an instruction: compute(type) gives the integer result in any integer type, wrapping;
/// compute128() gives it exactly, where quadwords take part.
template <class Compute, class Compute128>
void finish_integer(Lowering& l, Compute&& compute, Compute128&& compute128) {
  const Instruction& in = l.inst();
  const bool range = looks_at_range(in);
  if (range && has_quadwords(in)) return finish128(l, compute128());
  const ir::ValueId value = compute(range ? exact_type(in) : modular_type(in));
  ir::ValueId exact = ir::no_value;
  if (keeps_exact_result(in)) exact = range ? value : compute(exact_type(in));
  l.finish(value, exact);
}

}  // namespace eum::eu
