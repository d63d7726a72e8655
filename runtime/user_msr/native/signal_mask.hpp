#pragma once
// The masks that the program believes in. A signal that the runner needs may not be blocked: an instruction
// that raises it then ends the process. So the kernel never gets it in a mask, and what the program asked for
// is remembered here, for each thread; one that is sent meanwhile waits here until the program wants it.
#include <csignal>
#include <cstdint>

namespace eum::rt::native {

/// The signals that no mask may hold, while the runner is attached.
std::uint64_t unblockable();
void set_unblockable(std::uint64_t signals);

/// What this thread believes that it blocks, of the unblockable signals.
std::uint64_t believed_mask();
/// Sets that; signals that waited and are free now are raised.
void set_believed_mask(std::uint64_t signals);

/// In the handler of a signal that was sent: whether it waits now, since the thread believes that it is
/// blocked.
bool keep_pending(int signal, const siginfo_t& info);
/// The unblockable signals that wait.
std::uint64_t pending_signals();

/// Around a call in which the thread waits with another mask, `mask` of the unblockable signals: what waits
/// and is free under it interrupts the call.
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

/// Around a call of the sigwait family for `signals`, unblockable ones: they are really blocked and come to
/// this thread.
class WaitingFor {
 public:
  explicit WaitingFor(std::uint64_t signals);
  ~WaitingFor();
  WaitingFor(const WaitingFor&) = delete;
  WaitingFor& operator=(const WaitingFor&) = delete;
  /// Takes a signal that waited already, or whose wake-up the call just returned: its number, or 0.
  int take(siginfo_t& info);

 private:
  std::uint64_t signals_;
  std::uint64_t old_real_;
};

}  // namespace eum::rt::native
