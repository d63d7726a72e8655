// Dispatch with threads written as micro-ops: the state in which each thread starts, barriers, faults, and
// that the number of workers changes nothing.
#include "runtime/dispatch/dispatch.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <thread>

#include "runtime/fault_report.hpp"
#include "tests/runtime/dispatch/walked.hpp"

using namespace eum;
using namespace eum::rt;
using Catch::Contains;

TEST_CASE("each thread of each group runs once, with its ids, masks and data", "[dispatch]") {
  for (const jit::EngineKind engine : engines) {
    Walked w("b0: ip 0 count 3\n" + locate +
                 "  %m = mask_get.mx16 mask0\n  %bits = mask_bits.u32x1 %m\n"
                 "  %sr = reg_read.u32x1 reg[" +
                 std::to_string(gen::target(family).offset(eu::StateRegister::State) + 8) +
                 "]<1;1,0>\n"
                 "  %one = constant.u32x1 1\n"
                 "  %c8 = constant.u32x1 8\n  %y8 = shl.u32x1 %y, %c8\n  %z16 = shl.u32x1 %z, %c16\n"
                 "  %xy = or.u32x1 %x, %y8\n  %xyz = or.u32x1 %xy, %z16\n"
                 "  store.u32x1 surface0[%at] {0, 1, 2}, %xyz, %bits, %sr\n"
                 "  %c12 = constant.u32x1 12\n  %last = add.u32x1 %at, %c12\n"
                 "  %count = atomic.u32x1 add surface0[%last], %one\n"
                 "  exit\n",
             engine);
    w.command.groups = {5, 3, 2};
    w.command.threads_per_group = 4;
    w.command.last_mask = 0x1ff;
    for (const unsigned workers : {1u, 2u, 7u}) {
      CAPTURE(jit::info(engine).name, workers);
      w.output(4 * 5 * 3 * 2 * 4);
      const Outcome outcome = w.done(workers);
      CHECK_FALSE(outcome.fault);
      CHECK(outcome.counts.groups == 30);
      CHECK(outcome.counts.threads == 120);
      CHECK(outcome.counts.instructions == 360);
      std::size_t at = 0;
      for (std::uint32_t z = 0; z < 2; ++z)
        for (std::uint32_t y = 0; y < 3; ++y)
          for (std::uint32_t x = 0; x < 5; ++x)
            for (std::uint32_t t = 0; t < 4; ++t, at += 4) {
              const std::uint32_t mask = t == 3 ? 0x1ff : 0xffff;
              CHECK(w.data[at] == (x | y << 8 | z << 16));
              CHECK(w.data[at + 1] == mask);
              CHECK(w.data[at + 2] == mask);
              CHECK(w.data[at + 3] == 1);
            }
    }
  }
}

TEST_CASE("sr0 says in which slot a thread runs, and which vectors have a channel that is on", "[dispatch]") {
  const unsigned state = gen::target(family).offset(eu::StateRegister::State);
  for (const jit::EngineKind engine : engines)
    for (const bool waits : {false, true}) {
      std::string text = "b0: ip 0 count 1\n";
      if (waits) text += "  barrier_signal\n  wait b1\nb1: ip 8 count 1\n";
      text += locate + "  %slot = reg_read.u32x1 r0.5<1;1,0>\n  %c8 = constant.u32x1 8\n";
      for (const unsigned dword : {0u, 1u, 3u})
        text += fmt::format("  %s{} = reg_read.u32x1 reg[{}]<1;1,0>\n", dword, state + 4 * dword);
      text += "  store.u32x1 surface0[%at] {0, 1, 2, 3}, %slot, %s0, %s1, %s3\n";
      // A register that a thread writes is restored for the next thread.
      text += fmt::format("  reg_write.u32x1 reg[{}]<1;1,0>, %c8\n  exit\n", state + 4);
      Walked w(text, engine);
      w.command.groups = {7, 1, 1};
      w.command.threads_per_group = 5;
      w.command.last_mask = 0x0111;
      for (const unsigned workers : {1u, 3u}) {
        CAPTURE(jit::info(engine).name, waits, workers);
        w.output(4 * 7 * 5);
        CHECK_FALSE(w.done(workers).fault);
        std::set<std::uint32_t> slots;
        for (std::size_t at = 0; at < w.data.size(); at += 4) {
          const std::uint32_t slot = w.data[at] & 0x1ff;
          slots.insert(slot);
          CHECK(w.data[at + 1] == (7u << 24 | (slot / 8 % 32) << 8 | slot % 8));
          CHECK(w.data[at + 2] == (slot & 0xff) << 24);
          CHECK(w.data[at + 3] == (at / 4 % 5 == 4 ? 0x0fffu : 0xffffu));
        }
        if (waits) CHECK(slots.size() >= 5);
      }
    }
}

