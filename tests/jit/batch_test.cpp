// Threads in batches: whatever the previous thread left in a state, the next one that runs in it begins with
// the header and the restored slots it should have. A batch stops where a thread faults or pauses or the
// allowance is used up, and can continue from there.
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string_view>

#include "tests/jit/batch_threads.hpp"
#include "tests/optimisations.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// r1 is read and written, so it is restored; f0 and mask variable 1 are read before they are written; r0 is
/// the header. Results: r4 is r0 + r1, r5 the flags, r6 the channels found parked.
constexpr std::string_view adds = R"(
b0: ip 0x0 count 4
  %h = reg_read.u32x8 r0<1;1,0>
  %a = reg_read.u32x8 r1<1;1,0>
  %f = flag_read.mx8 f0.0
  %p = mask_get.mx8 mask1
  %zero = constant.u32x8 0
  %one = constant.u32x8 1
  %sum = add.u32x8 %h, %a
  %flags = select.u32x8 %f, %one, %zero
  %parked = select.u32x8 %p, %one, %zero
  reg_write.u32x8 r4<1;1,0>, %sum
  reg_write.u32x8 r5<1;1,0>, %flags
  reg_write.u32x8 r6<1;1,0>, %parked
  reg_write.u32x8 r1<1;1,0>, %sum
  %all = constant.mx8 255
  flag_write.mx8 f0.0, %all
  mask_set.mx8 mask1, %all
  %wide = constant.u16x1 600
  %three = constant.u32x1 3
  %which = reg_read.u32x1 r1<1;1,0>
  %faults = cmp_eq.u32x1 %which, %three
  %bad = reg_gather.u32x1 [%wide] ? %faults
  exit
)";

}  // namespace

TEST_CASE("batch: each thread begins as if it were the first in its state") {
  on_every_engine([](Engine& engine) {
    INFO(engine.name());
    Threads threads(engine, adds, 3);
    for (unsigned round = 0; round < 3; ++round) {
      ThreadBatch batch = threads.batch(true);
      CHECK(threads.run(batch) == Status::Exited);
      CHECK(batch.threads == 0);
      CHECK(batch.state == &threads.state(2));
      CHECK(batch.left == 1'000'000 - 3 * 4);
      for (std::uint32_t t = 0; t < 3; ++t) {
        CHECK(threads.dword(t, 4) == 100 + t);
        CHECK(threads.dword(t, 5) == 0);
        CHECK(threads.dword(t, 6) == 0);
        CHECK(threads.state(t).barrier_signals == 0);
      }
    }
  });
}

TEST_CASE("batch: a thread that faults ends it, and the threads behind it have not run") {
  on_every_engine([](Engine& engine) {
    INFO(engine.name());
    Threads threads(engine, adds, 5);
    ThreadBatch batch = threads.batch(true);
    CHECK(threads.run(batch) == Status::Exited);
    // With a header of 0, thread 3 computes 3 only if r1 holds what was restored, not what the last run left.
    threads.set_header(0);
    batch = threads.batch(true);
    threads.state(4).budget = 55;
    CHECK(threads.run(batch) == Status::Faulted);
    CHECK(batch.state == &threads.state(3));
    CHECK(batch.threads == 2);
    CHECK(threads.state(3).fault.kind == FaultKind::BadRegister);
    CHECK(threads.state(4).budget == 55);
  });
}

TEST_CASE("batch: the next thread runs only while the allowance does for it") {
  on_every_engine([](Engine& engine) {
    INFO(engine.name());
    Threads threads(engine, adds, 5);
    ThreadBatch batch = threads.batch(true);
    batch.left = 1004;
    CHECK(threads.run(batch) == Status::Exited);
    CHECK(batch.threads == 3);
    CHECK(batch.left == 996);
    CHECK(batch.state == &threads.state(1));
  });
}

