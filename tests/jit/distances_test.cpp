// Distances from a base in a region of more than 2 GiB, where an offset of 32 bits may be one or lie below
// the start of the region.
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "frontend/ir/builder.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

constexpr std::uint64_t start = 0x10'0000'0000, bytes = 3ull << 30;

/// Loads eight dwords by the distances in r0, then by those in r1.
Function loads(MemSpace space, std::uint64_t base, bool masked) {
  Function function;
  function.name = "far";
  function.family = "gen9";
  function.simd = 8;
  function.file_bytes = 4096;
  function.blocks[function.add_block(0)].guest_instructions = 1;
  Builder b(function);
  const ValueId from = b.constant(Type::u64, 1, base), mask = masked ? b.mask_get(0) : no_value;
  for (unsigned i = 0; i < 2; ++i) {
    MemoryAccess access = MemoryAccess::in(space);
    const ValueId distance = b.reg_read(info(space).address, 8, Region::packed(32 * i));
    b.reg_write(Region::packed(64 + 32 * i), b.load(Type::u32, access, distance, mask, from));
  }
  b.exit();
  return function;
}

}  // namespace

TEST_CASE("distances in a region of more than 2 GiB") {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  mem::AddressSpace space;
  REQUIRE(space.map(start, bytes, static_cast<std::byte*>(memory), mem::Access::ReadWrite, "large"));
  struct Way {
    MemSpace space;
    std::uint64_t base;
    std::uint32_t first;  ///< distance of the first lane
    bool inside;
  };
  const Way ways[] = {
      {MemSpace::From, start + 0x100, 0u - 0x100, true},    // the region's first bytes
      {MemSpace::From, start + 0x100, 0u - 0x200, false},   // below it: 32 bits of the offset are 3.99 GiB
      {MemSpace::From, start + 0x100, 0x80000000u, false},  // 2 GiB below: the offset seems to be 2 GiB
      {MemSpace::From, start + 0x7fffff00, 0x7ffff000, false},     // behind the end
      {MemSpace::From, start + 0x7fffff00, 0x3ffff000, true},      // behind 2 GiB
      {MemSpace::From, start + 0x90000000, 0u - 0x1000, true},     // base behind 2 GiB
      {MemSpace::FromUnsigned, start + 0x100, 0xa0000000u, true},  // behind 2 GiB
      {MemSpace::FromUnsigned, start + 0x100, 0xfffffe00u, false},
      {MemSpace::FromUnsigned, start - 0xff000000ull, 0xff000100u, true},
  };
  const std::unique_ptr<Engine> reference = make_reference_engine();
  std::vector<Engine*> engines{reference.get()};
  for (const auto& other : other_engines()) engines.push_back(other.get());
  for (const Way& way : ways)
    for (const bool masked : {false, true})
      for (const unsigned step : {4u, 8u}) {
        INFO(info(way.space).name << " base " << std::hex << way.base << " distance " << way.first << " step "
                                  << step << (masked ? " masked" : ""));
        for (Engine* engine : engines) {
          Function function = loads(way.space, way.base, masked);
          auto executable = engine->compile(function, {});
          REQUIRE(executable);
          const StateLayout layout = (*executable)->layout();
          const std::unique_ptr<std::byte, decltype(&std::free)> state_bytes(
              static_cast<std::byte*>(std::aligned_alloc(64, layout.size)), &std::free);
          std::memset(state_bytes.get(), 0, layout.size);
          ThreadState& state = *new (state_bytes.get()) ThreadState;
          Environment environment;
          environment.space = &space;
          state.environment = &environment;
          layout.masks_of(state)[0] = 0xff;
          std::uint32_t distances[16];
          for (std::uint32_t i = 0; i < 8; ++i) {
            // The first load is in bounds, so that the region is remembered.
            distances[i] = static_cast<std::uint32_t>(start + 0x1000 - way.base) + 4 * i;
            distances[8 + i] = way.first + step * i;
          }
          const bool reaches =
              way.space == MemSpace::From ? way.base - start < 0x7fff0000 : way.base - start < 0x1000;
          if (!reaches) std::memcpy(distances, distances + 8, 32);
          std::memcpy(layout.file_of(state), distances, sizeof distances);
          const Status status = (*executable)->run(state);
          CHECK((status == Status::Exited) == way.inside);
        }
      }
  munmap(memory, bytes);
}
