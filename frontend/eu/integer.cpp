// Exact integers: which type holds a result, and arithmetic beyond 64 bits, needed only for saturation and
// overflow of quadwords.
#include "frontend/eu/integer.hpp"

#include <algorithm>

namespace eum::eu {
namespace {

using enum ir::Type;

ir::ValueId constant(Lowering& l, ir::Type type, std::uint64_t bits) {
  return l.b().constant(type, l.lanes(), bits);
}
ir::ValueId as(Lowering& l, ir::Type type, ir::ValueId value) {
  return l.b().convert(ir::Op::convert, type, value);
}
ir::ValueId op(Lowering& l, ir::Op which, ir::ValueId a, ir::ValueId b) {
  return l.b().lanewise(which, {a, b});
}

Integer128 negated(Lowering& l, const Integer128& a) {
  const ir::ValueId low = l.b().lanewise(ir::Op::neg, {a.low});
  // -x = ~x + 1: the upper half takes the carry where the lower one is 0.
  const ir::ValueId zero = l.b().compare(ir::Op::cmp_eq, a.low, constant(l, u64, 0));
  return {low,
          l.b().select(zero, l.b().lanewise(ir::Op::neg, {a.high}), l.b().lanewise(ir::Op::not_, {a.high}))};
}

ir::ValueId is_negative(Lowering& l, const Integer128& a) {
  return l.b().compare(ir::Op::cmp_lt, a.high, constant(l, s64, 0));
}

Integer128 magnitude(Lowering& l, const Integer128& a) {
  return select128(l, is_negative(l, a), negated(l, a), a);
}

/// Bits 127:64 of a product of u64.
ir::ValueId high_product(Lowering& l, ir::ValueId a, ir::ValueId b) {
  const auto low = [&](ir::ValueId x) { return op(l, ir::Op::and_, x, constant(l, u64, 0xffffffff)); };
  const auto high = [&](ir::ValueId x) { return op(l, ir::Op::shr, x, constant(l, u64, 32)); };
  const auto mul = [&](ir::ValueId x, ir::ValueId y) { return op(l, ir::Op::mul, x, y); };
  const auto add = [&](ir::ValueId x, ir::ValueId y) { return op(l, ir::Op::add, x, y); };
  const ir::ValueId a0 = low(a), a1 = high(a), b0 = low(b), b1 = high(b);
  const ir::ValueId first = add(mul(a1, b0), high(mul(a0, b0)));
  const ir::ValueId second = add(mul(a0, b1), low(first));
  return add(mul(a1, b1), add(high(first), high(second)));
}

}  // namespace

Integer128 source128(Lowering& l, unsigned index) {
  Operand plain = l.inst().src[index];
  plain.modifier = SourceModifier::None;
  const bool is_signed = ir::is_signed(plain.type) || plain.is_accumulator();
  const ir::ValueId value = l.read(plain, is_signed ? s64 : u64, false);
  Integer128 whole{as(l, u64, value),
                   is_signed ? op(l, ir::Op::asr, value, constant(l, s64, 63)) : constant(l, s64, 0)};
  const SourceModifier modifier = l.inst().src[index].modifier;
  if (modifier == SourceModifier::Abs || modifier == SourceModifier::NegAbs) whole = magnitude(l, whole);
  if (modifier == SourceModifier::Neg || modifier == SourceModifier::NegAbs) whole = negated(l, whole);
  return whole;
}

Integer128 add128(Lowering& l, const Integer128& a, const Integer128& b) {
  const ir::ValueId low = op(l, ir::Op::add, a.low, b.low), high = op(l, ir::Op::add, a.high, b.high);
  const ir::ValueId carry = l.b().compare(ir::Op::cmp_lt, low, a.low);
  return {low, l.b().select(carry, op(l, ir::Op::add, high, constant(l, s64, 1)), high)};
}

Integer128 mul128(Lowering& l, const Integer128& a, const Integer128& b) {
  const ir::ValueId differ = l.b().lanewise(ir::Op::xor_, {is_negative(l, a), is_negative(l, b)});
  const Integer128 x = magnitude(l, a), y = magnitude(l, b);
  const ir::ValueId upper = as(l, s64, high_product(l, x.low, y.low));
  // A magnitude of 128 bits exceeds every type, as the largest of 127 does.
  const ir::ValueId top = l.b().compare(ir::Op::cmp_lt, upper, constant(l, s64, 0));
  const Integer128 product{op(l, ir::Op::mul, x.low, y.low),
                           l.b().select(top, constant(l, s64, ~0ull >> 1), upper)};
  return select128(l, differ, negated(l, product), product);
}

Integer128 shl128(Lowering& l, const Integer128& a, ir::ValueId count) {
  const ir::ValueId n = as(l, u64, count), rest = op(l, ir::Op::sub, constant(l, u64, 63), n);
  const ir::ValueId half = op(l, ir::Op::shr, a.low, constant(l, u64, 1));
  const ir::ValueId high = op(l, ir::Op::shl, a.high, as(l, s64, n));
  return {op(l, ir::Op::shl, a.low, n), op(l, ir::Op::or_, high, as(l, s64, op(l, ir::Op::shr, half, rest)))};
}

Integer128 asr128(Lowering& l, const Integer128& a, ir::ValueId count) {
  const ir::ValueId n = as(l, u64, count), rest = op(l, ir::Op::sub, constant(l, u64, 63), n);
  const ir::ValueId twice = op(l, ir::Op::shl, as(l, u64, a.high), constant(l, u64, 1));
  const ir::ValueId low = op(l, ir::Op::shr, a.low, n);
  return {op(l, ir::Op::or_, low, op(l, ir::Op::shl, twice, rest)),
          op(l, ir::Op::asr, a.high, as(l, s64, n))};
}

Integer128 select128(Lowering& l, ir::ValueId mask, const Integer128& a, const Integer128& b) {
  return {l.b().select(mask, a.low, b.low), l.b().select(mask, a.high, b.high)};
}

ir::ValueId compare128(Lowering& l, ir::Op which, const Integer128& a, const Integer128& b) {
  using enum ir::Op;
  ir::Builder& builder = l.b();
  const ir::ValueId same = builder.compare(cmp_eq, a.high, b.high);
  if (which == cmp_eq) return builder.lanewise(and_, {same, builder.compare(cmp_eq, a.low, b.low)});
  if (which == cmp_ne) return builder.lanewise(not_, {compare128(l, cmp_eq, a, b)});
  const ir::Op strict = which == cmp_lt || which == cmp_le ? cmp_lt : cmp_gt;
  const ir::ValueId below = builder.lanewise(and_, {same, builder.compare(which, a.low, b.low)});
  return builder.lanewise(or_, {builder.compare(strict, a.high, b.high), below});
}

bool looks_at_range(const Instruction& inst) {
  return inst.saturate || inst.condition == Condition::ov || ir::is_float(inst.dst.type);
}

bool has_quadwords(const Instruction& inst) {
  for (unsigned i = 0; i < inst.source_count; ++i)
    if (ir::is_int(inst.src[i].type) && ir::size_of(inst.src[i].type) == 8 && !inst.src[i].is_null())
      return true;
  return false;
}

ir::Type exact_type(const Instruction& inst) {
  const ir::Type order = ordered_type(inst);
  const unsigned bytes = inst.has_dst() && ir::is_int(inst.dst.type)
                             ? std::max(ir::size_of(order), ir::size_of(inst.dst.type))
                             : ir::size_of(order);
  return widened(ir::int_type(bytes, ir::is_signed(order)));
}

ir::Type exact_source_type(const Operand& source, unsigned bytes) {
  if (source.is_accumulator()) return s64;
  const bool is_signed = ir::is_signed(source.type);
  const SourceModifier modifier = source.modifier;
  const bool negated = modifier == SourceModifier::Neg || modifier == SourceModifier::NegAbs;
  const bool wider = negated || (is_signed && modifier != SourceModifier::None);
  const unsigned own = std::min(ir::size_of(source.type) * (wider ? 2 : 1), 8u);
  return ir::int_type(std::max(own, bytes), is_signed || negated);
}

bool beyond_quadwords(const Instruction& inst) {
  bool any_signed = false, beyond_signed = false, beyond = false;
  for (unsigned i = 0; i < inst.source_count; ++i) {
    const Operand& source = inst.src[i];
    if (!ir::is_int(source.type) || source.is_null()) continue;
    const bool quad = ir::size_of(source.type) == 8;
    const bool is_signed = ir::is_signed(source.type) || source.is_accumulator();
    const bool modified =
        source.modifier != SourceModifier::None && (is_signed || source.modifier != SourceModifier::Abs);
    any_signed |= is_signed || modified;
    beyond_signed |= quad && !is_signed;
    beyond |= quad && modified;
  }
  return beyond || (any_signed && beyond_signed);
}

bool keeps_exact_result(const Instruction& inst) {
  return (inst.writes_accumulator || inst.dst.is_accumulator()) && !inst.saturate &&
         ir::is_int(inst.dst.type) && ir::size_of(inst.dst.type) <= 4;
}

void finish128(Lowering& l, const Integer128& result) {
  ir::Builder& b = l.b();
  const Instruction& in = l.inst();
  if (ir::is_float(in.dst.type)) return l.unsupported("float of a result beyond 64 bits");
  const bool is_signed = ir::is_signed(in.dst.type);
  const ir::Type type = is_signed ? s64 : u64;
  const ir::ValueId low = as(l, type, result.low);
  const ir::ValueId sign =
      is_signed ? op(l, ir::Op::asr, as(l, s64, result.low), constant(l, s64, 63)) : constant(l, s64, 0);
  const ir::ValueId beyond = b.compare(ir::Op::cmp_ne, result.high, sign), negative = is_negative(l, result);
  const ir::ValueId least = constant(l, type, is_signed ? 1ull << 63 : 0);
  const ir::ValueId most = constant(l, type, is_signed ? ~0ull >> 1 : ~0ull);
  const ir::ValueId clamped = b.select(beyond, b.select(negative, least, most), low);
  const ir::ValueId overflow =
      in.condition == Condition::ov ? b.lanewise(ir::Op::or_, {beyond, l.overflow(clamped)}) : ir::no_value;
  l.finish(in.saturate ? clamped : low, ir::no_value, overflow);
}

}  // namespace eum::eu
