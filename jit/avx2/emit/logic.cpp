// Bitwise ops and shifts, on integers and on masks.
#include "jit/avx2/emit/emit.hpp"
#include "jit/avx2/emit/scalar.hpp"
#include "jit/codegen/bug.hpp"

namespace eum::jit::avx2::emit {

namespace I = x86::Inst;
using ir::Type;

namespace {

/// Defines the lanes of a logical op on masks: they are whole if those of all its operands are.
void define_lanes(Compiler& c, const CodeInst& inst, unsigned width) {
  c.m.define_lanes(inst.result, width);
  for (const ir::ValueId arg : inst.args)
    if (!c.m.has_whole_lanes(arg, width)) c.m.keep_signs_only(inst.result, width);
}

template <class Emit>
void each_chunk(Compiler& c, const CodeInst& inst, unsigned width, Emit emit) {
  define_lanes(c, inst, width);
  const unsigned per_chunk = 32 / width;
  for (unsigned chunk = 0; chunk * per_chunk < inst.lanes; ++chunk) {
    const x86::Ymm a = c.m.signs(inst.args.front(), width, chunk),
                   b = c.m.signs(inst.args.back(), width, chunk);
    emit(c.v.define(inst.result, chunk), a, b);
    c.regs.unpin();
  }
}

/// bits(a, b) emits the op on bits, if that form is wanted.
template <class Bits>
void mask2(Compiler& c, const CodeInst& inst, std::uint32_t vector, Bits bits) {
  const codegen::MaskForms forms = c.m.forms(inst);
  if (forms.bits) {
    const x86::Gp a = c.m.bits(inst.args[0]).r32(), b = c.m.bits(inst.args[1]).r32();
    bits(a, b);
    c.regs.unpin();
  }
  if (forms.width != 0)
    each_chunk(c, inst, forms.width,
               [&](x86::Ymm to, x86::Ymm a, x86::Ymm b) { c.a.emit(vector, to, a, b); });
}

void logic2(Compiler& c, const CodeInst& inst, std::uint32_t scalar, std::uint32_t vector) {
  if (ir::is_mask(inst.type)) {
    return mask2(c, inst, vector, [&](x86::Gp a, x86::Gp b) {
      const bool second = !c.g.is_dying(inst, 0) && c.g.is_dying(inst, 1);
      c.a.emit(scalar, second ? begin_over(c, inst, 1, b) : begin_over(c, inst, 0, a), second ? a : b);
    });
  }
  if (c.regs.is_scalar(inst.result)) return scalar2(c, inst, scalar, Commutes::Yes);
  commutative2(c, inst, vector);
}

/// Of a dword, its lowest one or two bytes: also from memory in one instruction.
bool keep_low_bytes(Compiler& c, const CodeInst& inst) {
  const std::uint64_t* const mask = c.regs.constant(inst.args[1]);
  if (ir::size_of(inst.type) != 4 || mask == nullptr || (*mask != 0xff && *mask != 0xffff)) return false;
  const unsigned bytes = *mask == 0xff ? 1 : 2;
  asmjit::Operand from = c.g.operand(inst.args[0]);
  if (from.isImm()) return false;
  if (from.isMem())
    from.as<x86::Mem>().setSize(bytes);
  else
    from = low_part(from.as<x86::Gp>(), bytes);
  c.a.emit(I::kIdMovzx, c.g.define_over(inst, 0).r32(), from);
  return true;
}

struct Shift {
  std::uint32_t scalar;     // by a register, BMI2
  std::uint32_t immediate;  // of a scalar by an immediate
  BySize vector_immediate;
  BySize vector_variable;
};

constexpr Shift left{I::kIdShlx,
                     I::kIdShl,
                     {{0, I::kIdVpsllw, I::kIdVpslld, I::kIdVpsllq}},
                     {{0, 0, I::kIdVpsllvd, I::kIdVpsllvq}}};
constexpr Shift right{I::kIdShrx,
                      I::kIdShr,
                      {{0, I::kIdVpsrlw, I::kIdVpsrld, I::kIdVpsrlq}},
                      {{0, 0, I::kIdVpsrlvd, I::kIdVpsrlvq}}};
constexpr Shift right_arithmetic{
    I::kIdSarx, I::kIdSar, {{0, I::kIdVpsraw, I::kIdVpsrad, 0}}, {{0, 0, I::kIdVpsravd, 0}}};

void shift_scalar(Compiler& c, const CodeInst& inst, const Shift& shift) {
  const unsigned width = 8 * ir::size_of(inst.type);
  x86::Gp a = sized(c.g.use(inst.args[0]), inst.type);
  // A narrow value is kept extended by its type's sign; the shift may need the other extension.
  bool zero_extend = width < 32 && shift.scalar == I::kIdShrx && ir::is_signed(inst.type);
  bool sign_extend = width < 32 && shift.scalar == I::kIdSarx && !ir::is_signed(inst.type);
  if (zero_extend || sign_extend) {
    x86::Gp wide = c.g.scratch().r32();
    c.a.mov(wide, a);
    extend(c, wide, ir::int_type(width / 8, sign_extend));
    a = wide;
  }
  if (const std::uint64_t* count = c.regs.constant(inst.args[1])) {
    x86::Gp to;
    if (zero_extend || sign_extend) {
      to = sized(c.g.define(inst.result), inst.type);
      c.a.mov(to, a);
    } else {
      to = begin_over(c, inst, 0, a);
    }
    c.a.emit(shift.immediate, to, asmjit::Imm(*count % width));
    return extend(c, to, inst.type);
  }
  x86::Gp count = sized(c.g.use(inst.args[1]), inst.type);
  if (width < 32) {
    x86::Gp masked = c.g.scratch().r32();
    c.a.mov(masked, count);
    c.a.and_(masked, width - 1);
    count = masked;
  }
  x86::Gp to = sized(c.g.define(inst.result), inst.type);
  c.a.emit(shift.scalar, to, a, count);
  extend(c, to, inst.type);
}

/// AVX2 has no arithmetic shift of 64-bit lanes: negative ones are complemented before and after.
void shift_signed64(Compiler& c, const CodeInst& inst) {
  if (ir::size_of(inst.type) != 8)
    throw codegen::EngineBug("a shift of narrow lanes should have been widened");
  const std::uint64_t* by = c.regs.constant(inst.args[1]);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    x86::Ymm a = c.v.use(inst.args[0], chunk), sign = c.v.scratch(), to = c.v.scratch();
    c.a.vpxor(sign, sign, sign);
    c.a.vpcmpgtq(sign, sign, a);
    c.a.vpxor(to, a, sign);
    if (by) {
      c.a.vpsrlq(to, to, asmjit::Imm(*by % 64));
    } else {
      x86::Ymm count = c.v.use(inst.args[1], chunk), masked = c.v.scratch();
      c.a.vpand(masked, count, c.splat(63, 8));
      c.a.vpsrlvq(to, to, masked);
    }
    c.a.vpxor(to, to, sign);
    c.v.bind(inst.result, chunk, to);
    c.regs.unpin();
  }
}

/// AVX2 shifts no bytes: words are shifted, and what came from the byte beside is masked off.
void shift_bytes(Compiler& c, const CodeInst& inst, const Shift& shift, unsigned by) {
  const bool is_left = inst.op == ir::Op::shl, has_sign = inst.op == ir::Op::asr;
  const unsigned kept = (is_left ? 0xffu << by : 0xffu >> by) & 0xff;
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const x86::Ymm a = c.v.use(inst.args[0], chunk), to = c.v.define_over(inst, chunk);
    c.a.emit(has_sign ? right.vector_immediate.of(2) : shift.vector_immediate.of(2), to, a, asmjit::Imm(by));
    c.a.vpand(to, to, c.splat(kept, 1));
    if (has_sign) {  // (x ^ sign) - sign, of the bits that are left
      const x86::Mem sign = c.splat(0x80u >> by, 1);
      c.a.vpxor(to, to, sign);
      c.a.vpsubb(to, to, sign);
    }
    c.regs.unpin();
  }
}

