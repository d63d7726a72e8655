// Addition, multiplication and what is built from them, integers and floats.
#include <array>
#include <cstring>
#include <optional>

#include "jit/avx2/emit/emit.hpp"
#include "jit/avx2/emit/formula.hpp"
#include "jit/avx2/emit/scalar.hpp"
#include "jit/codegen/bug.hpp"
#include "jit/fpmode.hpp"

namespace eum::jit::avx2::emit {

namespace I = x86::Inst;
using ir::Type;

namespace {

constexpr BySize vpadd{{I::kIdVpaddb, I::kIdVpaddw, I::kIdVpaddd, I::kIdVpaddq}};
constexpr BySize vpsub{{I::kIdVpsubb, I::kIdVpsubw, I::kIdVpsubd, I::kIdVpsubq}};
constexpr BySize vpadds{{I::kIdVpaddsb, I::kIdVpaddsw, 0, 0}};
constexpr BySize vpaddus{{I::kIdVpaddusb, I::kIdVpaddusw, 0, 0}};
constexpr BySize vpsubs{{I::kIdVpsubsb, I::kIdVpsubsw, 0, 0}};
constexpr BySize vpsubus{{I::kIdVpsubusb, I::kIdVpsubusw, 0, 0}};
constexpr BySize vpmins{{I::kIdVpminsb, I::kIdVpminsw, I::kIdVpminsd, 0}};
constexpr BySize vpminu{{I::kIdVpminub, I::kIdVpminuw, I::kIdVpminud, 0}};
constexpr BySize vpmaxs{{I::kIdVpmaxsb, I::kIdVpmaxsw, I::kIdVpmaxsd, 0}};
constexpr BySize vpmaxu{{I::kIdVpmaxub, I::kIdVpmaxuw, I::kIdVpmaxud, 0}};

/// ps for f32, pd for f64.
void float2(Compiler& c, const CodeInst& inst, std::uint32_t ps, std::uint32_t pd) {
  lanewise2(c, inst, inst.type == Type::f32 ? ps : pd);
}

/// An instruction that only vectors have; scalars are moved to a vector register and back.
void by_chunks2(Compiler& c, const CodeInst& inst, std::uint32_t id, bool commutes) {
  if (!c.regs.is_scalar(inst.result)) return commutes ? commutative2(c, inst, id) : lanewise2(c, inst, id);
  by_chunks<2>(c, inst, [&](x86::Ymm to, x86::Ymm a, x86::Ymm b) { c.a.emit(id, to, a, b); });
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

/// The factor, if it is a constant that is the same in all lanes.
std::optional<std::uint64_t> constant_factor(Compiler& c, ir::ValueId value, unsigned chunk) {
  const codegen::ConstantPool::Entry* entry = c.v.constant(value, chunk);
  if (!entry) return std::nullopt;
  std::uint64_t factor = 0;
  std::memcpy(&factor, entry->data(), sizeof factor);
  return *entry == codegen::ConstantPool::splat(factor, sizeof factor) ? std::optional(factor) : std::nullopt;
}

/// The same with a constant, whose halves are in memory.
void mul64(Compiler& c, x86::Ymm to, x86::Ymm a, std::uint64_t factor) {
  const x86::Ymm t = c.v.scratch(), u = c.v.scratch();
  const std::uint64_t low = factor & 0xffffffff, high = factor >> 32;
  c.a.vpsrlq(t, a, 32);
  c.a.vpmuludq(t, t, c.splat(low, 8));
  if (high != 0) {
    c.a.vpmuludq(u, a, c.splat(high, 8));
    c.a.vpaddq(t, t, u);
  }
  c.a.vpsllq(t, t, 32);
  c.a.vpmuludq(to, a, c.splat(low, 8));
  c.a.vpaddq(to, to, t);
}

void mul_qwords(Compiler& c, const CodeInst& inst) {
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const auto of_first = constant_factor(c, inst.args[0], chunk);
    const auto factor = of_first ? of_first : constant_factor(c, inst.args[1], chunk);
    const x86::Ymm a = c.v.use(inst.args[of_first ? 1 : 0], chunk);
    if (factor) {
      mul64(c, c.v.define(inst.result, chunk), a, *factor);
    } else {
      const x86::Ymm b = c.v.use(inst.args[1], chunk);
      mul64(c, c.v.define(inst.result, chunk), a, b);
    }
    c.regs.unpin();
  }
}

/// Where both operands are used later, lea gives the sum a register of its own without a copy.
void scalar_add(Compiler& c, const CodeInst& inst) {
  const x86::Gp a = c.g.use(inst.args[0]);
  const asmjit::Operand b = c.g.operand(inst.args[1]);
  const bool b_stays = b.isImm() || (b.isReg() && !c.g.is_dying(inst, 1));
  if (ir::size_of(inst.type) < 4 || c.g.is_dying(inst, 0) || !b_stays)
    return scalar2(c, inst, I::kIdAdd, Commutes::Yes);
  const x86::Gp result = sized(c.g.define(inst.result), inst.type);
  if (b.isImm())
    c.a.lea(result, x86::ptr(a.r64(), static_cast<std::int32_t>(b.as<asmjit::Imm>().value())));
  else
    c.a.lea(result, x86::ptr(a.r64(), b.as<x86::Gp>().r64()));
}

void scalar_min_max(Compiler& c, const CodeInst& inst, std::uint32_t signed_cmov,
                    std::uint32_t unsigned_cmov) {
  x86::Gp a = sized(c.g.use(inst.args[0]), inst.type), b = sized(c.g.use(inst.args[1]), inst.type);
  x86::Gp result = sized(c.g.define(inst.result), inst.type);
  c.a.mov(result, a);
  c.a.cmp(b, a);
  c.a.emit(ir::is_signed(inst.type) ? signed_cmov : unsigned_cmov, result, b);
}

/// `lesser`: the minimum, else the maximum.
void integer_min_max(Compiler& c, const CodeInst& inst, const BySize& vector, bool lesser) {
  if (const std::uint32_t id = vector[inst.type]) return commutative2(c, inst, id);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    x86::Ymm a = c.v.use(inst.args[0], chunk), b = c.v.use(inst.args[1], chunk);
    x86::Ymm greater = c.v.scratch(), to = c.v.define(inst.result, chunk);
    if (ir::is_signed(inst.type)) {
      c.a.vpcmpgtq(greater, a, b);
    } else {
      const x86::Mem sign = c.splat(1ull << 63, 8);
      c.a.vpxor(greater, a, sign);
      c.a.vpxor(to, b, sign);
      c.a.vpcmpgtq(greater, greater, to);
    }
    c.a.vblendvpd(to, lesser ? a : b, lesser ? b : a, greater);
    c.regs.unpin();
  }
}

enum class Number : std::uint8_t { NaN, PlusZero, Subnormal, Other };

Number number_of(Type type, std::uint64_t bits) {
  const unsigned fraction_bits = type == Type::f32 ? 23 : 52, all = 8 * ir::size_of(type);
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << (all - 1)) & ~std::uint64_t{0} >> (64 - all);
  const std::uint64_t fraction = magnitude & ((std::uint64_t{1} << fraction_bits) - 1);
  const std::uint64_t infinity = (std::uint64_t{1} << (all - 1)) - (std::uint64_t{1} << fraction_bits);
  if (magnitude > infinity) return Number::NaN;
  if (magnitude == 0 && bits == magnitude) return Number::PlusZero;
  return magnitude == fraction ? Number::Subnormal : Number::Other;  // -0 counts as Subnormal
}

