// Ends of blocks, the floating point mode, fences and barriers.
#include <xmmintrin.h>

#include "jit/avx2/emit/emit.hpp"
#include "jit/avx2/emit/scalar.hpp"
#include "jit/fpmode.hpp"

namespace eum::jit::avx2::emit {

void emit_jump(Compiler& c, const CodeInst& inst) { c.go_to(inst.targets.taken); }

void emit_branch_any(Compiler& c, const CodeInst& inst) {
  x86::Gp bits = c.m.bits(inst.args[0]);
  c.branch(bits, inst.targets.taken, inst.targets.fallthrough);
}

void emit_jump_ip(Compiler& c, const CodeInst& inst) {
  x86::Gp ip = c.g.use(inst.args[0]);
  c.regs.slots.write_back_live();
  c.go_to_ip(ip, inst.guest_ip);
}

void emit_wait(Compiler& c, const CodeInst& inst) {
  c.regs.slots.write_back_live();
  c.a.mov(c.state(offsetof(ThreadState, resume), 4), inst.targets.taken);
  c.finish_turn(Status::Waiting);
}

void emit_exit(Compiler& c, const CodeInst&) {
  c.regs.slots.write_back_live();
  c.finish_turn(Status::Exited);
}

void emit_trap(Compiler& c, const CodeInst& inst) {
  const asmjit::Label trap = c.a.newLabel();
  c.a.jmp(trap);
  c.out_of_line([&c, trap, inst] {
    c.a.bind(trap);
    c.a.mov(x86::rax, asmjit::Imm(inst.imm));
    c.fault(FaultKind::Unsupported, inst, x86::rax);
  });
}

/// A locked op orders as mfence does, for about half the time.
void emit_fence(Compiler& c, const CodeInst&) { c.a.lock().add(x86::ptr(x86::rsp, Frame::status, 4), 0); }

void emit_barrier_signal(Compiler& c, const CodeInst&) {
  c.a.inc(c.state(offsetof(ThreadState, barrier_signals), 4));
}

namespace {

void set_mode(ThreadState* state, std::uint32_t cr0) {
  state->fp_mode = cr0;
  state->fp_mixed = is_fp_mixed(cr0) ? 1 : 0;
  _mm_setcsr(fp_mode_mxcsr(cr0));
}

}  // namespace

void emit_fpmode_set(Compiler& c, const CodeInst& inst) {
  x86::Gp mode = c.g.use(inst.args[0]);
  asmjit::Label change = c.a.newLabel(), done = c.a.newLabel();
  c.a.cmp(c.state(offsetof(ThreadState, fp_mode), 4), mode.r32());
  c.a.jne(change);
  c.a.bind(done);
  c.out_of_line([&c, change, done, live = c.regs.live_registers(), mode] {
    c.a.bind(change);
    c.a.mov(x86::ptr(x86::rsp, Frame::operands, 8), mode);
    c.call(live, reinterpret_cast<const void*>(&set_mode), [&] {
      c.a.mov(x86::rdi, state_reg);
      c.a.mov(x86::esi, x86::ptr(x86::rsp, Frame::operands, 4));
    });
    c.a.jmp(done);
  });
}

}  // namespace eum::jit::avx2::emit
