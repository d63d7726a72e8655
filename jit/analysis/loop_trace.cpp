#include "jit/analysis/loop_trace.hpp"

#include <algorithm>
#include <unordered_set>

namespace eum::jit {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::Op;
using ir::ValueId;

constexpr std::size_t most_blocks = 8, most_insts = 1000;

/// The blocks of a turn, and how it goes through their branches: to the one that is taken, if that is part of
/// the loop.
bool find_way(const ir::Function& function, const Loop& loop, std::vector<BlockId>& way,
              std::vector<LoopTrace::Branch>& branches) {
  std::size_t insts = 0;
  BlockId block = loop.header;
  do {
    const Inst& last = function.blocks[block].insts.back();
    insts += function.blocks[block].insts.size();
    if (std::ranges::find(way, block) != way.end() || way.size() == most_blocks || insts > most_insts)
      return false;
    way.push_back(block);
    if (last.op == Op::branch_any) {
      const bool is_taken = loop.blocks[last.targets.taken];
      if (!is_taken && !loop.blocks[last.targets.fallthrough]) return false;
      branches.push_back({function.arg(last, 0), is_taken});
      block = is_taken ? last.targets.taken : last.targets.fallthrough;
    } else if (last.op == Op::jump) {
      block = last.targets.taken;
    } else {
      return false;
    }
  } while (block != loop.header);
  return true;
}

std::vector<BlockId> exits_of(const ir::Function& function, const Loop& loop) {
  std::vector<BlockId> exits;
  for (BlockId block = 0; block < function.blocks.size(); ++block) {
    if (!loop.blocks[block]) continue;
    for (const BlockId to : ir::successors(function.blocks[block].insts.back()))
      if (to != ir::no_block && !loop.blocks[to] && std::ranges::find(exits, to) == exits.end())
        exits.push_back(to);
  }
  return exits;
}

}  // namespace

std::optional<LoopTrace> trace_loop(ir::Function& function, const Loop& loop) {
  LoopTrace trace{.header = loop.header};
  std::vector<BlockId> way;
  if (!find_way(function, loop, way, trace.branches)) return std::nullopt;
  trace.exits = exits_of(function, loop);
  trace.is_of_one_block = way.size() == 1;
  trace.block = function.add_block(function.blocks[loop.header].guest_ip);
  ir::Block& to = function.blocks[trace.block];
  to.safepoint = function.blocks[loop.header].safepoint;
  std::unordered_set<ValueId> active;  // masks of active channels
  for (const BlockId block : way) {
    const ir::Block& from = function.blocks[block];
    to.guest_instructions += from.guest_instructions;
    for (const Inst& inst : std::span(from.insts).first(from.insts.size() - 1)) {
      const bool is_slice = inst.op == Op::slice && active.contains(function.arg(inst, 0));
      if ((inst.op == Op::mask_get && inst.imm == 0) || is_slice) active.insert(inst.result);
      Inst copy = function.copy(inst);
      if (active.contains(copy.mask)) copy.mask = ir::no_value;
      to.insts.push_back(copy);
    }
  }
  // A block has to end in something.
  Inst end = function.blocks[way.back()].insts.back();
  end.op = Op::jump;
  end.arg_count = 0;
  end.targets = {loop.header, ir::no_block};
  to.insts.push_back(end);
  return trace;
}

}  // namespace eum::jit