TEST_CASE("group ids count from the first group", "[dispatch]") {
  Walked w(
      "b0: ip 0 count 1\n  %x = reg_read.u32x1 r0.1<1;1,0>\n  %c4 = constant.u32x1 4\n"
      "  %y = reg_read.u32x1 r0.6<1;1,0>\n"
      "  %at = mul.u32x1 %x, %c4\n  store.u32x1 surface0[%at], %y\n  exit\n");
  w.command.first_group = {3, 9, 0};
  w.command.groups = {2, 1, 1};
  w.output(6);
  CHECK_FALSE(w.done(1).fault);
  CHECK(w.data == std::vector<std::uint32_t>{0, 0, 0, 9, 9, 0});
}

TEST_CASE("registers that no payload fills are zero, whatever ran before", "[dispatch]") {
  for (const jit::EngineKind engine : engines) {
    Walked w("b0: ip 0 count 1\n" + locate +
                 "  %old = reg_read.u32x1 r77.3<1;1,0>\n  store.u32x1 surface0[%at], %old\n"
                 "  %f = flag_read.mx16 f1.0\n  %fb = mask_bits.u32x1 %f\n"
                 "  %c4 = constant.u32x1 4\n  %at4 = add.u32x1 %at, %c4\n"
                 "  store.u32x1 surface0[%at4], %fb\n"
                 "  %m = mask_get.mx16 mask0\n  flag_write.mx16 f1.0, %m\n"
                 "  reg_write.u32x1 r77.3<1;1,0>, %c4\n  exit\n",
             engine);
    w.command.groups = {4, 1, 1};
    w.command.threads_per_group = 2;
    w.output(4 * 8);
    CHECK_FALSE(w.done(1).fault);
    CHECK(w.data == std::vector<std::uint32_t>(4 * 8, 0));
  }
}

TEST_CASE("registers that another walk's code has written are zero for code that reads them", "[dispatch]") {
  for (const jit::EngineKind engine : engines) {
    // Exact registers, so that the writes are done although nothing reads them.
    Walked writer("b0: ip 0 count 1\n" + locate +
                      "  reg_write.u32x1 r3.2<1;1,0>, %c16\n  reg_write.u32x1 r77.3<1;1,0>, %c16\n"
                      "  %m = mask_get.mx16 mask0\n  flag_write.mx16 f1.0, %m\n"
                      "  store.u32x1 surface0[%at], %c16\n  exit\n",
                  engine, 16, {.exact_registers = true});
    Walked reader("b0: ip 0 count 1\n" + locate +
                      "  %near = reg_read.u32x1 r3.2<1;1,0>\n  %far = reg_read.u32x1 r77.3<1;1,0>\n"
                      "  %f = flag_read.mx16 f1.0\n  %flags = mask_bits.u32x1 %f\n"
                      "  store.u32x1 surface0[%at] {0, 1, 2}, %near, %far, %flags\n  exit\n",
                  engine);
    Workers pool(1);
    for (Walked* walked : {&writer, &reader}) {
      walked->command.groups = {20, 1, 1};
      walked->command.threads_per_group = 2;
      walked->output(std::size_t{4} * 40);
      const auto outcome = walked->run(pool, 1);
      REQUIRE(outcome);
      CHECK_FALSE(outcome->fault);
    }
    CHECK(writer.data[0] == 16);
    CHECK(reader.data == std::vector<std::uint32_t>(std::size_t{4} * 40, 0));
  }
}

