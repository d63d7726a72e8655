// Loads, stores and atomics at the edges of surfaces, regions and scratch.
#include "jit/access.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "memory/address_space.hpp"
#include "memory/surface.hpp"

using namespace eum;
using namespace eum::jit;

namespace {

struct World {
  alignas(64) std::array<std::byte, 64> buffer{};
  alignas(64) std::array<std::byte, 32> scratch{};
  std::vector<mem::Surface> surfaces = std::vector<mem::Surface>(256);
  mem::AddressSpace space;
  Environment environment;

  World() {
    for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<std::byte>(i + 1);
    surfaces[3] = mem::buffer_surface(buffer.data(), 18, 0);
    REQUIRE(space.map(0x1000, 32, buffer.data(), mem::Access::ReadWrite, "low"));
    REQUIRE(space.map(0x1020, 32, buffer.data() + 32, mem::Access::Read, "high"));
    environment = {surfaces.data(), scratch.data(), scratch.size(), &space};
  }
  std::uint32_t word(std::size_t at) const {
    std::uint32_t value;
    std::memcpy(&value, buffer.data() + at, 4);
    return value;
  }
};

constexpr unsigned surface = 3;

Access access_of(ir::MemSpace space, unsigned lanes, std::uint8_t components = 1) {
  Access access;
  access.mem.space = space;
  access.mem.surface = surface;
  access.mem.components = components;
  access.mem.atomic = ir::AtomicOp::add;
  access.lanes = static_cast<std::uint8_t>(lanes);
  access.guest_ip = 0x40;
  return access;
}

}  // namespace

