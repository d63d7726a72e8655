// Buffers that share memory or do not: what launches find out, and that results depend on it.
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <vector>

#include "binaries.hpp"
#include "host_engines.hpp"
#include "runtime/launch.hpp"
#include "runtime/loader/loader.hpp"

using namespace eum;
using namespace eum::rt;

namespace {

/// The kernel `ints` of chunks.cl on this engine: from[8 * i + j] * 3 + 1 for j below 7.
struct Chunks {
  explicit Chunks(jit::EngineKind engine, bool check_bounds = false) {
    auto program = load_program(binaries::corpus("chunks.patch"));
    REQUIRE(program);
    auto created = Device::create({.engine = engine, .workers = 1, .check_bounds = check_bounds});
    REQUIRE(created);
    device = std::move(*created);
    auto loaded = Module::create(*device, std::move(*program));
    REQUIRE(loaded);
    module = std::move(*loaded);
    kernel = *module->find("ints");
    range.global = {items, 1, 1};
  }
  bool are_disjoint(mem::Surface from, mem::Surface to) const {
    const auto facts = launch_facts(*module, *kernel, arguments(from, to), range);
    REQUIRE(facts);
    return facts->disjoint_surfaces;
  }
  void run(mem::Surface from, mem::Surface to) const {
    auto launch = Launch::prepare(*module, *kernel, arguments(from, to), range);
    REQUIRE(launch);
    const auto report = launch->run();
    REQUIRE(report);
    CHECK_FALSE(report->fault);
  }

  static std::vector<ArgumentValue> arguments(const mem::Surface& from, const mem::Surface& to) {
    return {BufferValue{from}, BufferValue{to}};
  }
  static constexpr std::uint32_t items = 100;
  std::unique_ptr<Device> device;
  std::unique_ptr<Module> module;
  const Kernel* kernel = nullptr;
  NdRange range;
};

mem::Surface part(std::vector<std::uint32_t>& of, std::size_t first, std::size_t count) {
  return mem::buffer_surface(reinterpret_cast<std::byte*>(of.data() + first), 4 * count, 0x10000 + 4 * first);
}

}  // namespace

TEST_CASE("a launch finds out whether its buffers share memory") {
  std::vector<std::uint32_t> memory(100);
  const Chunks chunks(jit::EngineKind::reference);
  const auto disjoint = [&](std::size_t a, std::size_t a_count, std::size_t b, std::size_t b_count) {
    const bool found = chunks.are_disjoint(part(memory, a, a_count), part(memory, b, b_count));
    CHECK(found == chunks.are_disjoint(part(memory, b, b_count), part(memory, a, a_count)));
    return found;
  };
  CHECK(disjoint(0, 50, 50, 50));
  CHECK(disjoint(10, 20, 40, 20));
  CHECK(disjoint(0, 50, 20, 0));
  CHECK_FALSE(disjoint(0, 51, 50, 50));
  CHECK_FALSE(disjoint(0, 100, 20, 1));
  CHECK_FALSE(disjoint(30, 10, 30, 10));
  // Memory that is found through the address space may be any.
  CHECK_FALSE(chunks.are_disjoint(part(memory, 0, 50), mem::buffer_surface(nullptr, 40, 0x20000)));
  // Each access is reported on its own.
  const Chunks checked(jit::EngineKind::reference, true);
  CHECK_FALSE(checked.are_disjoint(part(memory, 0, 50), part(memory, 50, 50)));
}

TEST_CASE("what is stored through one buffer is loaded through another that shares its memory") {
  constexpr std::uint32_t dwords = 8 * Chunks::items;
  for (const jit::EngineInfo& engine : test::host_engines()) {
    CAPTURE(engine.name);
    const Chunks chunks(engine.kind);
    // First with buffers of their own: a translation that relies on that must not be taken for the others.
    for (const std::uint32_t shift : {dwords, 1u, 0u, dwords}) {
      std::vector<std::uint32_t> memory(2 * dwords);
      std::iota(memory.begin(), memory.end(), 5u);
      std::vector<std::uint32_t> expected = memory;
      for (std::uint32_t i = 0; i < dwords; ++i)
        if (i % 8 != 7) expected[i + shift] = expected[i] * 3 + 1;
      chunks.run(part(memory, 0, dwords), part(memory, shift, dwords));
      CHECK(memory == expected);
    }
  }
}
