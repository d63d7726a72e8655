#pragma once
// GroupRunner: runs thread groups one after the other, with memory that is reused from group to group.
// A dispatch has one for each worker. It must not know which groups there are, nor other workers.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "memory/result.hpp"
#include "memory/slm.hpp"
#include "runtime/walker.hpp"

namespace eum::rt {

/// Memory that grows and is 64-byte aligned; growing forgets the contents.
class AlignedBytes {
 public:
  Result<void> reserve(std::size_t bytes);
  std::byte* data() { return bytes_.get(); }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Delete {
    void operator()(std::byte* p) const { ::operator delete(p, alignment); }
  };
  std::unique_ptr<std::byte, Delete> bytes_;
  std::size_t size_ = 0;
};

class GroupRunner {
 public:
  /// Makes ready for the groups of `walk`, which must be valid (Dispatcher checks it) and outlive the runs.
  /// Thread slots of this runner begin at `first_slot`.
  Result<void> begin(const WalkerCommand& walk, std::uint32_t first_slot);

  enum class Outcome : std::uint8_t { Done, Faulted, Stopped };
  /// Runs one group to its end. Stopped: `stop_below` has become smaller than or equal to `index`, the
  /// group's place in the walk. The effects of an unfinished group remain.
  Outcome run(std::uint64_t index, const std::atomic<std::uint64_t>& stop_below, jit::FpScope& scope);

  const GuestFault& fault() const { return fault_; }
  const WalkerCounts& counts() const { return counts_; }

  /// Threads of one group that are under way at the same time.
  static std::uint32_t concurrent_threads(const WalkerCommand& walk) {
    return walk.code->waits ? walk.threads_per_group : 1;
  }

 private:
  /// Slots to bring into a thread's register file before it starts.
  struct Run {
    std::uint32_t to = 0;     // byte in the file
    std::uint32_t slots = 0;  // of 32 bytes
  };
  struct Progress {
    std::uint64_t budget = 0;  // left
    std::uint32_t waits = 0;   // barriers that it has passed or waits at
    bool ended = false;
  };
  /// What one run() needs at every thread.
  struct Group {
    std::uint64_t index;
    const std::atomic<std::uint64_t>& stop_below;
    jit::FpScope& scope;

    bool stopped() const { return stop_below.load(std::memory_order_relaxed) <= index; }
  };

  void plan();
  void fill(std::uint32_t thread);
  void start(std::uint32_t thread);
  jit::Status advance(jit::ThreadState& state, std::uint64_t& budget, const Group& group);
  Outcome run_alone(std::uint32_t thread, const Group& group);
  Outcome run_together(const Group& group);
  Outcome conclude(GuestFault::Cause cause, std::uint32_t thread);
  Outcome deadlock();
  jit::ThreadState& state(std::uint32_t thread) {
    return *reinterpret_cast<jit::ThreadState*>(states_.data() + std::size_t{thread} * layout_.size);
  }

  const WalkerCommand* walk_ = nullptr;
  jit::StateLayout layout_;
  std::uint32_t first_slot_ = 0;
  std::uint32_t all_channels_ = 0;
  std::vector<Run> restored_;
  std::uint32_t restored_slots_ = 0;
  AlignedBytes images_;  // of each thread: the contents of the restored slots, one behind the other
  AlignedBytes states_;  // of each thread of a group
  std::vector<jit::Environment> environments_;  // of the threads that are under way at the same time
  std::vector<Progress> progress_;              // of each thread, where they meet at barriers
  std::optional<mem::Slm> slm_;
  std::array<std::uint32_t, 3> group_{};
  GuestFault fault_;
  WalkerCounts counts_;
};

}  // namespace eum::rt
