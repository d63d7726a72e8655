#pragma once
// Division bit by bit in the turns of a loop: turn c shifts bit c of the dividend into the remainder and, if
// that is then not below the divisor, subtracts the divisor and sets bit c of the quotient. Such a loop is
// recognised by its terms, whatever instructions compute them, on halves or on 64 bits, in any order.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "jit/analysis/loop_turns.hpp"
#include "jit/analysis/terms.hpp"

namespace eum::jit {

/// A number of 64 bits: two terms of 32, low and high, or one.
struct Number {
  Term low = no_term, high = no_term;  ///< `high` is no_term if the number is one term
  bool is_whole() const { return high == no_term; }
};

/// One division: for a group of channels, or of one lane.
class Divider {
 public:
  static constexpr unsigned bits = 64;

  /// The divisions whose comparisons are among the terms of a loop.
  static std::vector<Divider> find(Terms& terms, const LoopTurns& turns);

  /// Checks all ways through the turns against the division, and finds its other parts; false: it is none.
  bool check(Terms& terms, const LoopTurns& turns);

  bool is_scalar() const { return lanes_ == 1; }
  unsigned group() const { return group_; }
  const Number& remainder() const { return remainder_; }
  const Number& divisor() const { return divisor_; }
  const Number& dividend() const { return dividend_; }
  /// What a place holds after the last turn: the remainder, or its high half, or bits of the quotient added
  /// to what the same or another place held before the first turn.
  struct Result {
    Place at;
    bool is_quotient = false;
    unsigned first = 0;  ///< bit of the whole
    Place added_to{};    ///< of a quotient
  };
  std::span<const Result> results() const { return results_; }

  /// Guest instructions of a turn: always, and in addition if the quotient gets a 0 or a 1; with several
  /// channels, if some channel's quotient does.
  struct Cost {
    std::optional<std::uint64_t> always, zero, one;
  };
  const std::array<Cost, bits>& costs() const { return costs_; }
  /// For one lane: the bit that the quotient gets in turns of this way.
  std::optional<bool> bit_of(Terms& terms, const Turn& way);

  /// For several channels: what a mask variable holds for active ones after a turn of way number `way`,
  /// whatever the numbers are; no_term: it depends on them.
  Term mask_behind(std::size_t way, unsigned variable) const { return masks_behind_[way][variable]; }

 private:
  /// How the remainder, with the next bit in it, compares with the divisor; each half if they are in halves.
  struct Outcome {
    int high = 0;  ///< below, equal, above
    bool low_is_below = false;
    bool is_below() const { return high < 0 || (high == 0 && low_is_below); }
  };
  std::span<const Outcome> outcomes(const Terms& terms) const;
  Terms::Rebuilt rebuilt(Terms& terms, Turns turns, Term on, const Outcome& outcome);
  Term decide(Terms& terms, const Terms::Entry& entry, const Outcome& outcome);
  void add_candidate(const Place& at);
  bool check_way(Terms& terms, const LoopTurns& turns, const Turn& way);
  bool check_outcome(Terms& terms, const LoopTurns& turns, const Turn& way, const Outcome& outcome);
  bool is_possible(Terms& terms, const Turn& way, Terms::Rebuilt& now) const;
  bool check_parts(Terms& terms, const Turn& way, Terms::Rebuilt& now, bool one);
  bool note_cost(Turns turns, std::optional<std::uint64_t> Cost::*which, std::uint64_t count);
  bool note_costs(const Turn& way);
  void note_masks(const Turn& way, Terms::Rebuilt& now);
  Term half_behind(Terms& terms, const Turn& way, const Place& place, Terms::Rebuilt& now);
  bool is_remainder(Terms& terms, Term term, bool is_high, const Outcome& outcome) const;
  void check_quotients(Terms& terms, const Turn& way, Terms::Rebuilt& now, bool one);
  void check_ends(Terms& terms, const Turn& way, Terms::Rebuilt& now, const Outcome& outcome);
  struct WithBits {
    Term initial, bits;
  };
  static std::optional<WithBits> with_bits(Terms& terms, Term term);
  void find_results(const Terms& terms);
  bool find_bits(const Terms& terms, Turns turns);
  bool find_dividend(Terms& terms);

  unsigned lanes_ = 0, group_ = 0;
  Number remainder_, divisor_, dividend_;
  Number shifted_;  // the remainder with the next bit in it, on the current way
  bool is_ambiguous_ = false;
  struct Bit {
    Term of = no_term;  ///< bit `index` of it; no_term: a constant
    unsigned index = 0;
    bool operator==(const Bit&) const = default;
  };
  static std::optional<Bit> low_bit(const Terms& terms, Term term, unsigned turn, unsigned depth = 0);
  std::array<std::optional<Bit>, bits> dividend_bits_;
  /// A place to which each turn may add a bit.
  struct Candidate {
    Place at;
    std::array<std::optional<std::uint64_t>, bits> sets;  // by turn: the bits
    bool is_quotient = true;
  };
  std::vector<Candidate> candidates_;
  /// What a place may hold after the last turn.
  struct End {
    Place at;
    bool low = true, high = true, quotient = true;
    Term added_to = no_term;            // for a quotient
    std::optional<std::uint64_t> sets;  // what is added in the last turn
  };
  std::vector<End> ends_;
  std::vector<Result> results_;
  std::vector<std::optional<bool>> is_of_one_;  // by part of the current way
  std::array<Cost, bits> costs_;
  std::vector<std::vector<Term>> masks_behind_;  // by way and variable
};

}  // namespace eum::jit
