#pragma once
// Rewrites the ops whose row of ops.def says Expand into ops that say Native, by the formulas of
// frontend/ir/semantics/transcendental.hpp.
#include "frontend/ir/function.hpp"

namespace eum::jit {

/// Afterwards no op of `function` says Expand; every result keeps its id and its bits.
void expand_math(ir::Function& function);

}  // namespace eum::jit
