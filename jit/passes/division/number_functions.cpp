#include "jit/passes/division/number_functions.hpp"

#include <algorithm>
#include <utility>

#include "frontend/ir/semantics/arithmetic.hpp"

namespace eum::jit {

using namespace ir;

namespace {

/// Of an op on two dwords, read as numbers of type T.
template <Op op, class T, class Row>
void compute(Row& results, const Row& a, const Row& b) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto result = eval_lane<op>(static_cast<T>(a[i]), static_cast<T>(b[i]));
    if constexpr (op == Op::mul_wide) {
      results[i] = static_cast<std::uint32_t>(result.second);
    } else {
      results[i] = static_cast<std::uint32_t>(result);
    }
  }
}

bool is_known(Op op) {
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::and_:
    case Op::mul:
    case Op::shl:
    case Op::shr:
    case Op::asr:
    case Op::select:
    case Op::mul_wide:
      return true;
    default:
      return info(op).shape == Shape::Compare && op != Op::cmp_un;
  }
}
bool commutes(Op op) {
  return op == Op::add || op == Op::and_ || op == Op::mul || op == Op::mul_wide || op == Op::cmp_eq ||
         op == Op::cmp_ne;
}

/// An op that is_known().
template <class T, class Row>
void compute(Op op, Row& results, const Row& a, const Row& b, const Row& c) {
  switch (op) {
    case Op::add:
      return compute<Op::add, T>(results, a, b);
    case Op::sub:
      return compute<Op::sub, T>(results, a, b);
    case Op::and_:
      return compute<Op::and_, T>(results, a, b);
    case Op::mul:
      return compute<Op::mul, T>(results, a, b);
    case Op::shl:
      return compute<Op::shl, T>(results, a, b);
    case Op::shr:
      return compute<Op::shr, T>(results, a, b);
    case Op::asr:
      return compute<Op::asr, T>(results, a, b);
    case Op::mul_wide:
      return compute<Op::mul_wide, T>(results, a, b);
    case Op::cmp_eq:
      return compute<Op::cmp_eq, T>(results, a, b);
    case Op::cmp_ne:
      return compute<Op::cmp_ne, T>(results, a, b);
    case Op::cmp_lt:
      return compute<Op::cmp_lt, T>(results, a, b);
    case Op::cmp_le:
      return compute<Op::cmp_le, T>(results, a, b);
    case Op::cmp_gt:
      return compute<Op::cmp_gt, T>(results, a, b);
    case Op::cmp_ge:
      return compute<Op::cmp_ge, T>(results, a, b);
    default:  // select
      for (std::size_t i = 0; i < results.size(); ++i) results[i] = a[i] != 0 ? b[i] : c[i];
  }
}

}  // namespace

NumberFunctions::Id NumberFunctions::find_or_add(const Function& function) {
  const auto found = std::ranges::find(functions_, function);
  if (found != functions_.end()) return static_cast<Id>(found - functions_.begin());
  if (functions_.size() == most) return none;
  functions_.push_back(function);
  quotients_.emplace_back();
  return static_cast<Id>(functions_.size() - 1);
}

NumberFunctions::Id NumberFunctions::identity(const Range& range) {
  return find_or_add({Op::splat, false, {range.low, range.high}});
}

NumberFunctions::Id NumberFunctions::constant(std::uint32_t bits) {
  return find_or_add({Op::constant, false, {bits}});
}

NumberFunctions::Id NumberFunctions::apply(Op op, bool is_signed, std::span<const Id> of) {
  if (!is_known(op) || std::ranges::find(of, none) != of.end()) return none;
  Function function{op, is_signed};
  std::ranges::copy(of, function.of.begin());
  if (commutes(op) && function.of[0] > function.of[1]) std::swap(function.of[0], function.of[1]);
  return find_or_add(function);
}

unsigned NumberFunctions::operands_of(const Function& function) {
  if (function.op == Op::splat || function.op == Op::constant) return 0;
  return function.op == Op::select ? 3 : 2;
}

std::optional<std::uint32_t> NumberFunctions::divisor(Id function) {
  if (function == none) return std::nullopt;
  if (!quotients_[function].is_asked) quotients_[function] = {true, find_divisor(function)};
  return quotients_[function].by;
}

void NumberFunctions::find_used(Id function) {
  used_.assign(functions_.size(), false);
  used_[function] = true;
  for (Id id = function + 1; id-- > 0;)
    for (unsigned k = 0; used_[id] && k < operands_of(functions_[id]); ++k)
      used_[static_cast<std::size_t>(functions_[id].of[k])] = true;
}

const NumberFunctions::Row& NumberFunctions::results(Id function, std::int64_t first, std::int64_t step) {
  rows_.resize(functions_.size());
  for (Id id = 0; id <= function; ++id) {
    if (!used_[id]) continue;
    const Function& own = functions_[id];
    if (own.op == Op::splat) {
      for (std::int64_t i = 0; i < at_once; ++i)
        rows_[id][static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(first + i * step);
    } else if (own.op == Op::constant) {
      rows_[id].fill(static_cast<std::uint32_t>(own.of[0]));
    } else {
      const auto row = [&](unsigned k) -> const Row& { return rows_[static_cast<std::size_t>(own.of[k])]; };
      (own.is_signed ? compute<std::int32_t, Row> : compute<std::uint32_t, Row>)(own.op, rows_[id], row(0),
                                                                                 row(1), row(2));
    }
  }
  return rows_[function];
}

/// The least number from 2 on of which the result is 1, if results do not decrease.
std::optional<std::int64_t> NumberFunctions::first_of_one(Id function, const Range& range) {
  const auto zeros = [&](std::int64_t first, std::int64_t step) {
    const Row& row = results(function, first, step);
    return std::ranges::find_if(row, [](std::uint32_t result) { return result != 0; }) - row.begin();
  };
  constexpr std::int64_t least = 2;
  const std::int64_t rows = zeros(least, at_once);
  const std::int64_t first = rows == 0 ? least : least + (rows - 1) * at_once + 1;
  const std::int64_t past = zeros(first, 1);
  const bool is_found =
      past < at_once && first + past <= range.high && rows_[function][static_cast<std::size_t>(past)] == 1;
  return is_found ? std::optional(first + past) : std::nullopt;
}

std::optional<std::uint32_t> NumberFunctions::find_divisor(Id function) {
  find_used(function);
  Range range{};
  for (Id id = 0; id <= function; ++id)
    if (used_[id] && functions_[id].op == Op::splat) range = {functions_[id].of[0], functions_[id].of[1]};
  const auto first = first_of_one(function, range);
  if (!first) return std::nullopt;
  const auto by = static_cast<std::uint32_t>(*first);
  for (std::int64_t from = range.low; from <= range.high; from += at_once) {
    const Row& row = results(function, from, 1);
    const std::int64_t count = std::min(at_once, range.high + 1 - from);
    bool is_right = true;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto x = static_cast<std::int32_t>(from + i);
      const std::uint32_t rest = static_cast<std::uint32_t>(x) - row[static_cast<std::size_t>(i)] * by;
      is_right &= (x < 0 ? 0 - rest : rest) < by;
    }
    if (!is_right) return std::nullopt;
  }
  return by;
}

}  // namespace eum::jit
