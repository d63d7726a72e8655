#pragma once
// Which parts of the register file and which flags a block must leave up to date, lane-precise for divergent
// code.
//
// The file is tracked in slots of a size that the caller chooses, of up to 64 bytes, flags bit by bit. Two
// facts are known of each: `active` (a channel in the execution mask may read it later) and `inactive` (a
// channel outside it may). A write under the execution mask kills the first and not the second, so that
// temporaries of a divergent loop die, and it is known whether such a write must blend with the old value.
// The bytes of a slot that may be read are known as well, so that partial writes that together cover them
// kill the slot: halves of 64-bit elements are written like that.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/bit_set.hpp"
#include "jit/analysis/block_needs.hpp"

namespace eum::jit {

/// Which bytes of a slot belong to which channel: accesses of one mapping agree about it. 0: none.
using Mapping = std::uint16_t;

struct LiveState {
  static constexpr Mapping any = 0xffff;  ///< all bytes are live, whichever channels they belong to

  BitSet active, inactive;              ///< slots
  std::vector<Mapping> mapping;         ///< of `active` and `inactive`; 0 for slots that are in neither
  std::vector<std::uint64_t> bytes;     ///< that are read of each slot, a bit each; 0 for slots in neither
  BitSet active_flags, inactive_flags;  ///< flag bits
  bool operator==(const LiveState&) const = default;
  LiveState& operator|=(const LiveState& other);
  /// Makes everything live; `all` are the bytes of a slot.
  void fill(std::uint64_t all);
  /// A read by active channels; with `any` as `wanted`, what belongs to inactive ones is live as well.
  void want(unsigned slot, Mapping wanted, std::uint64_t read);
  /// Whether bytes of the slot after the first `count` are read.
  bool reads_beyond(unsigned slot, unsigned count) const { return bytes[slot] >> count != 0; }
  /// The slot has been overwritten in the active channels.
  void end_active(unsigned slot) {
    active.reset(slot);
    if (inactive[slot]) return;
    mapping[slot] = 0;
    bytes[slot] = 0;
  }
  /// In all channels.
  void end(unsigned slot) {
    inactive.reset(slot);
    end_active(slot);
  }
  /// These bytes, in all channels.
  void end(unsigned slot, std::uint64_t written) {
    bytes[slot] &= ~written;
    if (bytes[slot] == 0) end(slot);
  }
};

/// How an instruction's mask operand, or the mask it computes, relates to the execution mask.
enum class MaskRole : std::uint8_t {
  Other,
  Execution,  ///< lanes of the current execution mask
  Subset,     ///< of the execution mask
  Superset,   ///< of the execution mask
  Restore,    ///< the Superset of it with which the block began
  Merge,      ///< for flag_read and flag_write: the write sets some bits, and writes back the others as read
  Unused,     ///< for flag_read: nothing uses what was read
  ExecutionMerge,  ///< for flag_write: a Merge that sets the bits of active channels
};

/// A role, and for Execution the channel of the mask operand's first lane.
struct MaskUse {
  MaskUse(MaskRole what = MaskRole::Other, unsigned lane = 0)
      : role(what), first_lane(static_cast<std::uint8_t>(lane)) {}
  MaskRole role;
  std::uint8_t first_lane;
};

/// Slots [first, last].
struct SlotRange {
  unsigned first, last;
};
constexpr bool overlap(const SlotRange& a, const SlotRange& b) {
  return a.first <= b.last && b.first <= a.last;
}
/// The slots that a region access touches; `slot_bytes` is a power of two.
inline SlotRange slots_of(const ir::Inst& inst, unsigned slot_bytes) {
  const unsigned bytes = ir::size_of(inst.type), low = inst.region.offset;
  unsigned high = low;
  if (const int stride = inst.region.stride(inst.lanes); stride >= 0) {
    high = low + (inst.lanes - 1u) * static_cast<unsigned>(stride) * bytes;
  } else {
    for (unsigned lane = 0; lane < inst.lanes; ++lane)
      high = std::max(high, inst.region.byte_of(lane, bytes));
  }
  const int shift = std::countr_zero(slot_bytes);
  return {low >> shift, (high + bytes - 1) >> shift};
}
/// Which bytes of the slot a region access touches, a bit each.
std::uint64_t bytes_of(const ir::Inst& inst, unsigned slot, unsigned slot_bytes);
/// Whether the instruction is a region access that covers every byte of the slot.
bool covers(const ir::Inst& inst, unsigned slot, unsigned slot_bytes);

class Liveness {
 public:
  /// `exact`: whatever the thread has written is observed wherever it may stop. Otherwise nothing is observed
  /// at the end and at faults, and what is read later at safepoints and barriers.
  Liveness(const ir::Function& function, unsigned slot_bytes, bool exact);

