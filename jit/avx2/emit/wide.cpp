// Ops with two results of 32 bits: a 64-bit product, a sum or difference with its carry; and two halves that
// become 64 bits.
#include "jit/avx2/emit/formula.hpp"

namespace eum::jit::avx2::emit {

namespace I = x86::Inst;
using ir::Type;

namespace {

/// The high halves of 32-bit products into `high`, from two chunks of 64-bit products of even and odd lanes.
void mul_wide_chunk(Compiler& c, const CodeInst& inst, unsigned chunk, bool low, bool high) {
  x86::Ymm a = c.v.use(inst.args[0], chunk), b = c.v.use(inst.args[1], chunk);
  if (high) {
    std::uint32_t id = inst.type == Type::s32 ? I::kIdVpmuldq : I::kIdVpmuludq;
    x86::Ymm even = c.v.scratch(), odd = c.v.scratch();
    c.a.vmovshdup(even, a);
    c.a.vmovshdup(odd, b);
    c.a.emit(id, odd, even, odd);
    c.a.emit(id, even, a, b);
    x86::Ymm to = c.v.define(inst.result + 1, chunk);
    c.a.vmovshdup(to, even);
    c.a.vpblendd(to, to, odd, 0xaa);
    if (low) {
      x86::Ymm to_low = c.v.define(inst.result, chunk);
      c.a.vmovsldup(to_low, odd);
      c.a.vpblendd(to_low, even, to_low, 0xaa);
    }
  } else if (low) {
    c.a.vpmulld(c.v.define(inst.result, chunk), a, b);
  }
  c.regs.unpin();
}

/// The low and the high dwords of the 64-bit sums, which are computed for even and for odd lanes.
void mach_chunk(Compiler& c, Type type, x86::Ymm to_low, x86::Ymm to_high, std::array<x86::Ymm, 4> args) {
  const auto [a, b, low, high] = args;
  const std::uint32_t multiply = type == Type::s32 ? I::kIdVpmuldq : I::kIdVpmuludq;
  const x86::Ymm even = c.v.scratch(), odd = c.v.scratch();
  // The upper half of b, its sign for s, in the low dword of each 64-bit lane.
  c.a.vpsrlq(to_low, a, 32);
  c.a.emit(type == Type::s32 ? I::kIdVpsrad : I::kIdVpsrld, even, b, asmjit::Imm(16));
  c.a.vpsrlq(odd, even, 32);
  c.a.emit(multiply, odd, to_low, odd);
  c.a.emit(multiply, even, a, even);
  c.a.vpsllq(odd, odd, 16);
  c.a.vpsllq(even, even, 16);
  c.a.vpsrlq(to_low, low, 32);
  c.a.vpblendd(to_low, to_low, high, 0xaa);
  c.a.vpaddq(odd, odd, to_low);
  c.a.vpsllq(to_high, high, 32);
  c.a.vpblendd(to_high, low, to_high, 0xaa);
  c.a.vpaddq(even, even, to_high);
  c.a.vpsllq(to_low, odd, 32);
  c.a.vpblendd(to_low, even, to_low, 0xaa);
  c.a.vpsrlq(to_high, even, 32);
  c.a.vpblendd(to_high, to_high, odd, 0xaa);
}

/// to = a < b ? 1 : 0, of u32; `to` is neither.
void one_if_less(Compiler& c, x86::Ymm to, x86::Ymm a, x86::Ymm b) {
  const x86::Mem one = c.splat(1, 4);
  if (c.host.has_mask_registers() || needs_evex(to) || needs_evex(a) || needs_evex(b)) {
    constexpr unsigned less = 1;
    c.a.vpcmpud(scratch_mask, a, b, less);
    c.a.k(scratch_mask).z().vmovdqu32(to, one);
    return;
  }
  c.a.vpminud(to, a, b);
  c.a.vpcmpeqd(to, to, b);  // all ones: b <= a
  c.a.vpaddd(to, to, one);
}

/// result = a, then `id` result, b; its carry is the second result.
void carry_scalar(Compiler& c, const CodeInst& inst, std::uint32_t id) {
  x86::Gp a = c.g.use(inst.args[0]).r32(), b = c.g.use(inst.args[1]).r32();
  x86::Gp to = c.g.define(inst.result).r32(), carry = c.g.define(inst.result + 1).r32();
  c.a.xor_(carry, carry);
  c.a.mov(to, a);
  c.a.emit(id, to, b);
  c.a.setc(carry.r8());
}

}  // namespace

void emit_mul_wide(Compiler& c, const CodeInst& inst) {
  const bool low = c.regs.used(inst.result), high = c.regs.used(inst.result + 1);
  if (c.regs.is_scalar(inst.result)) {
    x86::Gp a = c.g.use(inst.args[0]), b = c.g.use(inst.args[1]);
    x86::Gp lo = c.g.define(inst.result), hi = c.g.define(inst.result + 1);
    if (inst.type == Type::s32) {
      c.a.movsxd(lo, a.r32());
      c.a.movsxd(hi, b.r32());
    } else {
      c.a.mov(lo.r32(), a.r32());
      c.a.mov(hi.r32(), b.r32());
    }
    c.a.imul(lo, hi);
    c.a.mov(hi, lo);
    c.a.shr(hi, 32);
    c.a.mov(lo.r32(), lo.r32());
    return;
  }
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk)
    mul_wide_chunk(c, inst, chunk, low, high);
}

