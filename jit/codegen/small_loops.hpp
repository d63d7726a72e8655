#pragma once
// SmallLoops: where code for dwords that lie anywhere may be long. A gather takes few bytes and much time;
// moves of each dword take less of it, but where many of them are run one after the other, they are more than
// the processor's caches of instructions hold.
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/codegen/entry_state.hpp"

namespace eum::jit::codegen {

class SmallLoops {
 public:
  /// None.
  SmallLoops() = default;
  SmallLoops(const ir::Function& function, const LoopSlots& loops);

  /// The innermost loop around the block has few loads of dwords by lanes; or the function, which threads run
  /// one after the other.
  bool contain(ir::BlockId block) const { return block < blocks_.size() && blocks_[block]; }

 private:
  std::vector<bool> blocks_;
};

}  // namespace eum::jit::codegen
