#pragma once
// Which register slots and flags a block must leave behind, lane-precise for divergent code.
//
// Of each 32-byte slot two facts are tracked: `active` (a channel in the execution mask may read it later)
// and `inactive` (a channel outside it may). A write under the execution mask ends the first and not the
// second, which is what lets temporaries of a divergent loop die, and what tells whether such a write must
// blend with the old value.
#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"

namespace eum::jit {

inline constexpr unsigned slot_size = 32;  ///< bytes: one ymm register
inline constexpr unsigned max_slots = 640;

using SlotSet = std::bitset<max_slots>;

struct LiveState {
  SlotSet active, inactive;
  std::uint64_t flags = 0;
  bool operator==(const LiveState&) const = default;
};

/// How an instruction's mask operand, or the mask it computes, relates to the execution mask.
enum class MaskRole : std::uint8_t {
  Other,
  Execution,  ///< lanes of the execution mask as it is there
  Subset,     ///< of the execution mask
  Superset,   ///< of the execution mask
};

class Liveness {
 public:
  Liveness(const ir::Function& function, bool registers_live_at_exit);

  const LiveState& live_out(ir::BlockId block) const { return out_[block]; }
  const LiveState& live_in(ir::BlockId block) const { return in_[block]; }
  /// Of the mask operand (reg_read, reg_write) or operand 0 (mask_set) of instruction `index`.
  MaskRole role(ir::BlockId block, std::size_t index) const { return roles_[block][index]; }
  /// From the state after an instruction to the state before it.
  void step(const ir::Inst& inst, MaskRole role, LiveState& live) const;
  /// Every masked access of the slot maps the same channels to the same bytes.
  bool regular(unsigned slot) const { return !irregular_[slot]; }

 private:
  void classify(ir::BlockId block);
  void note_access(const ir::Inst& inst, unsigned first_lane);

  const ir::Function& function_;
  std::vector<std::vector<MaskRole>> roles_;
  std::vector<LiveState> in_, out_;
  std::vector<std::uint16_t> keys_;  // lane mapping of the masked accesses of each slot; 0 = none yet
  SlotSet irregular_;
  LiveState at_exit_;
};

/// The slots that `lanes` elements of a region touch, as [first, last].
struct SlotRange {
  unsigned first, last;
};
SlotRange slots_of(const ir::Inst& inst);

/// The instruction is a region access that covers every byte of the slot.
bool covers(const ir::Inst& inst, unsigned slot);

}  // namespace eum::jit
