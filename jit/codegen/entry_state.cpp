// Loops and the choice of entry states.
#include "jit/codegen/entry_state.hpp"

#include <algorithm>
#include <bit>

#include "jit/codegen/loop_scalars.hpp"

namespace eum::jit::codegen {

using ir::BlockId;

LoopSlots::LoopSlots(const ir::Function& function, const Liveness& liveness)
    : function_(function),
      liveness_(liveness),
      last_(function.blocks.size(), ir::no_block),
      reads_(function.blocks.size(), BitSet(liveness.slots())),
      writes_(function.blocks.size(), BitSet(liveness.slots())) {
  for (BlockId b = 0; b < function.blocks.size(); ++b) {
    for (const ir::Inst& inst : function.blocks[b].insts) {
      if (inst.op != ir::Op::reg_read && inst.op != ir::Op::reg_write) continue;
      const SlotRange range = slots_of(inst, liveness.slot_bytes());
      auto& set = inst.op == ir::Op::reg_read ? reads_[b] : writes_[b];
      set.set_range(range.first, range.last - range.first + 1);
    }
    for (BlockId target : successors(function.blocks[b].insts.back()))
      if (target != ir::no_block && target <= b && b - target < longest_loop)
        last_[target] = last_[target] == ir::no_block ? b : std::max(last_[target], b);
  }
}

std::vector<std::pair<std::uint16_t, bool>> LoopSlots::wanted(BlockId header, std::size_t limit) const {
  const LiveState& live = liveness_.live_in(header);
  const unsigned slot_bytes = liveness_.slot_bytes();
  BitSet written(liveness_.slots());
  std::vector<unsigned> reads(liveness_.slots(), 0);
  for (BlockId b = header; b <= last_[header]; ++b) {
    written |= writes_[b];
    for (const ir::Inst& inst : function_.blocks[b].insts) {
      if (inst.op != ir::Op::reg_read || inst.region.stride(inst.lanes) != 1) continue;
      if (inst.region.offset % slot_bytes != 0 || inst.lanes * ir::size_of(inst.type) < slot_bytes) continue;
      const SlotRange range = slots_of(inst, slot_bytes);
      for (unsigned slot = range.first; slot <= range.last; ++slot)
        if (live.active[slot]) ++reads[slot];
    }
  }
  std::vector<std::pair<std::uint16_t, bool>> slots;
  for (unsigned slot = 0; slot < reads.size(); ++slot)
    // A first lane that nothing is read behind is read where it is.
    if (reads[slot] > 0 && live.reads_beyond(slot, sizeof(std::uint32_t)))
      slots.push_back({static_cast<std::uint16_t>(slot), written[slot]});
  // What the loop also writes saves a store besides the load.
  const auto gain = [&](const auto& slot) { return reads[slot.first] + (slot.second ? 2u : 0u); };
  std::stable_sort(slots.begin(), slots.end(),
                   [&](const auto& a, const auto& b) { return gain(a) > gain(b); });
  if (slots.size() > limit) slots.resize(limit);
  return slots;
}

EntryState fix_entry_state(const LoopSlots& loops, BlockId block, const EntryState& first_edge,
                           const BitSet& live, const Target& target, std::span<const LoopScalar> scalars) {
  // Enough registers stay free for what the block itself computes.
  const std::size_t most = target.vector_registers * 10 / 16 - scalars.size();
  EntryState state;
  std::uint64_t taken = 0;
  for (const LoopScalar& scalar : scalars) taken |= std::uint64_t{1} << scalar.reg;
  const auto has_scalar = [&](unsigned slot) {
    return std::ranges::any_of(
        scalars, [&](const LoopScalar& scalar) { return scalar.offset / target.vector_bytes == slot; });
  };
  const auto add = [&](unsigned slot, unsigned reg, bool dirty) {
    state.push_back({static_cast<std::uint16_t>(slot), static_cast<std::uint8_t>(reg), dirty});
    taken |= std::uint64_t{1} << reg;
  };
  const auto is_taken = [&](unsigned reg) { return (taken >> reg & 1) != 0; };
  if (!loops.heads_loop(block)) {
    for (const CachedSlot& cached : first_edge) {
      if (!live[cached.slot] || is_taken(cached.reg) || state.size() == most) continue;
      if (has_scalar(cached.slot)) continue;
      if (cached.dirty || loops.reads(block, cached.slot)) add(cached.slot, cached.reg, cached.dirty);
    }
    return state;
  }
  auto wanted = loops.wanted(block, most);
  std::erase_if(wanted, [&](const auto& slot) { return has_scalar(slot.first); });
  const auto find = [&](unsigned slot) {
    return std::find_if(first_edge.begin(), first_edge.end(),
                        [&](const CachedSlot& cached) { return cached.slot == slot; });
  };
  // Those in a register stay where they are, the others take what is left.
  std::vector<std::pair<std::uint16_t, bool>> homeless;
  for (const auto& [slot, written] : wanted) {
    const auto cached = find(slot);
    if (cached != first_edge.end() && !is_taken(cached->reg))
      add(slot, cached->reg, written || cached->dirty);
    else
      homeless.push_back({slot, written});
  }
  for (const auto& [slot, written] : homeless) {
    const auto cached = find(slot);
    add(slot, static_cast<unsigned>(std::countr_one(taken)),
        written || (cached != first_edge.end() && cached->dirty));
  }
  return state;
}

}  // namespace eum::jit::codegen
