#include "jit/analysis/counted_loop.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "jit/analysis/liveness.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;
using ir::Type;
using ir::ValueId;

constexpr unsigned slot_bytes = 32, dword = 4;

bool is_known(const Inst& inst) {
  switch (inst.op) {
    case Op::reg_read:
    case Op::reg_write:
    case Op::flag_read:
    case Op::flag_write:
    case Op::load:
    case Op::store:
    case Op::mask_get:
    case Op::mask_set:
    case Op::spend:
    case Op::jump:
      return true;
    default:
      return ir::is_pure(inst.op);
  }
}

/// The comparison with exchanged operands.
Op exchanged(Op compare) {
  switch (compare) {
    case Op::cmp_lt:
      return Op::cmp_gt;
    case Op::cmp_le:
      return Op::cmp_ge;
    case Op::cmp_gt:
      return Op::cmp_lt;
    case Op::cmp_ge:
      return Op::cmp_le;
    default:
      return compare;
  }
}

/// The sum of two numbers, not the carry.
bool is_low_sum(const Inst& inst, ValueId result) { return inst.op == Op::addc && inst.result == result; }

bool is_dword(Type type) { return ir::is_int(type) && ir::size_of(type) == dword; }
bool is_dwords(const Inst& access) {
  return is_dword(access.type) && access.region.stride(access.lanes) == 1;
}

}  // namespace

std::optional<CountedLoop> CountedLoop::of(const ir::Function& function, const LoopTrace& trace) {
  CountedLoop loop(function, trace);
  if (!loop.find_accesses() || !loop.find_ends()) return std::nullopt;
  return loop;
}

bool CountedLoop::find_accesses() {
  for (const Inst& inst : insts()) {
    if (!is_known(inst)) return false;
    for (unsigned k = 0; k < inst.result_count; ++k) by_[inst.result + k] = &inst;
    if (inst.op == Op::store) stores_.push_back(&inst);
    if (inst.op == Op::load) loads_.push_back(&inst);
    if (inst.op == Op::spend) spends_.push_back(&inst);
    if (inst.op == Op::reg_write) writes_.push_back(&inst);
  }
  for (const Inst* write : writes_)
    if (const auto counter = counter_of(*write)) counters_.push_back(*counter);
  for (Counter& counter : counters_)
    counter.has_low_zeros = std::ranges::any_of(insts(), [&](const Inst& inst) {
      return sets_low_bits(inst, counter, 0) || sets_low_bits(inst, counter, 1);
    });
  reductions_ = reductions_of(function_, trace_.block);
  std::erase_if(reductions_,
                [&](const Reduction& of) { return counter_at(of.offset) || low_half_of(of.result); });
  return true;
}

const Inst* CountedLoop::definition(ValueId value) const {
  const auto found = by_.find(value);
  return found == by_.end() ? nullptr : found->second;
}
std::optional<std::uint32_t> CountedLoop::constant(ValueId value) const {
  const Inst* inst = definition(value);
  if (inst && inst->op == Op::splat) inst = definition(function_.arg(*inst, 0));
  if (!inst || inst->op != Op::constant) return std::nullopt;
  return static_cast<std::uint32_t>(inst->imm);
}

/// The register that `write` increases, if nothing else writes it, and nothing reads it afterwards.
std::optional<CountedLoop::Counter> CountedLoop::counter_of(const Inst& write) const {
  if (!is_dwords(write) || write.mask != ir::no_value) return std::nullopt;
  const ValueId next = copied(function_.arg(write, 0));
  const Inst* sum = definition(next);
  const bool is_sum = sum && (sum->op == Op::add || sum->op == Op::sub || is_low_sum(*sum, next));
  if (!is_sum || sum->lanes != write.lanes) return std::nullopt;
  const auto old = [&](unsigned k) -> const Inst* {
    const Inst* read = definition(copied(function_.arg(*sum, k)));
    const bool is_same = read && read->op == Op::reg_read && is_dwords(*read) && read->lanes == write.lanes &&
                         read->region.offset == write.region.offset;
    return is_same ? read : nullptr;
  };
  const unsigned other = old(0) || sum->op == Op::sub ? 1 : 0;
  const auto step = constant(function_.arg(*sum, other));
  if (!old(1 - other) || !step) return std::nullopt;
  const auto overlaps = [&](const Inst& access) {
    return overlap(slots_of(access, dword), slots_of(write, dword));
  };
  if (std::ranges::count_if(writes_, [&](const Inst* other) { return overlaps(*other); }) != 1)
    return std::nullopt;
  bool is_written = false;
  for (const Inst& inst : insts()) {
    if (inst.op == Op::reg_read && is_written && overlaps(inst)) return std::nullopt;
    is_written |= inst.op == Op::reg_write && overlaps(inst);
  }
  return Counter{write.region.offset, write.lanes, sum->op == Op::sub ? 0u - *step : *step};
}
const CountedLoop::Counter* CountedLoop::counter_at(std::uint32_t offset) const {
  const auto found = std::ranges::find(counters_, offset, &Counter::offset);
  return found == counters_.end() ? nullptr : &*found;
}