void emit_join(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) {
    const x86::Gp low = c.g.use(inst.args[0]), high = c.g.use(inst.args[1]), bits = c.g.scratch();
    const x86::Gp to = c.g.define(inst.result);
    c.a.mov(bits.r32(), low.r32());
    c.a.mov(to.r32(), high.r32());
    c.a.shl(to, 32);
    return (void)c.a.or_(to, bits);
  }
  const unsigned results = c.v.chunks(inst.result);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.args[0]); ++chunk) {
    const x86::Ymm low = c.v.use(inst.args[0], chunk), high = c.v.use(inst.args[1], chunk);
    const bool both = 2 * chunk + 1 < results;
    const x86::Ymm outer = c.v.scratch(), first = c.v.define(inst.result, 2 * chunk);
    c.a.vpunpckhdq(outer, low, high);  // lanes 2, 3, 6, 7
    if (!both) {
      c.a.vpunpckldq(first, low, high);
      c.a.vinserti128(first, first, outer.xmm(), 1);
    } else {
      const x86::Ymm second = c.v.define(inst.result, 2 * chunk + 1);
      c.a.vpunpckldq(second, low, high);
      c.a.vinserti128(first, second, outer.xmm(), 1);
      c.a.vperm2f128(second, second, outer, 0x31);
    }
    c.regs.unpin();
  }
}

void emit_mach(Compiler& c, const CodeInst& inst) {
  const bool scalar = c.regs.is_scalar(inst.result);
  for (unsigned chunk = 0; chunk < (scalar ? 1 : c.v.chunks(inst.result)); ++chunk) {
    std::array<x86::Ymm, 4> args;
    for (std::size_t k = 0; k < args.size(); ++k)
      args[k] = scalar ? to_vector(c, inst.args[k]) : c.v.use(inst.args[k], chunk);
    const auto result = [&](unsigned k) {
      return scalar ? c.v.scratch() : c.v.define(inst.result + k, chunk);
    };
    const x86::Ymm low = result(0), high = result(1);
    mach_chunk(c, inst.type, low, high, args);
    if (scalar) define_from_vector(c, inst.result, low);
    if (scalar) define_from_vector(c, inst.result + 1, high);
    c.regs.unpin();
  }
}

void emit_addc(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return carry_scalar(c, inst, I::kIdAdd);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    x86::Ymm a = c.v.use(inst.args[0], chunk);
    asmjit::Operand b = c.v.operand(inst.args[1], chunk);
    x86::Ymm sum = c.v.define(inst.result, chunk), carry = c.v.define(inst.result + 1, chunk);
    c.a.emit(I::kIdVpaddd, sum, a, b);
    one_if_less(c, carry, sum, a);  // where it has wrapped
    c.regs.unpin();
  }
}

void emit_subb(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return carry_scalar(c, inst, I::kIdSub);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    x86::Ymm a = c.v.use(inst.args[0], chunk), b = c.v.use(inst.args[1], chunk);
    x86::Ymm difference = c.v.define(inst.result, chunk), borrow = c.v.define(inst.result + 1, chunk);
    one_if_less(c, borrow, a, b);
    c.a.vpsubd(difference, a, b);
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx2::emit
