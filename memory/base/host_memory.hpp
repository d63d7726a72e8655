#pragma once
// HostMemory: zeroed host pages that cost nothing until touched, released with the object. HostPages: the
// same for any number of small blocks. They must not know what is stored in the pages.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace eum::mem {

class HostPages;

/// A block of whole pages, page-aligned, initially zero.
class HostMemory {
 public:
  static constexpr std::size_t page = 4096;

  /// At least `bytes`, as a mapping of its own; nothing if the host has no such address range.
  static std::optional<HostMemory> map(std::size_t bytes);

  HostMemory() = default;
  HostMemory(HostMemory&& other) noexcept
      : pages_(std::exchange(other.pages_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        pool_(std::exchange(other.pool_, nullptr)) {}
  HostMemory& operator=(HostMemory&& other) noexcept {
    std::swap(pages_, other.pages_);
    std::swap(bytes_, other.bytes_);
    std::swap(pool_, other.pool_);
    return *this;
  }
  ~HostMemory();

  std::byte* data() const { return pages_; }
  std::size_t size() const { return bytes_; }

 private:
  friend class HostPages;
  HostMemory(std::byte* pages, std::size_t bytes, HostPages* pool)
      : pages_(pages), bytes_(bytes), pool_(pool) {}

  std::byte* pages_ = nullptr;
  std::size_t bytes_ = 0;
  HostPages* pool_ = nullptr;  // to which the pages return; nullptr: a mapping of its own
};

/// Cuts small blocks out of large mappings, because a process may have only about 65,000 mappings
/// (vm.max_map_count). Not synchronised. Must outlive its blocks.
class HostPages {
 public:
  HostPages() = default;
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;

  /// At least `bytes`, zeroed; nothing if the host has no more.
  std::optional<HostMemory> allocate(std::size_t bytes);

  /// Larger blocks are mappings of their own, with huge pages where the block is large and the host has them.
  static constexpr std::size_t most_pooled = 128 * 1024;

 private:
  friend class HostMemory;
  void give_back(std::byte* pages, std::size_t bytes) noexcept;

  static constexpr std::size_t slab_bytes = std::size_t{16} << 20;

  std::vector<HostMemory> slabs_;  // the last one is being cut
  std::size_t cut_ = 0;            // bytes of the last slab already handed out
  std::array<std::vector<std::byte*>, most_pooled / HostMemory::page> free_;  // by pages - 1: zeroed blocks
};

}  // namespace eum::mem
