// Counts of bits, bit fields and averages. AVX2 has no counting instructions: leading and trailing zeros come
// from the exponent of a conversion to f32 that rounding cannot change, one bits from a table of nibbles.
#include <bit>

#include "jit/avx2/emit/formula.hpp"

namespace eum::jit::avx2::emit {

namespace I = x86::Inst;
using ir::Type;

namespace {

constexpr unsigned exponent_shift = 23, exponent_bias = 127;

/// Sixteen bytes in both halves: a table for vpshufb.
x86::Mem nibble_table(Compiler& c, std::uint8_t (*entry)(unsigned)) {
  ConstantPool::Entry table;
  for (unsigned i = 0; i < table.size(); ++i) table[i] = entry(i % 16);
  return c.constant(table);
}

/// Leading zeros of 32-bit lanes; 32 for 0.
void leading_zeros(Compiler& c, x86::Ymm to, x86::Ymm x) {
  // The bit eight places below the highest one is cleared, so that no rounding reaches the next power of two.
  c.a.vpsrld(to, x, 8);
  c.a.vpandn(to, to, x);
  c.a.vcvtdq2ps(to, to);
  c.a.vpsrld(to, to, exponent_shift);
  // Where bit 31 is set, the sign makes this more than any exponent, and the difference saturates at 0.
  const x86::Ymm highest = c.v.scratch();
  c.a.vmovdqu(highest, c.splat(exponent_bias + 31, 4));
  c.a.vpsubusw(to, highest, to);
  c.a.vpminsw(to, to, c.splat(32, 4));
}

/// `to` |= all ones where the lane of `x` is 0.
void or_if_zero(Compiler& c, x86::Ymm to, x86::Ymm x) {
  const x86::Ymm zero = c.v.scratch();
  c.a.vpxor(zero, zero, zero);
  c.a.vpcmpeqd(zero, zero, x);
  c.a.vpor(to, to, zero);
}

/// lzcnt and tzcnt set the carry for 0.
void scan_scalar(Compiler& c, const CodeInst& inst, std::uint32_t id, bool all_ones_for_zero) {
  x86::Gp from = c.g.use(inst.args[0]).r32();
  if (inst.op == ir::Op::fbh && inst.type == Type::s32) {
    const x86::Gp folded = c.g.scratch().r32(), sign = c.g.scratch().r32();
    c.a.mov(sign, from);
    c.a.sar(sign, 31);
    c.a.mov(folded, from);
    c.a.xor_(folded, sign);
    from = folded;
  }
  const x86::Gp ones = c.g.scratch().r32(), to = c.g.define(inst.result).r32();
  if (all_ones_for_zero) c.a.mov(ones, -1);
  c.a.emit(id, to, from);
  if (all_ones_for_zero) c.a.cmovc(to, ones);
}

void count_ones(Compiler& c, x86::Ymm to, x86::Ymm x, unsigned bytes) {
  const x86::Ymm table = c.v.scratch(), low = c.v.scratch();
  c.a.vmovdqu(table, nibble_table(c, [](unsigned i) { return static_cast<std::uint8_t>(std::popcount(i)); }));
  c.a.vpand(low, x, c.splat(0x0f, 1));
  c.a.vpsrlw(to, x, 4);
  c.a.vpand(to, to, c.splat(0x0f, 1));
  c.a.vpshufb(low, table, low);
  c.a.vpshufb(to, table, to);
  c.a.vpaddb(to, to, low);
  if (bytes == 8) {
    c.a.vpxor(low, low, low);
    return (void)c.a.vpsadbw(to, to, low);
  }
  if (bytes >= 2) c.a.vpmaddubsw(to, to, c.splat(1, 1));
  if (bytes >= 4) c.a.vpmaddwd(to, to, c.splat(1, 2));
}

void reverse_bits(Compiler& c, x86::Ymm to, x86::Ymm x) {
  const x86::Ymm table = c.v.scratch(), low = c.v.scratch();
  const auto reversed = [](unsigned i) { return (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | (i & 8) >> 3; };
  static constexpr auto in_low = +reversed;
  c.a.vpand(low, x, c.splat(0x0f, 1));
  c.a.vmovdqu(table, nibble_table(c, [](unsigned i) { return static_cast<std::uint8_t>(in_low(i) << 4); }));
  c.a.vpshufb(low, table, low);
  c.a.vpsrld(to, x, 4);
  c.a.vpand(to, to, c.splat(0x0f, 1));
  c.a.vmovdqu(table, nibble_table(c, [](unsigned i) { return static_cast<std::uint8_t>(in_low(i)); }));
  c.a.vpshufb(to, table, to);
  c.a.vpor(to, to, low);
  c.a.vpshufb(to, to, nibble_table(c, [](unsigned i) { return static_cast<std::uint8_t>(i ^ 3); }));
}

}  // namespace

void emit_lzd(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return scan_scalar(c, inst, I::kIdLzcnt, false);
  by_chunks<1>(c, inst, [&](x86::Ymm to, x86::Ymm x) { leading_zeros(c, to, x); });
}

void emit_fbh(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return scan_scalar(c, inst, I::kIdLzcnt, true);
  by_chunks<1>(c, inst, [&](x86::Ymm to, x86::Ymm x) {
    if (inst.type == Type::s32) {
      const x86::Ymm folded = c.v.scratch();
      c.a.vpsrad(folded, x, 31);
      c.a.vpxor(folded, folded, x);
      x = folded;
    }
    leading_zeros(c, to, x);
    or_if_zero(c, to, x);
  });
}

void emit_fbl(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return scan_scalar(c, inst, I::kIdTzcnt, true);
  by_chunks<1>(c, inst, [&](x86::Ymm to, x86::Ymm x) {
    // The lowest one bit alone is a power of two; the sign of -2^31 is shifted out.
    c.a.vpxor(to, to, to);
    c.a.vpsubd(to, to, x);
    c.a.vpand(to, to, x);
    c.a.vcvtdq2ps(to, to);
    c.a.vpslld(to, to, 1);
    c.a.vpsrld(to, to, exponent_shift + 1);
    c.a.vpsubd(to, to, c.splat(exponent_bias, 4));
    or_if_zero(c, to, x);
  });
}

void emit_cbit(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type);
  if (c.regs.is_scalar(inst.result)) {
    x86::Gp from = sized(c.g.use(inst.args[0]), inst.type), to = sized(c.g.define(inst.result), inst.type);
    if (bytes < 4) {
      c.a.movzx(to.r32(), low_part(from, bytes));
      from = to;
    }
    return (void)c.a.popcnt(to, from);
  }
  by_chunks<1>(c, inst, [&](x86::Ymm to, x86::Ymm x) { count_ones(c, to, x, bytes); });
}

void emit_bfrev(Compiler& c, const CodeInst& inst) {
  by_chunks<1>(c, inst, [&](x86::Ymm to, x86::Ymm x) { reverse_bits(c, to, x); });
}

void emit_avg(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type);
  if (inst.type == Type::s64) return c.call_lane_function(inst);
  by_chunks<2>(c, inst, [&](x86::Ymm to, x86::Ymm a, x86::Ymm b) {
    if (bytes <= 2) {
      const std::uint32_t id = bytes == 1 ? I::kIdVpavgb : I::kIdVpavgw;
      if (!ir::is_signed(inst.type)) return (void)c.a.emit(id, to, a, b);
      const x86::Mem sign = c.splat(1u << (8 * bytes - 1), bytes);
      const x86::Ymm flipped = c.v.scratch();
      c.a.vpxor(to, a, sign);
      c.a.vpxor(flipped, b, sign);
      c.a.emit(id, to, to, flipped);
      return (void)c.a.vpxor(to, to, sign);
    }
    // (a | b) - ((a ^ b) >> 1)
    const x86::Ymm half = c.v.scratch();
    c.a.vpxor(half, a, b);
    c.a.emit(bytes == 8                 ? I::kIdVpsrlq
             : ir::is_signed(inst.type) ? I::kIdVpsrad
                                        : I::kIdVpsrld,
             half, half, asmjit::Imm(1));
    c.a.vpor(to, a, b);
    c.a.emit(bytes == 8 ? I::kIdVpsubq : I::kIdVpsubd, to, to, half);
  });
}

