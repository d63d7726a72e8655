// Backward dataflow over blocks; see liveness.hpp for the lattice.
#include "jit/passes/liveness.hpp"

#include <algorithm>

namespace eum::jit {

using ir::BlockId;
using ir::Inst;
using ir::Op;

SlotRange slots_of(const Inst& inst) {
  unsigned bytes = ir::size_of(inst.type);
  unsigned low = inst.region.offset, high = low;
  if (int stride = inst.region.stride(inst.lanes); stride >= 0) {
    high = low + (inst.lanes - 1u) * static_cast<unsigned>(stride) * bytes;
  } else {
    for (unsigned lane = 0; lane < inst.lanes; ++lane)
      high = std::max(high, inst.region.byte_of(lane, bytes));
  }
  return {low / slot_size, (high + bytes - 1) / slot_size};
}

bool covers(const Inst& inst, unsigned slot) {
  if (inst.region.stride(inst.lanes) != 1) return false;
  unsigned begin = inst.region.offset, end = begin + inst.lanes * ir::size_of(inst.type);
  return begin <= slot * slot_size && end >= (slot + 1) * slot_size;
}

namespace {

unsigned flag_lanes_mask_shift(const Inst& inst) { return static_cast<unsigned>(inst.imm); }

std::uint64_t flag_bits(const Inst& inst) {
  std::uint64_t lanes = inst.lanes >= 64 ? ~0ull : (1ull << inst.lanes) - 1;
  return lanes << flag_lanes_mask_shift(inst);
}

}  // namespace

Liveness::Liveness(const ir::Function& function, bool registers_live_at_exit)
    : function_(function),
      roles_(function.blocks.size()),
      in_(function.blocks.size()),
      out_(function.blocks.size()),
      keys_(max_slots, 0) {
  if (registers_live_at_exit) {
    at_exit_.active.set();
    at_exit_.inactive.set();
    at_exit_.flags = ~0ull;
  }
  for (BlockId b = 0; b < function.blocks.size(); ++b) classify(b);

  bool any_jump_ip = false;
  for (const ir::Block& block : function.blocks)
    any_jump_ip |= !block.insts.empty() && block.insts.back().op == Op::jump_ip;

  bool changed = true;
  while (changed) {
    changed = false;
    LiveState everywhere;  // what jump_ip may need: the union over all blocks
    if (any_jump_ip)
      for (const LiveState& state : in_) {
        everywhere.active |= state.active;
        everywhere.inactive |= state.inactive;
        everywhere.flags |= state.flags;
      }
    for (BlockId b = static_cast<BlockId>(function.blocks.size()); b-- > 0;) {
      const auto& insts = function.blocks[b].insts;
      LiveState live;
      const Inst& last = insts.back();
      if (last.op == Op::exit || last.op == Op::trap) live = at_exit_;
      if (last.op == Op::jump_ip) live = everywhere;
      for (BlockId successor : successors(last)) {
        if (successor == ir::no_block) continue;
        live.active |= in_[successor].active;
        live.inactive |= in_[successor].inactive;
        live.flags |= in_[successor].flags;
      }
      out_[b] = live;
      for (std::size_t i = insts.size(); i-- > 0;) step(insts[i], roles_[b][i], live);
      if (!(live == in_[b])) {
        in_[b] = live;
        changed = true;
      }
    }
  }
}

void Liveness::note_access(const Inst& inst, unsigned first_lane) {
  SlotRange range = slots_of(inst);
  unsigned bytes = ir::size_of(inst.type);
  int stride = inst.region.stride(inst.lanes);
  for (unsigned slot = range.first; slot <= range.last; ++slot) {
    // Which lane's element begins at the start of the slot, and how many bytes a lane takes.
    int lane_bytes = stride > 0 ? stride * static_cast<int>(bytes) : 0;
    int distance = static_cast<int>(slot * slot_size) - static_cast<int>(inst.region.offset);
    if (lane_bytes == 0 || distance % lane_bytes != 0) {
      irregular_.set(slot);
      continue;
    }
    int lane = static_cast<int>(first_lane) + distance / lane_bytes;
    auto key = static_cast<std::uint16_t>(0x8000 | ((lane & 0xff) << 7) | (lane_bytes & 0x7f));
    if (keys_[slot] == 0) keys_[slot] = key;
    if (keys_[slot] != key) irregular_.set(slot);
  }
}

void Liveness::classify(BlockId block) {
  struct Known {
    MaskRole role = MaskRole::Other;
    unsigned first_lane = 0;
    unsigned epoch = 0;
  };
  const auto& insts = function_.blocks[block].insts;
  auto& roles = roles_[block];
  roles.assign(insts.size(), MaskRole::Other);
  // Only mask values matter and a block has few: a flat list, searched from the end.
  std::vector<std::pair<ir::ValueId, Known>> known;
  unsigned epoch = 1;
  auto find = [&](ir::ValueId value) {
    for (std::size_t i = known.size(); i-- > 0;)
      if (known[i].first == value) return known[i].second.epoch == epoch ? known[i].second : Known{};
    return Known{};
  };
  for (std::size_t i = 0; i < insts.size(); ++i) {
    const Inst& inst = insts[i];
    switch (inst.op) {
      case Op::mask_get:
        if (inst.imm == 0) known.push_back({inst.result, {MaskRole::Execution, 0, epoch}});
        break;
      case Op::slice: {
        if (!ir::is_mask(inst.type)) break;
        Known of = find(inst.args[0]);
        if (of.role == MaskRole::Execution)
          known.push_back({inst.result, {of.role, of.first_lane + static_cast<unsigned>(inst.imm), epoch}});
        break;
      }
      case Op::and_:
      case Op::or_:
      case Op::andn: {
        if (!ir::is_mask(inst.type) || inst.lanes != function_.simd) break;
        Known a = find(inst.args[0]), b = find(inst.args[1]);
        auto whole = [](const Known& k) { return k.role == MaskRole::Execution && k.first_lane == 0; };
        bool b_below = whole(b) || b.role == MaskRole::Subset;
        bool a_below = whole(a) || a.role == MaskRole::Subset;
        if (inst.op == Op::or_) {
          if (whole(a) || whole(b)) known.push_back({inst.result, {MaskRole::Superset, 0, epoch}});
        } else if (b_below || (inst.op == Op::and_ && a_below)) {
          known.push_back({inst.result, {MaskRole::Subset, 0, epoch}});
        }
        break;
      }
      case Op::mask_set:
        if (inst.imm == 0) {
          Known of = find(inst.args[0]);
          roles[i] = of.role == MaskRole::Execution && of.first_lane != 0 ? MaskRole::Other : of.role;
          if (roles[i] != MaskRole::Execution) {
            ++epoch;
            known.push_back({inst.args[0], {MaskRole::Execution, 0, epoch}});
          }
        }
        break;
      case Op::reg_read:
      case Op::reg_write: {
        if (inst.mask == ir::no_value) break;
        Known of = find(inst.mask);
        if (of.role == MaskRole::Execution) {
          roles[i] = MaskRole::Execution;
          note_access(inst, of.first_lane);
        }
        break;
      }
      default:
        break;
    }
  }
}

void Liveness::step(const Inst& inst, MaskRole role, LiveState& live) const {
  switch (inst.op) {
    case Op::reg_write: {
      if (inst.mask != ir::no_value && role != MaskRole::Execution) return;
      SlotRange range = slots_of(inst);
      for (unsigned slot = range.first; slot <= range.last; ++slot) {
        if (!covers(inst, slot)) continue;
        if (inst.mask == ir::no_value) {
          live.active.reset(slot);
          live.inactive.reset(slot);
        } else if (regular(slot)) {
          live.active.reset(slot);
        }
      }
      return;
    }
    case Op::reg_read: {
      SlotRange range = slots_of(inst);
      for (unsigned slot = range.first; slot <= range.last; ++slot) {
        live.active.set(slot);
        if (role != MaskRole::Execution || !regular(slot)) live.inactive.set(slot);
      }
      return;
    }
    case Op::reg_gather:
      live.active.set();
      live.inactive.set();
      return;
    case Op::flag_write:
      if (inst.mask == ir::no_value) live.flags &= ~flag_bits(inst);
      return;
    case Op::flag_read:
      live.flags |= flag_bits(inst);
      return;
    case Op::mask_set: {
      if (inst.imm != 0 || role == MaskRole::Execution) return;
      SlotSet both = live.active | live.inactive;
      if (role != MaskRole::Superset) live.active = both;  // a channel may be switched off here
      if (role != MaskRole::Subset) live.inactive = both;  // a channel may be switched on here
      return;
    }
    default:
      return;
  }
}

}  // namespace eum::jit
