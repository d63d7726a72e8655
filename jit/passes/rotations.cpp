// Rotations: x << n and x >> (32 - n) combined, as in ciphers and hashes. GEN before Gen11 has no instruction
// for it.
#include <utility>
#include <vector>

#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;
using ir::ValueId;

class Rotations {
 public:
  explicit Rotations(ir::Function& function)
      : function_(function), definitions_(function.values.size(), nullptr) {}

  void run(ir::Block& block) {
    for (Inst& inst : block.insts) {
      find(inst);
      for (unsigned k = 0; k < inst.result_count; ++k) definitions_[inst.result + k] = &inst;
    }
  }

 private:
  /// The instruction that defines the bits of the value.
  const Inst* definition(ValueId value) const {
    const Inst* inst = definitions_[value];
    while (inst != nullptr && inst->op == Op::bitcast && ir::size_of(inst->from) == 4 &&
           ir::is_int(inst->from))
      inst = definitions_[function_.arg(*inst, 0)];
    return inst;
  }
  /// The value that others are bitcasts of.
  ValueId root(ValueId value) const {
    const Inst* inst = definitions_[value];
    return inst != nullptr && inst->op == Op::bitcast && ir::is_int(inst->from)
               ? root(function_.arg(*inst, 0))
               : value;
  }
  /// The count of a shift by a constant, or 0.
  unsigned count(const Inst& shift) const {
    const Inst* by = definitions_[function_.arg(shift, 1)];
    return by != nullptr && by->op == Op::constant ? static_cast<unsigned>(by->imm) % 32 : 0;
  }
  // If no bits overlap, or, add and xor are the same.
  void find(Inst& inst) {
    if (inst.op != Op::or_ && inst.op != Op::xor_ && inst.op != Op::add) return;
    if (!ir::is_int(inst.type) || ir::size_of(inst.type) != 4) return;
    const Inst *left = definition(function_.arg(inst, 0)), *right = definition(function_.arg(inst, 1));
    if (left == nullptr || right == nullptr) return;
    if (left->op == Op::shr) std::swap(left, right);
    if (left->op != Op::shl || right->op != Op::shr || left->type != inst.type) return;
    const ValueId value = function_.arg(*left, 0);
    if (root(value) != root(function_.arg(*right, 0))) return;
    if (count(*left) == 0 || count(*left) + count(*right) != 32) return;
    const ValueId by = function_.arg(*left, 1);
    inst.op = Op::rotl;
    const auto args = function_.args(inst);
    args[0] = value;
    args[1] = by;
  }

  ir::Function& function_;
  std::vector<const Inst*> definitions_;  ///< of values of this block, and of earlier ones
};

}  // namespace

void rotations(ir::Function& function) {
  run_on_blocks_with<Rotations>(function, [](const Inst& inst) { return inst.op == Op::shl; });
}

}  // namespace eum::jit
