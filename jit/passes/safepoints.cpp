// Which blocks are safepoints: those that a caller has marked, and by option those that control comes back
// to, or all.
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
