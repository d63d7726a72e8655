// Threads in batches that wait for one another: they go on together, turn after turn, as long as all of them
// have come to the same barrier.
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <tuple>

#include "tests/jit/batch_threads.hpp"
#include "tests/optimisations.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

constexpr std::string_view waits = R"(
b0: ip 0x0 count 3
  %a = reg_read.u32x8 r1<1;1,0>
  %one = constant.u32x8 1
  %sum = add.u32x8 %a, %one
  reg_write.u32x8 r1<1;1,0>, %sum
  barrier_signal
  wait b1
b1: ip 0x30 count 2
  %b = reg_read.u32x8 r1<1;1,0>
  %two = constant.u32x8 2
  %twice = mul.u32x8 %b, %two
  reg_write.u32x8 r1<1;1,0>, %twice
  exit
)";

}  // namespace

TEST_CASE("batch: threads wait, and go on together") {
  on_every_engine([](Engine& engine) {
    INFO(engine.name());
    Threads threads(engine, waits, 4);
    ThreadBatch batch = threads.batch(true);
    CHECK(threads.run(batch) == Status::Waiting);
    CHECK(batch.threads == 0);
    CHECK(batch.exited == 0);
    for (std::uint32_t t = 0; t < 4; ++t) {
      CHECK(threads.state(t).stopped == Status::Waiting);
      CHECK(threads.state(t).barrier_signals == 1);
    }
    batch = threads.batch(false);
    CHECK(threads.run(batch) == Status::Exited);
    CHECK(batch.threads == 0);
    for (std::uint32_t t = 0; t < 4; ++t) CHECK(threads.dword(t, 1) == 2 * (t + 1));
  });
}

TEST_CASE("batch: a group whose threads have all come to the barrier has another turn") {
  on_every_engine([](Engine& engine) {
    INFO(engine.name());
    for (const bool begins : {true, false}) {
      Threads threads(engine, waits, 4);
      ThreadBatch batch = threads.batch(true);
      batch.waits = begins ? 1 : 0;
      const Status status = threads.run(batch);
      CHECK(batch.threads == 0);
      if (!begins || batch.turns == 0) {  // engines may return at the barrier instead
        CHECK(status == Status::Waiting);
        CHECK(batch.left == 1'000'000 - 4 * 3);
        batch = threads.batch(false);
        CHECK(threads.run(batch) == Status::Exited);
        CHECK(batch.left == 1'000'000 - 4 * 2);
      } else {
        CHECK(status == Status::Exited);
        CHECK(batch.turns == 1);
        CHECK(batch.left == 1'000'000 - 4 * 5);
      }
      CHECK(batch.state == &threads.state(3));
      CHECK(batch.exited == 4);
      for (std::uint32_t t = 0; t < 4; ++t) {
        CHECK(threads.dword(t, 1) == 2 * (t + 1));
        CHECK(threads.state(t).stopped == Status::Exited);
      }
    }
  });
}

TEST_CASE("batch: who has not signalled the barrier, or exits, ends the turns; and so does a budget") {
  // Each thread signals and waits as many times as r3 says, but omits the fourth signal.
  constexpr std::string_view counted = R"(
b0: ip 0x0 count 1
  %n = reg_read.s32x1 r1<1;1,0>
  %zero = constant.s32x1 0
  reg_write.s32x1 r2<1;1,0>, %zero
  reg_write.s32x1 r1<1;1,0>, %n
  %mode = constant.u32x1 0x4c0
  fpmode_set.u32x1 %mode
  jump b1
b1: ip 0x10 count 5
  %i = reg_read.s32x1 r2<1;1,0>
  %one = constant.s32x1 1
  %next = add.s32x1 %i, %one
  reg_write.s32x1 r2<1;1,0>, %next
  %three = constant.s32x1 3
  %left_out = cmp_eq.s32x1 %i, %three
  branch_any.mx1 %left_out, b3, b2
b2: ip 0x20 count 1
  barrier_signal
  jump b3
b3: ip 0x30 count 1
  wait b4
b4: ip 0x40 count 2
  %j = reg_read.s32x1 r2<1;1,0>
  %m = reg_read.s32x1 r3<1;1,0>
  %more = cmp_lt.s32x1 %j, %m
  branch_any.mx1 %more, b1, b5
b5: ip 0x50 count 1
  exit
)";
  const auto run = [&](Engine& engine, std::array<std::uint32_t, 3> rounds, std::int64_t granted) {
    Threads threads(engine, counted, 3);
    for (std::uint32_t t = 0; t < 3; ++t) threads.set_dword(t, 3, rounds[t]);
    ThreadBatch batch = threads.batch(true);
    batch.waits = 1;
    batch.granted = granted;
    const Status status = threads.run(batch);
    return std::tuple(status, batch.turns, 1'000'000 - batch.left, batch.threads);
  };
  if (!eum::test::reduced_by_environment().left[Optimisation::begun_threads]) {
    WARN("not looked at: without begun_threads a group's turns are its caller's");
    return;
  }
  for (const auto& engine : other_engines()) {
    INFO(engine->name());
    // Instructions: 1 at the beginning, 7 up to each barrier, 2 behind it, 1 at the end.
    CHECK(run(*engine, {3, 3, 3}, 1000) == std::tuple(Status::Exited, 3u, 3 * (2 + 3 * 9), 0u));
    // The second thread exits a round before the others, which keep waiting.
    CHECK(run(*engine, {3, 2, 3}, 1000) ==
          std::tuple(Status::Waiting, 2u, 2 * (1 + 3 * 7 + 2 * 2) + 2 + 2 * 9, 0u));
    // No thread signals in the fourth round.
    CHECK(run(*engine, {5, 5, 5}, 1000) == std::tuple(Status::Waiting, 3u, 3 * (1 + 3 * 9 + 6), 0u));
    // A budget of 10 reaches past the first barrier but does not cover the next round.
    CHECK(run(*engine, {3, 3, 3}, 10) == std::tuple(Status::Paused, 1u, 3 * 8 + 2, 3u));
  }
}