/// The hardware returns its second operand if either is NaN or both are equal: right unless that operand,
/// number `second` of the op, is NaN. With a constant operand less code suffices.
void float_min_max(Compiler& c, const CodeInst& inst, std::uint32_t f32, std::uint32_t f64, unsigned second) {
  const bool single = inst.type == Type::f32;
  const std::uint32_t id = single ? f32 : f64;
  const auto constant = [&](unsigned arg) -> std::optional<Number> {
    const std::uint64_t* bits = c.regs.constant(inst.args[arg]);
    return bits ? std::optional(number_of(inst.type, *bits)) : std::nullopt;
  };
  const auto first_number = constant(1 - second), last_number = constant(second);
  const auto mode = c.known_mode();
  const bool keeps = mode && is_keeping(*mode, single ? cr0_bit::Keep32 : cr0_bit::Keep64);  // denormals
  const bool is_max = second == 0;
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    if (last_number == Number::NaN) {
      c.v.share(inst.result, chunk, inst.args[1 - second], chunk);
      continue;
    }
    const bool is_last_constant = last_number.has_value();
    const x86::Ymm variable = c.v.use(inst.args[is_last_constant ? 1 - second : second], chunk);
    const asmjit::Operand other = c.v.operand(inst.args[is_last_constant ? second : 1 - second], chunk);
    if (is_last_constant || first_number == Number::Other) {
      // Of a constant that comes first: operands equal in value are equal in bits.
      c.a.emit(id, c.v.define(inst.result, chunk), variable, other);
    } else if (first_number == Number::PlusZero && is_max && keeps) {
      constexpr int greater_equal = 0x1d;  // false for NaN
      const x86::Ymm to = c.v.define(inst.result, chunk);
      c.a.emit(single ? I::kIdVcmpps : I::kIdVcmppd, to, variable, other, asmjit::Imm(greater_equal));
      c.a.vandps(to, to, variable);
    } else {
      const x86::Ymm last = variable, first = c.v.use(inst.args[1 - second], chunk);
      const x86::Ymm to = c.v.define(inst.result, chunk);
      const x86::Ymm nan = c.v.scratch();
      c.a.emit(single ? I::kIdVcmpps : I::kIdVcmppd, nan, last, last, asmjit::Imm(3));
      c.a.emit(id, to, first, last);
      c.a.emit(single ? I::kIdVblendvps : I::kIdVblendvpd, to, to, first, nan);
    }
    c.regs.unpin();
  }
}

}  // namespace

