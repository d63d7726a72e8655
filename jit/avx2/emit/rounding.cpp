// Float ops of one operand.
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::avx2::emit {

namespace I = x86::Inst;
using ir::Type;

namespace {

/// `mode`: immediate of vroundps; bit 3 suppresses the inexact exception.
void round(Compiler& c, const CodeInst& inst, unsigned mode) {
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    asmjit::Operand a = c.v.operand(inst.args[0], chunk);
    c.a.emit(inst.type == Type::f32 ? I::kIdVroundps : I::kIdVroundpd, c.v.define_over(inst, chunk), a,
             asmjit::Imm(mode | 8));
    c.regs.unpin();
  }
}

x86::Mem one(Compiler& c, Type type) {
  return type == Type::f32 ? c.splat(0x3f800000, 4) : c.splat(0x3ff0000000000000, 8);
}

}  // namespace

void emit_rnde(Compiler& c, const CodeInst& inst) { round(c, inst, 0); }
void emit_rndd(Compiler& c, const CodeInst& inst) { round(c, inst, 1); }
void emit_rndu(Compiler& c, const CodeInst& inst) { round(c, inst, 2); }
void emit_rndz(Compiler& c, const CodeInst& inst) { round(c, inst, 3); }

void emit_frc(Compiler& c, const CodeInst& inst) {
  const bool f32 = inst.type == Type::f32;
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    // min returns its second operand for NaN: x's own, made quiet, or the default NaN for an infinity.
    x86::Ymm x = c.v.use(inst.args[0], chunk), below_one = c.v.scratch(), to = c.v.define(inst.result, chunk);
    c.a.emit(f32 ? I::kIdVroundps : I::kIdVroundpd, to, x, asmjit::Imm(1 | 8));
    c.a.emit(f32 ? I::kIdVsubps : I::kIdVsubpd, to, x, to);
    c.a.vmovups(below_one, f32 ? c.splat(0x3f7fffff, 4) : c.splat(0x3fefffffffffffff, 8));
    c.a.emit(f32 ? I::kIdVminps : I::kIdVminpd, to, below_one, to);
    c.regs.unpin();
  }
}

void emit_sat(Compiler& c, const CodeInst& inst) {
  const bool f32 = inst.type == Type::f32;
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    // max(x, 0) returns its second operand for NaN.
    x86::Ymm a = c.v.use(inst.args[0], chunk), zero = c.v.scratch(), to = c.v.define(inst.result, chunk);
    c.a.vpxor(zero, zero, zero);
    c.a.emit(f32 ? I::kIdVmaxps : I::kIdVmaxpd, to, a, zero);
    c.a.emit(f32 ? I::kIdVminps : I::kIdVminpd, to, to, one(c, inst.type));
    c.regs.unpin();
  }
}

void emit_sqrt(Compiler& c, const CodeInst& inst) {
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    asmjit::Operand a = c.v.operand(inst.args[0], chunk);
    c.a.emit(inst.type == Type::f32 ? I::kIdVsqrtps : I::kIdVsqrtpd, c.v.define_over(inst, chunk), a);
    c.regs.unpin();
  }
}

void emit_rcp(Compiler& c, const CodeInst& inst) {
  const bool f32 = inst.type == Type::f32;
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    asmjit::Operand a = c.v.operand(inst.args[0], chunk);
    x86::Ymm to = c.v.define(inst.result, chunk);
    c.a.vmovups(to, one(c, inst.type));
    c.a.emit(f32 ? I::kIdVdivps : I::kIdVdivpd, to, to, a);
    c.regs.unpin();
  }
}

void emit_rsqrt(Compiler& c, const CodeInst& inst) {
  const bool f32 = inst.type == Type::f32;
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    asmjit::Operand a = c.v.operand(inst.args[0], chunk);
    x86::Ymm root = c.v.scratch(), to = c.v.define(inst.result, chunk);
    c.a.emit(f32 ? I::kIdVsqrtps : I::kIdVsqrtpd, root, a);
    c.a.vmovups(to, one(c, inst.type));
    c.a.emit(f32 ? I::kIdVdivps : I::kIdVdivpd, to, to, root);
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx2::emit