TEST_CASE("batch: groups follow one another in the same states, each with its header") {
  // r4 keeps the header of the thread that ran last in a state: nothing restores it.
  constexpr std::string_view counts = R"(
b0: ip 0x0 count 4
  %h = reg_read.u32x8 r0<1;1,0>
  %c = reg_read.u32x1 r0<1;1,0>
  %limit = constant.u32x1 0x3064
  %faults = cmp_eq.u32x1 %c, %limit
  reg_write.u32x8 r4<1;1,0>, %h
  %wide = constant.u16x1 600
  %bad = reg_gather.u32x1 [%wide] ? %faults
  exit
)";
  on_every_engine([&](Engine& engine) {
    INFO(engine.name());
    for (const std::uint32_t count : {1u, 3u}) {
      Threads threads(engine, counts, count);
      ThreadBatch batch = threads.batch(true, 3);
      CHECK(threads.run(batch) == Status::Exited);
      CHECK(batch.threads == 0);
      CHECK(batch.left == 1'000'000 - 3 * count * 4);
      CHECK(batch.groups->bits[0] == 0x2000);
      for (std::uint32_t t = 0; t < count; ++t) CHECK(threads.dword(t, 4) == 0x2064);
      // The allowance suffices for `allowed` threads, so the batch stops in the middle of a group.
      for (std::uint32_t allowed = 1; allowed < 3 * count; ++allowed) {
        CAPTURE(count, allowed);
        batch = threads.batch(true, 3);
        batch.left = 1000 + 4 * (allowed - 1);
        CHECK(threads.run(batch) == Status::Exited);
        CHECK(batch.threads == 3 * count - allowed);
        CHECK(batch.left == 996);
        CHECK(batch.state == &threads.state((allowed - 1) % count));
        CHECK(batch.groups->bits[0] == 0x1000 * ((allowed - 1) / count));
      }
      // A fault in the fourth group.
      batch = threads.batch(true, 5);
      CHECK(threads.run(batch) == Status::Faulted);
      CHECK(batch.threads == 2 * count);
      CHECK(batch.state == &threads.state(0));
      CHECK(batch.groups->bits[0] == 0x3000);
    }
  });
}

TEST_CASE("batch: budgets of threads with loops are counted one by one") {
  constexpr std::string_view loops = R"(
b0: ip 0x0 count 1
  %n = reg_read.u32x1 r1<1;1,0>
  reg_write.u32x1 r2<1;1,0>, %n
  jump b1
b1: ip 0x10 count 2
  %i = reg_read.s32x1 r2<1;1,0>
  %one = constant.s32x1 1
  %next = sub.s32x1 %i, %one
  %zero = constant.s32x1 0
  reg_write.s32x1 r2<1;1,0>, %next
  %more = cmp_gt.s32x1 %next, %zero
  branch_any.mx1 %more, b1, b2
b2: ip 0x30 count 1
  %r = reg_read.u32x1 r1<1;1,0>
  reg_write.u32x1 r1<1;1,0>, %r
  exit
)";
  on_every_engine([&](Engine& engine) {
    INFO(engine.name());
    Threads threads(engine, loops, 4);
    ThreadBatch batch = threads.batch(true, 2);
    CHECK(threads.run(batch) == Status::Exited);
    CHECK(batch.threads == 0);
    // Thread t makes max(t, 1) turns, for t from 0 to 3.
    CHECK(batch.left == 1'000'000 - 2 * (4 + 4 + 6 + 8));
    batch = threads.batch(true, 2);
    batch.granted = 5;
    batch.left = 1000;
    CHECK(threads.run(batch) == Status::Paused);
    CHECK(batch.state == &threads.state(3));
    CHECK(batch.threads == 5);
  });
}

