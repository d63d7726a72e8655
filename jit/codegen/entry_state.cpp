// Loops and the choice of entry states.
#include "jit/codegen/entry_state.hpp"

#include <algorithm>
#include <bit>

#include "jit/analysis/reconvergence.hpp"
#include "jit/codegen/loop_scalars.hpp"

namespace eum::jit::codegen {

using ir::BlockId;

LoopSlots::LoopSlots(const ir::Function& function, const Liveness& liveness)
    : function_(function),
      liveness_(liveness),
      last_(function.blocks.size(), ir::no_block),
      reads_(function.blocks.size(), BitSet(liveness.slots())),
      writes_(function.blocks.size(), BitSet(liveness.slots())),
      reads_mask_(function.blocks.size()) {
  for (BlockId b = 0; b < function.blocks.size(); ++b) {
    bool gets = false;
    for (const ir::Inst& inst : function.blocks[b].insts) {
      gets |= inst.op == ir::Op::mask_get && inst.imm == 0;
      const bool merges = ir::is_mask(inst.type) && (inst.op == ir::Op::and_ || inst.op == ir::Op::andn);
      if (gets && (merges || (inst.op == ir::Op::reg_write && inst.mask != ir::no_value && inst.lanes > 1)))
        reads_mask_[b] = true;
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
    // A slot of which only the first lane is read is read in place.
    if (reads[slot] > 0 && live.reads_beyond(slot, sizeof(std::uint32_t)))
      slots.push_back({static_cast<std::uint16_t>(slot), written[slot]});
  // A slot that the loop also writes saves a store besides the load.
  const auto gain = [&](const auto& slot) { return reads[slot.first] + (slot.second ? 2u : 0u); };
  std::stable_sort(slots.begin(), slots.end(),
                   [&](const auto& a, const auto& b) { return gain(a) > gain(b); });
  if (slots.size() > limit) slots.resize(limit);
  return slots;
}

bool LoopSlots::wants_mask(BlockId block) const {
  // Parked channels, which join first, are bits.
  if (reconverges_from(function_, function_.blocks[block])) return false;
  if (!heads_loop(block)) return reads_mask_[block];
  // How the value was computed to which the execution mask was last set.
  for (BlockId b = last_[block] + 1; b-- > block;) {
    const auto& insts = function_.blocks[b].insts;
    const auto set = std::find_if(insts.rbegin(), insts.rend(), [](const ir::Inst& inst) {
      return inst.op == ir::Op::mask_set && inst.imm == 0;
    });
    if (set == insts.rend()) continue;
    const ir::ValueId mask = function_.arg(*set, 0);
    const auto made = std::ranges::find(insts, mask, &ir::Inst::result);
    return made != insts.end() && (made->op == ir::Op::and_ || made->op == ir::Op::andn);
  }
  return false;
}

EntryState fix_entry_state(const LoopSlots& loops, BlockId block, const EntryState& first_edge,
                           const BitSet& live, const MaskSlots& masks, const Target& target,
                           std::span<const LoopScalar> scalars) {
  const bool heads_loop = loops.heads_loop(block);
  const auto find = [&](unsigned slot) {
    return std::find_if(first_edge.begin(), first_edge.end(),
                        [&](const CachedSlot& cached) { return cached.slot == slot; });
  };
  const auto is_mask = [&](const CachedSlot& cached) { return cached.slot >= masks.first; };
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
  // Only into registers that are left over: lanes are made from bits faster than slots are loaded.
  const auto add_masks = [&] {
    if (masks.count == 0 || state.size() + masks.count > most || !loops.wants_mask(block)) return;
    if (!heads_loop && std::ranges::count_if(first_edge, is_mask) != masks.count) return;
    for (unsigned slot = masks.first; slot < masks.first + masks.count; ++slot) {
      const auto cached = find(slot);
      const bool stays = cached != first_edge.end() && !is_taken(cached->reg);
      add(slot, stays ? cached->reg : static_cast<unsigned>(std::countr_one(taken)), false);
    }
  };
  if (!heads_loop) {
    for (const CachedSlot& cached : first_edge) {
      if (is_mask(cached)) continue;
      if (!live[cached.slot] || is_taken(cached.reg) || state.size() == most) continue;
      if (has_scalar(cached.slot)) continue;
      if (cached.dirty || loops.reads(block, cached.slot)) add(cached.slot, cached.reg, cached.dirty);
    }
    add_masks();
    return state;
  }
  auto wanted = loops.wanted(block, most);
  std::erase_if(wanted, [&](const auto& slot) { return has_scalar(slot.first); });
  // Slots that are in a register stay there, the others take what is left.
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
  add_masks();
  return state;
}

}  // namespace eum::jit::codegen
