// Masks that are looked at through their complement. GEN says "where the flag is not set" with each predicate
// and each branch; what asks for the complement takes the mask itself: a select with its values exchanged,
// and and andn in each other's place.
#include <utility>
#include <vector>

#include "jit/passes/passes.hpp"

namespace eum::jit {

using ir::Op;

void complements(ir::Function& function) {
  std::vector<ir::ValueId> complemented(function.values.size(), ir::no_value);
  const auto is = [&](ir::ValueId value) { return complemented[value] != ir::no_value; };
  for (ir::Block& block : function.blocks)
    for (ir::Inst& inst : block.insts) {
      const auto args = function.args(inst);
      if (inst.op == Op::not_ && ir::is_mask(inst.type)) complemented[inst.result] = args[0];
      if (inst.op == Op::select) {
        while (is(args[0])) {
          args[0] = complemented[args[0]];
          std::swap(args[1], args[2]);
        }
      }
      // andn(a, b) is ~a & b.
      while (ir::is_mask(inst.type) && (inst.op == Op::and_ || inst.op == Op::andn)) {
        if (inst.op == Op::and_ && !is(args[0])) std::swap(args[0], args[1]);
        if (!is(args[0])) break;
        args[0] = complemented[args[0]];
        inst.op = inst.op == Op::and_ ? Op::andn : Op::and_;
      }
    }
}

}  // namespace eum::jit
