// From each split, the blocks that follow in program order up to one that all paths lead to. No thread begins
// to run in one of them, so that all of them run after their split without a pause.
#include "jit/analysis/outer_masks.hpp"

#include <algorithm>
#include <optional>

#include "jit/analysis/block_facts.hpp"
#include "jit/analysis/mask_unions.hpp"
#include "jit/analysis/parked.hpp"
#include "jit/analysis/reconvergence.hpp"

namespace eum::jit {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::Op;
using ir::ValueId;
using Variables = MaskUnions::Variables;
using Part = MaskUnions::Part;
using Union = MaskUnions::Union;

Variables bit(std::uint64_t variable) { return Variables{1} << variable; }

bool changes_execution_mask(const ir::Block& block) {
  return std::ranges::any_of(block.insts,
                             [](const Inst& inst) { return inst.op == Op::mask_set && inst.imm == 0; });
}

class Finder {
 public:
  explicit Finder(const ir::Function& function)
      : function_(function),
        parked_(function),
        unions_(function),
        predecessors_(ir::predecessors(function)),
        begins_run_(blocks_that_begin_runs(function)) {}

  std::optional<OuterMasks::Split> find(BlockId block) {
    unions_.follow(function_.blocks[block]);
    std::optional<OuterMasks::Split> split = split_at_end(block);
    if (!split) return std::nullopt;
    const std::optional<BlockId> join = join_behind(block);
    if (!join) return std::nullopt;
    split->join = *join;
    return is_joined(*split) ? split : std::nullopt;
  }

 private:
  /// Variables that make up the mask, if it is all of them.
  static std::optional<Variables> wholes(const Union& mask) {
    if (!mask.exact || mask.parts.empty()) return std::nullopt;
    Variables found = 0;
    for (const Part& part : mask.parts) {
      if (!part.whole()) return std::nullopt;
      found |= bit(part.variable);
    }
    return found;
  }

  /// The variables of the parts for which the same condition holds, or does not.
  static std::optional<Variables> under(const Union& mask, ValueId condition, bool negated) {
    Variables found = 0;
    for (const Part& part : mask.parts) {
      if (part.whole()) continue;
      if (part.condition != condition || part.negated != negated) return std::nullopt;
      found |= bit(part.variable);
    }
    return found;
  }

  std::optional<OuterMasks::Split> split_at_end(BlockId block) {
    const auto& insts = function_.blocks[block].insts;
    const Union* const on = unions_.set(0);
    if (insts.back().op != Op::branch_any || on == nullptr || !on->exact || on->parts.empty() ||
        on->parts[0].whole())
      return std::nullopt;
    const Part& cut = on->parts[0];
    const auto all = under(*on, cut.condition, cut.negated);
    for (std::size_t i = insts.size(); all && i-- > 0;) {
      const Inst& park = insts[i];
      if (park.op != Op::mask_set || park.imm == 0 || parked_(block, park.imm)) continue;
      const Union& off = *unions_.set(park.imm);
      if (!off.exact || under(off, cut.condition, !cut.negated) != all) continue;
      for (std::size_t k = i; k-- > 0;) {
        const Inst& outer = insts[k];
        if (outer.result_count != 1 || !ir::is_mask(outer.type) || outer.lanes != function_.simd) continue;
        if (wholes(unions_.of(outer.result)) == all)
          return OuterMasks::Split{block, ir::no_block, outer.result, park.imm, 0, false};
      }
    }
    return std::nullopt;
  }

  /// The first block behind `block` that all paths from there lead to, if blocks in between are reached from
  /// there only, and each is visited at most once.
  std::optional<BlockId> join_behind(BlockId block) const {
    constexpr BlockId farthest = 64;
    BlockId join = block + 1;
    for (BlockId at = block; at < join; ++at) {
      if (at - block > farthest) return std::nullopt;
      for (const BlockId next : ir::successors(function_.blocks[at].insts.back())) {
        if (next == ir::no_block) continue;
        if (next <= at) return std::nullopt;
        join = std::max(join, next);
      }
    }
    if (join >= function_.blocks.size()) return std::nullopt;
    for (BlockId at = block + 1; at <= join; ++at) {
      if (begins_run_[at]) return std::nullopt;
      for (const BlockId from : predecessors_[at])
        if (from < block || from >= at) return std::nullopt;
    }
    return join;
  }

  /// Whether the execution mask after the join's reconvergence is the outer one. Also finds whether there are
  /// more splits.
  bool is_joined(OuterMasks::Split& split) {
    struct Before {
      Variables holders = 0;  ///< with the execution mask they contain all channels of the outer mask
      Variables within = ~Variables{0};  ///< contain no other channels
    };
    const auto variable = reconverges_from(function_, function_.blocks[split.join]);
    if (!variable) return false;
    // Follows from the split's end.
    Variables within = wholes(unions_.of(split.outer)).value();
    for (std::uint64_t k = 1; k < function_.mask_variables; ++k)
      if (!parked_(split.block, k)) within |= bit(k);
    within = unions_.within(within);
    std::vector<Before> before(split.join - split.block);
    const auto pass_on = [&](BlockId to, Variables holders, Variables only) {
      Before& known = before[to - split.block - 1];
      known.holders |= holders;
      known.within &= only;
    };
    for (const BlockId next : ir::successors(function_.blocks[split.block].insts.back()))
      pass_on(next, bit(split.parked), within);
    for (BlockId at = split.block + 1; at < split.join; ++at) {
      const Before here = before[at - split.block - 1];
      const ir::Block& block = function_.blocks[at];
      split.splits_again |= changes_execution_mask(block);
      unions_.follow(block);
      const Inst& last = block.insts.back();
      const Variables only = unions_.within(here.within);
      for (const BlockId next : ir::successors(last)) {
        if (next == ir::no_block) continue;
        const bool none =
            last.op == Op::branch_any && next == last.targets.fallthrough && next != last.targets.taken;
        pass_on(next, unions_.behind(here.holders, none ? unions_.without_any(last) : std::nullopt), only);
      }
    }
    const Before& end = before.back();
    const Variables joined = bit(*variable);
    return (end.holders & ~joined) == 0 && (end.within & (joined | 1)) == (joined | 1);
  }

  const ir::Function& function_;
  const MayBeParked parked_;
  MaskUnions unions_;
  const std::vector<std::vector<BlockId>> predecessors_;
  const std::vector<bool> begins_run_;
};

}  // namespace

OuterMasks::OuterMasks(const ir::Function& function) {
  if (function.mask_variables < 2 || function.mask_variables > MaskUnions::most_variables + 1) return;
  const std::vector<bool> in_loop = blocks_in_loops(function);  // elsewhere little waits for the mask
  if (std::ranges::none_of(in_loop, [](bool is) { return is; })) return;
  Finder finder(function);
  split_.assign(function.blocks.size(), none);
  join_ = split_;
  for (BlockId block = 0; block < function.blocks.size() && splits_.size() < most; ++block) {
    std::optional<Split> split = in_loop[block] ? finder.find(block) : std::nullopt;
    if (!split || join_[split->join] != none) continue;
    split->number = count();
    split_[block] = join_[split->join] = static_cast<std::uint8_t>(split->number);
    splits_.push_back(*split);
  }
}

}  // namespace eum::jit
