#pragma once
// Translates one function: both versions of each block, the edges between them, calls into C++ and
// out-of-line code. Emitters (emit/*.cpp) use its public part.
#include <asmjit/x86.h>

#include <deque>
#include <functional>
#include <memory>
#include <memory_resource>
#include <vector>

#include "jit/access.hpp"
#include "jit/analysis/alike_bits.hpp"
#include "jit/analysis/region_numbers.hpp"
#include "jit/analysis/row_walks.hpp"
#include "jit/analysis/uncleared_loads.hpp"
#include "jit/avx2/registers.hpp"
#include "jit/avx2/row_stores.hpp"
#include "jit/codegen/beyond_caches.hpp"
#include "jit/codegen/closure.hpp"
#include "jit/codegen/entry_state.hpp"
#include "jit/codegen/exit_table.hpp"
#include "jit/codegen/parting_branch.hpp"
#include "jit/codegen/schedule.hpp"
#include "jit/codegen/small_loops.hpp"
#include "jit/codegen/strip.hpp"
#include "jit/fpmode.hpp"
#include "jit/image_access.hpp"
#include "jit/passes/control.hpp"
#include "memory/image/kernels/kernel_cache.hpp"

namespace eum::jit::avx2 {

/// Data that translated code refers to; lives as long as the code.
struct CodeData {
  /// A memory access that is done by a function of jit/access.hpp.
  struct CallSite {
    Access access;
    bool (*function)(const Environment&, const Access&, const AccessOperands&, void* data, Fault&);
    std::uint32_t exit_row = 0;  ///< of CodeData::exits, if it faults
    /// For an out-of-line call, numbers of registers in CodeData::registers from `registers` on: addresses,
    /// data, results. They are vectors; a single address, and data and result of one lane, are in general
    /// registers.
    std::uint32_t registers = 0;
    std::uint8_t addresses = 0, data = 0, results = 0;
    std::optional<std::uint8_t> address = {}, mask = {}, surface = {};
    bool in_vectors = false;  ///< data and results
  };
  codegen::ExitTable exits{target.vector_bytes};
  std::vector<RowStoreCode> row_stores;
  std::vector<CallSite> call_sites;
  std::vector<std::uint8_t> registers;
  struct ImageCall {
    ImageSite site;
    mutable mem::image::KernelSite kernel;  ///< the kernel used last
  };
  std::deque<ImageCall> image_calls;  ///< code points at them
  StateLayout layout;

  /// Nothing more will be added.
  void finish();
  std::size_t bytes() const;
};

/// Functions that translated code calls for an access: bool (ThreadState*, const CodeData*, std::byte*
/// frame). The first expects operands packed in the frame; the second, in saved registers that the call site
/// names.
const void* access_function();
const void* register_access_function();

/// How a function's code runs the threads of a batch.
struct BatchCode {
  bool begins_threads = false;  ///< it begins them itself
  bool goes_on = false;         ///< threads may wait, and continue in a later batch
  /// Upper bound of what a thread executes, if the code need not check the budget while it runs.
  std::optional<std::int64_t> most_instructions;
  std::uint32_t line_threads = 1;  ///< of LaunchFacts::id_steps
  bool signals = false;  ///< ThreadState::resume and barrier_signals change in threads that later exit
  /// Each thread that begins finds its header in the register file. Otherwise nothing reads or writes it
  /// there, and only a thread that leaves the code gets it.
  bool keeps_header = false;
  ModeUse mode;
};

/// Location in the frame of the rows along which the lanes of a load walk: for each vector of eight lanes the
/// places where they started, and 32 bytes of each row from there on, interleaved dword by dword across all
/// eight.
struct RowWindow {
  static constexpr int row_bytes = 32;
  static constexpr int first_bytes = 32, window_bytes = first_bytes + 8 * row_bytes;  ///< of eight lanes
  static constexpr int position_bytes = 16;
  /// Added to a position to invalidate the window, as memory may have changed.
  static constexpr int forgotten = 2 * row_bytes;

