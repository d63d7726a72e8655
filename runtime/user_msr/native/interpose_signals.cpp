// libc's signal functions as seen by the program under the runner. The dispositions of SIGILL and SIGSEGV are
// the virtual ones of signals.hpp; no mask passed to the kernel contains a signal that must not be blocked
// (signal_mask.hpp). What the program requested is remembered and reported back.
#include <ucontext.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "runtime/user_msr/native/interpose_syscall.hpp"
#include "runtime/user_msr/native/next.hpp"
#include "runtime/user_msr/native/signal_mask.hpp"
#include "runtime/user_msr/native/signals.hpp"

namespace {

using namespace eum::rt::native;

std::uint64_t low_mask(const sigset_t& set) {
  std::uint64_t mask;
  __builtin_memcpy(&mask, &set, sizeof mask);
  return mask;
}
void set_low_mask(sigset_t& set, std::uint64_t mask) { __builtin_memcpy(&set, &mask, sizeof mask); }

// Signals that the program's actions block without the kernel's knowledge, by signal number - 1.
std::array<std::atomic<std::uint64_t>, 64> blocked_by_action{};

/// The entry for this signal, or null.
std::atomic<std::uint64_t>* hidden_mask_of(int signal) {
  bool hides = unblockable() != 0 && signal >= 1 && signal <= static_cast<int>(blocked_by_action.size());
  return hides ? &blocked_by_action[static_cast<std::size_t>(signal - 1)] : nullptr;
}

/// A copy of a set without the unblockable signals, or the set itself if it contains none.
class Blockable {
 public:
  explicit Blockable(const sigset_t* set) : set_(set) {
    if (!set) return;
    removed_ = low_mask(*set) & unblockable();
    if (removed_ == 0) return;
    copy_ = *set;
    set_low_mask(copy_, low_mask(copy_) & ~removed_);
    set_ = &copy_;
  }
  const sigset_t* get() const { return set_; }
  std::uint64_t removed() const { return removed_; }

 private:
  const sigset_t* set_;
  std::uint64_t removed_ = 0;
  sigset_t copy_;
};

/// The mask that the program believes in after sigprocmask().
std::uint64_t changed_mask(std::uint64_t before, int how, std::uint64_t set) {
  return how == SIG_SETMASK ? set : how == SIG_BLOCK ? before | set : before & ~set;
}

template <class Function>
int change_mask(Function* next, int how, const sigset_t* set, sigset_t* old) {
  Blockable blockable(set);
  std::uint64_t before = believed_mask();
  int status = next(how, blockable.get(), old);
  if (status != 0) return status;
  if (old) set_low_mask(*old, low_mask(*old) | before);
  if (set) set_believed_mask(changed_mask(before, how, blockable.removed()));
  return 0;
}

/// Performs a call that waits with the mask `set`.
template <class Call>
int wait_with(const sigset_t* set, Call call) {
  Blockable blockable(set);
  if (!set || unblockable() == 0) return call(set);
  BelievedDuringCall during(blockable.removed());
  return call(blockable.get());
}

/// Performs a call of the sigwait family; returns the signal, or the result of `call`.
template <class Call>
int wait_for(const sigset_t* set, siginfo_t& info, Call call) {
  std::uint64_t signals = set ? low_mask(*set) & unblockable() : 0;
  if (signals == 0) return call();
  WaitingFor waiting(signals);
  if (int signal = waiting.take(info)) return signal;
  int signal = call();
  if (signal > 0 && (bit_of(signal) & signals)) waiting.take(info);
  return signal;
}

KernelAction to_kernel(const struct sigaction& action) {
  return {reinterpret_cast<void*>(action.sa_handler),
          static_cast<unsigned long>(static_cast<unsigned>(action.sa_flags)), nullptr,
          low_mask(action.sa_mask)};
}
void from_kernel(const KernelAction& action, struct sigaction& to) {
  to = {};
  to.sa_handler = reinterpret_cast<sighandler_t>(action.handler);
  constexpr unsigned long restorer_flag = 0x04000000;
  to.sa_flags = static_cast<int>(action.flags & ~restorer_flag);
  set_low_mask(to.sa_mask, action.mask);
}

int set_action(Next<int(int, const struct sigaction*, struct sigaction*)>& next, int signal,
               const struct sigaction* set, struct sigaction* old) {
  if (is_taken(signal)) {
    KernelAction before{}, after = set ? to_kernel(*set) : KernelAction{};
    program_action(signal, set ? &after : nullptr, &before);
    if (old) from_kernel(before, *old);
    return 0;
  }
  std::atomic<std::uint64_t>* hidden = hidden_mask_of(signal);
  if (!hidden) return next.get()(signal, set, old);
  struct sigaction changed;
  if (set) {
    changed = *set;
    set_low_mask(changed.sa_mask, low_mask(set->sa_mask) & ~unblockable());
  }
  std::uint64_t before = hidden->load(), after = set ? low_mask(set->sa_mask) & unblockable() : before;
  int status = next.get()(signal, set ? &changed : nullptr, old);
  if (status != 0) return status;
  if (old) set_low_mask(old->sa_mask, low_mask(old->sa_mask) | before);
  hidden->store(after);
  return 0;
}

/// A variant of signal(), distinguished by the flags with which it installs a handler.
sighandler_t set_handler(Next<sighandler_t(int, sighandler_t)>& next, int signal, sighandler_t handler,
                         int flags) {
  if (!is_taken(signal)) return next.get()(signal, handler);
  KernelAction set{reinterpret_cast<void*>(handler), static_cast<unsigned long>(static_cast<unsigned>(flags)),
                   nullptr, bit_of(signal)};
  KernelAction old{};
  program_action(signal, &set, &old);
  return reinterpret_cast<sighandler_t>(old.handler);
}
constexpr int bsd_flags = SA_RESTART;
constexpr int sysv_flags = static_cast<int>(SA_RESETHAND) | SA_NODEFER;

/// Blocks or unblocks one signal; returns whether it was blocked.
bool hold(int signal, int how) {
  sigset_t one, old;
  sigemptyset(&one);
  sigemptyset(&old);
  sigaddset(&one, signal);
  change_mask(next_pthread_sigmask.get(), how, &one, &old);
  return sigismember(&old, signal) == 1;
}

/// Prepares setcontext() for a context whose mask contains signals that must not be blocked.
void make_blockable(const ucontext_t* context) {
  // Modifies the caller's own memory: a copy would be on the stack, which setcontext() leaves while reading
  // it.
  auto& mask = const_cast<ucontext_t*>(context)->uc_sigmask;
  std::uint64_t removed = low_mask(mask) & unblockable();
  if (removed == 0) return;
  set_low_mask(mask, low_mask(mask) & ~removed);
  set_believed_mask(removed);
}

}  // namespace

