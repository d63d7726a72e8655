// A dispatch that is stepped, stopped, saved, and continued by another dispatch.
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <thread>

#include "tests/kernels/case_runner.hpp"
#include "tests/runtime/dispatch/walked.hpp"

using namespace eum;
using namespace eum::rt;
using Catch::Contains;
using Progress = Dispatch::Progress;

namespace {

/// Thread 0 spins until another thread has stored to byte 4 of the surface.
const std::string spin = "b0: ip 0 count 1\n" + locate +
                         "  %zero = constant.u32x1 0\n  %m = cmp_eq.u32x1 %t, %zero\n"
                         "  branch_any.mx1 %m, b1, b3\n"
                         "b1: ip 0x10 count 4\n  %c4 = constant.u32x1 4\n"
                         "  %flag = load.u32x1 surface0[%c4]\n  %none = constant.u32x1 0\n"
                         "  %wait = cmp_eq.u32x1 %flag, %none\n  branch_any.mx1 %wait, b1, b2\n"
                         "b2: ip 0x20 count 1\n  %zero2 = constant.u32x1 0\n  %two = constant.u32x1 2\n"
                         "  store.u32x1 surface0[%zero2], %two\n  exit\n"
                         "b3: ip 0x30 count 1\n  %where = constant.u32x1 4\n  %one = constant.u32x1 1\n"
                         "  store.u32x1 surface0[%where], %one\n  exit\n";

std::unique_ptr<Dispatch> begun(Workers& workers, const WalkerCommand& walk,
                                const DispatchImage* from = nullptr) {
  auto dispatch = Dispatch::create(workers, walk, from);
  if (!dispatch) FAIL(dispatch.error().message);
  return std::move(*dispatch);
}

Progress stepped(Dispatch& dispatch, std::uint64_t budget = Dispatch::unlimited) {
  const auto progress = dispatch.step(budget);
  if (!progress) FAIL(progress.error().message);
  return *progress;
}

}  // namespace

TEST_CASE("a thread may wait for what another one of its group does", "[dispatch]") {
  for (const jit::EngineKind engine : engines)
    for (const unsigned workers : {1u, 2u})
      for (const std::uint32_t threads : {2u, 7u, 64u}) {
        CAPTURE(jit::info(engine).name, workers, threads);
        Walked w(spin, engine);
        w.command.threads_per_group = threads;
        w.command.groups = {3, 1, 1};
        w.output(4);
        const Outcome outcome = w.done(workers);
        CHECK_FALSE(outcome.fault);
        CHECK(outcome.counts.threads == 3 * threads);
        CHECK(w.data[0] == 2);
        CHECK(w.data[1] == 1);
      }
}

TEST_CASE("groups that wait at the same time find slots one after the other", "[dispatch]") {
  // There are slots for one group whose threads take turns, and four workers whose groups all need them.
  const std::string own = "b0: ip 0 count 1\n" + locate +
                          "  %zero = constant.u32x1 0\n  %m = cmp_eq.u32x1 %t, %zero\n"
                          "  branch_any.mx1 %m, b1, b3\n"
                          "b1: ip 0x10 count 4\n  %x1 = reg_read.u32x1 r0.1<1;1,0>\n"
                          "  %c4 = constant.u32x1 4\n  %mine = mul.u32x1 %x1, %c4\n"
                          "  %flag = load.u32x1 surface0[%mine]\n  %none = constant.u32x1 0\n"
                          "  %wait = cmp_eq.u32x1 %flag, %none\n  branch_any.mx1 %wait, b1, b2\n"
                          "b2: ip 0x20 count 1\n  exit\n"
                          "b3: ip 0x30 count 1\n  %x3 = reg_read.u32x1 r0.1<1;1,0>\n"
                          "  %d4 = constant.u32x1 4\n  %there = mul.u32x1 %x3, %d4\n"
                          "  %one = constant.u32x1 1\n  store.u32x1 surface0[%there], %one\n  exit\n";
  Walked w(own, jit::EngineKind::avx2);
  w.command.threads_per_group = 8;
  w.command.groups = {16, 1, 1};
  w.output(16);
  CHECK_FALSE(w.done(4).fault);
  CHECK(w.data == std::vector<std::uint32_t>(16, 1));
}

