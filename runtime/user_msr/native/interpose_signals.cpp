// libc's signal functions as the program under the runner sees them. SIGILL's disposition is the virtual one
// of signals.hpp, and no mask that the kernel gets holds SIGILL: an instruction that raises it while it is
// blocked ends the process. What the program asked for is remembered and reported back.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

#include "runtime/user_msr/native/next.hpp"
#include "runtime/user_msr/native/signals.hpp"

namespace {

using namespace eum::rt::native;

// Whether the thread believes that it blocks SIGILL.
__attribute__((tls_model("initial-exec"))) thread_local bool blocks_sigill = false;

// Bit n: the program's action for signal n blocks SIGILL while its handler runs.
std::atomic<std::uint64_t> actions_block_sigill{0};

bool holds_sigill(const sigset_t* set) { return set && sigismember(set, SIGILL) == 1; }

/// A copy of a set without SIGILL, or the set itself where it does not hold it.
class WithoutSigill {
 public:
  explicit WithoutSigill(const sigset_t* set) : set_(set) {
    if (!sigill_is_taken() || !holds_sigill(set)) return;
    copy_ = *set;
    sigdelset(&copy_, SIGILL);
    set_ = &copy_;
  }
  const sigset_t* get() const { return set_; }

 private:
  const sigset_t* set_;
  sigset_t copy_;
};

template <class Function>
int change_mask(Function* next, int how, const sigset_t* set, sigset_t* old) {
  if (!sigill_is_taken()) return next(how, set, old);
  bool in_set = holds_sigill(set), was_blocked = blocks_sigill;
  int status = next(how, WithoutSigill(set).get(), old);
  if (status != 0) return status;
  if (set && how == SIG_SETMASK) blocks_sigill = in_set;
  if (set && how == SIG_BLOCK) blocks_sigill |= in_set;
  if (set && how == SIG_UNBLOCK && in_set) blocks_sigill = false;
  if (old && was_blocked) sigaddset(old, SIGILL);
  return 0;
}

/// signal() in one of its kinds, by the flags that it gives to a handler.
sighandler_t set_handler(Next<sighandler_t(int, sighandler_t)>& next, int number, sighandler_t handler,
                         int flags) {
  if (number != SIGILL || !sigill_is_taken()) return next.get()(number, handler);
  struct sigaction set = {}, old = {};
  set.sa_handler = handler;
  set.sa_flags = flags;
  program_sigill(&set, &old);
  return old.sa_handler;
}
constexpr int bsd_flags = SA_RESTART;
constexpr int sysv_flags = static_cast<int>(SA_RESETHAND) | SA_NODEFER;

constexpr int sigill_bit = 1 << (SIGILL - 1);  // of the masks of sigblock and sigsetmask

}  // namespace

extern "C" {

int sigaction(int signal, const struct sigaction* set, struct sigaction* old) {
  if (!sigill_is_taken()) return next_sigaction.get()(signal, set, old);
  if (signal == SIGILL) {
    program_sigill(set, old);
    return 0;
  }
  struct sigaction changed;
  bool in_set = false;
  if (set) {
    changed = *set;
    in_set = holds_sigill(&set->sa_mask);
    sigdelset(&changed.sa_mask, SIGILL);
  }
  int status = next_sigaction.get()(signal, set ? &changed : nullptr, old);
  if (status != 0) return status;
  std::uint64_t bit = std::uint64_t{1} << (signal - 1);
  std::uint64_t before = !set     ? actions_block_sigill.load()
                         : in_set ? actions_block_sigill.fetch_or(bit)
                                  : actions_block_sigill.fetch_and(~bit);
  if (old && (before & bit) != 0) sigaddset(&old->sa_mask, SIGILL);
  return 0;
}

sighandler_t signal(int number, sighandler_t handler) {
  return set_handler(next_signal, number, handler, bsd_flags);
}
sighandler_t bsd_signal(int number, sighandler_t handler) {
  return set_handler(next_bsd_signal, number, handler, bsd_flags);
}
sighandler_t ssignal(int number, sighandler_t handler) {
  return set_handler(next_ssignal, number, handler, bsd_flags);
}
sighandler_t sysv_signal(int number, sighandler_t handler) {
  return set_handler(next_sysv_signal, number, handler, sysv_flags);
}
// What signal() is for a program that asks for strict POSIX.
sighandler_t __sysv_signal(int number, sighandler_t handler) {
  return set_handler(next___sysv_signal, number, handler, sysv_flags);
}

sighandler_t sigset(int number, sighandler_t handler) {
  if (number != SIGILL || !sigill_is_taken()) return next_sigset.get()(number, handler);
  bool was_held = blocks_sigill;
  blocks_sigill = handler == SIG_HOLD;
  struct sigaction set = {}, old = {};
  set.sa_handler = handler;
  program_sigill(blocks_sigill ? nullptr : &set, &old);
  return was_held ? SIG_HOLD : old.sa_handler;
}
int sigignore(int number) {
  if (number != SIGILL || !sigill_is_taken()) return next_sigignore.get()(number);
  struct sigaction set = {};
  set.sa_handler = SIG_IGN;
  program_sigill(&set, nullptr);
  return 0;
}
int sighold(int number) {
  if (number != SIGILL || !sigill_is_taken()) return next_sighold.get()(number);
  blocks_sigill = true;
  return 0;
}
int sigrelse(int number) {
  if (number != SIGILL || !sigill_is_taken()) return next_sigrelse.get()(number);
  blocks_sigill = false;
  return 0;
}
int sigblock(int mask) noexcept {
  if (!sigill_is_taken()) return next_sigblock.get()(mask);
  int old = next_sigblock.get()(mask & ~sigill_bit) | (blocks_sigill ? sigill_bit : 0);
  blocks_sigill |= (mask & sigill_bit) != 0;
  return old;
}
int sigsetmask(int mask) noexcept {
  if (!sigill_is_taken()) return next_sigsetmask.get()(mask);
  int old = next_sigsetmask.get()(mask & ~sigill_bit) | (blocks_sigill ? sigill_bit : 0);
  blocks_sigill = (mask & sigill_bit) != 0;
  return old;
}

int sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  return change_mask(next_sigprocmask.get(), how, set, old);
}
int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  return change_mask(next_pthread_sigmask.get(), how, set, old);
}
int sigsuspend(const sigset_t* set) { return next_sigsuspend.get()(WithoutSigill(set).get()); }
int ppoll(struct pollfd* files, nfds_t count, const struct timespec* timeout, const sigset_t* set) {
  return next_ppoll.get()(files, count, timeout, WithoutSigill(set).get());
}
int pselect(int count, fd_set* reads, fd_set* writes, fd_set* exceptions, const struct timespec* timeout,
            const sigset_t* set) {
  return next_pselect.get()(count, reads, writes, exceptions, timeout, WithoutSigill(set).get());
}
int epoll_pwait(int file, struct epoll_event* events, int count, int timeout, const sigset_t* set) {
  return next_epoll_pwait.get()(file, events, count, timeout, WithoutSigill(set).get());
}
int pthread_attr_setsigmask_np(pthread_attr_t* attributes, const sigset_t* set) {
  return next_pthread_attr_setsigmask_np.get()(attributes, WithoutSigill(set).get());
}

}  // extern "C"
