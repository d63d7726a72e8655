// Folding of instructions and removal of dead ones; see block_code.hpp.
#include "jit/codegen/block_code.hpp"

#include <algorithm>
#include <utility>

#include "jit/analysis/reconvergence.hpp"
#include "jit/codegen/interleaved.hpp"
#include "jit/codegen/schedule.hpp"

namespace eum::jit::codegen {

using ir::Inst;
using ir::lane_mask;
using ir::no_value;
using ir::Op;
using ir::Type;
using ir::ValueId;

namespace {

bool sets_execution_mask(const Inst& inst) { return inst.op == Op::mask_set && inst.imm == 0; }

}  // namespace

BlockCode::BlockCode(const ir::Function& function, const Liveness& liveness, const ScalarRuns& runs,
                     const Choices& choices)
    : function_(function),
      liveness_(liveness),
      runs_(runs),
      choices_(choices),
      alias_(function.values.size()),
      constant_(function.values.size()),
      is_constant_(function.values.size()),
      is_used_(function.values.size()),
      handed_(function.values.size()),
      defined_at_(function.values.size()),
      last_seen_(function.values.size(), never) {
  std::size_t most = 0;
  for (const ir::Block& block : function.blocks) most = std::max(most, block.insts.size());
  folded_.reserve(most);
  origin_.reserve(most);
}

void BlockCode::build(ir::BlockId block, bool full) {
  fold(block, full);
  drop_dead(block, full);
  if (choices_.takes_complement) hand_complements();
  if (choices_.interleaves && full) mark_interleaved(function_, *choices_.interleaves, kept_);
  if (choices_.scheduler && full) choices_.scheduler->run(kept_);
  ends_in_comparison_ = choices_.joins_branches && move_comparison();
  link_uses();
  index_slot_reads();
}

void BlockCode::build_for_strip(ir::BlockId block) {
  keeps_first_lanes_ = true;
  build(block, true);
  keeps_first_lanes_ = false;
}

const LiveState& BlockCode::live_in(ir::BlockId block, bool full) {
  fold(block, full);
  drop_dead(block, full);
  return live_;
}

void BlockCode::make_constant(CodeInst& inst, std::uint32_t bits) {
  inst.op = Op::constant;
  inst.arg_count = 0;
  inst.args = {};
  inst.imm = bits & lane_mask(inst.lanes);
}

/// False: the instruction is gone.
bool BlockCode::fold_inst(CodeInst& inst, bool full) {
  if (inst.op == Op::mask_get && inst.imm == 0 && full && !changes_mask_) make_constant(inst, ~0u);
  if (sets_execution_mask(inst)) {
    const std::uint32_t* mask = constant(inst.args[0]);
    const bool all = full && mask && *mask == lane_mask(function_.simd);
    if (!changes_mask_ && all) return false;
    changes_mask_ = !all;
  }
  if (inst.op == Op::reg_read) inst.mask = no_value;  // liveness has used it
  if (const std::uint32_t* mask = constant(inst.mask)) {
    const unsigned lanes = function_.values[inst.mask].lanes;
    if (*mask == lane_mask(lanes)) {
      inst.mask = no_value;
    } else if (*mask == 0 && inst.result_count == 0) {
      return false;
    }
  }
  const bool mask_result = inst.result_count == 1 && is_mask(function_.values[inst.result].type);
  const bool foldable = mask_result && inst.type == Type::m && is_pure(inst.op) &&
                        !ir::shape_of(inst.op).has_from() && info(inst.op).shape != ir::Shape::MaskGroup;
  if (foldable && !fold_mask(inst)) return false;
  if (inst.op == Op::select) {
    const std::uint32_t* mask = constant(inst.args[0]);
    if (mask && (*mask == 0 || *mask == lane_mask(inst.lanes))) {
      alias_[inst.result] = inst.args[*mask ? 1 : 2];
      return false;
    }
  }
  if (inst.op == Op::concat && !mask_result) {
    if (const ValueId whole = whole_of(inst.args[0], inst.args[1]); whole != no_value) {
      alias_[inst.result] = whole;
      return false;
    }
  }
  // A general register keeps its number, and a vector its lanes, if the number of bits is the same.
  const bool integer = is_int(inst.type) && is_int(inst.from);
  const bool converts = inst.op == Op::convert || inst.op == Op::convert_keep;
  const bool same_bits =
      (inst.op == Op::bitcast || (converts && integer)) && ir::size_of(inst.type) == ir::size_of(inst.from) &&
      (inst.lanes > 1 || inst.type == inst.from || (integer && ir::size_of(inst.type) >= 4));
  if (same_bits) {
    alias_[inst.result] = inst.args[0];
    return false;
  }
  if (inst.op == Op::branch_any) {
    if (const std::uint32_t* mask = constant(inst.args[0])) {
      inst.op = Op::jump;
      inst.arg_count = 0;
      inst.args = {};
      if (*mask == 0) inst.targets.taken = inst.targets.fallthrough;
      inst.targets.fallthrough = ir::no_block;
    }
  }
  return true;
}

/// Appends the first lanes of a write's slots to its operands, where fold() has made room.
void BlockCode::add_first_lanes(CodeInst& inst, const ScalarRun& run) {
  inst.first_lanes = {inst.args.data() + inst.args.size(), run.address_count};
  for (unsigned i = 0; i < run.address_count; ++i) inst.first_lanes[i] = resolve(run.addresses[i]);
}

/// Replaces the addresses of the lanes by those of runs, if the access's mask allows it.
void BlockCode::access_by_runs(CodeInst& inst, const ScalarRun& run) {
  if (run.address_count == 0 || (inst.mask != no_value && !run.under_mask)) return;
  const unsigned at = function_.access(inst).address_operand();
  const auto more = run.address_count - 1u;
  // There is room: fold() has made it after the operands of an access.
  inst.args = {inst.args.data(), inst.args.size() + more};
  std::shift_right(inst.args.begin() + at + 1, inst.args.end(), more);
  for (unsigned i = 0; i < run.address_count; ++i) inst.args[at + i] = resolve(run.addresses[i]);
  inst.arg_count = static_cast<std::uint16_t>(inst.args.size());
  inst.runs = run.address_count;
  inst.linear = run.run;
}

/// Nothing is known of the results yet.
void BlockCode::begin_results(const Inst& inst) {
  for (unsigned k = 0; k < inst.result_count; ++k) {
    alias_[inst.result + k] = inst.result + k;
    is_constant_[inst.result + k] = 0;
    is_used_[inst.result + k] = 0;
  }
}

/// Appends an instruction, which comes from instruction `index` of the block.
void BlockCode::put(const CodeInst& inst, std::size_t index) {
  for (unsigned k = 0; k < inst.result_count; ++k)
    defined_at_[inst.result + k] = static_cast<std::uint32_t>(folded_.size());
  folded_.push_back(inst);
  origin_.push_back(static_cast<std::uint32_t>(index));
}

/// Puts both accesses of a pair in the place of `inst`, the first load or the second store. `room`: for two
/// operands.
void BlockCode::access_at_once(const CodeInst& inst, std::size_t index, const ScalarRun& first,
                               const ScalarRun& second, std::span<ValueId> room) {
  const auto& source = function_.blocks[current_].insts;
  const Inst &a = source[first.index], &b = source[second.index];
  CodeInst both = inst;
  both.guest_ip = a.guest_ip;
  both.second_ip = b.guest_ip;
  both.lanes = static_cast<std::uint8_t>(2 * a.lanes);
  both.mask = no_value;
  both.runs = 1;
  both.linear = first.run;
  both.linear.run = both.lanes;
  const unsigned at = function_.access(a).address_operand();
  both.args[at] = resolve(first.addresses[0]);
  CodeInst part;
  part.type = inst.type;
  part.guest_ip = inst.guest_ip;
  part.result_count = 1;
  if (inst.op == Op::load) {
    both.result = first.pair;
    begin_results(both);
    put(both, index);
    part.op = Op::slice;
    part.lanes = a.lanes;
    part.arg_count = 1;
    part.args = room.first(1);
    part.args[0] = first.pair;
    for (const Inst* of : {&a, &b}) {
      part.result = of->result;
      part.imm = of == &a ? 0 : a.lanes;
      begin_results(part);
      put(part, index);
    }
    return;
  }
  part.op = Op::concat;
  part.lanes = both.lanes;
  part.arg_count = 2;
  part.args = room.first(2);
  part.args[0] = resolve(function_.arg(a, at + 1));
  part.args[1] = resolve(function_.arg(b, at + 1));
  part.result = first.pair;
  begin_results(part);
  if (const ValueId whole = whole_of(part.args[0], part.args[1]); whole != no_value) {
    both.args[at + 1] = whole;
    return put(both, index);
  }
  put(part, index);
  both.args[at + 1] = first.pair;
  put(both, index);
}

/// The instruction that defines the value, if it has been folded and has this op; else null.
const CodeInst* BlockCode::folded_as(ValueId value, Op op) const {
  if (value == no_value || defined_at_[value] >= folded_.size()) return nullptr;
  const CodeInst& inst = folded_[defined_at_[value]];
  return inst.op == op && inst.result == value ? &inst : nullptr;
}

/// The value whose halves these are; no_value: none.
ValueId BlockCode::whole_of(ValueId low, ValueId high) const {
  const CodeInst *a = folded_as(low, Op::slice), *b = folded_as(high, Op::slice);
  const bool are_halves = a && b && a->args[0] == b->args[0] && a->imm == 0 && b->imm == a->lanes &&
                          function_.values[a->args[0]].lanes == a->lanes + b->lanes;
  return are_halves ? a->args[0] : no_value;
}

/// Keeps the outer mask, if the instruction parks channels of a split.
void BlockCode::keep_outer_mask(const CodeInst& park, std::size_t index, std::span<ValueId, 1> room) {
  const OuterMasks::Split* const split =
      choices_.outer_masks ? choices_.outer_masks->split_of(current_) : nullptr;
  if (!split || park.op != Op::mask_set || park.imm != split->parked) return;
  CodeInst keep = park;
  keep.imm = function_.mask_variables + split->number;
  keep.args = room;
  keep.args[0] = resolve(split->outer);
  put(keep, index);
}

/// Replaces a write of concatenated registers by a write of each of them.
bool BlockCode::write_parts(const CodeInst& write, std::size_t index) {
  const CodeInst& value = folded_[defined_at_[write.args[0]]];
  if (write.op != Op::reg_write || write.mask != no_value || value.op != Op::concat) return false;
  const unsigned low_lanes = function_.values[value.args[0]].lanes;
  const unsigned low_bytes = low_lanes * ir::size_of(write.type), slot_bytes = liveness_.slot_bytes();
  if (write.region.stride(write.lanes) != 1 || write.region.offset % slot_bytes != 0 ||
      low_bytes % slot_bytes != 0)
    return false;
  CodeInst low = write, high = write;
  low.lanes = static_cast<std::uint8_t>(low_lanes);
  low.args = value.args.subspan(0, 1);
  high.lanes = static_cast<std::uint8_t>(write.lanes - low_lanes);
  high.region.offset += low_bytes;
  high.args = value.args.subspan(1, 1);
  for (const CodeInst& part : {low, high}) {
    if (!write_parts(part, index)) put(part, index);
  }
  return true;
}

/// Whether the access is known to be by runs in the version for all channels.
bool BlockCode::is_run_of_all(ir::BlockId block, std::size_t index) const {
  const std::span<const ScalarRun> runs = runs_.of(block, true);
  const auto run = std::ranges::lower_bound(runs, index, {}, &ScalarRun::index);
  return run != runs.end() && run->index == index && run->run.run != 0;
}

void BlockCode::fold(ir::BlockId block, bool full) {
  folded_.clear();
  origin_.clear();
  changes_mask_ = false;
  const auto& source = function_.blocks[block].insts;
  std::size_t operands = 0;
  for (const Inst& inst : source) operands += inst.arg_count;
  current_ = block;
  const std::span<const ScalarRun> all_runs = runs_.of(block, full);
  std::span<const ScalarRun> runs = all_runs;
  operands_.resize(operands + runs.size() * ScalarRun::most_runs + 1);
  const OuterMasks* const outer_masks = full ? nullptr : choices_.outer_masks;
  const OuterMasks::Split* const joined = outer_masks ? outer_masks->joined_by(block) : nullptr;
  // A split's outer mask may be a value that nothing else needs.
  const bool keeps_all = outer_masks && outer_masks->split_of(block) != nullptr;
  std::size_t next = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (!keeps_all && !liveness_.is_needed(block, i)) continue;
    CodeInst inst;
    static_cast<Inst&>(inst) = source[i];
    if (joined && i == Reconvergence::all) {
      inst.op = Op::mask_get;
      inst.imm = function_.mask_variables + joined->number;
      inst.arg_count = 0;
    }
    inst.args = std::span(operands_).subspan(next, inst.arg_count);
    next += inst.arg_count;
    const auto args = function_.args(source[i]).first(inst.arg_count);
    for (std::size_t k = 0; k < args.size(); ++k) inst.args[k] = resolve(args[k]);
    inst.mask = resolve(inst.mask);
    begin_results(inst);
    if (!fold_inst(inst, full)) continue;
    if (!full && inst.op == Op::store) inst.is_run_of_all = is_run_of_all(block, i);
    while (!runs.empty() && runs.front().index < i) runs = runs.subspan(1);
    if (!runs.empty() && runs.front().index == i) {
      const ScalarRun& run = runs.front();
      runs = runs.subspan(1);
      if (run.mask != no_value) {
        alias_[inst.result] = resolve(run.mask);
        continue;
      }
      if (run.pair != no_value) {
        const bool loads = inst.op == Op::load, is_first = run.address_count != 0;
        if (loads != is_first) continue;
        const std::span room = std::span(operands_).subspan(next, 2);
        next += room.size();
        // The other access of the pair is near.
        const auto is_other = [&](const ScalarRun& one) { return one.pair == run.pair; };
        const auto before = all_runs.first(static_cast<std::size_t>(&run - all_runs.data()));
        if (loads)
          access_at_once(inst, i, run, *std::ranges::find_if(runs, is_other), room);
        else
          access_at_once(inst, i, *std::find_if(before.rbegin(), before.rend(), is_other), run, room);
        continue;
      }
      if (inst.op == Op::reg_write)
        add_first_lanes(inst, run);
      else
        access_by_runs(inst, run);
      next += inst.args.size() - source[i].arg_count + inst.first_lanes.size();
    } else if (full && !changes_mask_ && inst.op == Op::reg_write && write_parts(inst, i)) {
      continue;
    }
    put(inst, i);
    if (!full) keep_outer_mask(inst, i, std::span(operands_).last<1>());
  }
  mask_may_grow_ = changes_mask_ && liveness_.may_grow(block);
}

