// Every shape of memory access at the end of every space: lanes that are consecutive, uniform or descending,
// every set of components, at each of the last bytes. The memory ends at a page that must not be touched, so
// an engine that accesses one byte too far crashes here; otherwise every engine does what the reference
// engine does.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cstring>

#include "frontend/ir/builder.hpp"
#include "frontend/ir/printer.hpp"
#include "frontend/ir/signature.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

struct Space {
  MemoryAccess mem;
  std::uint64_t base;  ///< of the addresses
  unsigned bytes;
  std::uint64_t from = 0;  ///< base that distances are added to
};

const Space spaces[] = {
    {MemoryAccess::in_surface(World::surface), 0, World::surface_bytes},
    {MemoryAccess::in_surface(World::indirect_surface), 0, World::region_bytes + 32},
    {MemoryAccess::in(MemSpace::Slm), 0, World::slm_bytes},
    {MemoryAccess::in(MemSpace::A64), World::region, World::region_bytes},
    {MemoryAccess::in(MemSpace::A64), World::read_only, World::read_only_bytes},
    {MemoryAccess::in(MemSpace::A32), World::low_region, World::low_region_bytes},
    {MemoryAccess::in(MemSpace::Scratch), 0, World::scratch_bytes},
    {MemoryAccess::in(MemSpace::From), std::uint64_t{0} - 100, World::region_bytes, World::region + 100},
    {MemoryAccess::in(MemSpace::FromUnsigned), 200, World::region_bytes, World::region - 200},
};

enum class Order : std::uint8_t { Consecutive, Same, Backwards, Shuffled };

/// One access of `shape`: its address operand comes from registers, so no engine can know its value.
struct Site {
  Shape shape;
  Space space;
  Type type;
  unsigned lanes, components;
  bool masked;

  Type address_type() const { return info(space.mem.space).address; }
  bool is_block() const { return shape == Shape::BlockLoad || shape == Shape::BlockStore; }
  /// How far behind the end of the space the access may end.
  unsigned behind() const { return is_block() ? lanes * size_of(type) : 16; }
  unsigned addresses() const { return is_block() ? 1 : lanes; }

  Function build() const {
    Function function;
    function.name = "bounds";
    function.family = "gen9";
    function.simd = 16;
    function.file_bytes = 4096;
    function.blocks[function.add_block()].guest_instructions = 1;
    Builder b(function);
    MemoryAccess mem = space.mem;
    mem.components = components;
    mem.atomic = AtomicOp::add;
    const ValueId mask = masked ? b.slice(b.mask_get(0), 0, lanes) : no_value;
    // The first access is in bounds, so that an engine may cache the region.
    const bool based = info(mem.space).surface == SurfaceBy::Base;
    const ValueId from = based ? b.constant(Type::u64, 1, space.from) : no_value;
    const ValueId near =
        b.constant(address_type(), 1, space.base & (address_type() == Type::u64 ? ~0ull : 0xffffffff));
    const auto load_near = [&](unsigned to) {
      b.reg_write(Region::packed(to), b.block_load(Type::u32, 1, space.mem, near, from));
    };
    load_near(2048);
    const ValueId address = b.reg_read(address_type(), addresses(), Region::packed(0));
    const auto data = [&](unsigned k) { return b.reg_read(type, lanes, Region::packed(512 + 256 * k)); };
    const auto keep = [&](ValueId value, unsigned k) { b.reg_write(Region::packed(1024 + 256 * k), value); };
    const auto count = static_cast<unsigned>(std::popcount(components));
    switch (shape) {
      case Shape::Load: {
        const ValueId first = b.load(type, mem, address, mask, from);
        for (unsigned k = 0; k < count; ++k) keep(first + k, k);
        break;
      }
      case Shape::Store: {
        std::vector<ValueId> values;
        for (unsigned k = 0; k < count; ++k) values.push_back(data(k % 2));
        b.store(mem, address, values, mask, from);
        break;
      }
      case Shape::Atomic: {
        const std::array<ValueId, 1> sources{data(0)};
        keep(b.atomic(type, mem, address, sources, true, mask, from), 0);
        break;
      }
      case Shape::BlockLoad:
        keep(b.block_load(type, lanes, mem, address, from), 0);
        break;
      default:
        b.block_store(mem, address, data(0), from);
        break;
    }
    load_near(2080);  // whatever path the access has taken, the next one finds the memory
    b.exit();
    return function;
  }
};

