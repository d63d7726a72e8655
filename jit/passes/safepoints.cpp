// Which blocks are safepoints: those that a caller has marked, targets of back edges, and by option all.
#include "jit/passes/passes.hpp"

namespace eum::jit {

void mark_safepoints(ir::Function& function, Safepoints where) {
  for (ir::BlockId b = 0; b < function.blocks.size(); ++b) {
    function.blocks[b].safepoint |= where == Safepoints::Instructions;
    for (ir::BlockId target : successors(function.blocks[b].insts.back()))
      if (target != ir::no_block && target <= b) function.blocks[target].safepoint = true;
  }
}

}  // namespace eum::jit
