#pragma once
// EntryState: what a version of a block expects in registers when it begins. All edges into it establish
// that.
//
// The first edge decides: slots that it has in registers and that the block (for a loop: the loop) reads stay
// there. Later edges rearrange their registers accordingly. Whatever enters with every slot in memory does so
// through code that loads them.
#include <cstdint>
#include <span>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/codegen/target.hpp"

namespace eum::jit::codegen {

/// A slot of the register file in a vector register.
struct CachedSlot {
  std::uint16_t slot;
  std::uint8_t reg;
  bool dirty;  ///< memory may hold an older content
  bool operator==(const CachedSlot&) const = default;
};

using EntryState = std::vector<CachedSlot>;

/// Bytes of the lanes that the execution mask has in registers.
inline constexpr unsigned mask_width = 4;

/// Which slots each block reads, and what the loops that it heads read and write. Loops are found by their
/// back edges: structured code lays out their blocks contiguously.
class LoopSlots {
 public:
  LoopSlots(const ir::Function& function, const Liveness& liveness);

  bool heads_loop(ir::BlockId block) const { return last_[block] != ir::no_block; }
  /// The last block of the loop that `header` heads.
  ir::BlockId last(ir::BlockId header) const { return last_[header]; }
  bool reads(ir::BlockId block, unsigned slot) const { return reads_[block][slot]; }
  /// Slots that the loop of `header` reads whole before it writes them, in order of what is gained by keeping
  /// them in registers; at most `limit`. Second: whether the loop writes the slot.
  std::vector<std::pair<std::uint16_t, bool>> wanted(ir::BlockId header, std::size_t limit) const;
  /// Whether the block computes under the execution mask. For a loop header: and whether the mask at the back
  /// edge is computed from compared lanes.
  bool wants_mask(ir::BlockId block) const;

 private:
  /// Longer spans of blocks are not treated as loops.
  static constexpr ir::BlockId longest_loop = 256;

  const ir::Function& function_;
  const Liveness& liveness_;
  std::vector<ir::BlockId> last_;  // the last block of the loop that a block heads; no_block: it heads none
  std::vector<BitSet> reads_, writes_;
  std::vector<bool> reads_mask_;
};

struct LoopScalar;

/// The slots of the execution mask's lanes: `count` of them from `first` on. 0: the version does not use
/// them.
struct MaskSlots {
  unsigned first = 0, count = 0;
};

/// Decides the entry state of `block` from the slots that the first edge has in registers. `live`: slots that
/// the version needs; `scalars` have registers of their own, and slots that contain any of them get none.
EntryState fix_entry_state(const LoopSlots& loops, ir::BlockId block, const EntryState& first_edge,
                           const BitSet& live, const MaskSlots& masks, const Target& target,
                           std::span<const LoopScalar> scalars);

}  // namespace eum::jit::codegen
