// Bitwise instructions, shifts and bit fields. A negated source of a bitwise instruction is complemented, in
// some families negated.
#include "frontend/eu/handlers.hpp"
#include "frontend/eu/integer.hpp"

namespace eum::eu {
namespace {

/// Logic computes in integers of the widest operand, whatever its type.
ir::Type bits_type(const Instruction& inst) {
  ir::Type type = modular_type(inst);
  return ir::int_type(ir::size_of(type), inst.has_dst() && ir::is_signed(inst.dst.type));
}

/// A bitwise result never overflows.
void finish_bits(Lowering& l, ir::ValueId result) {
  const bool overflow = l.inst().condition == Condition::ov;
  l.finish(result, ir::no_value, overflow ? l.none_of(l.lanes()) : ir::no_value);
}

}  // namespace

void lower_logic(Lowering& l, ir::Op op) {
  ir::Type type = bits_type(l.inst());
  ir::ValueId a = l.logic_source(0, type);
  finish_bits(l, l.b().lanewise(op, {a, l.logic_source(1, type)}));
}

void lower_not(Lowering& l, ir::Op) {
  ir::Type type = bits_type(l.inst());
  finish_bits(l, l.b().lanewise(ir::Op::not_, {l.logic_source(0, type)}));
}

void lower_negated_logic(Lowering& l, ir::Op op) {
  ir::Type type = bits_type(l.inst());
  ir::ValueId a = l.source(0, type);
  finish_bits(l, l.b().lanewise(op, {a, l.source(1, type)}));
}

void lower_negated_not(Lowering& l, ir::Op) {
  ir::Type type = bits_type(l.inst());
  finish_bits(l, l.b().lanewise(ir::Op::not_, {l.source(0, type)}));
}

namespace {

/// The shift count is taken modulo 64 if a quadword takes part, else modulo 32; so words shift within a
/// dword.
bool shifts_quadwords(const Instruction& in) {
  return ir::size_of(in.src[0].type) == 8 || ir::size_of(in.dst.type) == 8;
}

ir::ValueId shift_count(Lowering& l, ir::Type type) {
  // The modifier applies to the whole value: the low bits of an absolute value depend on its sign.
  const bool narrows = ir::size_of(l.inst().src[1].type) > ir::size_of(type);
  const bool whole = narrows && l.inst().src[1].modifier != SourceModifier::None;
  const ir::ValueId count =
      whole ? l.b().convert(ir::Op::convert, type, l.source(1, ir::Type::s64)) : l.source(1, type);
  if (ir::size_of(type) < 8 || shifts_quadwords(l.inst())) return count;
  return l.b().lanewise(ir::Op::and_, {count, l.b().constant(type, l.lanes(), 31)});
}

void lower_shl(Lowering& l) {
  const Instruction& in = l.inst();
  const bool wide = shifts_quadwords(in), range = looks_at_range(in);
  if (wide && range) {
    const ir::ValueId count = l.b().lanewise(
        ir::Op::and_, {l.source(1, ir::Type::u64), l.b().constant(ir::Type::u64, l.lanes(), 63)});
    return finish128(l, shl128(l, source128(l, 0), count));
  }
  const auto compute = [&](ir::Type type) {
    const ir::ValueId value = l.source(0, type);
    return l.b().lanewise(ir::Op::shl, {value, shift_count(l, type)});
  };
  // A dword shifted by at most 31 is exact in 64 bits.
  const ir::Type modular = ir::int_type(wide ? 8 : 4, ir::is_signed(in.dst.type));
  const ir::ValueId value = compute(range ? ir::Type::s64 : modular);
  l.finish(value, keeps_exact_result(in) ? compute(ir::Type::s64) : ir::no_value);
}

// Zeros enter at the top of the source's own width.
void lower_shr(Lowering& l) {
  using enum ir::Type;
  const Instruction& in = l.inst();
  const Operand& src = in.src[0];
  const bool content = src.is_accumulator();
  const ir::Type type = shifts_quadwords(in) || content ? u64 : u32;
  ir::ValueId value = l.source(0, type);
  const bool may_be_negative = ir::is_signed(src.type) || src.modifier != SourceModifier::None;
  if (type == u32 && ir::size_of(src.type) < 4 && may_be_negative)
    value = l.b().lanewise(ir::Op::and_, {value, l.b().constant(type, l.lanes(), 0xffff)});
  value = l.b().lanewise(ir::Op::shr, {value, shift_count(l, type)});
  if (content) value = l.b().convert(ir::Op::convert, s64, value);
  l.finish(value, keeps_exact_result(in) ? value : ir::no_value);
}

// The sign is shifted in at the top of a signed source, zeros at that of an unsigned one.
void lower_asr(Lowering& l) {
  using enum ir::Type;
  const Instruction& in = l.inst();
  const Operand& src = in.src[0];
  const bool wide = shifts_quadwords(in);
  if (ir::size_of(src.type) == 8 && src.modifier != SourceModifier::None) {
    const ir::ValueId count =
        l.b().lanewise(ir::Op::and_, {l.source(1, u64), l.b().constant(u64, l.lanes(), 63)});
    return finish128(l, asr128(l, source128(l, 0), count));
  }
  const ir::Type type = exact_source_type(src, wide ? 8 : 4);
  ir::ValueId value = l.source(0, type);
  value = l.b().lanewise(ir::is_signed(type) ? ir::Op::asr : ir::Op::shr, {value, shift_count(l, type)});
  l.finish(value, keeps_exact_result(in) ? value : ir::no_value);
}

}  // namespace

void lower_shift(Lowering& l, ir::Op op) {
  if (op == ir::Op::shl) return lower_shl(l);
  if (op == ir::Op::shr) return lower_shr(l);
  lower_asr(l);
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

// bfi2: the hardware finds the position of the field from the mask that bfi1 made (the compiler's translation
// of the vISA instruction bfi passes the value as it is).
void lower_bit_field_merge(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  const ir::Type type = in.dst.type;
  if (!ir::is_int(type) || ir::size_of(type) != 4) return l.unsupported("destination that is not a dword");
  ir::Builder& b = l.b();
  const ir::ValueId mask = l.source(0, type), value = l.source(1, type);
  // Multiplying by the mask's lowest bit shifts the value to its place.
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

/// A function of two values, bit by bit: `table` has four bits, and bit 2*y + x is the result.
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