  int position;
  int windows;
  int step;   ///< bytes per iteration
  bool down;  ///< towards lower addresses: dwords are in this order, too

  /// Four bytes: the presumed distance of the lanes from where they started.
  x86::Mem at() const { return x86::ptr(x86::rsp, position, 4); }
  /// A byte: how many rows in succession have been left too early.
  x86::Mem short_rows() const { return x86::ptr(x86::rsp, position + 4, 1); }
  /// In the address space: the start of the region that places are relative to.
  x86::Mem region_start() const { return x86::ptr(x86::rsp, position + 8, 8); }
  x86::Mem firsts(unsigned row) const { return x86::ptr(x86::rsp, of(row), 32); }
  x86::Mem first(unsigned lane) const {
    return x86::ptr(x86::rsp, of(lane / 8) + static_cast<int>(lane % 8) * 4, 4);
  }
  /// The dword of all eight lanes, `distance` bytes from where they started, a multiple of 4.
  x86::Mem dwords(unsigned row, int distance) const {
    return x86::ptr(x86::rsp, of(row) + first_bytes + distance * 8, 32);
  }
  x86::Mem dwords(unsigned row, x86::Gp distance) const {
    return x86::ptr(x86::rsp, distance.r64(), 3, of(row) + first_bytes, 32);
  }

 private:
  int of(unsigned row) const { return windows + static_cast<int>(row) * window_bytes; }
};

/// Where a codegen::Strip::Window of the current thread begins, in its loop: at the sum of base and index.
struct StripWindow {
  x86::Gp base;   ///< or, if there is no such register, it is in the frame
  int word = 0;   ///< offset in the frame
  x86::Gp index;  ///< none: the window is the same for all threads
  unsigned bytes = 0;
};

class Compiler;

namespace emit {
using Emitter = void (*)(Compiler&, const CodeInst&);
/// One for each op.
using Table = std::array<Emitter, ir::op_count>;
}  // namespace emit

/// What differs between hosts.
struct Host {
  EngineKind kind;
  codegen::Target target;
  const emit::Table& emitters;
  /// Has the instructions of AVX-512VL, 32 vector registers, and a mask register for emitters.
  bool evex() const { return target.vector_registers > 16; }
  /// Masks of micro-ops are in mask registers.
  bool has_mask_registers() const { return target.mask_registers != 0; }
};
extern const Host avx2_host;

/// The engine that translates for this host. The processor must have its instructions.
std::unique_ptr<Engine> make_engine(const Host& host);

class Compiler {
  ConstantPool pool_;

 public:
  /// `restored`: what Executable::restored() will be.
  Compiler(const Host& host, const ir::Function& function, const Liveness& liveness, const ScalarRuns& runs,
           const RowWalks& walks, const RowStores& row_stores, std::span<const FileRange> restored,
           const CompileOptions& options, asmjit::CodeHolder& code, CodeData& data);

  /// Emits everything and returns the label of the entry. Throws EngineBug; an error names the limit that the
  /// code exceeds.
  Result<asmjit::Label> run(bool annotate, const Limits& limits);
  const BatchCode& batches() const { return batches_; }

  // ---- For emitters
  const Host& host;
  Assembler a;
  const ir::Function& function;
  const StateLayout layout;
  CodeData& data;
  const Optimisations optimisations;
  const std::uint32_t group_dwords;
  const RegionNumbers region_numbers;
  const OuterMasks outer_masks;
  const int outer_masks_begin;    ///< in the frame
  std::vector<HostPlace> places;  ///< filled by run() if it annotates