void emit_bfi1(Compiler& c, const CodeInst& inst) {
  by_chunks<2>(c, inst, [&](x86::Ymm to, x86::Ymm a, x86::Ymm b) {
    const x86::Ymm first = c.v.scratch(), ones = c.v.scratch();
    c.a.vpcmpeqd(ones, ones, ones);
    c.a.vpand(first, a, c.splat(31, 4));
    c.a.vpsllvd(to, ones, first);
    c.a.vpandn(to, to, ones);
    c.a.vpand(first, b, c.splat(31, 4));
    c.a.vpsllvd(to, to, first);
  });
}

bool blends_words(Compiler& c, const CodeInst& inst) {
  const std::uint64_t* mask = c.regs.constant(inst.args[0]);
  if (mask == nullptr || c.regs.is_scalar(inst.result)) return false;
  const unsigned words = ir::size_of(inst.type) / 2;
  unsigned field = 0;  // bit k: word k of an element
  for (unsigned k = 0; k < words; ++k) {
    const std::uint64_t word = *mask >> (16 * k) & 0xffff;
    if (word != 0 && word != 0xffff) return false;
    field |= static_cast<unsigned>(word != 0) << k;
  }
  if (words == 0) return false;
  unsigned blend = 0;  // of 16 bytes
  for (unsigned k = 0; k < 8; k += words) blend |= field << k;
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const asmjit::Operand kept = c.v.operand(inst.args[2], chunk);
    if (kept.isReg()) {
      const asmjit::Operand given = c.v.operand(inst.args[1], chunk);
      c.a.emit(I::kIdVpblendw, c.v.define_over(inst, chunk), kept, given, asmjit::Imm(blend));
    } else {
      const x86::Ymm given = c.v.use(inst.args[1], chunk);
      c.a.emit(I::kIdVpblendw, c.v.define_over(inst, chunk), given, kept, asmjit::Imm(blend ^ 0xff));
    }
    c.regs.unpin();
  }
  return true;
}

