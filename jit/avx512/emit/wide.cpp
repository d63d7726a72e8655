// Integers of 64 bits, for which AVX2 has no instructions.
#include "jit/avx512/emit/emit.hpp"

namespace eum::jit::avx512::emit {

namespace I = x86::Inst;

namespace {

/// Vectors of 64-bit integers.
bool is_wide(Compiler& c, const CodeInst& inst) {
  return ir::is_int(inst.type) && ir::size_of(inst.type) == 8 && !c.regs.is_scalar(inst.result);
}

void as_on_avx2(Compiler& c, const CodeInst& inst) {
  avx2::emit::table[static_cast<std::size_t>(inst.op)](c, inst);
}

}  // namespace

void emit_mul(Compiler& c, const CodeInst& inst) {
  if (!is_wide(c, inst)) return as_on_avx2(c, inst);
  avx2::emit::commutative2(c, inst, I::kIdVpmullq);
}

void emit_mad(Compiler& c, const CodeInst& inst) {
  if (!is_wide(c, inst)) return as_on_avx2(c, inst);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const x86::Ymm a = c.v.use(inst.args[0], chunk);
    const asmjit::Operand b = c.v.operand(inst.args[1], chunk), sum = c.v.operand(inst.args[2], chunk);
    const x86::Ymm to = c.v.define(inst.result, chunk);
    c.a.emit(I::kIdVpmullq, to, a, b);
    c.a.emit(I::kIdVpaddq, to, to, sum);
    c.regs.unpin();
  }
}

void emit_min(Compiler& c, const CodeInst& inst) {
  if (!is_wide(c, inst)) return as_on_avx2(c, inst);
  avx2::emit::commutative2(c, inst, ir::is_signed(inst.type) ? I::kIdVpminsq : I::kIdVpminuq);
}

void emit_max(Compiler& c, const CodeInst& inst) {
  if (!is_wide(c, inst)) return as_on_avx2(c, inst);
  avx2::emit::commutative2(c, inst, ir::is_signed(inst.type) ? I::kIdVpmaxsq : I::kIdVpmaxuq);
}

void emit_abs(Compiler& c, const CodeInst& inst) {
  if (!is_wide(c, inst) || !ir::is_signed(inst.type)) return as_on_avx2(c, inst);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const asmjit::Operand a = c.v.operand(inst.args[0], chunk);
    c.a.emit(I::kIdVpabsq, c.v.define_over(inst, chunk), a);
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx512::emit
