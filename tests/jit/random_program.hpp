#pragma once
// Random well-formed functions over the whole op table, meant to be hard for an engine that caches registers:
// overlapping regions, one-lane scalars inside vectors, masked and strided writes, mask variables and an FP
// mode that change on the way, branches and loops, messages whose addresses are consecutive, uniform,
// scattered or out of bounds.
#include "tests/jit/world.hpp"

namespace eum::jit::test {

/// What the program may contain. Everything else is drawn from the seed.
struct ProgramOptions {
  unsigned max_blocks = 6;
  unsigned max_block_ops = 24;  ///< drawn ops, each with the ops that compute its operands
  bool memory = true;           ///< loads, stores, atomics
  bool control = true;          ///< more than one block
};

/// The same seed and options give the same function. Undefined values of lanes outside a mask never reach the
/// final state.
ir::Function random_program(std::uint64_t seed, const ProgramOptions& options = {});

}  // namespace eum::jit::test
