#include "jit/passes/half_pairs.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace eum::jit {

using namespace ir;

ValueId HalfPairs::uncast(ValueId value) const {
  for (;;) {
    const Inst* inst = value < definitions_.size() ? definitions_[value] : nullptr;
    if (!inst || inst->op != Op::bitcast || size_of(inst->type) != 4) return value;
    value = function_.arg(*inst, 0);
  }
}

ValueId HalfPairs::one_of(ValueId value) const {
  value = uncast(value);
  const Inst* inst = definition(value);
  if (!inst || inst->op != Op::concat) return value;
  const ValueId a = one_of(function_.arg(*inst, 0)), b = one_of(function_.arg(*inst, 1));
  return concats_.try_emplace({a, b}, value).first->second;
}

bool HalfPairs::is_half(const Inst& read) {
  return read.op == Op::reg_read && size_of(read.type) == 4 && read.region.offset % 4 == 0 &&
         read.lanes > 1 && read.region.stride(read.lanes) == 2;
}

bool HalfPairs::is_other_half(const Inst& read, const Inst& other) {
  return is_half(other) && (read.region.offset ^ other.region.offset) == 4 && read.lanes == other.lanes &&
         read.mask == other.mask;
}

void HalfPairs::add_leaves(HalfPair pair, std::vector<HalfPair>& leaves, std::set<HalfPair>& seen) {
  if (!seen.insert(pair).second) return;
  const Form form = *form_of(pair);
  if (form.kind == Form::Leaf) leaves.push_back(pair);
  for (unsigned k = 0; k < form.count; ++k) add_leaves(one_of(form.of[k]), leaves, seen);
}

std::optional<HalfPairs::Form> HalfPairs::form_of(HalfPair pair) {
  pair = one_of(pair);
  if (const auto found = forms_.find(pair); found != forms_.end()) return found->second;
  if (steps_left_ == 0 || depth_ == deepest) return std::nullopt;
  --steps_left_;
  ++depth_;
  auto form = new_form(pair);
  for (unsigned k = 0; form && k < form->count; ++k)
    if (!finds(form->of[k])) form.reset();
  if (form && pair.second != no_value) low_of_.try_emplace(pair.second, pair.first);
  --depth_;
  forms_.emplace(pair, form);
  return form;
}

std::optional<HalfPairs::Form> HalfPairs::new_form(HalfPair pair) {
  const auto [low, high] = pair;
  if (high == no_value || constant(high) == 0u)
    if (const auto form = shifted_far(low)) return form;
  if (high == no_value) return widened(low, no_value);
  const Inst *a = definition(low), *b = definition(high);
  if (!a || !b || size_of(function_.values[low].type) != 4 || size_of(function_.values[high].type) != 4)
    return std::nullopt;
  if (const auto form = product(pair)) return form;
  if (const auto form = moved(pair, *a, *b)) return form;
  return computed(pair, *a, *b);
}

/// Pairs that are not computed.
std::optional<HalfPairs::Form> HalfPairs::moved(HalfPair pair, const Inst& a, const Inst& b) const {
  if (a.op != b.op) return std::nullopt;
  const auto both = [&](unsigned k) { return HalfPair{function_.arg(a, k), function_.arg(b, k)}; };
  Form form{.kind = Form::Op, .op = a.op, .lanes = a.lanes, .imm = a.imm};
  switch (a.op) {
    case Op::concat:
      if (function_.values[both(0).first].lanes != function_.values[both(0).second].lanes)
        return std::nullopt;
      form.count = 2;
      form.of[0] = both(0);
      form.of[1] = both(1);
      return form;
    case Op::slice:
      if (a.imm != b.imm) return std::nullopt;
      form.count = 1;
      form.of[0] = both(0);
      return form;
    case Op::constant:
      form.kind = Form::Constant;
      form.imm = (a.imm & ~0u) | b.imm << 32;
      return form;
    case Op::load:
      if (&a != &b || pair.second != pair.first + 1 || (pair.first - a.result) % 2 != 0 ||
          !is_of_pairs(function_.access(a)))
        return std::nullopt;
      return Form{.kind = Form::Leaf};
    case Op::reg_read:
      if (!is_half(a) || a.region.offset % 8 != 0 || !is_other_half(a, b)) return std::nullopt;
      return Form{.kind = Form::Leaf};
    default:
      return std::nullopt;
  }
}

