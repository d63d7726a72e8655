// The thread's floating point mode and MXCSR. Where constants determine the mode, it is tracked at
// translation time: MXCSR is loaded before an op for which its value would be wrong. Elsewhere MXCSR matches
// the mode whenever an op of FpClass::Single may run, and always between blocks.
#include "jit/avx2/compiler.hpp"

namespace eum::jit::avx2 {
namespace {

/// Whether the instructions of the op encode the rounding mode themselves if it is known.
bool rounds_by_itself(const CodeInst& inst) {
  return (inst.op == ir::Op::convert || inst.op == ir::Op::convert_keep) && inst.type == ir::Type::f16 &&
         inst.from == ir::Type::f32;
}

}  // namespace

void Compiler::begin_fp_state(ir::BlockId block) {
  fp_ = {};
  fp_.mode = batches_.mode.entered[block];
  if (fp_.mode) fp_.mxcsr = fp_mode_mxcsr(*fp_.mode);
}

void Compiler::follow_mode(const CodeInst& inst) {
  const FpClass wanted = fp_class_of(inst);
  if (wanted == FpClass::None) return;
  if (!fp_.mode) return follow_fp_class(wanted);
  if (inst.op == ir::Op::fpmode_set && regs.constant(inst.args[0]) != nullptr) return;
  const std::uint32_t mxcsr = fp_mode_mxcsr(*fp_.mode, wanted), wrong = mxcsr ^ fp_.mxcsr;
  if ((wrong & ~(rounds_by_itself(inst) ? mxcsr_rounding : 0)) == 0) return;
  a.vldmxcsr(splat(mxcsr, 4));
  fp_.mxcsr = mxcsr;
}

/// In the default mode all classes need the same MXCSR, and the branch is never taken.
void Compiler::follow_fp_class(FpClass wanted) {
  if (wanted == fp_.loaded) return;
  const std::uint32_t bit = fp_mixed_bit(wanted, fp_.loaded);
  fp_.loaded = wanted;
  const asmjit::Label mixed = a.newLabel(), done = a.newLabel();
  a.test(state(offsetof(ThreadState, fp_mixed), 4), bit);
  a.jnz(mixed);
  a.bind(done);
  out_of_line([this, mixed, done, wanted] {
    a.bind(mixed);
    load_mxcsr(wanted);
    a.jmp(done);
  });
}

/// Loads MXCSR as ops of this class need it in the thread's mode. Preserves all registers.
void Compiler::load_mxcsr(FpClass wanted) {
  const auto saved = [](const x86::Gp& r) {
    return x86::ptr(x86::rsp, Frame::saved_generals + static_cast<int>(r.id()) * 8, 8);
  };
  const auto& table = mxcsr_table[static_cast<std::size_t>(wanted)];
  a.mov(saved(x86::rax), x86::rax);
  a.mov(saved(x86::rcx), x86::rcx);
  a.mov(x86::eax, state(offsetof(ThreadState, fp_mode), 4));
  a.shr(x86::eax, cr0_bit::Rounding);
  a.and_(x86::eax, 15);
  a.mov(x86::rcx, asmjit::Imm(reinterpret_cast<std::uint64_t>(table.data())));
  a.vldmxcsr(x86::ptr(x86::rcx, x86::rax, 2, 0, 4));
  a.mov(x86::rax, saved(x86::rax));
  a.mov(x86::rcx, saved(x86::rcx));
}

/// Most threads set the mode that they begin with, so the change is out of line.
void Compiler::set_mode(x86::Gp mode) {
  const x86::Gp mixed = g.scratch().r32();
  asmjit::Label change = a.newLabel(), done = a.newLabel();
  a.cmp(state(offsetof(ThreadState, fp_mode), 4), mode);
  a.jne(change);
  a.bind(done);
  fp_ = {};
  out_of_line([this, change, done, mode, mixed] {
    a.bind(change);
    a.mov(state(offsetof(ThreadState, fp_mode), 4), mode);
    // fp_mixed
    a.mov(mixed, mode);
    a.not_(mixed);
    a.shr(mixed, cr0_bit::Keep64);
    a.and_(mixed, 3);
    a.imul(mixed, mixed, 7);
    a.shr(mixed, 1);
    a.and_(mixed, 3);
    a.mov(state(offsetof(ThreadState, fp_mixed), 4), mixed);
    load_mxcsr(FpClass::Single);
    a.jmp(done);
  });
}

/// Writes the mode to the thread's state.
void Compiler::write_mode(std::uint32_t cr0) {
  static_assert(offsetof(ThreadState, fp_mixed) == offsetof(ThreadState, fp_mode) + 4);
  if (fp_mixed(cr0) == 0 && cr0 <= INT32_MAX) {
    a.mov(state(offsetof(ThreadState, fp_mode), 8), asmjit::Imm(cr0));
  } else {
    a.mov(state(offsetof(ThreadState, fp_mode), 4), asmjit::Imm(cr0));
    a.mov(state(offsetof(ThreadState, fp_mixed), 4), asmjit::Imm(fp_mixed(cr0)));
  }
}

void Compiler::set_mode(std::uint32_t cr0) {
  if (fp_.mode) {
    if (fp_.mode != cr0) write_mode(cr0);
    fp_.mode = cr0;
    return;
  }
  const asmjit::Label change = a.newLabel(), done = a.newLabel();
  a.cmp(state(offsetof(ThreadState, fp_mode), 4), asmjit::Imm(static_cast<std::int32_t>(cr0)));
  a.jne(change);
  a.bind(done);
  fp_.mode = cr0;
  fp_.mxcsr = fp_mode_mxcsr(cr0);
  out_of_line([this, cr0, change, done, mxcsr = fp_.mxcsr] {
    a.bind(change);
    write_mode(cr0);
    a.vldmxcsr(splat(mxcsr, 4));
    a.jmp(done);
  });
}

/// The immediate has vcvtps2ph's own encoding: nearest, down, up, to zero; 4: as MXCSR says.
unsigned Compiler::rounding_to_half() const {
  constexpr unsigned by_mxcsr = 4, of_cr0[]{0, 2, 1, 3};
  return fp_.mode ? of_cr0[*fp_.mode >> cr0_bit::Rounding & 3] : by_mxcsr;
}

}  // namespace eum::jit::avx2
