#pragma once
// Threads that begin with fewer channels than the function is for: groups of fewer work items than a thread
// has channels, and single tasks. What only the other channels would do is nothing.
#include "frontend/ir/function.hpp"

namespace eum::jit {

/// How many channels a function of `simd` need have where threads begin with the lowest `channels` of them
/// on: 1, or what fills vectors of 8; `simd` where nothing is won.
unsigned channels_needed(unsigned simd, unsigned channels);

/// Makes it a function of channels_needed(function.simd, channels), for threads that begin with these on. Not
/// where channels that are off as a thread begins might come on: then it stays as it is.
void few_channels(ir::Function& function, unsigned channels);

/// Threads that are their groups wait for nobody: a wait behind the thread's own signal is a jump.
void lone_threads(ir::Function& function);

}  // namespace eum::jit
