#pragma once
// What the last writes of a block leave in the register file.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/block_facts.hpp"
#include "jit/analysis/loop_turns.hpp"
#include "jit/analysis/terms.hpp"

namespace eum::jit {

class LastWrites {
 public:
  LastWrites(const ir::Function& function, const ir::Block& block) : function_(function), block_(block) {}

  /// The places of a number then: dwords of one lane each, or a dword of every active channel, by group.
  std::vector<std::vector<Place>> dwords_of(std::uint64_t number, unsigned groups) const {
    std::vector<std::vector<Place>> found;
    std::vector<Place> by_group(groups);
    ir::ValueId value = ir::no_value;
    unsigned tries_left = 64;
    for (const ir::Inst& inst : block_.insts) {
      if (inst.op == ir::Op::constant && inst.imm == number && ir::size_of(inst.type) == 4)
        value = inst.result;
      if (inst.op != ir::Op::reg_write || function_.arg(inst, 0) != value) continue;
      if (tries_left-- == 0) break;
      const std::uint32_t first = inst.region.offset;
      if (inst.lanes == 1 && inst.mask == ir::no_value && holds({Place::File, 4, 1, first}, 0, number))
        found.push_back({{Place::File, 4, 1, first}});
      for (unsigned lane = 0; lane + group_lanes <= inst.lanes; lane += group_lanes)
        for (unsigned group = 0; group < groups && inst.mask != ir::no_value; ++group)
          if (const Place place{Place::File, 4, group_lanes, first + 4 * lane}; holds(place, group, number))
            by_group[group] = place;
    }
    if (std::ranges::all_of(by_group, [](const Place& place) { return place.lanes != 0; }))
      found.push_back(by_group);
    return found;
  }

  /// Whether the place holds this number then, for the active channels of the group, or in one lane.
  bool holds(const Place& place, unsigned group, std::uint64_t number) const {
    const ir::Inst* write = writer_of(place);
    if (write == nullptr || write->op != ir::Op::reg_write) return false;
    const ir::Inst* value = definition(block_, function_.arg(*write, 0));
    const unsigned bytes = ir::size_of(write->type);
    const std::uint32_t first = write->region.offset, end = first + write->lanes * bytes;
    if (!value || value->op != ir::Op::constant || value->imm != number) return false;
    if (write->region.stride(write->lanes) != 1 || first > place.first || end < place.end()) return false;
    const bool has_its_lanes = bytes == place.bytes && (place.first - first) % bytes == 0;
    if (write->mask == ir::no_value) return number == 0 || has_its_lanes;
    // The lanes are those of the same channels.
    const ir::Inst* mask = definition(block_, write->mask);
    unsigned channel = 0;
    if (mask && mask->op == ir::Op::slice) {
      channel = static_cast<unsigned>(mask->imm);
      mask = definition(block_, function_.arg(*mask, 0));
    }
    return mask && is_execution_mask(*mask) && place.lanes > 1 && has_its_lanes &&
           channel + (place.first - first) / bytes == group_lanes * group;
  }
  /// Whether the mask is the execution mask as it is after the block.
  bool is_execution_mask(const ir::Inst& mask) const {
    if (mask.op != ir::Op::mask_get || mask.imm != 0) return false;
    return std::none_of(&mask, block_.insts.data() + block_.insts.size(),
                        [](const ir::Inst& inst) { return inst.op == ir::Op::mask_set && inst.imm == 0; });
  }
  /// The last instruction that may write to the place; null: none does.
  const ir::Inst* writer_of(const Place& place) const {
    for (std::size_t i = block_.insts.size(); i-- > 0;) {
      const ir::Inst& inst = block_.insts[i];
      if (inst.op == ir::Op::reg_scatter) return &inst;
      if (inst.op != ir::Op::reg_write) continue;
      if (shared_bytes(inst, place) != 0) return &inst;
    }
    return nullptr;
  }

 private:
  const ir::Function& function_;
  const ir::Block& block_;
};

}  // namespace eum::jit