void emit_add(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return scalar_add(c, inst);
  if (ir::is_float(inst.type)) return float2(c, inst, I::kIdVaddps, I::kIdVaddpd);
  commutative2(c, inst, vpadd[inst.type]);
}

void emit_sub(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return scalar2(c, inst, I::kIdSub, Commutes::No);
  if (ir::is_float(inst.type)) return float2(c, inst, I::kIdVsubps, I::kIdVsubpd);
  lanewise2(c, inst, vpsub[inst.type]);
}

void emit_mul(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return scalar2(c, inst, I::kIdImul, Commutes::Yes);
  if (ir::is_float(inst.type)) return float2(c, inst, I::kIdVmulps, I::kIdVmulpd);
  switch (ir::size_of(inst.type)) {
    case 2:
      return commutative2(c, inst, I::kIdVpmullw);
    case 4:
      return commutative2(c, inst, I::kIdVpmulld);
    case 8:
      return mul_qwords(c, inst);
    default:
      throw codegen::EngineBug("a product of bytes should have been widened");
  }
}

void emit_div(Compiler& c, const CodeInst& inst) { float2(c, inst, I::kIdVdivps, I::kIdVdivpd); }

void emit_min(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return scalar_min_max(c, inst, I::kIdCmovl, I::kIdCmovb);
  if (ir::is_float(inst.type)) return float_min_max(c, inst, I::kIdVminps, I::kIdVminpd, 1);
  integer_min_max(c, inst, ir::is_signed(inst.type) ? vpmins : vpminu, true);
}

void emit_max(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return scalar_min_max(c, inst, I::kIdCmovg, I::kIdCmova);
  if (ir::is_float(inst.type)) return float_min_max(c, inst, I::kIdVmaxps, I::kIdVmaxpd, 0);
  integer_min_max(c, inst, ir::is_signed(inst.type) ? vpmaxs : vpmaxu, false);
}

