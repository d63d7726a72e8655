// AddressSpace: mapping, overlap, byte-exact copies across regions, faults, allocation with guards, hostile
// numbers.
#include <catch2/catch.hpp>

#include <array>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "memory/address_space.hpp"

using namespace eum;
using namespace eum::mem;
using Catch::Contains;

namespace {

constexpr std::uint64_t top = ~std::uint64_t{0};

struct alignas(64) Storage {
  std::array<std::byte, 4096> bytes{};
  std::byte* data() { return bytes.data(); }
};

std::vector<std::byte> pattern(std::size_t size, unsigned seed = 1) {
  std::vector<std::byte> v(size);
  for (std::size_t i = 0; i < size; ++i) v[i] = static_cast<std::byte>(i * 7 + seed);
  return v;
}

}  // namespace

TEST_CASE("find returns the region that holds an address, and only that") {
  Storage s;
  AddressSpace space;
  CHECK(space.find(0) == nullptr);
  REQUIRE(space.map(0x3000, 0x100, s.data(), Access::ReadWrite, "c"));
  REQUIRE(space.map(0x1000, 0x100, s.data(), Access::ReadWrite, "a"));
  REQUIRE(space.map(0x2000, 0x100, s.data(), Access::Read, "b"));
  CHECK(space.region_count() == 3);
  for (auto [address, name] : std::vector<std::pair<std::uint64_t, const char*>>{{0, ""},
                                                                                 {0xfff, ""},
                                                                                 {0x1000, "a"},
                                                                                 {0x10ff, "a"},
                                                                                 {0x1100, ""},
                                                                                 {0x2080, "b"},
                                                                                 {0x3000, "c"},
                                                                                 {0x30ff, "c"},
                                                                                 {0x3100, ""},
                                                                                 {top, ""}}) {
    const Region* r = space.find(address);
    CAPTURE(address);
    CHECK((r == nullptr ? "" : r->name) == std::string(name));
  }
}

TEST_CASE("regions may touch but not overlap") {
  Storage s;
  AddressSpace space;
  REQUIRE(space.map(0x1000, 0x100, s.data(), Access::ReadWrite, "first"));
  REQUIRE(space.map(0x1100, 0x100, s.data(), Access::ReadWrite, "after"));
  REQUIRE(space.map(0xf00, 0x100, s.data(), Access::ReadWrite, "before"));
  for (auto [address, size] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0x1000, 1}, {0x10f8, 8}, {0x800, 0x701}, {0, 0x10000}, {0x11f8, 0x1000}}) {
    auto r = space.map(address, size, s.data(), Access::ReadWrite, "new");
    REQUIRE_FALSE(r);
    CHECK_THAT(r.error().message, Contains("overlaps"));
  }
  REQUIRE(space.unmap(0x1000));
  CHECK(space.find(0x1000) == nullptr);
  CHECK(space.map(0x1008, 0x80, s.data(), Access::ReadWrite, "again"));
  CHECK_FALSE(space.unmap(0x1000));
  CHECK_FALSE(space.unmap(0x1010));
}

TEST_CASE("nonsense cannot be mapped") {
  Storage s;
  AddressSpace space;
  CHECK_FALSE(space.map(0x1000, 0, s.data(), Access::Read, "empty"));
  CHECK_FALSE(space.map(0x1000, 16, nullptr, Access::Read, "no host"));
  CHECK_FALSE(space.map(top - 7, 9, s.data() + 0, Access::Read, "wraps"));
  CHECK_FALSE(space.map(top - 7, 8, s.data(), Access::Read, "last byte"));
  CHECK_FALSE(space.map(8, top - 7, s.data(), Access::Read, "up to the last byte"));
  CHECK_FALSE(space.map(0x1004, 16, s.data(), Access::Read, "host and GPU alignment differ"));
  CHECK_FALSE(space.map_callbacks(0x1000, 16, {}, Access::Read, "no callback"));
}

