#pragma once
// Threads that begin with fewer channels than the function is for: groups of fewer work items than a thread
// has channels, and single tasks. What only the other channels would do is removed.
#include "frontend/ir/function.hpp"

namespace eum::jit {

/// How many channels a function of `simd` needs if threads begin with the lowest `channels` of them active:
/// 1, or full vectors of 8; `simd` if nothing is gained.
unsigned channels_needed(unsigned simd, unsigned channels);

/// Makes it a function of channels_needed(function.simd, channels), for threads that begin with these active.
/// It stays as it is if channels that are inactive as a thread begins might become active.
void few_channels(ir::Function& function, unsigned channels);

/// Threads that are groups of their own wait for no others: a wait after the thread's own signal is a jump.
void lone_threads(ir::Function& function);

}  // namespace eum::jit
