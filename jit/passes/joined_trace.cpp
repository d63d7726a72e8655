#include "jit/passes/joined_trace.hpp"

#include <algorithm>
#include <vector>

#include "jit/passes/passes.hpp"

namespace eum::jit {
namespace {

using ir::BlockId;
using ir::Inst;

constexpr std::size_t most_insts = 500;

/// The loop once more, behind all other blocks, and in place of it until this goes out of scope.
class LoopCopy {
 public:
  LoopCopy(ir::Function& function, const Loop& loop) : function_(function), loop_(loop) {
    first_ = static_cast<BlockId>(function.blocks.size());
    copies_.resize(first_, ir::no_block);
    add(loop.header);
    for (BlockId block = 0; block < first_; ++block)
      if (loop.blocks[block] && block != loop.header) add(block);
    for (BlockId block = 0; block < first_; ++block)
      if (loop.blocks[block]) fill(block);
    redirect(loop.header, first_);
  }
  LoopCopy(const LoopCopy&) = delete;
  ~LoopCopy() {
    redirect(first_, loop_.header);
    const auto begin = function_.blocks.begin() + first_;
    function_.blocks.erase(begin, begin + static_cast<std::ptrdiff_t>(blocks_));
  }

  /// Executes the bodies of branches under masks, and follows registers through what that joins.
  void join() {
    join_branches(function_, first_);
    blocks_ = function_.blocks.size() - first_;
    for (BlockId block = first_; block < function_.blocks.size(); ++block) {
      forward_state(function_, block);
      masked_writes(function_, block);
    }
  }
  Loop loop() const {
    Loop loop{loop_.before, first_, std::vector<bool>(function_.blocks.size())};
    std::fill(loop.blocks.begin() + first_, loop.blocks.end(), true);
    return loop;
  }

 private:
  void add(BlockId block) {
    copies_[block] = function_.add_block(function_.blocks[block].guest_ip);
    ++blocks_;
  }
  void fill(BlockId block) {
    const ir::Block& from = function_.blocks[block];
    ir::Block& to = function_.blocks[copies_[block]];
    to.safepoint = from.safepoint;
    to.guest_instructions = from.guest_instructions;
    for (const Inst& inst : from.insts) to.insts.push_back(function_.copy(inst));
    ir::Targets& targets = to.insts.back().targets;
    for (BlockId* target : {&targets.taken, &targets.fallthrough})
      if (*target != ir::no_block && copies_[*target] != ir::no_block) *target = copies_[*target];
  }
  void redirect(BlockId from, BlockId to) {
    ir::Targets& targets = function_.blocks[loop_.before].insts.back().targets;
    for (BlockId* target : {&targets.taken, &targets.fallthrough})
      if (*target == from) *target = to;
  }

  ir::Function& function_;
  const Loop& loop_;
  BlockId first_;
  std::vector<BlockId> copies_;  // by block
  std::size_t blocks_ = 0;       // copies
};

/// Whether channels part in it, and reconverge, and it is short.
bool may_join(const ir::Function& function, const Loop& loop) {
  std::size_t insts = 0;
  bool part = false, store = false;
  for (BlockId id = 0; id < function.blocks.size(); ++id) {
    if (!loop.blocks[id]) continue;
    const ir::Block& block = function.blocks[id];
    insts += block.insts.size();
    store |= std::ranges::any_of(block.insts, [](const Inst& inst) { return inst.op == ir::Op::store; });
    const Inst& last = block.insts.back();
    part |= last.op == ir::Op::branch_any && last.lanes == function.simd && loop.blocks[last.targets.taken] &&
            loop.blocks[last.targets.fallthrough];
  }
  return part && store && insts <= most_insts;
}

}  // namespace

std::optional<LoopTrace> trace_joined(ir::Function& function, const Loop& loop) {
  if (!may_join(function, loop)) return std::nullopt;
  std::optional<LoopTrace> trace;
  {
    LoopCopy copy(function, loop);
    copy.join();
    trace = trace_loop(function, copy.loop());
  }
  if (!trace) return std::nullopt;
  trace->block = static_cast<BlockId>(function.blocks.size() - 1);
  trace->header = loop.header;
  function.blocks.back().insts.back().targets.taken = loop.header;
  return trace;
}

}  // namespace eum::jit
