#pragma once
// Blocks signals of a thread for a short time, without libc: safe in signal handlers and slow paths of native
// stubs.
#include <sys/syscall.h>

#include <csignal>
#include <cstdint>

#include "runtime/user_msr/raw_syscall.hpp"

namespace eum::rt {

/// Sets the thread's signal mask; returns the old one.
inline std::uint64_t swap_signal_mask(std::uint64_t mask) {
  std::uint64_t old = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, to_long(&mask), to_long(&old), sizeof mask);
  return old;
}

/// All signals except those raised by instructions, which end the process if blocked. A program may
/// single-step through the runner's code with the trap flag.
constexpr std::uint64_t asynchronous_signals() {
  std::uint64_t signals = ~std::uint64_t{0};
  for (int raised : {SIGTRAP, SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGSYS})
    signals &= ~(std::uint64_t{1} << (raised - 1));
  return signals;
}

class SignalsBlocked {
 public:
  SignalsBlocked() : old_(swap_signal_mask(asynchronous_signals())) {}
  ~SignalsBlocked() { swap_signal_mask(old_); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  std::uint64_t old_;
};

}  // namespace eum::rt