/// Compares the engines with the end of the access at various distances from the end of the space.
void check_site(const Site& site, Order order, unsigned step) {
  static SiteSample sample(many_runs_step);
  if (!sample.takes_next()) return;
  const Function function = site.build();
  const auto reference = compiled(*make_reference_engine(), function);
  std::vector<std::unique_ptr<Executable>> others;
  for (const auto& engine : other_engines()) others.push_back(compiled(*engine, function));
  static World expected, found;
  const unsigned element = size_of(site.type);
  const unsigned extent = element * static_cast<unsigned>(std::bit_width(site.components));
  const unsigned run = order == Order::Same ? 0 : element * (site.lanes - 1);
  const unsigned behind = site.behind();
  const unsigned ends = behind + std::max(48u, behind);
  for (unsigned distance = 0; distance < ends; distance += step) {
    // The access ends `distance` - `behind` bytes before the end of the space, or behind it if that is
    // negative.
    const std::uint64_t start = site.space.base + site.space.bytes + behind - distance - run - extent;
    const auto place = [&](World& world) {
      world.reset(function, 7);
      world.masks()[0] = 0xfffe;
      const unsigned bytes = size_of(site.address_type());
      for (unsigned lane = 0; lane < site.addresses(); ++lane) {
        std::uint64_t address = start;
        if (order == Order::Consecutive) address += lane * element;
        if (order == Order::Backwards) address += run - lane * element;
        if (order == Order::Shuffled) address += (5 * lane + 3) % site.addresses() * element;
        std::memcpy(world.file() + lane * bytes, &address, bytes);
      }
    };
    place(expected);
    const FinalState wanted = expected.run(*reference);
    for (const auto& other : others) {
      place(found);
      const FinalState got = found.run(*other);
      const std::string problem = difference(wanted, got);
      if (problem.empty()) continue;
      FAIL_CHECK("distance " << distance << ", order " << static_cast<int>(order) << ": " << problem << "\n"
                             << print(function));
      return;
    }
  }
}

}  // namespace

TEST_CASE("bounds: every set of components at the end of every space") {
  for (const Space& space : spaces)
    for (Shape shape : {Shape::Load, Shape::Store})
      for (unsigned components = 1; components < 16; ++components)
        for (unsigned lanes : {1u, 8u, 16u})
          for (bool masked : {false, true})
            for (Order order : {Order::Consecutive, Order::Same, Order::Shuffled})
              check_site({shape, space, Type::u32, lanes, components, masked}, order, 4);
}

TEST_CASE("bounds: every element size and number of lanes") {
  for (const Space& space : spaces)
    for (Shape shape : {Shape::Load, Shape::Store})
      for (Type type : {Type::u8, Type::s8, Type::u16, Type::s16, Type::u64})
        for (unsigned lanes : {1u, 4u, 8u, 13u, 16u})
          for (bool masked : {false, true})
            for (Order order : {Order::Consecutive, Order::Backwards})
              check_site({shape, space, type, lanes, 1, masked}, order, 1);
}

TEST_CASE("bounds: atomics") {
  for (const Space& space : spaces)
    for (Type type : {Type::u32, Type::u64})
      for (unsigned lanes : {1u, 8u, 16u})
        for (bool masked : {false, true})
          for (Order order : {Order::Consecutive, Order::Same})
            check_site({Shape::Atomic, space, type, lanes, 1, masked}, order, 4);
}

TEST_CASE("bounds: blocks of every length") {
  for (const Space& space : spaces)
    for (Shape shape : {Shape::BlockLoad, Shape::BlockStore})
      for (Type type : {Type::u8, Type::u32, Type::u64})
        for (unsigned lanes = 1; lanes <= 32; ++lanes)
          check_site({shape, space, type, lanes, 1, false}, Order::Same, type == Type::u8 ? 1 : 3);
}
