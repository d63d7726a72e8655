// Masks that are used through their complement. GEN can invert the flag of each predicate and each branch;
// users of a complement take the mask itself: a select with its values exchanged, and `and` and `andn` in
// each other's place. A complement of a complement is the mask, and a value that is or'ed to a mask need not
// be restricted to lanes outside it.
#include <utility>
#include <vector>

#include "jit/passes/passes.hpp"

namespace eum::jit {

using ir::Op;

namespace {

class Complements {
 public:
  explicit Complements(ir::Function& function)
      : function_(function), definitions_(function.values.size(), nullptr) {}

  void run() {
    for (ir::Block& block : function_.blocks)
      for (ir::Inst& inst : block.insts) run(inst);
  }

 private:
  void run(ir::Inst& inst) {
    const auto args = function_.args(inst);
    if (inst.op == Op::select) {
      while (is_not(args[0])) {
        args[0] = arg_of(args[0], 0);
        std::swap(args[1], args[2]);
      }
    }
    if (!ir::is_mask(inst.type)) return;
    switch (inst.op) {
      case Op::and_:
      case Op::andn:
        select_lanes(inst);
        break;
      case Op::or_:
        for (ir::ValueId& arg : args) arg = twice(arg);
        if (!absorb(args[0], args[1])) absorb(args[1], args[0]);
        break;
      case Op::not_:
      case Op::flag_write:
      case Op::mask_set:
        args[0] = twice(args[0]);
        break;
      default:
        return;
    }
    if (inst.result_count != 0) definitions_[inst.result] = &inst;
  }

  /// andn(a, b) is ~a & b.
  void select_lanes(ir::Inst& inst) const {
    const auto args = function_.args(inst);
    for (;;) {
      if (inst.op == Op::and_ && !is_not(args[0]) && is_not(args[1])) std::swap(args[0], args[1]);
      if (!is_not(args[0])) break;
      args[0] = arg_of(args[0], 0);
      inst.op = inst.op == Op::and_ ? Op::andn : Op::and_;
    }
    args[1] = twice(args[1]);
  }

  /// In `value` | `other`: drops from `value` a mask that only excludes lanes of `other`.
  bool absorb(ir::ValueId& value, ir::ValueId other) const {
    const ir::Inst* inst = definitions_[value];
    if (inst == nullptr) return false;
    const auto args = function_.args(*inst);
    if (inst->op == Op::andn && args[0] == other) {
      value = args[1];
      return true;
    }
    if (inst->op != Op::and_ || !is_not(other)) return false;
    for (const unsigned k : {0u, 1u})
      if (args[k] == arg_of(other, 0)) {
        value = args[1 - k];
        return true;
      }
    return false;
  }

  bool is_not(ir::ValueId value) const {
    return definitions_[value] != nullptr && definitions_[value]->op == Op::not_;
  }
  ir::ValueId arg_of(ir::ValueId value, unsigned k) const { return function_.arg(*definitions_[value], k); }
  /// The mask without pairs of complements.
  ir::ValueId twice(ir::ValueId value) const {
    while (is_not(value) && is_not(arg_of(value, 0))) value = arg_of(arg_of(value, 0), 0);
    return value;
  }

  ir::Function& function_;
  std::vector<const ir::Inst*> definitions_;  ///< of masks that are computed from masks
};

}  // namespace

void complements(ir::Function& function) { Complements(function).run(); }

}  // namespace eum::jit
