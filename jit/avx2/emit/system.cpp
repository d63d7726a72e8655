// SystemCall ops: calls of the environment.
#include "jit/avx2/emit/emit.hpp"
#include "jit/system_call.hpp"

namespace eum::jit::emit {
namespace {

/// Operand k at operands[k]; the frame holds both in a row.
void call_system(ThreadState* state, ir::Op op, std::uint64_t imm, const std::uint64_t* operands,
                 std::uint64_t* results) {
  system_call(*state->environment, op, imm, operands, results);
}

void emit_system_call(Compiler& c, const CodeInst& inst) {
  for (unsigned k = 0; k < 2; ++k) {
    c.r.store_packed(inst.args[k], Frame::operands + static_cast<int>(k) * 8);
    c.r.unpin();
  }
  c.call(inst, reinterpret_cast<const void*>(&call_system), [&] {
    c.a.mov(x86::rdi, state_reg);
    c.a.mov(x86::esi, static_cast<std::uint32_t>(inst.op));
    c.a.mov(x86::rdx, asmjit::Imm(inst.imm));
    c.a.lea(x86::rcx, x86::ptr(x86::rsp, Frame::operands));
    c.a.lea(x86::r8, x86::ptr(x86::rsp, Frame::data));
  });
  for (unsigned k = 0; k < inst.result_count; ++k)
    c.load_packed(inst.result + k, Frame::data + static_cast<int>(k) * 8);
}

}  // namespace

void emit_sys_load(Compiler& c, const CodeInst& inst) { emit_system_call(c, inst); }
void emit_msr_read(Compiler& c, const CodeInst& inst) { emit_system_call(c, inst); }
void emit_msr_write(Compiler& c, const CodeInst& inst) { emit_system_call(c, inst); }

}  // namespace eum::jit::emit