/// AVX2 shifts lanes of words by one number only: even and odd words are shifted as parts of dwords.
void shift_words(Compiler& c, const CodeInst& inst, const Shift& shift) {
  const std::uint32_t by_lanes = shift.vector_variable.of(4);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const x86::Ymm a = c.v.use(inst.args[0], chunk), count = c.v.use(inst.args[1], chunk);
    const x86::Ymm of_even = c.v.scratch(), of_odd = c.v.scratch(), even = c.v.scratch(), odd = c.v.scratch();
    c.a.vpand(of_even, count, c.splat(15, 4));
    c.a.vpsrld(of_odd, count, 16);
    c.a.vpand(of_odd, of_odd, c.splat(15, 4));
    if (inst.op == ir::Op::shl) {
      c.a.emit(by_lanes, even, a, of_even);
      c.a.vpand(odd, a, c.splat(0xffff0000, 4));
      c.a.emit(by_lanes, odd, odd, of_odd);
    } else {
      const bool is_signed = inst.op == ir::Op::asr;
      if (is_signed) {
        c.a.vpslld(even, a, 16);
      } else {
        c.a.vpand(even, a, c.splat(0xffff, 4));
      }
      c.a.emit(by_lanes, even, even, of_even);
      if (is_signed) c.a.vpsrld(even, even, 16);
      c.a.emit(by_lanes, odd, a, of_odd);
    }
    constexpr int odd_words = 0xaa;
    c.a.vpblendw(c.v.define(inst.result, chunk), even, odd, odd_words);
    c.regs.unpin();
  }
}