namespace {

/// Each thread writes its number + 1 to SLM, waits, and stores what its neighbour wrote there; twice.
std::string neighbours() {
  std::string text = "b0: ip 0 count 1\n  jump b1\n";
  for (int round = 0; round < 2; ++round) {
    const int b = 1 + 2 * round;
    text += fmt::format("b{}: ip 0 count 1\n", b) + locate +
            "  %c4 = constant.u32x1 4\n  %one = constant.u32x1 1\n"
            "  %mine = mul.u32x1 %t, %c4\n  %v = load.u32x1 slm[%mine]\n"
            "  %n = add.u32x1 %t, %one\n  %sum = add.u32x1 %v, %n\n"
            "  store.u32x1 slm[%mine], %sum\n"
            "  barrier_signal\n" +
            fmt::format("  wait b{}\n", b + 1);
    text += fmt::format("b{}: ip 0 count 1\n", b + 1) + locate +
            "  %c4 = constant.u32x1 4\n  %one = constant.u32x1 1\n"
            "  %next = add.u32x1 %t, %one\n  %wrapped = rem.u32x1 %next, %nt\n"
            "  %theirs = mul.u32x1 %wrapped, %c4\n  %v = load.u32x1 slm[%theirs]\n"
            "  %offset = constant.u32x1 " +
            std::to_string(4 * round) +
            "\n  %where = add.u32x1 %at, %offset\n  store.u32x1 surface0[%where], %v\n"
            "  barrier_signal\n" +
            fmt::format("  wait b{}\n", b + 2);
  }
  return text + "b5: ip 0 count 1\n  exit\n";
}

}  // namespace

TEST_CASE("threads of a group meet at barriers, and each group has fresh local memory", "[dispatch]") {
  for (const jit::EngineKind engine : engines)
    for (const unsigned workers : {1u, 2u, 5u})
      for (const std::uint32_t threads : {1u, 2u, 7u, 56u}) {
        CAPTURE(jit::info(engine).name, workers, threads);
        Walked w(neighbours(), engine);
        w.command.groups = {6, 1, 1};
        w.command.threads_per_group = threads;
        w.command.slm_bytes = 4 * threads;
        w.output(4 * 6 * threads);
        const Outcome outcome = w.done(workers);
        CHECK_FALSE(outcome.fault);
        CHECK(outcome.counts.threads == 6 * threads);
        for (std::uint32_t i = 0; i < 6 * threads; ++i) {
          const std::uint32_t neighbour = (i % threads + 1) % threads;
          REQUIRE(w.data[4 * i] == neighbour + 1);
          REQUIRE(w.data[4 * i + 1] == 2 * (neighbour + 1));
        }
      }
}

TEST_CASE("groups that wait and follow each other are as if each ran alone", "[dispatch]") {
  // The code sets its FP mode first, as compiled code does, so an engine may begin the next group by itself.
  // In group 70, thread 1 stops before or behind its barrier: it exits, traps, or spins until its budget is
  // used up.
  const std::string mode = "b0: ip 0 count 1\n  %mode = constant.u32x1 0x4c0\n  fpmode_set.u32x1 %mode\n";
  const std::string wanted = locate +
                             "  %c70 = constant.u32x1 70\n  %g = cmp_eq.u32x1 %x, %c70\n"
                             "  %c1 = constant.u32x1 1\n  %n = cmp_eq.u32x1 %t, %c1\n"
                             "  %m = and.mx1 %g, %n\n";
  const std::string count =
      "  %v = load.u32x1 slm[%t]\n  %w = add.u32x1 %v, %c16\n  store.u32x1 slm[%t], %w\n"
      "  store.u32x1 surface0[%at], %w\n";
  for (const bool behind : {false, true})
    for (const std::string stop : {"  exit\n", "  trap \"no such thing\"\n", "  jump b4\n"}) {
      const std::string first = behind ? "  jump b1\n" : "  branch_any.mx1 %m, b4, b1\n";
      const std::string second = behind ? "  branch_any.mx1 %m, b4, b3\n" : "  jump b3\n";
      const std::string body = mode + wanted + first + "b1: ip 0x10 count 3\n  barrier_signal\n  wait b2\n" +
                               "b2: ip 0x20 count 5\n" + wanted + count + second +
                               "b3: ip 0x30 count 1\n  exit\nb4: ip 0x40 count 2\n" + stop;
      for (const std::uint32_t threads : {2u, 3u, 7u}) {
        CAPTURE(behind, stop, threads);
        std::vector<std::unique_ptr<Walked>> walked;
        std::vector<Outcome> outcomes;
        for (const jit::EngineKind engine : engines) {
          Walked& w = *walked.emplace_back(std::make_unique<Walked>(body, engine));
          w.command.groups = {150, 1, 1};
          w.command.threads_per_group = threads;
          w.command.slm_bytes = 64;
          w.command.budget = 1000;
          w.output(std::size_t{4} * 150 * threads);
          outcomes.push_back(w.done(1));
        }
        const auto& [reference, fast] = std::tie(outcomes[0], outcomes[1]);
        CHECK(walked[0]->data == walked[1]->data);
        CHECK(fast.counts.groups == reference.counts.groups);
        CHECK(fast.counts.threads == reference.counts.threads);
        CHECK(fast.counts.instructions == reference.counts.instructions);
        REQUIRE(fast.fault.has_value() == reference.fault.has_value());
        const bool deadlock = stop == "  exit\n" && !behind;
        if (!fast.fault) {
          CHECK(fast.counts.groups == 150);
          continue;
        }
        CHECK(fast.counts.groups == 70);
        CHECK(fast.fault->cause == reference.fault->cause);
        CHECK(fast.fault->group == std::array<std::uint32_t, 3>{70, 0, 0});
        CHECK(fast.fault->thread == (deadlock ? 0u : 1u));
      }
    }
}

