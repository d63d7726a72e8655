// Long division. No GEN divides 64 bits: compilers make a loop of 64 turns, one for each bit, of some forty
// instructions each. Hosts divide in one instruction per lane. A loop becomes quotients and remainders if
// every way through every turn is proved to be such a step; the instructions of its turns are still counted.
#include "jit/passes/division/long_division.hpp"

#include <algorithm>
#include <bit>
#include <memory>

#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {

using namespace ir;

LongDivision::LongDivision(Function& function, const MayBeParked& parked, Loop loop,
                           std::vector<Place> counter, std::vector<Lanes>& values)
    : function_(function),
      loop_(std::move(loop)),
      counter_(std::move(counter)),
      turns_(function, loop_, parked, terms_, values),
      before_(function, function.blocks[loop_.before]) {}

bool LongDivision::check() {
  if (!turns_.walk(counter_, ~Turns{0})) return false;
  dividers_ = Divider::find(terms_, turns_);
  if (dividers_.empty()) return false;
  for (Divider& divider : dividers_)
    if (!divider.check(terms_, turns_) || !begins_with_zero(divider)) return false;
  if (is_scalar() ? dividers_.size() != 1 : !is_one_of_each_group()) return false;
  ways_.assign(turns_.ways().begin(), turns_.ways().end());
  return check_ways() && check_costs() && check_without_channels();
}

bool LongDivision::begins_with_zero(const Divider& divider) const {
  const auto is_zero = [&](Term part) { return before_.holds(terms_.place(part), divider.group(), 0); };
  const Number& remainder = divider.remainder();
  return is_zero(remainder.low) && (remainder.is_whole() || is_zero(remainder.high));
}

bool LongDivision::is_one_of_each_group() const {
  std::vector<unsigned> dividers(turns_.groups());
  for (const Divider& divider : dividers_) {
    if (divider.is_scalar()) return false;
    ++dividers[divider.group()];
  }
  return std::ranges::all_of(dividers, [](unsigned count) { return count == 1; });
}

/// Turns must run from bit 63 down to bit 0, and then the loop must end; only there masks may change.
bool LongDivision::check_ways() {
  Turns go_on = 0;
  for (std::size_t number = 0; number < ways_.size(); ++number) {
    const Turn& way = ways_[number];
    const bool ends = !turns_.goes_on(way);
    if (!check_counter(way)) return false;
    std::vector<MaskBehind> masks;
    for (unsigned variable = 0; variable < function_.mask_variables; ++variable) {
      const std::optional<MaskBehind> mask = mask_behind(number, variable);
      if (!mask || (!ends && *mask != MaskBehind::Same)) return false;
      masks.push_back(*mask);
    }
    if (!ends) {
      go_on |= way.turns;
      continue;
    }
    if (way.turns != 1 || (exit_ != no_block && (exit_ != way.leads_to || masks_ != masks))) return false;
    exit_ = way.leads_to;
    masks_ = masks;
    counter_behind_ = terms_.value(counter_behind(way, 0), 0);
  }
  return exit_ != no_block && go_on == ~Turns{1};
}

/// The counter must go down by one, and end as one number.
bool LongDivision::check_counter(const Turn& way) {
  const Term less = terms_.compute(Op::sub, Type::u32, {terms_.counter(), terms_.constant(1)});
  const Term first = counter_behind(way, 0);
  for (unsigned group = 0; group < counter_.size(); ++group) {
    const Term behind = counter_behind(way, group);
    if (!terms_.is_known(behind)) return false;
    for (Turns left = way.turns; left != 0; left &= left - 1) {
      const auto turn = static_cast<unsigned>(std::countr_zero(left));
      if (terms_.value(behind, turn) != terms_.value(turns_.goes_on(way) ? less : first, turn)) return false;
    }
  }
  return true;
}

/// The counter after a turn, of active channels or of one lane.
Term LongDivision::counter_behind(const Turn& way, unsigned group) {
  const Cell& cell = *way.cell(counter_[group]);
  if (counter_[group].lanes > 1 && cell.group != group && cell.term != terms_.counter())
    return terms_.unknown();
  return turns_.in_channel(cell.term, group, true, way.turns);
}

std::optional<LongDivision::MaskBehind> LongDivision::mask_behind(std::size_t way, unsigned variable) {
  std::optional<MaskBehind> all;
  for (unsigned group = 0; group < turns_.groups(); ++group) {
    const std::optional<MaskBehind> one = mask_behind(way, variable, group);
    if (!one || (all && all != one)) return std::nullopt;
    all = one;
  }
  return all;
}

