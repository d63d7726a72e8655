#pragma once
// What a turn of a loop does in which all channels take part and go around again, as one block.
#include <optional>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/loop_turns.hpp"

namespace eum::jit {

struct LoopTrace {
  /// How a branch on the way goes.
  struct Branch {
    ir::ValueId mask;
    bool is_taken;
  };

  ir::BlockId block = ir::no_block;  ///< with copies of the instructions, but the branches
  ir::BlockId header = ir::no_block;
  std::vector<Branch> branches = {};
  /// Where the loop may lead when it is left. One of a single block has one.
  std::vector<ir::BlockId> exits = {};
  bool is_of_one_block = false;
};

/// Adds the block, to which nothing leads, behind all others. Its values have the ids that they have in the
/// loop, and what was done under the mask of active channels is done without one. Nothing: the way is not
/// clear.
std::optional<LoopTrace> trace_loop(ir::Function& function, const Loop& loop);

}  // namespace eum::jit