  bool exact() const { return exact_; }
  unsigned slot_bytes() const { return slot_bytes_; }
  unsigned slots() const { return slots_; }
  /// How many slots, from the first on, register addresses can reach.
  unsigned indirect_slots() const { return (function_.indirect_end() + slot_bytes_ - 1) / slot_bytes_; }
  const LiveState& live_out(ir::BlockId block) const { return out_[block]; }
  const LiveState& live_in(ir::BlockId block) const { return in_[block]; }
  /// The role of the mask operand (reg_read, reg_write), of what uses the result (flag_read), or of operand 0
  /// (mask_set) of instruction `index`; or a merge.
  MaskRole role(ir::BlockId block, std::size_t index) const { return uses_[block][index].role; }
  /// Whether channels may be active after the block that were inactive before it, by its instructions from
  /// `first` on.
  bool may_grow(ir::BlockId block, std::size_t first = 0) const;
  MaskUse use(ir::BlockId block, std::size_t index) const { return uses_[block][index]; }
  /// Whether something reads what a reg_write or flag_write has written, if `live` is the state after it.
  bool is_written_for(const ir::Inst& write, const LiveState& live) const;
  /// Whether something needs instruction `index`, in its block or after it.
  bool is_needed(ir::BlockId block, std::size_t index) const { return needed_[block][index] != 0; }
  /// What an instruction was before others were inserted into its block. For a new one that reads one lane of
  /// what an old one reads at the same place: that one, and the lane.
  struct Origin {
    static constexpr std::uint32_t none = ~0u;
    std::uint32_t index = none;
    std::uint8_t lane = 0;
  };
  /// Instructions were inserted into the block: `origins` has one for each current one. Those without are
  /// pure. What they compute from is needed, and so are they.
  void renumber(ir::BlockId block, std::span<const Origin> origins);
  /// Turns the state after a block, its live_out(), into the state before it.
  using Before = std::function<void(ir::BlockId, LiveState&)>;
  /// Solves it again for code that reads less. Not if `exact`.
  void solve_again(const Before& before);
  /// Everything is live before the instruction, whatever is after it.
  bool observes(const ir::Inst& inst) const { return exact_ && ir::may_leave(inst.op); }
  /// From the state after an instruction to the state before it.
  void step(const ir::Inst& inst, MaskUse use, LiveState& live) const {
    if (!ir::is_pure(inst.op)) step_access(inst, use, live);
  }
  /// Whether an access under the execution mask touches in the slot exactly what belongs to its channels.
  bool by_channel(const ir::Inst& inst, MaskUse use, unsigned slot, const LiveState& live) const {
    if (use.role != MaskRole::Execution) return false;
    const Mapping own = mapping_of(inst, use.first_lane, slot), wanted = live.mapping[slot];
    return own != LiveState::any && (wanted == own || wanted == LiveState::any || wanted == 0);
  }

 private:
  LiveState empty() const {
    return {BitSet(slots_),
            BitSet(slots_),
            std::vector<Mapping>(slots_),
            std::vector<std::uint64_t>(slots_),
            BitSet(function_.flag_bits),
            BitSet(function_.flag_bits)};
  }
  /// What a mask value is relative to the execution mask, as long as that stays: until the next epoch.
  struct KnownMask {
    MaskRole role = MaskRole::Other;
    unsigned first_lane = 0;
    unsigned epoch = 0;
  };
  MaskRole set_execution(KnownMask& mask, unsigned& now, unsigned& last);
  void classify(ir::BlockId block, std::vector<KnownMask>& known, unsigned& epoch);
  /// Where a value of the block is defined, and how many operands of live ops it is.
  struct Definition {
    std::uint32_t index = 0, uses = 0;
    bool known = false;
  };
  void find_merges(ir::BlockId block, std::vector<Definition>& definitions);
  /// A flag_read or flag_write, the epoch in which it is, and the mask under which it writes.
  struct FlagAccess {
    std::size_t index;
    unsigned epoch;
    ir::ValueId mask;
  };
  void classify_flags(ir::BlockId block, const std::vector<KnownMask>& known, BlockNeeds& needs);
  void step_access(const ir::Inst& inst, MaskUse use, LiveState& live) const;
  Mapping mapping_of(const ir::Inst& inst, unsigned first_lane, unsigned slot) const;
  std::uint64_t whole_slot() const { return ~std::uint64_t{0} >> (64 - slot_bytes_); }
  /// The used values, of one block at a time.
  class UsedValues {
   public:
    explicit UsedValues(std::size_t values) : used_in_(values) {}
    void begin() { ++block_; }
    void add(ir::ValueId value) { used_in_[value] = block_; }
    bool operator[](ir::ValueId value) const { return used_in_[value] == block_; }

   private:
    std::vector<std::uint32_t> used_in_;
    std::uint32_t block_ = 0;
  };
  void walk(ir::BlockId block, LiveState& live, UsedValues& used);
  /// Whether something after the instruction needs it.
  bool wants(const ir::Inst& inst, const LiveState& live, const UsedValues& used) const;
  void solve(const Before& before);

  const ir::Function& function_;
  unsigned slot_bytes_, slots_;
  bool exact_;
  std::vector<std::vector<MaskUse>> uses_;
  std::vector<std::vector<std::uint8_t>> needed_;  // by block and instruction
  std::vector<LiveState> in_, out_;
  std::vector<FlagAccess> flag_accesses_;  // of the block that is being classified
  std::vector<unsigned> nested_;           // epochs whose masks are each a subset of the one before
  bool is_entry_ = true;                   // the first of them is the one with which the block began
};

}  // namespace eum::jit