  x86::Mem state(std::size_t offset, unsigned bytes) const {
    return x86::ptr(state_reg, static_cast<std::int32_t>(offset), bytes);
  }
  /// A field of the batch at rsi.
  static x86::Mem batch_field(std::size_t offset, unsigned bytes) {
    return x86::ptr(x86::rsi, static_cast<std::int32_t>(offset), bytes);
  }
  /// The parked channels of variable `index`; variable 0, the execution mask, is not up to date while the
  /// thread runs. Variables behind the function's are outer masks, which are in the frame.
  x86::Mem mask_variable(std::uint64_t index) const {
    if (index >= function.mask_variables)
      return x86::ptr(x86::rsp, outer_masks_begin + 4 * static_cast<int>(index - function.mask_variables), 4);
    return state(layout.masks + 4 * index, 4);
  }
  x86::Mem memory(codegen::Location location, unsigned bytes) const { return moves_.memory(location, bytes); }
  /// `bytes`, a power of two, of the register file in memory; what a register holds above them is undefined.
  void load(x86::Ymm to, unsigned file_offset, unsigned bytes) {
    moves_.load_vector(to.id(), codegen::Location::file(file_offset), bytes);
  }
  void store(unsigned file_offset, x86::Ymm from, unsigned bytes) {
    moves_.store_vector(codegen::Location::file(file_offset), from.id(), bytes);
  }
  x86::Mem constant(const ConstantPool::Entry& entry) { return moves_.constant(entry); }
  /// `to` = row `row` of eight lanes of a mask. Returns `to`.
  x86::Ymm spread_mask(x86::Ymm to, x86::Gp bits, unsigned row) {
    moves_.spread_mask(to.id(), bits.id(), 4, row, 0);
    return to;
  }
  /// `bits` of `bytes` (1, 2, 4, 8) width in every lane.
  x86::Mem splat(std::uint64_t bits, unsigned bytes) { return constant(ConstantPool::splat(bits, bytes)); }
  ir::Type type_of(ir::ValueId value) const { return function.values[value].type; }
  unsigned lanes_of(ir::ValueId value) const { return function.values[value].lanes; }
  /// The instructions of the current block.
  std::span<const CodeInst> block_insts() const { return code_.insts(); }
  const ir::MemoryAccess& access(const CodeInst& inst) const { return function.access(inst); }
  /// Code of the current block may be longer if that makes it faster.
  bool in_small_loop() const { return small_loops_.contain(current_); }
  const codegen::BeyondCaches& beyond_caches() const { return beyond_caches_; }
  const AlikeBits& alike_bits() const { return alike_bits_; }
  const UnclearedLoads& uncleared_loads() const { return uncleared_loads_; }

 private:
  Moves moves_;

 public:
  codegen::Allocator regs;
  VectorRegisters v;
  GeneralRegisters g;
  MaskRegisters m;
  SlotRegisters s;

  // ---- The floating point mode: fp_mode.cpp
  /// cr0.0 as the thread has last set it, if it is a constant.
  std::optional<std::uint32_t> known_mode() const { return fp_.mode; }
  /// Sets the thread's mode to that of the cr0.0 in `mode`, or of a constant one. After a constant, MXCSR is
  /// not loaded before an op needs it.
  void set_mode(x86::Gp mode);
  void set_mode(std::uint32_t cr0);
  /// The rounding immediate of vcvtps2ph.
  unsigned rounding_to_half() const;
  /// Emits `flush`, which makes denormals of f16 zeros, if the mode does not keep them; out of line if the
  /// mode is not known.
  template <class Flush>
  void flush_if_not_kept(Flush flush);

  // ---- Calls
  /// Emits the op as a call of its function of frontend/ir/semantics/lane_function.hpp.
  void call_lane_function(const CodeInst& inst);
  /// Calls `target` in the middle of the code: `arguments` sets argument registers after live registers have
  /// been saved. A function that returns false has set ThreadState::fault: the thread leaves.
  void call(const codegen::LiveRegisters& live, const void* target, const std::function<void()>& arguments,
            bool may_fault = false);
  void call(const CodeInst& inst, const void* target, const std::function<void()>& arguments,
            bool may_fault = false) {
    regs.slots.leave_registers();
    call(regs.live_after(inst), target, arguments, may_fault);
  }
  /// Writes the value's lanes, packed, to the frame at `offset`.
  void store_packed(ir::ValueId value, int offset);
  /// Loads a result from packed lanes in the frame.
  void load_packed(ir::ValueId value, int offset);