TEST_CASE("copies span adjacent regions to the byte and fault at the first byte that fails") {
  Storage a, b;
  AddressSpace space;
  REQUIRE(space.map(0x1000, 64, a.data(), Access::ReadWrite, "a"));
  REQUIRE(space.map(0x1040, 32, b.data(), Access::ReadWrite, "b"));
  REQUIRE(space.map(0x1060, 32, b.data() + 32, Access::Read, "c"));

  const auto data = pattern(40);
  REQUIRE_FALSE(space.write(0x1040 - 20, data));
  CHECK(std::memcmp(a.data() + 44, data.data(), 20) == 0);
  CHECK(std::memcmp(b.data(), data.data() + 20, 20) == 0);
  CHECK(a.bytes[43] == std::byte{0});
  CHECK(b.bytes[20] == std::byte{0});
  std::vector<std::byte> back(40);
  REQUIRE_FALSE(space.read(0x1040 - 20, back));
  CHECK(back == data);

  std::vector<std::byte> whole(128);
  CHECK_FALSE(space.read(0x1000, whole));
  std::vector<std::byte> beyond(129, std::byte{9});
  auto fault = space.read(0x1000, beyond);
  REQUIRE(fault);
  CHECK(*fault == MemoryFault{0x1080, 1, Access::Read, MemoryFault::Kind::Unmapped});
  CHECK(beyond == std::vector<std::byte>(129, std::byte{9}));
  CHECK_THAT(space.describe(*fault), Contains("read of 1 byte at 0x1080") && Contains("nearest below is c"));

  const auto before = b.bytes;
  fault = space.write(0x1050, pattern(20));
  REQUIRE(fault);
  CHECK(*fault == MemoryFault{0x1060, 4, Access::Write, MemoryFault::Kind::Denied});
  CHECK(b.bytes == before);
  CHECK_THAT(space.describe(*fault), Contains("c [0x1060, 0x1080) allows read"));

  CHECK(space.read(top, std::span(back).first(1)));
  CHECK(space.read(top - 3, std::span(back).first(8)));
  CHECK_FALSE(space.read(top, {}));
}

TEST_CASE("nearest is the region below an address, or the lowest") {
  Storage s;
  AddressSpace space;
  CHECK(space.nearest(0x1000) == nullptr);
  const Region* a = *space.map(0x1000, 0x100, s.data(), Access::Read, "a");
  const Region* b = *space.map(0x3000, 0x100, s.data(), Access::Read, "b");
  CHECK(space.nearest(0) == a);
  CHECK(space.nearest(0x1000) == a);
  CHECK(space.nearest(0x2fff) == a);
  CHECK(space.nearest(0x3000) == b);
  CHECK(space.nearest(top) == b);
}

TEST_CASE("callback regions carry accesses to the embedder") {
  struct Device {
    std::map<std::uint64_t, unsigned char> bytes;
    bool refuse = false;
  } device;
  RegionCallbacks callbacks;
  callbacks.context = &device;
  callbacks.read = [](void* context, std::uint64_t address, void* to, std::uint64_t size) {
    auto& d = *static_cast<Device*>(context);
    for (std::uint64_t i = 0; i < size; ++i) static_cast<unsigned char*>(to)[i] = d.bytes[address + i];
    return !d.refuse;
  };
  callbacks.write = [](void* context, std::uint64_t address, const void* from, std::uint64_t size) {
    auto& d = *static_cast<Device*>(context);
    for (std::uint64_t i = 0; i < size; ++i)
      d.bytes[address + i] = static_cast<const unsigned char*>(from)[i];
    return !d.refuse;
  };
  Storage s;
  AddressSpace space;
  REQUIRE(space.map(0x1000, 16, s.data(), Access::ReadWrite, "host"));
  REQUIRE(space.map_callbacks(0x1010, 16, callbacks, Access::ReadWrite, "device"));
  const auto data = pattern(24);
  REQUIRE_FALSE(space.write(0x1008, data));
  CHECK(device.bytes.size() == 16);
  CHECK(device.bytes[0x1010] == std::to_integer<unsigned char>(data[8]));
  std::vector<std::byte> back(24);
  REQUIRE_FALSE(space.read(0x1008, back));
  CHECK(back == data);
  device.refuse = true;
  auto fault = space.read(0x1008, back);
  REQUIRE(fault);
  CHECK(fault->kind == MemoryFault::Kind::Callback);
  CHECK(fault->address == 0x1010);
  CHECK_THAT(space.describe(*fault), Contains("device") && Contains("refused"));
}