namespace eum::rt::native {

long change_signals(long number, const SyscallArguments& a, SyscallForward forward) {
  if (number == SYS_rt_sigaction) {
    auto signal = static_cast<int>(a[0]);
    auto* set = reinterpret_cast<const KernelAction*>(a[1]);
    auto* old = reinterpret_cast<KernelAction*>(a[2]);
    std::atomic<std::uint64_t>* hidden = hidden_mask_of(signal);
    if (is_taken(signal)) {
      program_action(signal, set, old);
      return 0;
    }
    if (!hidden) return forward(number, a);
    KernelAction changed = set ? *set : KernelAction{};
    changed.mask &= ~unblockable();
    std::uint64_t before = hidden->load(), after = set ? set->mask & unblockable() : before;
    long status = forward(number, {a[0], set ? reinterpret_cast<long>(&changed) : 0, a[2], a[3]});
    if (status != 0) return status;
    if (old) old->mask |= before;
    hidden->store(after);
    return 0;
  }
  if (number == SYS_rt_sigprocmask && unblockable() != 0) {
    auto how = static_cast<int>(a[0]);
    auto* set = reinterpret_cast<const std::uint64_t*>(a[1]);
    auto* old = reinterpret_cast<std::uint64_t*>(a[2]);
    std::uint64_t blockable = set ? *set & ~unblockable() : 0, removed = set ? *set & unblockable() : 0;
    std::uint64_t before = believed_mask();
    long status = forward(number, {a[0], set ? reinterpret_cast<long>(&blockable) : 0, a[2], a[3]});
    if (status != 0) return status;
    if (old) *old |= before;
    if (set) set_believed_mask(changed_mask(before, how, removed));
    return 0;
  }
  return forward(number, a);
}

}  // namespace eum::rt::native

extern "C" {

int sigaction(int signal, const struct sigaction* set, struct sigaction* old) noexcept {
  return set_action(next_sigaction, signal, set, old);
}
int __sigaction(int signal, const struct sigaction* set, struct sigaction* old) {
  return set_action(next___sigaction, signal, set, old);
}

sighandler_t signal(int number, sighandler_t handler) noexcept {
  return set_handler(next_signal, number, handler, bsd_flags);
}
sighandler_t bsd_signal(int number, sighandler_t handler) {
  return set_handler(next_bsd_signal, number, handler, bsd_flags);
}
sighandler_t ssignal(int number, sighandler_t handler) noexcept {
  return set_handler(next_ssignal, number, handler, bsd_flags);
}
sighandler_t sysv_signal(int number, sighandler_t handler) noexcept {
  return set_handler(next_sysv_signal, number, handler, sysv_flags);
}
// Variant of signal() for programs that request strict POSIX.
sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  return set_handler(next___sysv_signal, number, handler, sysv_flags);
}

