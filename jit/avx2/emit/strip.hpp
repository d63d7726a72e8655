#pragma once
// What the head of a codegen::Strip finds out for all of its threads: this one, and `more` others, a number
// of 64 bits. Whether windows are inside their memory: MemorySite::check_window.
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::avx2::emit {

/// Jumps unless the condition holds in every lane of the threads.
void check_condition(Compiler& c, const CodeInst& inst, const codegen::Strip::Condition& condition,
                     x86::Gp more, asmjit::Label otherwise);
/// `to`, 8 bytes = the step; jumps if it is too high.
void compute_step(Compiler& c, const codegen::Strip::Step& step, const x86::Mem& to, asmjit::Label otherwise);

}  // namespace eum::jit::avx2::emit