void emit_bfi2(Compiler& c, const CodeInst& inst) {
  if (blends_words(c, inst)) return;
  by_chunks<3>(c, inst, [&](x86::Ymm to, x86::Ymm mask, x86::Ymm a, x86::Ymm b) {
    c.a.vpxor(to, a, b);
    c.a.vpand(to, to, mask);
    c.a.vpxor(to, to, b);
  });
}

void emit_bfe(Compiler& c, const CodeInst& inst) {
  by_chunks<3>(c, inst, [&](x86::Ymm to, x86::Ymm a, x86::Ymm b, x86::Ymm field) {
    // Shifted left until only the field's upper bits are gone, then right: by 32 - bits, or by the first bit
    // where the field reaches bit 31. Shifts by 32 are exact.
    const x86::Ymm first = c.v.scratch(), right = c.v.scratch(), bits = c.v.scratch();
    c.a.vpand(bits, a, c.splat(31, 4));
    c.a.vpand(first, b, c.splat(31, 4));
    c.a.vmovdqu(right, c.splat(32, 4));
    c.a.vpsubd(right, right, bits);
    c.a.vpmaxsd(right, right, first);
    c.a.vpsubd(first, right, first);
    c.a.vpsllvd(to, field, first);
    if (inst.type == Type::u32) return (void)c.a.vpsrlvd(to, to, right);
    c.a.vpsravd(to, to, right);
    c.a.vpxor(first, first, first);
    c.a.vpcmpeqd(bits, bits, first);
    c.a.vpandn(to, bits, to);
  });
}

}  // namespace eum::jit::avx2::emit