TEST_CASE("rows of local memory are those of the group, where a batch has several", "[dispatch]") {
  // Groups with an even number fill rows of local memory; then each channel advances along its own row.
  const std::string rows =
      "  %r = vconst.u32x16 {0, 64, 128, 192, 256, 320, 384, 448, 512, 576, 640, 704, 768, 832, 896, 960}\n";
  std::string fill = "b1: ip 0x10 count 1\n" + rows + "  %v = constant.u32x16 7\n";
  for (int k = 0; k < 16; ++k)
    fill += fmt::format(
        "  %c{0} = constant.u32x16 {1}\n  %a{0} = add.u32x16 %r, %c{0}\n"
        "  store.u32x16 slm[%a{0}], %v\n",
        k, 4 * k);
  for (const bool waits : {false, true}) {
    const std::string body =
        "b0: ip 0 count 1\n  %mode = constant.u32x1 0x4c0\n  fpmode_set.u32x1 %mode\n" + locate +
        "  %one = constant.u32x1 1\n  %odd = and.u32x1 %x, %one\n  %m = cmp_eq.u32x1 %odd, %one\n"
        "  branch_any.mx1 %m, b2, b1\n" +
        fill + "  jump b2\nb2: ip 0x20 count 1\n" + rows +
        "  %z = constant.u32x16 0\n  %i = constant.u32x1 0\n  reg_write.u32x16 r20<1;1,0>, %r\n"
        "  reg_write.u32x16 r22<1;1,0>, %z\n  reg_write.u32x1 r24<1;1,0>, %i\n" +
        (waits ? "  barrier_signal\n  wait b3\n" : "  jump b3\n") +
        "b3: ip 0x30 count 1 safepoint\n  %a = reg_read.u32x16 r20<1;1,0>\n  %v = load.u32x16 slm[%a]\n"
        "  %s = reg_read.u32x16 r22<1;1,0>\n  %sv = add.u32x16 %s, %v\n"
        "  reg_write.u32x16 r22<1;1,0>, %sv\n  %four = constant.u32x16 4\n  %b = add.u32x16 %a, %four\n"
        "  reg_write.u32x16 r20<1;1,0>, %b\n  %i = reg_read.u32x1 r24<1;1,0>\n"
        "  %one = constant.u32x1 1\n  %j = add.u32x1 %i, %one\n  reg_write.u32x1 r24<1;1,0>, %j\n"
        "  %n = constant.u32x1 16\n  %m = cmp_lt.u32x1 %j, %n\n  branch_any.mx1 %m, b3, b4\n"
        "b4: ip 0x40 count 1\n" +
        locate +
        "  %s = reg_read.u32x16 r22<1;1,0>\n  %four = constant.u32x1 4\n  %o = mul.u32x1 %at, %four\n"
        "  %os = splat.u32x16 %o\n"
        "  %l = vconst.u32x16 {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60}\n"
        "  %to = add.u32x16 %os, %l\n  store.u32x16 surface0[%to], %s\n  exit\n";
    for (const jit::EngineKind engine : engines)
      for (const std::uint32_t threads : {1u, 2u}) {
        CAPTURE(jit::info(engine).name, waits, threads);
        Walked w(body, engine);
        w.command.groups = {20, 1, 1};
        w.command.threads_per_group = threads;
        w.command.slm_bytes = 1024;
        w.output(std::size_t{16} * 20 * threads);
        CHECK_FALSE(w.done(1).fault);
        for (std::size_t i = 0; i < w.data.size(); ++i)
          REQUIRE(w.data[i] == (i / (16 * threads) % 2 == 0 ? 16u * 7 : 0u));
      }
  }
}