void emit_shift(Compiler& c, const CodeInst& inst, const Shift& shift) {
  if (c.regs.is_scalar(inst.result)) return shift_scalar(c, inst, shift);
  const unsigned width = 8 * ir::size_of(inst.type);
  const std::uint64_t* const count = c.regs.constant(inst.args[1]);
  if (count && width == 8) return shift_bytes(c, inst, shift, static_cast<unsigned>(*count % width));
  if (count && shift.vector_immediate[inst.type]) {
    for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
      x86::Ymm a = c.v.use(inst.args[0], chunk);
      c.a.emit(shift.vector_immediate[inst.type], c.v.define_over(inst, chunk), a,
               asmjit::Imm(*count % width));
      c.regs.unpin();
    }
    return;
  }
  if (width == 16) return shift_words(c, inst, shift);
  if (!shift.vector_variable[inst.type]) return shift_signed64(c, inst);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    x86::Ymm a = c.v.use(inst.args[0], chunk), count = c.v.use(inst.args[1], chunk), masked = c.v.scratch();
    c.a.vpand(masked, count, c.splat(width - 1, width / 8));
    c.a.emit(shift.vector_variable[inst.type], c.v.define_over(inst, chunk), a, masked);
    c.regs.unpin();
  }
}

}  // namespace

void emit_and_(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result) && keep_low_bytes(c, inst)) return;
  logic2(c, inst, I::kIdAnd, I::kIdVpand);
}
void emit_or_(Compiler& c, const CodeInst& inst) { logic2(c, inst, I::kIdOr, I::kIdVpor); }
void emit_xor_(Compiler& c, const CodeInst& inst) { logic2(c, inst, I::kIdXor, I::kIdVpxor); }

void emit_andn(Compiler& c, const CodeInst& inst) {
  if (ir::is_mask(inst.type)) {
    return mask2(c, inst, I::kIdVpandn,
                 [&](x86::Gp a, x86::Gp b) { c.a.andn(c.m.define_bits(inst.result).r32(), a, b); });
  }
  if (c.regs.is_scalar(inst.result)) {
    x86::Gp a = sized(c.g.use(inst.args[0]), inst.type), b = sized(c.g.use(inst.args[1]), inst.type);
    x86::Gp to = sized(c.g.define(inst.result), inst.type);
    c.a.andn(to, a, b);
    return extend(c, to, inst.type);
  }
  lanewise2(c, inst, I::kIdVpandn);
}

