#pragma once
// One version of a block, ready for emission: with all channels active, masks fold away; dead instructions
// are removed; and each operand has the next use of its value.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/analysis/outer_masks.hpp"
#include "jit/analysis/shared_rows.hpp"
#include "jit/passes/scalar_runs.hpp"

namespace eum::jit::codegen {

inline constexpr std::uint32_t never = ~0u;

struct CodeInst : ir::Inst {
  std::span<ir::ValueId> args;
  /// For each operand, the instruction that uses the value next; never = this is the last use.
  std::span<std::uint32_t> next_use;
  std::uint32_t mask_next_use = never;
  /// Bit c: chunk c of a masked reg_write may overwrite the channels outside the mask.
  std::uint32_t overwrite = 0;
  /// For an access by runs, their number: one-lane operands with the addresses at which they begin replace
  /// the one with the address of each lane; `linear` says how the others follow. 0: not by runs.
  std::uint8_t runs = 0;
  LinearRun linear;
  /// For a store in a version for some channels: with all channels active it would be known to be by runs.
  bool is_run_of_all = false;
  /// For an access of several components per lane: registers hold them in memory order, see interleaved.hpp.
  bool interleaved = false;
  /// For an interleaved access: how it has swapped memory with others, see row_groups.hpp.
  SharedRows rows;
  /// For an access in a Strip's body, 1 + the index of its window: it has no operands for its addresses.
  std::uint8_t window = 0;
  std::uint32_t behind = 0;  ///< bytes from where the window begins
  /// The guest ip of the latter half of the lanes, if the access combines two of the guest's.
  std::optional<std::uint32_t> second_ip;
  /// For a reg_write: the first lane of each slot, if those may be written alone.
  std::span<ir::ValueId> first_lanes;
  /// The first use of each result.
  std::span<std::uint32_t> first_use;
};

class Scheduler;

class BlockCode {
 public:
  struct Choices {
    /// Masks that versions for some channels keep, in mask variables behind those of the function.
    const OuterMasks* outer_masks = nullptr;
    /// Orders full versions, if there is one: threads seldom spend long in partial ones, and ordering takes
    /// time.
    Scheduler* scheduler = nullptr;
    const Optimisations* interleaves = nullptr;  ///< null: not
    bool joins_branches = false;
    /// Whether the host can only compute a comparison of vectors of integers as the complement of another, of
    /// a constant or not: its users get the complement. May be null.
    bool (*takes_complement)(ir::Op compare, ir::Type type, bool with_constant) = nullptr;
  };
  BlockCode(const ir::Function& function, const Liveness& liveness, const ScalarRuns& runs,
            const Choices& choices);

  /// Makes the version of `block` for all channels active (`full`), or for any execution mask.
  void build(ir::BlockId block, bool full);

  /// The full version for a Strip, in which writes have their first_lanes computed.
  void build_for_strip(ir::BlockId block);
  /// Takes instructions as a block behind which no register is needed. They stay where they are.
  void take(std::span<CodeInst> insts);

  /// The state that is live at the beginning of the version.
  const LiveState& live_in(ir::BlockId block, bool full);

  std::span<const CodeInst> insts() const { return kept_; }
  /// Whether the last two instructions are a comparison of scalars and the branch that is its only user.
  bool ends_in_comparison() const { return ends_in_comparison_; }
  /// Whether the block changes the execution mask.
  bool changes_mask() const { return changes_mask_; }
  /// Whether channels may be active at its end that were inactive at its beginning.
  bool mask_may_grow() const { return mask_may_grow_; }

  // Positions only grow from one call to the next.
  /// The first instruction from `position` on that reads the slot, or never.
  std::uint32_t next_read(unsigned slot, std::uint32_t position);
  /// Whether the first read of the slot from `position` on is of a vector, with more of it than `bytes`.
  bool is_read_beyond(unsigned slot, std::uint32_t position, std::uint64_t bytes);
  /// Whether the slot's content at `position` is needed again: by later blocks, observers or this block.
  bool needs_memory(unsigned slot, std::uint32_t position) {
    return live_out_[slot] || next_of(observers_, position) != never || next_read(slot, position) != never;
  }
  /// Whether the slot's content after the instruction at `position` is soon overwritten, before anything
  /// reads it or observes the register file.
  bool is_overwritten(unsigned slot, std::uint32_t position) const;
  /// Whether a later block needs the slot.
  bool live_out(unsigned slot) const { return live_out_[slot]; }

