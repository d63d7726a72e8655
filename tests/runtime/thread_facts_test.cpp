// What is known about all threads of a range before they begin, for translations that rely on it.
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "binaries.hpp"
#include "runtime/dispatch/thread_payload.hpp"
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

/// Whether the ids of every thread keep the promise of ConsecutiveIds with runs of `run`.
bool keeps_promise(const std::vector<std::uint16_t>& ids, std::uint32_t channels, std::uint32_t rows,
                   std::uint32_t last_on, std::uint32_t run) {
  const std::size_t per_thread = std::size_t{channels} * rows;
  for (std::size_t thread = 0; thread < ids.size(); thread += per_thread) {
    const std::uint32_t on = thread + per_thread == ids.size() ? last_on : channels;
    for (std::uint32_t row = 0; row < rows; ++row)
      for (std::uint32_t i = 0; i < on; ++i) {
        const std::uint16_t *of_row = ids.data() + thread + row * channels, id = of_row[i];
        const std::uint16_t first = of_row[i / run * run];
        if (id > 0x7fff || id != first + (row == 0 ? i % run : 0)) return false;
        if (row == 0 && first % run != 0) return false;
      }
  }
  return true;
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
  CHECK(facts({100, 1, 1}, {32, 1, 1}, true) == std::pair{true, 0u});  // the last group has 4 work-items
  CHECK(facts({100, 1, 1}, {33, 1, 1}, true) == std::pair{false, 0u});
  CHECK(facts({100, 1, 1}, {33, 1, 1}) == std::pair{false, 0u});  // the range is refused
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

TEST_CASE("how local ids change from thread to thread is known where it is a constant") {
  const Program program = saxpy();
  const Kernel& kernel = program.kernels[0];
  const auto steps = [&](Size3 global, Size3 local, bool remainder = false) {
    return facts_of(kernel, global, local, remainder).id_steps;
  };
  const auto each = [](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    return jit::IdSteps{.by_line = {x, y, z}};
  };
  CHECK(steps({1024, 1, 1}, {64, 1, 1}) == each(32, 0, 0));
  CHECK(steps({1024, 4, 1}, {32, 4, 1}) == each(0, 1, 0));
  CHECK(steps({1024, 4, 1}, {16, 4, 1}) == each(0, 2, 0));
  CHECK(steps({1024, 2, 4}, {32, 1, 4}) == each(0, 0, 1));
  CHECK_FALSE(steps({1024, 1, 1}, {32, 1, 1}).any());        // threads are alone
  CHECK(steps({100, 1, 1}, {100, 1, 1}) == each(32, 0, 0));  // channels of the last thread are inactive
  CHECK_FALSE(steps({60, 1, 1}, {60, 1, 1}).any());
  CHECK(steps({1040, 1, 1}, {64, 1, 1}, true) == each(32, 0, 0));  // but in the last group
}

TEST_CASE("lines of several threads in which local ids change by a constant are known") {
  const Program program = saxpy();
  const auto steps = [&](Size3 global, Size3 local) {
    return facts_of(program.kernels[0], global, local, false).id_steps;
  };
  using Rows = jit::IdSteps::ByRow;
  const auto lines = [](Rows by_line, Rows in_line, std::uint32_t threads) {
    return jit::IdSteps{.by_line = by_line, .in_line = in_line, .line_threads = threads};
  };
  CHECK(steps({1024, 4, 1}, {64, 4, 1}) == lines({0, 1, 0}, {32, 0, 0}, 2));
  CHECK(steps({1024, 4, 1}, {128, 2, 1}) == lines({0, 1, 0}, {32, 0, 0}, 4));
  CHECK(steps({16, 4, 4}, {16, 4, 4}) == lines({0, 0, 1}, {0, 2, 0}, 2));
  CHECK(steps({96, 1, 2}, {96, 1, 2}) == lines({0, 0, 1}, {32, 0, 0}, 3));
  CHECK_FALSE(steps({64, 2, 2}, {64, 2, 2}).any());  // in x, then in y, then in z
  CHECK_FALSE(steps({48, 4, 1}, {48, 4, 1}).any());  // rows of one and a half threads
  CHECK_FALSE(steps({64, 3, 1}, {32, 3, 2}).any());  // the range is refused
}

TEST_CASE("the run of local ids is the longest one for which all threads keep the promise") {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  unsigned found[3] = {};
  for (unsigned round = 0; round < 20000; ++round) {
    const std::uint32_t channels = 8u << below(3), rows = 1 + below(3), threads = 1 + below(3);
    const std::uint32_t width = 8u << below(4), last_on = 1 + below(channels);
    std::vector<std::uint16_t> ids;
    for (std::uint32_t thread = 0; thread < threads; ++thread)
      for (std::uint32_t row = 0; row < rows; ++row)
        for (std::uint32_t i = 0; i < channels; ++i) {
          const std::uint32_t item = thread * channels + i;
          ids.push_back(static_cast<std::uint16_t>(row == 0 ? item % width : item / width));
        }
    if (below(2) == 0) {
      std::uint16_t& changed = ids[below(static_cast<std::uint32_t>(ids.size()))];
      changed = static_cast<std::uint16_t>(changed ^ 1u << below(16));
    }
    std::uint32_t longest = 0;
    for (std::uint32_t run = 8; run <= channels; run *= 2)
      if (keeps_promise(ids, channels, rows, last_on, run)) longest = run;
    const ir::ConsecutiveIds promised{
        .offset = 32, .count = channels, .rows = rows, .row_bytes = 2 * channels};
    const PerThreadData data{std::as_bytes(std::span(ids)), std::size_t{2} * channels * rows, 32,
                             static_cast<std::uint32_t>((std::uint64_t{1} << last_on) - 1)};
    INFO(channels << " channels, " << rows << " rows, " << threads << " threads, " << last_on << " on");
    REQUIRE(consecutive_run(data, promised) == longest);
    if (longest != 0) ++found[std::countr_zero(longest) - 3];
  }
  for (const unsigned count : found) CHECK(count > 1000);
}
