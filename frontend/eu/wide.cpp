// Integer arithmetic with results beyond 32 bits, and sums of products of bytes.
#include "frontend/eu/handlers.hpp"

namespace eum::eu {
namespace {

constexpr unsigned dword = 4;

/// Type of a product of two dwords, or nothing if one is signed and the other unsigned.
std::optional<ir::Type> product_type(const Instruction& inst) {
  const ir::Type type = ordered_type(inst);
  if (!ir::is_int(type) || ir::size_of(type) > dword) return std::nullopt;
  return ir::int_type(dword, ir::is_signed(type));
}

/// Low and high half of 64-bit integers, as unsigned dwords.
ir::Builder::Pair split(Lowering& l, ir::ValueId whole) {
  using enum ir::Type;
  ir::Builder& b = l.b();
  const ir::ValueId upper = b.lanewise(ir::Op::shr, {whole, b.constant(u64, l.lanes(), 32)});
  return {b.convert(ir::Op::convert, u32, whole), b.convert(ir::Op::convert, u32, upper)};
}

bool of_dwords(const Instruction& in) {
  for (unsigned i = 0; i < in.source_count; ++i)
    if (ir::is_float(in.src[i].type) || ir::size_of(in.src[i].type) > dword) return false;
  return !ir::is_float(in.dst.type);
}

}  // namespace

void lower_mul_high(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  ir::Builder& b = l.b();
  if (!of_dwords(in)) return l.unsupported("high half of a product of other than dwords");
  if (const std::optional<ir::Type> type = product_type(in)) {
    const ir::ValueId a = l.source(0, *type);
    return l.finish(b.wide(ir::Op::mul_wide, {a, l.source(1, *type)}).second);
  }
  const ir::ValueId a = l.source(0, ir::Type::s64);
  const ir::ValueId product = b.lanewise(ir::Op::mul, {a, l.source(1, ir::Type::s64)});
  l.finish(split(l, b.convert(ir::Op::bitcast, ir::Type::u64, product)).second);
}

void lower_mad_wide(Lowering& l, ir::Op) {
  using enum ir::Type;
  const Instruction& in = l.inst();
  ir::Builder& b = l.b();
  if (!of_dwords(in) || in.saturate) return l.unsupported("wide product of other than dwords");
  const bool is_signed = ir::is_signed(ordered_type(in));
  const ir::Type wide = is_signed ? s64 : u64;
  const ir::ValueId a = l.source(0, wide), c = l.source(1, wide);
  // The addend is unsigned, whatever its type: the finaliser adds it with addc.
  const ir::ValueId addend = b.convert(ir::Op::convert, wide, l.source(2, u32));
  ir::ValueId sum = b.lanewise(ir::Op::mad, {a, c, addend});
  if (is_signed) sum = b.convert(ir::Op::bitcast, u64, sum);
  const ir::Builder::Pair halves = split(l, sum);
  const ir::ValueId mask = l.write_mask();
  l.write(in.dst, halves.first, mask);
  l.write(in.dst2, halves.second, mask);
}

void lower_carry_out(Lowering& l, ir::Op op) {
  const Instruction& in = l.inst();
  if (!of_dwords(in) || in.saturate) return l.unsupported("carry of other than dwords");
  const ir::ValueId a = l.source(0, ir::Type::u32);
  const ir::Builder::Pair sum = l.b().wide(op, {a, l.source(1, ir::Type::u32)});
  const ir::ValueId mask = l.write_mask();
  l.write(in.dst, sum.first, mask);
  l.write(in.dst2, sum.second, mask);
}

// The types of src1 and src2 say whether their bytes are signed; the sum is of dwords.
void lower_dp4a(Lowering& l, ir::Op) {
  using enum ir::Type;
  const Instruction& in = l.inst();
  ir::Builder& b = l.b();
  if (!of_dwords(in) || in.saturate) return l.unsupported("dot product of other than dwords, or saturated");
  const auto byte = [&](ir::ValueId bits, unsigned index, bool is_signed) {
    const auto count = [&](unsigned n) { return b.constant(is_signed ? s32 : u32, l.lanes(), n); };
    if (is_signed) {
      const ir::ValueId top = b.lanewise(ir::Op::shl, {bits, count(24 - 8 * index)});
      return b.lanewise(ir::Op::asr, {top, count(24)});
    }
    const ir::ValueId low = b.lanewise(ir::Op::shr, {bits, count(8 * index)});
    return b.lanewise(ir::Op::and_, {low, count(0xff)});
  };
  std::array<bool, 2> is_signed{ir::is_signed(in.src[1].type), ir::is_signed(in.src[2].type)};
  std::array<ir::ValueId, 2> bits;
  for (unsigned i = 0; i < 2; ++i) bits[i] = l.source(1 + i, is_signed[i] ? s32 : u32);
  ir::ValueId sum = l.source(0, s32);
  for (unsigned k = 0; k < 4; ++k) {
    std::array<ir::ValueId, 2> factor;
    for (unsigned i = 0; i < 2; ++i) {
      factor[i] = byte(bits[i], k, is_signed[i]);
      if (!is_signed[i]) factor[i] = b.convert(ir::Op::bitcast, s32, factor[i]);
    }
    sum = b.lanewise(ir::Op::mad, {factor[0], factor[1], sum});
  }
  l.finish(sum);
}

}  // namespace eum::eu
