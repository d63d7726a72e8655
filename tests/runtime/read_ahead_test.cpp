// How compilers load small uniform vectors: three dwords are read as four, the last one beyond the end of the
// buffer.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>

#include "binaries.hpp"
#include "host_engines.hpp"
#include "runtime/launch.hpp"
#include "runtime/loader/loader.hpp"

using namespace eum;
using namespace eum::rt;
using Catch::Contains;

namespace {

struct Setup {
  std::unique_ptr<Device> device;
  std::unique_ptr<Module> module;
  Buffer out;

  Setup(jit::EngineKind engine, const char* binary, Reach reach) {
    DeviceOptions options{.engine = engine, .workers = 1};
    options.reach = reach;
    auto made = Device::create(options);
    REQUIRE(made);
    device = std::move(*made);
    auto program = load_program(binaries::own(binary));
    REQUIRE(program);
    auto placed = Module::create(*device, std::move(*program));
    REQUIRE(placed);
    module = std::move(*placed);
    auto buffer = device->allocate(4096, "out");
    REQUIRE(buffer);
    out = *buffer;
  }

  /// The fault's message, or "".
  std::string run(const char* kernel, const Buffer& constants, std::uint32_t number) {
    const auto found = module->find(kernel);
    REQUIRE(found);
    NdRange range;
    range.global = {32, 1, 1};
    std::memset(out.host, 0xee, out.size);
    auto launch = Launch::prepare(*module, **found,
                                  std::vector<ArgumentValue>{BufferValue{constants.surface()},
                                                             by_value(number), BufferValue{out.surface()}},
                                  range);
    INFO((launch ? "" : launch.error().message));
    REQUIRE(launch);
    const auto report = launch->run();
    REQUIRE(report);
    return (report->fault ? report->fault->message : std::string());
  }
};

/// The buffer from byte `offset` on.
Buffer from(const Buffer& buffer, std::uint32_t offset) {
  return {buffer.address + offset, buffer.host + offset, buffer.size - offset};
}

}  // namespace

TEST_CASE(
    "constant buffers of 1 to 64 bytes are read to their last dword by vload2, vload3 and a block of 16 "
    "bytes") {
  for (const jit::EngineInfo& engine : test::host_engines())
    for (const char* binary : {"read_ahead.patch", "read_ahead.zebin"}) {
      CAPTURE(engine.name, binary);
      Setup setup(engine.kind, binary, Reach::Pages);
      for (std::uint32_t size = 1; size <= 64; ++size) {
        CAPTURE(size);
        const auto constants = setup.device->allocate(size, "constants");
        REQUIRE(constants);
        std::uint32_t sum = 0;
        for (std::uint32_t i = 0; i < size; ++i) {
          constants->host[i] = static_cast<std::byte>(i * 37 + size);
          sum = sum * 31 + std::to_integer<std::uint32_t>(constants->host[i]);
        }
        CHECK(setup.run("bytes", *constants, size) == "");
        CHECK(std::memcmp(setup.out.host + 31 * 4, &sum, 4) == 0);
        for (const std::uint32_t lanes : {2u, 3u}) {
          if (size < 4 * lanes) continue;
          const std::uint32_t first = size / 4 - lanes;
          CHECK(setup.run(lanes == 2 ? "load2" : "load3", *constants, first) == "");
          for (const std::uint32_t item : {0u, 31u})
            CHECK(std::memcmp(setup.out.host + item * lanes * 4, constants->host + first * 4, lanes * 4) ==
                  0);
        }
        if (size >= 12) {
          const Buffer last = from(*constants, (size / 4 - 3) * 4);
          std::array<std::uint32_t, 3> c;
          std::memcpy(c.data(), last.host, sizeof c);
          const std::uint32_t expected = c[0] + c[1] * 3 + c[2] * 7;
          CHECK(setup.run("block3", last, 3) == "");
          CHECK(std::memcmp(setup.out.host + 31 * 4, &expected, 4) == 0);
        }
        setup.device->release(*constants);
      }
    }
}

TEST_CASE("the page that a buffer ends in is the end of what addresses reach") {
  for (const jit::EngineInfo& engine : test::host_engines()) {
    CAPTURE(engine.name);
    Setup setup(engine.kind, "read_ahead.zebin", Reach::Pages);
    const auto constants = setup.device->allocate(12, "constants");
    REQUIRE(constants);
    CHECK(setup.run("load2", *constants, 4096 / 4 - 2) == "");
    for (int i = 0; i < 8; ++i) CHECK(setup.out.host[i] == std::byte{0});
    CHECK_THAT(setup.run("load2", *constants, 4096 / 4 - 1), Contains("stateless access outside the memory"));
  }
}

TEST_CASE("a strict device lets addresses reach no dword beyond a buffer") {
  for (const jit::EngineInfo& engine : test::host_engines()) {
    CAPTURE(engine.name);
    Setup setup(engine.kind, "read_ahead.zebin", Reach::Bytes);
    const auto constants = setup.device->allocate(12, "constants");
    REQUIRE(constants);
    CHECK(setup.run("load2", *constants, 1) == "");
    CHECK_THAT(setup.run("load2", *constants, 2), Contains("stateless access outside the memory"));
    CHECK_THAT(setup.run("block3", *constants, 3), Contains("stateless access outside the memory"));
    CHECK(setup.run("bytes", *constants, 12) == "");
    CHECK(setup.run("bytes", *constants, 13) != "");
  }
}
