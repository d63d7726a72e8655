#include "jit/passes/division/divider.hpp"

#include <algorithm>
#include <bit>

namespace eum::jit {

using namespace ir;

namespace {

bool is_computed(const Terms& terms, Term term, Op op, Type type) {
  const Terms::Entry& entry = terms[term];
  return entry.kind == Terms::Kind::Computed && entry.op == op && entry.type == type;
}

bool is_initial_of(const Terms& terms, Term term, unsigned bytes) {
  return terms[term].kind == Terms::Kind::Initial && terms.place(term).space == Place::File &&
         terms.place(term).bytes == bytes;
}

/// The term of which this one is twice; no_term: there is none.
Term half_of(const Terms& terms, Term term, Type type) {
  const auto& args = terms[term].args;
  if (is_computed(terms, term, Op::shl, type) && terms.is(args[1], 1)) return args[0];
  return is_computed(terms, term, Op::add, type) && args[0] == args[1] ? args[0] : no_term;
}

/// The initial value of which the term is twice, plus one bit; no_term: it is not that.
Term shifted_from(const Terms& terms, Term term, Type type) {
  const auto initial = [&](Term half) {
    return half != no_term && is_initial_of(terms, half, size_of(type)) ? half : no_term;
  };
  if (!is_computed(terms, term, Op::or_, type)) return initial(half_of(terms, term, type));
  const auto& args = terms[term].args;
  const Term first = initial(half_of(terms, args[0], type));
  return first != no_term ? first : initial(half_of(terms, args[1], type));
}

/// The same for a high half, whose bit comes from the top of `low`.
Term shifted_high_from(const Terms& terms, Term term, Term& low) {
  if (!is_computed(terms, term, Op::or_, Type::u32)) return no_term;
  for (const unsigned k : {0u, 1u}) {
    const Term half = half_of(terms, terms[term].args[k], Type::u32), top = terms[term].args[1 - k];
    if (half == no_term || !is_initial_of(terms, half, 4)) continue;
    if (!is_computed(terms, top, Op::shr, Type::u32) || !terms.is(terms[top].args[1], 31)) continue;
    low = terms[top].args[0];
    if (is_initial_of(terms, low, 4)) return half;
  }
  return no_term;
}

/// A sum of terms, each added or subtracted.
struct Sum {
  static constexpr unsigned most_depth = 4;
  std::vector<Term> plus, minus;
  std::uint64_t constant = 0;

