// Threads in batches: whatever the previous thread left in a state, the next one that runs in it begins with
// the header and the restored slots it should have. A batch stops where a thread faults or pauses or the
// allowance is used up, and can continue from there.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "jit/engine.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"
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

/// `count` threads of a function: thread t finds t in r1, and the header is filled with 100.
class Threads {
 public:
  Threads(Engine& engine, std::string_view text, std::uint32_t count, CompileOptions options = {})
      : count_(count) {
    ir::Function function = function_of_text(text);
    auto compiled = engine.compile(function, options);
    if (!compiled) FAIL(compiled.error().message);
    executable_ = *std::move(compiled);
    const StateLayout& layout = executable_->layout();
    states_.reset(
        static_cast<std::byte*>(::operator new (count* std::size_t{layout.size}, std::align_val_t{64})));
    std::memset(states_.get(), 0xee, count * std::size_t{layout.size});
    for (std::uint32_t t = 0; t < count; ++t) {
      ThreadState& s = *new (&state(t)) ThreadState;
      s.environment = &environment_;
      s.resume = 77;
      s.barrier_signals = 77;
      for (const FileRange& range : executable_->restored())
        for (std::uint32_t at = 0; at < range.bytes; at += 4) {
          const std::uint32_t value = range.offset + at < 64 ? t : 0;
          const auto* bytes = reinterpret_cast<const std::byte*>(&value);
          restored_.insert(restored_.end(), bytes, bytes + 4);
        }
    }
    for (std::uint32_t t = 0; t < count; ++t)
      state(t).begin = {{}, restored_.data() + t * (restored_.size() / count), 0xff};
    set_header(100);
  }
  void set_header(std::uint32_t value) {
    for (std::uint32_t t = 0; t < count_; ++t) state(t).begin.header.fill(value);
  }

  ThreadState& state(std::uint32_t t) {
    return *reinterpret_cast<ThreadState*>(states_.get() + t * std::size_t{executable_->layout().size});
  }
  /// All threads of `groups` groups, whose headers differ by 0x1000.
  ThreadBatch batch(bool begins, std::uint32_t groups = 1) {
    ThreadBatch batch;
    batch.state = &state(0);
    batch.threads = groups * count_;
    if (begins) {
      headers_.resize(groups);
      for (std::uint32_t g = 0; g < groups; ++g) headers_[g].bits.fill(0x1000 * g);
      batch.groups = headers_.data();
      batch.group_threads = count_;
      batch.group_states = &state(0);
    }
    batch.granted = 1000;
    batch.left = 1'000'000;
    return batch;
  }
  Status run(ThreadBatch& batch) {
    FpScope scope;
    return executable_->run(batch, scope);
  }
  void set_dword(std::uint32_t t, unsigned reg, std::uint32_t value) {
    std::memcpy(executable_->layout().file_of(state(t)) + reg * 32, &value, 4);
  }
  /// Of all threads, whether it is restored or not.
  void set_register(unsigned reg, const std::array<std::uint32_t, 8>& value) {
    const std::size_t each = restored_.size() / count_;
    for (std::uint32_t t = 0; t < count_; ++t) {
      std::memcpy(executable_->layout().file_of(state(t)) + reg * 32, value.data(), sizeof value);
      std::size_t from = t * each;
      for (const FileRange& range : executable_->restored()) {
        if (reg * 32 >= range.offset && reg * 32 < range.offset + range.bytes)
          std::memcpy(&restored_[from + reg * 32 - range.offset], value.data(), sizeof value);
        from += range.bytes;
      }
    }
  }
  void set_local_memory(std::span<std::byte> memory) {
    environment_.slm = memory.data();
    environment_.slm_bytes = static_cast<std::uint32_t>(memory.size());
  }
  const Executable& executable() const { return *executable_; }
  bool register_use_reads(std::uint32_t offset) const {
    return std::ranges::any_of(executable_->register_use().read, [&](const FileRange& range) {
      return offset >= range.offset && offset < range.offset + range.bytes;
    });
  }
  CachedRegion& region(std::uint32_t t, std::uint32_t i) {
    return executable_->layout().regions_of(state(t))[i];
  }
  std::uint32_t dword(std::uint32_t t, unsigned reg) {
    std::uint32_t value;
    std::memcpy(&value, executable_->layout().file_of(state(t)) + reg * 32, 4);
    return value;
  }

 private:
  struct Delete {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::uint32_t count_;
  std::unique_ptr<Executable> executable_;
  Environment environment_;
  std::unique_ptr<std::byte, Delete> states_;
  std::vector<std::byte> restored_;
  std::vector<GroupHeader> headers_;
};

void on_every_engine(const std::function<void(Engine&)>& check) {
  const auto reference = make_reference_engine();
  check(*reference);
  for (const auto* engines : {&other_engines(), &reduced_engines()})
    for (const auto& engine : *engines) check(*engine);
}

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
