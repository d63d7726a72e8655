#pragma once
// What a lane of a loop stores in one turn, where each turn's adjoins that of the turn before.
#include <optional>
#include <vector>

#include "jit/analysis/counted_loop.hpp"
#include "jit/passes/turn_values.hpp"

namespace eum::jit {

/// Elements side by side, of one store or of several.
struct RowTile {
  std::vector<const ir::Inst*> stores;  ///< in the order of memory
  TurnSum place;                        ///< of the first one
  unsigned bytes = 0;                   ///< of all

  /// Whether the next turn's lies below.
  bool goes_down() const { return place.step != bytes; }
};

/// A lane's tiles, in the order of the stores. Nothing: a turn's do not adjoin those of the turn before.
std::optional<std::vector<RowTile>> tiles_of(const ir::Function& function, const CountedLoop& loop,
                                             TurnValues& values, unsigned lane);
/// Whether of what is stored the lane loads nothing but what it overwrites afterwards in the same turn.
bool keeps_order(const ir::Function& function, const CountedLoop& loop, TurnValues& values,
                 const std::vector<RowTile>& tiles, unsigned lane);

}  // namespace eum::jit
