#pragma once
// Random straight-line code of lanewise ops on more values than any host has registers, most of them live to
// the end: input for passes/split_lanes, which splits it, and jit/codegen/schedule, which reorders it.
#include <cstdint>

#include "frontend/ir/function.hpp"

namespace eum::jit::test {

/// The same seed gives the same function.
ir::Function random_formula(std::uint64_t seed);

}  // namespace eum::jit::test
