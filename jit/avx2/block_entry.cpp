// Loops are taken from back edges: structured GEN code lays out their blocks one after the other.
#include "jit/avx2/block_entry.hpp"

#include <algorithm>

namespace eum::jit {

using ir::BlockId;

LoopSlots::LoopSlots(const ir::Function& function, const Liveness& liveness)
    : function_(function),
      liveness_(liveness),
      last_(function.blocks.size(), ir::no_block),
      reads_(function.blocks.size()),
      writes_(function.blocks.size()) {
  for (BlockId b = 0; b < function.blocks.size(); ++b) {
    for (const ir::Inst& inst : function.blocks[b].insts) {
      if (inst.op != ir::Op::reg_read && inst.op != ir::Op::reg_write) continue;
      SlotRange range = slots_of(inst);
      for (unsigned slot = range.first; slot <= range.last; ++slot)
        (inst.op == ir::Op::reg_read ? reads_ : writes_)[b].set(slot);
    }
    for (BlockId target : successors(function.blocks[b].insts.back()))
      if (target != ir::no_block && target <= b)
        last_[target] = last_[target] == ir::no_block ? b : std::max(last_[target], b);
  }
}

std::vector<std::uint16_t> LoopSlots::wanted(BlockId header, std::size_t limit) const {
  const LiveState& live = liveness_.live_in(header);
  std::vector<std::uint16_t> count(max_slots, 0), slots;
  for (BlockId b = header; b <= last_[header]; ++b) {
    for (const ir::Inst& inst : function_.blocks[b].insts) {
      if (inst.op != ir::Op::reg_read || inst.region.stride(inst.lanes) != 1) continue;
      if (inst.region.offset % slot_size != 0 || inst.lanes * ir::size_of(inst.type) < slot_size) continue;
      SlotRange range = slots_of(inst);
      for (unsigned slot = range.first; slot <= range.last; ++slot)
        if (live.active[slot]) ++count[slot];
    }
  }
  for (std::uint16_t slot = 0; slot < max_slots; ++slot)
    if (count[slot] > 0) slots.push_back(slot);
  std::stable_sort(slots.begin(), slots.end(), [&](std::uint16_t a, std::uint16_t b) {
    // What the loop also writes saves a store besides the load.
    return count[a] + 2 * loop_writes(header, a) > count[b] + 2 * loop_writes(header, b);
  });
  if (slots.size() > limit) slots.resize(limit);
  return slots;
}

bool LoopSlots::loop_writes(BlockId header, unsigned slot) const {
  for (BlockId b = header; b <= last_[header]; ++b)
    if (writes_[b][slot]) return true;
  return false;
}

}  // namespace eum::jit
