// Page attributes on top of an address space.
#include "runtime/user_msr/linear_memory.hpp"

namespace eum::rt {
namespace {

Result<void> check_pages(std::uint64_t address, std::uint64_t bytes) {
  constexpr std::uint64_t page = LinearMemory::page_bytes;
  if (address % page != 0 || bytes % page != 0 || bytes == 0)
    return error("expected whole pages of {} bytes, found {} bytes at {:#x}", page, bytes, address);
  return {};
}

}  // namespace

Result<void> LinearMemory::map(std::uint64_t address, std::span<std::byte> host, PageAttributes attributes) {
  if (Result<void> good = check_pages(address, host.size()); !good) return good;
  Result<const mem::Region*> region =
      space_.map(address, host.size(), host.data(), mem::Access::ReadWrite, "linear memory");
  if (!region) return region.error();
  for (std::uint64_t offset = 0; offset < host.size(); offset += page_bytes)
    pages_[(address + offset) / page_bytes] = {attributes, host.data() + offset};
  return {};
}

Result<void> LinearMemory::protect(std::uint64_t address, std::uint64_t bytes, PageAttributes attributes) {
  if (Result<void> good = check_pages(address, bytes); !good) return good;
  for (std::uint64_t offset = 0; offset < bytes; offset += page_bytes)
    if (!pages_.contains((address + offset) / page_bytes))
      return error("expected mapped pages from {:#x} to {:#x}, found none at {:#x}", address, address + bytes,
                   address + offset);
  for (std::uint64_t offset = 0; offset < bytes; offset += page_bytes)
    pages_[(address + offset) / page_bytes].attributes = attributes;
  return {};
}

Result<void> LinearMemory::unmap(std::uint64_t address) {
  const mem::Region* region = space_.find(address);
  if (!region || region->address != address)
    return error("expected a mapping that begins at {:#x}, found none", address);
  std::uint64_t bytes = region->size;
  if (Result<void> gone = space_.unmap(address); !gone) return gone;
  for (std::uint64_t offset = 0; offset < bytes; offset += page_bytes)
    pages_.erase((address + offset) / page_bytes);
  return {};
}

std::optional<PageFault> LinearMemory::supervisor_read(std::uint64_t address, bool smap,
                                                       std::uint8_t& byte) const {
  auto page = pages_.find(address / page_bytes);
  if (page == pages_.end() || !page->second.attributes.present) return PageFault{0, address};
  if (smap && page->second.attributes.user) return PageFault{page_fault_present, address};
  byte = static_cast<std::uint8_t>(page->second.host[address % page_bytes]);
  return std::nullopt;
}

}  // namespace eum::rt
