#include "jit/analysis/block_facts.hpp"

#include <algorithm>

namespace eum::jit {

using ir::BlockId;
using ir::Op;

std::vector<bool> blocks_in_loops(const ir::Function& function) {
  const auto blocks = static_cast<BlockId>(function.blocks.size());
  std::vector<BlockId> ends(blocks);  // of the loop that each block heads: after its last block
  for (BlockId block = 0; block < blocks; ++block)
    for (const BlockId target : ir::successors(function.blocks[block].insts.back()))
      if (target <= block) ends[target] = block + 1;
  std::vector<bool> found(blocks);
  BlockId end = 0;
  for (BlockId block = 0; block < blocks; ++block) {
    end = std::max(end, ends[block]);
    found[block] = block < end;
  }
  return found;
}

std::vector<bool> blocks_that_begin_runs(const ir::Function& function) {
  std::vector<bool> found(function.blocks.size());
  for (BlockId block = 0; block < function.blocks.size(); ++block) {
    const auto& insts = function.blocks[block].insts;
    if (has_computed_jumps(function.blocks[block])) return std::vector<bool>(found.size(), true);
    if (function.blocks[block].safepoint) found[block] = true;
    if (insts.back().op == Op::wait) found[insts.back().targets.taken] = true;
  }
  return found;
}

bool has_computed_jumps(const ir::Block& block) {
  return std::ranges::any_of(
      block.insts, [](const ir::Inst& inst) { return inst.op == Op::jump_ip || inst.op == Op::is_place; });
}

}  // namespace eum::jit
