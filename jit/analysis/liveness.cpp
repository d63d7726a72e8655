// Backward dataflow over blocks; see liveness.hpp for the lattice.
#include "jit/analysis/liveness.hpp"

#include <algorithm>
#include <utility>

namespace eum::jit {

using ir::BlockId;
using ir::Inst;
using ir::Op;

std::uint64_t bytes_of(const Inst& inst, unsigned slot, unsigned slot_bytes) {
  const unsigned begin = slot * slot_bytes, end = begin + slot_bytes, element = ir::size_of(inst.type);
  std::uint64_t bytes = 0;
  const auto add = [&](unsigned from, unsigned to) {
    from = std::max(from, begin);
    to = std::min(to, end);
    if (from < to) bytes |= (~std::uint64_t{0} >> (64 - (to - from))) << (from - begin);
  };
  if (inst.region.stride(inst.lanes) == 1) {
    add(inst.region.offset, inst.region.offset + inst.lanes * element);
  } else {
    for (unsigned lane = 0; lane < inst.lanes; ++lane) {
      const unsigned at = inst.region.byte_of(lane, element);
      add(at, at + element);
    }
  }
  return bytes;
}

bool covers(const Inst& inst, unsigned slot, unsigned slot_bytes) {
  if (inst.region.stride(inst.lanes) != 1) return false;
  unsigned begin = inst.region.offset, end = begin + inst.lanes * ir::size_of(inst.type);
  return begin <= slot * slot_bytes && end >= (slot + 1) * slot_bytes;
}

Liveness::Liveness(const ir::Function& function, unsigned slot_bytes, bool exact)
    : function_(function),
      slot_bytes_(slot_bytes),
      slots_((function.file_bytes + slot_bytes - 1) / slot_bytes),
      exact_(exact),
      uses_(function.blocks.size()),
      needed_(function.blocks.size()),
      in_(function.blocks.size(), empty()),
      out_(function.blocks.size(), empty()) {
  std::vector<KnownMask> known(function.values.size());
  unsigned epoch = 0;
  std::vector<Definition> definitions(function.values.size());
  BlockNeeds needs(function);
  for (BlockId b = 0; b < function.blocks.size(); ++b) {
    classify(b, known, epoch);
    find_merges(b, definitions);
    classify_flags(b, known, needs);
  }
  UsedValues used(function.values.size());
  solve([&](BlockId b, LiveState& live) {
    walk(b, live, used);
    if (exact_ && function_.blocks[b].safepoint) live.fill(whole_slot());
  });
}

/// From the state after the block to the one before it; finds which instructions are needed.
void Liveness::walk(BlockId block, LiveState& live, UsedValues& used) {
  const auto& insts = function_.blocks[block].insts;
  auto& needed = needed_[block];
  needed.assign(insts.size(), 0);
  used.begin();
  for (std::size_t i = insts.size(); i-- > 0;) {
    const Inst& inst = insts[i];
    if (!wants(inst, live, used)) continue;
    needed[i] = 1;
    step(inst, uses_[block][i], live);
    for (ir::ValueId arg : function_.args(inst)) used.add(arg);
    if (inst.mask != ir::no_value) used.add(inst.mask);
  }
}

bool Liveness::is_written_for(const Inst& write, const LiveState& live) const {
  if (write.op == Op::flag_write)
    return live.active_flags.any_in_range(write.imm, write.lanes) ||
           live.inactive_flags.any_in_range(write.imm, write.lanes);
  const SlotRange range = slots_of(write, slot_bytes_);
  for (unsigned slot = range.first; slot <= range.last; ++slot)
    if ((live.active[slot] || live.inactive[slot]) &&
        (live.bytes[slot] & bytes_of(write, slot, slot_bytes_)) != 0)
      return true;
  return false;
}

bool Liveness::wants(const Inst& inst, const LiveState& live, const UsedValues& used) const {
  for (unsigned k = 0; k < inst.result_count; ++k)
    if (used[inst.result + k]) return true;
  if (ir::may_leave(inst.op)) return true;
  if (inst.op == Op::reg_write || inst.op == Op::flag_write) return is_written_for(inst, live);
  const ir::Effect effect = ir::info(inst.op).effect;
  return effect != ir::Effect::Pure && effect != ir::Effect::ReadsState;
}

void Liveness::solve_again(const Before& before) {
  if (exact_) return;
  std::ranges::fill(in_, empty());
  std::ranges::fill(out_, empty());
  solve(before);
}

/// A block is visited again when the state after it has grown: each pass over a loop nest is bounded by the
/// slots that become live, not by the number of blocks.
void Liveness::solve(const Before& before) {
  const auto count = static_cast<BlockId>(function_.blocks.size());
  const auto predecessors = ir::predecessors(function_);
  std::vector<BlockId> dispatching;  // end in jump_ip, which may lead anywhere
  for (BlockId b = 0; b < count; ++b)
    if (function_.blocks[b].insts.back().op == Op::jump_ip) dispatching.push_back(b);
  LiveState everywhere = empty(), live = empty();
  std::vector<BlockId> pending(count);
  for (BlockId b = 0; b < count; ++b) pending[b] = b;  // from the end, as a stack
  std::vector<bool> is_pending(count, true);
  const auto again = [&](BlockId b) {
    if (is_pending[b]) return;
    is_pending[b] = true;
    pending.push_back(b);
  };
  while (!pending.empty()) {
    const BlockId b = pending.back();
    pending.pop_back();
    is_pending[b] = false;
    const auto& insts = function_.blocks[b].insts;
    LiveState& out = out_[b];
    for (BlockId successor : successors(insts.back()))
      if (successor != ir::no_block) out |= in_[successor];
    if (insts.back().op == Op::jump_ip) out |= everywhere;
    live = out;
    before(b, live);
    if (live == in_[b]) continue;
    std::swap(live, in_[b]);
    for (BlockId predecessor : predecessors[b]) again(predecessor);
    if (dispatching.empty()) continue;
    const LiveState known = everywhere;
    everywhere |= in_[b];
    if (known == everywhere) continue;
    for (BlockId predecessor : dispatching) again(predecessor);
  }
}

/// Which channel's bytes begin at the start of the slot, and how many bytes belong to one channel, of which
/// the element may be any part.
Mapping Liveness::mapping_of(const Inst& inst, unsigned first_lane, unsigned slot) const {
  const int stride = inst.region.stride(inst.lanes);
  if (stride <= 0) return LiveState::any;
  const unsigned element = ir::size_of(inst.type), lane_bytes = static_cast<unsigned>(stride) * element;
  const unsigned offset = inst.region.offset, begin = slot * slot_bytes_;
  if (offset % lane_bytes + element > lane_bytes || begin % lane_bytes != 0) return LiveState::any;
  const unsigned lane = first_lane + begin / lane_bytes - offset / lane_bytes;
  return static_cast<Mapping>(0x4000 | ((lane & 0x7f) << 7) | (lane_bytes & 0x7f));
}

/// The execution mask becomes `mask`, and the epoch `now` changes: to an earlier one if the mask is that of
/// the earlier one. `last`: of the epochs so far.
MaskRole Liveness::set_execution(KnownMask& mask, unsigned& now, unsigned& last) {
  const auto before = std::find(nested_.begin(), nested_.end(), mask.epoch);
  const bool is_nested = before != nested_.end();
  if (mask.role == MaskRole::Execution && mask.first_lane == 0 && mask.epoch != now && is_nested) {
    now = mask.epoch;
    nested_.erase(before + 1, nested_.end());
    return nested_.size() == 1 && is_entry_ ? MaskRole::Restore : MaskRole::Superset;
  }
  MaskRole role = mask.epoch == now ? mask.role : MaskRole::Other;
  if (role == MaskRole::Execution && mask.first_lane != 0) role = MaskRole::Other;
  if (role == MaskRole::Execution) return role;
  // The mask may also be a subset of that of an earlier epoch.
  if (role != MaskRole::Subset && mask.role == MaskRole::Subset && is_nested) {
    nested_.erase(before + 1, nested_.end());
  } else if (role != MaskRole::Subset) {
    nested_.clear();
    is_entry_ = false;
  }
  nested_.push_back(now = ++last);
  mask = {MaskRole::Execution, 0, now};
  return role;
}

void Liveness::classify(BlockId block, std::vector<KnownMask>& known, unsigned& epoch) {
  const auto& insts = function_.blocks[block].insts;
  auto& uses = uses_[block];
  uses.assign(insts.size(), {});
  flag_accesses_.clear();
  unsigned now = ++epoch;
  nested_ = {now};
  is_entry_ = true;
  const auto find = [&](ir::ValueId value) { return known[value].epoch == now ? known[value] : KnownMask{}; };
  for (std::size_t i = 0; i < insts.size(); ++i) {
    const Inst& inst = insts[i];
    switch (inst.op) {
      case Op::mask_get:
        if (inst.imm == 0) known[inst.result] = {MaskRole::Execution, 0, now};
        break;
      case Op::constant:
        if (ir::is_mask(inst.type) && inst.imm == 0) known[inst.result] = {MaskRole::Subset, 0, now};
        break;
      case Op::slice: {
        if (!ir::is_mask(inst.type)) break;
        const KnownMask of = find(function_.arg(inst, 0));
        if (of.role == MaskRole::Execution)
          known[inst.result] = {of.role, of.first_lane + static_cast<unsigned>(inst.imm), now};
        break;
      }
      case Op::and_:
      case Op::or_:
      case Op::andn: {
        if (!ir::is_mask(inst.type) || inst.lanes != function_.simd) break;
        const KnownMask a = find(function_.arg(inst, 0)), b = find(function_.arg(inst, 1));
        auto whole = [](const KnownMask& k) { return k.role == MaskRole::Execution && k.first_lane == 0; };
        bool b_below = whole(b) || b.role == MaskRole::Subset;
        bool a_below = whole(a) || a.role == MaskRole::Subset;
        if (inst.op == Op::or_) {
          if (whole(a) || whole(b)) known[inst.result] = {MaskRole::Superset, 0, now};
        } else if (b_below || (inst.op == Op::and_ && a_below)) {
          known[inst.result] = {MaskRole::Subset, 0, now};
        }
        break;
      }
      case Op::mask_set:
        if (inst.imm == 0) uses[i] = set_execution(known[function_.arg(inst, 0)], now, epoch);
        break;
      case Op::reg_read:
      case Op::reg_write: {
        if (inst.mask == ir::no_value) break;
        const KnownMask of = find(inst.mask);
        if (of.role == MaskRole::Execution) uses[i] = {MaskRole::Execution, of.first_lane};
        break;
      }
      case Op::flag_read:
      case Op::flag_write:
        flag_accesses_.push_back({i, now, inst.mask});
        break;
      default:
        break;
    }
  }
}

/// flag_write (~mask & flag_read of the same bits) | ..., where nothing else uses what was read: the bits are
/// live before only if they are live after.
void Liveness::find_merges(BlockId block, std::vector<Definition>& definitions) {
  const auto& insts = function_.blocks[block].insts;
  const auto is_write = [](const Inst& inst) {
    return inst.op == Op::flag_write && inst.mask == ir::no_value;
  };
  if (std::none_of(insts.begin(), insts.end(), is_write)) return;
  for (std::size_t i = insts.size(); i-- > 0;) {
    const Inst& inst = insts[i];
    bool dead = ir::is_pure(inst.op) || inst.op == Op::flag_read;
    for (unsigned k = 0; k < inst.result_count; ++k) {
      Definition& own = definitions[inst.result + k];
      own.index = static_cast<std::uint32_t>(i);
      own.known = true;
      dead &= own.uses == 0;
    }
    if (dead) continue;
    for (ir::ValueId arg : function_.args(inst)) ++definitions[arg].uses;
    if (inst.mask != ir::no_value) ++definitions[inst.mask].uses;
  }
  const auto single = [&](ir::ValueId value, Op op) -> const Inst* {
    const Definition& of = definitions[value];
    return of.known && of.uses == 1 && insts[of.index].op == op ? &insts[of.index] : nullptr;
  };
  for (FlagAccess& access : flag_accesses_) {
    const std::size_t i = access.index;
    if (!is_write(insts[i])) continue;
    const Inst* sum = single(function_.arg(insts[i], 0), Op::or_);
    const Inst* kept = sum ? single(function_.arg(*sum, 0), Op::andn) : nullptr;
    const Inst* old = kept ? single(function_.arg(*kept, 1), Op::flag_read) : nullptr;
    if (!old || old->imm != insts[i].imm || old->lanes != insts[i].lanes) continue;
    access.mask = function_.arg(*kept, 0);
    uses_[block][i] = MaskRole::Merge;
    uses_[block][definitions[old->result].index] = MaskRole::Merge;
  }
  for (const Inst& inst : insts)
    for (unsigned k = 0; k < inst.result_count; ++k) definitions[inst.result + k] = {};
}

/// Which accesses of flags are by active channels. Flag b belongs to channel b % 32, or b % 16 with no more
/// than 16 channels; in accesses that are not like that, to any channel.
void Liveness::classify_flags(BlockId block, const std::vector<KnownMask>& known, BlockNeeds& needs) {
  if (flag_accesses_.empty()) return;
  const unsigned channels = function_.simd <= 16 ? 16 : 32;
  auto& uses = uses_[block];
  bool knows_needs = false;
  for (const FlagAccess& access : flag_accesses_) {
    const Inst& inst = function_.blocks[block].insts[access.index];
    const auto by_channel = [&](ir::ValueId mask, unsigned first) {
      return known[mask].epoch == access.epoch && known[mask].role == MaskRole::Execution &&
             known[mask].first_lane + first == inst.imm % channels;
    };
    if (inst.op == Op::flag_write) {
      if (access.mask != ir::no_value && by_channel(access.mask, 0))
        uses[access.index] = MaskRole::ExecutionMerge;
    } else if (uses[access.index].role == MaskRole::Other) {
      if (!std::exchange(knows_needs, true)) needs.begin(function_.blocks[block]);
      const Need& need = needs.of(inst.result);
      if (need.what == Need::None) uses[access.index] = MaskRole::Unused;
      if (need.what == Need::Under && by_channel(need.lanes.mask, need.lanes.first))
        uses[access.index] = MaskRole::Execution;
    }
  }
}

bool Liveness::may_grow(BlockId block, std::size_t first) const {
  const auto& insts = function_.blocks[block].insts;
  bool grows = false;
  for (std::size_t i = first; i < insts.size(); ++i) {
    if (insts[i].op != Op::mask_set || insts[i].imm != 0 || role(block, i) == MaskRole::Subset) continue;
    grows = role(block, i) != MaskRole::Restore;
  }
  return grows;
}

void Liveness::renumber(BlockId block, std::span<const Origin> origins) {
  std::vector<MaskUse> uses;
  std::vector<std::uint8_t> needed;
  uses.reserve(origins.size());
  for (const Origin& origin : origins) {
    needed.push_back(origin.index == Origin::none ? 1 : needed_[block][origin.index]);
    if (origin.index == Origin::none) {
      uses.push_back(MaskRole::Execution);
      continue;
    }
    const MaskUse use = uses_[block][origin.index];
    uses.push_back({use.role, static_cast<unsigned>(use.first_lane) + origin.lane});
  }
  uses_[block] = std::move(uses);
  needed_[block] = std::move(needed);
}

LiveState& LiveState::operator|=(const LiveState& other) {
  BitSet::each_of_either(other.active, other.inactive, [&](std::size_t slot) {
    bytes[slot] |= other.bytes[slot];
    const Mapping theirs = other.mapping[slot];
    if (mapping[slot] == 0)
      mapping[slot] = theirs;
    else if (mapping[slot] != theirs)
      want(static_cast<unsigned>(slot), any, 0);
  });
  active |= other.active;
  inactive |= other.inactive;
  active_flags |= other.active_flags;
  inactive_flags |= other.inactive_flags;
  return *this;
}

void LiveState::fill(std::uint64_t all) {
  active.fill();
  inactive.fill();
  std::fill(mapping.begin(), mapping.end(), any);
  std::fill(bytes.begin(), bytes.end(), all);
  active_flags.fill();
  inactive_flags.fill();
}

void LiveState::want(unsigned slot, Mapping wanted, std::uint64_t read) {
  bytes[slot] |= read;
  if (mapping[slot] != 0 && mapping[slot] != wanted) wanted = any;
  mapping[slot] = wanted;
  active.set(slot);
  if (wanted == any) inactive.set(slot);
}

void Liveness::step_access(const Inst& inst, MaskUse use, LiveState& live) const {
  const MaskRole role = use.role;
  switch (inst.op) {
    case Op::reg_write: {
      if (inst.mask != ir::no_value && role != MaskRole::Execution) break;
      SlotRange range = slots_of(inst, slot_bytes_);
      for (unsigned slot = range.first; slot <= range.last; ++slot) {
        if (inst.mask == ir::no_value) {
          live.end(slot, bytes_of(inst, slot, slot_bytes_));
        } else if (!by_channel(inst, use, slot, live)) {
          continue;
        } else if (!covers(inst, slot, slot_bytes_)) {
          if (!live.inactive[slot]) live.end(slot, bytes_of(inst, slot, slot_bytes_));
        } else {
          // What was live for any channels remains live as that of the other channels.
          if (live.mapping[slot] != 0) live.mapping[slot] = mapping_of(inst, use.first_lane, slot);
          live.end_active(slot);
        }
      }
      break;
    }
    case Op::reg_read: {
      SlotRange range = slots_of(inst, slot_bytes_);
      for (unsigned slot = range.first; slot <= range.last; ++slot)
        live.want(slot, role == MaskRole::Execution ? mapping_of(inst, use.first_lane, slot) : LiveState::any,
                  bytes_of(inst, slot, slot_bytes_));
      break;
    }
    case Op::reg_gather:
      for (unsigned slot = 0; slot < indirect_slots(); ++slot) live.want(slot, LiveState::any, whole_slot());
      break;
    case Op::reg_scatter: {
      if (!inst.own.given()) break;
      const unsigned bytes = inst.own.source_bytes(inst.lanes, ir::size_of(inst.type));
      for (unsigned slot = inst.own.source / slot_bytes_; slot * slot_bytes_ < inst.own.source + bytes;
           ++slot)
        live.want(slot, LiveState::any, whole_slot());
      break;
    }
    case Op::flag_write:
      if (role == MaskRole::ExecutionMerge) {
        live.active_flags.reset_range(inst.imm, inst.lanes);
      } else if (inst.mask == ir::no_value && role != MaskRole::Merge) {
        live.active_flags.reset_range(inst.imm, inst.lanes);
        live.inactive_flags.reset_range(inst.imm, inst.lanes);
      }
      break;
    case Op::flag_read:
      if (role == MaskRole::Merge || role == MaskRole::Unused) break;
      live.active_flags.set_range(inst.imm, inst.lanes);
      if (role != MaskRole::Execution) live.inactive_flags.set_range(inst.imm, inst.lanes);
      break;
    case Op::mask_set:
      if (inst.imm != 0 || role == MaskRole::Execution) break;
      if (role == MaskRole::Other || role == MaskRole::Subset) {
        live.active |= live.inactive;
        live.active_flags |= live.inactive_flags;
      }
      if (role == MaskRole::Other || role == MaskRole::Superset || role == MaskRole::Restore) {
        live.inactive |= live.active;
        live.inactive_flags |= live.active_flags;
      }
      break;
    default:
      break;
  }
  if (observes(inst)) live.fill(whole_slot());
}

}  // namespace eum::jit
