// The rules of shapes, applied.
#include "frontend/ir/signature.hpp"

#include <algorithm>

namespace eum::ir {

/// The count of a rule that is not CountRule::Any.
unsigned Signature::fixed_count(const ValueRule& rule) const {
  switch (rule.count) {
    case CountRule::One:
    case CountRule::Maybe:
      return 1;
    case CountRule::Any:
      return 0;
    case CountRule::SurfaceOperand:
      return (access_ && access_->surface_is_operand) || (image_ && image_->surface_is_operand) ? 1 : 0;
    case CountRule::Scalars:
      return image_ ? image_->scalars : 0;
    case CountRule::Components:
      return access_ ? access_->component_count() : 0;
    case CountRule::AtomicSources:
      return access_ ? mem::info(access_->atomic).operands : 0;
  }
  return 0;
}

unsigned Signature::count(const ValueRules& rules, const ValueRule& rule, unsigned found) const {
  if (rule.count == CountRule::One) return 1;  // most of them
  if (rule.count != CountRule::Any) return fixed_count(rule);
  for (const ValueRule& other : rules) found -= std::min(found, fixed_count(other));
  return found;
}

unsigned Signature::total(const ValueRules& rules, unsigned found) const {
  unsigned sum = 0;
  for (const ValueRule& rule : rules) sum += count(rules, rule, found);
  return sum;
}

unsigned Signature::min_results() const {
  unsigned sum = 0;
  for (const ValueRule& rule : shape_.results)
    if (rule.count != CountRule::Maybe) sum += count(shape_.results, rule, inst_.result_count);
  return sum;
}

ValueInfo Signature::apply(const ValueRule& rule) const {
  ValueInfo info{inst_.type, inst_.lanes};
  switch (rule.type) {
    case TypeRule::Op:
      break;
    case TypeRule::From:
      info.type = inst_.from;
      break;
    case TypeRule::Mask:
      info.type = Type::m;
      break;
    case TypeRule::Address:
      info.type = access_ ? ir::info(access_->space).address : Type::u32;
      break;
    case TypeRule::Place:
      info.type = Type::u16;
      break;
    case TypeRule::Half:
      info.type = Type::u32;
      break;
    case TypeRule::Index:
      info.type = access_ && access_->is_based() ? Type::u64 : Type::u32;
      break;
  }
  if (rule.lanes == LaneRule::One) info.lanes = 1;
  if (rule.lanes == LaneRule::Any) info.lanes = 0;
  return info;
}

ValueInfo Signature::value(const ValueRules& rules, unsigned found, unsigned k) const {
  for (const ValueRule& rule : rules) {
    const unsigned of_rule = count(rules, rule, found);
    if (k < of_rule) return apply(rule);
    k -= of_rule;
  }
  return {Type::u32, 0};
}

}  // namespace eum::ir
