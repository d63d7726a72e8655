// Rotations.
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

}  // namespace eum::jit::avx512::emit
