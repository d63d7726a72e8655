#pragma once
// The masks that the program believes in. A signal that the runner needs must not be blocked, because an
// instruction that raises it then ends the process. So masks passed to the kernel never contain it, and what
// the program requested is remembered here for each thread; a signal sent in the meantime stays pending here
// until the program unblocks it.
#include <csignal>
#include <cstdint>

namespace eum::rt::native {

/// The signals that no mask may contain while the runner is attached.
std::uint64_t unblockable();
void set_unblockable(std::uint64_t signals);

/// The unblockable signals that this thread believes to be blocked.
std::uint64_t believed_mask();
/// Sets that mask; pending signals that it unblocks are raised.
void set_believed_mask(std::uint64_t signals);

/// In the handler of a signal that was sent: whether it was made pending, since the thread believes that it
/// is blocked.
bool keep_pending(int signal, const siginfo_t& info);
/// The unblockable signals that are pending.
std::uint64_t pending_signals();

/// Around a call in which the thread waits with another mask, of which `mask` are the unblockable signals:
/// pending signals that it unblocks interrupt the call.
class BelievedDuringCall {
 public:
  explicit BelievedDuringCall(std::uint64_t mask);
  ~BelievedDuringCall();
  BelievedDuringCall(const BelievedDuringCall&) = delete;
  BelievedDuringCall& operator=(const BelievedDuringCall&) = delete;

 private:
  std::uint64_t old_;
  std::uint64_t old_real_ = 0;
  bool blocks_ = false;
};

/// Around a call of the sigwait family for the unblockable signals `signals`: they are actually blocked and
/// directed to this thread.
class WaitingFor {
 public:
  explicit WaitingFor(std::uint64_t signals);
  ~WaitingFor();
  WaitingFor(const WaitingFor&) = delete;
  WaitingFor& operator=(const WaitingFor&) = delete;
  /// Takes a signal that was already pending, or whose wake-up the call has just returned: its number, or 0.
  int take(siginfo_t& info);

 private:
  std::uint64_t signals_;
  std::uint64_t old_real_;
};

}  // namespace eum::rt::native