TEST_CASE("a barrier that a thread never reaches is a named fault", "[dispatch]") {
  // Thread 0 exits at once; the others wait.
  const std::string body = "b0: ip 0 count 1\n" + locate +
                           "  %zero = constant.u32x1 0\n  %m = cmp_eq.u32x1 %t, %zero\n"
                           "  branch_any.mx1 %m, b3, b1\n"
                           "b1: ip 0 count 1\n  barrier_signal\n  wait b2\n"
                           "b2: ip 0 count 1\n  exit\nb3: ip 0 count 1\n  exit\n";
  for (const unsigned workers : {1u, 3u}) {
    Walked w(body);
    w.command.groups = {4, 1, 1};
    w.command.threads_per_group = 3;
    const GuestFault fault = w.fault(workers);
    CHECK(fault.cause == GuestFault::Cause::Deadlock);
    REQUIRE(fault.waiters.size() == 2);
    CHECK(fault.waiters[1].thread == 2);
    CHECK(fault.ended == 1);
    CHECK(fault.thread == 1);
    CHECK(fault.group == std::array<std::uint32_t, 3>{0, 0, 0});
    CHECK_THAT(
        report(fault, KernelCode{"k", {}, family, 16}, {}, {}).message,
        Contains("barrier deadlock in group 0,0,0: 2 threads wait, 1 have ended; threads 1, 2 at 0x0"));
  }
}

TEST_CASE("a thread may signal the barrier and end", "[dispatch]") {
  Walked w("b0: ip 0 count 1\n" + locate +
           "  barrier_signal\n  %zero = constant.u32x1 0\n  %m = cmp_eq.u32x1 %t, %zero\n"
           "  branch_any.mx1 %m, b2, b1\n"
           "b1: ip 0 count 1\n  wait b2\nb2: ip 0 count 1\n  exit\n");
  w.command.threads_per_group = 4;
  CHECK_FALSE(w.done(1).fault);
}

TEST_CASE("waiting without a signal is a deadlock, not a hang", "[dispatch]") {
  Walked w("b0: ip 0 count 1\n  wait b1\nb1: ip 0 count 1\n  exit\n");
  CHECK(w.fault(1).cause == GuestFault::Cause::Deadlock);
}

TEST_CASE("a kernel that never ends uses up its budget", "[dispatch]") {
  for (const jit::EngineKind engine : engines)
    for (const unsigned workers : {1u, 4u}) {
      Walked w("b0: ip 0 count 4\n  jump b0\n", engine);
      w.command.groups = {9, 1, 1};
      w.command.budget = 100000;
      const GuestFault fault = w.fault(workers);
      CHECK(fault.cause == GuestFault::Cause::Budget);
      CHECK(fault.group == std::array<std::uint32_t, 3>{0, 0, 0});
    }
}

TEST_CASE("the fault of the lowest group is reported, whatever the workers do", "[dispatch]") {
  // Group 5 traps; later groups never end, so workers that run them must be stopped.
  const std::string body = "b0: ip 0x10 count 1\n" + locate +
                           "  %four = constant.u32x1 4\n  %m = cmp_gt.u32x1 %x, %four\n"
                           "  branch_any.mx1 %m, b1, b3\n"
                           "b1: ip 0x20 count 1\n  %x1 = reg_read.u32x1 r0.1<1;1,0>\n"
                           "  %five = constant.u32x1 5\n"
                           "  %m = cmp_eq.u32x1 %x1, %five\n  branch_any.mx1 %m, b2, b4\n"
                           "b2: ip 0x30 count 1\n  trap \"no such thing\"\n"
                           "b3: ip 0x40 count 1\n  exit\nb4: ip 0x50 count 1\n  jump b4\n";
  for (const jit::EngineKind engine : engines)
    for (const unsigned workers : {1u, 2u, 6u}) {
      CAPTURE(jit::info(engine).name, workers);
      Walked w(body, engine);
      w.command.groups = {64, 1, 1};
      w.command.threads_per_group = 2;
      const GuestFault fault = w.fault(workers);
      CHECK(fault.cause == GuestFault::Cause::Instruction);
      CHECK(fault.fault.kind == jit::FaultKind::Unsupported);
      CHECK(fault.fault.guest_ip == 0x30);
      CHECK(fault.group == std::array<std::uint32_t, 3>{5, 0, 0});
      CHECK(fault.thread == 0);
    }
}