/// Whether the loop goes on, with the channels that it has, as long as no counter has reached its limit.
bool CountedLoop::find_ends() {
  constexpr TurnMask all{TurnMask::All}, none{TurnMask::None};
  for (const auto& [mask, is_taken] : trace_.branches)
    if (mask_of_turn(mask) != (is_taken ? all : none)) return false;
  for (const Inst& inst : insts()) {
    if (inst.op != Op::mask_set) continue;
    sets_masks_ = true;
    const auto variable = static_cast<unsigned>(inst.imm);
    const TurnMask before = variable == 0 ? all : TurnMask{TurnMask::Variable, variable};
    if (mask_of_turn(function_.arg(inst, 0)) != before) return false;
  }
  return !ends_.empty();
}

CountedLoop::TurnMask CountedLoop::mask_of_turn(ValueId value, unsigned depth) {
  constexpr unsigned deepest = 16;
  const Inst* inst = definition(value);
  if (!inst || depth == deepest) return {TurnMask::Unknown};
  const auto operand = [&](unsigned k) { return mask_of_turn(function_.arg(*inst, k), depth + 1); };
  const auto inverse = [](TurnMask mask) {
    return mask.kind == TurnMask::All    ? TurnMask{TurnMask::None}
           : mask.kind == TurnMask::None ? TurnMask{TurnMask::All}
                                         : TurnMask{TurnMask::Unknown};
  };
  const auto both = [](TurnMask a, TurnMask b) {
    if (a.kind == TurnMask::All || b.kind == TurnMask::None) return b;
    return b.kind == TurnMask::All || a.kind == TurnMask::None ? a : TurnMask{TurnMask::Unknown};
  };
  const auto either = [](TurnMask a, TurnMask b) {
    if (a.kind == TurnMask::None || b.kind == TurnMask::All) return b;
    return b.kind == TurnMask::None || a.kind == TurnMask::All ? a : TurnMask{TurnMask::Unknown};
  };
  switch (inst->op) {
    case Op::mask_get:
      return inst->imm == 0 ? TurnMask{TurnMask::All}
                            : TurnMask{TurnMask::Variable, static_cast<unsigned>(inst->imm)};
    case Op::slice: {
      const TurnMask whole = operand(0);
      return whole.kind == TurnMask::Variable ? TurnMask{TurnMask::Unknown} : whole;
    }
    case Op::concat: {
      const TurnMask low = operand(0);
      return low == operand(1) && low.kind != TurnMask::Variable ? low : TurnMask{TurnMask::Unknown};
    }
    case Op::and_:
      return both(operand(0), operand(1));
    case Op::or_:
      return either(operand(0), operand(1));
    case Op::andn:
      return both(inverse(operand(0)), operand(1));
    case Op::not_:
      return inverse(operand(0));
    default:
      if (ends_loop(*inst)) return {TurnMask::All};
      if (!compares_high_halves(*inst)) return {TurnMask::Unknown};
      return {inst->op == Op::cmp_eq || inst->op == Op::cmp_le || inst->op == Op::cmp_ge ? TurnMask::All
                                                                                         : TurnMask::None};
  }
}

/// Whether the op compares a counter with a limit; notes that.
bool CountedLoop::ends_loop(const Inst& compare) {
  if (compare.type != Type::s32 && compare.type != Type::u32) return false;
  ValueId next = function_.arg(compare, 0), limit = function_.arg(compare, 1);
  Op op = compare.op;
  if (!count_of(next)) {
    std::swap(next, limit);
    op = exchanged(op);
  }
  const Counter* counter = count_of(next);
  if (!counter || !stays(limit)) return false;
  const bool increases = counter->step <= 0u - counter->step;
  const End end{next, limit, op, increases ? counter->step : 0u - counter->step, increases};
  const bool ends = op == Op::cmp_ne ? end.step == 1
                    : increases      ? op == Op::cmp_lt || op == Op::cmp_le
                                     : op == Op::cmp_gt || op == Op::cmp_ge;
  if (!ends || !std::has_single_bit(end.step)) return false;
  if (std::ranges::find(ends_, end) == ends_.end()) ends_.push_back(end);
  return true;
}

/// What the number is a copy of, in each lane or in another type.
ValueId CountedLoop::copied(ValueId value) const {
  for (const Inst* inst = definition(value); inst; inst = definition(value)) {
    if (inst->op != Op::splat && (inst->op != Op::bitcast || ir::size_of(inst->type) != dword)) break;
    value = function_.arg(*inst, 0);
  }
  return value;
}
const Inst* CountedLoop::origin(ValueId value) const {
  const ValueId from = copied(value);
  const Inst* inst = definition(from);
  // A carry is not what is meant.
  return inst && inst->op == Op::addc && !is_low_sum(*inst, from) ? nullptr : inst;
}

