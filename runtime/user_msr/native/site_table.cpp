// The memory of the site table: zeroed by the kernel and touched as sites are added.
#include "runtime/user_msr/native/site_table.hpp"

#include <sys/mman.h>

namespace eum::rt::native {
namespace {

constexpr std::size_t index_bytes = std::size_t{2} * SiteTable::capacity * sizeof(std::atomic<std::uint32_t>);
constexpr std::size_t site_bytes = SiteTable::capacity * sizeof(Site);
constexpr std::size_t all_bytes = 3 * index_bytes + site_bytes;

}  // namespace

bool SiteTable::create() {
  void* memory =
      mmap(nullptr, all_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  static_assert(index_bytes == heads * sizeof *by_address_);
  // Zero bytes represent empty lists and sites.
  auto* bytes = static_cast<std::byte*>(memory);
  by_address_ = reinterpret_cast<std::atomic<std::uint32_t>*>(bytes);
  by_page_ = reinterpret_cast<std::atomic<std::uint32_t>*>(bytes + index_bytes);
  by_jump_ = reinterpret_cast<std::atomic<std::uint32_t>*>(bytes + 2 * index_bytes);
  sites_ = reinterpret_cast<Site*>(bytes + 3 * index_bytes);
  return true;
}

SiteTable::~SiteTable() {
  if (by_address_) munmap(by_address_, all_bytes);
}

}  // namespace eum::rt::native
