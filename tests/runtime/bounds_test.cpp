// Accesses beyond surfaces are reported if a device is asked to, which changes nothing else.
#include <catch2/catch.hpp>

#include "binaries.hpp"
#include "runtime/launch.hpp"
#include "runtime/loader/loader.hpp"

using namespace eum;
using namespace eum::rt;
using Catch::Contains;

TEST_CASE("each access beyond a surface is reported with its instruction") {
  constexpr std::uint32_t held = 100, accessed = 128;
  for (const jit::EngineKind kind : {jit::EngineKind::avx2, jit::EngineKind::reference})
    for (const bool check : {true, false}) {
      CAPTURE(jit::info(kind).name, check);
      auto program = load_program(binaries::corpus("saxpy.patch"));
      REQUIRE(program);
      auto device = Device::create({.engine = kind, .workers = 2, .check_bounds = check});
      REQUIRE(device);
      auto module = Module::create(**device, std::move(*program));
      REQUIRE(module);
      const auto x = (*device)->allocate(4 * held, "x"), y = (*device)->allocate(4 * held, "y");
      REQUIRE(x);
      REQUIRE(y);
      NdRange range;
      range.global = {accessed, 1, 1};
      auto launch = Launch::prepare(**module, (*module)->program().kernels[0],
                                    std::vector<ArgumentValue>{by_value(2.0f), BufferValue{x->surface()},
                                                               BufferValue{y->surface()}, by_value(accessed)},
                                    range);
      REQUIRE(launch);
      const auto report = launch->run();
      REQUIRE(report);
      CHECK_FALSE(report->fault);
      if (!check) {
        CHECK(report->out_of_bounds.empty());
        continue;
      }
      std::uint64_t reads = 0, writes = 0;
      for (const BoundsReport& one : report->out_of_bounds) {
        (one.first.write ? writes : reads) += one.count;
        CHECK(one.surface_bytes == 4 * held);
        CHECK(one.first.bytes == 4);
        CHECK(one.first.offset >= 4 * held);
        CHECK(one.first.offset < 4 * accessed);
        CHECK_THAT(one.instruction, Contains("send"));
      }
      CHECK(reads == 2 * (accessed - held));
      CHECK(writes == accessed - held);
      const auto again = launch->run();
      REQUIRE(again);
      CHECK(again->out_of_bounds.size() == report->out_of_bounds.size());
    }
}