TEST_CASE("a group may wait for one that another worker does", "[dispatch]") {
  // The first group, alone at first, waits for the last one; with atomics, where workers measure how fast
  // they are together, and without.
  for (const bool atomics : {false, true}) {
    const std::string counts = "  %p = constant.u32x1 4\n  atomic.u32x1 inc surface0[%p]\n";
    const std::string text = "b0: ip 0 count 1\n" + locate + (atomics ? counts : "") +
                             "  %g = reg_read.u32x1 r0.1<1;1,0>\n  %zero = constant.u32x1 0\n"
                             "  %m = cmp_eq.u32x1 %g, %zero\n  branch_any.mx1 %m, b1, b3\n"
                             "b1: ip 0x10 count 1 safepoint\n  %a = constant.u32x1 0\n"
                             "  %flag = load.u32x1 surface0[%a]\n  %none = constant.u32x1 0\n"
                             "  %wait = cmp_eq.u32x1 %flag, %none\n  branch_any.mx1 %wait, b1, b2\n"
                             "b2: ip 0x20 count 1\n  exit\n"
                             "b3: ip 0x30 count 1\n  %b = constant.u32x1 0\n  %one = constant.u32x1 1\n"
                             "  store.u32x1 surface0[%b], %one\n  exit\n";
    Walked w(text, jit::EngineKind::avx2);
    w.command.groups = {2, 1, 1};
    w.output(2);
    CHECK_FALSE(w.done(2).fault);
    CHECK(w.data == std::vector<std::uint32_t>{1, atomics ? 2u : 0u});
  }
}

TEST_CASE("stop() from another thread pauses a dispatch that never ends", "[dispatch]") {
  for (const jit::EngineKind engine : engines)
    for (const unsigned count : {1u, 2u}) {
      Walked w("b0: ip 0 count 4\n  jump b0\n", engine);
      w.command.groups = {9, 1, 1};
      w.complete(count);
      Workers workers(count);
      const auto dispatch = begun(workers, w.command);
      std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        dispatch->stop();
      });
      CHECK(stepped(*dispatch) == Progress::Paused);
      stopper.join();
      CHECK(dispatch->counts().instructions > 0);
      CHECK_FALSE(dispatch->fault());
      dispatch->stop();  // before a step: that step ends soon
      CHECK(stepped(*dispatch) == Progress::Paused);
    }
}

TEST_CASE("a step executes about as many instructions as its budget", "[dispatch]") {
  for (const jit::EngineKind engine : engines) {
    Walked w("b0: ip 0 count 4\n  jump b0\n", engine);
    w.complete(1);
    Workers workers(1);
    const auto dispatch = begun(workers, w.command);
    std::uint64_t expected = 0;
    for (const std::uint64_t budget : {1u, 4u, 5u, 1000u, 0u, 4000000u}) {
      CHECK(stepped(*dispatch, budget) == Progress::Paused);
      expected += (budget + 3) / 4 * 4;  // rounded up to whole blocks
      CHECK(dispatch->counts().instructions == expected);
    }
  }
}

TEST_CASE("a faulted thread can be looked at", "[dispatch]") {
  Walked w(
      "b0: ip 0x10 count 1\n  %v = constant.u32x1 0x1234\n  reg_write.u32x1 r7.1<1;1,0>, %v\n"
      "  jump b1\nb1: ip 0x20 count 1\n  trap \"no such thing\"\n",
      jit::EngineKind::avx2, 16, {});
  w.complete(1);
  Workers workers(1);
  const auto dispatch = begun(workers, w.command);
  CHECK(stepped(*dispatch) == Progress::Faulted);
  REQUIRE(dispatch->faulted_thread());
  CHECK(dispatch->faulted_thread()->ip == 0x20);
  std::uint32_t value = 0;
  std::memcpy(&value, dispatch->faulted_thread()->registers.data() + 7 * 32 + 4, 4);
  CHECK(value == 0x1234);
  CHECK(stepped(*dispatch) == Progress::Faulted);
}

