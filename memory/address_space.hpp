#pragma once
// AddressSpace: which GPU addresses exist, and which host memory or callback backs each. Each context has one
// AddressSpace. It must not know surfaces, messages, or how guest code reaches it.
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

/// An access that no region satisfies. `address` is the first byte that fails, `size` the number of bytes
/// from there to the end of the access.
struct MemoryFault {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  Access access = Access::None;
  enum class Kind : std::uint8_t { Unmapped, Denied, Callback } kind = Kind::Unmapped;

  bool operator==(const MemoryFault&) const = default;
};

/// Where allocate() may place a region, and the granularity of the region's size.
struct Placement {
  std::uint64_t lowest = std::uint64_t{1} << 32;  // above what a wrong 32-bit address can reach
  std::uint64_t limit = std::uint64_t{1} << 47;   // the lower canonical half of 48-bit addresses
  std::uint64_t granule = 1;  // the region's size is rounded up to a multiple of this, at most a page
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
  /// must agree modulo 8, so that addresses aligned for the guest are aligned for the host's atomics.
  Result<const Region*> map(std::uint64_t address, std::uint64_t size, std::byte* host, Access access,
                            std::string_view name);

  /// Maps memory that is accessed only through callbacks.
  Result<const Region*> map_callbacks(std::uint64_t address, std::uint64_t size,
                                      const RegionCallbacks& callbacks, Access access, std::string_view name);

  /// Allocates zeroed pages, which the host provides on first touch, at the lowest free GPU address within
  /// `placement` that is a multiple of `alignment` (a power of two; at least 4096 is used) and at least
  /// guard_gap from other regions. The cost grows with the logarithm of the number of regions.
  Result<const Region*> allocate(std::uint64_t size, std::uint64_t alignment, std::string_view name,
                                 Placement placement = {});

  /// Removes the region that begins at `address`; memory from allocate() is released.
  Result<void> unmap(std::uint64_t address);

  /// The region that holds `address`, or nullptr.
  const Region* find(std::uint64_t address) const;

  /// The region that begins at `address` or nearest below it; if there is none, the lowest region; nullptr if
  /// there are no regions.
  const Region* nearest(std::uint64_t address) const;

  /// Copies bytes across any number of adjacent regions. All or nothing, except where a callback refuses: the
  /// bytes before the refused piece have already been copied.
  [[nodiscard]] std::optional<MemoryFault> read(std::uint64_t address, std::span<std::byte> to) const;
  [[nodiscard]] std::optional<MemoryFault> write(std::uint64_t address,
                                                 std::span<const std::byte> from) const;

  /// Whether [address, address + size) may be accessed; the fault if not. size 0 is always good.
  [[nodiscard]] std::optional<MemoryFault> check(std::uint64_t address, std::uint64_t size,
                                                 Access access) const;

  /// "write of 4 bytes at 0x1000 faults: no region there; the nearest below is x [0x0, 0x800)"
  std::string describe(const MemoryFault& fault) const;

  std::size_t region_count() const { return index_.size(); }
  /// The region with `index` regions below it. Linear: for tests and reports.
  const Region& region(std::size_t index) const { return index_[index]; }

  /// Unmapped bytes that allocate() leaves around a region, so that an overrun faults instead of reaching a
  /// neighbour's data.
  static constexpr std::uint64_t guard_gap = 64 * 1024;
  /// allocate() rejects larger sizes before it asks the host.
  static constexpr std::uint64_t max_allocation = std::uint64_t{1} << 40;

 private:
  Result<const Region*> insert(Region region, HostMemory memory = {});

  HostPages pages_;  // declared before the index, so that it outlives its blocks
  RegionIndex index_;
};

}  // namespace eum::mem
