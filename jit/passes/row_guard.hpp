#pragma once
// When a loop may do several turns of one lane after the other: what is found out as it begins.
#include <optional>
#include <span>
#include <vector>

#include "frontend/ir/builder.hpp"
#include "jit/analysis/counted_loop.hpp"
#include "jit/passes/row_tiles.hpp"
#include "jit/passes/turn_values.hpp"

namespace eum::jit {

/// Turns that are left, as counters are in the builder's block: 0 may stand for 2^32.
ir::ValueId turns_left(ir::Builder& to, TurnValues& values, const CountedLoop::End& end);

class RowGuard {
 public:
  RowGuard(ir::Builder& to, TurnValues& values, const CountedLoop& loop)
      : to_(to), values_(values), loop_(loop) {}

  /// Appends what computes a number that is not 0 if a channel is inactive, counters do not all end with the
  /// same turn, or rows overlap or wrap around. `tiles`: those of lane 0. Nothing: that cannot be found out.
  std::optional<ir::ValueId> refusal(std::span<const TurnValues::Row> loaded, std::span<const RowTile> tiles);

 private:
  bool check_counters();
  bool check_loads(std::span<const TurnValues::Row> loaded);
  bool check_stores(std::span<const RowTile> tiles);
  void check_end(const CountedLoop::End& end);
  void check_low_zeros(const CountedLoop::Counter& counter);
  std::optional<ir::ValueId> begin_of(const RowTile& tile);

  void refuse(ir::ValueId mask);
  void refuse_if(ir::Op compare, ir::ValueId a, ir::ValueId b);
  void refuse_wrapping(ir::ValueId number, ir::ValueId by);
  void refuse_near(ir::ValueId low, ir::ValueId high, ir::ValueId bytes);

  ir::ValueId read(const CountedLoop::Counter& counter) {
    return to_.reg_read(ir::Type::u32, counter.lanes, counter.region());
  }
  ir::ValueId number(std::uint32_t value) { return to_.constant(ir::Type::u32, 1, value); }
  ir::ValueId in_all_turns(std::uint32_t each) { return to_.lanewise(ir::Op::mul, {left_, number(each)}); }

  ir::Builder& to_;
  TurnValues& values_;
  const CountedLoop& loop_;
  ir::ValueId left_ = ir::no_value;  ///< turns
  ir::ValueId bad_ = ir::no_value;
};

}  // namespace eum::jit