TEST_CASE("an image that does not fit is refused", "[dispatch]") {
  Walked w(spin);
  w.command.threads_per_group = 2;
  w.output(4);
  w.complete(1);
  Workers workers(1);
  const auto dispatch = begun(workers, w.command);
  REQUIRE(stepped(*dispatch, 50) == Progress::Paused);
  const DispatchImage good = dispatch->save();
  REQUIRE(good.groups.size() == 1);
  const auto refusal = [&](auto change) {
    DispatchImage image = good;
    change(image);
    const auto other = Dispatch::create(workers, w.command, &image);
    if (!other) return other.error().message;
    const auto progress = (*other)->step();
    return progress ? std::string("taken") : progress.error().message;
  };
  CHECK_THAT(refusal([](DispatchImage& i) { i.groups[0].threads[0].slot = 99; }), Contains("thread slot 99"));
  CHECK_THAT(refusal([](DispatchImage& i) { i.groups.push_back(i.groups[0]); }), Contains("there twice"));
  CHECK_THAT(refusal([](DispatchImage& i) { i.groups[0].index = 1; }), Contains("one of 1 groups"));
  CHECK_THAT(refusal([](DispatchImage& i) { i.groups[0].turn = 2; }), Contains("2 threads"));
  CHECK_THAT(refusal([](DispatchImage& i) { i.groups[0].threads.pop_back(); }), Contains("2 threads"));
  CHECK_THAT(refusal([](DispatchImage& i) { i.groups[0].slm.resize(4); }),
             Contains("0 bytes of shared local"));
  CHECK_THAT(refusal([](DispatchImage& i) { i.groups[0].threads[0].state.ip = 0x14; }),
             Contains("no block of the code begins at 0x14"));
  CHECK_THAT(refusal([](DispatchImage& i) { i.groups[0].threads[0].state.registers.pop_back(); }),
             Contains("bytes of registers"));
  CHECK_THAT(refusal([](DispatchImage& i) { i.groups[0].threads[0].state.execution_mask = 0x10001; }),
             Contains("channels of 0xffff, found 0x10001"));
  CHECK_THAT(refusal([](DispatchImage& i) { i.remaining = {{0, 2}}; }), Contains("found 0 to 2"));
  CHECK(refusal([](DispatchImage&) {}) == "taken");
}

// Each pause saves everything but memory, and a fresh dispatch with another engine, another number of workers
// and other memory for its threads continues from there.
TEST_CASE("each kernel, paused at random safepoints and continued by fresh dispatches, gives the same bytes",
          "[dispatch][corpus]") {
  using eum::kernels::Bytes, eum::kernels::corpus, eum::kernels::KernelCase, eum::kernels::LoadedCase;
  auto device = Device::create({.engine = jit::EngineKind::avx2, .workers = 2});
  auto reference = jit::make_reference_engine();
  REQUIRE(device);
  std::mt19937 random(20261121);
  std::size_t pauses = 0;
  for (const KernelCase& c : corpus()) {
    INFO(c.name);
    auto loaded = LoadedCase::create(**device, c, eum::kernels::Container::PatchTokens);
    REQUIRE(loaded);
    const auto whole = (*loaded)->run();
    REQUIRE(whole);
    const std::vector<Bytes> expected = (*loaded)->buffers();
    const auto code = (*loaded)->code();
    REQUIRE(code);
    // Safepoints at back edges, as by default, and at every instruction or behind messages.
    for (const jit::Safepoints places :
         {jit::Safepoints::BackEdges,
          pauses % 2 == 0 ? jit::Safepoints::Instructions : jit::Safepoints::Messages}) {
      const jit::CompileOptions options{.exact_registers = false, .safepoints = places};
      auto fast = translate(*code, (*device)->engine(), options);
      auto slow = translate(*code, *reference, options);
      REQUIRE(fast);
      REQUIRE(slow);
      auto walks = (*loaded)->commands();
      REQUIRE(walks);
      // About ten pauses for each case and choice of engines.
      std::uniform_int_distribution<std::uint64_t> budget(1, whole->counts.instructions / 5 + 2);
      const std::vector<std::vector<const TranslatedKernel*>> ways{{&*fast}, {&*slow}, {&*fast, &*slow}};
      for (const auto& engines_in_turn : ways) {
        (*loaded)->reset();
        std::size_t turn = 0;
        WalkerCounts counts;
        for (WalkerCommand walk : *walks) {
          std::optional<DispatchImage> image;
          Progress progress = Progress::Paused;
          while (progress == Progress::Paused) {
            walk.code = &engines_in_turn[turn % engines_in_turn.size()]->code;
            Workers workers(1 + turn % 2);
            ++turn;
            const auto dispatch = begun(workers, walk, image ? &*image : nullptr);
            progress = stepped(*dispatch, budget(random));
            image = dispatch->save();
          }
          REQUIRE(progress == Progress::Done);
          counts += image->counts;
        }
        pauses += turn;
        CHECK(counts.threads == whole->counts.threads);
        if (!c.retries) CHECK(counts.instructions == whole->counts.instructions);
        if (c.order_free)
          CHECK((*loaded)->buffers() == expected);
        else
          CHECK((*loaded)->verify() == "");
      }
    }
  }
  CHECK(pauses > 1000);
}

