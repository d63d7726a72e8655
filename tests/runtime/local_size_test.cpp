// The local size of a range that does not give one.
#include <catch2/catch.hpp>
#include <vector>

#include "binaries.hpp"
#include "host_engines.hpp"
#include "runtime/launch.hpp"
#include "runtime/loader/loader.hpp"

using namespace eum;
using namespace eum::rt;

TEST_CASE("the local size is a large divisor, or whatever fits if the kernel cannot tell") {
  Kernel kernel;
  kernel.simd_size = 32;
  const auto chosen = [&](Size3 global, bool remainder = false) {
    NdRange range;
    range.dims = 3;
    range.global = global;
    range.allow_remainder = remainder;
    return choose_local_size(kernel, range);
  };
  for (const bool barriers : {false, true}) {
    kernel.barrier_count = barriers ? 1 : 0;
    CHECK(chosen({4096, 1, 1}) == Size3{256, 1, 1});
    CHECK(chosen({960, 1, 1}) == Size3{192, 1, 1});
    CHECK(chosen({1009, 1, 1}, true) == Size3{256, 1, 1});
    CHECK(chosen({16, 16, 16}) == Size3{16, 16, 1});
    CHECK(chosen({40, 40, 1}) == Size3{40, 5, 1});
    CHECK(chosen({120, 68, 1}) == Size3{120, 1, 1});
    CHECK(chosen({100, 100, 100}) == Size3{100, 1, 1});
    CHECK(chosen({90, 60, 1}, true) == Size3{90, 1, 1});
  }
  CHECK(chosen({1000, 1, 1}) == Size3{250, 1, 1});
  CHECK(chosen({1009, 1, 1}) == Size3{1, 1, 1});
  CHECK(chosen({257, 257, 1}) == Size3{1, 1, 1});
  CHECK(chosen({5, 7, 11}) == Size3{5, 7, 1});
  CHECK(chosen({0xffffffff, 1, 1}) == Size3{255, 1, 1});
  kernel.barrier_count = 0;
  CHECK(chosen({1000, 1, 1}) == Size3{256, 1, 1});
  CHECK(chosen({1009, 1, 1}) == Size3{256, 1, 1});
  CHECK(chosen({257, 257, 1}) == Size3{256, 1, 1});
  CHECK(chosen({64, 67, 1}) == Size3{64, 4, 1});
  CHECK(chosen({1, 1009, 1}) == Size3{1, 256, 1});
  CHECK(chosen({5, 7, 11}) == Size3{5, 7, 7});
  CHECK(chosen({0xffffffff, 1, 1}) == Size3{256, 1, 1});
}

TEST_CASE("a kernel observes groups by barriers, local memory, and their size and number") {
  const auto observes = [](auto change) {
    Kernel kernel;
    for (const PayloadItem item : {PayloadItem::LocalSize, PayloadItem::EnqueuedLocalSize})
      for (std::uint32_t d = 0; d < 3; ++d)
        kernel.implicit.push_back({.item = item, .offset = 0, .size = 4, .source = 4 * d});
    change(kernel);
    return observes_groups(kernel);
  };
  const auto asks_for = [](PayloadItem item) {
    return [item](Kernel& k) { k.implicit.push_back({.item = item, .offset = 0, .size = 4, .source = 0}); };
  };
  CHECK_FALSE(observes([](Kernel&) {}));
  CHECK_FALSE(observes(asks_for(PayloadItem::GlobalSize)));
  CHECK(observes([](Kernel& k) { k.barrier_count = 1; }));
  CHECK(observes([](Kernel& k) { k.slm_bytes = 16; }));
  CHECK(observes([](Kernel& k) { k.arguments.emplace_back().kind = ArgumentKind::LocalPointer; }));
  CHECK(observes(asks_for(PayloadItem::GroupCount)));
  CHECK(observes(asks_for(PayloadItem::LocalSize)));
  // Without an enqueued local size, the other one may be what everything is computed from.
  CHECK(observes([](Kernel& k) { k.implicit.resize(3); }));
  CHECK_FALSE(observes([](Kernel& k) { k.implicit.clear(); }));
}

TEST_CASE("ranges without a good divisor run each work-item once, in few threads") {
  for (const jit::EngineInfo& engine : test::host_engines())
    for (const std::uint32_t items : {7u, 257u, 1009u, 10006u}) {
      CAPTURE(engine.name, items);
      auto program = load_program(binaries::corpus("saxpy.zebin"));
      REQUIRE(program);
      const auto device = Device::create({.engine = engine.kind, .workers = 2});
      REQUIRE(device);
      const auto module = Module::create(**device, std::move(*program));
      REQUIRE(module);
      std::vector<float> x(items, 1.0f), y(items, 3.0f);
      const auto surface = [](std::vector<float>& of) {
        return BufferValue{
            mem::buffer_surface(reinterpret_cast<std::byte*>(of.data()), 4 * of.size(), 0x10000)};
      };
      NdRange range;
      range.global = {items, 1, 1};
      const Kernel& kernel = (*module)->program().kernels[0];
      auto launch = Launch::prepare(
          **module, kernel,
          std::vector<ArgumentValue>{by_value(2.0f), surface(x), surface(y), by_value(items)}, range);
      REQUIRE(launch);
      const auto report = launch->run();
      REQUIRE(report);
      CHECK_FALSE(report->fault);
      CHECK(y == std::vector<float>(items, 5.0f));
      CHECK(report->counts.threads == (items + kernel.simd_size - 1) / kernel.simd_size);
    }
}
