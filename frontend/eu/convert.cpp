// Moves: conversion of types, raw copies, scattered moves.
#include <bit>

#include "frontend/eu/handlers.hpp"
#include "frontend/eu/target.hpp"

namespace eum::eu {
namespace {

/// All 64 bits of integer accumulator channels, for a saturating move out of the accumulator.
ir::ValueId wide_accumulator(Lowering& l, const Operand& op) {
  using enum ir::Type;
  ir::Builder& b = l.b();
  ir::Region low = ir_region(op.region, op.offset, l.lanes());
  ir::Region high = low;
  high.offset += l.accumulator_plane();
  ir::ValueId lower = b.convert(ir::Op::convert, s64, b.reg_read(u32, l.lanes(), low));
  ir::ValueId upper = b.convert(ir::Op::convert, s64, b.reg_read(s32, l.lanes(), high));
  upper = b.lanewise(ir::Op::shl, {upper, b.constant(s64, l.lanes(), 32)});
  return b.lanewise(ir::Op::or_, {lower, upper});
}

/// The type that a move reads its source in. A move that changes no value copies bits.
ir::Type source_type(const Instruction& inst) {
  const Operand& src = inst.src[0];
  ir::Type from = src.type, to = inst.dst.type;
  if (src.is_null()) return from;  // it reads as 0, and takes no part in the choice of an execution type
  bool plain = src.modifier == SourceModifier::None && !inst.saturate && inst.condition == Condition::None;
  if (plain && src.is_immediate() && ir::is_int(from) && ir::is_int(to)) return to;
  if (plain && from == to) return ir::is_int(from) ? from : ir::int_type(ir::size_of(from), false);
  if (plain) return same_size_ints(from, to) ? to : from;
  if (inst.saturate) return ir::is_int(from) && !src.is_immediate() ? ordered_type(inst) : from;
  return modular_type(inst);
}

}  // namespace

void lower_mov(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  const Operand& src = in.src[0];
  bool dword_acc = src.is_accumulator() && !ir::is_float(src.type) && ir::size_of(src.type) == 4;
  if (in.saturate && dword_acc && src.modifier == SourceModifier::None)
    return l.finish(wide_accumulator(l, src));
  ir::Type type = source_type(in), to = in.dst.type;
  bool raw = ir::is_int(type) && ir::is_float(src.type);
  if (raw) {
    // A raw copy of floats: no NaN is quieted, no denorm flushed.
    if (src.is_immediate()) {
      ir::ValueId bits = l.b().constant(type, l.lanes(), src.immediate);
      if (src.packed == PackedVector::None) {
        l.write(in.dst, bits, l.write_mask());
        if (in.writes_accumulator)
          l.write_accumulator(l.implicit_acc_offset(to), 1, l.b().convert(ir::Op::bitcast, to, bits),
                              ir::no_value, l.write_mask());
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
  l.finish(l.source(0, type));
}

// Channels in the immediate mask move; the destination's address register belongs to the single channel that
// compilers select, at the distance of the channel's place in the destination region.
void lower_smov(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  if (!in.src[1].is_immediate()) return l.unsupported("scattered move without an immediate channel mask");
  std::uint32_t selected = static_cast<std::uint32_t>(in.src[1].immediate);
  if (l.lanes() < 32) selected &= (1u << l.lanes()) - 1;
  if (selected == 0) return;
  ir::Type type = in.dst.type;
  ir::Type from = in.src[0].type;
  ir::ValueId value = l.source(0, same_size_ints(from, type) ? type : from);
  value = l.b().convert(ir::Op::convert, type, value);
  bool single = std::has_single_bit(selected) && in.dst.kind == OperandKind::Indirect;
  ir::ValueId mask = l.write_mask();
  if (!single) {
    ir::ValueId chosen = l.b().constant(ir::Type::m, l.lanes(), selected);
    return l.write(in.dst, value, l.both(mask, chosen));
  }
  unsigned lane = static_cast<unsigned>(std::countr_zero(selected));
  Operand place = in.dst;
  place.address_offset = static_cast<std::int16_t>(
      place.address_offset + static_cast<int>(lane * place.region.hstride * ir::size_of(place.type)));
  ir::ValueId where = l.addresses(place, 1, true);
  l.b().reg_scatter(where, l.b().slice(value, lane, 1),
                    mask == ir::no_value ? mask : l.b().slice(mask, lane, 1));
}

// movi: lane i takes the element of the source register that the low bits of address element i select.
void lower_movi(Lowering& l, ir::Op op) {
  const Instruction& in = l.inst();
  if (in.src[0].kind != OperandKind::Indirect)
    return l.unsupported("indexed move without an indirect source");
  lower_mov(l, op);
}

}  // namespace eum::eu
