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

// bfi2: the hardware finds the place of the field from the mask that bfi1 made (the compiler's translation of
// the vISA instruction bfi hands over the value as it is).
void lower_bit_field_merge(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  const ir::Type type = in.dst.type;
  if (!ir::is_int(type) || ir::size_of(type) != 4) return l.unsupported("destination that is not a dword");
  ir::Builder& b = l.b();
  const ir::ValueId mask = l.source(0, type), value = l.source(1, type);
  // Times the mask's lowest bit is a shift to its place.
  const ir::ValueId lowest = b.lanewise(ir::Op::and_, {mask, b.lanewise(ir::Op::neg, {mask})});
  const ir::ValueId moved = b.lanewise(ir::Op::mul, {value, lowest});
  l.finish(b.lanewise(ir::Op::bfi2, {mask, moved, l.source(2, type)}));
}

void lower_bit_field_insert(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  const ir::Type type = in.dst.type;
  if (!ir::is_int(type) || ir::size_of(type) != 4) return l.unsupported("destination that is not a dword");
  ir::Builder& b = l.b();
  const ir::ValueId width = l.source(0, type), place = l.source(1, type);
  const ir::ValueId field = b.lanewise(ir::Op::bfi1, {width, place});
  const ir::ValueId moved = b.lanewise(ir::Op::shl, {l.source(2, type), place});
  l.finish(b.lanewise(ir::Op::bfi2, {field, moved, l.source(3, type)}));
}

namespace {

/// A function of two values, both results of each: what a table of four bits says, bit 2*b + a.
ir::ValueId of_two(ir::Builder& b, unsigned table, ir::ValueId x, ir::ValueId y, ir::Type type,
                   unsigned lanes) {
  using enum ir::Op;
  const auto inverted = [&](ir::ValueId value) { return b.lanewise(not_, {value}); };
  switch (table) {
    case 0x0:
      return b.constant(type, lanes, 0);
    case 0x1:
      return inverted(b.lanewise(or_, {x, y}));
    case 0x2:
      return b.lanewise(andn, {y, x});
    case 0x3:
      return inverted(y);
    case 0x4:
      return b.lanewise(andn, {x, y});
    case 0x5:
      return inverted(x);
    case 0x6:
      return b.lanewise(xor_, {x, y});
    case 0x7:
      return inverted(b.lanewise(and_, {x, y}));
    case 0x8:
      return b.lanewise(and_, {x, y});
    case 0x9:
      return inverted(b.lanewise(xor_, {x, y}));
    case 0xa:
      return x;
    case 0xb:
      return b.lanewise(or_, {x, inverted(y)});
    case 0xc:
      return y;
    case 0xd:
      return b.lanewise(or_, {inverted(x), y});
    case 0xe:
      return b.lanewise(or_, {x, y});
    default:
      return inverted(b.constant(type, lanes, 0));
  }
}

/// A function of three values whose table has bit 4*z + 2*y + x.
ir::ValueId of_three(ir::Builder& b, unsigned table, std::array<ir::ValueId, 3> v, ir::Type type,
                     unsigned lanes) {
  using enum ir::Op;
  const auto two = [&](unsigned bits, ir::ValueId x, ir::ValueId y) {
    return of_two(b, bits, x, y, type, lanes);
  };
  // Bits of the table for x, y at z = 0 and z = 1.
  const unsigned zero = table & 0xf, one = table >> 4;
  if (zero == one) return two(zero, v[0], v[1]);
  if ((zero ^ one) == 0xf) return b.lanewise(xor_, {two(zero, v[0], v[1]), v[2]});
  if (zero == 0) return b.lanewise(and_, {two(one, v[0], v[1]), v[2]});
  if (one == 0) return b.lanewise(andn, {v[2], two(zero, v[0], v[1])});
  if (one == 0xf) return b.lanewise(or_, {two(zero, v[0], v[1]), v[2]});
  if ((zero & one) == zero)  // f = zero | (one & z)
    return b.lanewise(or_, {two(zero, v[0], v[1]), b.lanewise(and_, {two(one, v[0], v[1]), v[2]})});
  if ((zero & one) == one)
    return b.lanewise(or_, {two(one, v[0], v[1]), b.lanewise(andn, {v[2], two(zero, v[0], v[1])})});
  // (zero ^ one) & z ^ zero
  return b.lanewise(xor_, {b.lanewise(and_, {two(zero ^ one, v[0], v[1]), v[2]}), two(zero, v[0], v[1])});
}

}  // namespace

void lower_boolean_function(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  const ir::Type type = bits_type(in);
  std::array<ir::ValueId, 3> sources;
  for (unsigned i = 0; i < 3; ++i) sources[i] = l.logic_source(i, type);
  l.finish(of_three(l.b(), in.function, sources, type, l.lanes()));
}

// The count is taken modulo the width of the data.
void lower_rotate(Lowering& l, ir::Op op) {
  const Instruction& in = l.inst();
  const unsigned bytes = ir::size_of(in.dst.type);
  if (ir::is_float(in.dst.type) || bytes < 2) return l.unsupported("rotation of this type");
  const ir::Type type = ir::int_type(bytes, false);
  ir::Builder& b = l.b();
  const ir::ValueId value = l.source(0, type), count = l.source(1, type);
  const ir::Op other = op == ir::Op::shl ? ir::Op::shr : ir::Op::shl;
  const ir::ValueId rest = in.src[1].is_immediate()
                               ? b.constant(type, l.lanes(), (0 - in.src[1].immediate) & (8 * bytes - 1))
                               : b.lanewise(ir::Op::neg, {count});
  const ir::ValueId back = b.lanewise(other, {value, rest});
  l.finish(b.lanewise(ir::Op::or_, {b.lanewise(op, {value, count}), back}));
}

}  // namespace eum::eu