bool BlockCode::needed(CodeInst& inst, MaskUse use, const LiveState& live, bool full_here) const {
  for (unsigned k = 0; k < inst.result_count; ++k)
    if (is_used_[inst.result + k]) return true;
  if (may_leave(inst.op)) return true;
  const ir::Effect effect = info(inst.op).effect;
  if (effect == ir::Effect::Pure || effect == ir::Effect::ReadsState) return false;
  if (inst.op == Op::flag_write) {
    const bool by_channel = use.role == MaskRole::ExecutionMerge;
    return live.active_flags.any_in_range(inst.imm, inst.lanes) ||
           (!(full_here || by_channel) && live.inactive_flags.any_in_range(inst.imm, inst.lanes));
  }
  if (inst.op != Op::reg_write) return true;
  const unsigned bytes = liveness_.slot_bytes();
  const SlotRange range = slots_of(inst, bytes);
  bool any = false;
  for (unsigned slot = range.first; slot <= range.last; ++slot) {
    const bool by_channel = liveness_.by_channel(inst, use, slot, live);
    any |= (live.active[slot] || (!(full_here || by_channel) && live.inactive[slot])) &&
           (live.bytes[slot] & bytes_of(inst, slot, bytes)) != 0;
    if (by_channel && covers(inst, slot, bytes) && !live.inactive[slot])
      inst.overwrite |= 1u << (slot - range.first);
  }
  return any;
}

