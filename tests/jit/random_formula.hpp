#pragma once
// Random straight code of lanewise ops on more values than any host has registers, most of them needed to the
// end: what passes/split_lanes takes apart and jit/codegen/schedule puts in another order.
#include <cstdint>

#include "frontend/ir/function.hpp"

namespace eum::jit::test {

/// The same seed gives the same function.
ir::Function random_formula(std::uint64_t seed);

}  // namespace eum::jit::test