// LaunchFacts::own_images: the loop that divides bit by bit has become a division.
TEST_CASE("a launch's own code refuses who has paused in a loop that it has not, and goes on from the others",
          "[dispatch]") {
  using eum::kernels::corpus, eum::kernels::LoadedCase;
  auto device = Device::create({.engine = jit::EngineKind::avx2, .workers = 1});
  REQUIRE(device);
  const auto cases = corpus();
  const auto c = std::ranges::find(cases, "division.digits.middle", &eum::kernels::KernelCase::name);
  REQUIRE(c != cases.end());
  auto loaded = LoadedCase::create(**device, *c, eum::kernels::Container::PatchTokens);
  REQUIRE(loaded);
  auto walks = (*loaded)->commands();
  const auto code = (*loaded)->code();
  REQUIRE((walks && code && walks->size() == 1));
  const auto slow = translate(*code, *jit::make_reference_engine(), {.exact_registers = false});
  REQUIRE(slow);
  std::size_t refused = 0, done = 0;
  for (std::uint64_t budget = 1; budget < 4000; budget += 331) {
    (*loaded)->reset();
    WalkerCommand walk = walks->front(), own = walk;
    walk.code = &slow->code;
    Workers workers(1);
    const auto first = begun(workers, walk);
    REQUIRE(stepped(*first, budget) == Progress::Paused);
    const DispatchImage image = first->save();
    const auto second = Dispatch::create(workers, own, &image);
    const auto progress = second ? (*second)->step() : Result<Progress>(second.error());
    if (progress) {
      ++done;
      CHECK((*loaded)->verify() == "");
    } else {
      ++refused;
      CHECK_THAT(progress.error().message, Contains("no block of the code begins at"));
    }
  }
  CHECK(refused > 0);
  CHECK(done > 0);
  // The division counts as many instructions as the loop: a thread that has used up its budget pauses behind
  // it.
  (*loaded)->reset();
  Workers workers(1);
  const auto stopped = begun(workers, walks->front());
  REQUIRE(stepped(*stopped, 300) == Progress::Paused);
  CHECK(stepped(*stopped) == Progress::Done);
  CHECK((*loaded)->verify() == "");
}

// Registers, flags, masks and parked channels of every thread, compared wherever it can pause.
TEST_CASE("one instruction at a time both engines are in the same state", "[dispatch][corpus]") {
  using eum::kernels::corpus, eum::kernels::KernelCase, eum::kernels::LoadedCase;
  constexpr unsigned most_steps = 150;
  std::size_t compared = 0, cases = 0;
  for (const KernelCase& c : corpus()) {
    if (++cases % EUMULATE_STEP != 0) continue;
    INFO(c.name);
    std::vector<std::unique_ptr<Device>> devices;
    std::vector<std::unique_ptr<LoadedCase>> loaded;
    std::vector<std::vector<WalkerCommand>> commands;
    std::vector<std::unique_ptr<Dispatch>> dispatches;
    for (const jit::EngineKind kind : {jit::EngineKind::avx2, jit::EngineKind::reference}) {
      auto device = Device::create({.engine = kind,
                                    .workers = 1,
                                    .safepoints = jit::Safepoints::Instructions,
                                    .exact_registers = true});
      REQUIRE(device);
      devices.push_back(std::move(*device));
      auto one = LoadedCase::create(*devices.back(), c, eum::kernels::Container::Zebin);
      REQUIRE(one);
      loaded.push_back(std::move(*one));
      auto walks = loaded.back()->commands();
      REQUIRE(walks);
      commands.push_back(std::move(*walks));
      dispatches.push_back(begun(devices.back()->workers(), commands.back()[0]));
    }
    for (unsigned step = 0; step < most_steps; ++step) {
      const Progress progress = stepped(*dispatches[0], 1);
      REQUIRE(stepped(*dispatches[1], 1) == progress);
      if (progress != Progress::Paused) break;
      const DispatchImage fast = dispatches[0]->save(), slow = dispatches[1]->save();
      REQUIRE(fast.counts.instructions == slow.counts.instructions);
      REQUIRE(fast.groups.size() == slow.groups.size());
      for (std::size_t g = 0; g < fast.groups.size(); ++g)
        for (std::size_t t = 0; t < fast.groups[g].threads.size(); ++t) {
          INFO("step " << step << ", thread " << t << ", ip " << fast.groups[g].threads[t].state.ip);
          REQUIRE(fast.groups[g].threads[t].state == slow.groups[g].threads[t].state);
          ++compared;
        }
    }
  }
  CHECK(compared > 10'000 / EUMULATE_STEP);
}
