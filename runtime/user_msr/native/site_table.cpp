// The memory of the site table: zeroed by the kernel and touched as sites come.
#include "runtime/user_msr/native/site_table.hpp"

#include <sys/mman.h>

namespace eum::rt::native {

bool SiteTable::create() {
  std::size_t index_bytes = slots * sizeof *index_, site_bytes = capacity * sizeof *sites_;
  void* memory = mmap(nullptr, index_bytes + site_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  // Zero bytes are free slots and empty sites.
  index_ = static_cast<std::atomic<std::uint32_t>*>(memory);
  sites_ = reinterpret_cast<Site*>(static_cast<std::byte*>(memory) + index_bytes);
  return true;
}

SiteTable::~SiteTable() {
  if (index_) munmap(index_, slots * sizeof *index_ + capacity * sizeof *sites_);
}

}  // namespace eum::rt::native
