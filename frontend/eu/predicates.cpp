// Flags as results: logic of predicates, bits of integers as flags.
#include "frontend/eu/handlers.hpp"

namespace eum::eu {
namespace {

/// The flags of the instruction's channels in the flag register of `op`.
ir::ValueId read_flags_of(Lowering& l, const Operand& op) {
  return l.b().flag_read(l.lanes(), op.offset + l.inst().channel_offset);
}

}  // namespace

void lower_flag_logic(Lowering& l, ir::Op op) {
  const Instruction& in = l.inst();
  const ir::ValueId a = read_flags_of(l, in.src[0]);
  if (in.source_count == 1) return l.write_flag_mask(l.b().lanewise(op, {a}));
  l.write_flag_mask(l.b().lanewise(op, {a, read_flags_of(l, in.src[1])}));
}

void lower_set_flags(Lowering& l, ir::Op) {
  using enum ir::Type;
  const Instruction& in = l.inst();
  ir::Builder& b = l.b();
  if (in.src[0].is_immediate() || is_uniform(in.src[0].region, l.lanes())) {
    const ir::ValueId bits = b.slice(l.source(0, u32), 0, 1);
    return b.flag_write(l.flag_bit(), b.bits_mask(bits, l.lanes()));
  }
  const ir::ValueId lowest = b.lanewise(ir::Op::and_, {l.source(0, u32), b.constant(u32, l.lanes(), 1)});
  l.write_flag_mask(b.compare(ir::Op::cmp_ne, lowest, b.constant(u32, l.lanes(), 0)));
}

}  // namespace eum::eu
