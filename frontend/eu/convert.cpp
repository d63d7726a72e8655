// Moves: conversion of types, raw copies, scattered moves.
#include <bit>

#include "frontend/eu/handlers.hpp"
#include "frontend/eu/integer.hpp"

namespace eum::eu {
namespace {

/// Whether a move leaves the value unchanged, conversion aside.
bool is_plain(const Instruction& inst) {
  return inst.src[0].modifier == SourceModifier::None && !inst.saturate && inst.condition == Condition::None;
}

/// The type in which a move to or from a float reads its source. A move that changes no value copies bits.
ir::Type source_type(const Instruction& inst) {
  const Operand& src = inst.src[0];
  const ir::Type from = src.type, to = inst.dst.type;
  if (src.is_null()) return from;  // it reads as 0, and takes no part in the choice of an execution type
  if (src.is_accumulator() && ir::is_int(from)) return ir::Type::s64;
  if (is_plain(inst) && from == to) return ir::int_type(ir::size_of(from), false);
  if (is_plain(inst)) return from;
  if (!ir::is_float(from)) return exact_source_type(src, 2);
  return inst.saturate ? from : modular_type(inst);
}

/// A move from integers to integers.
void move_integers(Lowering& l) {
  const Instruction& in = l.inst();
  const Operand& src = in.src[0];
  const ir::Type from = src.type, to = in.dst.type;
  const bool kept = keeps_exact_result(in), range = looks_at_range(in);
  if (ir::size_of(from) == 8 && range && src.modifier != SourceModifier::None)
    return finish128(l, source128(l, 0));
  const auto exact = [&] { return l.source(0, exact_source_type(src, 1)); };
  if (range) {
    const ir::ValueId value = exact();
    return l.finish(value, kept ? value : ir::no_value);
  }
  ir::Type type = modular_type(in);
  if (is_plain(in)) {
    const bool widens = src.is_accumulator() && ir::size_of(to) > ir::size_of(from);
    type = src.is_immediate() || same_size_ints(from, to) ? to : widens ? ir::Type::s64 : from;
  }
  const ir::ValueId value = l.source(0, type);
  l.finish(value, kept ? exact() : ir::no_value);
}

/// Moves a quadword, whose negative or absolute value may need 65 bits, to a float.
void move_modified_quadword(Lowering& l) {
  using enum ir::Type;
  const Instruction& in = l.inst();
  const Operand& source = in.src[0];
  const ir::Type to = in.dst.type;
  Operand plain = source;
  plain.modifier = SourceModifier::None;
  ir::Builder& b = l.b();
  const auto lowest = b.constant(s64, l.lanes(), 1ull << 63);
  if (!ir::is_signed(source.type)) {
    ir::ValueId value = l.read(plain, to, false);
    if (source.modifier != SourceModifier::Abs)  // the negative of 0 is 0
      value = b.lanewise(ir::Op::sub, {b.constant(to, l.lanes(), 0), value});
    return l.finish(value);
  }
  ir::ValueId value = b.convert(ir::Op::convert, to, l.source(0, s64));
  if (source.modifier != SourceModifier::NegAbs) {
    // For the lowest quadword, both the negative and the absolute value are 2^63.
    const ir::ValueId is_lowest = b.compare(ir::Op::cmp_eq, l.read(plain, s64, false), lowest);
    const ir::ValueId power = b.convert(ir::Op::convert, to, b.constant(u64, l.lanes(), 1ull << 63));
    value = b.select(is_lowest, power, value);
  }
  l.finish(value);
}

}  // namespace

void lower_mov(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  const Operand& src = in.src[0];
  if (ir::is_int(src.type) && ir::is_int(in.dst.type)) return move_integers(l);
  ir::Type type = source_type(in), to = in.dst.type;
  bool raw = ir::is_int(type) && ir::is_float(src.type);
  if (raw) {
    // A raw copy of floats: no NaN is quieted, no denormal flushed.
    if (src.is_immediate()) {
      ir::ValueId bits = l.b().constant(type, l.lanes(), src.immediate);
      if (src.packed == PackedVector::None) {
        l.write(in.dst, bits, l.write_mask());
        if (in.writes_accumulator && !in.dst.is_accumulator())
          l.update_accumulator(l.b().convert(ir::Op::bitcast, to, bits));
        return;
      }
      return l.finish(l.immediate(src, to, l.lanes()));
    }
    Operand bits = src;
    bits.type = type;
    ir::ValueId value = l.read(bits, type, false), mask = l.write_mask();
    if (!in.writes_accumulator && !in.dst.is_null() && !in.dst.is_accumulator())
      return l.write(in.dst, value, mask);
    return l.finish(l.b().convert(ir::Op::bitcast, to, value));
  }
  if (ir::is_int(src.type) && ir::size_of(src.type) == 8 && src.modifier != SourceModifier::None)
    return move_modified_quadword(l);
  // The manual keeps denormals in conversions of formats (IVB, 2.3.1.2).
  l.keeping_denormals([&] { l.finish(l.source(0, type)); });
}

// Moves the channels of the mask. A single channel with an indirect destination, the case that compilers use,
// goes to the address register's value plus the channel's distance within the destination region.
void lower_smov(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  ir::Type type = in.dst.type;
  ir::Type from = in.src[0].type;
  ir::ValueId value = l.source(0, same_size_ints(from, type) ? type : from);
  value = l.b().convert(ir::Op::convert, type, value);
  if (!in.src[1].is_immediate()) {
    ir::ValueId mask = l.write_mask();
    const ir::ValueId chosen = l.b().bits_mask(l.scalar(in.src[1], ir::Type::u32), l.lanes());
    return l.write(in.dst, value, l.both(mask, chosen));
  }
  std::uint32_t selected = static_cast<std::uint32_t>(in.src[1].immediate);
  if (l.lanes() < 32) selected &= (1u << l.lanes()) - 1;
  if (selected == 0) return;
  bool single = std::has_single_bit(selected) && in.dst.kind == OperandKind::Indirect;
  if (!single) {
    ir::ValueId chosen = l.b().constant(ir::Type::m, l.lanes(), selected);
    return l.write(in.dst, value, l.both(l.write_mask(), chosen));
  }
  unsigned lane = static_cast<unsigned>(std::countr_zero(selected));
  value = l.b().slice(value, lane, 1);
  ir::ValueId mask = l.write_mask();
  Operand place = in.dst;
  place.address_offset = static_cast<std::int16_t>(
      place.address_offset + static_cast<int>(lane * place.region.hstride * ir::size_of(place.type)));
  ir::ValueId where = l.addresses(place, 1, true);
  l.b().reg_scatter(where, value, mask == ir::no_value ? mask : l.b().slice(mask, lane, 1));
}

namespace {

// These conversions keep denormals whatever the denormal mode of f16, which families with these instructions
// do not have (IVB PRM volume 4 part 3, 2.3.1.2).

/// Converts halves in u32 to f32.
ir::ValueId widen_half(Lowering& l, ir::ValueId half) {
  using enum ir::Type;
  ir::Builder& b = l.b();
  const auto number = [&](std::uint32_t n) { return b.constant(u32, l.lanes(), n); };
  const auto bits = [&](std::uint32_t mask) { return b.lanewise(ir::Op::and_, {half, number(mask)}); };
  const ir::ValueId usual =
      b.convert(ir::Op::convert, f32, b.convert(ir::Op::bitcast, f16, b.convert(ir::Op::convert, u16, half)));
  constexpr std::uint32_t least = 0x33800000;  // 2^-24
  const ir::ValueId tiny = b.lanewise(
      ir::Op::mul, {b.convert(ir::Op::convert, f32, bits(0x3ff)), b.constant(f32, l.lanes(), least)});
  const ir::ValueId sign = b.lanewise(ir::Op::shl, {bits(0x8000), number(16)});
  const ir::ValueId signed_tiny = b.lanewise(ir::Op::or_, {b.convert(ir::Op::bitcast, u32, tiny), sign});
  return b.select(b.compare(ir::Op::cmp_eq, bits(0x7c00), number(0)),
                  b.convert(ir::Op::bitcast, f32, signed_tiny), usual);
}

/// Replaces denormals by the smallest normal of their sign, which rounds to the same half and is not flushed.
ir::ValueId without_denormals(Lowering& l, ir::ValueId value) {
  using enum ir::Type;
  ir::Builder& b = l.b();
  const auto number = [&](std::uint32_t n) { return b.constant(u32, l.lanes(), n); };
  constexpr std::uint32_t sign_bit = 0x80000000, smallest = 0x00800000;
  const ir::ValueId bits = b.convert(ir::Op::bitcast, u32, value);
  const ir::ValueId size = b.lanewise(ir::Op::and_, {bits, number(~sign_bit)});
  const ir::ValueId is_denormal = b.compare(ir::Op::cmp_lt, b.lanewise(ir::Op::sub, {size, number(1)}),
                                            number(smallest - 1));  // 0 wraps and fails
  const ir::ValueId other =
      b.lanewise(ir::Op::or_, {b.lanewise(ir::Op::and_, {bits, number(sign_bit)}), number(smallest)});
  return b.convert(ir::Op::bitcast, f32, b.select(is_denormal, other, bits));
}

/// Converts f32 to halves in u16.
ir::ValueId narrow_to_half(Lowering& l, ir::ValueId value) {
  using enum ir::Type;
  ir::Builder& b = l.b();
  const auto number = [&](ir::Type type, std::uint32_t n) { return b.constant(type, l.lanes(), n); };
  const ir::ValueId bits = b.convert(ir::Op::bitcast, u32, value);
  const ir::ValueId usual = b.convert(ir::Op::bitcast, u16, b.convert(ir::Op::convert, f16, value));
  // Below 2^-14 halves are multiples of 2^-24; adding 1.5 * 2^23 rounds to an integer in the current mode.
  constexpr std::uint32_t least_normal = 0x38800000, two_to_24 = 0x4b800000, magic = 0x4b400000;
  const ir::ValueId sum =
      b.lanewise(ir::Op::add, {b.lanewise(ir::Op::mul, {value, number(f32, two_to_24)}), number(f32, magic)});
  const ir::ValueId count =
      b.lanewise(ir::Op::sub, {b.convert(ir::Op::bitcast, s32, sum), number(s32, magic)});
  const ir::ValueId size = b.convert(ir::Op::bitcast, u32, b.lanewise(ir::Op::abs, {count}));
  const ir::ValueId sign =
      b.lanewise(ir::Op::and_, {b.lanewise(ir::Op::shr, {bits, number(u32, 16)}), number(u32, 0x8000)});
  const ir::ValueId tiny = b.convert(ir::Op::convert, u16, b.lanewise(ir::Op::or_, {size, sign}));
  const ir::ValueId is_tiny = b.compare(
      ir::Op::cmp_lt, b.lanewise(ir::Op::and_, {bits, number(u32, 0x7fffffff)}), number(u32, least_normal));
  return b.select(is_tiny, tiny, usual);
}

}  // namespace

// The upper word of a dword destination becomes 0 (Mesa's brw_F32TO16).
void lower_f32to16(Lowering& l, ir::Op) {
  if (l.inst().dst.kind == OperandKind::Flag) return l.unsupported("flag register of a float type");
  ir::Builder& b = l.b();
  const ir::ValueId source = without_denormals(l, l.source(0, ir::Type::f32));
  const ir::ValueId half = narrow_to_half(l, l.inst().saturate ? b.lanewise(ir::Op::sat, {source}) : source);
  Instruction words = l.inst();
  const bool dwords = ir::size_of(words.dst.type) == 4;
  words.saturate = false;
  words.dst.type = ir::Type::f16;
  if (dwords) words.dst.region.hstride = static_cast<std::uint8_t>(2 * words.dst.region.hstride);
  l.as(words, [&] {
    const ir::ValueId value = b.convert(ir::Op::bitcast, ir::Type::f16, half);
    const ir::ValueId overflow = words.condition == Condition::ov ? l.overflow(source) : ir::no_value;
    l.commit(value, [&] {
      if (words.condition != Condition::None) l.write_flags(value, source, overflow);
    });
    if (words.writes_accumulator && !words.dst.is_accumulator()) l.update_accumulator(value);
  });
  if (!dwords || words.dst.is_null()) return;
  Operand upper = words.dst;
  upper.type = ir::Type::u16;
  if (upper.kind == OperandKind::Indirect)
    upper.address_offset = static_cast<std::int16_t>(upper.address_offset + 2);
  else
    upper.offset += 2;
  l.as(words, [&] { l.write(upper, b.constant(ir::Type::u16, l.lanes(), 0), l.write_mask()); });
}

void lower_f16to32(Lowering& l, ir::Op) {
  Operand half = l.inst().src[0];
  half.modifier = SourceModifier::None;
  half.type = ir::Type::u16;
  Instruction plain = l.inst();
  ir::ValueId bits = ir::no_value;
  plain.src[0] = half;
  l.as(plain, [&] { bits = l.source(0, ir::Type::u32); });
  const SourceModifier modifier = l.inst().src[0].modifier;
  const auto number = [&](std::uint32_t n) { return l.b().constant(ir::Type::u32, l.lanes(), n); };
  if (modifier == SourceModifier::Abs || modifier == SourceModifier::NegAbs)
    bits = l.b().lanewise(ir::Op::and_, {bits, number(0x7fff)});
  if (modifier == SourceModifier::Neg || modifier == SourceModifier::NegAbs)
    bits = l.b().lanewise(ir::Op::xor_, {bits, number(0x8000)});
  const bool overflow = l.inst().condition == Condition::ov;  // no half is too large
  l.finish(widen_half(l, bits), ir::no_value, overflow ? l.none_of(l.lanes()) : ir::no_value);
}

// movi: lane i takes the element of the source register that the low bits of address element i select.
void lower_movi(Lowering& l, ir::Op op) {
  const Instruction& in = l.inst();
  if (in.src[0].kind != OperandKind::Indirect)
    return l.unsupported("indexed move without an indirect source");
  lower_mov(l, op);
}

}  // namespace eum::eu