/// For a flag_write by channel: bits of inactive channels, which are not read, get what is cheapest.
void BlockCode::keep_nothing(std::size_t index, ir::BlockId block) {
  CodeInst& inst = folded_[index];
  inst.mask = no_value;
  // If it has a mask of its own, its value is no merge.
  if (function_.blocks[block].insts[origin_[index]].mask != no_value) return;
  const CodeInst& sum = folded_[defined_at_[inst.args[0]]];
  if (inst.args[0] != function_.arg(function_.blocks[block].insts[origin_[index]], 0) || sum.op != Op::or_)
    return;
  const CodeInst& kept = folded_[defined_at_[sum.args[0]]];
  if (kept.op != Op::andn) return;
  inst.args[0] = sum.args[1];
  // (mask & new), for which new serves as well.
  const CodeInst& masked = folded_[defined_at_[sum.args[1]]];
  if (masked.op != Op::and_) return;
  for (unsigned k : {0u, 1u})
    if (masked.args[k] == kept.args[0]) inst.args[0] = masked.args[1 - k];
}

/// Whether a flag_write that merges writes all bits because folding has found its mask to be all ones: its
/// value is then no longer a merge, nor the flag that was read, nor what was kept of that.
bool BlockCode::writes_whole_flag(std::size_t index, ir::BlockId block) const {
  const CodeInst& inst = folded_[index];
  if (inst.op != Op::flag_write) return false;
  const ValueId value = inst.args[0];
  const auto& insts = function_.blocks[block].insts;
  if (insts[origin_[index]].mask != no_value) return inst.mask == no_value;
  const ValueId merged = function_.arg(insts[origin_[index]], 0);
  if (value == merged) return false;
  for (std::size_t i = origin_[index]; i-- > 0;)
    if (insts[i].result_count != 0 && insts[i].result == merged) {
      if (value == function_.arg(insts[i], 0)) return false;  // only the kept part: the new bits are zeros
      break;
    }
  for (std::size_t i = index; i-- > 0;)
    if (folded_[i].result_count != 0 && folded_[i].result == value) return folded_[i].op != Op::flag_read;
  return false;
}

