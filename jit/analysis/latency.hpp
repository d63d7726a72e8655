#pragma once
// What a host takes for ops, roughly.
#include "frontend/ir/function.hpp"

namespace eum::jit {

/// Cycles until the op's result is available.
inline unsigned latency(const ir::Inst& inst) {
  switch (inst.op) {
    case ir::Op::reg_read:
      return 0;
    case ir::Op::mul:
    case ir::Op::mad:
    case ir::Op::mul_wide:
    case ir::Op::mach:
    case ir::Op::quot:
      return 4;
    default:
      return ir::is_float(inst.type) ? 4 : 1;
  }
}

}  // namespace eum::jit
