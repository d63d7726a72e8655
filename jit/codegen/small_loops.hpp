#pragma once
// SmallLoops: where code for dwords at arbitrary addresses may be long. A gather takes few bytes and much
// time; moves of each dword take less time, but many of them in one loop exceed the processor's instruction
// caches.
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/codegen/entry_state.hpp"

namespace eum::jit::codegen {

class SmallLoops {
 public:
  /// None.
  SmallLoops() = default;
  SmallLoops(const ir::Function& function, const LoopSlots& loops);

  /// Whether the innermost loop around the block has few loads of dwords by lanes; without a loop, the
  /// function, which threads execute one after the other.
  bool contain(ir::BlockId block) const { return block < blocks_.size() && blocks_[block]; }

 private:
  std::vector<bool> blocks_;
};

}  // namespace eum::jit::codegen
