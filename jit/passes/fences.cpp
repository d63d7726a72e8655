// Fences that order nothing, or for which a weaker one suffices. Hosts keep every order except that of a
// store before a later load, so a fence matters after a store that others may see and before a load of what
// they may have written. Compilers put one before each barrier, mostly after stores to shared local memory,
// which only threads see that never run at the same time; and a thread's loads after the barrier are in a
// later turn, so that one fence suffices for all threads of a batch.
#include <utility>
#include <vector>

#include "jit/passes/passes.hpp"

namespace eum::jit {
namespace {

using namespace ir;

/// Whether `inst` is of `effect` and acts on memory that other host threads have as well.
bool acts_on_shared(const Function& function, const Inst& inst, Effect effect) {
  if (info(inst.op).effect != effect) return false;
  if (!shape_of(inst.op).has_memory()) return true;  // images
  return function.access(inst).is_global();
}

/// Whether other host threads may see what `inst` writes.
bool is_seen(const Function& function, const Inst& inst) {
  return inst.op == Op::callback || acts_on_shared(function, inst, Effect::WritesMemory);
}

/// Whether `inst` may see what other host threads have written. Atomics, which write as well, may.
bool sees(const Function& function, const Inst& inst) {
  return is_seen(function, inst) || acts_on_shared(function, inst, Effect::ReadsMemory);
}

/// Whether a store may have no fence after it at the end of a block, given whether one may at the beginning.
bool is_pending_behind(const Function& function, const Block& block, bool pending) {
  for (const Inst& inst : block.insts) pending = inst.op != Op::fence && (pending || is_seen(function, inst));
  return pending;
}

/// Whether other host threads' writes may be seen before the end of the turn from `inst` on, given whether
/// they may be after it.
bool may_see(const Function& function, const Inst& inst, bool behind) {
  return inst.op != Op::wait && (behind || sees(function, inst));
}

/// Where pending stores may be before each block.
std::vector<bool> pending_before(const Function& function, bool computed) {
  std::vector<bool> pending(function.blocks.size(), computed);
  for (bool changed = true; changed;) {
    changed = false;
    for (BlockId b = 0; b < function.blocks.size(); ++b) {
      const Block& block = function.blocks[b];
      if (!is_pending_behind(function, block, pending[b])) continue;
      for (const BlockId next : successors(block.insts.back())) {
        if (next == no_block || pending[next]) continue;
        pending[next] = changed = true;
      }
    }
  }
  return pending;
}

/// Where others' writes may be seen after each block, before the end of the turn.
std::vector<bool> seen_behind(const Function& function, bool computed) {
  std::vector<bool> before(function.blocks.size(), computed), behind(function.blocks.size(), computed);
  for (bool changed = true; changed;) {
    changed = false;
    for (BlockId b = static_cast<BlockId>(function.blocks.size()); b-- > 0;) {
      const Block& block = function.blocks[b];
      for (const BlockId next : successors(block.insts.back()))
        if (next != no_block && before[next]) behind[b] = true;
      bool seen = behind[b];
      for (auto inst = block.insts.rbegin(); inst != block.insts.rend(); ++inst)
        seen = may_see(function, *inst, seen);
      if (seen == before[b] || before[b]) continue;
      before[b] = changed = true;
    }
  }
  return behind;
}

}  // namespace

void fences(Function& function) {
  bool any = false, computed = false;
  for (const Block& block : function.blocks)
    for (const Inst& inst : block.insts) {
      any |= inst.op == Op::fence;
      computed |= inst.op == Op::jump_ip;
    }
  if (!any) return;
  // A computed jump may come from anywhere, and lead anywhere.
  const std::vector<bool> pending = pending_before(function, computed);
  for (BlockId b = 0; b < function.blocks.size(); ++b) {
    bool before = pending[b];
    std::erase_if(function.blocks[b].insts, [&](const Inst& inst) {
      if (inst.op == Op::fence) return !std::exchange(before, false);
      before |= is_seen(function, inst);
      return false;
    });
  }
  const std::vector<bool> seen = seen_behind(function, computed);
  for (BlockId b = 0; b < function.blocks.size(); ++b) {
    bool behind = seen[b];
    auto& insts = function.blocks[b].insts;
    for (auto inst = insts.rbegin(); inst != insts.rend(); ++inst) {
      if (inst->op == Op::fence && !behind) inst->op = Op::turn_fence;
      behind = may_see(function, *inst, behind);
    }
  }
}

}  // namespace eum::jit