TEST_CASE(
    "batch: a thread that stops has its header in the register file, whether anything reads it or not") {
  // Thread 0 of the second group makes many turns, thread 3 faults.
  constexpr std::string_view stops = R"(
b0: ip 0x0 count 1
  %n = reg_read.u32x1 r1<1;1,0>
  %group = reg_read.u32x1 r0.1<1;1,0>
  %many = shr.u32x1 %group, %n
  reg_write.u32x1 r2<1;1,0>, %many
  jump b1
b1: ip 0x10 count 2
  %i = reg_read.u32x1 r2<1;1,0>
  %one = constant.u32x1 1
  %next = sub.u32x1 %i, %one
  reg_write.u32x1 r2<1;1,0>, %next
  %more = cmp_gt.u32x1 %i, %one
  branch_any.mx1 %more, b1, b2
b2: ip 0x30 count 2
  %t = reg_read.u32x1 r1<1;1,0>
  %three = constant.u32x1 3
  %bad = cmp_eq.u32x1 %t, %three
  %nowhere = constant.u64x1 16
  %f = load.u32x1 a64[%nowhere] ? %bad
  reg_write.u32x1 r1<1;1,0>, %t
  exit
)";
  CompileOptions options;
  options.exact_registers = false;
  options.group_dwords = 1 << 1;
  on_every_engine([&](Engine& engine) {
    INFO(engine.name());
    Threads threads(engine, stops, 4, options);
    threads.set_header(0);
    for (std::uint32_t t = 0; t < 4; ++t) threads.executable().layout().forget_regions(threads.state(t));
    ThreadBatch batch = threads.batch(true, 2);
    batch.threads = 3;
    CHECK(threads.run(batch) == Status::Exited);
    batch = threads.batch(true, 2);
    batch.groups += 1;
    batch.threads = 4;
    batch.granted = 1500;
    for (std::uint32_t t = 0; t < 4; ++t) threads.state(t).begin.header[0] = 70 + t;
    CHECK(threads.run(batch) == Status::Paused);
    REQUIRE(batch.state == &threads.state(0));
    CHECK(threads.dword(0, 0) == 0x1000 + 70);
    // It continues alone, with what it has.
    ThreadBatch rest = threads.batch(false);
    rest.threads = 1;
    rest.granted = 100'000;
    CHECK(threads.run(rest) == Status::Exited);
    CHECK(threads.dword(0, 0) == 0x1000 + 70);
    batch.state = &threads.state(1);
    batch.granted = 100'000;
    batch.threads = 3;
    CHECK(threads.run(batch) == Status::Faulted);
    REQUIRE(batch.state == &threads.state(3));
    CHECK(threads.dword(3, 0) == 0x1000 + 73);
    CHECK(threads.state(3).fault.kind == FaultKind::OutOfBounds);
  });
}

TEST_CASE("batch: cr0 that every thread begins with is promised, and the mode that follows from it is set") {
  constexpr std::string_view divides = R"(
b0: ip 0x0 count 3
  %m = reg_read.u32x1 r7<1;1,0>
  %up = constant.u32x1 0x10
  %all = or.u32x1 %m, %up
  reg_write.u32x1 r7<1;1,0>, %all
  fpmode_set.u32x1 %all
  %a = constant.f32x8 0x3f800000
  %c = constant.f32x8 0x40400000
  %r = div.f32x8 %a, %c
  reg_write.f32x8 r2<1;1,0>, %r
  exit
)";
  CompileOptions options;
  options.exact_registers = false;
  options.control = KnownRegister{7 * 32, 0xc0};
  const auto check = [&](Engine& engine) {
    INFO(engine.name());
    Threads threads(engine, divides, 2, options);
    const bool knows =
        engine.name() != "reference" && eum::test::reduced_by_environment().left[Optimisation::known_control];
    CHECK(threads.register_use_reads(7 * 32) == !knows);
    for (unsigned round = 0; round < 2; ++round) {
      ThreadBatch batch = threads.batch(true, 2);
      batch.fp_mode = 0xc0;
      CHECK(threads.run(batch) == Status::Exited);
      for (std::uint32_t t = 0; t < 2; ++t) CHECK(threads.state(t).fp_mode % 0x40 == 0x10);
      // A single thread, from the beginning.
      ThreadState& alone = threads.state(0);
      alone.resume = 0;
      alone.fp_mode = 0xc0;
      FpScope scope;
      threads.executable().layout().masks_of(alone)[0] = 0xff;
      CHECK(threads.executable().run(alone, scope) == Status::Exited);
    }
  };
  for (const auto& engine : other_engines()) check(*engine);
}

