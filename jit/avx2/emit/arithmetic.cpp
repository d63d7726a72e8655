// Addition, multiplication and what is built from them, integers and floats.
#include "jit/avx2/emit/emit.hpp"
#include "jit/avx2/emit/scalar.hpp"

namespace eum::jit::avx2::emit {

namespace I = x86::Inst;
using ir::Type;

namespace {

constexpr BySize vpadd{{I::kIdVpaddb, I::kIdVpaddw, I::kIdVpaddd, I::kIdVpaddq}};
constexpr BySize vpsub{{I::kIdVpsubb, I::kIdVpsubw, I::kIdVpsubd, I::kIdVpsubq}};
constexpr BySize vpmins{{I::kIdVpminsb, I::kIdVpminsw, I::kIdVpminsd, 0}};
constexpr BySize vpminu{{I::kIdVpminub, I::kIdVpminuw, I::kIdVpminud, 0}};
constexpr BySize vpmaxs{{I::kIdVpmaxsb, I::kIdVpmaxsw, I::kIdVpmaxsd, 0}};
constexpr BySize vpmaxu{{I::kIdVpmaxub, I::kIdVpmaxuw, I::kIdVpmaxud, 0}};

/// ps for f32, pd for f64; f16 goes through its function.
void float2(Compiler& c, const CodeInst& inst, std::uint32_t ps, std::uint32_t pd) {
  if (inst.type == Type::f16) return c.call_lane_function(inst);
  lanewise2(c, inst, inst.type == Type::f32 ? ps : pd);
}

/// Low 64 bits of the product of 64-bit lanes: low*low + ((high*low + low*high) << 32).
void mul64(Compiler& c, x86::Ymm to, x86::Ymm a, x86::Ymm b) {
  x86::Ymm t = c.v.scratch(), u = c.v.scratch();
  c.a.vpsrlq(t, a, 32);
  c.a.vpmuludq(t, t, b);
  c.a.vpsrlq(u, b, 32);
  c.a.vpmuludq(u, u, a);
  c.a.vpaddq(t, t, u);
  c.a.vpsllq(t, t, 32);
  c.a.vpmuludq(to, a, b);
  c.a.vpaddq(to, to, t);
}

void scalar_min_max(Compiler& c, const CodeInst& inst, std::uint32_t signed_cmov,
                    std::uint32_t unsigned_cmov) {
  x86::Gp a = sized(c.g.use(inst.args[0]), inst.type), b = sized(c.g.use(inst.args[1]), inst.type);
  x86::Gp result = sized(c.g.define(inst.result), inst.type);
  c.a.mov(result, a);
  c.a.cmp(b, a);
  c.a.emit(ir::is_signed(inst.type) ? signed_cmov : unsigned_cmov, result, b);
}

void integer_min_max(Compiler& c, const CodeInst& inst, const BySize& vector) {
  if (const std::uint32_t id = vector[inst.type]) return commutative2(c, inst, id);
  c.call_lane_function(inst);
}

/// The hardware gives its second operand where either is NaN and where both are equal: right unless that one,
/// operand `second` of the op, is NaN.
void float_min_max(Compiler& c, const CodeInst& inst, std::uint32_t f32, std::uint32_t f64, unsigned second) {
  if (inst.type == Type::f16) return c.call_lane_function(inst);
  const bool single = inst.type == Type::f32;
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    x86::Ymm first = c.v.use(inst.args[1 - second], chunk), last = c.v.use(inst.args[second], chunk);
    x86::Ymm nan = c.v.scratch(), to = c.v.define(inst.result, chunk);
    c.a.emit(single ? I::kIdVcmpps : I::kIdVcmppd, nan, last, last, asmjit::Imm(3));
    c.a.emit(single ? f32 : f64, to, first, last);
    c.a.emit(single ? I::kIdVblendvps : I::kIdVblendvpd, to, to, first, nan);
    c.regs.unpin();
  }
}

/// The high halves of 32-bit products into `high`, from two chunks of 64-bit products of even and odd lanes.
void mul_wide_chunk(Compiler& c, const CodeInst& inst, unsigned chunk, bool low, bool high) {
  x86::Ymm a = c.v.use(inst.args[0], chunk), b = c.v.use(inst.args[1], chunk);
  if (high) {
    std::uint32_t id = inst.type == Type::s32 ? I::kIdVpmuldq : I::kIdVpmuludq;
    x86::Ymm even = c.v.scratch(), odd = c.v.scratch();
    c.a.vpsrlq(even, a, 32);
    c.a.vpsrlq(odd, b, 32);
    c.a.emit(id, odd, even, odd);
    c.a.emit(id, even, a, b);
    x86::Ymm to = c.v.define(inst.result + 1, chunk);
    c.a.vpsrlq(to, even, 32);
    c.a.vpblendd(to, to, odd, 0xaa);
  }
  if (low) c.a.vpmulld(c.v.define(inst.result, chunk), a, b);
  c.regs.unpin();
}

}  // namespace