TEST_CASE("a fault ends a walk of very many groups at once", "[dispatch]") {
  // With atomics, groups are handed out in order; without them each worker has its own range of groups.
  const std::string count =
      "  %a = constant.u32x1 0\n  %one = constant.u32x1 1\n  atomic.u32x1 add surface0[%a], %one\n";
  for (const std::string& first : {std::string(), count})
    for (const unsigned workers : {1u, 2u}) {
      CAPTURE(first, workers);
      // Group 255 traps, the last one of the groups handed out at once.
      Walked w("b0: ip 0x10 count 1\n" + first +
               "  %x = reg_read.u32x1 r0.1<1;1,0>\n  %last = constant.u32x1 255\n"
               "  %m = cmp_eq.u32x1 %x, %last\n  branch_any.mx1 %m, b1, b2\n"
               "b1: ip 0x20 count 1\n  trap \"no such thing\"\nb2: ip 0x30 count 1\n  exit\n");
      w.output(1);
      w.command.groups = {1u << 20, 1u << 20, 1u << 20};
      CHECK(w.fault(workers).group == std::array<std::uint32_t, 3>{255, 0, 0});
    }
}

TEST_CASE("atomics count right on any number of workers, in memory of the dispatch's own too", "[dispatch]") {
  const std::string body =
      "b0: ip 0 count 1\n  %a = constant.u32x8 0\n  %one = constant.u32x8 1\n"
      "  atomic.u32x8 add surface0[%a], %one\n"
      "  %b = constant.u32x8 4\n  %old = atomic.u32x8 sub surface0[%b], %one\n"
      "  %c = constant.u32x1 8\n  %two = constant.u32x1 2\n  %same = atomic.u32x1 revsub surface0[%c], %two\n"
      "  exit\n";
  for (const jit::EngineKind engine : engines)
    for (const bool exclusive : {false, true})
      for (const unsigned workers : {1u, 2u, 4u}) {
        CAPTURE(jit::info(engine).name, exclusive, workers);
        Walked w(body, engine);
        w.output(4);
        w.command.exclusive = exclusive;
        const std::uint32_t groups = engine == jit::EngineKind::reference ? 1u << 11 : 1u << 16;
        w.command.groups = {groups, 1, 1};
        w.command.threads_per_group = 2;
        CHECK_FALSE(w.done(workers).fault);
        CHECK(w.data == std::vector<std::uint32_t>{groups * 16, 0 - groups * 16, 0, 0});
      }
}

TEST_CASE("atomics of a walk that shares its memory are atomic to threads of the host", "[dispatch]") {
  Walked w(
      "b0: ip 0 count 1\n  %a = constant.u32x8 0\n  %one = constant.u32x8 1\n"
      "  atomic.u32x8 add surface0[%a], %one\n  %old = atomic.u32x8 add surface0[%a], %one\n  exit\n",
      jit::EngineKind::avx2);
  w.output(1);
  constexpr std::uint32_t groups = 1u << 19;
  w.command.groups = {groups, 1, 1};
  std::atomic<bool> begun = false, done = false;
  std::uint32_t added = 0;
  std::thread host([&] {
    const std::atomic_ref<std::uint32_t> shared(w.data[0]);
    for (begun = true; !done; ++added) ++shared;
  });
  while (!begun) std::this_thread::yield();
  const Outcome outcome = w.done(1);
  done = true;
  host.join();
  CHECK_FALSE(outcome.fault);
  CHECK(w.data[0] == groups * 16 + added);
}

