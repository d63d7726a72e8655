// Bitwise instructions, shifts and bit fields. A negated source of a bitwise instruction is complemented.
#include "frontend/eu/handlers.hpp"

namespace eum::eu {
namespace {

/// Logic computes in integers of the widest operand, whatever its type.
ir::Type bits_type(const Instruction& inst) {
  ir::Type type = modular_type(inst);
  return ir::int_type(ir::size_of(type), inst.has_dst() && ir::is_signed(inst.dst.type));
}

}  // namespace

void lower_logic(Lowering& l, ir::Op op) {
  ir::Type type = bits_type(l.inst());
  ir::ValueId a = l.logic_source(0, type);
  l.finish(l.b().lanewise(op, {a, l.logic_source(1, type)}));
}

void lower_not(Lowering& l, ir::Op) {
  ir::Type type = bits_type(l.inst());
  l.finish(l.b().lanewise(ir::Op::not_, {l.logic_source(0, type)}));
}

// The shift count is taken modulo 64 if a quadword takes part, else modulo 32; so words shift within a dword.
void lower_shift(Lowering& l, ir::Op op) {
  const Instruction& in = l.inst();
  using enum ir::Type;
  unsigned source_bytes = ir::size_of(in.src[0].type);
  bool wide = source_bytes == 8 || ir::size_of(in.dst.type) == 8;
  if (in.saturate && op == ir::Op::shl) {
    // Exact up to 64 bits: a dword shifted by at most 31.
    if (wide) return l.unsupported("saturation of quadwords");
    ir::Type type = s64;
    ir::ValueId count =
        l.b().lanewise(ir::Op::and_, {l.source(1, type), l.b().constant(type, l.lanes(), 31)});
    return l.finish(l.b().lanewise(op, {l.source(0, type), count}));
  }
  bool is_signed = op == ir::Op::asr || (op == ir::Op::shl && ir::is_signed(in.dst.type));
  ir::Type type = ir::int_type(wide ? 8 : 4, is_signed);
  ir::ValueId value = l.source(0, type);
  bool narrow_signed = source_bytes < 4 && ir::is_signed(in.src[0].type);
  if (op == ir::Op::shr && narrow_signed) {
    // Zeros enter at the top of the source's own width.
    std::uint64_t ones = 0xffff;
    value = l.b().lanewise(ir::Op::and_, {value, l.b().constant(type, l.lanes(), ones)});
  }
  ir::ValueId count = l.source(1, type);
  l.finish(l.b().lanewise(op, {value, count}));
}

namespace {

void lower_dwords(Lowering& l, ir::Op op, ir::Type type) {
  const Instruction& in = l.inst();
  for (unsigned i = 0; i < in.source_count; ++i)
    if (ir::is_float(in.src[i].type) || ir::size_of(in.src[i].type) > 4)
      return l.unsupported("source that is not an integer of up to 32 bits");
  if (!ir::is_int(type) || ir::size_of(type) != 4) return l.unsupported("destination that is not a dword");
  ir::ValueId a = l.source(0, type);
  if (in.source_count == 1) return l.finish(l.b().lanewise(op, {a}));
  ir::ValueId c = l.source(1, type);
  if (in.source_count == 2) return l.finish(l.b().lanewise(op, {a, c}));
  l.finish(l.b().lanewise(op, {a, c, l.source(2, type)}));
}

}  // namespace

void lower_bits(Lowering& l, ir::Op op) {
  // Narrow sources extend to dwords.
  lower_dwords(l, op, ir::int_type(4, ir::is_signed(l.inst().src[0].type)));
}

// bfe extends its data's sign if the destination is signed.
void lower_bit_field(Lowering& l, ir::Op op) { lower_dwords(l, op, l.inst().dst.type); }

}  // namespace eum::eu
