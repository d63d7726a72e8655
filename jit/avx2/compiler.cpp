// Blocks, versions, edges and calls; see compiler.hpp. How a thread enters and leaves the code is in
// entry.cpp.
#include "jit/avx2/compiler.hpp"

#include <algorithm>
#include <cstddef>

#include "frontend/ir/semantics/lane_function.hpp"
#include "jit/analysis/block_facts.hpp"
#include "jit/analysis/reconvergence.hpp"
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::avx2 {
namespace {

/// General registers that a C++ function may change.
constexpr std::uint32_t caller_saved =
    0xffff & ~(1u << x86::Gp::kIdBx | 1u << x86::Gp::kIdBp | 1u << x86::Gp::kIdSp | 0xfu << x86::Gp::kIdR12);

/// Which denormals of f16 call_on_frame flushes.
enum class Halves : std::uint8_t { None = 0, Operands = 1, Results = 2, Both = 3 };

void call_on_frame(ir::LaneFunction function, std::byte* operands, void* results, unsigned lanes);

/// The same on f16, where the thread's mode may flush denormals.
void call_on_halves(ir::LaneFunction function, std::byte* operands, void* results, unsigned lanes,
                    const ThreadState* state, unsigned halves) {
  const bool flushes = !is_keeping(state->fp_mode, cr0_bit::Keep16);
  if (flushes && (halves & static_cast<unsigned>(Halves::Operands)) != 0)
    for (unsigned i = 0; i < Frame::operand_count; ++i) flush_f16(operands + i * Frame::operand_bytes, lanes);
  call_on_frame(function, operands, results, lanes);
  if (flushes && (halves & static_cast<unsigned>(Halves::Results)) != 0) flush_f16(results, lanes);
}

/// Calls a lane function on operands that are packed in the frame.
void call_on_frame(ir::LaneFunction function, std::byte* operands, void* results, unsigned lanes) {
  const void* args[Frame::operand_count];
  for (unsigned i = 0; i < Frame::operand_count; ++i) args[i] = operands + i * Frame::operand_bytes;
  function(results, args, lanes);
}

// In the frame the positions come first, one for each eight lanes of a load, then the windows.

int windows_of(const RowWalk& walk) { return walk.lanes / 8; }

int bytes_of_positions(const RowWalks& walks) {
  int windows = 0;
  for (const RowWalk& walk : walks.found) windows += windows_of(walk);
  return (RowWindow::position_bytes * windows + 31) & ~31;
}

int bytes_of_rows(const RowWalks& walks) {
  int bytes = bytes_of_positions(walks);
  for (const RowWalk& walk : walks.found) bytes += windows_of(walk) * RowWindow::window_bytes;
  return bytes;
}

}  // namespace

void CodeData::finish() {
  exits.finish();
  call_sites.shrink_to_fit();
  registers.shrink_to_fit();
}

std::size_t CodeData::bytes() const {
  std::size_t bytes = sizeof *this + exits.bytes() + heap_bytes(row_stores) + heap_bytes(call_sites) +
                      heap_bytes(registers) + image_calls.size() * sizeof(ImageCall);
  for (const RowStoreCode& loop : row_stores) bytes += heap_bytes(loop.windows) + heap_bytes(loop.surfaces);
  return bytes;
}

int Frame::data_bytes(const ir::Function& function) {
  unsigned values = 4;
  for (const ir::Block& block : function.blocks)
    for (const ir::Inst& inst : block.insts)
      if (const unsigned own = std::max(inst.arg_count, inst.result_count); own > values)
        if (const ir::ShapeInfo& shape = ir::shape_of(inst.op);
            shape.has_memory() || shape.has_image() || inst.op == ir::Op::callback)
          values = own;
  return static_cast<int>(values) * operand_bytes;
}

Compiler::Compiler(const Host& h, const ir::Function& f, const Liveness& liveness, const ScalarRuns& runs,
                   const RowWalks& walks, const RowStores& row_stores, std::span<const FileRange> restored,
                   const CompileOptions& options, asmjit::CodeHolder& holder, CodeData& d)
    : host(h),
      a(&holder, pool_, h.evex()),
      function(f),
      layout(StateLayout::of(f)),
      data(d),
      optimisations(options.optimisations),
      group_dwords(options.group_dwords),
      region_numbers(f, layout),
      outer_masks(optimisations[Optimisation::outer_masks] ? OuterMasks(f) : OuterMasks()),
      outer_masks_begin(rows_begin() + bytes_of_rows(walks) + bytes_of_row_stores(row_stores)),
      moves_(a, pool_, layout, h.target),
      regs(h.target, moves_, pool_, f, values_begin()),
      v(regs.vectors, moves_),
      g(regs, f, moves_),
      m(regs),
      s(regs.slots, moves_),
      liveness_(liveness),
      walks_(walks),
      row_stores_(row_stores),
      restored_(restored),
      loops_(f, liveness),
      loop_scalars_(optimisations[Optimisation::loop_scalars] ? codegen::LoopScalars(f, loops_, h.target)
                                                              : codegen::LoopScalars()),
      small_loops_(optimisations[Optimisation::small_loops] ? codegen::SmallLoops(f, loops_)
                                                            : codegen::SmallLoops()),
      beyond_caches_(options.launch.beyond_caches
                         ? codegen::BeyondCaches(f, runs, loops_, region_numbers, optimisations)
                         : codegen::BeyondCaches()),
      alike_bits_(optimisations[Optimisation::apart] ? AlikeBits(f) : AlikeBits()),
      uncleared_loads_(optimisations[Optimisation::uncleared_loads] ? UnclearedLoads(f) : UnclearedLoads()),
      scheduler_(f, liveness, h.target),
      code_(f, liveness, runs,
            {.outer_masks = &outer_masks,
             .scheduler = optimisations[Optimisation::schedule] ? &scheduler_ : nullptr,
             .interleaves = optimisations[Optimisation::interleaved] ? &optimisations : nullptr,
             .joins_branches = optimisations[Optimisation::scalar_branches],
             .takes_complement = !h.has_mask_registers() && optimisations[Optimisation::complements]
                                     ? &emit::takes_complement
                                     : nullptr}),
      versions_(2 * f.blocks.size()),
      leave_live_(a.newLabel()),
      leave_saved_(a.newLabel()),
      row_store_stub_(a.newLabel()),
      call_site_(a.newLabel()),
      turn_over_(a.newLabel()),
      wait_over_(a.newLabel()),
      thread_begins_(a.newLabel()),
      group_over_(a.newLabel()),
      part_over_(a.newLabel()),
      id_steps_(options.promised().id_steps),
      epilogue_(a.newLabel()),
      enter_(a.newLabel()),
      dispatch_(a.newLabel()),
      places_(a.newLabel()),
      entry_table_(a.newLabel()) {
  d.layout = layout;
  plan_row_stores(rows_begin() + bytes_of_rows(walks));
  // A function of one channel that never changes its mask has just one version.
  partial_versions_ = f.simd > 1;
  for (ir::BlockId b = 0; b < f.blocks.size(); ++b) {
    version(b, true).label = a.newLabel();
    version(b, false).label = a.newLabel();
    const auto& insts = f.blocks[b].insts;
    for (const ir::Inst& inst : insts) {
      partial_versions_ |= inst.op == ir::Op::mask_set && inst.imm == 0;
    }
    dispatches_ |= has_computed_jumps(f.blocks[b]);
  }
  batches_ = batch_code();
  const std::vector<bool> begins_run = blocks_that_begin_runs(f);
  for (ir::BlockId b = 0; b < f.blocks.size(); ++b)
    if (begins_run[b]) resume_points_.push_back(b);
}

Result<asmjit::Label> Compiler::run(bool annotate, const Limits& limits) {
  annotate_ = annotate;
  const auto fits = [&] { return check(Limit::memory, limits, function.name, a.offset()); };
  for (bool full : {true, false}) {
    if (!full && !partial_versions_) break;
    full_ = full;
    for (ir::BlockId b = 0; b < function.blocks.size(); ++b) {
      block(b, full);
      if (auto good = fits(); !good) return good.error();
    }
  }
  collects_rows_.reset();
  strip();
  if (annotate_) a.comment("; out of line");
  for (std::size_t i = 0; i < out_of_line_.size(); ++i) {
    leaving_row_ = out_of_line_[i].exit_row;
    annotated_ip_ = out_of_line_[i].guest_ip;
    note_place(annotated_ip_);
    out_of_line_[i].emit();
    if (auto good = fits(); !good) return good.error();
  }
  leaving_row_.reset();
  note_place(HostPlace::no_ip);
  dispatcher();
  call_site_stub();
  row_store_stub();
  exits();
  entries();
  const asmjit::Label entry = prologue();
  a.align(asmjit::AlignMode::kData, ConstantPool::entry_bytes);
  a.bind(a.pool_label());
  const auto& constants = pool_.entries();
  if (!constants.empty()) a.embed(constants.data(), constants.size() * ConstantPool::entry_bytes);
  data.finish();
  return entry;
}

// ---- Blocks and edges

BitSet Compiler::needed(ir::BlockId block, bool full) const {
  const LiveState& live = liveness_.live_in(block);
  return full ? live.active : live.active | live.inactive;
}

const codegen::EntryState& Compiler::entry_state(ir::BlockId block, bool full) {
  Version& entered = version(block, full);
  if (!entered.fixed && block != 0 && optimisations[Optimisation::entry_states])
    entered.entry = codegen::fix_entry_state(
        loops_, block, regs.slots.cached(), needed(block, full),
        {regs.slots.slots(), full || !optimisations[Optimisation::mask_lanes] ? 0 : regs.slots.mask_slots()},
        regs.target(), loop_scalars_.of(block));
  entered.fixed = true;
  return entered.entry;
}

void Compiler::block(ir::BlockId id, bool full) {
  current_ = id;
  code_.build(id, full);
  Version& own = version(id, full);
  own.fixed = true;
  if (loops_.heads_loop(id)) a.align(asmjit::AlignMode::kCode, 32);
  a.bind(own.label);
  if (annotate_)
    a.commentf("; b%u, %s channels on, guest 0x%x", id, full ? "all" : "some", function.blocks[id].guest_ip);
  note_place(function.blocks[id].guest_ip);
  regs.begin_block(code_, own.entry, loop_scalars_.of(id));
  begin_behind_row_stores(id, full);
  if (id == 0 && is_begun_only(function)) regs.slots.begin_with_header(group_dwords);
  if (std::uint32_t count = function.blocks[id].guest_instructions; count > 0) a.sub(budget_reg, count);
  begin_fp_state(id);
  auto insts = code_.insts();
  auto reconverging = full || !optimisations[Optimisation::reconvergence]
                          ? std::nullopt
                          : begins_again_from(function, function.blocks[id]);
  const auto parting =
      full && optimisations[Optimisation::whole_branches] ? codegen::parting_branch(insts) : std::nullopt;
  const OuterMasks::Split* const split = full ? outer_masks.split_of(id) : nullptr;
  if (split && (split->splits_again || !parting)) keep_outer_mask(*split);
  const std::size_t end = parting ? parting->begin : insts.size() - (code_.ends_in_comparison() ? 2 : 1);
  for (std::uint32_t i = 0; i < insts.size(); ++i) {
    const CodeInst& inst = insts[i];
    if (i == end) end_row_iteration();
    if (parting && i == parting->begin) {
      regs.begin_inst(static_cast<std::uint32_t>(insts.size() - 1));
      return part(*parting);
    }
    if (annotate_) this->annotate(inst);
    follow_mode(inst);
    batches_.keeps_header |= regs.slots.reads_first_slot(inst);
    if (!walks_.found.empty()) forget_rows(inst);
    regs.begin_inst(i);
    if (code_.ends_in_comparison() && i + 2 == insts.size()) {
      const x86::CondCode condition = emit::compare_scalars(*this, inst);
      regs.end_inst(inst);
      const ir::Targets& targets = insts[i + 1].targets;
      regs.begin_inst(i + 1);
      return branch(condition, targets.taken, targets.fallthrough);
    }
    host.emitters[static_cast<std::size_t>(inst.op)](*this, inst);
    regs.end_inst(inst);
    if (reconverging && inst.op == ir::Op::mask_set && inst.imm == *reconverging) {
      begin_again_if_full(id);
      reconverging.reset();
    }
  }
}

/// Channels have reconverged, so all may be active: then the block's full version takes over. It starts at
/// the beginning of the block, as repeating what has been done changes nothing.
void Compiler::begin_again_if_full(ir::BlockId id) {
  const std::uint32_t count = function.blocks[id].guest_instructions;
  const asmjit::Label again = a.newLabel();
  a.cmp(mask_reg, asmjit::Imm(static_cast<std::int32_t>(ir::lane_mask(function.simd))));
  a.je(again);
  const std::uint32_t row = row_of_dirty(needed(id, true) | needed(id, false));
  out_of_line(row, [this, again, id, count, row] {
    a.bind(again);
    for (const codegen::CachedSlot& cached : data.exits.slots(row))
      store(cached.slot * avx2::target.vector_bytes, x86::ymm(cached.reg), avx2::target.vector_bytes);
    a.add(budget_reg, count);
    a.jmp(memory_entry(id, true));
  });
}

void Compiler::annotate(const CodeInst& inst) {
  if (inst.guest_ip == annotated_ip_) return;
  annotated_ip_ = inst.guest_ip;
  a.commentf("; @0x%x", inst.guest_ip);
  note_place(inst.guest_ip);
}

void Compiler::enter_same_version(ir::BlockId target) {
  regs.emit_edge(entry_state(target, full_), loop_scalars_.of(target), needed(target, full_));
  if (!is_next(target, full_)) a.jmp(version(target, full_).label);
}

/// The execution mask has changed: usually the version stays the same, else the edge goes through memory.
void Compiler::change_version(ir::BlockId target) {
  if (full_ || code_.mask_may_grow()) {
    const asmjit::Label other = a.newLabel();
    a.cmp(mask_reg, asmjit::Imm(static_cast<std::int32_t>(ir::lane_mask(function.simd))));
    if (full_) {
      a.jne(other);
    } else {
      a.je(other);
    }
    // Channels that are inactive here may be active there, and vice versa.
    const std::uint32_t row = row_of_dirty(needed(target, true) | needed(target, false));
    out_of_line(row, [this, other, target, full = full_, row] {
      a.bind(other);
      for (const codegen::CachedSlot& cached : data.exits.slots(row))
        store(cached.slot * avx2::target.vector_bytes, x86::ymm(cached.reg), avx2::target.vector_bytes);
      a.jmp(memory_entry(target, !full));
    });
  }
  enter_same_version(target);
}

void Compiler::pause_if_due(ir::BlockId target) {
  if (!function.blocks[target].safepoint) return;
  asmjit::Label pause = a.newLabel();
  a.test(budget_reg, budget_reg);
  a.jle(pause);
  out_of_line(row_of_dirty(needed(target, false)), [this, pause, target] {
    a.bind(pause);
    a.mov(state(offsetof(ThreadState, resume), 4), target);
    leave(Status::Paused);
  });
}

void Compiler::go_to(ir::BlockId target) {
  pause_if_due(target);
  if (code_.changes_mask()) return change_version(target);
  enter_same_version(target);
}

/// Whether go_to() emits at most a jump.
bool Compiler::is_jump(ir::BlockId target) {
  const bool asks = code_.changes_mask() && (full_ || code_.mask_may_grow());
  return !function.blocks[target].safepoint && !asks && optimisations[Optimisation::fall_through] &&
         regs.is_free_edge(entry_state(target, full_), loop_scalars_.of(target), needed(target, full_));
}

void Compiler::branch(x86::Gp bits, ir::BlockId taken, ir::BlockId fallthrough) {
  if (taken == fallthrough) return go_to(taken);
  a.test(bits.r32(), bits.r32());
  branch(x86::CondCode::kNotZero, taken, fallthrough);
}

void Compiler::branch(x86::CondCode condition, ir::BlockId taken, ir::BlockId fallthrough) {
  if (taken == fallthrough) return go_to(taken);
  if (!is_next(taken, full_) && is_jump(taken)) {
    a.j(condition, version(taken, full_).label);
    return go_to(fallthrough);
  }
  if (!is_next(fallthrough, full_) && is_jump(fallthrough)) {
    a.j(x86::negateCond(condition), version(fallthrough, full_).label);
    return go_to(taken);
  }
  const asmjit::Label second = a.newLabel();
  // The edge that may fall through comes last.
  const bool falls = is_next(taken, full_);
  a.j(falls ? condition : x86::negateCond(condition), second);
  go_to(falls ? fallthrough : taken);
  a.bind(second);
  go_to(falls ? taken : fallthrough);
}

void Compiler::finish(Status status) {
  a.mov(x86::eax, static_cast<std::uint32_t>(status));
  a.jmp(epilogue_);
}

void Compiler::finish_turn(Status status) {
  if (batches_.goes_on) a.mov(x86::eax, static_cast<std::uint32_t>(status));
  a.jmp(status == Status::Waiting ? wait_over_ : turn_over_);
}

// ---- Rows

std::optional<RowWindow> Compiler::row_window(ir::ValueId result, unsigned first_lane) const {
  int window = 0;
  for (const RowWalk& walk : walks_.found) {
    if (walk.result == result) {
      window += static_cast<int>(first_lane) / 8;
      const int position = rows_begin() + RowWindow::position_bytes * window;
      const int windows = rows_begin() + bytes_of_positions(walks_) + RowWindow::window_bytes * window;
      return RowWindow{position, windows, std::abs(walk.step), walk.step < 0};
    }
    window += windows_of(walk);
  }
  return std::nullopt;
}

/// Marks all rows as not fetched.
void Compiler::begin_rows() {
  for (const RowWalk& walk : walks_.found)
    for (unsigned lane = 0; lane < walk.lanes; lane += 8) {
      const RowWindow window = *row_window(walk.result, lane);
      a.mov(window.at(), RowWindow::forgotten + RowWindow::row_bytes);
      a.mov(window.short_rows(), 0);
    }
}

/// After the instruction, fetched rows may differ from memory: invalidates them.
void Compiler::forget_rows(const ir::Inst& inst) {
  for (const RowWalk& walk : walks_.found) {
    if (!RowWalks::ends(function, inst, walk)) continue;
    for (unsigned lane = 0; lane < walk.lanes; lane += 8)
      a.or_(row_window(walk.result, lane)->at(), RowWindow::forgotten);
  }
}

// ---- Out of line

std::uint32_t Compiler::row_of_dirty(const BitSet& needed) {
  codegen::EntryState dirty = regs.slots.dirty();
  std::erase_if(dirty, [&](const codegen::CachedSlot& cached) { return !needed[cached.slot]; });
  return data.exits.add(dirty);
}

void Compiler::leave(Status status, bool saved) {
  a.mov(x86::eax, static_cast<std::uint32_t>(status));
  if (!leaving_row_) throw codegen::EngineBug("code in line leaves as if it were out of line");
  if (data.exits.slots(*leaving_row_).empty()) return (void)a.jmp(epilogue_);
  a.mov(x86::esi, *leaving_row_);
  a.jmp(saved ? leave_saved_ : leave_live_);
}

void Compiler::set_fault(FaultKind kind, const asmjit::Operand& guest_ip, x86::Gp address) {
  constexpr std::size_t base = offsetof(ThreadState, fault);
  a.mov(state(base + offsetof(Fault, kind), 4), static_cast<std::uint32_t>(kind));
  a.emit(x86::Inst::kIdMov, state(base + offsetof(Fault, guest_ip), 4), guest_ip);
  a.mov(state(base + offsetof(Fault, lane), 8), 0);  // and bytes
  a.mov(state(base + offsetof(Fault, address), 8), address);
}

void Compiler::fault(FaultKind kind, const CodeInst& inst, x86::Gp address) {
  set_fault(kind, asmjit::Imm(inst.guest_ip), address);
  leave(Status::Faulted);
}

// ---- Calls

void Compiler::call(const codegen::LiveRegisters& live, const void* target,
                    const std::function<void()>& arguments, bool may_fault) {
  const auto vector = [](unsigned r) {
    return x86::ptr(x86::rsp, Frame::saved_vectors + static_cast<int>(r) * 32, 32);
  };
  const auto general = [](unsigned r) {
    return x86::ptr(x86::rsp, Frame::saved_generals + static_cast<int>(r) * 8, 8);
  };
  const auto mask = [](unsigned r) {
    return x86::ptr(x86::rsp, Frame::saved_masks + static_cast<int>(r) * 8, 8);
  };
  const std::uint32_t generals = live.generals & caller_saved;
  for (unsigned r = 0; r < 32; ++r) {
    if (live.vectors >> r & 1) a.vmovaps(vector(r), x86::ymm(r));
    if (generals >> r & 1) a.mov(general(r), x86::gpq(r));
    if (live.masks >> r & 1) a.kmovq(mask(r), x86::k(r));
  }
  arguments();
  a.vzeroupper();
  a.mov(x86::rax, asmjit::Imm(reinterpret_cast<std::uint64_t>(target)));
  a.call(x86::rax);
  if (may_fault) {
    a.test(x86::al, x86::al);
    const asmjit::Label failed = a.newLabel();
    a.jz(failed);
    const auto leaves = [this, failed] {
      a.bind(failed);
      leave(Status::Faulted, true);
    };
    // Code that is already out of line leaves with its own dirty slots.
    if (leaving_row_)
      out_of_line(*leaving_row_, leaves);
    else
      out_of_line(leaves);
  }
  for (unsigned r = 0; r < 32; ++r) {
    if (live.vectors >> r & 1) a.vmovaps(x86::ymm(r), vector(r));
    if (generals >> r & 1) a.mov(x86::gpq(r), general(r));
    if (live.masks >> r & 1) a.kmovq(x86::k(r), mask(r));
  }
}

void Compiler::call_site(std::uint32_t site, const CodeInst& inst) {
  a.mov(x86::ptr(x86::rsp, Frame::site, 4), site);
  call(
      inst, access_function(),
      [&] {
        a.mov(x86::rdi, state_reg);
        a.mov(x86::rsi, asmjit::Imm(reinterpret_cast<std::uint64_t>(&data)));
        a.mov(x86::rdx, x86::rsp);
      },
      true);
}

void Compiler::call_site_out_of_line(std::uint32_t site) {
  if (!leaving_row_) throw codegen::EngineBug("code in line calls as if it were out of line");
  data.call_sites[site].exit_row = *leaving_row_;
  calls_sites_ = true;
  a.mov(x86::ptr(x86::rsp, Frame::site, 4), site);
  a.call(call_site_);
}

void Compiler::call_lane_function(const CodeInst& inst) {
  const ir::LaneFunction lanes = ir::lane_function(inst.op, inst.type, inst.from);
  if (!lanes)
    throw codegen::EngineBug(
        fmt::format("no semantics of {}.{}", ir::op_name(inst.op), ir::info(inst.type).name));
  for (unsigned k = 0; k < inst.args.size(); ++k) {
    store_packed(inst.args[k], Frame::operands + static_cast<int>(k) * Frame::operand_bytes);
    regs.unpin();
  }
  const bool reads_halves = type_of(inst.args[0]) == ir::Type::f16,
             gives_halves = type_of(inst.result) == ir::Type::f16;
  const bool halves = computes_on_floats(inst) && (reads_halves || gives_halves);
  call(
      inst,
      halves ? reinterpret_cast<const void*>(&call_on_halves) : reinterpret_cast<const void*>(&call_on_frame),
      [&] {
        if (halves) {
          a.mov(x86::r8, state_reg);
          a.mov(x86::r9d, (reads_halves ? static_cast<unsigned>(Halves::Operands) : 0) |
                              (gives_halves ? static_cast<unsigned>(Halves::Results) : 0));
        }
        a.mov(x86::rdi, asmjit::Imm(reinterpret_cast<std::uint64_t>(lanes)));
        a.lea(x86::rsi, x86::ptr(x86::rsp, Frame::operands));
        a.lea(x86::rdx, x86::ptr(x86::rsp, Frame::data));
        a.mov(x86::ecx, inst.lanes);
      });
  for (unsigned k = 0; k < inst.result_count; ++k)
    load_packed(inst.result + k, Frame::data + static_cast<int>(k * inst.lanes * ir::size_of(inst.type)));
}

void Compiler::store_packed(ir::ValueId value, int offset) {
  if (ir::is_mask(type_of(value)) || regs.is_scalar(value)) {
    const x86::Gp reg = regs.is_scalar(value) ? g.use(value) : m.bits(value);
    a.mov(x86::ptr(x86::rsp, offset, 8), reg);
    return;
  }
  for (unsigned c = 0; c < v.chunks(value); ++c)
    a.vmovups(x86::ptr(x86::rsp, offset + static_cast<int>(c) * 32, 32), v.use(value, c));
}

void Compiler::load_packed(ir::ValueId value, int offset) {
  const ir::Type type = type_of(value);
  if (ir::is_mask(type) || regs.is_scalar(value)) {
    load_scalar(a, g.define(value), x86::ptr(x86::rsp, offset), type);
    return;
  }
  for (unsigned c = 0; c < v.chunks(value); ++c) {
    a.vmovups(v.define(value, c), x86::ptr(x86::rsp, offset + static_cast<int>(c) * 32, 32));
    regs.unpin();
  }
}

}  // namespace eum::jit::avx2