/// Before which instructions all channels are active.
void BlockCode::find_full(bool full) {
  is_full_.assign(folded_.size(), full);
  if (!full) return;
  for (auto set = std::ranges::find_if(folded_, sets_execution_mask); set != folded_.end();) {
    const std::uint32_t* mask = constant(set->args[0]);
    const bool all = mask && *mask == lane_mask(function_.simd);
    const auto next = std::find_if(set + 1, folded_.end(), sets_execution_mask);
    const auto first = is_full_.begin();
    if (!all) std::fill(first + (set + 1 - folded_.begin()), first + (next - folded_.begin()), false);
    set = next;
  }
}

/// Without its carry or borrow, if nothing uses that.
void BlockCode::drop_carry(CodeInst& inst) const {
  if ((inst.op != Op::addc && inst.op != Op::subb) || is_used_[inst.result + 1]) return;
  inst.op = inst.op == Op::addc ? Op::add : Op::sub;
  inst.result_count = 1;
}

/// Marks what is needed, from the end of the block to its beginning, and keeps only that.
void BlockCode::drop_dead(ir::BlockId block, bool full) {
  live_ = liveness_.live_out(block);
  live_out_ = live_.active;
  if (!full || changes_mask_) live_out_ |= live_.inactive;
  find_full(full);
  // What is kept moves to the end, where writes of first lanes have room for as many as they become.
  const std::size_t count = folded_.size();
  std::size_t first = count;
  for (const CodeInst& inst : folded_) first += inst.first_lanes.size();
  folded_.resize(first);
  bool sets_mask_again = false;  // before anything observes the execution mask
  for (std::size_t i = count; i-- > 0;) {
    CodeInst& inst = folded_[i];
    const MaskUse use = liveness_.use(block, origin_[i]);
    const MaskRole role = use.role;
    const bool full_here = is_full_[i] != 0;
    if (!needed(inst, use, live_, full_here)) continue;
    if (sets_execution_mask(inst) && std::exchange(sets_mask_again, true)) {
      liveness_.step(inst, use, live_);
      continue;
    }
    if (may_leave(inst.op) || (inst.op == Op::mask_get && inst.imm == 0)) sets_mask_again = false;
    drop_carry(inst);
    if (full_here && writes_first_lanes(inst, first)) continue;
    if (role == MaskRole::ExecutionMerge && !live_.inactive_flags.any_in_range(inst.imm, inst.lanes))
      keep_nothing(i, block);
    // The original's mask decides what the write kills, even if folding has dropped the mask.
    if (inst.op == Op::reg_write && full_here && role == MaskRole::Execution) {
      const unsigned bytes = liveness_.slot_bytes();
      const SlotRange range = slots_of(inst, bytes);
      for (unsigned slot = range.first; slot <= range.last; ++slot)
        live_.end(slot, bytes_of(inst, slot, bytes));
    } else if ((role == MaskRole::Merge || role == MaskRole::ExecutionMerge) && writes_whole_flag(i, block)) {
      liveness_.step(inst, MaskRole::Other, live_);
    } else {
      liveness_.step(inst, use, live_);
    }
    for (ValueId arg : inst.args) is_used_[arg] = 1;
    if (keeps_first_lanes_)
      for (ValueId lane : inst.first_lanes) is_used_[lane] = 1;
    if (inst.mask != no_value) is_used_[inst.mask] = 1;
    if (--first != i) folded_[first] = inst;
  }
  kept_ = std::span(folded_).subspan(first);
}

