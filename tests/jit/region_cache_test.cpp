// Which part of the address space an access by address finds is remembered in the thread's state, so that
// the next time it needs no call.
#include <catch2/catch.hpp>

#include "frontend/ir/builder.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// Loads by A64 addresses, at guest instructions 8 or 16 bytes long, of two buffers in turn.
Function loads(unsigned count) {
  Function function;
  function.name = "turns";
  function.family = "gen9";
  function.simd = 8;
  function.file_bytes = 4096;
  function.blocks[function.add_block(0)].guest_instructions = 1;
  Builder b(function);
  for (unsigned i = 0; i < count; ++i) {
    b.set_guest_ip(i * 24 + i % 3 * 8);
    const ValueId start =
        b.constant(Type::u64, 8, i % 2 == 0 ? World::region + 4 * i : World::low_region + 4 * i);
    b.reg_write(Region::packed(32 * i), b.load(Type::u32, MemoryAccess::in(MemSpace::A64), start));
  }
  b.exit();
  return function;
}

}  // namespace

TEST_CASE("accesses of two buffers in turn do not drive each other's buffer out of the cache") {
  constexpr unsigned count = StateLayout::region_count - StateLayout::narrow_region_count;
  const Function function = loads(count);
  for (const auto& engine : other_engines()) {
    const auto executable = compiled(*engine, function);
    World world;
    world.reset(function, 1);
    const FinalState final_state = world.run(*executable);
    REQUIRE(final_state.status == Status::Exited);
    const StateLayout layout = StateLayout::of(function);
    for (unsigned i = 0; i < count; ++i) {
      const CachedRegion& cached = layout.regions_of(world.state())[StateLayout::region_of(MemSpace::A64, i)];
      INFO(engine->name() << ", access " << i);
      CHECK(cached.start == (i % 2 == 0 ? World::region : World::low_region));
      CHECK(cached.size == (i % 2 == 0 ? World::region_bytes : World::low_region_bytes));
    }
  }
}

TEST_CASE("accesses by 32-bit addresses have cached regions of their own") {
  for (unsigned i = 0; i < 100; ++i) {
    CHECK(StateLayout::region_of(MemSpace::A32, i) < StateLayout::narrow_region_count);
    CHECK(StateLayout::region_of(MemSpace::A64, i) >= StateLayout::narrow_region_count);
    CHECK(StateLayout::region_of(MemSpace::A64, i) < StateLayout::region_count);
  }
}