std::optional<HalfPairs::Form> HalfPairs::computed(HalfPair pair, const Inst& a, const Inst& b) {
  if (const auto form = widened(pair.first, pair.second)) return form;
  if (const auto form = shifted(a, b)) return form;
  if (a.op == Op::addc && pair.first == a.result) return sum(a, pair.second);
  if (a.op == Op::subb && pair.first == a.result) return difference(a, pair.second);
  if (a.lanes != b.lanes) return std::nullopt;
  if (const auto form = merged_far(a, pair.second)) return form;
  // A constant without a high half leaves the other one as it is.
  if (a.op != b.op && (a.op == Op::or_ || a.op == Op::xor_))
    for (const unsigned k : {0u, 1u})
      if (constant(function_.arg(a, k)))
        return of_pairs(a.op, a.lanes, {function_.arg(a, 1 - k), pair.second},
                        {function_.arg(a, k), no_value});
  if (a.op != b.op) return std::nullopt;
  const auto both = [&](unsigned k) { return HalfPair{function_.arg(a, k), function_.arg(b, k)}; };
  switch (a.op) {
    case Op::and_:
    case Op::or_:
    case Op::xor_:
      if (finds(both(0)) && finds(both(1))) return of_pairs(a.op, a.lanes, both(0), both(1));
      return of_pairs(a.op, a.lanes, {function_.arg(a, 0), function_.arg(b, 1)},
                      {function_.arg(a, 1), function_.arg(b, 0)});
    case Op::splat:
      return Form{.kind = Form::Splat, .lanes = a.lanes, .value = both(0).first, .high = both(0).second};
    case Op::not_:
      return Form{.kind = Form::Op, .op = a.op, .lanes = a.lanes, .count = 1, .of = {both(0)}};
    case Op::select: {
      if (both(0).first != both(0).second) return std::nullopt;
      Form form = of_pairs(a.op, a.lanes, both(1), both(2));
      form.value = both(0).first;
      return form;
    }
    default:
      return std::nullopt;
  }
}

/// 64 bits that were taken apart, or dwords that were widened.
std::optional<HalfPairs::Form> HalfPairs::widened(ValueId low, ValueId high) const {
  const unsigned lanes = function_.values[low].lanes;
  Form form{.kind = Form::Extend, .lanes = lanes, .value = low};
  if (high == no_value) {
    if (const auto bits = constant(low)) return Form{.kind = Form::Constant, .lanes = lanes, .imm = *bits};
    return form;
  }
  const auto sign = shifted_by(high, Op::asr);
  if (sign && sign->by == 31 && are_same(sign->value, low)) {
    form.from = Type::s32;
    return form;
  }
  if (constant(high) == 0u) return form;
  const Inst *a = as(low, Op::convert), *b = as(high, Op::convert);
  if (!a || !b || !is_int(a->from) || size_of(a->from) != 8 || !is_int(b->from) || size_of(b->from) != 8)
    return std::nullopt;
  const Inst* shift = definition(function_.arg(*b, 0));
  if (!shift || (shift->op != Op::shr && shift->op != Op::asr) ||
      function_.arg(*shift, 0) != function_.arg(*a, 0))
    return std::nullopt;
  const Inst* by = definition(function_.arg(*shift, 1));
  if (!by || by->op != Op::constant || by->imm != 32) return std::nullopt;
  form.kind = Form::Split;
  form.value = function_.arg(*a, 0);
  return form;
}

std::optional<HalfPairs::Shifted> HalfPairs::shifted_by(ValueId value, Op op) const {
  const Inst* inst = as(value, op);
  if (!inst || !is_int(inst->type) || (op == Op::shr && is_signed(inst->type)) ||
      (op == Op::asr && !is_signed(inst->type)))
    return std::nullopt;
  const auto by = constant(function_.arg(*inst, 1));
  if (!by || *by == 0 || *by >= 32) return std::nullopt;
  return Shifted{function_.arg(*inst, 0), *by};
}

std::optional<HalfPairs::Funnel> HalfPairs::funnel(const Inst& inst) const {
  if (inst.op != Op::or_) return std::nullopt;
  for (const unsigned k : {0u, 1u}) {
    const auto left = shifted_by(function_.arg(inst, k), Op::shl);
    const auto right = shifted_by(function_.arg(inst, 1 - k), Op::shr);
    if (left && right && left->by + right->by == 32)
      return Funnel{left->value, right->value, left->by, {function_.arg(inst, 0), function_.arg(inst, 1)}};
  }
  return std::nullopt;
}

