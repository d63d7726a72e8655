// Fences that have nothing to order. Hosts keep every order but that of a store before a later load, so a
// fence matters behind a store that others may see. Compilers put one in front of each barrier, mostly behind
// stores to shared local memory, which only threads see that never run at the same time.
#include <utility>
#include <vector>

#include "jit/passes/passes.hpp"

namespace eum::jit {
namespace {

using namespace ir;

/// Whether other host threads may see what `inst` writes.
bool is_seen(const Function& function, const Inst& inst) {
  const OpInfo& op = info(inst.op);
  if (op.effect == Effect::Effect) return inst.op == Op::callback;
  if (op.effect != Effect::WritesMemory) return false;
  if (!shape_of(inst.op).has_memory()) return true;  // images
  const MemSpace space = function.access(inst).space;
  return space != MemSpace::Slm && space != MemSpace::Scratch;
}

/// Whether a store may be without a fence behind it where a block ends, given how it is where it begins.
bool is_pending_behind(const Function& function, const Block& block, bool pending) {
  for (const Inst& inst : block.insts) pending = inst.op != Op::fence && (pending || is_seen(function, inst));
  return pending;
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
  // A computed jump may come from anywhere.
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
  for (BlockId b = 0; b < function.blocks.size(); ++b) {
    bool before = pending[b];
    std::erase_if(function.blocks[b].insts, [&](const Inst& inst) {
      if (inst.op == Op::fence) return !std::exchange(before, false);
      before |= is_seen(function, inst);
      return false;
    });
  }
}

}  // namespace eum::jit
