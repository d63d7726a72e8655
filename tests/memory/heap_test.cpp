// Heap: alignment, zeroing, early release, whole release, and use from threads other than the maker.
#include <catch2/catch.hpp>

#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "memory/heap.hpp"

using namespace eum::mem;

namespace {
bool aligned(const void* p, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(p) % alignment == 0;
}
}  // namespace

TEST_CASE("a heap says what it is made of") {
  const std::string name = heap_backend_name();
  CHECK((heap_backend() == HeapBackend::Mimalloc ? name.starts_with("mimalloc 2.") : name == "operator new"));
}

TEST_CASE("loading mimalloc leaves the program's malloc alone") {
  Heap heap;
  void* ours = heap.allocate(64);
  void* program = std::malloc(64);
  REQUIRE(ours != nullptr);
  REQUIRE(program != nullptr);
  std::free(program);  // would abort if malloc and free came from different allocators
}

TEST_CASE("blocks are aligned, distinct and writable") {
  Heap heap;
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (std::size_t alignment = 1; alignment <= Heap::max_alignment; alignment *= 2) {
    for (std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{4097}, std::size_t{1} << 20}) {
      auto* p = static_cast<unsigned char*>(heap.allocate(size, alignment));
      REQUIRE(p != nullptr);
      REQUIRE(aligned(p, alignment));
      std::memset(p, static_cast<int>(blocks.size() & 0xff), size);
      blocks.emplace_back(p, size);
    }
  }
  CHECK(heap.block_count() == blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t k = 0; k < blocks[i].second; k += 61) REQUIRE(blocks[i].first[k] == (i & 0xff));
  }
  for (std::size_t i = 0; i < blocks.size(); i += 2) heap.release(blocks[i].first);
  CHECK(heap.block_count() == blocks.size() / 2);
  heap.clear();
  CHECK(heap.block_count() == 0);
  CHECK(heap.allocate(10) != nullptr);
}

TEST_CASE("zeroed blocks are zero even where memory is reused") {
  Heap heap;
  for (int round = 0; round < 20; ++round) {
    auto* dirty = static_cast<unsigned char*>(heap.allocate(5000, 64));
    std::memset(dirty, 0xff, 5000);
    heap.release(dirty);
    auto* clean = static_cast<unsigned char*>(heap.allocate_zeroed(5000, 64));
    REQUIRE(aligned(clean, 64));
    std::size_t set = 0;
    for (std::size_t i = 0; i < 5000; ++i) set += clean[i] != 0;
    REQUIRE(set == 0);
    heap.release(clean);
  }
}

TEST_CASE("what cannot be allocated is nullptr") {
  Heap heap;
  CHECK(heap.allocate(8, 3) == nullptr);
  CHECK(heap.allocate(8, 0) == nullptr);
  CHECK(heap.allocate(8, Heap::max_alignment * 2) == nullptr);
  CHECK(heap.allocate(std::numeric_limits<std::size_t>::max()) == nullptr);
  CHECK(heap.block_count() == 0);
  heap.release(nullptr);
}

TEST_CASE("a heap may be used and destroyed by threads other than its maker") {
  auto heap = std::make_unique<Heap>();
  std::thread([&] {
    for (int i = 0; i < 100; ++i) std::memset(heap->allocate(1000), 1, 1000);
  }).join();
  // Its maker has ended: old blocks are still readable, new ones come from elsewhere.
  auto* p = static_cast<unsigned char*>(heap->allocate(1000));
  std::memset(p, 2, 1000);
  CHECK(heap->block_count() == 101);
  std::thread([&] {
    CHECK(heap->allocate_zeroed(100) != nullptr);
    heap.reset();
  }).join();
  CHECK(heap == nullptr);
}

TEST_CASE("moving a heap moves its blocks") {
  Heap a;
  auto* p = static_cast<unsigned char*>(a.allocate(100));
  p[99] = 7;
  Heap b = std::move(a);
  CHECK(b.block_count() == 1);
  CHECK(p[99] == 7);
  Heap c;
  CHECK(c.allocate(1) != nullptr);
  c = std::move(b);
  CHECK(c.block_count() == 1);
  c.release(p);
  CHECK(c.block_count() == 0);
}

TEST_CASE("containers live in a heap") {
  Heap heap;
  {
    HeapResource resource(heap);
    std::pmr::vector<int> values(&resource);
    for (int i = 0; i < 10000; ++i) values.push_back(i);
    CHECK(values[9999] == 9999);
    CHECK(heap.block_count() == 1);
  }
  CHECK(heap.block_count() == 0);
}
