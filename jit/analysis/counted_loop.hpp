#pragma once
// A loop of one block: which registers it counts in, what it accesses, and when it ends.
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "frontend/ir/function.hpp"

namespace eum::jit {

class CountedLoop {
 public:
  /// Adjacent dwords of the register file, each of which increases by the same number in each turn.
  struct Counter {
    std::uint32_t offset = 0;  ///< bytes
    std::uint8_t lanes = 1;
    std::uint32_t step = 0;

    std::uint32_t end() const { return offset + lanes * 4u; }
  };
  /// A comparison of counters, as they are in the next turn, with a limit that stays. Both are u32 or s32.
  struct End {
    ir::ValueId next, limit;
    bool is_ordered;  ///< the loop goes on while `next` is less than the limit; else while they differ
    bool operator==(const End&) const = default;
  };
  using Insts = std::span<const ir::Inst* const>;

  /// Nothing: the block does more than to compute, access memory and count until it goes back to itself.
  static std::optional<CountedLoop> of(const ir::Function& function, ir::BlockId block);

  ir::BlockId block() const { return block_; }
  /// Where it leads when it ends.
  ir::BlockId exit() const { return exit_; }
  std::span<const Counter> counters() const { return counters_; }
  /// At least one. As long as the comparisons hold, channels that are active remain so, and the loop goes on.
  std::span<const End> ends() const { return ends_; }
  /// Whether channels may leave it one by one.
  bool parts_channels() const { return parts_channels_; }
  /// In their order, as are their addresses.
  Insts loads() const { return loads_; }
  Insts stores() const { return stores_; }

  /// Whether the mask is none, or has the active channels.
  bool is_active(ir::ValueId mask) const;
  /// Whether nothing behind the loop needs what it writes to registers and flags, besides counters.
  bool is_dead_behind() const;

 private:
  /// A mask, if all channels are active and no counter reaches its limit.
  struct TurnMask {
    enum Kind : std::uint8_t { All, None, Variable, Unknown } kind;
    unsigned variable = 0;  ///< as the turn began
    bool operator==(const TurnMask&) const = default;
  };

  CountedLoop(const ir::Function& function, ir::BlockId block) : function_(&function), block_(block) {}

  std::span<const ir::Inst> insts() const { return function_->blocks[block_].insts; }
  bool find_accesses();
  bool find_ends();
  std::optional<Counter> counter_of(const ir::Inst& write) const;
  const Counter* counter_at(std::uint32_t offset) const;
  TurnMask mask_of_turn(ir::ValueId value, unsigned depth = 0);
  bool ends_loop(const ir::Inst& compare);
  bool is_next(ir::ValueId value) const;
  bool stays(ir::ValueId value) const;
  const ir::Inst* definition(ir::ValueId value) const;
  const ir::Inst* origin(ir::ValueId value) const;
  std::optional<std::uint32_t> constant(ir::ValueId value) const;

  const ir::Function* function_;
  ir::BlockId block_;
  ir::BlockId exit_ = ir::no_block;
  std::unordered_map<ir::ValueId, const ir::Inst*> by_;
  std::vector<const ir::Inst*> stores_, loads_, writes_;
  std::vector<Counter> counters_;
  std::vector<End> ends_;
  bool parts_channels_ = false;
};

}  // namespace eum::jit
