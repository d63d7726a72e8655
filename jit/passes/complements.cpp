// Selects by the complement of a mask. GEN says "where the flag is not set" with each predicate; comparisons
// give vectors, whose complement takes more than a select with its values exchanged, which does without.
#include <utility>
#include <vector>

#include "jit/passes/passes.hpp"

namespace eum::jit {

void plain_selects(ir::Function& function) {
  std::vector<ir::ValueId> complemented(function.values.size(), ir::no_value);
  for (ir::Block& block : function.blocks)
    for (const ir::Inst& inst : block.insts) {
      if (inst.op == ir::Op::not_ && ir::is_mask(inst.type))
        complemented[inst.result] = function.arg(inst, 0);
      if (inst.op != ir::Op::select) continue;
      const auto args = function.args(inst);
      while (complemented[args[0]] != ir::no_value) {
        args[0] = complemented[args[0]];
        std::swap(args[1], args[2]);
      }
    }
}

}  // namespace eum::jit
