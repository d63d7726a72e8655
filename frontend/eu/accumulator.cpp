// The accumulator: the planes that hold its channels, and the instructions defined by it: wide
// multiplication, carry and borrow, multiply-accumulate, sums of absolute differences.
#include <array>
#include <optional>

#include "frontend/eu/handlers.hpp"
#include "frontend/eu/integer.hpp"
#include "frontend/eu/target.hpp"

namespace eum::eu {
namespace {

using enum ir::Type;

constexpr unsigned word = 2, dword = 4;

/// Reads the low plane of the accumulator lanes that belong to the instruction's channels.
ir::ValueId read_accumulator(Lowering& l, ir::Type type) {
  return l.b().reg_read(type, l.lanes(), ir::Region::packed(l.implicit_acc_offset(type)), l.lane_mask());
}
ir::ValueId read_accumulator_high(Lowering& l, ir::Type type) {
  const ir::Region low = ir::Region::packed(l.implicit_acc_offset(type));
  return l.b().reg_read(type, l.lanes(), l.high_plane(low, dword), l.lane_mask());
}

/// Type of a 32-bit by 32-bit multiplication, or nothing if one dword is signed and the other unsigned.
std::optional<ir::Type> product_type(const Instruction& inst) {
  ir::Type type = ordered_type(inst);
  if (ir::size_of(type) > dword) return std::nullopt;
  return ir::int_type(dword, ir::is_signed(type));
}

/// Index of the signed factor if one is signed, the other unsigned and both are read without modifier.
std::optional<unsigned> signed_factor(const Instruction& inst) {
  for (unsigned k = 0; k < 2; ++k) {
    const Operand& source = inst.src[k];
    if (!ir::is_int(source.type) || ir::size_of(source.type) > dword ||
        source.modifier != SourceModifier::None)
      return std::nullopt;
  }
  if (ir::is_signed(inst.src[0].type) == ir::is_signed(inst.src[1].type)) return std::nullopt;
  return ir::is_signed(inst.src[0].type) ? 0 : 1;
}

/// Corrects an unsigned product of dwords for the factor `negative`, if that is below 0: it was taken for
/// 2^32 more, so the upper half is too large by `other`.
ir::Builder::Pair with_sign(Lowering& l, const ir::Builder::Pair& product, ir::ValueId negative,
                            ir::ValueId other) {
  ir::Builder& b = l.b();
  const ir::ValueId sign =
      b.lanewise(ir::Op::asr, {b.convert(ir::Op::bitcast, s32, negative), b.constant(s32, l.lanes(), 31)});
  const ir::ValueId more = b.lanewise(ir::Op::and_, {b.convert(ir::Op::bitcast, u32, sign), other});
  const auto as_signed = [&](ir::ValueId half) { return b.convert(ir::Op::bitcast, s32, half); };
  return {as_signed(product.first), as_signed(b.lanewise(ir::Op::sub, {product.second, more}))};
}

/// Low and high half of 64-bit integers.
ir::Builder::Pair split(Lowering& l, ir::ValueId whole) {
  ir::Builder& b = l.b();
  ir::ValueId low = b.convert(ir::Op::convert, s32, whole);
  ir::ValueId upper = b.lanewise(ir::Op::asr, {whole, b.constant(s64, l.lanes(), 32)});
  return {low, b.convert(ir::Op::convert, s32, upper)};
}

/// Type of the accumulator channels for the destination's type: bytes are computed in words.
ir::Type accumulator_type(const Instruction& inst) {
  const ir::Type type = inst.dst.type;
  return ir::size_of(type) == 1 ? ir::int_type(word, ir::is_signed(type)) : type;
}

/// Puts the halves of a 64-bit integer into the accumulator's channels.
void write_halves(Lowering& l, unsigned offset, unsigned stride, const ir::Builder::Pair& halves,
                  ir::ValueId mask) {
  const ir::Region low = ir::Region::strided(offset, stride);
  l.b().reg_write(low, halves.first, mask);
  l.b().reg_write(l.high_plane(low, dword), halves.second, mask);
}

/// Writes the 64-bit product of dwords to the destination and the accumulator.
void write_wide_product(Lowering& l, const ir::Builder::Pair& product) {
  const Instruction& in = l.inst();
  const ir::ValueId mask = l.write_mask();
  if (in.dst.is_accumulator()) {
    write_halves(l, in.dst.offset, l.lanes() == 1 ? 1 : in.dst.region.hstride, product, mask);
  } else {
    l.write(in.dst, product.first, mask);
    write_halves(l, l.implicit_acc_offset(s32), 1, product, mask);
  }
}

}  // namespace

unsigned Lowering::implicit_acc_offset(ir::Type type) const {
  unsigned base = target_.offset(StateRegister::Accumulator);
  // acc1 takes the odd quarters of floats; integers only have acc0 (manual, accumulator registers).
  unsigned per_register = target_.grf_bytes / ir::size_of(type);
  bool split = ir::is_float(type) && ir::size_of(type) <= dword && lanes() <= per_register;
  return base + (split ? inst_->channel_offset / per_register % 2 * target_.grf_bytes : 0);
}

ir::Region Lowering::high_plane(const ir::Region& low, unsigned bytes) const {
  ir::Region high = low;
  high.offset = target_.offset(StateRegister::AccumulatorHigh) +
                (low.offset - target_.offset(StateRegister::Accumulator)) / bytes * dword;
  return high;
}

ir::ValueId Lowering::read_content(const ir::Region& low, unsigned bytes, ir::Type type, ir::ValueId mask) {
  const ir::Type raw = ir::int_type(bytes, false);
  const ir::ValueId lower =
      builder_.convert(ir::Op::convert, type, builder_.reg_read(raw, lanes(), low, mask));
  const ir::ValueId high = builder_.reg_read(s32, lanes(), high_plane(low, bytes), mask);
  const ir::ValueId upper = builder_.lanewise(ir::Op::shl, {builder_.convert(ir::Op::convert, type, high),
                                                            builder_.constant(type, lanes(), 8 * bytes)});
  return builder_.lanewise(ir::Op::or_, {lower, upper});
}

void Lowering::write_accumulator(unsigned offset, unsigned stride, ir::Type element, ir::ValueId value,
                                 ir::ValueId mask) {
  const ir::Region low = ir::Region::strided(offset, stride);
  const ir::Type type = builder_.type_of(value);
  const unsigned bytes = ir::size_of(element);
  if (!inst_->dst.is_accumulator()) mask = accumulator_mask(mask, builder_.lanes_of(value));
  if (!ir::is_int(element) || !ir::is_int(type) || bytes == 8) return builder_.reg_write(low, value, mask);
  const auto shifted = [&](ir::Op op, ir::ValueId of, unsigned count) {
    return builder_.lanewise(op, {of, builder_.constant(builder_.type_of(of), lanes(), count)});
  };
  builder_.reg_write(low, builder_.convert(ir::Op::convert, ir::int_type(bytes, false), value), mask);
  ir::ValueId high;
  if (ir::size_of(type) == 8) {
    // A word channel has 33 bits.
    const ir::ValueId wide = builder_.convert(ir::Op::convert, s64, value);
    high =
        shifted(ir::Op::asr, bytes == word ? shifted(ir::Op::shl, wide, 31) : wide, bytes == word ? 47 : 32);
  } else {
    const ir::Type wide = ir::is_signed(type) ? s32 : u32;
    const ir::Op shift = ir::is_signed(type) ? ir::Op::asr : ir::Op::shr;
    high = builder_.convert(ir::Op::convert, wide, value);
    if (bytes == word)
      high = shifted(shift, high, 16);
    else
      high = ir::is_signed(type) ? shifted(shift, high, 31) : builder_.constant(u32, lanes(), 0);
  }
  builder_.reg_write(high_plane(low, bytes), builder_.convert(ir::Op::convert, s32, high), mask);
}

ir::ValueId Lowering::accumulator_content(ir::ValueId exact) {
  if (ir::size_of(builder_.type_of(exact)) < 8) return exact;
  const ir::ValueId whole = builder_.convert(ir::Op::convert, s64, exact);
  if (ir::size_of(inst_->dst.type) != word) return whole;
  const ir::ValueId rest = builder_.constant(s64, lanes(), 31);  // of 33 bits
  return builder_.lanewise(ir::Op::asr, {builder_.lanewise(ir::Op::shl, {whole, rest}), rest});
}

void Lowering::update_accumulator(ir::ValueId value) {
  const ir::Type type = accumulator_type(*inst_);
  write_accumulator(implicit_acc_offset(type), 1, type, value, write_mask());
}

bool writes_wide_product(const Instruction& inst) {
  bool dwords = !ir::is_float(inst.dst.type) && ir::size_of(inst.dst.type) == dword;
  const bool plain = !looks_at_range(inst) && inst.condition == Condition::None;
  return dwords && plain && !has_quadwords(inst) && ir::is_int(modular_type(inst)) &&
         (inst.writes_accumulator || inst.dst.is_accumulator());
}

void lower_wide_mul(Lowering& l) {
  const Instruction& in = l.inst();
  ir::Builder& b = l.b();
  ir::Builder::Pair product;
  if (std::optional<ir::Type> type = product_type(in)) {
    ir::ValueId a = l.source(0, *type);
    product = b.wide(ir::Op::mul_wide, {a, l.source(1, *type)});
  } else if (const std::optional<unsigned> negative = signed_factor(in)) {
    const std::array factors{l.source(0, u32), l.source(1, u32)};
    product = with_sign(l, b.wide(ir::Op::mul_wide, {factors[0], factors[1]}), factors[*negative],
                        factors[1 - *negative]);
  } else {
    ir::ValueId a = l.source(0, s64);
    product = split(l, b.lanewise(ir::Op::mul, {a, l.source(1, s64)}));
  }
  write_wide_product(l, product);
}

void finish_wide_mul(Lowering& l, ir::ValueId product) { write_wide_product(l, split(l, product)); }

namespace {

/// acc + ((src0 * src1[31:16]) << 16), low and high half.
ir::Builder::Pair multiply_add_high_word(Lowering& l, ir::Op op) {
  ir::Builder& b = l.b();
  const Instruction& in = l.inst();
  if (std::optional<ir::Type> type = product_type(in)) {
    ir::ValueId a = l.source(0, *type), c = l.source(1, *type);
    ir::ValueId low = read_accumulator(l, *type), high = read_accumulator_high(l, *type);
    return b.wide(op, {a, c, low, high});
  }
  if (const std::optional<unsigned> negative = signed_factor(in)) {
    const ir::ValueId a = l.source(0, u32), c = l.source(1, u32);
    const ir::ValueId low = read_accumulator(l, u32), high = read_accumulator_high(l, u32);
    const ir::Builder::Pair sum = b.wide(op, {a, c, low, high});
    if (*negative == 1) return with_sign(l, sum, c, a);
    return with_sign(l, sum, a, b.lanewise(ir::Op::and_, {c, b.constant(u32, l.lanes(), 0xffff0000)}));
  }
  auto wide = [&](std::uint64_t value) { return b.constant(s64, l.lanes(), value); };
  ir::ValueId a = l.source(0, s64), c = l.source(1, s64);
  ir::ValueId low = b.convert(ir::Op::convert, s64, read_accumulator(l, u32));
  ir::ValueId high = b.convert(ir::Op::convert, s64, read_accumulator_high(l, s32));
  ir::ValueId acc = b.lanewise(ir::Op::or_, {low, b.lanewise(ir::Op::shl, {high, wide(32)})});
  ir::ValueId product = b.lanewise(ir::Op::mul, {a, b.lanewise(ir::Op::asr, {c, wide(16)})});
  return split(l, b.lanewise(ir::Op::add, {acc, b.lanewise(ir::Op::shl, {product, wide(16)})}));
}

bool of_dwords_at_most(Lowering& l) {
  const Instruction& in = l.inst();
  if (!has_quadwords(in) && !ir::is_float(in.dst.type)) return true;
  l.unsupported("product of other than dwords");
  return false;
}

}  // namespace

// acc = ((src0 * src1[31:16]) << 16) + acc; dst = acc[63:32].
void lower_mach(Lowering& l, ir::Op op) {
  if (!of_dwords_at_most(l)) return;
  const Instruction& in = l.inst();
  const ir::Builder::Pair sum = multiply_add_high_word(l, op);
  // As the destination, the accumulator receives what any destination would.
  Instruction plain = in;
  const bool updates = in.writes_accumulator && !in.dst.is_accumulator();
  plain.writes_accumulator = false;
  l.as(plain, [&] { l.finish(sum.second); });
  if (updates) write_halves(l, l.implicit_acc_offset(s32), 1, sum, l.write_mask());
}

// dst = the low half of that sum: what mach without {AccWrEn} does from Gen11 on (IGC: macl).
void lower_macl(Lowering& l, ir::Op op) {
  if (!of_dwords_at_most(l)) return;
  const ir::Builder::Pair sum = multiply_add_high_word(l, op);
  l.finish(sum.first);
}

// The destination takes the low half of the sum or difference, the accumulator the carry or borrow.
void lower_carry(Lowering& l, ir::Op op) {
  const Instruction& in = l.inst();
  ir::Builder& b = l.b();
  ir::ValueId a = l.source(0, u32);
  ir::Builder::Pair sum = b.wide(op, {a, l.source(1, u32)});
  const ir::ValueId zero = b.constant(u32, l.lanes(), 0);
  ir::ValueId value = sum.first, carried = ir::no_value;
  if (looks_at_range(in)) {
    carried = b.compare(ir::Op::cmp_ne, sum.second, zero);
    const ir::ValueId bound = op == ir::Op::addc ? b.constant(u32, l.lanes(), 0xffffffff) : zero;
    if (in.saturate) value = b.select(carried, bound, value);
  }
  Instruction plain = in;
  const bool updates = in.writes_accumulator && !in.dst.is_accumulator();
  plain.writes_accumulator = false;
  l.as(plain, [&] { l.finish(value, ir::no_value, carried); });
  if (updates) write_halves(l, l.implicit_acc_offset(u32), 1, {sum.second, zero}, l.write_mask());
}

// dst = src0 * src1 + acc.
void lower_mac(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  const ir::Type floats = modular_type(in);
  if (ir::is_float(floats)) {
    ir::ValueId a = l.source(0, floats), c = l.source(1, floats);
    return l.finish(l.b().lanewise(ir::Op::fma, {a, c, read_accumulator(l, floats)}));
  }
  if (has_quadwords(in) || ir::size_of(in.dst.type) == 8)
    return l.unsupported("quadwords in the accumulator, which it does not hold");
  if (ir::is_float(in.dst.type)) return l.unsupported("float sum of products of integers in the accumulator");
  const ir::Type channel = accumulator_type(in);
  const ir::Region low = ir::Region::packed(l.implicit_acc_offset(channel));
  const ir::ValueId a = l.source(0, s64), c = l.source(1, s64);
  const ir::ValueId acc = l.read_content(low, ir::size_of(channel), s64, l.lane_mask());
  const ir::ValueId sum = l.b().lanewise(ir::Op::mad, {a, c, acc});
  l.finish(sum, keeps_exact_result(in) ? sum : ir::no_value);
}

// The first channel of each pair receives |a0 - b0| + |a1 - b1|; sada2 adds the accumulator.
void lower_absolute_differences(Lowering& l, ir::Op op) {
  const Instruction& in = l.inst();
  ir::Builder& b = l.b();
  if (l.lanes() < 2) return l.unsupported("pairs of a single channel");
  for (unsigned i = 0; i < in.source_count; ++i)
    if (!ir::is_int(in.src[i].type) || ir::size_of(in.src[i].type) > word)
      return l.unsupported("differences of other than bytes or words");
  // An inactive channel contributes too if the first of its pair is active.
  const ir::ValueId a = l.read_all(0, s32), c = l.read_all(1, s32);
  const ir::ValueId each = b.lanewise(ir::Op::abs, {b.lanewise(ir::Op::sub, {a, c})});
  const ir::ValueId next =
      b.concat(b.slice(each, 1, l.lanes() - 1), b.slice(each, 0, 1));  // of the next channel
  ir::ValueId sum = b.lanewise(ir::Op::add, {each, next});
  if (op == ir::Op::add) {
    const ir::Type channel = accumulator_type(in);
    const ir::Region low = ir::Region::packed(l.implicit_acc_offset(channel));
    const ir::ValueId acc = l.read_content(low, ir::size_of(channel), s64, l.lane_mask());
    sum = b.lanewise(ir::Op::add, {b.convert(ir::Op::convert, s64, sum), acc});
  }
  const ir::ValueId first_of_pair = b.constant(m, l.lanes(), 0x55555555);
  l.only(first_of_pair, [&] { l.finish(sum, keeps_exact_result(in) ? sum : ir::no_value); });
}

}  // namespace eum::eu
