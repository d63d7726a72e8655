#pragma once
// RegionIndex: regions in address order; searches by address and by free space cost the logarithm of their
// number. It must not know what may be mapped where.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/base/host_memory.hpp"
#include "memory/region.hpp"

namespace eum::mem {

/// No two regions overlap. A Region does not move until it is erased. Not synchronised; searches may run
/// concurrently with each other.
class RegionIndex {
 public:
  struct Entry {
    Region region;
    HostMemory memory;  // of `region`, unless the caller owns it
  };

  /// The region that begins at `address` or nearest below it, or nullptr.
  const Region* below(std::uint64_t address) const;
  /// The region that begins nearest above `address`, or nullptr.
  const Region* above(std::uint64_t address) const;
  /// The lowest region above `from` (nullptr: of all) that is followed by at least `bytes` free bytes, or
  /// nullptr.
  const Region* next_gap(const Region* from, std::uint64_t bytes) const;

  const Region& insert(Entry entry);
  /// A region must begin at `address`.
  void erase(std::uint64_t address);

  std::size_t size() const { return size_; }
  const Region& operator[](std::size_t index) const;

 private:
  /// Neighbouring regions, few enough to bound what an insertion moves. Never empty.
  struct Chunk {
    std::vector<std::uint64_t> starts;  // ascending; entries[i].region begins at starts[i]
    std::vector<std::uint64_t> gaps;    // free bytes after entries[i]
    std::vector<std::unique_ptr<Entry>> entries;
  };
  static constexpr std::size_t most_entries = 256;

  struct Place {
    std::size_t chunk, at;
  };
  /// How many regions of its chunk begin at `address` or below; 0 only if no region at all does.
  Place upper(std::uint64_t address) const;
  const Region* region(std::size_t chunk, std::size_t at) const;
  void set_gap(std::size_t chunk, std::size_t at);
  void set_widest(std::size_t chunk);
  void insert_chunk(std::size_t index, std::unique_ptr<Chunk> chunk);
  void erase_chunk(std::size_t index);
  /// Builds the tree over these widest gaps, one per chunk.
  void build_tree(std::vector<std::uint64_t> gaps);
  std::vector<std::uint64_t> widest_of_chunks() const;
  /// The first chunk from `first` on that has a gap of `bytes`, or the number of chunks.
  std::size_t next_chunk(std::size_t first, std::uint64_t bytes) const;

  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<std::uint64_t> firsts_;  // where each chunk begins
  /// A heap-ordered binary tree: leaf leaves_ + i is the widest gap of chunk i, each inner node the larger of
  /// its two children.
  std::vector<std::uint64_t> widest_;
  std::size_t leaves_ = 0;
  std::size_t size_ = 0;
};

}  // namespace eum::mem