  /// The memory access of a site whose operands are in registers, called from out of line. Preserves every
  /// register but those of the results. Sets the site's `exit_row`.
  void call_site_out_of_line(std::uint32_t site);
  /// The same in line; operands whose last use is `inst` need not be preserved.
  void call_site(std::uint32_t site, const CodeInst& inst);

  // ---- Out of line
  /// Code to be emitted out of line, after the last block. What leaves there writes back the slots that are
  /// dirty now.
  template <class Emit>
  void out_of_line(Emit emit) {
    out_of_line(data.exits.add(regs.slots.dirty()), std::move(emit));
  }
  /// Leaves with this status from out-of-line code. The dirty slots are those at the call of out_of_line;
  /// `saved`: the vector registers are in the frame, as in a call.
  void leave(Status status, bool saved = false);
  void fault(FaultKind kind, const CodeInst& inst, x86::Gp address);

  /// The row window of a load whose lanes walk along rows, if they do; `first_lane` is a multiple of 8.
  std::optional<RowWindow> row_window(ir::ValueId result, unsigned first_lane) const;
  /// The window of an access that has one.
  const StripWindow& strip_window(const CodeInst& inst) const { return strip_windows_.at(inst.window - 1u); }
  /// In the loop whose full version is being emitted: where a store collects elements of rows, if it does.
  std::optional<RowStoreSite> row_store(const CodeInst& inst, unsigned first_lane) const;
  void row_store_event(const RowStoreSite& site, RowStoreEvent event);
  /// Surfaces that the function writes.
  std::span<const std::uint8_t> written_surfaces() const { return walks_.written; }

  /// The index in Frame::scattered of the counter of the next access of lanes.
  unsigned next_lane_site() { return lane_sites_++ % Frame::scattered_counters; }

  // ---- Atomics and fences
  /// Go to the label if Environment::exclusive is set, or is not. Change flags.
  void skip_if_exclusive(asmjit::Label to);
  void go_unless_exclusive(asmjit::Label to);
  /// A lock prefix for the next instruction, skipped if Environment::exclusive is set. Changes flags.
  void lock_unless_exclusive();
  /// Orders stores before later loads, as mfence does, in about half the time.
  void fence() { a.lock().add(x86::ptr(x86::rsp, Frame::status, 4), 0); }
  /// A fence where the code is left, for everything executed by then.
  void fence_when_left() { fences_when_left_ = true; }

  // ---- Ends of blocks: memory is up to date
  void finish(Status status);
  /// The same where the thread exits or waits, and the next one of a batch may run.
  void finish_turn(Status status);
  void go_to(ir::BlockId target);
  bool is_jump(ir::BlockId target);
  void branch(x86::Gp bits, ir::BlockId taken, ir::BlockId fallthrough);
  /// The same by a condition of the processor's flags.
  void branch(x86::CondCode condition, ir::BlockId taken, ir::BlockId fallthrough);
  /// To the block that begins at the guest byte offset in `ip`: through one dispatcher per function, so that
  /// code grows with blocks plus jumps, not with their product.
  void go_to_ip(x86::Gp ip, std::uint32_t guest_ip);
  void find_place(x86::Gp ip, x86::Gp at, x86::Gp table, asmjit::Label found, asmjit::Label bad);

 private:
  /// A version of a block: where it begins, and what it expects in registers.
  struct Version {
    asmjit::Label label;
    asmjit::Label from_memory;  ///< valid once an edge with every slot in memory leads here
    codegen::EntryState entry;
    bool fixed = false;
  };
  struct OutOfLine {
    codegen::Closure emit;
    std::uint32_t exit_row;  ///< of what leaves there
    std::uint32_t guest_ip;  ///< of its instruction, if run() annotates
  };
  template <class Emit>
  void out_of_line(std::uint32_t exit_row, Emit emit) {
    out_of_line_.push_back({codegen::Closure(closures_, std::move(emit)), exit_row, annotated_ip_});
  }
  /// The row of the slots among `needed` that are dirty now.
  std::uint32_t row_of_dirty(const BitSet& needed);