void emit_not_(Compiler& c, const CodeInst& inst) {
  if (ir::is_mask(inst.type)) {
    const codegen::MaskForms forms = c.m.forms(inst);
    if (forms.width != 0)
      each_chunk(c, inst, forms.width,
                 [&](x86::Ymm to, x86::Ymm a, x86::Ymm) { c.a.vpxor(to, a, all_ones(c)); });
    if (!forms.bits) return;
    const x86::Gp to = begin_over(c, inst, 0, c.m.bits(inst.args[0]).r32());
    if (inst.lanes == 32) {
      c.a.not_(to);
    } else {
      c.a.xor_(to, asmjit::Imm(ir::lane_mask(inst.lanes)));
    }
    return;
  }
  if (c.regs.is_scalar(inst.result)) return scalar1(c, inst, I::kIdNot);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    x86::Ymm a = c.v.use(inst.args[0], chunk);
    c.a.vpxor(c.v.define_over(inst, chunk), a, all_ones(c));
    c.regs.unpin();
  }
}

void emit_shl(Compiler& c, const CodeInst& inst) { emit_shift(c, inst, left); }
void emit_shr(Compiler& c, const CodeInst& inst) { emit_shift(c, inst, right); }
void emit_asr(Compiler& c, const CodeInst& inst) { emit_shift(c, inst, right_arithmetic); }

namespace {

void rotate_scalar(Compiler& c, const CodeInst& inst) {
  const x86::Gp a = c.g.use(inst.args[0]).r32();
  if (const std::uint64_t* by = c.regs.constant(inst.args[1])) {
    const x86::Gp to = c.g.define(inst.result).r32();
    c.a.mov(to, a);
    return (void)c.a.rol(to, asmjit::Imm(*by % 32));
  }
  const x86::Gp count = c.g.use(inst.args[1]).r32(), right = c.g.scratch().r32();
  const x86::Gp to = c.g.define(inst.result).r32();
  c.a.mov(right, count);
  c.a.neg(right);
  c.a.shrx(right, a, right);
  c.a.shlx(to, a, count);
  c.a.or_(to, right);
}

/// Control of vpshufb that rotates each dword left by `bytes`.
ConstantPool::Entry rotated_bytes(unsigned bytes) {
  ConstantPool::Entry entry;
  for (unsigned i = 0; i < entry.size(); ++i)
    entry[i] = static_cast<std::uint8_t>(i % 16 / 4 * 4 + (i + 4 - bytes) % 4);
  return entry;
}

}  // namespace

void emit_rotl(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return rotate_scalar(c, inst);
  const std::uint64_t* by = c.regs.constant(inst.args[1]);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const x86::Ymm a = c.v.use(inst.args[0], chunk);
    const unsigned bits = by ? static_cast<unsigned>(*by % 32) : 0;
    if (by && bits % 8 == 0) {
      c.a.vpshufb(c.v.define_over(inst, chunk), a, c.constant(rotated_bytes(bits / 8)));
    } else if (by) {
      const x86::Ymm right = c.v.scratch(), to = c.v.define(inst.result, chunk);
      c.a.vpsrld(right, a, 32 - bits);
      c.a.vpslld(to, a, bits);
      c.a.vpor(to, to, right);
    } else {
      const x86::Ymm count = c.v.use(inst.args[1], chunk), left = c.v.scratch(), right = c.v.scratch();
      const x86::Ymm to = c.v.define(inst.result, chunk);
      c.a.vpand(left, count, c.splat(31, 4));
      c.a.vpxor(right, right, right);
      c.a.vpsubd(right, right, left);
      c.a.vpand(right, right, c.splat(31, 4));
      c.a.vpsllvd(to, a, left);
      c.a.vpsrlvd(right, a, right);
      c.a.vpor(to, to, right);
    }
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx2::emit