void emit_mul_high(Compiler& c, const CodeInst& inst) {
  by_chunks2(c, inst, ir::is_signed(inst.type) ? I::kIdVpmulhw : I::kIdVpmulhuw, true);
}

void emit_add_sat(Compiler& c, const CodeInst& inst) {
  by_chunks2(c, inst, (ir::is_signed(inst.type) ? vpadds : vpaddus)[inst.type], true);
}

void emit_sub_sat(Compiler& c, const CodeInst& inst) {
  by_chunks2(c, inst, (ir::is_signed(inst.type) ? vpsubs : vpsubus)[inst.type], false);
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
  const bool f32 = inst.type == Type::f32;
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const auto [x, y, z] = std::tuple(inst.args[0], inst.args[1], inst.args[2]);
    x86::Ymm a = c.v.use(x, chunk);
    if (c.v.is_dying(inst, 2, chunk) && z != x && z != y) {
      c.v.use(z, chunk);
      asmjit::Operand b = c.v.operand(y, chunk);
      x86::Ymm sum = c.v.take_over(inst, 2, chunk);
      c.a.emit(f32 ? I::kIdVfmadd231ps : I::kIdVfmadd231pd, sum, a, b);
    } else if (c.v.is_dying(inst, 1, chunk) && y != x && y != z) {
      // Of several NaNs each form returns a's first, then b's; 213 overwrites b.
      c.v.use(y, chunk);
      asmjit::Operand sum = c.v.operand(z, chunk);
      x86::Ymm b = c.v.take_over(inst, 1, chunk);
      c.a.emit(f32 ? I::kIdVfmadd213ps : I::kIdVfmadd213pd, b, a, sum);
    } else if (c.v.is_dying(inst, 0, chunk) && x != y && x != z) {
      x86::Ymm sum = c.v.use(z, chunk);
      asmjit::Operand b = c.v.operand(y, chunk);
      c.v.take_over(inst, 0, chunk);
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

namespace {

/// sum = a * b + addend, rounded to f32.
struct RoundedSum {
  x86::Ymm a, b, addend, sum, scratch;

  /// Goes to `none` if no lane of `sum` may_be_midway (frontend/ir/semantics), as where few bits are set.
  void leave_unless_midway(Compiler& c, asmjit::Label none) const;
  /// Moves lanes of `sum` that may be midway one step towards a * b + addend, computed in f64. Preserves
  /// every other register.
  void step_off_midway(Compiler& c) const;
};

void RoundedSum::leave_unless_midway(Compiler& c, asmjit::Label none) const {
  const asmjit::Label some = c.a.newLabel();
  c.a.vpslld(scratch, sum, 19);
  c.a.vpcmpeqd(scratch, scratch, c.splat(0x80000000, 4));
  c.a.vptest(scratch, scratch);
  c.a.jnz(some);
  // Below 2^-14, and not 0; compared without a sign.
  c.a.vandps(scratch, sum, c.splat(0x7fffffff, 4));
  c.a.vpsubd(scratch, scratch, c.splat(1, 4));
  c.a.vpxor(scratch, scratch, c.splat(0x80000000, 4));
  c.a.vpcmpgtd(scratch, scratch, c.splat(0xb87ffffe, 4));
  c.a.vpxor(scratch, scratch, all_ones(c));
  c.a.vptest(scratch, scratch);
  c.a.jz(none);
  c.a.bind(some);
}

void RoundedSum::step_off_midway(Compiler& c) const {
  // Borrows registers and restores them, so that the fast path does not lose any.
  std::array<x86::Ymm, 4> t{scratch};
  unsigned found = 1;
  for (unsigned id = 0; found < t.size(); ++id)
    if (id != a.id() && id != b.id() && id != addend.id() && id != sum.id() && id != scratch.id())
      t[found++] = x86::ymm(id);
  const auto saved = [](unsigned i) {
    return x86::ptr(x86::rsp, Frame::operands + static_cast<int>(i) * 32, 32);
  };
  for (unsigned i = 1; i < t.size(); ++i) c.a.vmovups(saved(i), t[i]);
  c.a.vpslld(t[0], sum, 19);
  c.a.vpcmpeqd(t[0], t[0], c.splat(0x80000000, 4));  // an odd multiple of half the f16 spacing from 2^-14 on
  c.a.vandps(t[1], sum, c.splat(0x7fffffff, 4));
  c.a.vpsubd(t[1], t[1], c.splat(1, 4));
  c.a.vpminud(t[2], t[1], c.splat(0x387ffffe, 4));
  c.a.vpcmpeqd(t[1], t[1], t[2]);  // below 2^-14, and not 0
  c.a.vpslld(t[2], sum, 20);
  c.a.vpxor(t[3], t[3], t[3]);
  c.a.vpcmpeqd(t[2], t[2], t[3]);
  c.a.vpand(t[1], t[1], t[2]);
  c.a.vpor(t[0], t[0], t[1]);
  // The high dwords of a * b + addend - sum in f64: sign, and exponent of what is not 0.
  const auto rest = [&](x86::Ymm to, x86::Ymm u, x86::Ymm v, bool high) {
    const auto part = [&](x86::Ymm into, x86::Ymm of) {
      if (high) c.a.vextractf128(into.xmm(), of, 1);
      c.a.vcvtps2pd(into, high ? into.xmm() : of.xmm());
    };
    part(to, a);
    part(u, b);
    part(v, addend);
    c.a.vfmadd132pd(to, v, u);
    part(u, sum);
    c.a.vsubpd(to, to, u);
  };
  rest(t[1], t[2], t[3], false);
  c.a.vmovups(x86::ptr(x86::rsp, Frame::operands + 4 * 32, 32), t[0]);
  rest(t[0], t[2], t[3], true);
  c.a.vshufps(t[1], t[1], t[0], 0xdd);
  c.a.vpermq(t[1], t[1], 0xd8);
  c.a.vpxor(t[3], t[3], t[3]);
  c.a.vcmpps(t[0], t[1], t[3], 0x0c);  // not 0, nor NaN
  c.a.vandps(t[0], t[0], x86::ptr(x86::rsp, Frame::operands + 4 * 32, 32));
  c.a.vpxor(t[1], t[1], sum);
  c.a.vpsrad(t[1], t[1], 31);
  c.a.vpor(t[1], t[1], c.splat(1, 4));
  c.a.vpand(t[1], t[1], t[0]);
  c.a.vpaddd(sum, sum, t[1]);
  for (unsigned i = 1; i < t.size(); ++i) c.a.vmovups(t[i], saved(i));
}

}  // namespace

void emit_fma_odd(Compiler& c, const CodeInst& inst) {
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const x86::Ymm a = c.v.use(inst.args[0], chunk), b = c.v.use(inst.args[1], chunk);
    const x86::Ymm addend = c.v.use(inst.args[2], chunk);
    const x86::Ymm low = c.v.scratch(), sum = c.v.define(inst.result, chunk);
    c.a.vmovaps(sum, addend);
    c.a.vfmadd231ps(sum, a, b);
    constexpr unsigned bits = 12;  // which are 0 in what may be midway
    if (c.host.evex()) {
      c.a.vptestnmd(scratch_mask, sum, c.splat((1u << bits) - 1, 4));
      c.a.kortestb(scratch_mask, scratch_mask);
    } else {
      c.a.vpslld(low, sum, 32 - bits);
      c.a.vpcmpeqd(low, low, c.splat(0, 4));
      c.a.vptest(low, low);
    }
    const asmjit::Label midway = c.a.newLabel(), done = c.a.newLabel();
    c.a.jnz(midway);
    c.a.bind(done);
    c.out_of_line([&c, midway, done, rounded = RoundedSum{a, b, addend, sum, low}] {
      c.a.bind(midway);
      rounded.leave_unless_midway(c, done);
      rounded.step_off_midway(c);
      c.a.jmp(done);
    });
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

}  // namespace eum::jit::avx2::emit
