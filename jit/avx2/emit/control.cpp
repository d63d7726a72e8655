// Ends of blocks, the floating point mode, fences and barriers.
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

namespace {

void emit_fault(Compiler& c, const CodeInst& inst) {
  const asmjit::Label trap = c.a.newLabel();
  c.a.jmp(trap);
  c.out_of_line([&c, trap, inst] {
    c.a.bind(trap);
    c.a.mov(x86::rax, asmjit::Imm(inst.imm));
    c.fault(fault_of(inst.op), inst, x86::rax);
  });
}

}  // namespace

void emit_trap(Compiler& c, const CodeInst& inst) { emit_fault(c, inst); }
void emit_illegal(Compiler& c, const CodeInst& inst) { emit_fault(c, inst); }
void emit_breakpoint(Compiler& c, const CodeInst& inst) { emit_fault(c, inst); }
void emit_software_exception(Compiler& c, const CodeInst& inst) { emit_fault(c, inst); }
void emit_register_message(Compiler& c, const CodeInst& inst) { emit_fault(c, inst); }
void emit_external_halt(Compiler& c, const CodeInst& inst) { emit_fault(c, inst); }

void emit_fence(Compiler& c, const CodeInst&) {
  const asmjit::Label done = c.a.newLabel();
  c.skip_if_exclusive(done);
  c.fence();
  c.a.bind(done);
}

// Waiting threads continue when the function is called again, so a fence where the code is left suffices.
void emit_turn_fence(Compiler& c, const CodeInst&) { c.fence_when_left(); }

void emit_spend(Compiler& c, const CodeInst& inst) {
  if (const std::uint64_t* mask = c.regs.constant(inst.args[0])) {
    if (*mask != 0) c.a.sub(budget_reg, asmjit::Imm(inst.imm));
    return;
  }
  const x86::Gp bits = c.m.bits(inst.args[0]), left = c.g.scratch().r64();
  c.a.lea(left, x86::ptr(budget_reg, -static_cast<std::int32_t>(inst.imm)));
  c.a.test(bits.r32(), bits.r32());
  c.a.cmovnz(budget_reg, left);
}

void emit_spend_bits(Compiler& c, const CodeInst& inst) {
  const ir::ValueId value = inst.args[0];
  const x86::Gp count = c.g.scratch().r64();
  if (c.regs.is_scalar(value)) {
    c.a.popcnt(count, c.g.use(value).r64());
  } else {
    constexpr unsigned chunk_lanes = 4;
    const x86::Ymm part = c.v.scratch(), sum = c.v.scratch(), high = c.v.scratch();
    x86::Ymm all = c.v.use(value, 0);
    for (unsigned chunk = 0; chunk < c.v.chunks(value); ++chunk) {
      x86::Ymm bits = c.v.use(value, chunk);
      if (const unsigned lanes = inst.lanes - chunk_lanes * chunk; lanes < chunk_lanes) {
        c.a.vpxor(part, part, part);
        c.a.vpblendd(part, part, bits, (1u << 2 * lanes) - 1);  // lanes beyond the last one hold anything
        bits = part;
      }
      if (chunk != 0) c.a.vpor(sum, all, bits);
      all = chunk != 0 ? sum : bits;
    }
    c.a.vextracti128(high.xmm(), all, 1);
    c.a.vpor(sum.xmm(), all.xmm(), high.xmm());
    c.a.vpshufd(high.xmm(), sum.xmm(), 0x4e);
    c.a.vpor(sum.xmm(), sum.xmm(), high.xmm());
    c.a.vmovq(count, sum.xmm());
    c.a.popcnt(count, count);
  }
  c.a.imul(count, count, asmjit::Imm(inst.imm));
  c.a.sub(budget_reg, count);
}

void emit_barrier_signal(Compiler& c, const CodeInst&) {
  c.a.inc(c.state(offsetof(ThreadState, barrier_signals), 4));
}

void emit_fpmode_set(Compiler& c, const CodeInst& inst) {
  if (const std::uint64_t* mode = c.regs.constant(inst.args[0]))
    c.set_mode(static_cast<std::uint32_t>(*mode));
  else
    c.set_mode(c.g.use(inst.args[0]).r32());
}

}  // namespace eum::jit::avx2::emit
