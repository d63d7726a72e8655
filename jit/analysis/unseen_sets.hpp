#pragma once
// Which sets of mask variables nothing looks at.
#include <cstdint>
#include <span>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/surface_order.hpp"

namespace eum::jit {

/// Indices, in descending order, of what sets mask variables that are set again before anything looks at
/// them. `is_set_again`: by variable, whether it is behind the last instruction.
inline std::vector<std::uint32_t> unseen_sets(const ir::Function& function, std::span<const ir::Inst> insts,
                                              std::vector<bool> is_set_again) {
  std::vector<std::uint32_t> unseen;
  for (auto i = static_cast<std::uint32_t>(insts.size()); i-- > 0;) {
    const ir::Inst& inst = insts[i];
    const SurfaceOrder order = SurfaceOrder::of(function, inst);
    if (inst.op == ir::Op::mask_set) {
      if (is_set_again[inst.imm]) unseen.push_back(i);
      is_set_again[inst.imm] = true;
    } else if (inst.op == ir::Op::mask_get) {
      is_set_again[inst.imm] = false;
    } else if (order.is_barrier || order.may_leave) {
      is_set_again.assign(is_set_again.size(), false);
    }
  }
  return unseen;
}

}  // namespace eum::jit
