// Integer quotients, by the division of f64. The quotient of two 32-bit integers that are not a multiple of
// one another is at least 2^-32 away from the next integer, and below 2^32 neighbouring f64 are closer than
// that: in every rounding mode the division, cut to an integer, is exact.
#include "jit/avx2/emit/formula.hpp"

namespace eum::jit::avx2::emit {

namespace I = x86::Inst;
using ir::Type;

namespace {

constexpr std::uint64_t two_to_52 = 0x4330000000000000;

/// What x/0 gives, where `sign` is a lane or register full of the sign of x: INT_MIN or INT_MAX.
constexpr std::uint32_t lowest_or_highest(Type type) { return (1u << (8 * ir::size_of(type) - 1)) - 1; }

/// Four lanes of u32 as f64: low halves of 2^52 + x.
void u32_to_f64(Compiler& c, x86::Ymm to, x86::Xmm from, x86::Mem magic) {
  c.a.vpmovzxdq(to, from);
  c.a.vpor(to, to, magic);
  c.a.vsubpd(to, to, magic);
}

/// 1/b made greater by 2^-49, of the divisor in lane 0, in every lane of f64.
x86::Ymm reciprocal(Compiler& c, Type type, x86::Ymm b) {
  const x86::Ymm divisor = c.v.scratch(), to = c.v.scratch();
  if (ir::is_signed(type)) {
    c.a.vcvtdq2pd(divisor.xmm(), b.xmm());
  } else {
    u32_to_f64(c, divisor, b.xmm(), c.splat(two_to_52, 8));
  }
  c.a.vmovsd(to.xmm(), c.splat(0x3ff0000000000008, 8));
  c.a.vdivsd(to.xmm(), to.xmm(), divisor.xmm());
  c.a.vbroadcastsd(to, to.xmm());
  return to;
}

/// `factor`: the reciprocal of the divisor of every lane, if that is one.
void unsigned_chunk(Compiler& c, x86::Ymm to, x86::Ymm a, x86::Ymm b, x86::Ymm factor) {
  const x86::Mem magic = c.splat(two_to_52, 8);
  const x86::Ymm high = c.v.scratch(), x = c.v.scratch(), y = c.v.scratch();
  const auto divide = [&](x86::Ymm quotients, x86::Xmm dividends, x86::Xmm divisors) {
    u32_to_f64(c, x, dividends, magic);
    if (factor.isValid()) {
      c.a.vmulpd(x, x, factor);
    } else {
      u32_to_f64(c, y, divisors, magic);
      c.a.vdivpd(x, x, y);
    }
    c.a.vroundpd(x, x, 3 | 8);
    c.a.vaddpd(quotients, x, magic);  // the integer is the low half
  };
  divide(to, a.xmm(), b.xmm());
  c.a.vextracti128(x.xmm(), a, 1);
  if (!factor.isValid()) c.a.vextracti128(y.xmm(), b, 1);
  divide(high, x.xmm(), y.xmm());
  c.a.vshufps(to, to, high, 0x88);
  c.a.vpermq(to, to, 0xd8);
  c.a.vpxor(x, x, x);
  c.a.vpcmpeqd(x, x, b);
  c.a.vpor(to, to, x);
}

void signed_chunk(Compiler& c, x86::Ymm to, x86::Ymm a, x86::Ymm b, x86::Ymm factor) {
  const x86::Ymm high = c.v.scratch(), x = c.v.scratch(), y = c.v.scratch();
  const auto divide = [&](x86::Xmm quotients, x86::Xmm dividends, x86::Xmm divisors) {
    c.a.vcvtdq2pd(x, dividends);
    if (factor.isValid()) {
      c.a.vmulpd(x, x, factor);
    } else {
      c.a.vcvtdq2pd(y, divisors);
      c.a.vdivpd(x, x, y);
    }
    c.a.vcvttpd2dq(quotients, x);  // 2^31 gives INT_MIN
  };
  divide(to.xmm(), a.xmm(), b.xmm());
  c.a.vextracti128(x.xmm(), a, 1);
  if (!factor.isValid()) c.a.vextracti128(y.xmm(), b, 1);
  divide(high.xmm(), x.xmm(), y.xmm());
  c.a.vinserti128(to, to, high.xmm(), 1);
  c.a.vpsrad(y, a, 31);
  c.a.vpxor(y, y, c.splat(lowest_or_highest(Type::s32), 4));
  c.a.vpxor(x, x, x);
  c.a.vpcmpeqd(x, x, b);
  c.a.vblendvps(to, to, y, x);
}

void quot_scalar(Compiler& c, const CodeInst& inst) {
  const x86::Gp a = c.g.use(inst.args[0]), b = c.g.use(inst.args[1]);
  const x86::Gp wide = c.g.scratch(), by_zero = c.g.scratch().r32();
  const x86::Xmm x = c.v.scratch().xmm(), y = c.v.scratch().xmm();
  const auto to_f64 = [&](x86::Xmm to, x86::Gp from) {
    c.a.vpxor(to, to, to);
    if (inst.type != Type::u32) return (void)c.a.vcvtsi2sd(to, to, from.r32());
    c.a.mov(wide.r32(), from.r32());
    c.a.vcvtsi2sd(to, to, wide);
  };
  to_f64(x, a);
  to_f64(y, b);
  c.a.vdivsd(x, x, y);
  if (ir::is_signed(inst.type)) {
    c.a.mov(by_zero, a.r32());
    c.a.sar(by_zero, 31);
    c.a.xor_(by_zero, lowest_or_highest(inst.type));
  } else {
    c.a.mov(by_zero, -1);
  }
  const x86::Gp to = c.g.define(inst.result);
  c.a.vcvttsd2si(to, x);
  c.a.test(b.r32(), b.r32());
  c.a.cmovz(to.r32(), by_zero);
  c.a.mov(to.r32(), to.r32());
  extend(c, to, inst.type);
}

}  // namespace

void emit_quot(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type);
  if (bytes < 8 && c.regs.is_scalar(inst.result)) return quot_scalar(c, inst);
  if (bytes != 4) return c.call_lane_function(inst);
  const CodeInst* divisor = definition(c, inst.args[1]);
  const bool one_divisor = c.regs.constant(inst.args[1]) || (divisor && divisor->op == ir::Op::splat);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const x86::Ymm a = c.v.use(inst.args[0], chunk), b = c.v.use(inst.args[1], chunk);
    const x86::Ymm factor = one_divisor ? reciprocal(c, inst.type, b) : x86::Ymm();
    const auto divide = ir::is_signed(inst.type) ? signed_chunk : unsigned_chunk;
    divide(c, c.v.define(inst.result, chunk), a, b, factor);
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx2::emit