/// If only the first lanes of a reg_write's slots are read: writes only these, before folded_[first].
bool BlockCode::writes_first_lanes(const CodeInst& write, std::size_t& first) {
  if (write.first_lanes.empty() || write.mask != no_value) return false;
  const CodeInst inst = write;  // whose place may be taken
  const unsigned slot_bytes = liveness_.slot_bytes();
  const SlotRange range = slots_of(inst, slot_bytes);
  for (unsigned slot = range.first; slot <= range.last; ++slot)
    if (live_.reads_beyond(slot, ir::size_of(inst.type))) return false;
  for (unsigned slot = range.first; slot <= range.last; ++slot) {
    if (!live_.active[slot] && !live_.inactive[slot]) continue;
    CodeInst& one = folded_[--first] = inst;
    one.lanes = 1;
    one.region = ir::Region::packed(slot * slot_bytes);
    one.args = inst.first_lanes.subspan(slot - range.first, 1);
    one.first_lanes = {};
    is_used_[one.args[0]] = 1;
    live_.end(slot);
  }
  return true;
}

/// Moves a comparison of scalars that only the branch uses to just before the branch.
bool BlockCode::move_comparison() {
  const CodeInst& branch = kept_.back();
  if (branch.op != Op::branch_any || branch.lanes != 1) return false;
  const ValueId mask = branch.args[0];
  const auto uses = [&](const CodeInst& inst) {
    return inst.mask == mask || std::ranges::find(inst.args, mask) != inst.args.end();
  };
  for (std::size_t i = kept_.size() - 1; i-- > 0;) {
    const CodeInst& inst = kept_[i];
    if (uses(inst)) return false;
    if (inst.result_count != 1 || inst.result != mask) continue;
    if (info(inst.op).shape != ir::Shape::Compare || !is_int(inst.type)) return false;
    std::rotate(kept_.begin() + static_cast<std::ptrdiff_t>(i),
                kept_.begin() + static_cast<std::ptrdiff_t>(i) + 1, kept_.end() - 1);
    return true;
  }
  return false;
}

}  // namespace eum::jit::codegen
