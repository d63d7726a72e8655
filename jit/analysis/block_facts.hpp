#pragma once
// What several passes ask of the blocks of a function.
#include <vector>

#include "frontend/ir/function.hpp"

namespace eum::jit {

/// The block's instruction that defines the value, or null. It looks at one after the other.
inline const ir::Inst* definition(const ir::Block& block, ir::ValueId value) {
  for (const ir::Inst& inst : block.insts)
    if (value >= inst.result && value < inst.result + inst.result_count) return &inst;
  return nullptr;
}

/// Which blocks are in a loop, if the blocks of a loop are contiguous.
std::vector<bool> blocks_in_loops(const ir::Function& function);

/// Whether the block jumps to a computed address, or asks whether there is code at one.
bool has_computed_jumps(const ir::Block& block);

/// At which blocks a run of a thread may begin, or a computed jump lead: safepoints, blocks behind barriers,
/// and all if there are computed jumps. The beginning of a thread does not count.
std::vector<bool> blocks_that_begin_runs(const ir::Function& function);

}  // namespace eum::jit
