#pragma once
// Which ops compute with float values. Rounding and denormal modes apply to these only, not to ops that move
// bits.
#include "frontend/ir/function.hpp"

namespace eum::ir {

/// Whether the op computes on floats, rather than moving their bits.
constexpr bool computes_on_floats(const Inst& inst) {
  using enum Op;
  if (!is_float(inst.type) && !is_float(inst.from)) return false;  // most ops
  if (!is_lanewise(inst.op) || inst.op == bitcast || inst.op == abs || inst.op == neg || inst.op == select)
    return false;
  return is_float(inst.type) || shape_of(inst.op).has_from();
}

}  // namespace eum::ir
