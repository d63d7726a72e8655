// Surface and Slm: which parts of a surface have host memory, null surfaces, sizes of local memory.
#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "memory/address_space.hpp"
#include "memory/slm.hpp"
#include "memory/surface.hpp"

using namespace eum::mem;

TEST_CASE("a surface is resolved where it is one block of memory that may be read and written") {
  std::vector<std::byte> memory(64);
  AddressSpace space;
  REQUIRE(space.map(0x1000, 32, memory.data(), Access::ReadWrite, "a"));
  REQUIRE(space.map(0x1020, 16, memory.data() + 32, Access::ReadWrite, "b"));
  REQUIRE(space.map(0x2000, 16, memory.data() + 48, Access::Read, "constant"));
  const RegionCallbacks callbacks{nullptr, [](void*, std::uint64_t, void*, std::uint64_t) { return true; },
                                  [](void*, std::uint64_t, const void*, std::uint64_t) { return true; }};
  REQUIRE(space.map_callbacks(0x3000, 16, callbacks, Access::ReadWrite, "device"));
  const auto resolved = [&](std::uint64_t address, std::uint64_t size) {
    Surface s = buffer_surface(nullptr, size, address);
    resolve(s, space);
    CHECK(s.direct == (s.base != nullptr ? size : 0));
    CHECK(s.size == size);
    return s.base;
  };
  CHECK(resolved(0x1000, 32) == memory.data());
  CHECK(resolved(0x1008, 24) == memory.data() + 8);
  CHECK(resolved(0x1008, 25) == nullptr);
  CHECK(resolved(0x1020, 16) == memory.data() + 32);
  CHECK(resolved(0x2000, 16) == nullptr);
  CHECK(resolved(0x3000, 16) == nullptr);
  CHECK(resolved(0x4000, 16) == nullptr);
  CHECK(resolved(0x1000, 0) == nullptr);
  CHECK(resolved(0x1008, ~std::uint64_t{0}) == nullptr);

  Surface own = buffer_surface(memory.data(), 8, 0x2000);
  resolve(own, space);
  CHECK(own.base == memory.data());
}

TEST_CASE("a binding table starts with null surfaces") {
  const auto table = std::make_unique<BindingTable>();
  for (std::size_t i = 0; i < binding_table_size; ++i) {
    REQUIRE((*table)[i].image.type == image::SurfaceType::SURFTYPE_NULL);
    REQUIRE((*table)[i].size == 0);
  }
}

TEST_CASE("shared local memory comes in the hardware's sizes") {
  CHECK(slm_allocation(0) == 0);
  CHECK(slm_allocation(1) == 1024);
  CHECK(slm_allocation(1024) == 1024);
  CHECK(slm_allocation(1025) == 2048);
  CHECK(slm_allocation(40000) == 65536);
  CHECK(slm_allocation(65536) == 65536);

  auto none = Slm::create(0);
  REQUIRE(none);
  CHECK(none->size() == 0);

  auto too_much = Slm::create(65537);
  REQUIRE_FALSE(too_much);
  CHECK(too_much.error().message.find("65537") != std::string::npos);
  CHECK_FALSE(Slm::create(~std::uint64_t{0}));

  auto slm = Slm::create(3000);
  REQUIRE(slm);
  REQUIRE(slm->size() == 4096);
  CHECK(slm->data()[0] == std::byte{0});
  CHECK(slm->data()[4095] == std::byte{0});
  CHECK(reinterpret_cast<std::uintptr_t>(slm->data()) % 64 == 0);
  slm->data()[17] = std::byte{5};
  slm->reset();
  CHECK(slm->data()[17] == std::byte{0});
}

TEST_CASE("reachable bytes know where accesses of common lengths may no longer begin") {
  const auto end = [](std::uint64_t bytes, std::size_t i) {
    const ReachableBytes reachable = bytes;
    std::uint64_t value = 0;
    std::memcpy(&value, reinterpret_cast<const char*>(&reachable) + ReachableBytes::end_offset(i),
                sizeof value);
    return value;
  };
  CHECK(ReachableBytes() == 0);
  for (std::size_t i = 0; i < ReachableBytes::lengths.size(); ++i) {
    const std::uint64_t length = ReachableBytes::lengths[i];
    for (const std::uint64_t bytes : {std::uint64_t{0}, length - 1})  // too short for any access
      CHECK(end(bytes, i) == 0);
    CHECK(end(length, i) == 1);
    CHECK(end(length + 7, i) == 8);
    CHECK(end(~std::uint64_t{0}, i) == ~std::uint64_t{0} - length + 1);
    CHECK(ReachableBytes(length) == length);
  }
}
