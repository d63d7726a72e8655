// mmap without reservation: the host provides each page (a huge page, in large blocks) on first touch, and a
// returned block's pages go back to the host at once.
#include "memory/base/host_memory.hpp"

#include <sys/mman.h>

#include <cstring>
#include <limits>
#include <new>

namespace eum::mem {
namespace {

constexpr std::size_t whole_pages(std::size_t bytes) {
  return (bytes + HostMemory::page - 1) / HostMemory::page * HostMemory::page;
}

/// Afterwards the pages read as zero and hold no host memory.
void drop(std::byte* pages, std::size_t bytes) {
  if (madvise(pages, bytes, MADV_DONTNEED) != 0) std::memset(pages, 0, bytes);  // fails if locked by mlockall
}

}  // namespace

std::optional<HostMemory> HostMemory::map(std::size_t bytes) {
  if (bytes == 0 || bytes > std::numeric_limits<std::ptrdiff_t>::max() - page) return std::nullopt;
  bytes = whole_pages(bytes);
  void* pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return std::nullopt;
  return HostMemory(static_cast<std::byte*>(pages), bytes, nullptr);
}

HostMemory::~HostMemory() {
  if (pages_ == nullptr) return;
  if (pool_ != nullptr) {
    pool_->give_back(pages_, bytes_);
  } else if (munmap(pages_, bytes_) != 0) {
    // Unmapping part of what the kernel keeps as one mapping splits it and can exceed the limit on mappings;
    // then only the memory is released.
    drop(pages_, bytes_);
  }
}

namespace {

/// Huge pages spare kernels that stream through the block TLB misses. A host without huge pages refuses,
/// which is harmless.
std::optional<HostMemory> in_huge_pages(std::optional<HostMemory> memory) {
  constexpr std::size_t least = 4 << 20;  // two huge pages, as the first byte touched takes one
  if (memory && memory->size() >= least) madvise(memory->data(), memory->size(), MADV_HUGEPAGE);
  return memory;
}

}  // namespace

std::optional<HostMemory> HostPages::allocate(std::size_t bytes) {
  if (bytes == 0 || bytes > most_pooled) return in_huge_pages(HostMemory::map(bytes));
  bytes = whole_pages(bytes);
  if (auto& free = free_[bytes / HostMemory::page - 1]; !free.empty()) {
    HostMemory block(free.back(), bytes, this);
    free.pop_back();
    return block;
  }
  if (slabs_.empty() || slabs_.back().size() - cut_ < bytes) {
    auto slab = HostMemory::map(slab_bytes);
    if (!slab) return HostMemory::map(bytes);
    slabs_.push_back(*std::move(slab));
    cut_ = 0;
  }
  std::byte* block = slabs_.back().data() + cut_;
  cut_ += bytes;
  return HostMemory(block, bytes, this);
}

void HostPages::give_back(std::byte* pages, std::size_t bytes) noexcept {
  drop(pages, bytes);
  try {
    free_[bytes / HostMemory::page - 1].push_back(pages);
  } catch (const std::bad_alloc&) {  // the block is not handed out again until the pool is destroyed
  }
}

}  // namespace eum::mem