TEST_CASE("a surface reads 0 beyond its end, element by element, and drops writes there") {
  World world;
  Fault fault;
  const std::uint32_t addresses[4] = {0, 12, 16, 0xfffffffc};
  // Components 0 and 2. The surface has 18 bytes: an element at 16 is not whole.
  std::uint32_t data[8];
  std::memset(data, 0xaa, sizeof data);
  const Access access = access_of(ir::MemSpace::Surface, 4, 0b101);
  REQUIRE(load(world.environment, access, {surface, addresses, 0b1101}, data, fault));
  CHECK(data[0] == world.word(0));
  CHECK(data[1] == 0);  // outside the mask
  CHECK(data[2] == 0);
  CHECK(data[3] == 0);
  CHECK(data[4] == world.word(8));
  CHECK(data[5] == 0);
  CHECK(data[6] == 0);
  CHECK(data[7] == 0);  // 0xfffffffc + 8 does not wrap around to 4

  const std::uint32_t stored[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto before = world.buffer;
  REQUIRE(store(world.environment, access, {surface, addresses, 0b1110}, stored, fault));
  CHECK(world.word(12) == 2);
  CHECK(std::memcmp(world.buffer.data(), before.data(), 12) == 0);
  CHECK(std::memcmp(world.buffer.data() + 16, before.data() + 16, 48) == 0);
  CHECK(fault.kind == FaultKind::None);

  for (std::uint32_t none : {7u, 255u, 256u, ~0u}) {
    data[0] = 1;
    REQUIRE(load(world.environment, access, {none, addresses, 15}, data, fault));
    CHECK(data[0] == 0);
  }
}

TEST_CASE("elements by halves end where memory does, and fault there as halves") {
  World world;
  Fault fault;
  Access access = access_of(ir::MemSpace::Surface, 3);
  access.type = ir::Type::u64;
  access.mem.part_bytes = 4;
  // The surface has 18 bytes.
  const std::uint32_t addresses[3] = {8, 12, 16};
  std::uint32_t data[6];
  std::memset(data, 0xaa, sizeof data);
  REQUIRE(load(world.environment, access, {surface, addresses, ~0u}, data, fault));
  CHECK(data[0] == world.word(8));
  CHECK(data[1] == world.word(12));
  CHECK(data[2] == world.word(12));
  CHECK(data[3] == 0);
  CHECK(data[4] == 0);
  CHECK(data[5] == 0);
  const std::uint32_t stored[6] = {1, 2, 3, 4, 5, 6};
  const auto before = world.buffer;
  REQUIRE(store(world.environment, access, {surface, addresses, 0b110}, stored, fault));
  CHECK(world.word(8) == data[0]);
  CHECK(world.word(12) == 3);
  CHECK(std::memcmp(world.buffer.data() + 16, before.data() + 16, 48) == 0);
  CHECK(fault.kind == FaultKind::None);
  access.mem.space = ir::MemSpace::Scratch;
  const std::uint32_t end[3] = {0, static_cast<std::uint32_t>(world.environment.scratch_bytes) - 4, 0};
  REQUIRE_FALSE(load(world.environment, access, {0, end, ~0u}, data, fault));
  CHECK(fault.lane == 1);
  CHECK(fault.bytes == 4);
  CHECK(fault.address == world.environment.scratch_bytes);
}

TEST_CASE("bytes and words load from any address") {
  World world;
  Fault fault;
  const std::uint32_t addresses[2] = {17, 18};
  Access access = access_of(ir::MemSpace::Surface, 2);
  access.type = ir::Type::u8;
  std::uint8_t bytes[2] = {9, 9};
  REQUIRE(load(world.environment, access, {surface, addresses, 3}, bytes, fault));
  CHECK(bytes[0] == 18);
  CHECK(bytes[1] == 0);
  access.type = ir::Type::u16;
  std::uint16_t words[2] = {9, 9};
  REQUIRE(load(world.environment, access, {surface, addresses, 3}, words, fault));
  CHECK(words[0] == 0);
}

TEST_CASE("stateless accesses fault at the lane that has no memory") {
  World world;
  const std::uint64_t addresses[3] = {0x1000, 0x101e, 0x103d};
  const Access access = access_of(ir::MemSpace::A64, 3);
  std::uint32_t data[3] = {};
  Fault fault;
  REQUIRE(load(world.environment, access, {surface, addresses, 0b011}, data, fault));
  CHECK(data[0] == world.word(0));
  CHECK(data[1] == world.word(30));  // across two regions
  REQUIRE_FALSE(load(world.environment, access, {surface, addresses, 0b111}, data, fault));
  CHECK(fault.kind == FaultKind::OutOfBounds);
  CHECK(fault.guest_ip == 0x40);
  CHECK(fault.lane == 2);
  CHECK(fault.address == 0x103d);
  CHECK(fault.bytes == 4);

  Fault denied;
  const std::uint64_t read_only[1] = {0x1020};
  const Access one = access_of(ir::MemSpace::A64, 1);
  REQUIRE_FALSE(store(world.environment, one, {surface, read_only, 1}, data, denied));
  CHECK(denied.kind == FaultKind::OutOfBounds);
  CHECK(denied.address == 0x1020);

  Fault wrapped;
  const std::uint64_t last[1] = {~std::uint64_t{0} - 3};
  const Access far = access_of(ir::MemSpace::A64, 1, 0b10);
  REQUIRE_FALSE(load(world.environment, far, {surface, last, 1}, data, wrapped));
  Environment no_space = world.environment;
  no_space.space = nullptr;
  REQUIRE_FALSE(load(no_space, one, {surface, addresses, 1}, data, wrapped));
}

TEST_CASE("scratch is bounded") {
  World world;
  Fault fault;
  std::uint32_t data[2] = {5, 6};
  const std::uint32_t addresses[2] = {28, 29};
  const Access access = access_of(ir::MemSpace::Scratch, 2);
  REQUIRE(store(world.environment, access, {surface, addresses, 1}, data, fault));
  REQUIRE_FALSE(store(world.environment, access, {surface, addresses, 3}, data, fault));
  CHECK(fault.lane == 1);
  CHECK(fault.address == 29);
  CHECK(world.scratch[28] == std::byte{5});
}

TEST_CASE("block accesses are consecutive elements") {
  World world;
  Fault fault;
  const std::uint32_t address = 8;
  std::uint32_t data[4];
  const Access access = access_of(ir::MemSpace::Surface, 4);
  REQUIRE(block_load(world.environment, access, {surface, &address}, data, fault));
  CHECK(data[0] == world.word(8));
  CHECK(data[1] == world.word(12));
  CHECK(data[2] == 0);
  const std::uint64_t far = 0x1018;
  const Access stateless = access_of(ir::MemSpace::A64, 4);
  REQUIRE_FALSE(block_store(world.environment, stateless, {surface, &far}, data, fault));
  CHECK(fault.lane == 2);  // the third element is in the read-only region
  CHECK(fault.address == 0x1020);
  CHECK(world.word(24) == data[0]);
}

TEST_CASE("elements of a block that are outside a surface are observed one by one") {
  World world;
  std::vector<OutOfSurface> seen;
  const BoundsObserver observer{&seen, [](void* context, const OutOfSurface& access) {
                                  static_cast<std::vector<OutOfSurface>*>(context)->push_back(access);
                                }};
  world.environment.bounds = &observer;
  Fault fault;
  const std::uint32_t address = 8;
  std::uint32_t data[4];
  REQUIRE(
      block_load(world.environment, access_of(ir::MemSpace::Surface, 4), {surface, &address}, data, fault));
  CHECK(data[1] == world.word(12));
  CHECK(data[3] == 0);
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].lane == 2);
  CHECK(seen[0].offset == 16);
  CHECK(seen[1].lane == 3);
}

TEST_CASE("atomics act lane by lane and return what was there") {
  World world;
  Fault fault;
  const std::uint32_t addresses[4] = {4, 4, 100, 4};
  std::uint32_t data[4] = {1, 10, 100, 1000};
  Access access = access_of(ir::MemSpace::Surface, 4);
  access.returns = true;
  const std::uint32_t start = world.word(4);
  REQUIRE(atomic(world.environment, access, {surface, addresses, 0b1101}, data, fault));
  CHECK(data[0] == start);
  CHECK(data[1] == 0);
  CHECK(data[2] == 0);
  CHECK(data[3] == start + 1);
  CHECK(world.word(4) == start + 1001);

  access.mem.atomic = ir::AtomicOp::cmpwr;
  std::uint32_t compare_and_value[8] = {start, start + 1001, 0, 42, 7, 8, 9, 43};
  REQUIRE(atomic(world.environment, access, {surface, addresses, 0b1011}, compare_and_value, fault));
  CHECK(compare_and_value[0] == start + 1001);
  CHECK(compare_and_value[1] == start + 1001);
  CHECK(compare_and_value[3] == 8);
  CHECK(world.word(4) == 8);

  const std::uint32_t odd[1] = {6};
  const Access one = access_of(ir::MemSpace::Surface, 1);
  REQUIRE_FALSE(atomic(world.environment, one, {surface, odd, 1}, data, fault));
  CHECK(fault.kind == FaultKind::Misaligned);
}
