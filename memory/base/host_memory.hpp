#pragma once
// HostMemory: zeroed pages of the host that cost nothing until they are touched, released with the object.
// HostPages: the same for any number of small blocks. They must not know what is kept in the pages.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace eum::mem {

class HostPages;

/// A block of whole pages, page-aligned, zero when it is made.
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
  HostPages* pool_ = nullptr;  // that gets the pages back; nullptr: a mapping of its own
};

/// Cuts small blocks out of large mappings, because a process may have only some 65,000 of them
/// (vm.max_map_count). Not synchronised. Must outlive its blocks.
class HostPages {
 public:
  HostPages() = default;
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;

  /// At least `bytes`, zero; nothing if the host has no more.
  std::optional<HostMemory> allocate(std::size_t bytes);

  /// Blocks above this are mappings of their own, in huge pages where they are large and the host has those.
  static constexpr std::size_t most_pooled = 128 * 1024;

 private:
  friend class HostMemory;
  void give_back(std::byte* pages, std::size_t bytes) noexcept;

  static constexpr std::size_t slab_bytes = std::size_t{16} << 20;

  std::vector<HostMemory> slabs_;  // the last one is being cut
  std::size_t cut_ = 0;            // bytes of it that are given away
  std::array<std::vector<std::byte*>, most_pooled / HostMemory::page> free_;  // by pages - 1: zero blocks
};

}  // namespace eum::mem
