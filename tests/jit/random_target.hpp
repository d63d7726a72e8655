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

}  // namespace eum::jit::test
