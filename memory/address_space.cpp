// AddressSpace: what may be mapped where, and byte-exact copies across regions.
#include "memory/address_space.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace eum::mem {

static_assert(std::is_standard_layout_v<Region>, "translated code addresses Region by offsetof");
static_assert(offsetof(Region, address) == 0 && offsetof(Region, size) == 8 && offsetof(Region, host) == 16);

namespace {

constexpr std::uint64_t page = HostMemory::page;

/// The next multiple of a power of two, or nothing if it does not fit in 64 bits.
std::optional<std::uint64_t> align_up(std::uint64_t value, std::uint64_t alignment) {
  const std::uint64_t aligned = (value + alignment - 1) & ~(alignment - 1);
  if (aligned < value) return std::nullopt;
  return aligned;
}

}  // namespace

const char* access_name(Access access) {
  switch (access) {
    case Access::None:
      return "no access";
    case Access::Read:
      return "read";
    case Access::Write:
      return "write";
    case Access::ReadWrite:
      return "read and write";
  }
  return "invalid access";
}

const Region* AddressSpace::nearest(std::uint64_t address) const {
  const Region* below = index_.below(address);
  return below != nullptr ? below : index_.above(address);
}

const Region* AddressSpace::find(std::uint64_t address) const {
  const Region* region = index_.below(address);
  return region != nullptr && region->contains(address) ? region : nullptr;
}

Result<const Region*> AddressSpace::insert(Region region, HostMemory memory) {
  if (region.size == 0) return error("region {} is empty: its size must be at least 1", region.name);
  if (region.size - 1 > ~region.address) {
    return error("region {} of {:#x} bytes at {:#x} goes beyond 64 bits", region.name, region.size,
                 region.address);
  }
  const std::uint64_t last = region.address + (region.size - 1);
  if (last == ~std::uint64_t{0}) {
    return error("region {} may not hold the last address {:#x}", region.name, last);
  }
  const Region* clash = index_.below(region.address);
  if (clash == nullptr || !clash->contains(region.address)) {
    clash = index_.above(region.address);
    if (clash != nullptr && clash->address > last) clash = nullptr;
  }
  if (clash != nullptr) {
    return error("region {} [{:#x}, {:#x}) overlaps {} [{:#x}, {:#x})", region.name, region.address,
                 region.end(), clash->name, clash->address, clash->end());
  }
  return &index_.insert({std::move(region), std::move(memory)});
}

Result<const Region*> AddressSpace::map(std::uint64_t address, std::uint64_t size, std::byte* host,
                                        Access access, std::string_view name) {
  if (host == nullptr) return error("region {} has no host memory", name);
  if (((reinterpret_cast<std::uintptr_t>(host) ^ address) & 7) != 0) {
    return error("region {}: GPU address {:#x} and host memory must agree modulo 8, for atomics", name,
                 address);
  }
  return insert(Region{address, size, host, access, {}, std::string(name), size});
}

Result<const Region*> AddressSpace::map_callbacks(std::uint64_t address, std::uint64_t size,
                                                  const RegionCallbacks& callbacks, Access access,
                                                  std::string_view name) {
  if (allows(access, Access::Read) && callbacks.read == nullptr) {
    return error("region {} may be read but has no read callback", name);
  }
  if (allows(access, Access::Write) && callbacks.write == nullptr) {
    return error("region {} may be written but has no write callback", name);
  }
  return insert(Region{address, size, nullptr, access, callbacks, std::string(name), size});
}