TEST_CASE("scratch is a thread's own while it runs, zeroed, at the place that r0.5 names", "[dispatch]") {
  // Threads that wait have a slot each; others run one after the other in their worker's slot.
  const auto check = [](jit::EngineKind engine, unsigned workers, bool waits) {
    CAPTURE(jit::info(engine).name, workers, waits);
    // Adds 1 to its scratch through a scratch message, and stores what an A32 message finds there afterwards.
    Walked w("b0: ip 0 count 1\n" + locate +
                 "  %where = constant.u32x1 8\n  %one = constant.u32x1 1\n"
                 "  %old = load.u32x1 scratch[%where]\n  %new = add.u32x1 %old, %one\n"
                 "  store.u32x1 scratch[%where], %new\n"
                 "  %r05 = reg_read.u32x1 r0.5<1;1,0>\n  %page = constant.u32x1 0xfffffc00\n"
                 "  %base = and.u32x1 %r05, %page\n  %flat = add.u32x1 %base, %where\n"
                 "  %seen = load.u32x1 a32[%flat]\n"
                 "  store.u32x1 surface0[%at] {0, 1}, %seen, %r05\n" +
                 (waits ? "  barrier_signal\n  wait b1\nb1: ip 0 count 1\n  exit\n" : "  exit\n"),
             engine);
    auto device = Device::create({.engine = jit::EngineKind::reference, .workers = workers});
    REQUIRE(device);
    const std::uint32_t slots = thread_slots(workers, waits, 3);
    CHECK(slots == (waits ? 3 * workers : workers + 2));
    const auto scratch = (*device)->scratch(2048, slots);
    REQUIRE(scratch);
    w.command.scratch = *scratch;
    w.command.space = &(*device)->memory();
    w.command.groups = {10, 1, 1};
    w.command.threads_per_group = 3;
    w.output(4 * 30);
    CHECK_FALSE(w.done(workers).fault);
    for (std::uint32_t group = 0; group < 10; ++group) {
      std::set<std::uint32_t> r05;
      for (std::uint32_t t = 0; t < 3; ++t) {
        const std::uint32_t at = 4 * (group * 3 + t);
        CHECK(w.data[at] == 1);
        r05.insert(w.data[at + 1]);
        const std::uint32_t slot = w.data[at + 1] & 0x1ff;
        CHECK((w.data[at + 1] & ~1023u) == scratch->address + 2048 * slot);
      }
      CHECK(r05.size() == (waits ? 3 : 1));
    }
  };
  for (const jit::EngineKind engine : engines)
    for (const unsigned workers : {1u, 2u})
      for (const bool waits : {true, false}) check(engine, workers, waits);
}

TEST_CASE("a request that cannot be served says what was expected", "[dispatch]") {
  const auto refusal = [](auto change) {
    Walked w("b0: ip 0 count 1\n  exit\n");
    change(w.command);
    const auto outcome = w.run(1);
    REQUIRE_FALSE(outcome);
    return outcome.error().message;
  };
  CHECK_THAT(refusal([](WalkerCommand& c) { c.threads_per_group = 65; }), Contains("1 to 64 threads"));
  CHECK_THAT(refusal([](WalkerCommand& c) { c.slm_bytes = 65537; }), Contains("at most 65536 bytes"));
  CHECK_THAT(refusal([](WalkerCommand& c) { c.per_thread_bytes = 64; }), Contains("expected 64 bytes"));
  CHECK_THAT(refusal([](WalkerCommand& c) { c.scratch.bytes = 1024; }),
             Contains("scratch memory for 1 threads, found 0"));
  CHECK_THAT(refusal([](WalkerCommand& c) {
               static std::byte memory[100];
               c.scratch = {.base = memory, .bytes = 100, .slots = 1};
             }),
             Contains("scratch memory in units of 64 bytes, found 100"));
  CHECK_THAT(refusal([](WalkerCommand& c) { c.surfaces = nullptr; }), Contains("binding table"));
  CHECK_THAT(refusal([](WalkerCommand& c) { c.groups = {~0u, ~0u, ~0u}; }), Contains("too many"));
}

