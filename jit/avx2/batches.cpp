// The threads of a batch in translated code: how each begins, and which one is next.
#include <cstddef>

#include "jit/avx2/compiler.hpp"

namespace eum::jit::avx2 {
namespace {

/// Whether the instruction may write the header, the first 32 bytes of the register file.
bool may_write_header(const ir::Inst& inst) {
  return inst.op == ir::Op::reg_scatter ||
         (inst.op == ir::Op::reg_write && inst.region.offset < sizeof(GroupHeader));
}

}  // namespace

BatchCode Compiler::batch_code() const {
  BatchCode batches;
  batches.begins_threads = optimisations[Optimisation::begun_threads];
  batches.mode = mode_use_of(function);
  batches.line_threads = id_steps_.line_threads;
  // Without a back edge no block is executed twice.
  bool comes_back = dispatches_;
  std::int64_t all = 0;
  for (const ir::Block& block : function.blocks) {
    comes_back |= block.safepoint;
    batches.goes_on |= block.insts.back().op == ir::Op::wait;
    all += block.guest_instructions;
    for (const ir::Inst& inst : block.insts) {
      batches.signals |= inst.op == ir::Op::barrier_signal;
      batches.keeps_header |= may_write_header(inst);
      if (inst.op == ir::Op::spend || inst.op == ir::Op::spend_bits)
        all += static_cast<std::int64_t>(inst.imm) * (inst.op == ir::Op::spend ? 1 : 64);
    }
  }
  if (!comes_back && !batches.goes_on) batches.most_instructions = all;
  batches.signals |= batches.goes_on;
  batches.keeps_header |= batches.goes_on || liveness_.exact() || !batches.begins_threads;
  return batches;
}

/// Copies the wanted ones of the restored slots, whose contents begin at rcx.
void Compiler::restore(const std::function<bool(std::uint32_t slot)>& wanted) {
  static_assert(restored_slot_bytes == target.vector_bytes);
  constexpr std::uint32_t most_unrolled = 8, at_once = 4;
  const auto copy = [&](x86::Mem from, x86::Mem to, std::uint32_t slots) {
    for (std::uint32_t i = 0; i < slots; ++i) a.vmovups(x86::ymm(i), from.cloneAdjusted(32 * i));
    for (std::uint32_t i = 0; i < slots; ++i) a.vmovups(to.cloneAdjusted(32 * i), x86::ymm(i));
  };
  std::int32_t from = 0;
  for (const FileRange& range : restored_) {
    const std::uint32_t first = range.offset / restored_slot_bytes, slots = range.bytes / restored_slot_bytes;
    const auto to = static_cast<std::int32_t>(layout.file + range.offset);
    for (std::uint32_t begin = 0, end = 0; begin < slots; begin = end + 1) {
      for (end = begin; end < slots && wanted(first + end);) ++end;
      const auto behind = static_cast<std::int32_t>(32 * begin);
      std::uint32_t left = end - begin;
      if (left > most_unrolled) {
        // rax counts up from -bytes to 0.
        const std::uint32_t looped = left / at_once * at_once;
        const auto bytes = static_cast<std::int32_t>(32 * looped);
        const asmjit::Label loop = a.newLabel();
        a.mov(x86::rax, -bytes);
        a.bind(loop);
        copy(x86::ptr(x86::rcx, x86::rax, 0, from + behind + bytes, 32),
             x86::ptr(state_reg, x86::rax, 0, to + behind + bytes, 32), at_once);
        a.add(x86::rax, 32 * at_once);
        a.jnz(loop);
        left -= looped;
      }
      for (std::uint32_t at = end - left; at < end; at += at_once)
        copy(x86::ptr(x86::rcx, from + static_cast<std::int32_t>(32 * at), 32),
             x86::ptr(state_reg, to + static_cast<std::int32_t>(32 * at), 32), std::min(at_once, end - at));
    }
    from += static_cast<std::int32_t>(range.bytes);
  }
}

/// Clears memory of the environment; the arguments are offsets of the members with its address and size.
void Compiler::clear_memory(std::size_t address, std::size_t bytes) {
  const asmjit::Label next = a.newLabel(), cleared = a.newLabel();
  a.mov(x86::rcx, state(offsetof(ThreadState, environment), 8));
  a.mov(x86::rax, x86::ptr(x86::rcx, static_cast<std::int32_t>(bytes), 8));
  a.test(x86::rax, x86::rax);
  a.jz(cleared);
  a.mov(x86::rcx, x86::ptr(x86::rcx, static_cast<std::int32_t>(address), 8));
  a.vpxor(x86::ymm0, x86::ymm0, x86::ymm0);
  a.bind(next);
  static_assert(scratch_granule == 2 * target.vector_bytes);
  for (int half = 0; half < 2; ++half)
    a.vmovups(x86::ptr(x86::rcx, x86::rax, 0, 32 * half - 64, 32), x86::ymm0);
  a.sub(x86::rax, scratch_granule);
  a.jnz(next);
  a.bind(cleared);
}

/// Writes the header of a thread that has begun in a batch to the register file.
void Compiler::write_header() {
  a.vmovaps(x86::ymm0, state(offsetof(ThreadState, begin) + offsetof(ThreadBegin, header), 32));
  a.vpor(x86::ymm0, x86::ymm0, x86::ptr(x86::rsp, Frame::group, 32));
  a.vmovaps(state(layout.file, 32), x86::ymm0);
}

/// Clears local memory for a thread of the batch at rsi that is a group of its own.
void Compiler::clear_memory_of_lone_thread() {
  if (!uses_space(function, ir::MemSpace::Slm)) return;
  const asmjit::Label of_group = a.newLabel();
  a.cmp(batch_field(offsetof(ThreadBatch, group_threads), 4), 1);
  a.jne(of_group);
  clear_memory(offsetof(Environment, slm), offsetof(Environment, slm_bytes));
  a.bind(of_group);
}

/// Executable::begin(), but for local memory. The batch is at rsi unless every thread begins in the usual
/// mode.
void Compiler::begin_thread() {
  if (uses_space(function, ir::MemSpace::Scratch))
    clear_memory(offsetof(Environment, scratch), offsetof(Environment, scratch_bytes));
  const auto of_begin = [&](std::size_t offset, unsigned bytes) {
    return state(offsetof(ThreadState, begin) + offset, bytes);
  };
  if (batches_.signals) {
    a.mov(x86::qword_ptr(state_reg, offsetof(ThreadState, resume)), 0);
    static_assert(offsetof(ThreadState, barrier_signals) == offsetof(ThreadState, resume) + 4);
  }
  if (!batches_.mode.usual) {
    a.mov(x86::rax, batch_field(offsetof(ThreadBatch, fp_mode), 8));
    a.mov(state(offsetof(ThreadState, fp_mode), 8), x86::rax);
    static_assert(offsetof(ThreadBatch, fp_mixed) == offsetof(ThreadBatch, fp_mode) + 4);
  }
  if (batches_.keeps_header) write_header();
  a.mov(mask_reg, of_begin(offsetof(ThreadBegin, mask), 4));
  if (!restored_.empty()) {
    a.mov(x86::rcx, of_begin(offsetof(ThreadBegin, restored), 8));
    // Slots that only inactive channels may read are of no use to a thread that begins with all of them
    // active.
    const LiveState& live = liveness_.live_in(0);
    const bool all_wanted = (live.active | live.inactive) == live.active;
    if (partial_versions_ && !all_wanted) {
      const asmjit::Label all = a.newLabel(), copied = a.newLabel();
      a.cmp(mask_reg, asmjit::Imm(static_cast<std::int32_t>(ir::lane_mask(function.simd))));
      a.jne(all);
      restore([&](std::uint32_t slot) { return live.active[slot]; });
      a.jmp(copied);
      a.bind(all);
      restore([](std::uint32_t) { return true; });
      a.bind(copied);
    } else {
      restore([](std::uint32_t) { return true; });
    }
  }
  // Flags that are always written before they are read may hold anything.
  const bool flags = liveness_.live_in(0).active_flags.any_in_range(0, function.flag_bits) ||
                     liveness_.live_in(0).inactive_flags.any_in_range(0, function.flag_bits);
  if (flags || function.mask_variables > 1) a.vpxor(x86::ymm0, x86::ymm0, x86::ymm0);
  if (flags) {
    // The last 32 bytes may overlap the ones before.
    constexpr std::uint32_t at_once = 32;
    std::uint32_t at = layout.flags;
    for (; at + at_once <= layout.file; at += at_once) a.vmovups(state(at, at_once), x86::ymm0);
    if (at > layout.flags && at < layout.file) a.vmovups(state(layout.file - at_once, at_once), x86::ymm0);
    if (at == layout.flags)
      for (; at < layout.file; at += 8) a.mov(x86::qword_ptr(state_reg, static_cast<std::int32_t>(at)), 0);
  }
  if (function.mask_variables > 1) {
    constexpr std::uint32_t most_unrolled = 256;
    const std::uint32_t bytes = layout.regions - layout.masks;
    if (bytes <= most_unrolled) {
      for (std::uint32_t at = 0; at < 4 * function.mask_variables; at += 32)
        a.vmovups(state(layout.masks + at, 32), x86::ymm0);
    } else {
      const asmjit::Label loop = a.newLabel();
      a.mov(x86::eax, bytes);
      a.bind(loop);
      a.vmovups(x86::ptr(state_reg, x86::rax, 0, static_cast<std::int32_t>(layout.masks) - 32), x86::ymm0);
      a.sub(x86::eax, 32);
      a.jnz(loop);
    }
  }
  if (partial_versions_) {
    a.cmp(mask_reg, asmjit::Imm(static_cast<std::int32_t>(ir::lane_mask(function.simd))));
    a.jne(memory_entry(0, false));
  }
  a.jmp(memory_entry(0, true));
}

/// In code that waits: prepares the next group of the batch at rsi if all threads of this group have exited
/// and the allowance suffices for the next one; else leaves.
void Compiler::end_waiting_group() {
  const asmjit::Label sum = a.newLabel();
  a.mov(x86::ecx, batch_field(offsetof(ThreadBatch, group_threads), 4));
  a.cmp(x86::ecx, batch_field(offsetof(ThreadBatch, exited), 4));
  a.jne(epilogue_);
  // The threads' states hold what is left of the budget that each began with.
  a.mov(x86::rdx, batch_field(offsetof(ThreadBatch, granted), 8));
  a.imul(x86::rdx, x86::rcx);
  a.mov(x86::rdi, batch_field(offsetof(ThreadBatch, left), 8));
  a.sub(x86::rdi, x86::rdx);
  a.mov(x86::rax, batch_field(offsetof(ThreadBatch, group_states), 8));
  a.bind(sum);
  a.add(x86::rdi, x86::ptr(x86::rax, offsetof(ThreadState, budget), 8));
  a.add(x86::rax, layout.size);
  a.dec(x86::ecx);
  a.jnz(sum);
  a.cmp(x86::rdi, x86::rdx);
  a.jl(epilogue_);
  a.mov(batch_field(offsetof(ThreadBatch, left), 8), x86::rdi);
  a.mov(budget_reg, batch_field(offsetof(ThreadBatch, granted), 8));
  if (uses_space(function, ir::MemSpace::Slm))
    clear_memory(offsetof(Environment, slm), offsetof(Environment, slm_bytes));
  if (fences_when_left_) fence();
  a.mov(x86::ptr(x86::rsp, Frame::regular, 4), 0);
  a.mov(batch_field(offsetof(ThreadBatch, waits), 4), 1);
  a.mov(batch_field(offsetof(ThreadBatch, turns), 4), 0);
  a.mov(batch_field(offsetof(ThreadBatch, exited), 4), 0);
}

/// Runs the threads of the batch at rsi from the first one to ThreadBatch::last, then those of the following
/// groups; then returns to the caller.
void Compiler::run_batch() {
  // What code that does not wait returns; threads that may wait set it where they stop.
  constexpr auto exited = static_cast<std::uint32_t>(Status::Exited);
  const asmjit::Label continued = a.newLabel(), begin = strip_.isValid() ? strip_ : thread_begins_;
  const auto take_group = [&](x86::Gp groups) {
    a.vmovaps(x86::ymm0, x86::ptr(groups, 0, 32));
    a.vmovaps(x86::ptr(x86::rsp, Frame::group, 32), x86::ymm0);
  };
  a.mov(state_reg, batch_field(offsetof(ThreadBatch, state), 8));
  environment();
  copy_words(x86::rsi, {{Frame::last, offsetof(ThreadBatch, last)}});
  a.mov(budget_reg, batch_field(offsetof(ThreadBatch, granted), 8));
  if (batches_.goes_on) a.mov(x86::ptr(x86::rsp, Frame::regular, 4), 0);
  if (strip_.isValid())
    for (const int counter : {Frame::restored, Frame::strip_failures, Frame::strip_part})
      a.mov(x86::ptr(x86::rsp, counter, 4), 0);
  if (batches_.begins_threads) {
    a.mov(x86::rax, batch_field(offsetof(ThreadBatch, groups), 8));
    a.test(x86::rax, x86::rax);
    a.jz(continued);
    take_group(x86::rax);
    clear_memory_of_lone_thread();
    a.jmp(begin);
  } else {
    a.jmp(continued);
  }

  const asmjit::Label all_over = a.newLabel();
  if (batches_.goes_on) {
    const auto note = [&](Status status) {
      a.mov(state(offsetof(ThreadState, stopped), 4), static_cast<std::uint32_t>(status));
      a.mov(state(offsetof(ThreadState, budget), 8), budget_reg);
      a.mov(mask_variable(0), mask_reg);
      a.mov(x86::rsi, x86::ptr(x86::rsp, Frame::batch, 8));
    };
    const asmjit::Label over = a.newLabel(), begins = a.newLabel();
    a.bind(turn_over_);
    note(Status::Exited);
    a.inc(batch_field(offsetof(ThreadBatch, exited), 4));
    a.jmp(over);
    a.bind(wait_over_);
    note(Status::Waiting);
    // Counts the thread if it has reached the barrier that the whole group is to reach.
    a.mov(x86::ecx, state(offsetof(ThreadState, barrier_signals), 4));
    a.cmp(x86::ecx, batch_field(offsetof(ThreadBatch, waits), 4));
    a.cmc();
    a.adc(x86::ptr(x86::rsp, Frame::regular, 4), 0);
    a.bind(over);
    a.cmp(state_reg, x86::ptr(x86::rsp, Frame::last, 8));
    a.je(all_over);
    a.cmp(batch_field(offsetof(ThreadBatch, groups), 8), 0);
    a.jne(begins);
    leave_if_next_mode_differs(x86::ptr(state_reg, static_cast<std::int32_t>(layout.size)));
    a.add(state_reg, layout.size);
    a.jmp(continued);
    a.bind(begins);
  } else {
    a.bind(turn_over_);
    if (!batches_.begins_threads || !batches_.mode.usual) a.mov(x86::eax, exited);
    a.cmp(state_reg, x86::ptr(x86::rsp, Frame::last, 8));
    a.je(strip_.isValid() ? part_over_ : group_over_);
    if (!batches_.mode.usual || !batches_.most_instructions)
      a.mov(x86::rsi, x86::ptr(x86::rsp, Frame::batch, 8));
  }
  if (batches_.begins_threads) {
    leave_if_mode_differs();
    count_instructions();
    a.add(state_reg, layout.size);
    a.bind(thread_begins_);
    own_environment();
    begin_thread();
  } else {
    a.jmp(epilogue_);
  }

  if (batches_.goes_on) {
    a.bind(all_over);
    a.mov(x86::ecx, x86::ptr(x86::rsp, Frame::regular, 4));
    a.cmp(x86::ecx, batch_field(offsetof(ThreadBatch, turn_threads), 4));
    a.jne(group_over_);
    a.mov(x86::rdi, batch_field(offsetof(ThreadBatch, group_states), 8));
    leave_if_next_mode_differs(x86::ptr(x86::rdi));
    if (fences_when_left_) fence();
    a.mov(x86::ptr(x86::rsp, Frame::regular, 4), 0);
    a.inc(batch_field(offsetof(ThreadBatch, waits), 4));
    a.inc(batch_field(offsetof(ThreadBatch, turns), 4));
    a.mov(batch_field(offsetof(ThreadBatch, groups), 8), 0);
    a.mov(state_reg, x86::rdi);
    a.jmp(continued);
  }
  a.bind(group_over_);
  if (batches_.begins_threads) {
    a.mov(x86::rsi, x86::ptr(x86::rsp, Frame::batch, 8));
    if (!batches_.goes_on && batches_.mode.usual) a.mov(x86::eax, exited);
    a.cmp(batch_field(offsetof(ThreadBatch, whole_groups), 8), 1);
    a.je(epilogue_);
    if (batches_.goes_on) {
      end_waiting_group();
    } else {
      leave_if_mode_differs();
      count_instructions();
    }
    a.dec(batch_field(offsetof(ThreadBatch, whole_groups), 8));
    const std::size_t header =
        batches_.goes_on ? offsetof(ThreadBatch, header) : offsetof(ThreadBatch, groups);
    a.mov(x86::rax, batch_field(header, 8));
    a.add(x86::rax, sizeof(GroupHeader));
    a.mov(batch_field(offsetof(ThreadBatch, groups), 8), x86::rax);
    if (batches_.goes_on) a.mov(batch_field(header, 8), x86::rax);
    take_group(x86::rax);
    a.mov(state_reg, batch_field(offsetof(ThreadBatch, group_states), 8));
    if (!batches_.goes_on) clear_memory_of_lone_thread();
    a.jmp(begin);
  } else {
    a.jmp(epilogue_);
  }

  a.bind(continued);
  if (batches_.goes_on) a.mov(budget_reg, state(offsetof(ThreadState, budget), 8));
  if (regs.slots.reads_header()) {
    a.vmovaps(x86::ymm0, state(layout.file, 32));
    a.vmovaps(x86::ptr(x86::rsp, Frame::group, 32), x86::ymm0);
  }
  own_environment();
  enter();
}

/// Leaves, so that the caller sets the mode, unless the next thread (state at `next`), this one and the batch
/// all have the same mode, which is then in MXCSR.
void Compiler::leave_if_next_mode_differs(const x86::Mem& next) {
  a.mov(x86::edx, state(offsetof(ThreadState, fp_mode), 4));
  x86::Mem mode = next.cloneAdjusted(offsetof(ThreadState, fp_mode));
  mode.setSize(4);
  a.cmp(mode, x86::edx);
  a.jne(epilogue_);
  a.cmp(batch_field(offsetof(ThreadBatch, fp_mode), 4), x86::edx);
  a.jne(epilogue_);
}

/// A thread begins in the batch's mode. Leaves if MXCSR holds another mode, left by the thread before: then
/// the caller sets it.
void Compiler::leave_if_mode_differs() {
  if (batches_.mode.usual) return;
  a.mov(x86::edx, batch_field(offsetof(ThreadBatch, fp_mode), 4));
  a.cmp(state(offsetof(ThreadState, fp_mode), 4), x86::edx);
  a.jne(epilogue_);
}

/// Counts the instructions of the thread that is over and gives the next one its budget, unless a single
/// budget decreases from the first thread to the last. For threads that wait the caller does it: their states
/// hold what is left.
void Compiler::count_instructions() {
  if (batches_.most_instructions) return;
  a.mov(x86::rcx, batch_field(offsetof(ThreadBatch, granted), 8));
  if (!batches_.goes_on) {
    a.sub(budget_reg, x86::rcx);
    a.add(batch_field(offsetof(ThreadBatch, left), 8), budget_reg);
  }
  a.mov(budget_reg, x86::rcx);
}

}  // namespace eum::jit::avx2
