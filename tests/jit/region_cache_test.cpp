// The region that an access by address finds is cached in the thread's state, so that the next access needs
// no call.
#include <array>
#include <catch2/catch.hpp>

#include "frontend/ir/builder.hpp"
#include "jit/analysis/region_numbers.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

Function one_block(const char* name) {
  Function function;
  function.name = name;
  function.family = "gen9";
  function.simd = 8;
  function.file_bytes = 4096;
  function.blocks[function.add_block(0)].guest_instructions = 1;
  return function;
}

/// A64 loads from two buffers in turn, at guest instructions of 8 or 16 bytes.
Function loads(unsigned count) {
  Function function = one_block("turns");
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
  constexpr unsigned count = 28;
  const Function function = loads(count);
  for (const auto& engine : other_engines()) {
    const auto executable = compiled(*engine, function);
    World world;
    world.reset(function, 1);
    const FinalState final_state = world.run(*executable);
    REQUIRE(final_state.status == Status::Exited);
    const StateLayout layout = StateLayout::of(function);
    const RegionNumbers numbers(function, layout);
    unsigned i = 0;
    for (const Inst& inst : function.blocks[0].insts) {
      if (inst.op != Op::load) continue;
      const CachedRegion& cached = layout.regions_of(world.state())[numbers.of(inst)];
      INFO(engine->name() << ", access " << i);
      CHECK(cached.start == (i % 2 == 0 ? World::region : World::low_region));
      CHECK(cached.size == (i % 2 == 0 ? World::region_bytes : World::low_region_bytes));
      ++i;
    }
    CHECK(i == count);
  }
}

// As in a kernel that selects between pointers.
TEST_CASE("lanes of two buffers leave what is remembered as it is") {
  Function function = one_block("mixed");
  Builder b(function);
  const MemoryAccess access = MemoryAccess::in(MemSpace::A64);
  std::array<std::uint64_t, 8> places, more;
  for (unsigned i = 0; i < 8; ++i) {
    places[i] = World::region + 4 * i;
    more[i] = (i % 2 == 0 ? World::low_region : World::region) + 4 * i;
  }
  b.reg_write(Region::packed(32), b.load(Type::u32, access, b.vconst(Type::u64, 8, places)));
  b.reg_write(Region::packed(64), b.load(Type::u32, access, b.vconst(Type::u64, 8, more)));
  const std::array value{b.reg_read(Type::u32, 8, Region::packed(32))};
  b.store(access, b.vconst(Type::u64, 8, more), value);
  b.exit();
  expect_agreement(function, 1, 20);
  for (const auto& engine : other_engines()) {
    const auto executable = compiled(*engine, function);
    World world;
    world.reset(function, 1);
    REQUIRE(world.run(*executable).status == Status::Exited);
    const StateLayout layout = StateLayout::of(function);
    INFO(engine->name());
    for (std::uint32_t i = 0; i < layout.region_count; ++i)
      CHECK(layout.regions_of(world.state())[i].start != World::low_region);
  }
}

// With this many loads per buffer the kernel has more accesses than there are regions to cache.
TEST_CASE("many accesses by two pointers look into two regions") {
  constexpr unsigned count = 3 * StateLayout::most_regions;
  Function function = one_block("pointers");
  Builder b(function);
  for (unsigned i = 0; i < count; ++i) {
    const ValueId pointer = b.reg_read(Type::u64, 1, Region::packed(8 * (i % 2)));
    const ValueId distance = b.constant(Type::u64, 1, 4 * i);
    b.reg_write(Region::packed(64), b.block_load(Type::u32, 8, MemoryAccess::in(MemSpace::A64),
                                                 b.lanewise(Op::add, {pointer, distance})));
  }
  b.exit();
  const StateLayout layout = StateLayout::of(function);
  CHECK(layout.region_count == StateLayout::most_regions);
  const RegionNumbers numbers(function, layout);
  std::array<std::uint8_t, 2> of_pointers{};
  unsigned i = 0;
  for (const Inst& inst : function.blocks[0].insts) {
    if (inst.op != Op::block_load) continue;
    std::uint8_t& number = of_pointers[i % 2];
    if (i < 2) number = numbers.of(inst);
    CHECK(numbers.of(inst) == number);
    ++i;
  }
  REQUIRE(i == count);
  CHECK(of_pointers[0] != of_pointers[1]);
}

TEST_CASE("a function that accesses nothing by address has no regions") {
  Function function = one_block("nothing");
  Builder(function).exit();
  CHECK(StateLayout::of(function).region_count == 0);
}
