#include "jit/analysis/lane_sums.hpp"

#include <numeric>

namespace eum::jit {

using ir::Inst;
using ir::Op;
using ir::ValueId;

namespace {

bool has_32_bits(ir::Type type) { return ir::is_int(type) && ir::size_of(type) == 4; }

constexpr std::uint64_t unlimited = UINT64_MAX;

std::uint64_t add(std::uint64_t a, std::uint64_t b) { return a > unlimited - b ? unlimited : a + b; }

/// Bits that are zero in the sum whatever its terms are.
std::uint32_t low_zeros(const LaneSum& sum) {
  const std::uint32_t set = sum.varying.power_of_two() | sum.uniform.power_of_two() | sum.constant;
  return ~set & (set - 1);
}

}  // namespace

std::uint32_t LaneSum::Term::unit() const {
  const bool wraps_near = may_wrap() || most > (std::uint64_t{1} << 32) - factor;
  return wraps_near ? power_of_two() : factor;
}

void LaneSums::note(const Inst& inst) {
  if (inst.result_count != 1 || !has_32_bits(inst.type) || ir::is_mask(function_.values[inst.result].type))
    return;
  known_[inst.result] = {.definition = inst, .sum = {}, .block = block_, .is_found = false};
}

LaneSum LaneSums::of(ValueId value) {
  if (value >= known_.size() || known_[value].block != block_) return itself(value);
  constexpr unsigned deepest = 32;  // addresses are simpler, other values may be long chains
  Known& known = known_[value];
  if (known.is_found) return known.sum;
  ++depth_;
  known.sum = depth_ > deepest ? itself(value) : result_of(known.definition);
  --depth_;
  known.is_found = true;
  return known.sum;
}

LaneSum LaneSums::result_of(const Inst& inst) {
  const auto arg = [&](unsigned k) { return of(function_.arg(inst, k)); };
  switch (inst.op) {
    case Op::constant:
      return {.constant = static_cast<std::uint32_t>(inst.imm)};
    case Op::splat:
      return arg(0);
    case Op::bitcast:
      return has_32_bits(inst.from) ? arg(0) : itself(inst.result);
    case Op::convert:
      if (has_32_bits(inst.from)) return arg(0);
      if (!ir::is_int(inst.from) || ir::is_signed(inst.from) || ir::size_of(inst.from) > 2) break;
      return itself(inst.result, 1, (1u << 8 * ir::size_of(inst.from)) - 1);
    case Op::slice: {
      LaneSum sum = arg(0);
      if (sum.varying.is_zero() || inst.lanes == 1) break;
      const auto from = static_cast<std::uint32_t>(inst.imm);
      sum.varying.symbol =
          symbols_.of({Symbols::Computed, static_cast<std::uint32_t>(Op::slice), sum.varying.symbol, from});
      return sum;
    }
    case Op::add:
      return sum(arg(0), arg(1));
    case Op::sub:
      return sum(arg(0), arg(1), Sign::Minus);
    case Op::or_: {
      // Compilers add offsets to multiples of powers of two like that.
      const LaneSum a = arg(0), b = arg(1);
      if (b.is_constant() && (b.constant & ~low_zeros(a)) == 0) return sum(a, b);
      if (a.is_constant() && (a.constant & ~low_zeros(b)) == 0) return sum(a, b);
      break;
    }
    case Op::and_: {
      const LaneSum a = arg(0), b = arg(1);
      if (!a.is_constant() && !b.is_constant()) break;
      const std::uint32_t kept = a.is_constant() ? a.constant : b.constant;
      return itself(inst.result, kept & -kept);
    }
    case Op::shl:
      if (const LaneSum by = arg(1); by.is_constant())
        return product(arg(0), std::uint32_t{1} << by.constant % 32);
      break;
    case Op::mul: {
      const LaneSum a = arg(0), b = arg(1);
      if (b.is_constant()) return product(a, b.constant);
      if (a.is_constant()) return product(b, a.constant);
      break;
    }
    case Op::mad: {
      const LaneSum a = arg(0), b = arg(1);
      if (b.is_constant()) return sum(product(a, b.constant), arg(2));
      if (a.is_constant()) return sum(product(b, a.constant), arg(2));
      break;
    }
    default:
      break;
  }
  return itself(inst.result);
}

LaneSum LaneSums::itself(ValueId value, std::uint32_t factor, std::uint32_t most) {
  if (factor == 0) return {};
  const Term term{symbols_.of({Symbols::Itself, value}), factor, most};
  return function_.values[value].lanes == 1 ? LaneSum{.uniform = term} : LaneSum{.varying = term};
}

LaneSum::Term LaneSums::sum(const Term& a, const Term& b, Sign sign) {
  if (b.is_zero()) return a;
  if (sign == Sign::Plus && a.is_zero()) return b;
  if (sign == Sign::Minus && a.symbol == b.symbol) return {};
  const SymbolicSum x{a.symbol, 0}, y{b.symbol, 0};
  const SymbolicSum both = sign == Sign::Plus ? symbols_.sum(x, y) : symbols_.difference(x, y);
  return {both.symbol, std::gcd(a.factor, b.factor), sign == Sign::Plus ? add(a.most, b.most) : unlimited};
}

LaneSum LaneSums::sum(const LaneSum& a, const LaneSum& b, Sign sign) {
  return {sum(a.varying, b.varying, sign), sum(a.uniform, b.uniform, sign),
          sign == Sign::Plus ? a.constant + b.constant : a.constant - b.constant};
}

LaneSum::Term LaneSums::product(const Term& term, std::uint32_t factor) {
  if (factor == 0 || term.is_zero()) return {};
  const std::uint64_t multiple = std::uint64_t{term.factor} * factor;
  const auto low = static_cast<std::uint32_t>(multiple);
  if (low == 0) return {};
  return {symbols_.product({term.symbol, 0}, factor).symbol, low == multiple ? low : low & -low,
          term.may_wrap() ? unlimited : term.most * factor};
}

LaneSum LaneSums::product(const LaneSum& a, std::uint32_t factor) {
  return {product(a.varying, factor), product(a.uniform, factor), a.constant * factor};
}

}  // namespace eum::jit
