#include "jit/analysis/row_walks.hpp"

#include <algorithm>
#include <optional>

#include "jit/analysis/loop_steps.hpp"

namespace eum::jit {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::Op;

/// Larger loops are skipped: the analysis takes long, and their time is not spent on such loads.
constexpr std::size_t most_blocks = 64, most_insts = 2048;
using Step = LoopSteps::Step;
/// A row would serve too few iterations with larger ones.
constexpr Step largest_step = 8;
/// Checking more surfaces whenever a row is fetched would take too long.
constexpr std::size_t most_written = 4;
/// Lanes that are no further apart share cache lines, and are accessed as a run if they are known.
constexpr Step widest_run_stride = 16;

constexpr std::uint32_t dword = 4;

/// One loop: the blocks from which its last one is reached without its first one.
class Loop {
 public:
  Loop(const ir::Function& function, const std::vector<std::vector<BlockId>>& predecessors, BlockId head,
       BlockId last)
      : function_(&function) {
    blocks_ = {head};
    if (last != head) blocks_.push_back(last);
    for (std::size_t i = 1; i < blocks_.size() && blocks_.size() <= most_blocks; ++i)
      for (const BlockId from : predecessors[blocks_[i]])
        if (std::ranges::find(blocks_, from) == blocks_.end()) blocks_.push_back(from);
  }

  std::size_t size() const { return blocks_.size(); }
  /// False: it is too large.
  bool find_writers() {
    std::size_t insts = 0;
    for (const BlockId b : blocks_) {
      insts += function_->blocks[b].insts.size();
      if (insts > most_insts) return false;
      for (const Inst& inst : function_->blocks[b].insts)
        if (RowWalks::may_end(inst.op)) writers_.push_back(&inst);
    }
    return blocks_.size() <= most_blocks;
  }

  void find_walks(const LinearUses& uses, std::vector<RowWalk>& walks) {
    for (const BlockId b : blocks_) {
      const auto& insts = function_->blocks[b].insts;
      for (std::uint32_t i = 0; i < insts.size(); ++i) {
        if (!is_candidate(insts[i])) continue;
        const auto known = uses.of(b, true);
        const auto use = std::ranges::find(known, i, &LinearUse::index);
        const ir::MemoryAccess& access = function_->access(insts[i]);
        const Step unit{access.scale};
        if (use != known.end() && use->run.run != 0 && std::abs(use->run.stride * unit) <= widest_run_stride)
          continue;
        if (walks.size() == RowWalks::most) return;
        if (std::ranges::find(walks, insts[i].result, &RowWalk::result) != walks.end()) continue;
        RowWalk walk{insts[i].result, insts[i].lanes, 0, access.space,
                     static_cast<std::uint8_t>(access.surface)};
        const auto ends = [&](const Inst* inst) { return RowWalks::ends(*function_, *inst, walk); };
        if (std::ranges::any_of(writers_, ends)) continue;
        if (!steps_) steps_.emplace(*function_, blocks_);
        const auto element = static_cast<Step>(ir::size_of(insts[i].type));
        const auto step = steps_->of_address(insts[i]);
        if (!step || std::abs(*step) < element || std::abs(*step) > largest_step || *step % element != 0)
          continue;
        walk.step = static_cast<std::int8_t>(*step);
        walks.push_back(walk);
      }
    }
  }

 private:
  bool is_candidate(const Inst& inst) const {
    if (inst.op != Op::load || inst.lanes % 8 != 0 || inst.result_count != 1) return false;
    const ir::MemoryAccess& access = function_->access(inst);
    return ir::size_of(inst.type) <= dword && (!access.surface_is_operand || access.is_based()) &&
           access.space != ir::MemSpace::Scratch;
  }

  const ir::Function* function_;
  std::vector<BlockId> blocks_;
  std::vector<const Inst*> writers_;
  std::optional<LoopSteps> steps_;
};

}  // namespace

bool RowWalks::may_end(Op op) {
  switch (ir::info(op).effect) {
    case ir::Effect::WritesMemory:
      return true;
    case ir::Effect::Effect:
      return op != Op::fpmode_set;
    case ir::Effect::Control:
      return ir::info(op).leaves == ir::Leaves::Always;
    default:
      return false;
  }
}

bool RowWalks::ends(const ir::Function& function, const Inst& inst, const RowWalk& walk) {
  if (!RowWalks::may_end(inst.op)) return false;
  if (!ir::shape_of(inst.op).has_memory()) return true;
  const ir::MemoryAccess& access = function.access(inst);
  if (access.space == ir::MemSpace::Slm) return walk.space == ir::MemSpace::Slm;
  if (!access.is_fixed_surface()) return true;
  if (walk.space == ir::MemSpace::Slm) return false;
  return walk.space != ir::MemSpace::Surface || access.surface == walk.surface;
}

RowWalks::RowWalks(const ir::Function& function, const LinearUses& uses) {
  struct Edge {
    BlockId head, last;
  };
  std::vector<Edge> back;
  for (BlockId b = 0; b < function.blocks.size(); ++b)
    for (const BlockId target : ir::successors(function.blocks[b].insts.back()))
      if (target <= b) back.push_back({target, b});
  if (back.empty()) return;
  const auto predecessors = ir::predecessors(function);
  std::vector<Loop> loops;
  for (const Edge& edge : back) loops.emplace_back(function, predecessors, edge.head, edge.last);
  // Innermost loops first.
  std::ranges::stable_sort(loops, {}, [](const Loop& loop) { return loop.size(); });
  for (Loop& loop : loops)
    if (loop.find_writers()) loop.find_walks(uses, found);
  if (found.empty()) return;
  for (const ir::Block& block : function.blocks)
    for (const Inst& inst : block.insts) {
      if (ir::info(inst.op).effect != ir::Effect::WritesMemory || !ir::shape_of(inst.op).has_memory())
        continue;
      const ir::MemoryAccess& access = function.access(inst);
      const auto surface = static_cast<std::uint8_t>(access.surface);
      if (access.is_fixed_surface() && std::ranges::find(written, surface) == written.end())
        written.push_back(surface);
    }
  if (written.size() > most_written) found.clear();
}

}  // namespace eum::jit
