#pragma once
// A loop as long as all channels go around: which registers it counts in, what it accesses, when it ends.
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/loop_trace.hpp"
#include "jit/analysis/reductions.hpp"

namespace eum::jit {

struct LiveState;

class CountedLoop {
 public:
  /// Adjacent dwords of the register file, each of which increases by the same number in each turn.
  struct Counter {
    std::uint32_t offset = 0;  ///< bytes
    std::uint8_t lanes = 1;
    std::uint32_t step = 0;
    /// Whether the loop takes bits below the step, a power of two, for 0. They have to be when it begins.
    bool has_low_zeros = false;

    std::uint32_t end() const { return offset + lanes * 4u; }
    ir::Region region() const { return ir::Region::packed(offset); }
  };
  /// A comparison of what increases with counters with a limit that stays. Both are u32 or s32. The loop goes
  /// on while the comparison holds.
  struct End {
    ir::ValueId next, limit;
    ir::Op compare;  ///< cmp_lt and cmp_le, of what increases; cmp_gt and cmp_ge, of what decreases; cmp_ne
    std::uint32_t step;  ///< by which it does, a power of two; with cmp_ne 1
    bool increases;
    bool is_strict() const { return compare != ir::Op::cmp_le && compare != ir::Op::cmp_ge; }
    bool operator==(const End&) const = default;
  };
  using Insts = std::span<const ir::Inst* const>;

  /// Nothing: it does more than to compute, access memory and count until it ends. `trace` must stay.
  static std::optional<CountedLoop> of(const ir::Function& function, const LoopTrace& trace);

  const LoopTrace& trace() const { return trace_; }
  std::span<const Counter> counters() const { return counters_; }
  /// At least one. As long as the comparisons hold, channels that are active remain so, and the loop goes on.
  std::span<const End> ends() const { return ends_; }
  /// High halves of counters of 64 bits, compared with those of limits: the loop goes on as long as they are
  /// equal, and remain so because the low half does not wrap around.
  struct HighHalf {
    ir::ValueId half, limit;
    Counter low;  ///< counts up by at most most_step
    static constexpr std::uint32_t most_step = 256;
  };
  std::span<const HighHalf> high_halves() const { return high_halves_; }
  /// Whether the last turn differs from the others, as channels may leave one by one.
  bool ends_in_own_way() const { return !trace_.is_of_one_block || sets_masks_; }
  /// In their order, as are their addresses.
  Insts loads() const { return loads_; }
  Insts stores() const { return stores_; }
  /// What counts instructions in turns with some channel only.
  Insts spends() const { return spends_; }

  std::span<const Reduction> reductions() const { return reductions_; }

  /// The instruction of a turn that defines the value; null: none does.
  const ir::Inst* definition(ir::ValueId value) const;

  /// Whether nothing behind the loop needs what it writes to registers and flags, besides counters and
  /// reductions.
  bool is_dead_behind() const;

 private:
  /// A mask, if all channels are active and no counter reaches its limit.
  struct TurnMask {
    enum Kind : std::uint8_t { All, None, Variable, Unknown } kind;
    unsigned variable = 0;  ///< as the turn began
    bool operator==(const TurnMask&) const = default;
  };

  CountedLoop(const ir::Function& function, const LoopTrace& trace) : function_(function), trace_(trace) {}

  std::span<const ir::Inst> insts() const { return function_.blocks[trace_.block].insts; }
  bool is_dead_in(const LiveState& live) const;
  bool find_accesses();
  bool find_ends();
  std::optional<Counter> counter_of(const ir::Inst& write) const;
  const Counter* counter_at(std::uint32_t offset) const;
  TurnMask mask_of_turn(ir::ValueId value, unsigned depth = 0);
  bool ends_loop(const ir::Inst& compare);
  const Counter* read_counter(ir::ValueId value) const;
  const Counter* count_of(ir::ValueId value) const;
  bool sets_low_bits(const ir::Inst& inst, const Counter& counter, unsigned constant) const;
  bool stays(ir::ValueId value) const;
  ir::ValueId copied(ir::ValueId value) const;
  const ir::Inst* origin(ir::ValueId value) const;
  const Counter* low_half_of(ir::ValueId value) const;
  bool compares_high_halves(const ir::Inst& compare);
  std::optional<std::uint32_t> constant(ir::ValueId value) const;

  const ir::Function& function_;
  const LoopTrace& trace_;
  std::unordered_map<ir::ValueId, const ir::Inst*> by_;
  std::vector<const ir::Inst*> stores_, loads_, spends_, writes_;
  std::vector<Counter> counters_;
  std::vector<Reduction> reductions_;
  std::vector<End> ends_;
  std::vector<HighHalf> high_halves_;
  bool sets_masks_ = false;
};

}  // namespace eum::jit