std::optional<LongDivision::MaskBehind> LongDivision::mask_behind(std::size_t number, unsigned variable,
                                                                  unsigned group) {
  const Turn& way = ways_[number];
  const Term before = turns_.masks_before()[variable][group];
  if (way.masks[variable][group] == before) return MaskBehind::Same;
  const auto divider = std::ranges::find(dividers_, group, &Divider::group);
  const Term mask = way.masks[variable][group], off = turns_.in_channel(mask, group, false, way.turns);
  const Term on =
      is_scalar() ? turns_.in_channel(mask, group, true, way.turns) : divider->mask_behind(number, variable);
  if (on == no_term) return std::nullopt;
  const std::optional<bool> is_on = terms_.truth(on, way.turns), is_off = terms_.truth(off, way.turns);
  if (variable == 0) {
    if (is_off != false || !is_on) return std::nullopt;
    return *is_on ? MaskBehind::Same : MaskBehind::None;
  }
  const bool was_none = terms_.is_known(before);
  if (is_off == false && is_on) {
    if (*is_on) return MaskBehind::Execution;
    return was_none ? MaskBehind::Same : MaskBehind::None;
  }
  if (off != before) return std::nullopt;
  return on == before    ? std::optional(MaskBehind::Same)
         : is_on == true ? std::optional(MaskBehind::Added)
                         : std::nullopt;
}

/// The guest instructions of all turns, and which bits of the quotient add more.
bool LongDivision::check_costs() {
  for (unsigned turn = 0; turn < Divider::bits; ++turn) {
    const Divider::Cost& cost = dividers_.front().costs()[turn];
    if (!cost.always || !cost.zero || !cost.one) return false;
    for (const Divider& divider : dividers_) {
      const Divider::Cost& other = divider.costs()[turn];
      if (other.always != cost.always || other.zero != cost.zero || other.one != cost.one) return false;
    }
    // One lane always takes one of the two.
    const std::uint64_t both = dividers_.front().is_scalar() ? std::min(*cost.zero, *cost.one) : 0;
    instructions_ += *cost.always + both;
    if (*cost.zero != both) zeros_[*cost.zero - both] |= std::uint64_t{1} << turn;
    if (*cost.one != both) ones_[*cost.one - both] |= std::uint64_t{1} << turn;
  }
  return instructions_ <= INT32_MAX;
}

/// With no channel active there are the same turns, or a single one, which for one lane does what the first
/// turn otherwise does.
bool LongDivision::check_without_channels() {
  const Turns first = Turns{1} << last_bit;
  if (!turns_.asks_channels()) return true;
  if (!turns_.walk_without_channels(counter_, first)) return false;
  const auto goes_on = [&](const Turn& way) { return turns_.goes_on(way); };
  ends_without_channels_ = std::ranges::none_of(turns_.ways(), goes_on);
  if (!ends_without_channels_ && !turns_.walk_without_channels(counter_, ~Turns{0})) return false;
  ways_without_.assign(turns_.ways().begin(), turns_.ways().end());
  const auto same_as = [&](const Turn& way) {
    return std::ranges::find_if(ways_, [&](const Turn& other) {
      return (way.turns & ~other.turns) == 0 && way.chosen == other.chosen;
    });
  };
  const auto is_same = [&](const Turn& way) {
    const auto same = same_as(way);
    return same != ways_.end() && same->leads_to == way.leads_to && same->instructions == way.instructions &&
           keeps_masks(way);
  };
  if (!ends_without_channels_) return !is_scalar() && std::ranges::all_of(ways_without_, is_same);
  if (std::ranges::count(loop_.blocks, true) < 2) return false;  // two blocks are needed to replace it
  std::optional<std::uint64_t> zero, one;
  for (const Turn& way : ways_without_) {
    if (exit_without_ != no_block && exit_without_ != way.leads_to) return false;
    exit_without_ = way.leads_to;
    if (!keeps_masks(way)) return false;
    if (counter_.front().lanes == 1) {
      const Term counter = counter_behind(way, 0);
      if (!terms_.is_known(counter)) return false;
      counter_without_ = terms_.value(counter, last_bit);
    }
    const auto same = same_as(way);
    if (same == ways_.end() || !note_results(way, *same)) return false;
    const bool is_any = !is_scalar() || way.chosen.empty();
    const std::optional<bool> bit = is_any ? std::nullopt : dividers_.front().bit_of(terms_, way);
    if (!is_any && !bit) return false;
    if (is_any || !*bit) zero = way.instructions;
    if (is_any || *bit) one = way.instructions;
  }
  if (!zero || !one || *one < *zero) return false;
  instructions_without_ = *zero;
  one_without_ = *one - *zero;
  return *zero <= INT32_MAX;
}

/// Whether the masks of inactive channels are kept, and no channel becomes active.
bool LongDivision::keeps_masks(const Turn& way) {
  for (unsigned variable = 0; variable < function_.mask_variables; ++variable)
    for (unsigned group = 0; group < turns_.groups(); ++group) {
      const Term before = turns_.masks_before()[variable][group];
      const Term off = turns_.in_channel(way.masks[variable][group], group, false, way.turns);
      if (variable == 0 ? terms_.truth(off, way.turns) != false : off != before) return false;
    }
  return true;
}

