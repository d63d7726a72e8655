#pragma once
// The trace of a loop in whose turns channels part and reconverge.
#include <optional>

#include "jit/analysis/loop_trace.hpp"
#include "jit/analysis/loop_turns.hpp"

namespace eum::jit {

/// As trace_loop(), but what some channels do is in the trace under their masks. Nothing: channels do not
/// part, or what they do is too long.
std::optional<LoopTrace> trace_joined(ir::Function& function, const Loop& loop);

}  // namespace eum::jit