Result<const Region*> AddressSpace::allocate(std::uint64_t size, std::uint64_t alignment,
                                             std::string_view name, Placement placement) {
  if (!std::has_single_bit(alignment)) {
    return error("region {}: alignment {} is not a power of two", name, alignment);
  }
  if (size == 0 || size > max_allocation) {
    return error("region {}: size must be 1 to {:#x} bytes, found {:#x}", name, max_allocation, size);
  }
  alignment = std::max(alignment, page);

  if (!std::has_single_bit(placement.granule) || placement.granule > page) {
    return error("region {}: granule {} is no power of two up to {}", name, placement.granule, page);
  }
  const std::uint64_t asked = std::exchange(size, *align_up(size, placement.granule));

  // First fit: the lowest gap that holds the region with a guard on either side.
  std::optional<std::uint64_t> at = align_up(placement.lowest, alignment);
  const auto fits = [&] { return at && *at < placement.limit && placement.limit - *at >= size; };
  const Region* below = at ? index_.below(*at) : nullptr;
  while (fits()) {
    if (below != nullptr) {
      const std::uint64_t end = below->end();
      const std::uint64_t guarded_end = end > ~guard_gap ? ~std::uint64_t{0} : end + guard_gap;
      at = align_up(std::max(*at, guarded_end), alignment);
      if (!fits()) break;
    }
    const Region* above = below != nullptr ? index_.above(below->address) : index_.above(*at);
    if (above == nullptr || (above->address >= *at && above->address - *at >= size + guard_gap)) break;
    below = index_.next_gap(below, size + 2 * guard_gap);
    if (below == nullptr) at.reset();
  }
  if (!fits()) {
    return error("region {}: no {:#x} bytes free between {:#x} and {:#x}", name, size, placement.lowest,
                 placement.limit);
  }

  auto memory = pages_.allocate(size);
  if (!memory) return host_error("region {}: the host has no {:#x} bytes", name, size);
  Region region{*at, size, memory->data(), Access::ReadWrite, {}, std::string(name), asked};
  return insert(std::move(region), *std::move(memory));
}

Result<void> AddressSpace::unmap(std::uint64_t address) {
  const Region* region = index_.below(address);
  if (region == nullptr || region->address != address) return error("no region begins at {:#x}", address);
  index_.erase(address);
  return {};
}

namespace {

// Calls visit(region, address, bytes) for each region that [address, address + size) touches, in order.
template <class Visit>
std::optional<MemoryFault> walk(const AddressSpace& space, std::uint64_t address, std::uint64_t size,
                                Access access, Visit visit) {
  while (size > 0) {
    const Region* region = space.find(address);
    if (region == nullptr) return MemoryFault{address, size, access, MemoryFault::Kind::Unmapped};
    if (!allows(region->access, access)) return MemoryFault{address, size, access, MemoryFault::Kind::Denied};
    const std::uint64_t bytes = std::min(size, region->end() - address);
    if (!visit(*region, address, bytes))
      return MemoryFault{address, size, access, MemoryFault::Kind::Callback};
    address += bytes;
    size -= bytes;
  }
  return std::nullopt;
}

}  // namespace

std::optional<MemoryFault> AddressSpace::check(std::uint64_t address, std::uint64_t size,
                                               Access access) const {
  return walk(*this, address, size, access, [](const Region&, std::uint64_t, std::uint64_t) { return true; });
}

std::optional<MemoryFault> AddressSpace::read(std::uint64_t address, std::span<std::byte> to) const {
  if (auto fault = check(address, to.size(), Access::Read)) return fault;
  std::byte* next = to.data();
  return walk(*this, address, to.size(), Access::Read,
              [&](const Region& region, std::uint64_t at, std::uint64_t bytes) {
                std::byte* here = std::exchange(next, next + bytes);
                if (region.host == nullptr) {
                  return region.callbacks.read(region.callbacks.context, at, here, bytes);
                }
                std::memcpy(here, region.host + (at - region.address), bytes);
                return true;
              });
}

std::optional<MemoryFault> AddressSpace::write(std::uint64_t address, std::span<const std::byte> from) const {
  if (auto fault = check(address, from.size(), Access::Write)) return fault;
  const std::byte* next = from.data();
  return walk(*this, address, from.size(), Access::Write,
              [&](const Region& region, std::uint64_t at, std::uint64_t bytes) {
                const std::byte* here = std::exchange(next, next + bytes);
                if (region.host == nullptr) {
                  return region.callbacks.write(region.callbacks.context, at, here, bytes);
                }
                std::memcpy(region.host + (at - region.address), here, bytes);
                return true;
              });
}

std::string AddressSpace::describe(const MemoryFault& fault) const {
  std::string text = fmt::format("{} of {} byte{} at {:#x} faults: ", access_name(fault.access), fault.size,
                                 fault.size == 1 ? "" : "s", fault.address);
  if (const Region* region = find(fault.address)) {
    return text + fmt::format("{} [{:#x}, {:#x}) {}", region->name, region->address, region->end(),
                              fault.kind == MemoryFault::Kind::Callback
                                  ? "refused it"
                                  : fmt::format("allows {}", access_name(region->access)));
  }
  text += "no region there";
  if (const Region* below = index_.below(fault.address)) {
    text +=
        fmt::format("; the nearest below is {} [{:#x}, {:#x})", below->name, below->address, below->end());
  }
  return text;
}

}  // namespace eum::mem
