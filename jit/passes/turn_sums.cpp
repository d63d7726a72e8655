#include "jit/passes/turn_sums.hpp"

#include <algorithm>
#include <bit>

namespace eum::jit {
namespace {

using ir::no_value;
using ir::Op;
using ir::Type;
using ir::ValueId;

}  // namespace

ValueId TurnSums::number(std::uint32_t value) {
  ValueId& made = made_.try_emplace({Op::constant, Type::u32, no_value, value}, no_value).first->second;
  return made != no_value ? made : made = to_.constant(Type::u32, 1, value);
}
ValueId TurnSums::cast(Type type, ValueId value) {
  if (to_.type_of(value) == type) return value;
  ValueId& made = made_.try_emplace({Op::bitcast, type, value, 0}, no_value).first->second;
  return made != no_value ? made : made = to_.convert(Op::bitcast, type, value);
}
ValueId TurnSums::combined(Op op, ValueId a, ValueId b) {
  ValueId& made = made_.try_emplace({op, Type::u32, a, b}, no_value).first->second;
  return made != no_value ? made : made = to_.lanewise(op, {a, b});
}
ValueId TurnSums::added(ValueId a, ValueId b) {
  if (a == no_value) return b;
  return b == no_value ? a : combined(Op::add, a, b);
}
ValueId TurnSums::subtracted(ValueId a, ValueId b) {
  if (b == no_value) return a;
  return combined(Op::sub, a == no_value ? number(0) : a, b);
}

TurnSum TurnSums::term(ValueId value, bool is_own) {
  const ValueId term = cast(Type::u32, value);
  return {.own = is_own ? term : no_value, .shared = is_own ? no_value : term, .zeros = 0};
}

TurnSum TurnSums::as_shared(const TurnSum& sum) {
  TurnSum shared = sum;
  shared.shared = added(sum.own, sum.shared);
  shared.own = no_value;
  return shared;
}

ValueId TurnSums::first(const TurnSum& sum, Type type) {
  ValueId others = sum.shared;
  if (sum.constant != 0 || (sum.own == no_value && others == no_value))
    others = added(others, number(sum.constant));
  return cast(type, added(sum.own, others));
}

TurnSum TurnSums::sum(const TurnSum& a, const TurnSum& b) {
  return {added(a.own, b.own), added(a.shared, b.shared), a.constant + b.constant, a.step + b.step,
          std::min(a.zeros, b.zeros)};
}
TurnSum TurnSums::difference(const TurnSum& a, const TurnSum& b) {
  return {subtracted(a.own, b.own), subtracted(a.shared, b.shared), a.constant - b.constant, a.step - b.step,
          std::min(a.zeros, b.zeros)};
}
TurnSum TurnSums::product(const TurnSum& a, std::uint32_t by) {
  const auto scaled = [&](ValueId term) {
    if (term == no_value || by == 1) return term;
    return std::has_single_bit(by)
               ? combined(Op::shl, term, number(static_cast<unsigned>(std::countr_zero(by))))
               : combined(Op::mul, term, number(by));
  };
  const auto zeros = a.zeros + static_cast<std::uint32_t>(std::countr_zero(by));
  return {scaled(a.own), scaled(a.shared), a.constant * by, a.step * by, std::min(zeros, TurnSum::most)};
}

std::optional<TurnSum> TurnSums::result(const ir::Inst& inst, std::span<const TurnSum> operands) {
  const auto& a = operands[0];
  const auto& b = operands.back();
  switch (inst.op) {
    case Op::bitcast:
    case Op::convert:
      return a;
    case Op::add:
    case Op::addc:
      return sum(a, b);
    case Op::sub:
      return difference(a, b);
    case Op::not_:
      return difference({.constant = ~0u}, a);
    case Op::shl:
      if (!b.is_constant()) return std::nullopt;
      return product(a, 1u << b.constant % TurnSum::most);
    case Op::mul:
      if (b.is_constant()) return product(a, b.constant);
      return a.is_constant() ? std::optional(product(b, a.constant)) : std::nullopt;
    case Op::or_: {
      // A sum, if no bit is one in both.
      const bool is_first = a.is_constant();
      const TurnSum &number = is_first ? a : b, &other = is_first ? b : a;
      const bool is_sum = number.is_constant() && number.constant >> other.zeros % TurnSum::most == 0 &&
                          (number.constant & other.constant) == 0;
      return is_sum ? std::optional(sum(a, b)) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace eum::jit