/// Shifts by less than 32 bits, and rotations.
std::optional<HalfPairs::Form> HalfPairs::shifted(const Inst& a, const Inst& b) {
  Form form{.kind = Form::Shift, .lanes = a.lanes, .count = 1};
  const auto low = funnel(a), high = funnel(b);
  for (const auto& half : {low, high})
    if (half) form.inner.insert(form.inner.end(), half->shifts.begin(), half->shifts.end());
  if (low && high) {
    if (low->by != high->by || !are_same(low->left, high->right) || !are_same(low->right, high->left))
      return std::nullopt;
    const HalfPair near{low->left, low->right}, far{low->right, low->left};
    const bool is_far = !finds(near) && finds(far);
    form.kind = Form::Rotate;
    form.of[0] = is_far ? far : near;
    form.imm = low->by + (is_far ? 32 : 0);
    return form;
  }
  if (high) {
    const auto left = shifted_by(a.result, Op::shl);
    if (!left || left->by != high->by || !are_same(left->value, high->right)) return std::nullopt;
    form.op = Op::shl;
    form.of[0] = {left->value, high->left};
    form.imm = left->by;
    return form;
  }
  if (!low) return std::nullopt;
  for (const Op op : {Op::shr, Op::asr})
    if (const auto right = shifted_by(b.result, op);
        right && right->by == 32 - low->by && are_same(right->value, low->left)) {
      form.op = op;
      form.of[0] = {low->right, right->value};
      form.imm = right->by;
      return form;
    }
  return std::nullopt;
}

/// To the right by 32 bits or more: high bits of a high half, whose low half is known.
std::optional<HalfPairs::Form> HalfPairs::shifted_far(ValueId low) const {
  const auto shift = shifted_by(low, Op::shr);
  const ValueId high = shift ? shift->value : low;
  const auto found = low_of_.find(one_of(high));
  if (found == low_of_.end() || constant(high)) return std::nullopt;
  // What is used instead of the value must not come after it.
  const Inst *own = definition(low), *other = definition(found->second);
  if (!own || !other || std::less<>()(own, other)) return std::nullopt;
  return Form{.kind = Form::Shift,
              .op = Op::shr,
              .lanes = function_.values[low].lanes,
              .count = 1,
              .of = {HalfPair{found->second, high}},
              .imm = 32 + (shift ? shift->by : 0)};
}

/// x ^ x >> 32, or by more, which leaves the high half as it is.
std::optional<HalfPairs::Form> HalfPairs::merged_far(const Inst& low, ValueId high) const {
  if (low.op != Op::or_ && low.op != Op::xor_) return std::nullopt;
  for (const unsigned k : {0u, 1u}) {
    const ValueId bits = function_.arg(low, k), own = function_.arg(low, 1 - k);
    const auto shift = shifted_by(bits, Op::shr);
    if (!are_same(shift ? shift->value : bits, high)) continue;
    return Form{.kind = Form::Merge,
                .op = low.op,
                .lanes = low.lanes,
                .count = 1,
                .of = {HalfPair{own, high}},
                .inner = {bits},
                .imm = 32 + (shift ? shift->by : 0)};
  }
  return std::nullopt;
}

/// The low halves with their carry, and the sum of the high ones, of which one may be zero, and the carry.
std::optional<HalfPairs::Form> HalfPairs::sum(const Inst& low, ValueId high) {
  // The high half of a sum may itself be a sum with a carry, or the sum of the other two terms.
  for (const unsigned deepest_sum : {2u, 1u})
    if (auto form = sum(low, high, deepest_sum)) return form;
  return std::nullopt;
}

std::optional<HalfPairs::Form> HalfPairs::sum(const Inst& low, ValueId high, unsigned deepest_sum) {
  std::array<ValueId, 2> terms{no_value, no_value};
  unsigned count = 0, carries = 0;
  Values inner;
  const auto add = [&](auto& self, ValueId value, unsigned depth) -> bool {
    if (are_same(value, low.result + 1)) return ++carries == 1;
    const Inst* inst = depth < deepest_sum ? as(value, Op::add) : nullptr;
    if (inst && depth > 0) inner.push_back(value);
    if (inst && self(self, function_.arg(*inst, 0), depth + 1) &&
        self(self, function_.arg(*inst, 1), depth + 1))
      return true;
    if (inst || count == terms.size()) return false;
    terms[count++] = value;
    return true;
  };
  if (!add(add, high, 0) || carries != 1) return std::nullopt;
  const ValueId x = function_.arg(low, 0), y = function_.arg(low, 1);
  for (const auto& [first, second] : {std::pair(terms[0], terms[1]), std::pair(terms[1], terms[0])}) {
    if (!finds({x, first}) || !finds({y, second})) continue;
    Form form = of_pairs(Op::add, low.lanes, {x, first}, {y, second});
    form.inner = inner;
    return form;
  }
  return std::nullopt;
}

