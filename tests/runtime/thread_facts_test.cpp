// What is known of all threads of a range before they begin, for translations that rely on it.
#include <catch2/catch.hpp>
#include <utility>

#include "binaries.hpp"
#include "runtime/loader/loader.hpp"
#include "runtime/payload.hpp"

using namespace eum;
using namespace eum::rt;

namespace {

Program saxpy() {
  auto program = load_program(binaries::corpus("saxpy.patch"));
  if (!program) FAIL(program.error().message);
  return std::move(*program);
}

jit::LaunchFacts facts_of(const Kernel& kernel, Size3 global, Size3 local, bool remainder) {
  NdRange range;
  range.dims = 3;
  range.global = global;
  range.local = local;
  range.allow_remainder = remainder;
  return thread_facts(kernel, range, 32);
}

}  // namespace

TEST_CASE("groups of one thread, and the channels that it begins with, are known") {
  const Program program = saxpy();
  const auto facts = [&](Size3 global, Size3 local, bool remainder = false) {
    const jit::LaunchFacts found = facts_of(program.kernels[0], global, local, remainder);
    return std::pair{found.lone_threads, found.channels};
  };
  CHECK(facts({1024, 1, 1}, {64, 1, 1}) == std::pair{false, 0u});
  CHECK(facts({1024, 1, 1}, {32, 1, 1}) == std::pair{true, 32u});
  CHECK(facts({1024, 4, 1}, {2, 2, 1}) == std::pair{true, 4u});
  CHECK(facts({7, 1, 1}, {1, 1, 1}) == std::pair{true, 1u});
  CHECK(facts({100, 1, 1}, {32, 1, 1}, true) == std::pair{true, 0u});  // the last group has 4
  CHECK(facts({100, 1, 1}, {33, 1, 1}, true) == std::pair{false, 0u});
  CHECK(facts({100, 1, 1}, {33, 1, 1}) == std::pair{false, 0u});  // refused
}

TEST_CASE("the run in which local ids go up is that of the shortest row") {
  const Program program = saxpy();
  const Kernel& kernel = program.kernels[0];
  REQUIRE(kernel.simd_size == 32);
  const auto run = [&](Size3 global, Size3 local, bool remainder = false) {
    return facts_of(kernel, global, local, remainder).ids.run;
  };
  CHECK(run({1024, 1, 1}, {64, 1, 1}) == 32);
  CHECK(run({1024, 4, 1}, {16, 4, 1}) == 16);
  CHECK(run({1024, 4, 1}, {8, 4, 2}) == 0);  // the range is refused
  CHECK(run({1024, 4, 1}, {24, 4, 1}, true) == 8);
  CHECK(run({100, 1, 1}, {100, 1, 1}) == 32);
  CHECK(run({1040, 1, 1}, {64, 1, 1}, true) == 32);
  CHECK(run({~0u, ~0u, ~0u}, {~0u, ~0u, ~0u}) == 0);
}
