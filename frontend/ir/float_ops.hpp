#pragma once
// Which ops look at the value of a float. Modes of rounding and denormals are theirs; who moves bits has
// none.
#include "frontend/ir/function.hpp"

namespace eum::ir {

/// The op computes on floats, rather than moving their bits.
constexpr bool computes_on_floats(const Inst& inst) {
  using enum Op;
  if (!is_lanewise(inst.op) || inst.op == bitcast || inst.op == abs || inst.op == neg || inst.op == select)
    return false;
  return is_float(inst.type) || (shape_of(inst.op).has_from() && is_float(inst.from));
}

}  // namespace eum::ir
