// The signals that each thread believes to be blocked, and those pending until it unblocks them.
#include "runtime/user_msr/native/signal_mask.hpp"

#include <sys/syscall.h>

#include <array>
#include <atomic>

#include "runtime/user_msr/native/signals.hpp"
#include "runtime/user_msr/signals_blocked.hpp"

namespace eum::rt::native {
namespace {

constexpr std::array<int, 2> candidates{SIGILL, SIGSEGV};

/// A signal that was sent and is pending; like the kernel, keeps one per number.
struct Pending {
  enum State : int { Free, Written, There };
  std::atomic<int> state{Free};
  siginfo_t info{};
  std::atomic<int> waiter{0};  ///< a thread in sigwait, or 0

  void put(const siginfo_t& from) {
    int expected = Free;
    if (!state.compare_exchange_strong(expected, Written)) return;
    info = from;
    state = There;
  }
  bool take(siginfo_t& to) {
    int expected = There;
    if (!state.compare_exchange_strong(expected, Written)) return false;
    to = info;
    state = Free;
    return true;
  }
};
std::array<Pending, candidates.size()> pending;

std::atomic<std::uint64_t> unblockable_signals{0};
__attribute__((tls_model("initial-exec"))) thread_local std::uint64_t believed = 0;

/// Calls visit(signal, pending) for those of `signals` that are unblockable.
template <class Visit>
void each_of(std::uint64_t signals, Visit visit) {
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (signals & unblockable() & bit_of(candidates[i])) visit(candidates[i], pending[i]);
}

int thread_id() { return static_cast<int>(raw_syscall(SYS_gettid)); }
long process_id() { return raw_syscall(SYS_getpid); }

/// Raises those of `signals` that are pending, in this thread.
void raise_pending(std::uint64_t signals) {
  each_of(signals, [](int signal, Pending& p) {
    siginfo_t info;
    if (p.take(info)) raw_syscall(SYS_rt_tgsigqueueinfo, process_id(), thread_id(), signal, to_long(&info));
  });
}

}  // namespace

std::uint64_t unblockable() { return unblockable_signals.load(std::memory_order_acquire); }
void set_unblockable(std::uint64_t signals) { unblockable_signals.store(signals, std::memory_order_release); }

std::uint64_t believed_mask() { return believed; }

void set_believed_mask(std::uint64_t signals) {
  believed = signals;
  if (std::uint64_t free = pending_signals() & ~signals) raise_pending(free);
}

bool keep_pending(int signal, const siginfo_t& info) {
  bool keeps = false;
  if (believed & bit_of(signal))
    each_of(bit_of(signal), [&](int, Pending& p) {
      p.put(info);
      keeps = true;
      if (int waiter = p.waiter) raw_syscall(SYS_tgkill, process_id(), waiter, signal);
    });
  return keeps;
}

std::uint64_t pending_signals() {
  std::uint64_t signals = 0;
  each_of(~std::uint64_t{0}, [&](int signal, const Pending& p) {
    if (p.state == Pending::There) signals |= bit_of(signal);
  });
  return signals;
}

BelievedDuringCall::BelievedDuringCall(std::uint64_t mask) : old_(believed) {
  believed = mask;
  std::uint64_t free = pending_signals() & ~mask;
  if (free == 0) return;
  // They stay pending in the kernel until the call itself unblocks them.
  blocks_ = true;
  old_real_ = swap_signal_mask(asynchronous_signals());
  swap_signal_mask(old_real_ | free);
  raise_pending(free);
}
BelievedDuringCall::~BelievedDuringCall() {
  believed = old_;
  if (blocks_) swap_signal_mask(old_real_);
}

WaitingFor::WaitingFor(std::uint64_t signals)
    : signals_(signals), old_real_(swap_signal_mask(asynchronous_signals())) {
  each_of(signals_, [](int, Pending& p) { p.waiter = thread_id(); });
  swap_signal_mask(old_real_ | signals_);
}
WaitingFor::~WaitingFor() {
  each_of(signals_, [](int, Pending& p) { p.waiter = 0; });
  swap_signal_mask(old_real_);
}
int WaitingFor::take(siginfo_t& info) {
  int taken = 0;
  each_of(signals_, [&](int signal, Pending& p) {
    if (taken == 0 && p.take(info)) taken = signal;
  });
  return taken;
}

}  // namespace eum::rt::native
