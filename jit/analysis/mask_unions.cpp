#include "jit/analysis/mask_unions.hpp"

#include <algorithm>

namespace eum::jit {

using ir::Inst;
using ir::Op;
using ir::ValueId;

void MaskUnions::follow(const ir::Block& block) {
  now_.clear();
  for (const Inst& inst : block.insts) follow(inst);
}

const MaskUnions::Union* MaskUnions::set(std::uint64_t variable) const {
  const auto found = std::ranges::find(now_, variable, &Set::variable);
  return found == now_.end() ? nullptr : &found->to;
}

MaskUnions::Variables MaskUnions::behind(Variables before, std::optional<std::uint64_t> none) const {
  if (before == anywhere) return anywhere;
  Variables needed = 0;
  for (std::uint64_t variable = 0; variable <= most_variables; ++variable)
    if (variable != none && (variable == 0 || (before >> variable & 1) != 0)) needed |= holders_of(variable);
  return needed == anywhere ? anywhere : needed & ~Variables{1};
}

MaskUnions::Variables MaskUnions::within(Variables before) const {
  Variables found = before;
  for (const Set& set : now_) {
    const bool is_within = set.to.exact && std::ranges::all_of(set.to.parts, [&](const Part& part) {
                             return (before >> part.variable & 1) != 0;
                           });
    const Variables bit = Variables{1} << set.variable;
    found = is_within ? found | bit : found & ~bit;
  }
  return found;
}

std::optional<std::uint64_t> MaskUnions::without_any(const Inst& terminator) const {
  if (terminator.op != Op::branch_any) return std::nullopt;
  const Union& mask = unions_[function_.arg(terminator, 0)];
  const bool is_variable = mask.exact && mask.parts.size() == 1 && mask.parts[0].whole();
  return is_variable ? std::optional(mask.parts[0].variable) : std::nullopt;
}

MaskUnions::Union MaskUnions::content(std::uint64_t variable) const {
  if (const Union* now = set(variable)) return *now;
  return {{{variable}}, true};
}

/// The fewest variables that contain all of what this one held: the execution mask alone, another one alone,
/// or two with a part each.
MaskUnions::Variables MaskUnions::holders_of(std::uint64_t variable) const {
  const auto bit = [](std::uint64_t of) { return Variables{1} << of; };
  Variables found = set(variable) ? anywhere : bit(variable);
  for (const Set& set : now_)
    for (const Part& part : set.to.parts) {
      if (part.variable != variable) continue;
      if (part.whole()) {
        if (found == anywhere || set.variable == 0) found = bit(set.variable);
        continue;
      }
      for (const Set& other : now_)
        for (const Part& rest : other.to.parts)
          if (found == anywhere && rest.completes(part)) found = bit(set.variable) | bit(other.variable);
    }
  return found;
}

void MaskUnions::follow(const Inst& inst) {
  const auto arg = [&](unsigned k) -> const Union& { return unions_[function_.arg(inst, k)]; };
  if (inst.op == Op::mask_set) {
    std::erase_if(now_, [&](const Set& set) { return set.variable == inst.imm; });
    now_.push_back({inst.imm, arg(0)});
    return;
  }
  if (inst.result_count != 1 || !ir::is_mask(inst.type)) return;
  Union& result = unions_[inst.result];
  result = {};
  if (inst.lanes != function_.simd) return;
  switch (inst.op) {
    case Op::mask_get:
      result = content(inst.imm);
      break;
    case Op::constant:
      result.exact = (inst.imm & ir::lane_mask(inst.lanes)) == 0;
      break;
    case Op::or_:
      result = arg(0);
      result.parts.insert(result.parts.end(), arg(1).parts.begin(), arg(1).parts.end());
      result.exact &= arg(1).exact;
      break;
    case Op::and_:
      for (const unsigned k : {0u, 1u})
        if (!arg(k).parts.empty() && arg(1 - k).parts.empty())
          result = where(arg(k), {.variable = 0, .condition = function_.arg(inst, 1 - k)});
      break;
    case Op::andn:
      result = where(arg(1), {.variable = 0, .condition = function_.arg(inst, 0), .negated = true});
      break;
    default:
      break;
  }
}

/// The part of a union for which the condition of `cut` holds, or does not.
MaskUnions::Union MaskUnions::where(const Union& of, const Part& cut) const {
  Union left{.parts = {}, .exact = of.exact};
  for (const Part& part : of.parts) {
    if (part.whole())
      left.parts.push_back(simple(part.variable, cut));
    else
      left.exact = false;
  }
  return left;
}

/// Without the part for which a condition holds, the part for which it does not is left.
MaskUnions::Part MaskUnions::simple(std::uint64_t variable, const Part& cut) const {
  const Union& of = unions_[cut.condition];
  const auto same = [&](const Part& part) {
    return !part.whole() && part.condition == of.parts[0].condition && part.negated == of.parts[0].negated;
  };
  const bool has_one_condition = of.exact && !of.parts.empty() && std::ranges::all_of(of.parts, same);
  if (has_one_condition &&
      std::ranges::any_of(of.parts, [&](const Part& p) { return p.variable == variable; }))
    return {variable, of.parts[0].condition, of.parts[0].negated != cut.negated};
  return {variable, cut.condition, cut.negated};
}

}  // namespace eum::jit
