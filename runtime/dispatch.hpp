#pragma once
// Dispatcher: runs the thread groups of a WalkerCommand on a number of workers, and reports the first fault.
// It must not know kernel arguments or binaries. One Dispatcher serves one walk at a time.
#include <cstdint>
#include <memory>
#include <optional>

#include "memory/result.hpp"
#include "runtime/walker.hpp"

namespace eum::rt {

struct WalkerOutcome {
  WalkerCounts counts;
  /// Of the lowest faulting group in x, then y, then z order. Groups after it may have run in part.
  std::optional<GuestFault> fault;
};

class Dispatcher {
 public:
  /// `workers` is at least 1. With 1 everything runs on the caller's thread and no other is made; otherwise
  /// the caller's thread is one of the workers, the others belong to oneTBB and are at most as many as the
  /// host has processors.
  explicit Dispatcher(unsigned workers);
  ~Dispatcher();

  /// Runs all groups, or until one faults. An error is one of the request: it names the field, what was
  /// expected and what was found.
  Result<WalkerOutcome> run(const WalkerCommand& walk);

  unsigned workers() const { return workers_; }

  /// Slots that the scratch and private memory of a walk need where `waits` and `threads_per_group` are as
  /// in its code.
  std::uint32_t slots_needed(bool waits, std::uint32_t threads_per_group) const;

 private:
  struct Pool;
  unsigned workers_for(const WalkerCommand& walk) const;

  unsigned workers_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace eum::rt
