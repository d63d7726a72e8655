// A branch looks at one lane of a comparison that GEN makes sixteen lanes wide. Where both operands are the
// same in every lane, that lane is a comparison of two scalars.
#include "jit/passes/passes.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;
using ir::Shape;
using ir::ValueId;

class Scalarizer {
 public:
  Scalarizer(ir::Function& function, std::vector<std::uint32_t>& definitions)
      : function_(function), definitions_(definitions) {}

  void run(ir::Block& block) {
    out_.clear();
    mode_set_at_ = 0;
    for (const Inst& inst : block.insts) {
      if (inst.op == Op::fpmode_set) mode_set_at_ = out_.size();
      if (inst.op == Op::slice && ir::is_mask(inst.type) && inst.lanes == 1 && scalarize(inst)) continue;
      append(inst);
    }
    block.insts.assign(out_.begin(), out_.end());
  }

 private:
  void append(const Inst& inst) {
    for (unsigned k = 0; k < inst.result_count; ++k)
      if (inst.result + k < definitions_.size())
        definitions_[inst.result + k] = static_cast<std::uint32_t>(out_.size());
    out_.push_back(inst);
  }
  const Inst* definition(ValueId value) const {
    if (value >= definitions_.size() || definitions_[value] >= out_.size()) return nullptr;
    const Inst& inst = out_[definitions_[value]];
    return value >= inst.result && value < inst.result + inst.result_count ? &inst : nullptr;
  }
  bool uniform(ValueId value) const {
    const Inst* inst = definition(value);
    return inst && (inst->op == Op::splat || inst->op == Op::constant);
  }
  /// The one-lane value behind a splat, or a one-lane constant.
  ValueId scalar(ValueId value) {
    const Inst found = *definition(value);
    if (found.op == Op::splat) return function_.arg(found, 0);
    Inst constant = found;
    constant.lanes = 1;
    constant.result = function_.add_value(constant.type, 1);
    out_.push_back(constant);
    return constant.result;
  }
  bool scalarize(const Inst& slice) {
    const Inst* compare = definition(function_.arg(slice, 0));
    if (!compare || ir::info(compare->op).shape != Shape::Compare) return false;
    // A float comparison does not move over a change of the mode.
    const bool is_before_mode = static_cast<std::size_t>(compare - out_.data()) < mode_set_at_;
    if (ir::is_float(compare->type) && is_before_mode) return false;
    const ValueId left = function_.arg(*compare, 0), right = function_.arg(*compare, 1);
    if (!uniform(left) || !uniform(right)) return false;
    Inst narrow = *compare;
    narrow.lanes = 1;
    const ValueId a = scalar(left);
    function_.set_args(narrow, {a, scalar(right)});
    narrow.result = slice.result;
    append(narrow);
    return true;
  }

  ir::Function& function_;
  std::vector<std::uint32_t>& definitions_;
  std::vector<Inst> out_;
  std::size_t mode_set_at_ = 0;  ///< in out_: the last fpmode_set
};

}  // namespace

void scalar_compare(ir::Function& function) {
  std::vector<std::uint32_t> definitions(function.values.size(), ~0u);
  Scalarizer scalarizer(function, definitions);
  for (ir::Block& block : function.blocks) scalarizer.run(block);
}

}  // namespace eum::jit
