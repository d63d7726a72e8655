#pragma once
// The lock for patching, held for microseconds. A child of fork may inherit it locked by a thread that does
// not exist there. It must not know what it protects.
#include <sys/syscall.h>

#include <atomic>
#include <cstdint>

#include "runtime/user_msr/raw_syscall.hpp"

namespace eum::rt::native {

class PatchLock {
 public:
  bool try_lock() {
    std::int32_t free = 0;
    return owner_.compare_exchange_strong(free, process());
  }
  void lock() {
    for (int attempt = 0; !try_lock(); ++attempt) wait(attempt);
  }
  void unlock() { owner_.store(0); }
  /// Waits until the lock is free, if only for a moment.
  void wait_until_free() {
    for (int attempt = 0; owner_.load() != 0; ++attempt) wait(attempt);
  }
  /// For the only thread of a process: frees the lock and returns whether it was held.
  bool reset() { return owner_.exchange(0) != 0; }

 private:
  // About a second of yielding, for a holder that belongs to another process and does not run here: in a
  // child of a fork that libc does not know about.
  static constexpr int patience = 2000000;

  static std::int32_t process() { return static_cast<std::int32_t>(raw_syscall(SYS_getpid)); }
  void wait(int attempt) {
    raw_syscall(SYS_sched_yield);
    std::int32_t owner = owner_.load();
    if (attempt >= patience && owner != 0 && owner != process()) owner_.compare_exchange_strong(owner, 0);
  }

  std::atomic<std::int32_t> owner_{0};  // process id, 0: free
};

}  // namespace eum::rt::native
