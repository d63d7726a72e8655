#include "jit/passes/division/number_tables.hpp"

#include <algorithm>

namespace eum::jit {

using namespace ir;

namespace {

using Bits = std::vector<std::uint32_t>;

constexpr std::size_t most_tables = 64;

/// compute(a, b, c) for each number; a single result stands for all.
template <class Compute>
Bits for_each(const Bits& a, const Bits& b, const Bits& c, Compute compute) {
  Bits results(std::max({a.size(), b.size(), c.size()}));
  const auto step = [](const Bits& bits) { return bits.size() > 1 ? std::size_t{1} : 0; };
  const std::size_t of_a = step(a), of_b = step(b), of_c = step(c);
  for (std::size_t i = 0; i < results.size(); ++i)
    results[i] = compute(a[i * of_a], b[i * of_b], c[i * of_c]);
  return results;
}

bool commutes(Op op) {
  return op == Op::add || op == Op::and_ || op == Op::mul || op == Op::mul_wide || op == Op::cmp_eq ||
         op == Op::cmp_ne;
}

/// Empty: the op is not known here.
template <class T>
Bits computed_as(Op op, const Bits& a, const Bits& b, const Bits& c) {
  using U = std::uint32_t;
  const auto each = [&](auto compute) {
    return for_each(
        a, b, c, [&](U x, U y, U) { return static_cast<U>(compute(static_cast<T>(x), static_cast<T>(y))); });
  };
  switch (op) {
    case Op::add:
      return for_each(a, b, c, [](U x, U y, U) { return x + y; });
    case Op::sub:
      return for_each(a, b, c, [](U x, U y, U) { return x - y; });
    case Op::and_:
      return for_each(a, b, c, [](U x, U y, U) { return x & y; });
    case Op::mul:
      return for_each(a, b, c, [](U x, U y, U) { return x * y; });
    case Op::shl:
      return for_each(a, b, c, [](U x, U y, U) { return x << (y & 31); });
    case Op::shr:
      return for_each(a, b, c, [](U x, U y, U) { return x >> (y & 31); });
    case Op::asr:
      return for_each(a, b, c,
                      [](U x, U y, U) { return static_cast<U>(static_cast<std::int32_t>(x) >> (y & 31)); });
    case Op::select:
      return for_each(a, b, c, [](U on, U x, U y) { return on != 0 ? x : y; });
    case Op::mul_wide:
      return each([](T x, T y) { return static_cast<std::int64_t>(std::int64_t{x} * y) >> 32; });
    case Op::cmp_eq:
      return each([](T x, T y) { return x == y; });
    case Op::cmp_ne:
      return each([](T x, T y) { return x != y; });
    case Op::cmp_lt:
      return each([](T x, T y) { return x < y; });
    case Op::cmp_le:
      return each([](T x, T y) { return x <= y; });
    case Op::cmp_gt:
      return each([](T x, T y) { return x > y; });
    case Op::cmp_ge:
      return each([](T x, T y) { return x >= y; });
    default:
      return {};
  }
}

}  // namespace

NumberTables::Id NumberTables::find_or_begin(const Key& key, bool& is_new) {
  const auto found = std::ranges::find(tables_, key, &Table::made_by);
  is_new = found == tables_.end();
  if (!is_new) return static_cast<Id>(found - tables_.begin());
  if (tables_.size() == most_tables) return none;
  tables_.emplace_back().made_by = key;
  return static_cast<Id>(tables_.size() - 1);
}

NumberTables::Id NumberTables::identity(const Range& range) {
  bool is_new = false;
  const Id id = find_or_begin({Op::splat, false, {range.low, range.high}}, is_new);
  if (!is_new || id == none) return id;
  Table& table = tables_[id];
  table.first = range.low;
  for (std::int64_t x = range.low; x <= range.high; ++x) table.bits.push_back(static_cast<std::uint32_t>(x));
  return id;
}

NumberTables::Id NumberTables::constant(std::uint32_t bits) {
  bool is_new = false;
  const Id id = find_or_begin({Op::constant, false, {bits}}, is_new);
  if (is_new && id != none) tables_[id].bits = {bits};
  return id;
}

NumberTables::Id NumberTables::apply(Op op, bool is_signed, std::span<const Id> of) {
  Key key{op, is_signed};
  for (std::size_t k = 0; k < of.size(); ++k) {
    if (of[k] == none) return none;
    key.of[k] = of[k];
  }
  if (commutes(op)) std::ranges::sort(std::span(key.of).first(of.size()));
  bool is_new = false;
  const Id id = find_or_begin(key, is_new);
  if (!is_new || id == none) return id;
  static const Bits unused{0};
  std::array<const Bits*, 3> bits{&unused, &unused, &unused};
  for (std::size_t k = 0; k < of.size(); ++k) {
    bits[k] = &tables_[of[k]].bits;
    if (bits[k]->size() > 1) tables_[id].first = tables_[of[k]].first;
  }
  tables_[id].bits =
      (is_signed ? computed_as<std::int32_t> : computed_as<std::uint32_t>)(op, *bits[0], *bits[1], *bits[2]);
  if (!tables_[id].bits.empty()) return id;
  tables_.pop_back();
  return none;
}

std::optional<std::uint32_t> NumberTables::divisor(Id id) {
  if (id == none) return std::nullopt;
  Table& table = tables_[id];
  if (!table.is_asked) table.divisor = find_divisor(table);
  table.is_asked = true;
  return table.divisor;
}

std::optional<std::uint32_t> NumberTables::find_divisor(const Table& table) const {
  const auto past = table.first + static_cast<std::int64_t>(table.bits.size());
  const auto result_of = [&](std::int64_t x) {
    return static_cast<std::int32_t>(table.bits[static_cast<std::size_t>(x - table.first)]);
  };
  std::int64_t by = std::max<std::int64_t>(table.first, 2);
  while (by < past && result_of(by) == 0) ++by;
  if (by >= past || result_of(by) != 1) return std::nullopt;
  for (std::int64_t x = table.first; x < past; ++x)
    if (result_of(x) != x / by) return std::nullopt;
  return static_cast<std::uint32_t>(by);
}

}  // namespace eum::jit