  void add(const Terms& terms, Term term, Type type, bool is_minus, unsigned depth = 0) {
    const Terms::Entry& entry = terms[term];
    const bool is_sum = is_computed(terms, term, Op::add, type) || is_computed(terms, term, Op::sub, type);
    if (is_sum && depth < most_depth) {
      add(terms, entry.args[0], type, is_minus, depth + 1);
      add(terms, entry.args[1], type, is_minus != (entry.op == Op::sub), depth + 1);
    } else if (terms.is_constant(term)) {
      constant += is_minus ? 0 - terms.value(term, 0) : terms.value(term, 0);
    } else {
      (is_minus ? minus : plus).push_back(term);
    }
  }
  void finish(Type type) {
    constant &= ones_of(type);
    std::ranges::sort(plus);
    std::ranges::sort(minus);
  }
  bool operator==(const Sum&) const = default;
};

/// Whether the term is a - b - borrow.
bool is_difference(const Terms& terms, Term term, Type type, Term a, Term b, unsigned borrow) {
  Sum found, wanted;
  found.add(terms, term, type, false);
  wanted.add(terms, a, type, false);
  wanted.add(terms, b, type, true);
  wanted.constant -= borrow;
  found.finish(type);
  wanted.finish(type);
  return found == wanted;
}

}  // namespace

std::vector<Divider> Divider::find(Terms& terms, const LoopTurns& turns) {
  std::vector<Divider> found;
  const auto is_input = [&](Term term) {
    return terms.is_known(term) ||
           (terms[term].kind == Terms::Kind::Initial && terms.place(term).space == Place::File);
  };
  const auto add = [&](Number remainder, Number divisor) {
    if (!is_input(divisor.low) || (!divisor.is_whole() && !is_input(divisor.high))) return;
    const auto is_it = [&](const Divider& other) { return other.remainder_.low == remainder.low; };
    if (std::ranges::any_of(found, is_it)) return;
    Divider divider;
    divider.lanes_ = terms.place(remainder.low).lanes;
    divider.remainder_ = remainder;
    divider.divisor_ = divisor;
    found.push_back(divider);
  };
  // As in active channels.
  const auto if_on = [&](const Terms::Entry&, Term term) {
    for (unsigned group = 0; group < turns.groups(); ++group)
      if (term == turns.is_on(group)) return terms.truth(true);
    return no_term;
  };
  std::vector<Term> comparisons;
  Terms::Rebuilt now(terms, turns.ways().front().turns, if_on);
  for (Term term = 0, size = static_cast<Term>(terms.size()); term < size; ++term)
    if (terms[term].kind == Terms::Kind::Computed &&
        (terms[term].op == Op::cmp_eq || terms[term].op == Op::cmp_lt))
      comparisons.push_back(now(term));
  for (const Term term : comparisons) {
    const auto args = terms[term].args;
    if (is_computed(terms, term, Op::cmp_lt, Type::u64)) {
      const Term low = shifted_from(terms, args[0], Type::u64);
      if (low != no_term) add({low, no_term}, {args[1], no_term});
    }
    if (!is_computed(terms, term, Op::cmp_eq, Type::u32)) continue;
    for (const unsigned k : {0u, 1u}) {
      Term low = no_term;
      const Term high = shifted_high_from(terms, args[k], low), divisor_high = args[1 - k];
      if (high == no_term) continue;
      for (const Term other : comparisons)
        if (is_computed(terms, other, Op::cmp_lt, Type::u32) &&
            shifted_from(terms, terms[other].args[0], Type::u32) == low)
          add({low, high}, {terms[other].args[1], divisor_high});
    }
  }
  return found;
}

std::span<const Divider::Outcome> Divider::outcomes(const Terms& terms) const {
  static constexpr Outcome whole[]{{0, true}, {0, false}};
  static constexpr Outcome halves[]{{-1, true}, {-1, false}, {0, true}, {0, false}, {1, true}, {1, false}};
  if (remainder_.is_whole()) return whole;
  return std::span(halves).subspan(terms.is(divisor_.high, 0) ? 2 : 0);  // nothing is below 0
}

/// What a comparison of the remainder gives; no_term: the entry is none.
Term Divider::decide(Terms& terms, const Terms::Entry& entry, const Outcome& outcome) {
  if (entry.kind != Terms::Kind::Computed) return no_term;
  const auto& args = entry.args;
  const Type type = remainder_.is_whole() ? Type::u64 : Type::u32;
  if (entry.op == Op::cmp_lt && entry.type == type && args[1] == divisor_.low &&
      shifted_from(terms, args[0], type) == remainder_.low) {
    if (shifted_.low != no_term && shifted_.low != args[0]) is_ambiguous_ = true;
    shifted_.low = args[0];
    return terms.truth(outcome.low_is_below);
  }
  if (remainder_.is_whole() || entry.type != type) return no_term;
  const auto is_high = [&](Term term) {
    Term low = no_term;
    if (shifted_high_from(terms, term, low) != remainder_.high || low != remainder_.low) return false;
    shifted_.high = term;
    return true;
  };
  if (entry.op == Op::cmp_lt && args[1] == divisor_.high && is_high(args[0]))
    return terms.truth(outcome.high < 0);
  if (entry.op == Op::cmp_eq)
    for (const unsigned k : {0u, 1u})
      if (args[1 - k] == divisor_.high && is_high(args[k])) return terms.truth(outcome.high == 0);
  return no_term;
}

Terms::Rebuilt Divider::rebuilt(Terms& terms, Turns turns, Term on, const Outcome& outcome) {
  return {terms, turns, [this, &terms, on, outcome](const Terms::Entry& entry, Term term) {
            return term == on ? terms.truth(true) : decide(terms, entry, outcome);
          }};
}

bool Divider::check(Terms& terms, const LoopTurns& turns) {
  // The channels are those under whose mask the remainder is written.
  const auto goes_on = [&](const Turn& way) { return turns.goes_on(way); };
  const auto way = std::ranges::find_if(turns.ways(), goes_on);
  if (way == turns.ways().end()) return false;
  const Cell* cell = way->cell(terms.place(remainder_.low));
  if (cell == nullptr || (cell->group == Cell::everywhere) != is_scalar()) return false;
  group_ = is_scalar() ? 0 : cell->group;
  if (group_ >= turns.groups()) return false;
  for (const Turn& each : turns.ways())
    for (const Cell& other : each.cells)
      if (is_scalar() || other.group == group_) add_candidate(other.at);
  for (const Turn& each : turns.ways())
    if (!check_way(terms, turns, each)) return false;
  find_results(terms);
  return find_dividend(terms) && !is_ambiguous_;
}

void Divider::add_candidate(const Place& at) {
  if (at.space != Place::File || at.lanes != lanes_ || (at.bytes != 4 && at.bytes != 8)) return;
  if (std::ranges::find(candidates_, at, &Candidate::at) != candidates_.end()) return;
  candidates_.push_back({at, {}, true});
  ends_.push_back({at, true, true, true, no_term, std::nullopt});
}

bool Divider::check_way(Terms& terms, const LoopTurns& turns, const Turn& way) {
  if (is_scalar() ? !way.parts.empty() : !way.chosen.empty()) return false;
  shifted_ = {};
  is_of_one_.assign(way.parts.size(), std::nullopt);
  masks_behind_.emplace_back();
  for (const Outcome& outcome : outcomes(terms))
    if (!check_outcome(terms, turns, way, outcome)) return false;
  if (!find_bits(terms, way.turns) || (!is_scalar() && !note_costs(way))) return false;
  const auto is_kept_or_none = [&](Term part) {
    return part == no_term || terms.is_known(part) || is_kept(terms, way, part);
  };
  return std::ranges::all_of(std::array{divisor_.low, divisor_.high, dividend_.low, dividend_.high},
                             is_kept_or_none);
}

bool Divider::is_possible(Terms& terms, const Turn& way, Terms::Rebuilt& now) const {
  return std::ranges::all_of(way.chosen, [&](const auto& choice) {
    return terms.truth(now(choice.first), way.turns) != !choice.second;
  });
}

bool Divider::check_outcome(Terms& terms, const LoopTurns& turns, const Turn& way, const Outcome& outcome) {
  Terms::Rebuilt now = rebuilt(terms, way.turns, is_scalar() ? no_term : turns.is_on(group_), outcome);
  const bool one = !outcome.is_below();
  for (const auto& [asked, was] : way.chosen)
    if (!terms.truth(now(asked), way.turns)) return false;
  if (!is_possible(terms, way, now)) return true;
  if (!check_parts(terms, way, now, one)) return false;
  if (is_scalar() && !note_cost(way.turns, one ? &Cost::one : &Cost::zero, way.instructions)) return false;
  if (!is_scalar()) note_masks(way, now);
  if (!turns.goes_on(way)) {
    check_ends(terms, way, now, outcome);
    return true;
  }
  check_quotients(terms, way, now, one);
  return is_remainder(terms, half_behind(terms, way, terms.place(remainder_.low), now), false, outcome) &&
         (remainder_.is_whole() ||
          is_remainder(terms, half_behind(terms, way, terms.place(remainder_.high), now), true, outcome));
}

/// For a division of one lane.
std::optional<bool> Divider::bit_of(Terms& terms, const Turn& way) {
  std::optional<bool> bit;
  for (const Outcome& outcome : outcomes(terms)) {
    Terms::Rebuilt now = rebuilt(terms, way.turns, no_term, outcome);
    if (!is_possible(terms, way, now)) continue;
    if (bit && *bit == outcome.is_below()) return std::nullopt;
    bit = !outcome.is_below();
  }
  return bit;
}

void Divider::note_masks(const Turn& way, Terms::Rebuilt& now) {
  std::vector<Term>& noted = masks_behind_.back();
  const bool is_first = noted.empty();
  noted.resize(way.masks.size());
  for (std::size_t variable = 0; variable < noted.size(); ++variable) {
    const Term mask = now(way.masks[variable][group_]);
    if (is_first)
      noted[variable] = mask;
    else if (noted[variable] != mask)
      noted[variable] = no_term;
  }
}

/// Checks that each part is for channels that all get a 0, or all a 1.
bool Divider::check_parts(Terms& terms, const Turn& way, Terms::Rebuilt& now, bool one) {
  for (std::size_t part = 0; part < way.parts.size(); ++part) {
    const std::optional<bool> is_in = terms.truth(now(way.parts[part].mask[group_]), way.turns);
    if (!is_in || (is_of_one_[part] && *is_of_one_[part] != (*is_in == one))) return false;
    is_of_one_[part] = *is_in == one;
  }
  return true;
}

bool Divider::note_costs(const Turn& way) {
  std::uint64_t zero = 0, one = 0;
  for (std::size_t part = 0; part < way.parts.size(); ++part)
    (is_of_one_[part] == true ? one : zero) += way.parts[part].instructions;
  return note_cost(way.turns, &Cost::always, way.instructions) && note_cost(way.turns, &Cost::zero, zero) &&
         note_cost(way.turns, &Cost::one, one);
}

bool Divider::note_cost(Turns turns, std::optional<std::uint64_t> Cost::*which, std::uint64_t count) {
  for (Turns left = turns; left != 0; left &= left - 1) {
    Cost& cost = costs_[static_cast<unsigned>(std::countr_zero(left))];
    if (is_scalar()) cost.always = 0;
    if (cost.*which && *(cost.*which) != count) return false;
    cost.*which = count;
  }
  return true;
}

// ---- What turns leave

/// The content of a place after a turn; no_term: it was written for other channels too.
Term Divider::half_behind(Terms& terms, const Turn& way, const Place& place, Terms::Rebuilt& now) {
  const Cell* cell = way.cell(place);
  if (cell == nullptr) return terms.initial(place);
  if (!is_scalar() && cell->group != group_ && cell->term != terms.initial(place)) return no_term;
  return now(cell->term);
}

/// Whether the term is the remainder with the next bit in it, minus the divisor unless it is below that.
bool Divider::is_remainder(Terms& terms, Term term, bool is_high, const Outcome& outcome) const {
  const Term shifted = is_high ? shifted_.high : shifted_.low;
  if (term == no_term || shifted == no_term) return false;
  if (outcome.is_below()) return term == shifted;
  return is_difference(terms, term, remainder_.is_whole() ? Type::u64 : Type::u32, shifted,
                       is_high ? divisor_.high : divisor_.low, is_high && outcome.low_is_below ? 1 : 0);
}

/// After a 1 there must be the initial value with a bit set; after a 0, that value.
void Divider::check_quotients(Terms& terms, const Turn& way, Terms::Rebuilt& now, bool one) {
  for (Candidate& candidate : candidates_) {
    if (!candidate.is_quotient) continue;
    const std::optional<WithBits> behind = with_bits(terms, half_behind(terms, way, candidate.at, now));
    candidate.is_quotient = behind && behind->initial == terms.initial(candidate.at) &&
                            (one || terms.is(behind->bits, 0, way.turns));
    if (!candidate.is_quotient || !one) continue;
    for (Turns left = way.turns; left != 0; left &= left - 1) {
      const auto turn = static_cast<unsigned>(std::countr_zero(left));
      std::optional<std::uint64_t>& sets = candidate.sets[turn];
      const std::uint64_t bits_now = terms.value(behind->bits, turn);
      if (sets && *sets != bits_now) candidate.is_quotient = false;
      sets = bits_now;
    }
  }
}

void Divider::check_ends(Terms& terms, const Turn& way, Terms::Rebuilt& now, const Outcome& outcome) {
  for (End& end : ends_) {
    if (!end.low && !end.high && !end.quotient) continue;
    const Term term = half_behind(terms, way, end.at, now);
    if (term == no_term) {
      end.low = end.high = end.quotient = false;
      continue;
    }
    end.low = end.low && is_remainder(terms, term, false, outcome);
    end.high = end.high && !remainder_.is_whole() && is_remainder(terms, term, true, outcome);
    if (!end.quotient) continue;
    const std::optional<WithBits> behind = with_bits(terms, term);
    end.quotient = behind && (end.added_to == no_term || end.added_to == behind->initial);
    if (!end.quotient) continue;
    end.added_to = behind->initial;
    const std::uint64_t sets = terms.value(behind->bits, 0);
    if (outcome.is_below() ? sets != 0 : (end.sets && *end.sets != sets)) end.quotient = false;
    if (!outcome.is_below()) end.sets = sets;
  }
}

/// Splits a term into an initial value and known bits that are set in it.
std::optional<Divider::WithBits> Divider::with_bits(Terms& terms, Term term) {
  if (term == no_term) return std::nullopt;
  const Terms::Entry entry = terms[term];
  if (entry.kind == Terms::Kind::Initial) return WithBits{term, terms.constant(0)};
  if (entry.kind != Terms::Kind::Computed || entry.op != Op::or_) return std::nullopt;
  for (const unsigned k : {0u, 1u})
    if (terms[entry.args[k]].kind == Terms::Kind::Initial && terms.is_known(entry.args[1 - k]))
      return WithBits{entry.args[k], entry.args[1 - k]};
  return std::nullopt;
}

/// Turn c sets bit c of a quotient, if the place has that bit.
void Divider::find_results(const Terms& terms) {
  for (const End& end : ends_) {
    if (end.low) results_.push_back({end.at});
    if (end.high) results_.push_back({end.at, false, 32});
    if (!end.quotient || end.added_to == no_term || !end.sets) continue;
    const Place& place = terms.place(end.added_to);
    const auto candidate = std::ranges::find(candidates_, place, &Candidate::at);
    if (candidate == candidates_.end() || !candidate->is_quotient || place.bytes != end.at.bytes) continue;
    const unsigned width = 8 * place.bytes;
    for (unsigned first = 0; first < bits; first += width) {
      bool is_it = *end.sets == (first == 0 ? 1 : 0);
      for (unsigned turn = 1; turn < bits; ++turn) {
        const bool is_there = turn >= first && turn - first < width;
        is_it = is_it && candidate->sets[turn] == (is_there ? std::uint64_t{1} << (turn - first) : 0);
      }
      if (is_it) results_.push_back({end.at, true, first, place});
    }
  }
}

// ---- The dividend

namespace {

/// The term that selects by the counter choose in a turn.
Term chosen(const Terms& terms, Term term, unsigned turn) {
  while (terms[term].kind == Terms::Kind::Computed && terms[term].op == Op::select &&
         terms.is_known(terms[term].args[0]))
    term = terms[term].args[terms.value(terms[term].args[0], turn) != 0 ? 1 : 2];
  return term;
}

}  // namespace

/// The source of the term's bit 0 in a turn.
std::optional<Divider::Bit> Divider::low_bit(const Terms& terms, Term term, unsigned turn, unsigned depth) {
  constexpr unsigned most_depth = 6;
  term = chosen(terms, term, turn);
  const Terms::Entry& entry = terms[term];
  if (terms.is_known(term)) return Bit{no_term, static_cast<unsigned>(terms.value(term, turn) & 1)};
  if (entry.kind == Terms::Kind::Initial) return Bit{term, 0};
  if (entry.kind != Terms::Kind::Computed || entry.args[1] == no_term || depth == most_depth)
    return std::nullopt;
  const Term first = chosen(terms, entry.args[0], turn), second = chosen(terms, entry.args[1], turn);
  const unsigned width = 8 * size_of(entry.type);
  const auto amount = [&] { return static_cast<unsigned>(terms.value(second, turn) % width); };
  switch (entry.op) {
    case Op::shr:
      if (!terms.is_known(second) || terms[first].kind != Terms::Kind::Initial) return std::nullopt;
      return Bit{first, amount()};
    case Op::shl:
      if (!terms.is_known(second)) return std::nullopt;
      return amount() != 0 ? Bit{no_term, 0} : low_bit(terms, first, turn, depth + 1);
    case Op::or_:
    case Op::and_: {
      const std::optional<Bit> a = low_bit(terms, first, turn, depth + 1),
                               b = low_bit(terms, second, turn, depth + 1);
      if (!a || !b) return std::nullopt;
      const Bit neutral{no_term, entry.op == Op::and_ ? 1u : 0u};
      if (*a == neutral || *b == neutral) return *a == neutral ? b : a;
      return a->of == no_term ? a : b->of == no_term ? b : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

/// Finds the bit that each of these turns shifts in.
bool Divider::find_bits(const Terms& terms, Turns turns) {
  const Type type = remainder_.is_whole() ? Type::u64 : Type::u32;
  Term bit = no_term;
  if (is_computed(terms, shifted_.low, Op::or_, type)) {
    const auto& args = terms[shifted_.low].args;
    bit = half_of(terms, args[0], type) == remainder_.low ? args[1] : args[0];
    // It must be a single bit.
    const auto& own = terms[bit].args;
    if (terms.is_known(bit)) {
      for (Turns left = turns; left != 0; left &= left - 1)
        if (terms.value(bit, static_cast<unsigned>(std::countr_zero(left))) > 1) return false;
    } else if (!is_computed(terms, bit, Op::and_, type) ||
               !(terms.is(own[0], 1, turns) || terms.is(own[1], 1, turns))) {
      return false;
    }
  }
  for (Turns left = turns; left != 0; left &= left - 1) {
    const auto turn = static_cast<unsigned>(std::countr_zero(left));
    const std::optional<Bit> source = bit == no_term ? Bit{} : low_bit(terms, bit, turn);
    if (!source) return false;
    if (dividend_bits_[turn] && dividend_bits_[turn] != source) return false;
    dividend_bits_[turn] = source;
    if (source->of == no_term) continue;
    // Bit c of the whole, or of the half that contains it.
    const unsigned width = 8 * terms.place(source->of).bytes;
    if (source->index != turn % width || terms.place(source->of).space != Place::File) return false;
    if (width != (remainder_.is_whole() ? 64 : 32)) return false;
    Term& part = turn < width ? dividend_.low : dividend_.high;
    if (part != no_term && part != source->of) return false;
    part = source->of;
  }
  return true;
}

/// Each part of the dividend must be one term, or constant.
bool Divider::find_dividend(Terms& terms) {
  const unsigned width = remainder_.is_whole() ? 64 : 32;
  for (unsigned first = 0; first < bits; first += width) {
    Term& part = first == 0 ? dividend_.low : dividend_.high;
    std::uint64_t constant = 0;
    for (unsigned turn = first; turn < first + width; ++turn) {
      const std::optional<Bit>& bit = dividend_bits_[turn];
      if (!bit || bit->of != part) return false;
      if (part == no_term) constant |= std::uint64_t{bit->index} << (turn - first);
    }
    if (part == no_term) part = terms.constant(constant);
  }
  return true;
}

}  // namespace eum::jit
