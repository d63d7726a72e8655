// From op to emitter, derived from ops.def.
#include "jit/avx2/emit/pick.hpp"

namespace eum::jit::avx2::emit {

const Table table = native_table();

void lanewise2(Compiler& c, const CodeInst& inst, std::uint32_t id) {
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    x86::Ymm a = c.v.use(inst.args[0], chunk);
    asmjit::Operand b = c.v.operand(inst.args[1], chunk);
    c.a.emit(id, c.v.define_over(inst, chunk), a, b);
    c.regs.unpin();
  }
}

void commutative2(Compiler& c, const CodeInst& inst, std::uint32_t id) {
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    asmjit::Operand a = c.v.operand(inst.args[0], chunk);
    asmjit::Operand b = a.isReg() ? c.v.operand(inst.args[1], chunk) : c.v.use(inst.args[1], chunk);
    if (!a.isReg()) std::swap(a, b);
    c.a.emit(id, c.v.define_over(inst, chunk), a, b);
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx2::emit
