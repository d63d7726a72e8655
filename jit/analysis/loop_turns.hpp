#pragma once
// What a turn of a loop does, in terms: which ways lead through it, for which values of its counter, and what
// registers, flags and masks hold after each. A branch that the counter decides splits the ways. One that
// channels decide is followed under their masks, as in most turns some channel takes it, and both ways if it
// is the one back to the header.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/parked.hpp"
#include "jit/analysis/terms.hpp"

namespace eum::jit {

/// A loop with a single entry.
struct Loop {
  ir::BlockId before = ir::no_block;  ///< leads to the header
  ir::BlockId header = ir::no_block;
  std::vector<bool> blocks;  ///< by block of the function: it is part of the loop
};

/// The loop whose last block is `latch`, if nothing but the end of one block leads into it, and it has no
/// more instructions than terms can be followed for.
std::optional<Loop> loop_of(const ir::Function& function,
                            const std::vector<std::vector<ir::BlockId>>& predecessors, ir::BlockId header,
                            ir::BlockId latch);
/// The same, if the block in front of it leads to nothing else.
std::optional<Loop> loop_behind_block(const ir::Function& function,
                                      const std::vector<std::vector<ir::BlockId>>& predecessors,
                                      ir::BlockId header, ir::BlockId latch);
/// By block: the last one from which control goes back to it, or no_block. Nothing: control may come from
/// anywhere.
std::optional<std::vector<ir::BlockId>> latches(const ir::Function& function);

/// Channels are followed in groups of eight, whose lanes all have one term.
inline constexpr unsigned group_lanes = 8;
using GroupTerms = std::array<Term, ir::max_lanes / group_lanes>;

/// The content of a place.
struct Cell {
  static constexpr std::uint8_t everywhere = 0xff;
  Place at;
  Term term = no_term;
  std::uint8_t group = everywhere;  ///< it has been written for active channels of this group alone
  bool is_unsure = false;           ///< written in a part that perhaps no channel entered
};

/// Blocks of a turn that are entered if a channel is in a mask.
struct Part {
  GroupTerms mask{};
  std::uint64_t instructions = 0;  ///< of the guest
};

/// A way through a turn.
struct Turn {
  Turns turns = 0;  ///< those that take it
  ir::BlockId leads_to = ir::no_block;
  std::uint64_t instructions = 0;  ///< of the guest, without those of `parts`
  std::vector<Part> parts;
  std::vector<std::pair<Term, bool>> chosen;  ///< how branches of one lane were decided
  std::vector<Cell> cells;                    ///< places that have been read or written
  std::vector<GroupTerms> masks;              ///< by variable

  /// Null: the place has been neither read nor written.
  const Cell* cell(const Place& place) const;
};

/// How many bytes of a place in the register file a reg_read or reg_write touches.
unsigned shared_bytes(const ir::Inst& access, const Place& place);

/// Whether the way leaves a place's initial value there.
bool is_kept(const Terms& terms, const Turn& way, Term initial);

/// A value: its lanes in groups, or its only one.
struct Lanes {
  GroupTerms terms{};
  unsigned count = 0;
};

class LoopTurns {
 public:
  /// Where a reg_write or flag_write writes; nothing if that cannot be expressed by places.
  static std::optional<std::vector<Place>> places_of(const ir::Inst& write);

  /// `values` has an entry for each of the function; their content does not matter, before and afterwards.
  LoopTurns(const ir::Function& function, const Loop& loop, const MayBeParked& parked, Terms& terms,
            std::vector<Lanes>& values);

  /// Follows ways through the turns from the header on, where `counter` is the counter: one lane, or a place
  /// of each group, where all active channels have the same number; false: it cannot follow some way. At
  /// least one channel is active.
  bool walk(std::span<const Place> counter, Turns turns);
  /// The same for a loop that channels leave one by one, whose turns load from memory or change it
  /// atomically: what they get from there is unknown.
  bool walk_with_memory() {
    follows_memory_ = true;
    return walk({}, ~Turns{0});
  }
  /// The same with no channel active; ways() are then those.
  bool walk_without_channels(std::span<const Place> counter, Turns turns);

  std::span<const Turn> ways() const { return ways_; }
  /// Whether another turn follows.
  bool goes_on(const Turn& way) const { return way.leads_to == loop_.header; }
  /// Whether some branch depends on which channels are active.
  bool asks_channels() const { return asks_channels_; }
  unsigned groups() const { return groups_; }
  /// The truth that a channel of the group is active before the turn.
  Term is_on(unsigned group) const { return before_[0][group]; }
  const std::vector<GroupTerms>& masks_before() const { return before_; }
  /// The term in these turns.
  Term in_turns(Term term, Turns turns) const { return decided(term, no_term, false, turns); }
  /// The same for a channel of the group that is active before these turns, or is not.
  Term in_channel(Term term, unsigned group, bool is_on, Turns turns) const {
    return decided(term, this->is_on(group), is_on, turns);
  }

 private:
  struct State {
    Turn way;
    ir::BlockId block;
    std::vector<bool> visited;
    ir::BlockId join = ir::no_block;       // where the current part ends
    std::vector<GroupTerms> masks_before;  // masks before that part
  };
  bool start(std::span<const Place> counter, Turns turns);
  bool follow(State state);
  bool leave(State& state, ir::BlockId next);
  bool end_part(State& state);
  bool begin_part(State& state, const ir::Inst& inst);
  bool branch(State state, const ir::Inst& inst);
  bool fork(const State& state, const ir::Inst& inst, Turns taken);
  bool fork_back(const State& state, const ir::Inst& inst);

  bool execute(const ir::Inst& inst, State& state);
  void write(const ir::Inst& inst, State& state);
  void compute(const ir::Inst& inst);
  Term read(State& state, const Place& place);
  void write(State& state, const Place& place, Term value, Term mask);
  void lose(State& state, std::uint32_t first, std::uint32_t end);
  static constexpr std::uint8_t nothing = 0xfe, not_found_yet = 0xfd;
  std::uint8_t part_of(Term mask);
  std::uint8_t find_part(Term mask);
  bool is_under(const Lanes& mask, const State& state) const;
  Term decided(Term term, Term truth, bool holds, Turns turns) const;

  Lanes& lanes(ir::ValueId value) { return values_[value]; }
  void set(ir::ValueId value, const GroupTerms& terms, unsigned count) { values_[value] = {terms, count}; }
  GroupTerms unknown();
  unsigned count_of(ir::ValueId value) const {
    const unsigned lanes = function_.values[value].lanes;
    return lanes % group_lanes == 0 ? lanes / group_lanes : 1;
  }

  const ir::Function& function_;
  const Loop& loop_;
  Terms& terms_;
  unsigned groups_;
  bool any_is_on_ = true, asks_channels_ = false, follows_memory_ = false;
  std::vector<GroupTerms> before_;
  std::vector<Turn> ways_;
  std::vector<Lanes>& values_;
  std::vector<std::uint8_t> parts_;  // part_of() by term
};

}  // namespace eum::jit