void emit_add(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return scalar2(c, inst, I::kIdAdd);
  if (ir::is_float(inst.type)) return float2(c, inst, I::kIdVaddps, I::kIdVaddpd);
  commutative2(c, inst, vpadd[inst.type]);
}

void emit_sub(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return scalar2(c, inst, I::kIdSub);
  if (ir::is_float(inst.type)) return float2(c, inst, I::kIdVsubps, I::kIdVsubpd);
  lanewise2(c, inst, vpsub[inst.type]);
}

void emit_mul(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return scalar2(c, inst, I::kIdImul);
  if (ir::is_float(inst.type)) return float2(c, inst, I::kIdVmulps, I::kIdVmulpd);
  switch (ir::size_of(inst.type)) {
    case 2:
      return commutative2(c, inst, I::kIdVpmullw);
    case 4:
      return commutative2(c, inst, I::kIdVpmulld);
    case 8:
      for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
        x86::Ymm a = c.v.use(inst.args[0], chunk), b = c.v.use(inst.args[1], chunk);
        mul64(c, c.v.define(inst.result, chunk), a, b);
        c.regs.unpin();
      }
      return;
    default:
      return c.call_lane_function(inst);
  }
}

void emit_div(Compiler& c, const CodeInst& inst) { float2(c, inst, I::kIdVdivps, I::kIdVdivpd); }

void emit_min(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return scalar_min_max(c, inst, I::kIdCmovl, I::kIdCmovb);
  if (ir::is_float(inst.type)) return float_min_max(c, inst, I::kIdVminps, I::kIdVminpd, 1);
  integer_min_max(c, inst, ir::is_signed(inst.type) ? vpmins : vpminu);
}

void emit_max(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return scalar_min_max(c, inst, I::kIdCmovg, I::kIdCmova);
  if (ir::is_float(inst.type)) return float_min_max(c, inst, I::kIdVmaxps, I::kIdVmaxpd, 0);
  integer_min_max(c, inst, ir::is_signed(inst.type) ? vpmaxs : vpmaxu);
}

void emit_neg(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return scalar1(c, inst, I::kIdNeg);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    if (ir::is_float(inst.type)) {
      unsigned bytes = ir::size_of(inst.type);
      x86::Ymm a = c.v.use(inst.args[0], chunk);
      c.a.vxorps(c.v.define_over(inst, chunk), a, c.splat(1ull << (8 * bytes - 1), bytes));
    } else {
      asmjit::Operand a = c.v.operand(inst.args[0], chunk);
      x86::Ymm to = c.v.define(inst.result, chunk);
      c.a.vpxor(to, to, to);
      c.a.emit(vpsub[inst.type], to, to, a);
    }
    c.regs.unpin();
  }
}

void emit_abs(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) {
    if (!ir::is_signed(inst.type)) return c.regs.alias(inst.result, inst.args[0]);
    x86::Gp a = sized(c.g.use(inst.args[0]), inst.type), to = sized(c.g.define(inst.result), inst.type);
    c.a.mov(to, a);
    c.a.neg(to);
    c.a.cmovl(to, a);
    return extend(c, to, inst.type);
  }
  if (!ir::is_signed(inst.type)) return c.regs.alias(inst.result, inst.args[0]);
  const unsigned bytes = ir::size_of(inst.type);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    if (ir::is_float(inst.type)) {
      x86::Ymm a = c.v.use(inst.args[0], chunk);
      c.a.vandps(c.v.define_over(inst, chunk), a, c.splat((1ull << (8 * bytes - 1)) - 1, bytes));
    } else if (bytes == 8) {
      x86::Ymm a = c.v.use(inst.args[0], chunk), sign = c.v.scratch(), to = c.v.define(inst.result, chunk);
      c.a.vpxor(sign, sign, sign);
      c.a.vpcmpgtq(sign, sign, a);
      c.a.vpxor(to, a, sign);
      c.a.vpsubq(to, to, sign);
    } else {
      asmjit::Operand a = c.v.operand(inst.args[0], chunk);
      constexpr BySize vpabs{{I::kIdVpabsb, I::kIdVpabsw, I::kIdVpabsd, 0}};
      c.a.emit(vpabs[inst.type], c.v.define_over(inst, chunk), a);
    }
    c.regs.unpin();
  }
}

