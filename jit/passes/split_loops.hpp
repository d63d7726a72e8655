#pragma once
// Loops in which each channel reads memory of its own, a row, one set of channels after the other.
#include "frontend/ir/function.hpp"
#include "jit/passes/linear.hpp"

namespace eum::jit {

/// A loop of one block that all channels leave at once, and that only computes and reads, becomes a loop for
/// each set of channels that has nothing to do with the others: those that an instruction of the guest works
/// on. What is the same for all channels is computed in each. Every 1024 turns all sets are as far as each
/// other: only there a thread may pause, as it does where the loop was, and its state can be continued by
/// other code. `uses`: of the function; it is out of date if the result is true.
bool split_loops(ir::Function& function, const LinearUses& uses);

}  // namespace eum::jit
