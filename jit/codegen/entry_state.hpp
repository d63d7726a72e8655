#pragma once
// EntryState: what a version of a block finds in registers when it begins. All edges into it bring that
// about.
//
// The first edge decides: what it has in registers and the block (for a loop: the loop) reads stays there.
// Later edges bring their registers into the same order. Who comes from elsewhere, with every slot in memory,
// enters through code that loads them.
#include <cstdint>
#include <span>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/codegen/target.hpp"
#include "jit/passes/liveness.hpp"

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

/// Which slots each block reads, and what the loops that it heads read and write. Loops are taken from back
/// edges: structured code lays out their blocks one after the other.
class LoopSlots {
 public:
  LoopSlots(const ir::Function& function, const Liveness& liveness);

  bool heads_loop(ir::BlockId block) const { return last_[block] != ir::no_block; }
  /// Of the blocks of the loop that this one heads.
  ir::BlockId last(ir::BlockId header) const { return last_[header]; }
  bool reads(ir::BlockId block, unsigned slot) const { return reads_[block][slot]; }
  /// Slots that the loop of `header` reads whole before it writes them, those first that gain most by staying
  /// in a register; at most `limit`. Second: the loop writes it.
  std::vector<std::pair<std::uint16_t, bool>> wanted(ir::BlockId header, std::size_t limit) const;
  /// The block computes under the execution mask. Of a block that heads a loop: and the mask comes back as
  /// what lanes have been compared.
  bool wants_mask(ir::BlockId block) const;

 private:
  /// A longer span of blocks is no loop whose registers are worth a plan.
  static constexpr ir::BlockId longest_loop = 256;

  const ir::Function& function_;
  const Liveness& liveness_;
  std::vector<ir::BlockId> last_;  // of the blocks of the loop that a block heads; no_block: it heads none
  std::vector<BitSet> reads_, writes_;
  std::vector<bool> reads_mask_;
};

struct LoopScalar;

/// Where the lanes of the execution mask are: `count` slots from `first` on. 0: the version does not want
/// them.
struct MaskSlots {
  unsigned first = 0, count = 0;
};

/// Decides the entry state of `block` from the slots that the first edge has in registers. `live`: slots that
/// the version needs; `scalars`: what has registers there, which no slot that holds any of it takes.
EntryState fix_entry_state(const LoopSlots& loops, ir::BlockId block, const EntryState& first_edge,
                           const BitSet& live, const MaskSlots& masks, const Target& target,
                           std::span<const LoopScalar> scalars);

}  // namespace eum::jit::codegen