  Version& version(ir::BlockId block, bool full) { return versions_[2 * block + (full ? 1 : 0)]; }
  const codegen::EntryState& entry_state(ir::BlockId block, bool full);
  BitSet needed(ir::BlockId block, bool full) const;
  asmjit::Label memory_entry(ir::BlockId block, bool full);
  void block(ir::BlockId id, bool full);
  void begin_again_if_full(ir::BlockId id);
  void pause_if_due(ir::BlockId target);
  void enter_same_version(ir::BlockId target);
  void change_version(ir::BlockId target);
  void annotate(const CodeInst& inst);
  void note_place(std::uint32_t guest_ip) {
    if (annotate_) places.push_back({static_cast<std::uint32_t>(a.offset()), guest_ip});
  }

  // fp_mode.cpp
  /// What is known of MXCSR at translation time.
  struct FpState {
    FpClass loaded = FpClass::Single;   ///< the class that it is loaded for
    std::optional<std::uint32_t> mode;  ///< cr0.0 that the thread has last set
    std::uint32_t mxcsr = 0;            ///< where `mode` is known
  };
  void begin_fp_state(ir::BlockId block);
  void follow_mode(const CodeInst& inst);
  void follow_fp_class(FpClass wanted);
  void load_mxcsr(FpClass wanted);
  void write_mode(std::uint32_t cr0);

  bool is_next(ir::BlockId target, bool full) const {
    return optimisations[Optimisation::fall_through] && full == full_ && target == current_ + 1 &&
           target < function.blocks.size();
  }
  void set_fault(FaultKind kind, const asmjit::Operand& guest_ip, x86::Gp address);

  // parting.cpp
  void part(const codegen::PartingBranch& parting);
  /// Where every channel is active.
  void keep_outer_mask(const OuterMasks::Split& split);
  void enter_partial(ir::BlockId target);

  // strip.cpp
  struct StripRegisters {
    std::vector<x86::Gp> indices;  ///< for each of the strip's steps
    std::uint32_t reserved = 0;    ///< these, and the bases of windows
  };
  void strip();
  void begin_strip_code(std::span<CodeInst> insts, const StripRegisters& registers);
  void strip_head(codegen::Strip& strip, const StripRegisters& registers);
  void strip_body(codegen::Strip& strip, const StripRegisters& registers);
  void step_in_line(const codegen::Strip& strip, const StripRegisters& registers);
  void step_to_line(const codegen::Strip& strip, const StripRegisters& registers);
  void strip_window(const codegen::Strip& strip, std::size_t index, const CodeInst& access, x86::Gp more,
                    std::span<bool> is_known, asmjit::Label otherwise);
  void go_if_failed(asmjit::Label apart);
  void divide_if_last_is_apart(asmjit::Label checks);
  asmjit::Label strip_fails(asmjit::Label apart);
  void run_next_part(x86::Gp more, asmjit::Label checks, asmjit::Label apart);
  asmjit::Label threads_apart();
  void restore_all(bool changes);

  // entry.cpp
  BatchCode batch_code() const;
  void environment();
  void test_exclusive();
  void own_environment();
  void copy_words(x86::Gp from, std::initializer_list<std::pair<int, std::size_t>> words);
  void enter();
  void restore(const std::function<bool(std::uint32_t slot)>& wanted);
  void write_header();
  void begin_thread();
  void clear_memory_of_lone_thread();
  void run_batch();
  void end_waiting_group();
  void leave_if_mode_differs();
  void leave_if_next_mode_differs(const x86::Mem& next);
  void count_instructions();
  // row_stores.cpp
  void plan_row_stores(int frame);
  RowStoreSite row_stores_of(std::uint32_t loop) const;
  void begin_row_stores();
  void begin_behind_row_stores(ir::BlockId id, bool full);
  void end_row_iteration();
  void leave_row_stores();
  void row_store_stub();

