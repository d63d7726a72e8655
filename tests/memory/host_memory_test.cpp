// HostMemory and HostPages: lazy, zeroed, aligned, few mappings. Random changes of an address space against a
// simple model.
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "memory/address_space.hpp"
#include "memory/base/host_memory.hpp"

using namespace eum;
using namespace eum::mem;

namespace {

constexpr std::size_t page = HostMemory::page;

bool aligned(const HostMemory& memory) {
  return reinterpret_cast<std::uintptr_t>(memory.data()) % page == 0 && memory.size() % page == 0;
}

/// Whether the host has committed any page of the block.
bool touched(const HostMemory& memory) {
  std::vector<unsigned char> pages(memory.size() / page);
  REQUIRE(mincore(memory.data(), memory.size(), pages.data()) == 0);
  for (const unsigned char p : pages)
    if ((p & 1) != 0) return true;
  return false;
}

std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

}  // namespace

TEST_CASE("a block of 1 TiB costs nothing until it is touched") {
  auto memory = HostMemory::map(std::size_t{1} << 40);
#if !defined(__SANITIZE_THREAD__)
  REQUIRE(memory);
  CHECK(aligned(*memory));
  memory->data()[std::size_t{1} << 39] = std::byte{1};
  CHECK(memory->data()[(std::size_t{1} << 40) - 1] == std::byte{0});
#endif
  CHECK_FALSE(HostMemory::map(0));
  CHECK_FALSE(HostMemory::map(~std::size_t{0}));
  CHECK_FALSE(HostMemory::map(std::size_t{1} << 62));
}

TEST_CASE("small blocks are whole untouched pages, zero again when they come back") {
  HostPages pool;
  for (const std::size_t bytes :
       {std::size_t{1}, page, page + 1, HostPages::most_pooled, HostPages::most_pooled + 1}) {
    CAPTURE(bytes);
    std::vector<HostMemory> blocks;
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 20; ++i) {
        auto block = pool.allocate(bytes);
        REQUIRE(block);
        CHECK(aligned(*block));
        CHECK(block->size() >= bytes);
        CHECK_FALSE(touched(*block));
        CHECK(block->data()[bytes - 1] == std::byte{0});
        block->data()[0] = block->data()[block->size() - 1] = std::byte{0xff};
        blocks.push_back(*std::move(block));
      }
      for (std::size_t i = 0; i < blocks.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) CHECK(blocks[i].data() != blocks[k].data());
      blocks.erase(blocks.begin() + 5, blocks.end());
    }
  }
  CHECK_FALSE(pool.allocate(0));
}

TEST_CASE("many small blocks are few mappings of the host") {
  HostPages pool;
  const std::size_t before = mappings();
  std::vector<HostMemory> blocks;
  for (int i = 0; i < 100'000; ++i) {
    auto block = pool.allocate(16);
    REQUIRE(block);
    blocks.push_back(*std::move(block));
  }
  for (std::size_t i = 0; i < blocks.size(); i += 2) blocks[i] = HostMemory();
  CHECK(mappings() < before + 100);
}

TEST_CASE("an address space of 10^5 buffers finds, fills its lowest gaps and forgets as a plain map does") {
  AddressSpace space;
  std::map<std::uint64_t, std::uint64_t> model;  // address -> size
  std::mt19937_64 random(11);
  const auto gap = AddressSpace::guard_gap;
  const auto lowest_fit = [&](std::uint64_t size) {
    std::uint64_t at = Placement{}.lowest;
    for (const auto& [address, bytes] : model) {
      if (address >= at + size + gap) break;
      at = (address + bytes + gap + page - 1) / page * page;
    }
    return at;
  };
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t size = 1 + random() % 300'000;
    const auto region = space.allocate(size, 1, "r");
    REQUIRE(region);
    if (i < 1500) REQUIRE((*region)->address == lowest_fit(size));  // the model takes linear time
    model[(*region)->address] = size;
    if (random() % 3 != 0 || i > 20'000) continue;
    auto victim = model.lower_bound(Placement{}.lowest + random() % (space.region_count() * 250'000));
    if (victim == model.end()) victim = model.begin();
    REQUIRE(space.unmap(victim->first));
    REQUIRE_FALSE(space.unmap(victim->first));
    model.erase(victim);
  }
  REQUIRE(space.region_count() == model.size());
  std::uint64_t last_end = 0;
  for (const auto& [address, bytes] : model) {
    REQUIRE(address >= last_end + gap);
    last_end = address + bytes;
    for (const std::uint64_t a : {address, address + bytes - 1}) {
      const Region* found = space.find(a);
      REQUIRE(found);
      REQUIRE((found->address == address && found->size == bytes));
    }
    REQUIRE(space.find(last_end) == nullptr);
    REQUIRE(space.find(address - 1) == nullptr);
  }
  // Unmap everything, from the middle outwards.
  while (!model.empty()) {
    auto victim =
        model.lower_bound(model.begin()->first + (model.rbegin()->first - model.begin()->first) / 2);
    REQUIRE(space.unmap(victim->first));
    REQUIRE(space.find(victim->first) == nullptr);
    model.erase(victim);
  }
  CHECK(space.region_count() == 0);
  CHECK(space.allocate(16, 1, "again"));
}

TEST_CASE("a region reaches to the end of its granule, and surfaces know what was asked for") {
  AddressSpace space;
  Placement pages;
  pages.granule = page;
  for (const std::uint64_t size : {1u, 12u, 4095u, 4096u, 4097u}) {
    const auto region = space.allocate(size, 1, "r", pages);
    REQUIRE(region);
    CHECK((*region)->asked == size);
    CHECK((*region)->size == (size + page - 1) / page * page);
    CHECK((*region)->host[(*region)->size - 1] == std::byte{0});
    CHECK(space.find((*region)->end()) == nullptr);
  }
  const auto exact = space.allocate(12, 1, "exact");
  REQUIRE(exact);
  CHECK(((*exact)->size == 12 && (*exact)->asked == 12));
  pages.granule = 3;
  CHECK_FALSE(space.allocate(1, 1, "no power of two", pages));
  pages.granule = 1 << 20;
  CHECK_FALSE(space.allocate(1, 1, "more than a page", pages));
}