/// The counter whose carry is added to the number, its high half: that stays as long as the low half does not
/// wrap around.
const CountedLoop::Counter* CountedLoop::low_half_of(ValueId value) const {
  const ValueId from = copied(value);
  const Inst* sum = definition(from);
  if (!sum || sum->op != Op::add) return nullptr;
  for (const unsigned k : {0u, 1u}) {
    const ValueId carry = copied(function_.arg(*sum, k));
    const Inst *low = definition(carry), *read = definition(copied(function_.arg(*sum, 1 - k)));
    if (!low || low->op != Op::addc || is_low_sum(*low, carry) || !read || read->op != Op::reg_read) continue;
    const Counter* counter = read_counter(function_.arg(*low, 0));
    const bool is_carry =
        counter && constant(function_.arg(*low, 1)) == counter->step && counter->step <= HighHalf::most_step;
    const auto keeps = [&](const Inst* write) {
      return !overlap(slots_of(*read, 1), slots_of(*write, 1)) ||
             (write->region.offset == read->region.offset && write->lanes == read->lanes &&
              is_dwords(*write) && is_dwords(*read) && copied(function_.arg(*write, 0)) == from);
    };
    if (is_carry && std::ranges::all_of(writes_, keeps)) return counter;
  }
  return nullptr;
}

/// Whether the op compares such a number with one that stays; notes that they have to be equal.
bool CountedLoop::compares_high_halves(const Inst& compare) {
  if (ir::info(compare.op).shape != ir::Shape::Compare || !is_dword(compare.type)) return false;
  for (const unsigned k : {0u, 1u}) {
    const ValueId half = function_.arg(compare, k), limit = function_.arg(compare, 1 - k);
    const Counter* low = low_half_of(half);
    if (!low || !stays(limit)) continue;
    high_halves_.push_back({half, limit, *low});
    return true;
  }
  return false;
}

/// The counter that the number is, as the turn begins.
const CountedLoop::Counter* CountedLoop::read_counter(ValueId value) const {
  const Inst* read = origin(value);
  if (!read || read->op != Op::reg_read) return nullptr;
  const Counter* counter = counter_at(read->region.offset);
  return counter && counter->lanes == read->lanes && is_dwords(*read) ? counter : nullptr;
}

/// Whether the op sets bits of the counter below its step, one operand being a constant.
bool CountedLoop::sets_low_bits(const Inst& inst, const Counter& counter, unsigned constant) const {
  if (inst.op != Op::or_ || ir::is_mask(inst.type)) return false;
  const auto bits = this->constant(function_.arg(inst, constant));
  const Counter* other = read_counter(function_.arg(inst, 1 - constant));
  return bits && other && other->offset == counter.offset && std::has_single_bit(counter.step) &&
         *bits < counter.step;
}

/// The counter that the number is, but for a constant.
const CountedLoop::Counter* CountedLoop::count_of(ValueId value) const {
  if (const Counter* counter = read_counter(value)) return counter;
  const Inst* sum = origin(value);
  if (!sum || (sum->op != Op::add && sum->op != Op::sub && sum->op != Op::or_ && sum->op != Op::addc))
    return nullptr;
  for (unsigned k = 0; k < 2; ++k) {
    const Counter* counter = read_counter(function_.arg(*sum, k));
    if (!counter || !constant(function_.arg(*sum, 1 - k))) continue;
    const bool is_count = sum->op == Op::or_   ? sets_low_bits(*sum, *counter, 1 - k)
                          : sum->op == Op::sub ? k == 0
                                               : true;
    return is_count ? counter : nullptr;
  }
  return nullptr;
}

/// Whether the number is the same in each turn.
bool CountedLoop::stays(ValueId value) const {
  const Inst* inst = origin(value);
  if (!inst) return false;
  if (inst->op == Op::constant) return true;
  return inst->op == Op::reg_read && std::ranges::none_of(writes_, [&](const Inst* write) {
           return overlap(slots_of(*inst, 1), slots_of(*write, 1));
         });
}

bool CountedLoop::is_dead_behind() const {
  const Liveness liveness(function_, slot_bytes, false);
  return std::ranges::all_of(trace_.exits,
                             [&](ir::BlockId exit) { return is_dead_in(liveness.live_in(exit)); });
}

bool CountedLoop::is_dead_in(const LiveState& live) const {
  for (const Inst& inst : insts()) {
    const auto is_reduction = [&] {
      return std::ranges::count(reductions_, inst.region.offset, &Reduction::offset) != 0;
    };
    if (inst.op == Op::reg_write && !counter_at(inst.region.offset) && !is_reduction()) {
      const SlotRange range = slots_of(inst, slot_bytes);
      for (unsigned slot = range.first; slot <= range.last; ++slot)
        if ((live.bytes[slot] & bytes_of(inst, slot, slot_bytes)) != 0) return false;
    }
    if (inst.op != Op::flag_write) continue;
    for (unsigned bit = 0; bit < inst.lanes; ++bit)
      if (const std::size_t flag = inst.imm + bit; live.active_flags[flag] || live.inactive_flags[flag])
        return false;
  }
  return true;
}

}  // namespace eum::jit
