// A branch uses one lane of a comparison that GEN makes sixteen lanes wide. If both operands are the same in
// every lane, that lane is a comparison of two scalars.
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;
using ir::Shape;
using ir::ValueId;

class Scalarizer {
 public:
  explicit Scalarizer(ir::Function& function) : function_(function), out_(function) {}

  void run(ir::Block& block) {
    out_.clear();
    mode_set_at_ = 0;
    for (const Inst& inst : block.insts) {
      if (inst.op == Op::fpmode_set) mode_set_at_ = out_.insts().size();
      if (takes_one_lane(inst) && scalarize(inst)) continue;
      out_.keep(inst);
    }
    out_.replace(block);
  }
  /// Whether it takes a mask's lane, perhaps of a comparison.
  static bool takes_one_lane(const Inst& inst) {
    return inst.op == Op::slice && ir::is_mask(inst.type) && inst.lanes == 1;
  }

 private:
  bool uniform(ValueId value) const {
    const Inst* inst = out_.definition(value);
    return inst && (inst->op == Op::splat || inst->op == Op::constant);
  }
  /// The one-lane operand of a splat, or a one-lane constant.
  ValueId scalar(ValueId value) {
    const Inst found = *out_.definition(value);
    if (found.op == Op::splat) return function_.arg(found, 0);
    Inst constant = found;
    constant.lanes = 1;
    return out_.append(constant, {});
  }
  bool scalarize(const Inst& slice) {
    const Inst* compare = out_.definition(function_.arg(slice, 0));
    if (!compare || ir::info(compare->op).shape != Shape::Compare) return false;
    // A float comparison is not moved across a change of the mode.
    const bool is_before_mode = static_cast<std::size_t>(compare - out_.insts().data()) < mode_set_at_;
    if (ir::is_float(compare->type) && is_before_mode) return false;
    const ValueId left = function_.arg(*compare, 0), right = function_.arg(*compare, 1);
    if (!uniform(left) || !uniform(right)) return false;
    Inst narrow = *compare;
    narrow.lanes = 1;
    const ValueId a = scalar(left);
    function_.set_args(narrow, {a, scalar(right)});
    narrow.result = slice.result;
    out_.keep(narrow);
    return true;
  }

  ir::Function& function_;
  NewBlock out_;
  std::size_t mode_set_at_ = 0;  ///< in out_: the last fpmode_set
};

}  // namespace

void scalar_compare(ir::Function& function) {
  run_on_blocks_with<Scalarizer>(function, Scalarizer::takes_one_lane);
}

}  // namespace eum::jit
