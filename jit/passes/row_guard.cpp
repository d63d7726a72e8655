#include "jit/passes/row_guard.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace eum::jit {

using ir::Op;
using ir::Type;
using ir::ValueId;
using End = CountedLoop::End;

ValueId turns_left(ir::Builder& to, TurnValues& values, const End& end) {
  const auto first = [&](ValueId value) {
    return to.convert(Op::bitcast, Type::u32, *values.first_turn(value));
  };
  const ValueId next = first(end.next), limit = first(end.limit);
  const auto in_each = [&](std::uint32_t number) {
    return to.constant(Type::u32, to.lanes_of(next), number);
  };
  const auto [low, high] = end.increases ? std::pair(next, limit) : std::pair(limit, next);
  ValueId left = to.lanewise(Op::sub, {high, low});
  if (end.step > 1) {
    // Behind the last turn it is negative.
    if (end.is_strict()) left = to.lanewise(Op::add, {left, in_each(end.step - 1)});
    const auto bits = static_cast<std::uint32_t>(std::countr_zero(end.step));
    const auto as_signed = [&](ValueId value) { return to.convert(Op::bitcast, Type::s32, value); };
    left = to.lanewise(Op::asr, {as_signed(left), as_signed(in_each(bits))});
    left = to.convert(Op::bitcast, Type::u32, left);
  }
  return to.lanewise(Op::add, {left, in_each(end.is_strict() ? 1 : 2)});
}

std::optional<ValueId> RowGuard::refusal(std::span<const TurnValues::Row> loaded,
                                         std::span<const RowTile> tiles) {
  left_ = to_.slice(turns_left(to_, values_, loop_.ends()[0]), 0, 1);
  bad_ = to_.mask_bits(Type::u32, to_.lanewise(Op::not_, {to_.mask_get(0)}));
  const bool is_known = check_counters() && check_loads(loaded) && check_stores(tiles);
  return is_known ? std::optional(bad_) : std::nullopt;
}

bool RowGuard::check_counters() {
  constexpr std::uint32_t most_turns = 1u << 22;  // times the bytes of a turn: less than 2^32
  refuse_if(Op::cmp_gt, left_, number(most_turns));
  for (const End& end : loop_.ends()) check_end(end);
  for (const CountedLoop::HighHalf& of : loop_.high_halves()) {
    const auto half = values_.first_turn(of.half), limit = values_.first_turn(of.limit);
    if (!half || !limit) return false;
    refuse_if(Op::cmp_ne, *half, *limit);
    const ValueId low = read(of.low);
    refuse_wrapping(low, in_all_turns(of.low.step));
  }
  for (const CountedLoop::Counter& counter : loop_.counters())
    if (counter.has_low_zeros) check_low_zeros(counter);
  return true;
}

/// As many turns have to be left for each counter, in each lane.
void RowGuard::check_end(const End& end) {
  const ValueId next = *values_.first_turn(end.next), limit = *values_.first_turn(end.limit);
  const Type type = to_.type_of(next);
  const unsigned lanes = to_.lanes_of(next);
  if (lanes > 1 || end != loop_.ends()[0]) {
    const ValueId own = turns_left(to_, values_, end);
    refuse_if(Op::cmp_ne, own, to_.splat(left_, lanes));
  }
  if (end.compare == Op::cmp_ne) return;
  refuse(to_.lanewise(Op::not_, {to_.compare(end.compare, next, limit)}));
  // What is compared when the comparison does not hold any more must not have wrapped around.
  const std::uint32_t behind = end.is_strict() ? end.step - 1 : end.step;
  if (behind == 0) return;
  const ValueId by = to_.constant(type, lanes, behind),
                last = to_.lanewise(end.increases ? Op::add : Op::sub, {limit, by});
  refuse_if(end.increases ? Op::cmp_lt : Op::cmp_gt, last, limit);
}

void RowGuard::check_low_zeros(const CountedLoop::Counter& counter) {
  const ValueId low = to_.constant(Type::u32, counter.lanes, counter.step - 1),
                set = to_.lanewise(Op::and_, {read(counter), low});
  refuse_if(Op::cmp_ne, set, to_.constant(Type::u32, counter.lanes, 0));
}

bool RowGuard::check_loads(std::span<const TurnValues::Row> loaded) {
  for (const TurnValues::Row& row : loaded) {
    const auto address = values_.first_turn(row.address);
    if (!address) return false;
    refuse_wrapping(*address, in_all_turns(row.bytes));
  }
  return true;
}

/// Each lane's row has to end before the next lane's begins, and the last one's before the next tile's.
bool RowGuard::check_stores(std::span<const RowTile> tiles) {
  std::vector<ValueId> begins;
  for (const RowTile& tile : tiles) {
    const auto begin = begin_of(tile);
    if (!begin) return false;
    begins.push_back(*begin);
  }
  const auto surface_of = [&](const RowTile& tile) { return to_.function().access(*tile.stores[0]).surface; };
  for (std::size_t k = 0; k < tiles.size(); ++k) {
    const unsigned lanes = tiles[k].stores[0]->lanes;
    const ValueId bytes = in_all_turns(tiles[k].bytes), last = to_.slice(begins[k], lanes - 1, 1);
    if (lanes > 1) {
      const ValueId low = to_.slice(begins[k], 0, lanes - 1), high = to_.slice(begins[k], 1, lanes - 1);
      refuse_near(low, high, bytes);
    }
    refuse_wrapping(last, bytes);
    const auto next = std::ranges::find(tiles.subspan(k + 1), surface_of(tiles[k]), surface_of);
    if (next != tiles.end())
      refuse_near(last, to_.slice(begins[static_cast<std::size_t>(next - tiles.begin())], 0, 1), bytes);
  }
  return true;
}

/// Where each lane's row begins, of all turns.
std::optional<ValueId> RowGuard::begin_of(const RowTile& tile) {
  const auto first = values_.first_turn(to_.function().arg(*tile.stores[0], 0));
  if (!first || !tile.goes_down()) return first;
  const ValueId others = to_.lanewise(Op::sub, {left_, number(1)}),
                above = to_.lanewise(Op::mul, {others, number(tile.bytes)});
  return to_.lanewise(Op::sub, {*first, to_.splat(above, to_.lanes_of(*first))});
}

void RowGuard::refuse(ValueId mask) { bad_ = to_.lanewise(Op::or_, {bad_, to_.mask_bits(Type::u32, mask)}); }
void RowGuard::refuse_if(Op compare, ValueId a, ValueId b) { refuse(to_.compare(compare, a, b)); }
/// Unless each number can be increased by so much.
void RowGuard::refuse_wrapping(ValueId number, ValueId by) {
  refuse_if(Op::cmp_gt, number, to_.splat(to_.lanewise(Op::not_, {by}), to_.lanes_of(number)));
}
/// Unless `low` is so many bytes or more below `high`.
void RowGuard::refuse_near(ValueId low, ValueId high, ValueId bytes) {
  refuse_if(Op::cmp_ge, low, high);
  const ValueId gap = to_.lanewise(Op::sub, {high, low});
  refuse_if(Op::cmp_lt, gap, to_.splat(bytes, to_.lanes_of(low)));
}

}  // namespace eum::jit