/// Less the borrow, and the high half of what is subtracted unless it is zero, in either order.
std::optional<HalfPairs::Form> HalfPairs::difference(const Inst& low, ValueId high) {
  const auto is_borrow = [&](ValueId value) { return are_same(value, low.result + 1); };
  const Inst* last = as(high, Op::sub);
  if (!last) return std::nullopt;
  ValueId whole = function_.arg(*last, 0), other = function_.arg(*last, 1), inner = no_value;
  if (const Inst* first = as(whole, Op::sub);
      first && is_borrow(other) != is_borrow(function_.arg(*first, 1))) {
    inner = whole;
    if (is_borrow(other)) other = function_.arg(*first, 1);
    whole = function_.arg(*first, 0);
  } else if (const Inst* negated = as(whole, Op::neg); negated && is_borrow(function_.arg(*negated, 0))) {
    inner = whole;
    whole = no_value;
  } else if (is_borrow(other)) {
    other = no_value;
  } else {
    return std::nullopt;
  }
  const HalfPair x{function_.arg(low, 0), whole}, y{function_.arg(low, 1), other};
  Form form = of_pairs(Op::sub, low.lanes, x, y);
  if (inner != no_value) form.inner.push_back(inner);
  return form;
}

/// (high halves in order) | (high halves equal) & (low halves in order), or both halves equal.
std::optional<WideCompare> HalfPairs::compare(const Inst& inst) const {
  if (!is_mask(inst.type) || inst.mask != no_value || (inst.op != Op::or_ && inst.op != Op::and_))
    return std::nullopt;
  const auto mask_op = [&](ValueId value) {
    return value < definitions_.size() ? definitions_[value] : nullptr;
  };
  // x & x is x.
  const auto plain = [&](ValueId value) {
    const Inst* op = mask_op(value);
    return op && op->op == Op::and_ && function_.arg(*op, 0) == function_.arg(*op, 1) ? function_.arg(*op, 0)
                                                                                      : value;
  };
  const auto dwords = [&](ValueId value) -> const Inst* {
    const Inst* op = mask_op(value);
    return op && info(op->op).shape == Shape::Compare && is_int(op->type) && size_of(op->type) == 4 ? op
                                                                                                    : nullptr;
  };
  const auto pair_of = [&](const Inst& low, const Inst& high, unsigned k) {
    return HalfPair{function_.arg(low, k), function_.arg(high, k)};
  };
  const ValueId first = plain(function_.arg(inst, 0)), second = plain(function_.arg(inst, 1));
  const Inst *a = dwords(first), *b = dwords(second);
  const Op same_in_both = inst.op == Op::and_ ? Op::cmp_eq : Op::cmp_ne;
  if (a && b && a->op == same_in_both && b->op == same_in_both)
    return WideCompare{same_in_both, Type::u64, pair_of(*a, *b, 0), pair_of(*a, *b, 1)};
  if (inst.op != Op::or_) return std::nullopt;
  for (const auto& [equal, ordered] : {std::pair(first, second), std::pair(second, first)}) {
    const Inst* both = mask_op(equal);
    if (!both || both->op != Op::and_) continue;
    const Inst* rest = mask_op(ordered);
    const bool excludes = rest && rest->op == Op::andn && plain(function_.arg(*rest, 0)) == equal;
    const Inst* high = dwords(excludes ? function_.arg(*rest, 1) : ordered);
    if (!high || (high->op != Op::cmp_lt && high->op != Op::cmp_gt)) continue;
    for (const unsigned k : {0u, 1u}) {
      const Inst *equals = dwords(function_.arg(*both, k)), *low = dwords(function_.arg(*both, 1 - k));
      if (!equals || !low || equals->op != Op::cmp_eq || is_signed(low->type)) continue;
      const bool is_less = low->op == Op::cmp_lt || low->op == Op::cmp_le;
      if (is_less != (high->op == Op::cmp_lt) || (!is_less && low->op != Op::cmp_gt && low->op != Op::cmp_ge))
        continue;
      if (!are_same(function_.arg(*equals, 0), function_.arg(*high, 0)) ||
          !are_same(function_.arg(*equals, 1), function_.arg(*high, 1)))
        continue;
      return WideCompare{low->op, int_type(8, is_signed(high->type)), pair_of(*low, *high, 0),
                         pair_of(*low, *high, 1)};
    }
  }
  return std::nullopt;
}

}  // namespace eum::jit
