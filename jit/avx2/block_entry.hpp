#pragma once
// What a version of a block finds in registers when it begins, agreed on by all ways into it.
//
// The first way in decides: what it has in registers and the block (for a loop: the loop) reads stays there.
// Later ways bring their registers into the same order. Whoever comes from elsewhere, with every slot at
// home, enters through code that loads them.
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/passes/liveness.hpp"

namespace eum::jit {

/// A guest slot in a ymm register.
struct CachedSlot {
  std::uint16_t slot;
  std::uint8_t reg;
  bool dirty;  ///< the home may be stale
};

using SlotCache = std::vector<CachedSlot>;

/// Which slots each block reads, and what the loops that it heads read and write.
class LoopSlots {
 public:
  LoopSlots(const ir::Function& function, const Liveness& liveness);

  bool heads_loop(ir::BlockId block) const { return last_[block] != ir::no_block; }
  bool reads(ir::BlockId block, unsigned slot) const { return reads_[block][slot]; }
  /// Slots that the loop of `header` reads before it writes them, most often read first; at most `limit`.
  std::vector<std::uint16_t> wanted(ir::BlockId header, std::size_t limit) const;
  bool loop_writes(ir::BlockId header, unsigned slot) const;

 private:
  const ir::Function& function_;
  const Liveness& liveness_;
  std::vector<ir::BlockId> last_;  // of the blocks of the loop that a block heads; no_block: it heads none
  std::vector<SlotSet> reads_, writes_;
};

}  // namespace eum::jit
