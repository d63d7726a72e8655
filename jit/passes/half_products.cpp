// Products of 64 bits as compilers write them by dwords: the product of the low halves, and its high half
// plus the low halves of the products of a low half and a high one. Products of dwords have eight lanes each
// where other ops have sixteen, so that they stand between slices and concats.
#include "jit/passes/half_pairs.hpp"

namespace eum::jit {

using namespace ir;

/// Follows lanes [first, first + lanes) of a value to the op that computes them.
std::optional<HalfPairs::Lanes> HalfPairs::origin(Lanes at) const {
  for (;;) {
    at.value = uncast(at.value);
    const Inst* inst = definition(at.value);
    if (!inst) return at;
    if (inst->op == Op::slice) {
      at.first += static_cast<unsigned>(inst->imm);
      at.value = function_.arg(*inst, 0);
    } else if (inst->op == Op::concat) {
      const unsigned lanes = function_.values[function_.arg(*inst, 0)].lanes;
      if (at.first < lanes && at.first + at.lanes > lanes) return std::nullopt;
      at.value = function_.arg(*inst, at.first < lanes ? 0 : 1);
      if (at.first >= lanes) at.first -= lanes;
    } else {
      // Constants are the same in all lanes.
      if (inst->op == Op::constant) at.first = 0;
      return at;
    }
  }
}

bool HalfPairs::are_same(const Lanes& a, const Lanes& b) const {
  if (a.value == b.value && a.first == b.first) return true;
  const auto of_a = constant(a.value);
  return of_a && of_a == constant(b.value);
}

/// The product of dwords that computes the lanes, if they are its low half, or its high one.
std::optional<HalfPairs::Product> HalfPairs::product_of(const Lanes& at, bool high, Values& passed) const {
  const auto found = origin(at);
  const Inst* inst = found ? definition(found->value) : nullptr;
  if (!inst || size_of(inst->type) != 4 || !is_int(inst->type)) return std::nullopt;
  const bool is_low = (inst->op == Op::mul || inst->op == Op::mul_wide) && found->value == inst->result;
  const bool is_high = inst->op == Op::mul_wide && found->value == inst->result + 1;
  if (high ? !is_high : !is_low) return std::nullopt;
  const auto operand = [&](unsigned k) {
    const ValueId arg = function_.arg(*inst, k);
    auto lanes = origin({arg, found->first, at.lanes});
    if (!lanes) return lanes;
    if (inst->lanes == at.lanes) lanes->own = arg;
    if (function_.values[lanes->value].lanes == at.lanes) lanes->own = lanes->value;
    return lanes;
  };
  const auto a = operand(0), b = operand(1);
  if (!a || !b) return std::nullopt;
  passed.push_back(found->value);
  return Product{inst, found->first, {*a, *b}};
}

/// How many lanes from `first` on one op computes.
unsigned HalfPairs::lanes_of_one_op(ValueId value, unsigned first) const {
  for (unsigned lanes = function_.values[value].lanes - first; lanes > 1; lanes /= 2)
    if (origin({value, first, lanes})) return lanes;
  return 1;
}

/// The value whose lanes these are, one part after the other, or a constant.
ValueId HalfPairs::whole_of(std::span<const Lanes> parts) const {
  if (parts.size() == 1 && parts[0].own != no_value) return parts[0].own;
  unsigned lanes = 0;
  for (const Lanes& part : parts) {
    const bool follows = part.value == parts[0].value && part.first == lanes;
    if (!follows && !(constant(part.value) && are_same(part, parts[0]))) return no_value;
    lanes += part.lanes;
  }
  return constant(parts[0].value) || function_.values[parts[0].value].lanes == lanes ? parts[0].value
                                                                                     : no_value;
}

/// The pair with these halves, or one for each of two parts; none: there are none.
std::vector<HalfPair> HalfPairs::pairs_of(std::span<const Lanes> low, std::span<const Lanes> high) const {
  const auto pair_of = [&](std::size_t first, std::size_t count) {
    return HalfPair{whole_of(low.subspan(first, count)),
                    high.empty() ? no_value : whole_of(high.subspan(first, count))};
  };
  const auto is_found = [&](const HalfPair& pair) {
    return pair.first != no_value && (pair.second != no_value || high.empty());
  };
  if (!high.empty() && high.size() != low.size()) return {};
  if (const HalfPair all = pair_of(0, low.size()); is_found(all)) return {all};
  if (low.size() != 2) return {};
  const HalfPair first = pair_of(0, 1), second = pair_of(1, 1);
  if (!is_found(first) || !is_found(second)) return {};
  return {first, second};
}

std::optional<HalfPairs::Form> HalfPairs::product(HalfPair pair) const {
  const unsigned lanes = function_.values[pair.first].lanes;
  if (function_.values[pair.second].lanes != lanes) return std::nullopt;
  Form form{.kind = Form::Op, .op = Op::mul, .lanes = lanes};
  constexpr std::size_t most_terms = 3;
  Values terms;
  const auto add = [&](auto& self, ValueId value) -> bool {
    value = uncast(value);
    if (const Inst* inst = as(value, Op::add)) {
      form.inner.push_back(value);
      return self(self, function_.arg(*inst, 0)) && self(self, function_.arg(*inst, 1));
    }
    terms.push_back(value);
    return terms.size() <= most_terms;
  };
  // Low and high halves of the factors, part by part.
  std::array<std::vector<Lanes>, 2> low, high;
  for (unsigned first = 0, count = 0; first < lanes; first += count) {
    count = lanes_of_one_op(pair.first, first);
    const auto whole = product_of({pair.first, first, count}, false, form.inner);
    if (!whole || whole->inst->op != Op::mul_wide || is_signed(whole->inst->type)) return std::nullopt;
    if (first == 0 && !add(add, pair.second)) return std::nullopt;
    for (const unsigned k : {0u, 1u}) low[k].push_back(whole->of[k]);
    bool has_carry = false;
    std::array<std::optional<Lanes>, 2> found;
    for (const ValueId term : terms) {
      const Lanes at{term, first, count};
      if (const auto carry = product_of(at, true, form.inner)) {
        if (has_carry || carry->inst != whole->inst || carry->first != whole->first) return std::nullopt;
        has_carry = true;
        continue;
      }
      const auto cross = product_of(at, false, form.inner);
      if (!cross) return std::nullopt;
      bool is_found = false;
      for (const unsigned k : {0u, 1u})    // the factor whose low half it takes
        for (const unsigned j : {0u, 1u})  // is this operand
          if (!is_found && !found[1 - k] && are_same(cross->of[j], whole->of[k])) {
            found[1 - k] = cross->of[1 - j];
            is_found = true;
          }
      if (!is_found) return std::nullopt;
    }
    if (!has_carry) return std::nullopt;
    for (const unsigned k : {0u, 1u})
      if (found[k]) high[k].push_back(*found[k]);
  }
  // For two factors of 32 bits, the product of dwords is as good.
  if (high[0].empty() && high[1].empty()) return std::nullopt;
  for (const unsigned k : {0u, 1u}) {
    const auto pairs = pairs_of(low[k], high[k]);
    if (pairs.empty()) return std::nullopt;
    // Constants may have fewer lanes.
    const auto bits = constant(pairs[0].first);
    const auto above = high[k].empty() ? std::optional(0u) : constant(pairs[0].second);
    if (pairs.size() == 1 && bits && above) {
      if (form.factor) return std::nullopt;
      form.factor = *bits | std::uint64_t{*above} << 32;
      continue;
    }
    form.parts[form.count == 0 ? 0 : 1] = static_cast<unsigned>(pairs.size());
    for (const HalfPair& pair_of_lanes : pairs) form.of[form.count++] = pair_of_lanes;
  }
  if (form.count == 0) return std::nullopt;
  return form;
}

}  // namespace eum::jit
