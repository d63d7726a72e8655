// What a device grants: segments that cost nothing until they are touched, translations within limits,
// addresses up to the end of a page.
#include <catch2/catch.hpp>
#include <cstring>

#include "binaries.hpp"
#include "frontend/gen/lower/lower.hpp"
#include "host_engines.hpp"
#include "runtime/launch.hpp"
#include "runtime/loader/loader.hpp"

using namespace eum;
using namespace eum::rt;
using Catch::Contains;

namespace {

std::unique_ptr<Device> device_with(const DeviceOptions& options) {
  auto device = Device::create(options);
  REQUIRE(device);
  return std::move(*device);
}

Program with_zero_globals(std::uint64_t bytes) {
  auto program = load_program(binaries::corpus("saxpy.zebin"));
  REQUIRE(program);
  program->segment(Segment::Globals).zero_bytes = bytes;
  return std::move(*program);
}

}  // namespace

TEST_CASE("zero-initialised globals cost nothing until they are touched, up to the device's limit") {
  constexpr std::uint64_t size = std::uint64_t{1} << 31;
  const auto device = device_with({.workers = 1});
  const auto module = Module::create(*device, with_zero_globals(size));
  REQUIRE(module);
  const mem::Surface globals = (*module)->segments().globals;
  CHECK(globals.size == size);
  CHECK(globals.base[size - 1] == std::byte{0});

  const auto beyond = Module::create(*device, with_zero_globals((std::uint64_t{1} << 32) + 1));
  REQUIRE_FALSE(beyond);
  CHECK_THAT(beyond.error().message, Contains("limit segment: expected at most 4294967296 bytes"));
  CHECK(beyond.error().cause == Cause::Request);

  DeviceOptions options{.workers = 1};
  options.most_segment_bytes = 1000;
  const auto small = device_with(options);
  CHECK(Module::create(*small, with_zero_globals(1000)));
  CHECK_FALSE(Module::create(*small, with_zero_globals(1001)));
}

TEST_CASE("a translation beyond a limit is an error that names it, on every engine") {
  for (const jit::EngineInfo& engine : test::host_engines()) {
    CAPTURE(engine.name);
    for (const jit::LimitInfo& limit : jit::limit_table) {
      DeviceOptions options{.engine = engine.kind, .workers = 1};
      options.limits.*limit.value = 1;
      const auto device = device_with(options);
      auto module = Module::create(*device, with_zero_globals(0));
      REQUIRE(module);
      const auto translated = (*module)->translated((*module)->program().kernels[0]);
      REQUIRE_FALSE(translated);
      CHECK_THAT(translated.error().message,
                 Contains(fmt::format("limit {}: expected at most 1 {}", limit.name, limit.doc)));
      CHECK(translated.error().cause == Cause::Request);
    }
  }
}

TEST_CASE("host code counts against the memory of a translation") {
  const auto program = load_program(binaries::corpus("saxpy.zebin"));
  REQUIRE(program);
  const Kernel& kernel = program->kernels[0];
  const KernelCode code{kernel.name, kernel.code, program->family, kernel.simd_size};
  const auto engine = jit::make_avx2_engine();
  REQUIRE(engine);
  auto function = gen::lower_kernel(code.bytes, code.family, code.simd, "k");
  REQUIRE(function);
  jit::CompileOptions options;
  options.limits.memory = 100;
  const auto compiled = (*engine)->compile(*function, options);
  REQUIRE_FALSE(compiled);
  CHECK_THAT(compiled.error().message, Contains("k: limit memory: expected at most 100 bytes"));
}

TEST_CASE("a buffer is zero up to the end of its page for addresses, and as large as asked for surfaces") {
  for (const Reach reach : {Reach::Pages, Reach::Bytes}) {
    DeviceOptions options{.workers = 1};
    options.reach = reach;
    const auto device = device_with(options);
    for (const std::uint64_t size : {1u, 12u, 4093u, 4096u, 4100u}) {
      const auto buffer = device->allocate(size, "b");
      REQUIRE(buffer);
      const std::uint64_t dwords = (size + 3) / 4 * 4, pages = (size + 4095) / 4096 * 4096;
      CHECK(buffer->size == size);
      CHECK(buffer->surface().size == dwords);
      const auto at = buffer_at(device->memory(), buffer->address + 1);
      REQUIRE(at);
      CHECK(std::get<BufferValue>(*at).surface.size == dwords - 1);
      const std::uint64_t reached = reach == Reach::Pages ? pages : dwords;
      CHECK_FALSE(device->memory().check(buffer->address, reached, mem::Access::ReadWrite));
      CHECK(device->memory().check(buffer->address, reached + 1, mem::Access::Read));
      for (std::uint64_t i = 0; i < reached; ++i) REQUIRE(buffer->host[i] == std::byte{0});
      std::memset(buffer->host, 0xff, reached);
      device->release(*buffer);
    }
  }
}