/// For a division of one lane: notes whether the way leaves in the place of each result what the other way
/// hands on, or what was there.
bool LongDivision::note_results(const Turn& way, const Turn& other) {
  if (!is_scalar()) return true;
  const auto term_at = [&](const Turn& of, const Place& place) {
    const Cell* cell = of.cell(place);
    return cell == nullptr ? terms_.initial(place) : cell->term;
  };
  const Divider& divider = dividers_.front();
  results_without_.resize(divider.results().size());
  for (std::size_t i = 0; i < results_without_.size(); ++i) {
    const Divider::Result& result = divider.results()[i];
    const Term part = result.first == 0 ? divider.remainder().low : divider.remainder().high;
    const Term handed_on = term_at(other, result.is_quotient ? result.added_to : terms_.place(part));
    const Term left = term_at(way, result.at);
    ResultWithout& without = results_without_[i];
    without.is_written = without.is_written && left == handed_on;
    without.is_kept = without.is_kept && left == terms_.initial(result.at);
    if (!without.is_written && !without.is_kept) return false;
  }
  return true;
}

// ---- What else is used after the loop

bool LongDivision::find_others(const Liveness& liveness, ChannelReads& reads) {
  const auto is_wanted = [&](const Inst& inst) {
    return liveness.is_written_for(inst, liveness.live_in(exit_)) ||
           (exit_without_ != no_block && liveness.is_written_for(inst, liveness.live_in(exit_without_)));
  };
  for (BlockId block = 0; block < function_.blocks.size(); ++block) {
    if (!loop_.blocks[block]) continue;
    for (const Inst& inst : function_.blocks[block].insts) {
      if ((inst.op != Op::reg_write && inst.op != Op::flag_write) || !is_wanted(inst)) continue;
      const std::optional<std::vector<Place>> places = LoopTurns::places_of(inst);
      if (!places) return false;
      for (const Place& place : *places)
        if (!is_replaced(place) && is_read(reads, place) && !find_other(place)) return false;
    }
  }
  return true;
}

bool LongDivision::is_replaced(const Place& place) const {
  const auto is_there = [&](const auto& known) { return known.at == place; };
  return std::ranges::find(counter_, place) != counter_.end() || std::ranges::any_of(others_, is_there) ||
         std::ranges::any_of(dividers_, [&](const Divider& divider) {
           return std::ranges::any_of(divider.results(), is_there);
         });
}

/// Whether something may read what the loop has written there.
bool LongDivision::is_read(ChannelReads& reads, const Place& place) const {
  std::uint8_t group = Cell::everywhere;
  for (const Turn& way : ways_) {
    const Cell* cell = way.cell(place);
    if (cell == nullptr) continue;
    if (group == Cell::everywhere) group = cell->group;
    if (group != cell->group) return true;
  }
  // With no channel active, nothing has been written for a group.
  if (group >= turns_.groups())
    return reads.may_read(place, exit_) ||
           (exit_without_ != no_block && reads.may_read(place, exit_without_));
  ChannelReads::Variables variables;
  for (unsigned variable = 0; variable < masks_.size() && variable < ChannelReads::most_variables; ++variable)
    if (masks_[variable] == MaskBehind::Added || masks_[variable] == MaskBehind::Execution ||
        (variable == 0 && masks_[0] == MaskBehind::Same))
      variables.set(variable);
  return reads.may_read(place, group, exit_, variables);
}

/// Finds what the place holds after the loop; false: that cannot be computed.
bool LongDivision::find_other(const Place& place) {
  const std::optional<Other> other = left_by(ways_, place, 0);
  if (!other || (!other->is_kept() && !is_computable(other->divider, other->term))) return false;
  if (!other->is_kept()) others_.push_back(*other);
  if ((other->divider != nullptr && other->off == no_term) || !turns_.asks_channels()) return true;
  // It is also written with no channel active.
  std::optional<Other> without = left_by(ways_without_, place, ends_without_channels_ ? last_bit : 0);
  if (!without) return false;
  if (!ends_without_channels_) return *without == *other;
  if (without->is_kept()) return true;
  if (without->off != no_term) *without = {place, without->off, nullptr};
  if (without->divider != nullptr || !terms_.is_known(without->term)) return false;
  others_without_.push_back(*without);
  return true;
}