sighandler_t sigset(int number, sighandler_t handler) noexcept {
  if (!is_taken(number)) return next_sigset.get()(number, handler);
  bool was_held = hold(number, handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK);
  KernelAction set{reinterpret_cast<void*>(handler), 0, nullptr, 0}, old{};
  program_action(number, handler == SIG_HOLD ? nullptr : &set, &old);
  return was_held ? SIG_HOLD : reinterpret_cast<sighandler_t>(old.handler);
}
int sigignore(int number) noexcept {
  if (!is_taken(number)) return next_sigignore.get()(number);
  KernelAction set{reinterpret_cast<void*>(SIG_IGN), 0, nullptr, 0};
  program_action(number, &set, nullptr);
  return 0;
}
int sighold(int number) noexcept {
  if (!is_taken(number)) return next_sighold.get()(number);
  hold(number, SIG_BLOCK);
  return 0;
}
int sigrelse(int number) noexcept {
  if (!is_taken(number)) return next_sigrelse.get()(number);
  hold(number, SIG_UNBLOCK);
  return 0;
}
int sigblock(int mask) noexcept {
  auto held = static_cast<int>(unblockable());
  auto before = static_cast<int>(believed_mask());
  int old = next_sigblock.get()(mask & ~held) | before;
  if (held != 0) set_believed_mask(static_cast<unsigned>(before | (mask & held)));
  return old;
}
int sigsetmask(int mask) noexcept {
  auto held = static_cast<int>(unblockable());
  auto before = static_cast<int>(believed_mask());
  int old = next_sigsetmask.get()(mask & ~held) | before;
  if (held != 0) set_believed_mask(static_cast<unsigned>(mask & held));
  return old;
}

int sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  return change_mask(next_sigprocmask.get(), how, set, old);
}
int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  return change_mask(next_pthread_sigmask.get(), how, set, old);
}
int sigpending(sigset_t* set) noexcept {
  int status = next_sigpending.get()(set);
  if (status == 0) set_low_mask(*set, low_mask(*set) | (pending_signals() & believed_mask()));
  return status;
}

int sigwait(const sigset_t* set, int* signal) {
  siginfo_t info{};
  int status = 0;
  int taken = wait_for(set, info, [&] {
    int number = 0;
    status = next_sigwait.get()(set, &number);
    return status == 0 ? number : 0;
  });
  if (status == 0) *signal = taken;
  return status;
}
int sigwaitinfo(const sigset_t* set, siginfo_t* to) {
  siginfo_t info{};
  int signal = wait_for(set, info, [&] { return next_sigwaitinfo.get()(set, &info); });
  if (signal > 0 && to) *to = info;
  return signal;
}
int sigtimedwait(const sigset_t* set, siginfo_t* to, const struct timespec* timeout) {
  siginfo_t info{};
  int signal = wait_for(set, info, [&] { return next_sigtimedwait.get()(set, &info, timeout); });
  if (signal > 0 && to) *to = info;
  return signal;
}

int sigsuspend(const sigset_t* set) {
  return wait_with(set, [](const sigset_t* with) { return next_sigsuspend.get()(with); });
}
int __sigsuspend(const sigset_t* set) {
  return wait_with(set, [](const sigset_t* with) { return next___sigsuspend.get()(with); });
}
int ppoll(struct pollfd* files, nfds_t count, const struct timespec* timeout, const sigset_t* set) {
  return wait_with(set, [&](const sigset_t* with) { return next_ppoll.get()(files, count, timeout, with); });
}
int __ppoll_chk(struct pollfd* files, nfds_t count, const struct timespec* timeout, const sigset_t* set,
                std::size_t bytes) {
  return wait_with(
      set, [&](const sigset_t* with) { return next___ppoll_chk.get()(files, count, timeout, with, bytes); });
}
int pselect(int count, fd_set* reads, fd_set* writes, fd_set* exceptions, const struct timespec* timeout,
            const sigset_t* set) {
  return wait_with(set, [&](const sigset_t* with) {
    return next_pselect.get()(count, reads, writes, exceptions, timeout, with);
  });
}
int epoll_pwait(int file, struct epoll_event* events, int count, int timeout, const sigset_t* set) {
  return wait_with(
      set, [&](const sigset_t* with) { return next_epoll_pwait.get()(file, events, count, timeout, with); });
}
int epoll_pwait2(int file, struct epoll_event* events, int count, const struct timespec* timeout,
                 const sigset_t* set) {
  return wait_with(
      set, [&](const sigset_t* with) { return next_epoll_pwait2.get()(file, events, count, timeout, with); });
}
int pthread_attr_setsigmask_np(pthread_attr_t* attributes, const sigset_t* set) {
  return next_pthread_attr_setsigmask_np.get()(attributes, Blockable(set).get());
}

int setcontext(const ucontext_t* context) noexcept {
  make_blockable(context);
  return next_setcontext.get()(context);
}
int swapcontext(ucontext_t* from, const ucontext_t* to) noexcept {
  make_blockable(to);
  return next_swapcontext.get()(from, to);
}

}  // extern "C"