TEST_CASE("batch: local memory is cleared for each thread that is a group of its own, and for no other") {
  // Each thread finds in r4 what local memory holds at the places in r2, far apart, and adds 1 to most of
  // them. As nothing loops and cr0 is known, translated code needs nothing of the batch between threads of a
  // group.
  constexpr std::string_view adds_one = R"(
b0: ip 0x0 count 3
  %mode = constant.u32x1 0x4c0
  fpmode_set.u32x1 %mode
  %at = reg_read.u32x8 r2<1;1,0>
  %one = constant.u32x8 1
  %none = constant.u32x8 0
  %some = cmp_ne.u32x8 %at, %none
  %old = atomic.u32x8 add slm[%at], %one ? %some
  reg_write.u32x8 r4<1;1,0>, %old
  exit
)";
  on_every_engine([&](Engine& engine) {
    INFO(engine.name());
    for (const std::uint32_t count : {1u, 2u, 3u}) {
      CAPTURE(count);
      alignas(64) std::array<std::byte, 1024> memory;
      memory.fill(std::byte{0});
      Threads threads(engine, adds_one, count);
      threads.set_local_memory(memory);
      constexpr std::array<std::uint32_t, 8> places{300, 100, 700, 200, 0, 500, 400, 600};
      threads.set_register(2, places);
      for (unsigned round = 0; round < 2; ++round) {
        ThreadBatch batch = threads.batch(true, 3);
        CHECK(threads.run(batch) == Status::Exited);
        CHECK(batch.threads == 0);
        for (std::uint32_t t = 0; t < count; ++t)
          CHECK(threads.dword(t, 4) == (count == 1 ? 0 : (3 * round + 2) * count + t));
      }
    }
  });
}

TEST_CASE("batch: each thread runs in its own floating point mode") {
  constexpr std::string_view third = R"(
b0: ip 0x0 count 3
  %m = reg_read.u32x1 r1<1;1,0>
  fpmode_set.u32x1 %m
  %a = constant.f32x8 0x3f800000
  %c = constant.f32x8 0x40400000
  %r = div.f32x8 %a, %c
  reg_write.f32x8 r2<1;1,0>, %r
  reg_write.u32x1 r1<1;1,0>, %m
  wait b1
b1: ip 0x30 count 1
  %b = constant.f32x8 0x3f800000
  %d = constant.f32x8 0x40400000
  %q = div.f32x8 %b, %d
  reg_write.f32x8 r3<1;1,0>, %q
  exit
)";
  on_every_engine([&](Engine& engine) {
    INFO(engine.name());
    Threads threads(engine, third, 64);
    for (unsigned round = 0; round < 2; ++round) {
      for (bool begins : {true, false}) {
        ThreadBatch batch = threads.batch(begins);
        threads.run(batch);
        CHECK(batch.threads == 0);
      }
      // cr0 is the number of the thread; bits 5:4 are the rounding mode.
      for (std::uint32_t t = 0; t < 64; ++t) {
        const std::uint32_t expected = (t >> 4 & 3) == 1 || (t >> 4 & 3) == 0 ? 0x3eaaaaab : 0x3eaaaaaa;
        CHECK(threads.dword(t, 2) == expected);
        CHECK(threads.dword(t, 3) == expected);
      }
    }
  });
}

TEST_CASE("batch: a thread that begins keeps the regions that the one before in its state has found") {
  on_every_engine([&](Engine& engine) {
    INFO(engine.name());
    // The function has an access by address that no thread executes.
    Threads threads(engine,
                    "b0: ip 0x0 count 1\n  %none = constant.mx1 0\n  %a = constant.u64x1 0x1000\n"
                    "  %x = load.u32x1 a64[%a] ? %none\n  exit\n",
                    3);
    const std::uint32_t regions = threads.executable().layout().region_count;
    REQUIRE(regions == StateLayout::narrow_region_count + 1);
    for (std::uint32_t t = 0; t < 3; ++t)
      for (std::uint32_t i = 0; i < regions; ++i) threads.region(t, i) = {0x1000 * (t + 1), i + 1, nullptr};
    ThreadBatch batch = threads.batch(true);
    CHECK(threads.run(batch) == Status::Exited);
    for (std::uint32_t t = 0; t < 3; ++t)
      for (std::uint32_t i = 0; i < regions; ++i) {
        CHECK(threads.region(t, i).start == 0x1000 * (t + 1));
        CHECK(threads.region(t, i).size == i + 1);
      }
  });
}
