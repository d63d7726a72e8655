// Folding of masks: with constants, such as the execution mask with all channels active, and of a mask with
// itself; see block_code.hpp.
#include <utility>

#include "jit/codegen/block_code.hpp"

namespace eum::jit::codegen {

using ir::lane_mask;
using ir::no_value;
using ir::Op;
using ir::ValueId;

/// The mask whose complement this one is; or no value.
ValueId BlockCode::complemented(ValueId mask) const {
  const CodeInst* inst = folded_as(mask, Op::not_);
  return inst ? inst->args[0] : no_value;
}

/// Folds an op of two masks one of which is computed from the other, as in a flag's merge under itself.
/// Returns the mask that it equals, no_value for all zeros, or nothing, though the operands may change.
std::optional<ValueId> BlockCode::fold_masks(CodeInst& inst) const {
  ValueId &a = inst.args[0], &b = inst.args[1];
  if (a == b) return inst.op == Op::andn ? no_value : a;
  const bool opposite = complemented(a) == b || complemented(b) == a;
  if (inst.op == Op::and_ && opposite) return no_value;
  if (inst.op == Op::andn && opposite) return b;
  if (inst.op != Op::or_) return std::nullopt;
  for (auto [x, other] : {std::pair<ValueId, ValueId*>{a, &b}, {b, &a}}) {
    // ~y | ~any(y)
    const CodeInst* any = folded_as(complemented(*other), Op::group_any);
    if (any && complemented(x) == any->args[0]) return x;
    // x | (~x & y)
    if (const CodeInst* part = folded_as(*other, Op::andn); part && part->args[0] == x)
      *other = part->args[1];
    const CodeInst* part = folded_as(*other, Op::and_);
    for (unsigned k = 0; part && k < 2; ++k)
      if (complemented(part->args[k]) == x) *other = part->args[1 - k];
  }
  return std::nullopt;
}

/// Folds an op that yields a mask. False: the instruction is gone, its result is an alias.
bool BlockCode::fold_mask(CodeInst& inst) {
  const std::uint32_t all = lane_mask(inst.lanes);
  const std::uint32_t* a = inst.arg_count > 0 ? constant(inst.args[0]) : nullptr;
  const std::uint32_t* b = inst.arg_count > 1 ? constant(inst.args[1]) : nullptr;
  auto become = [&](std::uint32_t bits) {
    make_constant(inst, bits);
    is_constant_[inst.result] = 1;
    constant_[inst.result] = bits & all;
    return true;
  };
  auto same = [&](ValueId value) {
    alias_[inst.result] = value;
    return false;
  };
  switch (inst.op) {
    case Op::and_:
    case Op::or_:
    case Op::andn:
      if (const auto known = fold_masks(inst)) return *known == no_value ? become(0) : same(*known);
      a = constant(inst.args[0]);
      b = constant(inst.args[1]);
      break;
    default:
      break;
  }
  switch (inst.op) {
    case Op::constant:
      return become(static_cast<std::uint32_t>(inst.imm));
    case Op::slice:
      if (a) return become(*a >> inst.imm);
      if (const CodeInst* whole = folded_as(inst.args[0], Op::concat)) {
        const unsigned parted = function_.values[whole->args[0]].lanes;
        if (inst.imm == 0 && inst.lanes == parted) return same(whole->args[0]);
        if (inst.imm == parted && inst.lanes == function_.values[whole->args[1]].lanes)
          return same(whole->args[1]);
      }
      break;
    case Op::concat:
      if (a && b) return become(*a | *b << function_.values[inst.args[0]].lanes);
      break;
    case Op::not_:
      if (a) return become(~*a);
      break;
    case Op::and_:
      if (a && b) return become(*a & *b);
      if (a && *a == all) return same(inst.args[1]);
      if (b && *b == all) return same(inst.args[0]);
      if ((a && *a == 0) || (b && *b == 0)) return become(0);
      break;
    case Op::or_:
      if (a && b) return become(*a | *b);
      if (a && *a == 0) return same(inst.args[1]);
      if (b && *b == 0) return same(inst.args[0]);
      if ((a && *a == all) || (b && *b == all)) return become(all);
      break;
    case Op::andn:
      if (a && b) return become(~*a & *b);
      if ((a && *a == all) || (b && *b == 0)) return become(0);
      if (a && *a == 0) return same(inst.args[1]);
      if (b && *b == all) {
        inst.op = Op::not_;
        inst.arg_count = 1;
        inst.args = inst.args.first(1);
      }
      break;
    default:
      break;
  }
  return true;
}

namespace {

Op opposite(Op compare) {
  switch (compare) {
    case Op::cmp_ne:
      return Op::cmp_eq;
    case Op::cmp_lt:
      return Op::cmp_ge;
    case Op::cmp_le:
      return Op::cmp_gt;
    case Op::cmp_gt:
      return Op::cmp_le;
    default:
      return Op::cmp_lt;
  }
}

}  // namespace

/// If all users of a comparison that is computed as a complement can as well take that, they do, and it is
/// the opposite one.
void BlockCode::hand_complements() {
  bool any = false;
  for (const CodeInst& inst : kept_) {
    if (inst.result_count != 1) continue;
    const bool repeats = inst.op == Op::splat && handed_[inst.args[0]] == Handed::Constant;
    if (inst.op == Op::constant || repeats) handed_[inst.result] = Handed::Constant;
    if (info(inst.op).shape != ir::Shape::Compare || !is_int(inst.type) || inst.lanes == 1 ||
        !choices_.takes_complement(inst.op, inst.type, handed_[inst.args[1]] == Handed::Constant))
      continue;
    handed_[inst.result] = Handed::Complement;
    any = true;
  }
  const auto is_handed = [&](ValueId value) { return handed_[value] == Handed::Complement; };
  if (any) {
    const auto keep = [&](ValueId value) { handed_[value] = Handed::Itself; };
    for (const CodeInst& inst : kept_) {
      if (inst.mask != no_value) keep(inst.mask);
      const bool combines = inst.op == Op::and_ && inst.args[0] != inst.args[1];
      const std::size_t taken = combines ? 2 : inst.op == Op::select || inst.op == Op::andn ? 1 : 0;
      for (std::size_t k = taken; k < inst.args.size(); ++k) keep(inst.args[k]);
      if (combines && is_handed(inst.args[0])) keep(inst.args[1]);  // no op takes two complements
    }
    for (CodeInst& inst : kept_) {
      if (inst.op == Op::select && is_handed(inst.args[0])) {
        std::swap(inst.args[1], inst.args[2]);
      } else if (inst.op == Op::andn && is_handed(inst.args[0])) {
        inst.op = Op::and_;
      } else if (inst.op == Op::and_ && (is_handed(inst.args[0]) || is_handed(inst.args[1]))) {
        if (!is_handed(inst.args[0])) std::swap(inst.args[0], inst.args[1]);
        inst.op = Op::andn;
      }
    }
  }
  for (CodeInst& inst : kept_) {
    if (inst.result_count != 1) continue;
    if (is_handed(inst.result)) inst.op = opposite(inst.op);
    handed_[inst.result] = Handed::Itself;
  }
}

}  // namespace eum::jit::codegen
