// Integer quotients of up to 32 bits, by floats. a/b is at least 1/b away from the next integer, unless it is
// one. If a and b are below 2^23, neighbouring f32 are closer than that, and below 2^32 neighbouring f64 are:
// in every rounding mode the division, truncated to an integer, is exact. If every lane has the same divisor,
// f64 needs one division: a times 1/b, increased by 2^-49, is never below a/b (1/b and the product are each
// off by 2^-52 at most), and above it by less than a/b * 2^-48, which is less than 1/b.
#include "jit/avx2/emit/formula.hpp"
#include "jit/avx2/emit/long_quotient.hpp"

namespace eum::jit::avx2::emit {

namespace I = x86::Inst;
using ir::Type;

namespace {

constexpr std::uint64_t two_to_52 = 0x4330000000000000;

/// x/0 gives this, with every bit inverted if x is negative.
constexpr std::uint32_t highest(Type type) { return (1u << (8 * ir::size_of(type) - 1)) - 1; }

struct Quotient {
  Type type;
  bool one_divisor;  ///< in every lane
  bool by_zero;      ///< x/0 is needed
  x86::Ymm to, a, b;
  x86::Ymm x, y, high, factor;  ///< scratch
};

/// Four lanes of u32 as f64: low halves of 2^52 + x.
void u32_to_f64(Compiler& c, x86::Ymm to, x86::Xmm from, x86::Mem magic) {
  c.a.vpmovzxdq(to, from);
  c.a.vpor(to, to, magic);
  c.a.vsubpd(to, to, magic);
}

/// factor = 1/b made greater by 2^-49, of the divisor in lane 0, in every lane of f64.
void invert(Compiler& c, const Quotient& q) {
  if (ir::is_signed(q.type)) {
    c.a.vcvtdq2pd(q.y.xmm(), q.b.xmm());
  } else {
    u32_to_f64(c, q.y, q.b.xmm(), c.splat(two_to_52, 8));
  }
  c.a.vmovsd(q.factor.xmm(), c.splat(0x3ff0000000000008, 8));
  c.a.vdivsd(q.factor.xmm(), q.factor.xmm(), q.y.xmm());
  c.a.vbroadcastsd(q.factor, q.factor.xmm());
}

void unsigned_by_f64(Compiler& c, const Quotient& q) {
  const x86::Mem magic = c.splat(two_to_52, 8);
  const auto divide = [&](x86::Ymm quotients, x86::Xmm dividends, x86::Xmm divisors) {
    u32_to_f64(c, q.x, dividends, magic);
    if (q.one_divisor) {
      c.a.vmulpd(q.x, q.x, q.factor);
    } else {
      u32_to_f64(c, q.y, divisors, magic);
      c.a.vdivpd(q.x, q.x, q.y);
    }
    c.a.vroundpd(q.x, q.x, 3 | 8);
    c.a.vaddpd(quotients, q.x, magic);  // the integer is the low half
  };
  divide(q.to, q.a.xmm(), q.b.xmm());
  c.a.vextracti128(q.x.xmm(), q.a, 1);
  if (!q.one_divisor) c.a.vextracti128(q.y.xmm(), q.b, 1);
  divide(q.high, q.x.xmm(), q.y.xmm());
  c.a.vshufps(q.to, q.to, q.high, 0x88);
  c.a.vpermq(q.to, q.to, 0xd8);
}

void signed_by_f64(Compiler& c, const Quotient& q) {
  const auto divide = [&](x86::Xmm quotients, x86::Xmm dividends, x86::Xmm divisors) {
    c.a.vcvtdq2pd(q.x, dividends);
    if (q.one_divisor) {
      c.a.vmulpd(q.x, q.x, q.factor);
    } else {
      c.a.vcvtdq2pd(q.y, divisors);
      c.a.vdivpd(q.x, q.x, q.y);
    }
    c.a.vcvttpd2dq(quotients, q.x);  // 2^31 gives INT_MIN
  };
  divide(q.to.xmm(), q.a.xmm(), q.b.xmm());
  c.a.vextracti128(q.x.xmm(), q.a, 1);
  if (!q.one_divisor) c.a.vextracti128(q.y.xmm(), q.b, 1);
  divide(q.high.xmm(), q.x.xmm(), q.y.xmm());
  c.a.vinserti128(q.to, q.to, q.high.xmm(), 1);
}

/// Small numbers by f32; others by f64, out of line.
void quot_chunk(Compiler& c, const Quotient& q) {
  const bool is_signed = ir::is_signed(q.type);
  const asmjit::Label large = c.a.newLabel(), done = c.a.newLabel();
  if (is_signed) {
    c.a.vpabsd(q.x, q.a);
    c.a.vpabsd(q.y, q.b);
    c.a.vpor(q.x, q.x, q.y);
  } else {
    c.a.vpor(q.x, q.a, q.b);
  }
  c.a.vptest(q.x, c.splat(0xff800000, 4));
  c.a.jnz(large);
  c.a.vcvtdq2ps(q.x, q.a);
  c.a.vcvtdq2ps(q.y, q.b);
  c.a.vdivps(q.x, q.x, q.y);
  c.a.vcvttps2dq(q.to, q.x);
  c.a.bind(done);
  c.out_of_line([&c, q, large, done] {
    c.a.bind(large);
    if (q.one_divisor) invert(c, q);
    ir::is_signed(q.type) ? signed_by_f64(c, q) : unsigned_by_f64(c, q);
    c.a.jmp(done);
  });
  if (!q.by_zero) return;
  c.a.vpxor(q.x, q.x, q.x);
  c.a.vpcmpeqd(q.x, q.x, q.b);
  if (!is_signed) return (void)c.a.vpor(q.to, q.to, q.x);
  c.a.vpsrad(q.y, q.a, 31);
  c.a.vpxor(q.y, q.y, c.splat(highest(q.type), 4));
  c.a.vblendvps(q.to, q.to, q.y, q.x);
}

/// Whether the quotient is only multiplied by its divisor, as in a remainder: then x/0 may be anything.
bool is_for_remainder(const Compiler& c, const CodeInst& inst) {
  for (std::uint32_t at = inst.first_use[0]; at != codegen::never;) {
    const CodeInst& use = c.block_insts()[at];
    if (use.op != ir::Op::mul) return false;
    const std::size_t own = use.args[0] == inst.result ? 0 : 1;
    if (use.args[1 - own] != inst.args[1]) return false;
    at = use.next_use[own];
  }
  return true;
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
    c.a.xor_(by_zero, highest(inst.type));
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
  if (bytes == 8) return emit_long_quotient(c, inst, !is_for_remainder(c, inst));
  if (c.regs.is_scalar(inst.result)) return quot_scalar(c, inst);
  if (bytes != 4) return c.call_lane_function(inst);
  const CodeInst* divisor = definition(c, inst.args[1]);
  const bool one_divisor = c.regs.constant(inst.args[1]) || (divisor && divisor->op == ir::Op::splat);
  const bool by_zero = !is_for_remainder(c, inst);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const x86::Ymm a = c.v.use(inst.args[0], chunk), b = c.v.use(inst.args[1], chunk);
    const x86::Ymm to = c.v.define(inst.result, chunk);
    const x86::Ymm x = c.v.scratch(), y = c.v.scratch(), high = c.v.scratch(), factor = c.v.scratch();
    quot_chunk(c, {inst.type, one_divisor, by_zero, to, a, b, x, y, high, factor});
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx2::emit
