#pragma once
// Random places in the memory of World that memory ops go to.
#include "tests/jit/world.hpp"

namespace eum::jit::test {

struct RandomTarget {
  ir::MemoryAccess mem;
  std::uint64_t base;
  unsigned bytes;  ///< accessible bytes from `base` on
};

RandomTarget random_target(Random& random);

/// What a load or store of this type moves of each lane: often one component, which need not be the first.
void choose_components(Random& random, ir::Op op, ir::Type type, ir::MemoryAccess& access);

}  // namespace eum::jit::test