void emit_fma(Compiler& c, const CodeInst& inst) {
  if (inst.type == Type::f16) return c.call_lane_function(inst);
  const bool f32 = inst.type == Type::f32;
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const auto [x, y, z] = std::tuple(inst.args[0], inst.args[1], inst.args[2]);
    x86::Ymm a = c.v.use(x, chunk);
    if (c.v.is_dying(inst, 2, chunk) && z != x && z != y) {
      x86::Ymm sum = c.v.use(z, chunk);
      asmjit::Operand b = c.v.operand(y, chunk);
      c.v.bind(inst.result, chunk, sum);
      c.a.emit(f32 ? I::kIdVfmadd231ps : I::kIdVfmadd231pd, sum, a, b);
    } else if (c.v.is_dying(inst, 0, chunk) && x != y && x != z) {
      // Of several NaNs the form 132 takes a's first, then b's, as 231 does; 213 would take b's.
      x86::Ymm sum = c.v.use(z, chunk);
      asmjit::Operand b = c.v.operand(y, chunk);
      c.v.bind(inst.result, chunk, a);
      c.a.emit(f32 ? I::kIdVfmadd132ps : I::kIdVfmadd132pd, a, sum, b);
    } else {
      asmjit::Operand b = c.v.operand(y, chunk);
      asmjit::Operand sum = c.v.operand(z, chunk);
      x86::Ymm to = c.v.define(inst.result, chunk);
      c.a.emit(I::kIdVmovups, to, sum);
      c.a.emit(f32 ? I::kIdVfmadd231ps : I::kIdVfmadd231pd, to, a, b);
    }
    c.regs.unpin();
  }
}

void emit_mad(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) {
    x86::Gp a = sized(c.g.use(inst.args[0]), inst.type), b = sized(c.g.use(inst.args[1]), inst.type);
    x86::Gp sum = sized(c.g.use(inst.args[2]), inst.type), to = sized(c.g.define(inst.result), inst.type);
    c.a.mov(to, a);
    c.a.imul(to, b);
    c.a.add(to, sum);
    return extend(c, to, inst.type);
  }
  if (ir::size_of(inst.type) == 1) return c.call_lane_function(inst);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    x86::Ymm a = c.v.use(inst.args[0], chunk), b = c.v.use(inst.args[1], chunk);
    asmjit::Operand sum = c.v.operand(inst.args[2], chunk);
    x86::Ymm to = c.v.define(inst.result, chunk);
    switch (ir::size_of(inst.type)) {
      case 2:
        c.a.vpmullw(to, a, b);
        break;
      case 4:
        c.a.vpmulld(to, a, b);
        break;
      default:
        mul64(c, to, a, b);
        break;
    }
    c.a.emit(vpadd[inst.type], to, to, sum);
    c.regs.unpin();
  }
}

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

void emit_mach(Compiler& c, const CodeInst& inst) { c.call_lane_function(inst); }

void emit_addc(Compiler& c, const CodeInst& inst) {
  if (inst.type != Type::u32 || c.regs.is_scalar(inst.result)) return c.call_lane_function(inst);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    x86::Ymm a = c.v.use(inst.args[0], chunk);
    asmjit::Operand b = c.v.operand(inst.args[1], chunk);
    x86::Ymm sum = c.v.define(inst.result, chunk), carry = c.v.define(inst.result + 1, chunk);
    c.a.emit(I::kIdVpaddd, sum, a, b);
    c.a.vpminud(carry, sum, a);     // = sum where it has not wrapped
    c.a.vpcmpeqd(carry, carry, a);  // all ones: sum >= a, no carry
    c.a.vpaddd(carry, carry, c.splat(1, 4));
    c.regs.unpin();
  }
}

void emit_subb(Compiler& c, const CodeInst& inst) {
  if (inst.type != Type::u32 || c.regs.is_scalar(inst.result)) return c.call_lane_function(inst);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    x86::Ymm a = c.v.use(inst.args[0], chunk), b = c.v.use(inst.args[1], chunk);
    x86::Ymm difference = c.v.define(inst.result, chunk), borrow = c.v.define(inst.result + 1, chunk);
    c.a.vpminud(borrow, a, b);
    c.a.vpcmpeqd(borrow, borrow, b);  // all ones: b <= a, no borrow
    c.a.vpaddd(borrow, borrow, c.splat(1, 4));
    c.a.vpsubd(difference, a, b);
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx2::emit
