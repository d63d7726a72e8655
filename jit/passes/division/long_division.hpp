#pragma once
// A loop that divides: what is known of it, and the code that replaces it. The pass long_division looks for
// such loops (jit/passes/division/long_division.cpp); the code is made in long_division_code.cpp.
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/ir/builder.hpp"
#include "jit/analysis/channel_reads.hpp"
#include "jit/analysis/last_writes.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/analysis/loop_turns.hpp"
#include "jit/analysis/parked.hpp"
#include "jit/passes/division/divider.hpp"

namespace eum::jit {

class LongDivision {
 public:
  static constexpr unsigned last_bit = Divider::bits - 1;

  /// `values` is as for LoopTurns.
  LongDivision(ir::Function& function, const MayBeParked& parked, Loop loop, std::vector<Place> counter,
               std::vector<Lanes>& values);

  /// Whether the loop consists of divisions.
  bool check();
  /// Whether whatever else is used after the loop can be computed from their results.
  bool find_others(const Liveness& liveness, ChannelReads& reads);
  /// Replaces the loop by them. Blocks that are left without instructions are to be dropped.
  void replace();

 private:
  bool is_scalar() const { return dividers_.front().is_scalar(); }
  bool begins_with_zero(const Divider& divider) const;
  bool is_one_of_each_group() const;

  /// What a mask variable holds after the last turn: its old value, no channel, its old value and the active
  /// channels, or only these.
  enum class MaskBehind : std::uint8_t { Same, None, Added, Execution };
  bool check_ways();
  bool check_counter(const Turn& way);
  Term counter_behind(const Turn& way, unsigned group);
  std::optional<MaskBehind> mask_behind(std::size_t way, unsigned variable);
  std::optional<MaskBehind> mask_behind(std::size_t way, unsigned variable, unsigned group);
  bool check_costs();

  bool check_without_channels();
  bool keeps_masks(const Turn& way);
  bool note_results(const Turn& way, const Turn& other);

  /// A place that is used after the loop, and its term in the last turn.
  struct Other {
    Place at;
    Term term;
    const Divider* divider;  ///< of the channels that have the term; null: of all
    Term off = no_term;      ///< what the other channels have, if that differs
    bool operator==(const Other&) const = default;
    bool is_kept() const { return term == no_term; }
  };
  bool is_replaced(const Place& place) const;
  bool is_read(ChannelReads& reads, const Place& place) const;
  bool find_other(const Place& place);
  std::optional<Other> left_by(const std::vector<Turn>& ways, const Place& place, unsigned last);
  std::optional<Other> left_by(const Turn& way, const Place& place, unsigned turn);
  bool is_computable(const Divider* divider, Term term) const;

  // Code.
  struct Divided {
    ir::ValueId dividend, divisor, quotient, remainder;
  };
  Divided divide(ir::Builder& builder, const Divider& divider, ir::ValueId on, bool first_turn);
  void write(ir::Builder& builder, const Divider& divider, const Divided& divided, ir::ValueId on,
             bool first_turn);
  ir::ValueId read(ir::Builder& builder, Term part, ir::Type type, unsigned lanes, ir::ValueId on);
  void count(ir::Builder& builder, const std::map<std::uint64_t, std::uint64_t>& costs,
             const std::vector<ir::ValueId>& quotients);
  /// The values of terms in the last turn.
  struct TurnCode {
    const Divider* divider;
    Divided divided;
    ir::ValueId on;
    ir::ValueId shifted = ir::no_value;  // the remainder with the last bit in it
    std::map<Term, ir::ValueId> values{};
  };
  ir::ValueId constant(ir::Builder& builder, Term known, ir::Type type, unsigned lanes);
  ir::ValueId value_of(ir::Builder& builder, TurnCode& code, Term term, ir::Type type);
  ir::ValueId initial_of(ir::Builder& builder, TurnCode& code, Term term);
  void write_other(ir::Builder& builder, const Place& place, ir::ValueId value, ir::ValueId on);

  ir::Function& function_;
  Loop loop_;
  std::vector<Place> counter_;  // of one lane, or of each group
  Terms terms_;
  LoopTurns turns_;
  LastWrites before_;
  std::vector<Divider> dividers_;
  std::vector<Turn> ways_, ways_without_;  // through a turn; and with no channel active
  // The blocks after the last turn, and after the turn or turns with no channel active.
  ir::BlockId exit_ = ir::no_block, exit_without_ = ir::no_block;
  std::uint64_t counter_behind_ = 0, counter_without_ = 0;
  std::vector<MaskBehind> masks_;  // by variable
  std::uint64_t instructions_ = 0, instructions_without_ = 0;
  std::uint64_t one_without_ = 0;       // for one lane: additional ones if it gets a 1
  bool ends_without_channels_ = false;  // then there is one turn
  /// Which of the results of one lane that single turn writes.
  struct ResultWithout {
    bool is_written = true, is_kept = true;
  };
  std::vector<ResultWithout> results_without_;
  // Bits of the quotient, by the instructions that each adds if it is a 0, or a 1.
  std::map<std::uint64_t, std::uint64_t> zeros_, ones_;
  std::vector<Other> others_, others_without_;
};

}  // namespace eum::jit