  void begin_rows();
  void forget_rows(const ir::Inst& inst);
  int rows_begin() const { return Frame::data + Frame::data_bytes(function); }
  int values_begin() const {
    return (outer_masks_begin + 4 * static_cast<int>(outer_masks.count()) + 31) & ~31;
  }
  void clear_memory(std::size_t address, std::size_t bytes);
  /// What stubs begin with, which keep all registers; the frame is then so many bytes from rsp. And end with.
  int save_registers();
  void restore_registers();
  void call_site_stub();
  void exits();
  void dispatcher();
  void entries();
  asmjit::Label prologue();
  void enter_from_memory(ir::BlockId target);

  const Liveness& liveness_;
  const RowWalks& walks_;
  const RowStores& row_stores_;
  std::optional<std::uint32_t> collects_rows_;  // the loop of row_stores_ whose full version is being emitted
  std::span<const FileRange> restored_;
  codegen::LoopSlots loops_;
  codegen::LoopScalars loop_scalars_;
  codegen::SmallLoops small_loops_;
  codegen::BeyondCaches beyond_caches_;
  AlikeBits alike_bits_;
  UnclearedLoads uncleared_loads_;
  codegen::Scheduler scheduler_;
  codegen::BlockCode code_;
  std::vector<Version> versions_;
  std::vector<ir::BlockId> resume_points_;  // where a run may begin, or a jump_ip lead
  std::pmr::monotonic_buffer_resource closures_;
  std::deque<OutOfLine> out_of_line_;         // grows while it is emitted
  std::optional<std::uint32_t> leaving_row_;  // of the out-of-line code that is being emitted
  asmjit::Label leave_live_;   // leaves with status eax, row esi of the exit table; vectors are in registers
  asmjit::Label leave_saved_;  // the same, vectors are in the frame
  asmjit::Label row_store_stub_;
  asmjit::Label call_site_;  // does the access of site [Frame::site], all registers kept
  bool calls_sites_ = false;
  unsigned lane_sites_ = 0;
  asmjit::Label turn_over_;      // the thread exits; if threads may wait, status eax
  asmjit::Label wait_over_;      // the same where it waits
  asmjit::Label thread_begins_;  // begins the thread at rbx, in a batch
  asmjit::Label group_over_;     // its last planned thread has exited
  asmjit::Label part_over_;      // the last thread of a part of a group, see strip.cpp
  asmjit::Label strip_;          // runs several threads, if it is valid
  std::vector<StripWindow> strip_windows_;
  const IdSteps id_steps_;
  asmjit::Label epilogue_;     // returns status eax
  asmjit::Label enter_;        // goes to block eax with every slot in memory
  asmjit::Label dispatch_;     // goes to the block at ip eax, or faults at instruction ecx
  asmjit::Label places_;       // hash table of blocks by ip
  asmjit::Label entry_table_;  // of each version of each block, from the table on
  BatchCode batches_;
  bool dispatches_ = false;
  bool fences_when_left_ = false;
  bool asks_for_exclusive_ = false;
  ir::BlockId current_ = 0;
  bool full_ = true;
  FpState fp_;
  bool partial_versions_ = true;
  bool annotate_ = false;
  std::uint32_t annotated_ip_ = ~0u;
};

template <class Flush>
void Compiler::flush_if_not_kept(Flush flush) {
  if (fp_.mode) {
    if (!is_keeping(*fp_.mode, cr0_bit::Keep16)) flush();
    return;
  }
  const asmjit::Label flushing = a.newLabel(), done = a.newLabel();
  a.test(state(offsetof(ThreadState, fp_mode), 4), 1u << cr0_bit::Keep16);
  a.jz(flushing);
  a.bind(done);
  out_of_line([this, flushing, done, flush = std::move(flush)] {
    a.bind(flushing);
    flush();
    a.jmp(done);
  });
}

}  // namespace eum::jit::avx2
