#pragma once
// The libc functions that the preloaded library replaces, for use by the library itself.
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/uio.h>
#include <ucontext.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <ctime>

namespace eum::rt::native {

/// The next function of that name after this library's, looked up on first use.
template <class Function>
struct Next {
  const char* name;
  std::atomic<Function*> pointer{nullptr};
  Function* get() {
    Function* found = pointer.load(std::memory_order_acquire);
    if (!found) {
      found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
      pointer.store(found, std::memory_order_release);
    }
    return found;
  }
};
#define INTERPOSE(result, name, parameters) inline Next<result parameters> next_##name{#name};
#include "runtime/user_msr/native/interpose.def"
#undef INTERPOSE

/// Looks up all of them, because a first use may be in a signal handler.
inline void find_next_functions() {
#define INTERPOSE(result, name, parameters) next_##name.get();
#include "runtime/user_msr/native/interpose.def"
#undef INTERPOSE
}

}  // namespace eum::rt::native
