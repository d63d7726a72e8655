// Backwards through the block: the operands of an instruction are needed in the lanes in which its results
// are.
#include "jit/analysis/block_needs.hpp"

#include <map>
#include <utility>

namespace eum::jit {

using ir::Inst;
using ir::Op;
using ir::ValueId;

namespace {

constexpr unsigned most_depth = 8;  // of masks that are computed from masks

}

void BlockNeeds::begin(const ir::Block& block) {
  for (const Inst& inst : block.insts) {
    for (unsigned k = 0; k < inst.result_count; ++k) values_[inst.result + k] = {{}, &inst};
    if (inst.op == Op::mask_set && inst.imm == 0) values_[function_.arg(inst, 0)].is_set = true;
  }
  find_rests(block);
  for (std::size_t i = block.insts.size(); i-- > 0;) propagate(block.insts[i]);
}

void BlockNeeds::find_rests(const ir::Block& block) {
  std::map<std::pair<ValueId, ValueId>, ValueId> without;
  for (const Inst& inst : block.insts)
    if (inst.op == Op::andn && is_mask(inst.type))
      without.try_emplace({function_.arg(inst, 0), function_.arg(inst, 1)}, inst.result);
  if (without.empty()) return;
  for (const Inst& inst : block.insts) {
    if (inst.op != Op::and_ || !is_mask(inst.type)) continue;
    const ValueId a = function_.arg(inst, 0), b = function_.arg(inst, 1);
    for (const auto& operands : {std::pair(a, b), std::pair(b, a)}) {
      const auto found = without.find(operands);
      if (found == without.end()) continue;
      values_[inst.result].rest = found->second;
      values_[found->second].rest = inst.result;
    }
  }
}

void BlockNeeds::join(Need& need, const Need& other) const {
  if (is_within(need.lanes, other.lanes))
    need = other;
  else if (!is_within(other.lanes, need.lanes))
    need = {Need::All, {}};
}

bool BlockNeeds::is_within(const MaskLanes& inner, const MaskLanes& outer, unsigned depth) const {
  if (inner == outer) return true;
  const Inst* inst = definition(inner.mask);
  if (!inst || depth == most_depth) return false;
  const auto is_operand_within = [&](unsigned k) {
    const MaskLanes operand = root(function_.arg(*inst, k));
    return is_within({operand.mask, operand.first + inner.first}, outer, depth + 1);
  };
  if (inst->op == Op::and_) return is_operand_within(0) || is_operand_within(1);
  return inst->op == Op::andn && is_operand_within(1);
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
  return inst && (inst->op == Op::mask_get || values_[inst->result].is_set);
}

std::optional<MaskLanes> BlockNeeds::variable_above(ValueId mask, unsigned depth) const {
  if (is_variable(mask)) return root(mask);
  const Inst* inst = definition(mask);
  if (!inst || depth == most_depth) return std::nullopt;
  const auto above = [&](unsigned k) { return variable_above(function_.arg(*inst, k), depth + 1); };
  switch (inst->op) {
    case Op::and_: {
      const auto first = above(0);
      return first ? first : above(1);
    }
    case Op::andn:
      return above(1);
    case Op::slice: {
      auto whole = above(0);
      if (whole) whole->first += static_cast<unsigned>(inst->imm);
      return whole;
    }
    default:
      return std::nullopt;
  }
}

std::optional<unsigned> BlockNeeds::decider(const Inst& inst) const {
  const ValueId a = function_.arg(inst, 0), b = function_.arg(inst, 1);
  if (inst.op == Op::and_ && is_variable(a)) return 0;
  if (is_variable(b)) return 1;
  if (inst.op == Op::and_ && variable_above(a)) return 0;
  return variable_above(b) ? std::optional(1u) : std::nullopt;
}

Need BlockNeeds::of_selected(const MaskLanes& chosen, const Need& own) const {
  return own.what == Need::All || is_within(chosen, own.lanes) ? Need{Need::Under, chosen} : own;
}

Need BlockNeeds::of_others(const MaskLanes& chosen, const Need& own) const {
  const Inst* inst = definition(chosen.mask);
  if (!inst || own.what != Need::Under || values_[chosen.mask].rest == ir::no_value) return own;
  // `own` without x & y is ~x & y, if `own` is within y.
  const Inst* without = inst->op == Op::andn ? inst : definition(values_[chosen.mask].rest);
  const MaskLanes y = root(function_.arg(*without, 1));
  if (!is_within(own.lanes, {y.mask, y.first + chosen.first})) return own;
  return {Need::Under, {values_[chosen.mask].rest, chosen.first}};
}

void BlockNeeds::propagate(const Inst& inst) {
  const auto args = function_.args(inst);
  if (inst.mask != ir::no_value) {
    add_all(inst.mask);
    if (inst.op == Op::reg_write || inst.op == Op::flag_write) return add(args[0], under(inst.mask));
    if (ir::shape_of(inst.op).has_memory()) {
      const Need needed = under(inst.mask);
      const std::size_t surface = function_.access(inst).surface_is_operand ? 1 : 0;
      if (surface != 0) add_all(args[0]);
      for (const ValueId arg : args.subspan(surface)) add(arg, needed);
      return;
    }
  }
  const Need own = of_results(inst);
  if (is_pure(inst.op) && own.what == Need::None) return;
  if (own.what == Need::All && is_mask(inst.type) && (inst.op == Op::and_ || inst.op == Op::andn)) {
    if (const auto k = decider(inst)) {
      add_all(args[*k]);
      add(args[1 - *k], {Need::Under, *variable_above(args[*k])});
      return;
    }
  }
  if (inst.op == Op::select && !is_mask(inst.type)) {
    const MaskLanes chosen = root(args[0]);
    add(args[0], own);
    add(args[1], of_selected(chosen, own));
    return add(args[2], of_others(chosen, own));
  }
  if (own.what == Need::Under) {
    const unsigned first = own.lanes.first;
    if (is_lanewise(inst.op)) {
      for (ValueId arg : args) add(arg, own);
      return;
    }
    if (inst.op == Op::concat) {
      add(args[0], own);
      add(args[1], {Need::Under, {own.lanes.mask, first + function_.values[args[0]].lanes}});
      return;
    }
    if (inst.op == Op::slice && first >= inst.imm) {
      add(args[0], {Need::Under, {own.lanes.mask, first - static_cast<unsigned>(inst.imm)}});
      return;
    }
  }
  for (ValueId arg : args) add_all(arg);
}

}  // namespace eum::jit
