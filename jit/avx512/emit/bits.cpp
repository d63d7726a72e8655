// Bitwise ops that AVX2 takes several instructions for: rotations, and one of three operands.
#include "jit/avx512/emit/emit.hpp"

namespace eum::jit::avx512::emit {

void emit_rotl(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return avx2::emit::emit_rotl(c, inst);
  const std::uint64_t* by = c.regs.constant(inst.args[1]);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    if (by != nullptr) {
      const asmjit::Operand a = c.v.operand(inst.args[0], chunk);
      c.a.emit(x86::Inst::kIdVprold, c.v.define_over(inst, chunk), a, asmjit::Imm(*by % 32));
    } else {
      const x86::Ymm a = c.v.use(inst.args[0], chunk), count = c.v.use(inst.args[1], chunk);
      c.a.vprolvd(c.v.define_over(inst, chunk), a, count);
    }
    c.regs.unpin();
  }
}

void emit_bfi2(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return avx2::emit::emit_bfi2(c, inst);
  if (avx2::emit::blends_words(c, inst)) return;
  constexpr int first_selects = 0xca;  // the bit of the second or, where the first is 0, of the third
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const x86::Ymm a = c.v.use(inst.args[1], chunk);
    const asmjit::Operand mask = c.v.operand(inst.args[0], chunk), b = c.v.operand(inst.args[2], chunk);
    const x86::Ymm to = c.v.define(inst.result, chunk);
    c.a.emit(x86::Inst::kIdVmovdqu, to, mask);
    c.a.emit(x86::Inst::kIdVpternlogd, to, a, b, asmjit::Imm(first_selects));
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx512::emit