/// What turns down to `last` leave there: the value of the last one or, if that keeps the old value, of a
/// turn before it, which must be known. No term: no turn writes there. Nothing: it is not a single term.
std::optional<LongDivision::Other> LongDivision::left_by(const std::vector<Turn>& ways, const Place& place,
                                                         unsigned last) {
  const Term initial = terms_.initial(place);
  for (unsigned turn = last; turn < Divider::bits; ++turn) {
    std::optional<Other> left;
    for (const Turn& way : ways) {
      if ((way.turns >> turn & 1) == 0) continue;
      const std::optional<Other> by_way = left_by(way, place, turn);
      if (!by_way || (left && *left != *by_way)) return std::nullopt;
      left = by_way;
    }
    if (!left || (turn != last && left->term != initial && !terms_.is_known(left->term))) return std::nullopt;
    if (left->term != initial) return left;
  }
  return Other{place, no_term, nullptr};
}

std::optional<LongDivision::Other> LongDivision::left_by(const Turn& way, const Place& place, unsigned turn) {
  const Other kept{place, terms_.initial(place), nullptr};
  const Cell* cell = way.cell(place);
  if (cell == nullptr || cell->term == kept.term) return kept;
  const auto in_turn = [&](const Divider* of, bool is_on) {
    return of == nullptr ? turns_.in_turns(cell->term, Turns{1} << turn)
                         : turns_.in_channel(cell->term, of->group(), is_on, Turns{1} << turn);
  };
  const Divider* divider = nullptr;
  Term off = no_term;
  if (cell->group != Cell::everywhere && !is_scalar()) {
    const auto own = std::ranges::find(dividers_, unsigned{cell->group}, &Divider::group);
    if (own == dividers_.end()) return std::nullopt;
    divider = &*own;
  } else if (!is_scalar() && place.lanes > 1 && !terms_.is_known(in_turn(nullptr, false))) {
    // Written for all channels, and then for active ones.
    for (const Divider& each : dividers_)
      if (const Term others = in_turn(&each, false); terms_.is_known(others)) {
        divider = &each;
        off = others;
      }
  }
  const Term term = in_turn(divider, true);
  return term == kept.term ? kept : Other{place, term, divider, off};
}

/// Whether the term of the last turn can be computed from the results of the division and what the loop
/// keeps.
bool LongDivision::is_computable(const Divider* divider, Term term) const {
  if (terms_.is_known(term)) return true;
  if (divider == nullptr) return false;
  const auto is_given = [&](Term initial) {
    const Place& place = terms_.place(initial);
    const auto is_it = [&](const Divider::Result& result) {
      return result.is_quotient && result.added_to == place;
    };
    return initial == divider->remainder().low || initial == divider->remainder().high ||
           std::ranges::any_of(divider->results(), is_it) ||
           (place.space == Place::File &&
            std::ranges::all_of(ways_, [&](const Turn& way) { return is_kept(terms_, way, initial); }));
  };
  return terms_.all_leaves(
      term, [&](Term leaf) { return terms_[leaf].kind == Terms::Kind::Initial && is_given(leaf); });
}

void long_division(Function& function) {
  if (function.simd < group_lanes || function.simd % group_lanes != 0) return;
  const auto latch_of = latches(function);
  if (!latch_of) return;
  // Few programs have many divisions, and only hostile ones have many loops that are almost divisions.
  constexpr std::size_t most_divisions = 256;
  unsigned failures_left = 32;
  std::optional<std::vector<std::vector<BlockId>>> before;
  std::optional<MayBeParked> parked;
  std::optional<Liveness> liveness;
  std::optional<ChannelReads> reads;
  std::vector<Lanes> values;
  std::vector<std::unique_ptr<LongDivision>> found;
  const auto look_at = [&](BlockId block, BlockId header) {
    const LastWrites writes(function, function.blocks[block]);
    for (std::vector<Place>& counter :
         writes.dwords_of(LongDivision::last_bit, function.simd / group_lanes)) {
      if (!before) {
        before = predecessors(function);
        parked.emplace(function);
        values.resize(function.values.size());
      }
      std::optional<Loop> loop = loop_behind_block(function, *before, header, (*latch_of)[header]);
      if (!loop || loop->before != block || failures_left == 0) return;
      auto division =
          std::make_unique<LongDivision>(function, *parked, std::move(*loop), std::move(counter), values);
      --failures_left;
      if (!division->check()) continue;
      if (!liveness) {
        constexpr unsigned slot_bytes = 32;
        liveness.emplace(function, slot_bytes, false);
        reads.emplace(function, *parked, *liveness);
      }
      if (!division->find_others(*liveness, *reads)) continue;
      ++failures_left;
      found.push_back(std::move(division));
      return;
    }
  };
  for (BlockId block = 0; block < function.blocks.size(); ++block) {
    const Inst& last = function.blocks[block].insts.back();
    if (last.op == Op::jump && (*latch_of)[last.targets.taken] != no_block && found.size() < most_divisions)
      look_at(block, last.targets.taken);
  }
  if (found.empty()) return;
  for (const auto& division : found) division->replace();
  drop_empty_blocks(function);
}

}  // namespace eum::jit
