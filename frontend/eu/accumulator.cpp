// Instructions whose meaning is the accumulator: wide multiplication, carry and borrow, multiply-accumulate.
// 32-bit integer channels are 64 bits wide in two planes (arf_layout.hpp), so mul, mach, mov stay exact.
#include "frontend/eu/handlers.hpp"
#include "frontend/eu/target.hpp"

namespace eum::eu {
namespace {

constexpr unsigned dword = 4;

/// Reads the accumulator lanes that belong to the instruction's channels.
ir::ValueId read_accumulator(Lowering& l, ir::Type type, unsigned plane) {
  unsigned offset = l.implicit_acc_offset(type) + plane * l.accumulator_plane();
  return l.b().reg_read(type, l.lanes(), ir::Region::packed(offset), l.lane_mask());
}

/// Type of a 32-bit by 32-bit multiplication, or nothing if a signed meets an unsigned dword.
std::optional<ir::Type> product_type(const Instruction& inst) {
  ir::Type type = ordered_type(inst);
  if (ir::size_of(type) > dword) return std::nullopt;
  return ir::int_type(dword, ir::is_signed(type));
}

/// Low and high half of 64-bit integers.
ir::Builder::Pair split(Lowering& l, ir::ValueId whole) {
  using enum ir::Type;
  ir::Builder& b = l.b();
  ir::ValueId low = b.convert(ir::Op::convert, s32, whole);
  ir::ValueId upper = b.lanewise(ir::Op::asr, {whole, b.constant(s64, l.lanes(), 32)});
  return {low, b.convert(ir::Op::convert, s32, upper)};
}

}  // namespace

unsigned Lowering::implicit_acc_offset(ir::Type type) const {
  unsigned base = target_.offset(StateRegister::Accumulator);
  // acc1 takes the odd quarters of floats; integers only have acc0 (manual, accumulator registers).
  unsigned per_register = target_.grf_bytes / ir::size_of(type);
  bool split = ir::is_float(type) && ir::size_of(type) <= dword && lanes() <= per_register;
  return base + (split ? inst_->channel_offset / per_register % 2 * target_.grf_bytes : 0);
}

void Lowering::write_accumulator(unsigned offset, unsigned stride, ir::ValueId low, ir::ValueId high,
                                 ir::ValueId mask) {
  ir::Type type = builder_.type_of(low);
  builder_.reg_write(ir::Region::strided(offset, stride), low, mask);
  if (!ir::is_int(type) || ir::size_of(type) != dword) return;
  if (high == ir::no_value) {
    unsigned count = builder_.lanes_of(low);
    high = ir::is_signed(type) ? builder_.lanewise(ir::Op::asr, {low, builder_.constant(type, count, 31)})
                               : builder_.constant(type, count, 0);
  }
  builder_.reg_write(ir::Region::strided(offset + accumulator_plane(), stride), high, mask);
}

bool writes_wide_product(const Instruction& inst) {
  bool dwords = !ir::is_float(inst.dst.type) && ir::size_of(inst.dst.type) == dword;
  return dwords && (inst.writes_accumulator || inst.dst.is_accumulator());
}

void lower_wide_mul(Lowering& l) {
  const Instruction& in = l.inst();
  ir::Builder& b = l.b();
  if (in.saturate || in.condition != Condition::None)
    return l.unsupported("saturation or condition of a product in the accumulator");
  ir::Builder::Pair product;
  if (std::optional<ir::Type> type = product_type(in)) {
    ir::ValueId a = l.source(0, *type);
    product = b.wide(ir::Op::mul_wide, {a, l.source(1, *type)});
  } else {
    using enum ir::Type;
    ir::ValueId a = l.source(0, s64);
    product = split(l, b.lanewise(ir::Op::mul, {a, l.source(1, s64)}));
  }
  ir::ValueId mask = l.write_mask();
  if (in.dst.is_accumulator()) {
    unsigned stride = l.lanes() == 1 ? 1 : in.dst.region.hstride;
    l.write_accumulator(in.dst.offset, stride, product.first, product.second, mask);
  } else {
    l.write(in.dst, product.first, mask);
    l.write_accumulator(l.implicit_acc_offset(ir::Type::s32), 1, product.first, product.second, mask);
  }
}

// acc = ((src0 * src1[31:16]) << 16) + acc; dst = acc[63:32].
void lower_mach(Lowering& l, ir::Op op) {
  const Instruction& in = l.inst();
  if (in.saturate || in.dst.is_accumulator())
    return l.unsupported("saturating mach, or mach to the accumulator");
  ir::Builder& b = l.b();
  ir::Builder::Pair sum;
  if (std::optional<ir::Type> type = product_type(in)) {
    ir::ValueId a = l.source(0, *type), c = l.source(1, *type);
    ir::ValueId low = read_accumulator(l, *type, 0), high = read_accumulator(l, *type, 1);
    sum = b.wide(op, {a, c, low, high});
  } else {
    using enum ir::Type;
    auto wide = [&](std::uint64_t value) { return b.constant(s64, l.lanes(), value); };
    ir::ValueId a = l.source(0, s64), c = l.source(1, s64);
    ir::ValueId low = b.convert(ir::Op::convert, s64, read_accumulator(l, u32, 0));
    ir::ValueId high = b.convert(ir::Op::convert, s64, read_accumulator(l, s32, 1));
    ir::ValueId acc = b.lanewise(ir::Op::or_, {low, b.lanewise(ir::Op::shl, {high, wide(32)})});
    ir::ValueId product = b.lanewise(ir::Op::mul, {a, b.lanewise(ir::Op::asr, {c, wide(16)})});
    sum = split(l, b.lanewise(ir::Op::add, {acc, b.lanewise(ir::Op::shl, {product, wide(16)})}));
  }
  ir::ValueId mask = l.write_mask();
  l.write(in.dst, sum.second, mask);
  if (in.writes_accumulator)
    l.write_accumulator(l.implicit_acc_offset(ir::Type::s32), 1, sum.first, sum.second, mask);
}

// The destination takes the low half of the sum or difference, the accumulator the carry or borrow.
void lower_carry(Lowering& l, ir::Op op) {
  const Instruction& in = l.inst();
  if (in.saturate) return l.unsupported("saturation of addc or subb");
  ir::ValueId a = l.source(0, ir::Type::u32);
  ir::Builder::Pair sum = l.b().wide(op, {a, l.source(1, ir::Type::u32)});
  l.commit(sum.first, [&] {
    if (in.condition != Condition::None) l.write_flags(sum.first);
  });
  if (in.writes_accumulator) {
    ir::ValueId high = l.b().constant(ir::Type::u32, l.lanes(), 0);
    l.write_accumulator(l.implicit_acc_offset(ir::Type::u32), 1, sum.second, high, l.write_mask());
  }
}

// dst = src0 * src1 + acc.
void lower_mac(Lowering& l, ir::Op) {
  ir::Type type = modular_type(l.inst());
  if (!ir::is_float(type)) return l.unsupported("mac of integers");
  ir::ValueId a = l.source(0, type), c = l.source(1, type);
  l.finish(l.b().lanewise(ir::Op::fma, {a, c, read_accumulator(l, type, 0)}));
}

}  // namespace eum::eu