TEST_CASE("a walk whose local ids are not what its code relies on is refused", "[dispatch]") {
  const jit::CompileOptions options{.exact_registers = false, .launch = {.ids = {32, 16, 16}}};
  Walked walked("b0: ip 0x0 count 1\n  exit\n", jit::EngineKind::avx2, 16, options);
  walked.command.threads_per_group = 2;
  walked.complete(1);
  std::array<std::uint16_t, 32> ids{};
  walked.command.per_thread = std::as_bytes(std::span(ids));
  Workers pool(1);
  const auto refusal = [&] {
    const auto dispatch = Dispatch::create(pool, walked.command);
    return dispatch ? std::string() : dispatch.error().message;
  };
  for (std::uint16_t i = 0; i < 32; ++i) ids[i] = i;
  CHECK(refusal().empty());
  for (std::uint16_t i = 0; i < 32; ++i) ids[i] = i % 8;
  CHECK(refusal() ==
        "walk: expected local ids that go up by 1 in runs of 16, as its code relies on, found runs of 8");
  for (std::uint16_t i = 0; i < 32; ++i) ids[i] = static_cast<std::uint16_t>(0x7ff8 + i % 16);
  CHECK_THAT(refusal(), Catch::Contains("found none"));
  for (std::uint16_t i = 0; i < 32; ++i) ids[i] = i == 31 ? 0 : i;
  CHECK_THAT(refusal(), Catch::Contains("found none"));
  walked.command.last_mask = 0x7fff;  // ids are not checked in a thread that begins with an inactive channel
  CHECK(refusal().empty());
}

TEST_CASE("a walk whose threads are not what its code relies on is refused", "[dispatch]") {
  const jit::CompileOptions options{.exact_registers = false,
                                    .launch = {.channels = 8, .lone_threads = true}};
  Walked walked("b0: ip 0x0 count 1\n  exit\n", jit::EngineKind::avx2, 16, options);
  walked.command.threads_per_group = 1;
  Workers pool(1);
  const auto refusal = [&] {
    walked.complete(1);
    const auto dispatch = Dispatch::create(pool, walked.command);
    return dispatch ? std::string() : dispatch.error().message;
  };
  walked.command.last_mask = 0xff;
  CHECK(refusal().empty());
  walked.command.last_mask = 0x1ff;
  CHECK(refusal() == "walk: expected threads of 8 channels, as its code relies on, found the mask 0x1ff");
  walked.command.last_mask = 0xff;
  walked.command.threads_per_group = 2;
  CHECK(refusal() == "walk: expected groups of one thread, as its code relies on, found 2 threads");
}

TEST_CASE("groups of one thread find local memory zeroed, and do not wait", "[dispatch]") {
  // Each group adds to local memory and stores the value it found there.
  const std::string body = locate +
                           "  %zero = constant.u32x1 0\n  %old = load.u32x1 slm[%zero]\n"
                           "  %one = constant.u32x1 1\n  %new = add.u32x1 %old, %one\n"
                           "  store.u32x1 slm[%zero], %new\n  barrier_signal\n  wait b1\n"
                           "b1: ip 0x10 count 1\n" +
                           locate +
                           "  %zero = constant.u32x1 0\n  %now = load.u32x1 slm[%zero]\n"
                           "  store.u32x1 surface0[%at], %now\n  exit\n";
  for (const jit::EngineInfo& engine : jit::engines()) {
    if (!engine.make()) continue;  // not possible on this host
    for (const bool lone : {false, true}) {
      for (const std::uint32_t slm : {64u, 5000u}) {
        INFO(engine.name << (lone ? ", known" : "") << ", " << slm);
        const jit::CompileOptions options{.exact_registers = false, .launch = {.lone_threads = lone}};
        Walked walked("b0: ip 0x0 count 1\n" + body, engine.kind, 16, options);
        walked.command.groups = {100, 3, 1};
        walked.command.slm_bytes = slm;
        walked.output(4 * 300);
        const auto outcome = walked.done(2);
        CHECK(outcome.counts.groups == 300);
        CHECK(outcome.counts.threads == 300);
        for (std::size_t group = 0; group < 300; ++group) REQUIRE(walked.data[4 * group] == 1);
      }
    }
  }
}

TEST_CASE("no groups, no threads", "[dispatch]") {
  Walked w("b0: ip 0 count 1\n  exit\n");
  w.command.groups = {4, 0, 1};
  CHECK(w.done(2).counts.threads == 0);
}
