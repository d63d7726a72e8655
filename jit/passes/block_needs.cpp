// From the last instruction of the block to the first: what an instruction's results are looked at for, its
// operands are.
#include "jit/passes/block_needs.hpp"

namespace eum::jit {

using ir::Inst;
using ir::Op;
using ir::ValueId;

void Need::add(const Need& other) {
  if (what == All || other.what == None) return;
  if (what == None) {
    *this = other;
  } else if (other.what == All || !(lanes == other.lanes)) {
    what = All;
  }
}

void BlockNeeds::begin(const ir::Block& block) {
  for (const Inst& inst : block.insts)
    for (unsigned k = 0; k < inst.result_count; ++k) definition_[inst.result + k] = &inst;
  for (std::size_t i = block.insts.size(); i-- > 0;) propagate(block.insts[i]);
}

void BlockNeeds::end(const ir::Block& block) {
  for (const Inst& inst : block.insts)
    for (unsigned k = 0; k < inst.result_count; ++k) need_[inst.result + k] = {};
}

Need BlockNeeds::of_results(const Inst& inst) const {
  Need all;
  for (unsigned k = 0; k < inst.result_count; ++k) all.add(need_[inst.result + k]);
  return all;
}

MaskLanes BlockNeeds::root(ValueId mask) const {
  unsigned first = 0;
  const Inst* inst = definition(mask);
  while (inst && inst->op == Op::slice) {
    first += static_cast<unsigned>(inst->imm);
    mask = function_.arg(*inst, 0);
    inst = definition(mask);
  }
  return {mask, first};
}

bool BlockNeeds::is_variable(ValueId mask) const {
  const Inst* inst = definition(root(mask).mask);
  return inst && inst->op == Op::mask_get;
}

void BlockNeeds::propagate(const Inst& inst) {
  constexpr Need all{Need::All, {}};
  const auto args = function_.args(inst);
  if (inst.mask != ir::no_value) need_[inst.mask].add(all);
  if (inst.op == Op::reg_write) return need_[args[0]].add(inst.mask != ir::no_value ? under(inst.mask) : all);
  if (inst.mask != ir::no_value && ir::shape_of(inst.op).has_memory()) {
    const std::size_t surface = function_.access(inst).surface_is_operand ? 1 : 0;
    for (std::size_t k = 0; k < args.size(); ++k) need_[args[k]].add(k < surface ? all : under(inst.mask));
    return;
  }
  const Need own = of_results(inst);
  if (is_pure(inst.op) && own.what == Need::None) return;
  if (own.what == Need::All && is_mask(inst.type) && (inst.op == Op::and_ || inst.op == Op::andn)) {
    // Of two, the one that a variable held says where the other is needed.
    for (unsigned k : {0u, 1u}) {
      const bool decides = is_variable(args[k]) && (inst.op == Op::and_ || k == 1);
      if (!decides) continue;
      need_[args[k]].add(all);
      need_[args[1 - k]].add(under(args[k]));
      return;
    }
  }
  if (own.what == Need::Under) {
    const unsigned first = own.lanes.first;
    if (is_lanewise(inst.op)) {
      for (ValueId arg : args) need_[arg].add(own);
      return;
    }
    if (inst.op == Op::concat) {
      need_[args[0]].add(own);
      need_[args[1]].add({Need::Under, {own.lanes.mask, first + function_.values[args[0]].lanes}});
      return;
    }
    if (inst.op == Op::slice && first >= inst.imm) {
      need_[args[0]].add({Need::Under, {own.lanes.mask, first - static_cast<unsigned>(inst.imm)}});
      return;
    }
  }
  for (ValueId arg : args) need_[arg].add(all);
}

}  // namespace eum::jit
