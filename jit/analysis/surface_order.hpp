#pragma once
// What an instruction means for loads and stores of surfaces that are moved past it, where surfaces share no
// memory.
#include <cstdint>
#include <optional>

#include "frontend/ir/function.hpp"

namespace eum::jit {

struct SurfaceOrder {
  bool is_barrier = false;  ///< nothing may be moved past it
  bool may_leave = false;   ///< stores must have been done, as memory is looked at when the thread stops
  std::optional<std::uint8_t> reads = {}, writes = {};  ///< a surface

  static SurfaceOrder of(const ir::Function& function, const ir::Inst& inst) {
    using ir::Effect, ir::Op;
    const ir::OpInfo& op = ir::info(inst.op);
    switch (op.effect) {
      case Effect::Effect:
        return {.is_barrier = inst.op != Op::spend && inst.op != Op::spend_bits && inst.op != Op::fpmode_set};
      case Effect::ReadsMemory:
      case Effect::WritesMemory: {
        if (!ir::shape_of(inst.op).has_memory() || inst.op == Op::atomic) return {.is_barrier = true};
        const ir::MemoryAccess& access = function.access(inst);
        const bool writes = op.effect == Effect::WritesMemory;
        if (access.is_fixed_surface())
          return writes ? SurfaceOrder{.writes = access.surface} : SurfaceOrder{.reads = access.surface};
        return {.is_barrier = writes && access.is_global(), .may_leave = !access.never_faults()};
      }
      default:
        return {.may_leave = ir::may_leave(inst.op)};
    }
  }
};

}  // namespace eum::jit
