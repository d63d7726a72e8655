// One entry per instruction and surface, so that the kernel's size bounds the memory and not its behaviour.
#include "runtime/bounds_log.hpp"

#include <new>
#include <utility>

namespace eum::rt {

void BoundsLog::note(void* log, const jit::OutOfSurface& access) {
  auto& self = *static_cast<BoundsLog*>(log);
  const std::scoped_lock lock(self.mutex_);
  try {
    Entry& entry = self.entries_[{access.guest_ip, access.surface, access.write}];
    if (entry.count++ == 0) entry.first = access;
  } catch (const std::bad_alloc&) {
    // The log then lacks an instruction; the guest is not affected.
  }
}

std::vector<BoundsReport> BoundsLog::take() {
  const std::scoped_lock lock(mutex_);
  std::vector<BoundsReport> reports;
  for (const auto& [key, entry] : std::exchange(entries_, {}))
    reports.push_back({entry.count, entry.first, 0, {}});
  return reports;
}

}  // namespace eum::rt
