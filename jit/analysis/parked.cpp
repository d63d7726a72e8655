// For each block the mask variables that, together with the execution mask, contain every channel with which
// the thread began.
#include "jit/analysis/parked.hpp"

#include <algorithm>
#include <optional>

#include "jit/analysis/mask_unions.hpp"
#include "jit/analysis/reconvergence.hpp"

namespace eum::jit {

using ir::BlockId;
using ir::Inst;
using ir::Op;
using ir::ValueId;

ParkedChannels::ParkedChannels(const ir::Function& function) : all_back_(function.blocks.size()) {
  using Variables = MaskUnions::Variables;
  if (function.mask_variables > MaskUnions::most_variables + 1) return;
  MaskUnions unions(function);
  std::vector<std::optional<Variables>> before(function.blocks.size());
  std::vector<BlockId> pending{0};
  before[0] = 0;
  while (!pending.empty()) {
    const BlockId block = pending.back();
    pending.pop_back();
    const Inst& terminator = function.blocks[block].insts.back();
    unions.follow(function.blocks[block]);
    for (const BlockId successor : ir::successors(terminator)) {
      if (successor == ir::no_block) continue;
      const bool none = terminator.op == Op::branch_any && successor == terminator.targets.fallthrough &&
                        successor != terminator.targets.taken;
      const Variables behind =
          unions.behind(*before[block], none ? unions.without_any(terminator) : std::nullopt);
      std::optional<Variables>& known = before[successor];
      const Variables all = known.value_or(0) | behind;
      if (known == all) continue;
      known = all;
      pending.push_back(successor);
    }
  }
  for (BlockId block = 0; block < function.blocks.size(); ++block) {
    const auto variable = reconverges_from(function, function.blocks[block]);
    all_back_[block] = variable && *variable <= MaskUnions::most_variables && before[block] &&
                       *before[block] != MaskUnions::anywhere &&
                       (*before[block] & ~(Variables{1} << *variable)) == 0;
  }
}

namespace {

/// The variable from which the mask has been read, and that still holds it after the block.
std::optional<std::uint64_t> held_by(const ir::Block& block, ValueId mask) {
  std::optional<std::uint64_t> variable;
  for (const Inst& inst : block.insts) {
    if (inst.op == Op::mask_get && inst.result == mask) variable = inst.imm;
    if (inst.op == Op::mask_set && variable == inst.imm) variable.reset();
  }
  return variable;
}

}  // namespace

MayBeParked::MayBeParked(const ir::Function& function)
    : before_(function.blocks.size(), BitSet(function.mask_variables)) {
  std::vector<bool> reached(function.blocks.size());
  std::vector<bool> is_pending(function.blocks.size());
  std::vector<BlockId> pending{0};
  reached[0] = is_pending[0] = true;
  while (!pending.empty()) {
    const BlockId block = pending.back();
    pending.pop_back();
    is_pending[block] = false;
    const BitSet behind_block = behind(function, block);
    const Inst& last = function.blocks[block].insts.back();
    for (const BlockId successor : ir::successors(last)) {
      if (successor == ir::no_block) continue;
      BitSet now = behind_block;
      // This edge is taken if no channel was in the variable.
      if (last.op == Op::branch_any && successor == last.targets.fallthrough &&
          successor != last.targets.taken)
        if (const auto asked = held_by(function.blocks[block], function.arg(last, 0))) now.reset(*asked);
      const BitSet all = before_[successor] | now;
      if (reached[successor] && all == before_[successor]) continue;
      reached[successor] = true;
      before_[successor] = all;
      if (is_pending[successor]) continue;
      is_pending[successor] = true;
      pending.push_back(successor);
    }
  }
}

BitSet MayBeParked::behind(const ir::Function& function, BlockId block) const {
  BitSet now = before_[block];
  std::vector<ValueId> zeros;
  for (const Inst& inst : function.blocks[block].insts) {
    if (inst.op == Op::constant && ir::is_mask(inst.type) && inst.imm == 0) zeros.push_back(inst.result);
    if (inst.op != Op::mask_set) continue;
    if (std::ranges::find(zeros, function.arg(inst, 0)) != zeros.end())
      now.reset(inst.imm);
    else
      now.set(inst.imm);
  }
  return now;
}

}  // namespace eum::jit
