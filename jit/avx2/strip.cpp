// Several threads of a group in one loop: codegen/strip.hpp.
#include "jit/codegen/strip.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "jit/avx2/compiler.hpp"
#include "jit/avx2/emit/memory.hpp"
#include "jit/avx2/emit/strip.hpp"

namespace eum::jit::avx2 {
namespace {

/// How many of the 11 general registers hold steps and bases of windows; other bases are in the frame. Five
/// are left for a comparison of a ramp, seven or nine for an access of lanes.
unsigned registers_of_windows(const codegen::Strip& strip) {
  if (strip.has_large_ops()) return 2;
  return strip.has_other_accesses() ? 4 : 6;
}

/// Which part of a group is running. The last thread runs apart if ids do not go on in it. Where a strip
/// fails, as the first and last threads of a group are at the edges of an image, both do, with a strip
/// between them.
enum GroupPart : std::int32_t { Whole, AllButLast, First, Between };
/// Shorter groups are not divided: threads.
constexpr unsigned least_divided = 6;
x86::Mem running_part() { return x86::ptr(x86::rsp, Frame::strip_part, 4); }

/// After so many failures in succession as many groups are not tried.
constexpr int most_failures = 4, groups_skipped = 12;
x86::Mem failures() { return x86::ptr(x86::rsp, Frame::strip_failures, 4); }

/// How many threads the current line has from the current one on.
x86::Mem left_of_line() { return x86::ptr(x86::rsp, Frame::strip_line, 4); }

x86::Mem frame_word(int offset) { return x86::ptr(x86::rsp, offset, 8); }
x86::Mem step_word(std::size_t step) { return frame_word(Frame::strip_steps + 8 * static_cast<int>(step)); }

}  // namespace

/// Code that runs the threads from the one at rbx to the last one of the batch at rsi, if the function suits
/// it. Where the threads do not it continues at thread_begins_.
void Compiler::strip() {
  const bool suits = optimisations[Optimisation::strips] && id_steps_.any() && batches_.begins_threads &&
                     !batches_.goes_on && !batches_.signals && batches_.mode.usual &&
                     batches_.most_instructions && !liveness_.exact() && is_begun_only(function) &&
                     !uses_space(function, ir::MemSpace::Scratch) && !uses_space(function, ir::MemSpace::Slm);
  if (!suits) return;
  auto strip =
      codegen::Strip::of({function, id_steps_, group_dwords, *batches_.mode.usual, restored_}, code_);
  if (!strip) return;
  strip_ = a.newLabel();
  StripRegisters registers;
  unsigned left = registers_of_windows(*strip);
  // The highest ones, as instructions with the others are shorter.
  const auto reserve = [&] {
    const std::uint32_t free = host.target.general_registers & ~registers.reserved;
    const auto reg = static_cast<std::uint32_t>(std::bit_width(free)) - 1;
    registers.reserved |= std::uint32_t{1} << reg;
    --left;
    return x86::gpq(reg);
  };
  for (std::size_t i = 0; i < strip->steps().size(); ++i) registers.indices.push_back(reserve());
  int word = Frame::strip_windows;
  for (const codegen::Strip::Window& window : strip->windows()) {
    StripWindow& one = strip_windows_.emplace_back();
    if (left != 0) one.base = reserve();
    one.word = std::exchange(word, word + 8);
    one.bytes = window.bytes;
    if (!window.step.is_zero()) {
      const auto step = std::ranges::find(strip->steps(), window.step) - strip->steps().begin();
      one.index = registers.indices[static_cast<std::size_t>(step)];
    }
  }
  strip_head(*strip, registers);
  strip_body(*strip, registers);
}

void Compiler::begin_strip_code(std::span<CodeInst> insts, const StripRegisters& registers) {
  code_.take(insts);
  regs.begin_block(code_, {}, {}, registers.reserved);
  regs.slots.begin_with_header(group_dwords);
  begin_fp_state(0);
  annotated_ip_ = ~0u;
}

void Compiler::strip_head(codegen::Strip& strip, const StripRegisters& registers) {
  if (annotate_) a.comment("; strip, head");
  a.bind(strip_);
  const asmjit::Label apart = threads_apart(), fails = strip_fails(apart), checks = a.newLabel();
  const x86::Gp more = registers.indices[0];
  a.mov(more.r32(), batch_field(offsetof(ThreadBatch, strip), 4));
  a.test(more.r32(), more.r32());
  a.jz(apart);
  go_if_failed(apart);
  divide_if_last_is_apart(checks);
  a.bind(checks);
  run_next_part(more, checks, apart);
  if (!restored_.empty()) restore_all(strip.writes_restored());
  begin_strip_code(strip.head(), registers);
  const std::span<const CodeInst> insts = code_.insts();
  const std::size_t conditions = insts.size() - strip.windows().size() - strip.conditions().size(),
                    windows = conditions + strip.conditions().size();
  std::array<bool, codegen::Strip::most_steps> is_known{};
  for (std::uint32_t i = 0; i < insts.size(); ++i) {
    const CodeInst& inst = insts[i];
    if (annotate_) annotate(inst);
    regs.begin_inst(i);
    if (i < conditions)
      host.emitters[static_cast<std::size_t>(inst.op)](*this, inst);
    else if (i < windows)
      emit::check_condition(*this, inst, strip.conditions()[i - conditions], more, fails);
    else
      strip_window(strip, i - windows, inst, more, is_known, fails);
    regs.end_inst(inst);
  }
  for (const x86::Gp& index : registers.indices) a.xor_(index.r32(), index.r32());
  a.mov(mask_reg, asmjit::Imm(static_cast<std::int32_t>(ir::lane_mask(function.simd))));
  a.mov(failures(), 0);
  if (strip.line_threads() > 1) a.mov(left_of_line(), strip.line_threads());
}

void Compiler::strip_window(const codegen::Strip& strip, std::size_t index, const CodeInst& access,
                            x86::Gp more, std::span<bool> is_known, asmjit::Label otherwise) {
  const codegen::Strip::Window& window = strip.windows()[index];
  const StripWindow& place = strip_windows_[index];
  const auto step =
      static_cast<std::size_t>(std::ranges::find(strip.steps(), window.step) - strip.steps().begin());
  if (!window.step.is_constant() && !std::exchange(is_known[step], true))
    emit::compute_step(*this, window.step, step_word(step), otherwise);
  const bool is_kept = place.base.isValid();
  const x86::Gp begin = is_kept ? place.base : x86::Gp(g.scratch());
  emit::MemorySite(*this, access).check_window(window, more, step_word(step), begin, otherwise);
  if (!is_kept) a.mov(frame_word(place.word), begin);
}

/// Jumps if strips have repeatedly failed, as at the edges of an image.
void Compiler::go_if_failed(asmjit::Label apart) {
  const asmjit::Label skip = a.newLabel();
  a.cmp(failures(), 0);
  a.jl(skip);
  out_of_line([this, skip, apart] {
    a.bind(skip);
    a.inc(failures());
    a.jnz(apart);
    a.mov(failures(), most_failures - 1);
    a.jmp(apart);
  });
}

/// The strip then ends with the thread before the last one.
void Compiler::divide_if_last_is_apart(asmjit::Label checks) {
  const asmjit::Label divides = a.newLabel();
  a.cmp(batch_field(offsetof(ThreadBatch, last_is_apart), 1), 0);
  a.jne(divides);
  out_of_line([this, divides, checks] {
    const x86::Gp last = x86::rax;
    a.bind(divides);
    a.mov(last, frame_word(Frame::last));
    a.mov(frame_word(Frame::group_last), last);
    a.sub(last, layout.size);
    a.mov(frame_word(Frame::last), last);
    a.mov(running_part(), AllButLast);
    a.jmp(checks);
  });
}

/// Where a check fails: the threads begin one by one.
asmjit::Label Compiler::strip_fails(asmjit::Label apart) {
  const asmjit::Label fails = a.newLabel();
  out_of_line([this, fails, apart] {
    const asmjit::Label final = a.newLabel(), divided = a.newLabel();
    const x86::Gp last = x86::rax, batch = x86::rsi;
    a.bind(fails);
    a.mov(last, frame_word(Frame::last));
    a.cmp(running_part(), AllButLast);
    a.jg(final);
    a.je(divided);
    a.mov(frame_word(Frame::group_last), last);
    a.bind(divided);
    a.mov(batch, frame_word(Frame::batch));
    a.cmp(batch_field(offsetof(ThreadBatch, between), 4), least_divided - 3);
    a.jb(final);
    a.mov(frame_word(Frame::last), state_reg);
    a.mov(running_part(), First);
    a.jmp(apart);
    a.bind(final);
    a.mov(last, frame_word(Frame::group_last));
    a.mov(frame_word(Frame::last), last);
    a.mov(running_part(), Whole);
    a.inc(failures());
    a.cmp(failures(), most_failures);
    a.jl(apart);
    a.mov(failures(), -groups_skipped);
    a.jmp(apart);
  });
  return fails;
}

/// Where the last thread of a part has exited. `more`: becomes the number of threads behind the first one of
/// the strip that is checked at `checks`.
void Compiler::run_next_part(x86::Gp more, asmjit::Label checks, asmjit::Label apart) {
  out_of_line([this, more, checks, apart] {
    const asmjit::Label last_one = a.newLabel();
    const x86::Gp last = x86::rax, batch = x86::rsi;
    a.bind(part_over_);
    a.cmp(running_part(), Whole);
    a.je(group_over_);
    a.mov(last, frame_word(Frame::group_last));
    a.cmp(running_part(), First);
    a.jne(last_one);
    a.add(state_reg, layout.size);
    a.sub(last, layout.size);
    a.mov(frame_word(Frame::last), last);
    a.mov(running_part(), Between);
    a.mov(batch, frame_word(Frame::batch));
    a.mov(more.r32(), batch_field(offsetof(ThreadBatch, between), 4));
    a.jmp(checks);
    a.bind(last_one);
    a.mov(state_reg, last);
    a.mov(frame_word(Frame::last), last);
    a.mov(running_part(), Whole);
    a.jmp(apart);
  });
}

/// Where the threads begin one by one, each of which restores its slots and may change them.
asmjit::Label Compiler::threads_apart() {
  if (restored_.empty()) return thread_begins_;
  const asmjit::Label apart = a.newLabel();
  out_of_line([this, apart] {
    a.bind(apart);
    a.mov(x86::ptr(x86::rsp, Frame::restored, 4), 0);
    a.jmp(thread_begins_);
  });
  return apart;
}

/// Restores the slots of all threads, unless they have been restored and nothing has changed them since.
void Compiler::restore_all(bool changes) {
  const asmjit::Label some = a.newLabel(), done = a.newLabel();
  a.cmp(x86::ptr(x86::rsp, Frame::restored, 4), 0);
  a.je(some);
  a.bind(done);
  out_of_line([this, some, done, changes] {
    const asmjit::Label next = a.newLabel(), last = a.newLabel();
    const x86::Gp first = x86::rdx;
    a.bind(some);
    a.mov(first, state_reg);
    a.bind(next);
    a.mov(x86::rcx, state(offsetof(ThreadState, begin) + offsetof(ThreadBegin, restored), 8));
    restore([](std::uint32_t) { return true; });
    a.cmp(state_reg, x86::ptr(x86::rsp, Frame::last, 8));
    a.je(last);
    a.add(state_reg, layout.size);
    a.jmp(next);
    a.bind(last);
    a.mov(state_reg, first);
    if (!changes) a.mov(x86::ptr(x86::rsp, Frame::restored, 4), 1);
    a.jmp(done);
  });
}

void Compiler::step_in_line(const codegen::Strip& strip, const StripRegisters& registers) {
  for (std::size_t i = 0; i < registers.indices.size(); ++i)
    if (const std::uint32_t by = strip.steps()[i].in_line; by != 0) a.add(registers.indices[i], by);
}

/// From the last thread of a line to the first one of the next.
void Compiler::step_to_line(const codegen::Strip& strip, const StripRegisters& registers) {
  for (std::size_t i = 0; i < registers.indices.size(); ++i) {
    const codegen::Strip::Step& step = strip.steps()[i];
    const std::uint32_t by = step.by - (strip.line_threads() - 1) * step.in_line;
    if (by != 0) a.add(registers.indices[i], static_cast<std::int32_t>(by));
    if (!step.is_constant()) a.add(registers.indices[i], step_word(i));
  }
}

void Compiler::strip_body(codegen::Strip& strip, const StripRegisters& registers) {
  if (annotate_) a.comment("; strip, each thread");
  const asmjit::Label next = a.newLabel(), first = a.newLabel(), next_line = a.newLabel();
  const bool has_lines = strip.line_threads() > 1;
  a.jmp(first);
  a.align(asmjit::AlignMode::kCode, 32);
  a.bind(next);
  a.add(state_reg, layout.size);
  if (has_lines) {
    a.dec(left_of_line());
    a.jz(next_line);
    step_in_line(strip, registers);
  } else {
    step_to_line(strip, registers);
  }
  a.bind(first);
  a.sub(budget_reg, strip.guest_instructions());
  begin_strip_code(strip.body(), registers);
  const std::span<const CodeInst> insts = code_.insts();
  for (std::uint32_t i = 0; i < insts.size(); ++i) {
    const CodeInst& inst = insts[i];
    if (annotate_) annotate(inst);
    follow_mode(inst);
    if (inst.op == ir::Op::exit) break;
    regs.begin_inst(i);
    host.emitters[static_cast<std::size_t>(inst.op)](*this, inst);
    regs.end_inst(inst);
  }
  a.cmp(state_reg, x86::ptr(x86::rsp, Frame::last, 8));
  a.jne(next);
  a.jmp(part_over_);
  if (!has_lines) return;
  a.bind(next_line);
  a.mov(left_of_line(), strip.line_threads());
  step_to_line(strip, registers);
  a.jmp(first);
}

}  // namespace eum::jit::avx2