TEST_CASE("allocated regions are zero, aligned, and apart from all others") {
  AddressSpace space;
  std::vector<const Region*> regions;
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t size = 1 + random() % 200000;
    const std::uint64_t alignment = std::uint64_t{1} << (random() % 22);
    auto r = space.allocate(size, alignment, "r" + std::to_string(i));
    REQUIRE(r);
    const Region& region = **r;
    CHECK(region.size == size);
    CHECK(region.address % std::max<std::uint64_t>(alignment, 4096) == 0);
    CHECK(region.end() <= std::uint64_t{1} << 47);
    CHECK(reinterpret_cast<std::uintptr_t>(region.host) % 64 == 0);
    CHECK(region.host[0] == std::byte{0});
    CHECK(region.host[size - 1] == std::byte{0});
    region.host[0] = region.host[size - 1] = std::byte{0xff};
    regions.push_back(&region);
    if (i % 3 == 2) {
      REQUIRE(space.unmap(regions[regions.size() - 2]->address));
      regions.erase(regions.end() - 2);
    }
  }
  for (std::size_t i = 1; i < space.region_count(); ++i) {
    CHECK(space.region(i).address - space.region(i - 1).end() >= AddressSpace::guard_gap);
  }
  for (const Region* r : regions) {
    CHECK(space.find(r->address) == r);
    CHECK(space.find(r->end()) == nullptr);
    CHECK(space.find(r->address - 1) == nullptr);
  }
}

TEST_CASE("allocation honours its placement and says when there is no room") {
  Storage s;
  AddressSpace space;
  const Placement low{0x10000, std::uint64_t{1} << 32};
  auto first = space.allocate(4096, 1, "low", low);
  REQUIRE(first);
  CHECK((*first)->address == 0x10000);
  const Placement tight{0x10000, 0x40000};
  auto second = space.allocate(0x1000, 1, "second", tight);
  REQUIRE(second);
  CHECK((*second)->address == 0x11000 + AddressSpace::guard_gap);
  auto none = space.allocate(0x30000, 1, "third", tight);
  REQUIRE_FALSE(none);
  CHECK_THAT(none.error().message, Contains("third") && Contains("free between 0x10000 and 0x40000"));

  CHECK_FALSE(space.allocate(0, 1, "empty"));
  CHECK_FALSE(space.allocate(top, 1, "huge"));
  CHECK_FALSE(space.allocate(AddressSpace::max_allocation + 1, 1, "too large"));
  CHECK_FALSE(space.allocate(16, 3, "odd alignment"));
  CHECK_FALSE(space.allocate(16, std::uint64_t{1} << 63, "alignment beyond the space"));
  CHECK_FALSE(space.allocate(16, 1, "inverted", Placement{0x1000, 0x800}));
  CHECK_FALSE(space.allocate(16, 1, "at the top", Placement{top - 100, top}));
  // A region at the very top must not wrap the search.
  REQUIRE(space.map(top - 15, 8, s.data(), Access::Read, "last"));
  CHECK_FALSE(space.allocate(16, 1, "above the last", Placement{top - 8192, top}));
  CHECK(space.region_count() == 3);
}

TEST_CASE("many threads read one address space") {
  AddressSpace space;
  std::vector<std::uint64_t> addresses;
  for (int i = 0; i < 50; ++i) {
    auto r = space.allocate(64, 64, "r");
    REQUIRE(r);
    const auto tag = static_cast<std::byte>(i);
    REQUIRE_FALSE(space.write((*r)->address, std::span(&tag, 1)));
    addresses.push_back((*r)->address);
  }
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        const auto k = static_cast<std::size_t>(i % 50);
        std::byte tag{};
        if (space.read(addresses[k], std::span(&tag, 1)) || tag != static_cast<std::byte>(k)) ++wrong;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}