 private:
  void fold(ir::BlockId block, bool full);
  bool fold_mask(CodeInst& inst);
  ir::ValueId complemented(ir::ValueId mask) const;
  const CodeInst* folded_as(ir::ValueId value, ir::Op op) const;
  std::optional<ir::ValueId> fold_masks(CodeInst& inst) const;
  void hand_complements();
  bool fold_inst(CodeInst& inst, bool full);
  ir::ValueId whole_of(ir::ValueId low, ir::ValueId high) const;
  void access_at_once(const CodeInst& inst, std::size_t index, const ScalarRun& first,
                      const ScalarRun& second, std::span<ir::ValueId> room);
  void begin_results(const ir::Inst& inst);
  void keep_outer_mask(const CodeInst& park, std::size_t index, std::span<ir::ValueId, 1> room);
  void put(const CodeInst& inst, std::size_t index);
  bool write_parts(const CodeInst& write, std::size_t index);
  void add_first_lanes(CodeInst& inst, const ScalarRun& run);
  void access_by_runs(CodeInst& inst, const ScalarRun& run);
  bool is_run_of_all(ir::BlockId block, std::size_t index) const;
  void make_constant(CodeInst& inst, std::uint32_t bits);
  void find_full(bool full);
  void drop_dead(ir::BlockId block, bool full);
  bool needed(CodeInst& inst, MaskUse use, const LiveState& live, bool full_here) const;
  void drop_carry(CodeInst& inst) const;
  void keep_nothing(std::size_t index, ir::BlockId block);
  bool writes_whole_flag(std::size_t index, ir::BlockId block) const;
  bool writes_first_lanes(const CodeInst& write, std::size_t& first);
  bool move_comparison();
  void link_uses();
  void index_slot_reads();
  static std::uint32_t next_of(std::vector<std::uint32_t>& listed, std::uint32_t position);
  ir::ValueId resolve(ir::ValueId value) const { return value == ir::no_value ? value : alias_[value]; }
  const std::uint32_t* constant(ir::ValueId value) const {
    return value != ir::no_value && is_constant_[value] ? &constant_[value] : nullptr;
  }

  const ir::Function& function_;
  const Liveness& liveness_;
  const ScalarRuns& runs_;
  Choices choices_;
  ir::BlockId current_ = 0;
  std::vector<CodeInst> folded_;
  std::span<CodeInst> kept_;           // of folded_, at its end
  std::vector<std::uint32_t> origin_;  // index in the block of each folded instruction
  std::vector<ir::ValueId> operands_;  // of folded_
  std::vector<std::uint32_t> uses_;    // next_use and first_use of kept_
  std::vector<ir::ValueId> alias_;
  std::vector<std::uint32_t> constant_;
  std::vector<std::uint8_t> is_constant_;
  std::vector<std::uint8_t> is_used_;
  std::vector<std::uint8_t> is_full_;  // of folded_
  enum class Handed : std::uint8_t { Itself, Complement, Constant };
  std::vector<Handed> handed_;             // of each value, in hand_complements(): what its users get
  std::vector<std::uint32_t> defined_at_;  // of each value: the instruction in folded_
  std::vector<std::uint32_t> last_seen_;
  struct SlotRead {
    std::uint32_t inst, next;  ///< the next read of the slot in reads_, or never
  };
  std::vector<SlotRead> reads_;
  std::vector<std::uint32_t> read_next_;            // of each slot: in reads_, or never
  std::vector<std::uint32_t> gathers_, observers_;  // those that are still to come, the last one first
  LiveState live_;
  BitSet live_out_;
  bool changes_mask_ = false;
  bool mask_may_grow_ = false;
  bool ends_in_comparison_ = false;
  bool keeps_first_lanes_ = false;
};

}  // namespace eum::jit::codegen
