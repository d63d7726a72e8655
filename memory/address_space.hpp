#pragma once
// AddressSpace: which GPU addresses exist, and which host memory or callback stands behind each.
// One context has one AddressSpace. It must not know surfaces, messages, or how guest code reaches it.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "memory/base/result.hpp"
#include "memory/region.hpp"
#include "memory/region_index.hpp"

namespace eum::mem {

/// An access that no region satisfies. `address` is the first byte that fails, `size` what is left of the
/// access.
struct MemoryFault {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  Access access = Access::None;
  enum class Kind : std::uint8_t { Unmapped, Denied, Callback } kind = Kind::Unmapped;

  bool operator==(const MemoryFault&) const = default;
};

/// Where allocate() may put a region, and how far it reaches.
struct Placement {
  std::uint64_t lowest = std::uint64_t{1} << 32;  // above what a 32-bit address can reach by mistake
  std::uint64_t limit = std::uint64_t{1} << 47;   // the lower canonical half of 48-bit addresses
  std::uint64_t granule = 1;  // the region's size is rounded up to a multiple of it, at most a page
};

/// Regions in address order, none overlapping. Reading (find, read, write, describe) takes no lock and may be
/// done from any number of threads; map, unmap and allocate must not run at the same time as anything else. A
/// Region's address stays valid until it is unmapped.
class AddressSpace {
 public:
  AddressSpace() = default;
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  /// Maps `size` bytes of the caller's memory at `host`, which must outlive the mapping. Host and GPU address
  /// must agree modulo 8, so that whatever is aligned for the guest is aligned for the host's atomics.
  Result<const Region*> map(std::uint64_t address, std::uint64_t size, std::byte* host, Access access,
                            std::string_view name);

  /// Maps memory that only callbacks can reach.
  Result<const Region*> map_callbacks(std::uint64_t address, std::uint64_t size,
                                      const RegionCallbacks& callbacks, Access access, std::string_view name);

  /// Zeroed pages of its own, which the host gives when they are touched first, at the lowest free GPU
  /// address of `placement` that is a multiple of `alignment` (a power of two; at least 4096 is used) and at
  /// least guard_gap from other regions. The cost grows with the logarithm of the number of regions.
  Result<const Region*> allocate(std::uint64_t size, std::uint64_t alignment, std::string_view name,
                                 Placement placement = {});

  /// Removes the region that begins at `address`; memory from allocate() is released.
  Result<void> unmap(std::uint64_t address);

  /// The region that holds `address`, or nullptr.
  const Region* find(std::uint64_t address) const;

  /// The region that begins at `address` or nearest below it; where none does, the lowest. nullptr: there is
  /// none.
  const Region* nearest(std::uint64_t address) const;

  /// Copies bytes, across as many adjacent regions as it takes. All or nothing, except where a callback
  /// refuses: what lay before it has been copied by then.
  [[nodiscard]] std::optional<MemoryFault> read(std::uint64_t address, std::span<std::byte> to) const;
  [[nodiscard]] std::optional<MemoryFault> write(std::uint64_t address,
                                                 std::span<const std::byte> from) const;

  /// Whether [address, address + size) may be accessed; the fault if not. size 0 is always good.
  [[nodiscard]] std::optional<MemoryFault> check(std::uint64_t address, std::uint64_t size,
                                                 Access access) const;

  /// "write of 4 bytes at 0x1000 faults: no region there; the nearest below is x [0x0, 0x800)"
  std::string describe(const MemoryFault& fault) const;

  std::size_t region_count() const { return index_.size(); }
  /// The one with `index` regions below it. Linear: for tests and reports.
  const Region& region(std::size_t index) const { return index_[index]; }

  /// Unmapped bytes that allocate() leaves around a region, so that an overrun is a fault and not a
  /// neighbour's data.
  static constexpr std::uint64_t guard_gap = 64 * 1024;
  /// allocate() rejects more than this, before it asks the host.
  static constexpr std::uint64_t max_allocation = std::uint64_t{1} << 40;

 private:
  Result<const Region*> insert(Region region, HostMemory memory = {});

  HostPages pages_;  // before its blocks
  RegionIndex index_;
};

}  // namespace eum::mem
