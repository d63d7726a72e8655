// What a launch reports when a kernel faults or is stopped: fields, text, counts, and memory written up to
// then.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <thread>

#include "binaries.hpp"
#include "runtime/launch.hpp"
#include "runtime/loader/loader.hpp"

using namespace eum;
using namespace eum::rt;
using Catch::Contains;

namespace {

struct Faults {
  std::unique_ptr<Device> device;
  std::unique_ptr<Module> module;
  Buffer buffer;

  Faults(const char* container, jit::EngineKind kind, std::uint64_t budget = default_budget) {
    auto program = load_program(binaries::own(std::string("faults.") + container));
    REQUIRE(program);
    DeviceOptions options;
    options.engine = kind;
    options.workers = 2;
    options.budget = budget;
    device = std::move(*Device::create(options));
    module = std::move(*Module::create(*device, std::move(*program)));
    buffer = *device->allocate(1024, "numbers");
  }
  Launch prepare(const char* kernel, const std::vector<ArgumentValue>& more = {}) {
    std::vector<ArgumentValue> arguments{BufferValue{buffer.surface()}};
    arguments.insert(arguments.end(), more.begin(), more.end());
    NdRange range;
    range.global = {64, 1, 1};
    auto launch = Launch::prepare(*module, **module->find(kernel), arguments, range);
    if (!launch) FAIL(launch.error().message);
    return std::move(*launch);
  }
  int number(std::size_t index) const {
    int value = 0;
    std::memcpy(&value, buffer.host + 4 * index, 4);
    return value;
  }
};

template <class Test>
void each(Test test) {
  for (const char* container : {"patch", "zebin"})
    for (const jit::EngineKind kind : {jit::EngineKind::avx2, jit::EngineKind::reference}) {
      CAPTURE(container, jit::info(kind).name);
      test(container, kind);
    }
}

}  // namespace

TEST_CASE("a fault has its instruction, thread, lane, address and the nearest region") {
  each([](const char* container, jit::EngineKind kind) {
    Faults f(container, kind);
    const std::uint64_t address = f.buffer.address + (std::uint64_t{1} << 30);
    const auto report = f.prepare("overrun", {by_value(address)}).run();
    REQUIRE(report);
    REQUIRE(report->fault);
    const FaultReport& fault = *report->fault;
    CHECK(fault.kind == "out_of_bounds");
    CHECK(fault.thread == 1);
    CHECK(fault.group == std::array<std::uint32_t, 3>{0, 0, 0});
    CHECK(fault.lane == 8u);
    CHECK(fault.address == address + 160);
    CHECK(fault.bytes == 4);
    REQUIRE(fault.ip);
    CHECK_THAT(fault.instruction, Contains("send"));
    REQUIRE(fault.region);
    CHECK(fault.region->address < address);
    CHECK_THAT(fault.message, Contains("the nearest below is " + fault.region->name));
    CHECK(report->counts.instructions > 0);
    CHECK(f.number(31) == 31);
  });
}

TEST_CASE("a deadlock names the instruction at which each thread waits") {
  each([](const char* container, jit::EngineKind kind) {
    Faults f(container, kind);
    const auto report = f.prepare("deadlock").run();
    REQUIRE(report);
    REQUIRE(report->fault);
    CHECK(report->fault->kind == "deadlock");
    REQUIRE(report->fault->waiting.size() == 1);
    CHECK(report->fault->waiting[0].thread == 1);
    CHECK_THAT(report->fault->waiting[0].instruction, Contains("wait"));
    CHECK_THAT(report->fault->message, Contains("1 threads wait, 1 have ended; thread 1 at 0x") &&
                                           Contains(": " + report->fault->waiting[0].instruction));
    CHECK(f.number(0) == 2);
    CHECK(f.number(40) == 1);
  });
}

TEST_CASE("a used up budget says how much it was and where the thread was") {
  each([](const char* container, jit::EngineKind kind) {
    Faults f(container, kind, 5000);
    const auto report = f.prepare("endless").run();
    REQUIRE(report);
    REQUIRE(report->fault);
    CHECK(report->fault->kind == "budget");
    REQUIRE(report->fault->ip);
    CHECK_THAT(report->fault->message, Contains("thread 0 of group 0,0,0 has used up its budget of 5000 "
                                                "instructions, at 0x") &&
                                           Contains(": " + report->fault->instruction));
    CHECK(report->counts.instructions >= 5000);
  });
}

TEST_CASE("stop ends a run that never would, with its counts and what it wrote") {
  each([](const char* container, jit::EngineKind kind) {
    Faults f(container, kind);
    Launch launch = f.prepare("endless");
    const volatile int* first = reinterpret_cast<const volatile int*>(f.buffer.host + 4);
    std::thread stopper([&] {
      while (*first != 8) std::this_thread::yield();
      launch.stop();
    });
    const auto report = launch.run();
    stopper.join();
    REQUIRE(report);
    CHECK(report->stopped);
    CHECK_FALSE(report->fault);
    CHECK(report->counts.instructions > 0);
    CHECK(f.number(1) == 8);

    // A stop before a run also takes effect; the run after that completes.
    launch.stop();
    CHECK(launch.run()->stopped);
    const int end = 1;
    std::memcpy(f.buffer.host, &end, 4);
    const auto ended = launch.run();
    REQUIRE(ended);
    CHECK_FALSE(ended->stopped);
    CHECK(ended->counts.groups == 1);
  });
}
