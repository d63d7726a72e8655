#pragma once
// ThreadGroup: runs one thread group at a time, in memory that is reused from group to group. A dispatch has
// one for each worker. It must not know which groups exist, nor other workers.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "memory/base/aligned_bytes.hpp"
#include "memory/base/result.hpp"
#include "memory/slm.hpp"
#include "runtime/dispatch/image.hpp"
#include "runtime/dispatch/thread_payload.hpp"
#include "runtime/dispatch/thread_slots.hpp"
#include "runtime/dispatch/walker.hpp"

namespace eum::rt {

/// How long a group may continue.
struct Allowance {
  std::uint64_t left = 0;                        ///< guest instructions; counted down
  const std::atomic<bool>& stop;                 ///< set when the whole dispatch pauses
  const std::atomic<std::uint64_t>& stop_below;  ///< groups from this index on are no longer wanted

  bool over(std::uint64_t group) const {
    return left == 0 || stop.load(std::memory_order_relaxed) ||
           stop_below.load(std::memory_order_relaxed) <= group;
  }
};

/// Workers write their groups' members for each thread, so no group may share a cache line, or a pair of
/// lines that is fetched together, with another.
class alignas(128) ThreadGroup {
 public:
  /// Prepares for groups of `walk`, which must be valid (Dispatch checks it) and, like `slots`, outlive its
  /// use here.
  Result<void> prepare(const WalkerCommand& walk, ThreadSlots& slots);

  /// Runs whole groups of the range, of a walk whose groups are independent of each other, and removes them
  /// from it. A group whose thread stops early, or for which the allowance does not suffice, is then under
  /// way. No other group may be under way before.
  void run_ahead(GroupRange& range, Allowance& allowance, jit::FpScope& scope);
  /// Begins the group with this index in the walk; no other may be under way. False: no thread slots are
  /// free.
  bool begin(std::uint64_t index);
  bool under_way() const { return under_way_; }
  std::uint64_t index() const { return index_; }

  enum class Outcome : std::uint8_t {
    Done,     ///< every thread has ended
    Faulted,  ///< see fault(); the group stays under way, its threads as they are
    Paused,   ///< the allowance is used up; advance() continues
  };
  Outcome advance(Allowance& allowance, jit::FpScope& scope);
  /// Must be called if memory may have been mapped or unmapped since the last advance().
  void memory_changed();
  /// Sets Environment::exclusive of all threads; applies from the next advance() on.
  void set_exclusive(bool exclusive);
  /// Discards the group under way, whose effects remain, and releases all slots.
  void abandon();

  const GuestFault& fault() const { return fault_; }
  const WalkerCounts& counts() const { return counts_; }

  /// The group under way.
  GroupImage save();
  /// Makes `image`, whose slots are already taken, the group under way. An error says what in it does not fit
  /// the walk.
  Result<void> restore(const GroupImage& image);
  /// The thread that runs next in the group's order of turns.
  ThreadPlace next_thread() {
    return {index_, turn_, threads_[turn_].phase, walk_->code->executable->next_ip(state(turn_))};
  }
  /// State of a thread that has started.
  jit::ThreadImage thread_image(std::uint32_t thread);

 private:
  struct Thread {
    ThreadPhase phase = ThreadPhase::Unstarted;
    std::uint32_t waits = 0;  // barriers that it has passed, including the one it waits at
    std::uint64_t budget = 0;
  };

  void lay_out(std::uint32_t thread);
  void place(std::uint64_t index, std::uint32_t ended);
  bool take_slots();
  bool can_run(const Thread& thread) const {
    return thread.phase != ThreadPhase::Ended && thread.waits <= completed_;
  }

  /// Threads that run in one batch.
  struct Run {
    std::uint32_t first, threads;
    bool begin;                      // whether they begin or continue
    std::uint64_t granted;           // guest instructions for each, at most what the allowance has left
    std::uint64_t most = INT64_MAX;  // guest instructions for all together
    std::uint32_t waits = 0;         // jit::ThreadBatch::waits
    std::uint32_t more_groups = 0;   // jit::ThreadBatch::more_groups
  };
  /// Result of a batch.
  struct Ran {
    jit::Status status = jit::Status::Exited;  // of the thread that ran last
    bool stopped = false;                      // that thread neither exited nor waits
    std::uint32_t done = 0;                    // number of threads that exited or wait
    std::int64_t granted = 0;
    std::uint32_t turns = 0;   // turns that the whole group had before its current one
    std::uint32_t exited = 0;  // threads that exited, for code that waits
    std::uint32_t groups = 0;  // groups that ended; the other members describe the group after them
  };
  /// If threads begin, they belong to the groups of headers_.
  Ran run_batch(const Run& run, Allowance& allowance, jit::FpScope& scope);
  /// The threads that have the next turn.
  Run next_run(const Allowance& allowance) const;
  Ran run_turns(const Run& run, Allowance& allowance, jit::FpScope& scope);
  void run_waiting_ahead(GroupRange& range, Allowance& allowance, jit::FpScope& scope);
  std::uint32_t head_groups(const GroupRange& range);
  void account(std::uint32_t first, const Ran& ran);
  std::optional<Outcome> thread_stopped(const Ran& ran);
  bool next_turn();
  bool run_together();
  void end();
  void use_slot(std::uint32_t thread, std::uint32_t slot);
  void put_place(std::uint32_t thread, std::uint32_t slot);
  Outcome faulted(GuestFault::Cause cause, std::uint32_t thread);
  Outcome faulted_by_deadlock();
  jit::ThreadState& state(std::uint32_t thread) {
    return *reinterpret_cast<jit::ThreadState*>(states_.data() + std::size_t{thread} * layout_.size);
  }

  /// Groups that run_ahead() starts at once, so that a small group costs little more than its threads.
  static constexpr std::uint32_t groups_ahead = 64;

  alignas(128) std::array<jit::GroupHeader, groups_ahead> headers_;  // of the groups that begin
  const WalkerCommand* walk_ = nullptr;
  ThreadSlots* slots_ = nullptr;
  jit::StateLayout layout_;
  std::size_t restored_bytes_ = 0;  // per thread
  mem::AlignedBytes images_;        // per thread: the contents of the restored slots, one after the other
  bool apart_ = false;              // threads are independent of each other
  std::uint32_t ids_go_on_ = 0;     // jit::ThreadBatch::ids_go_on
  mem::AlignedBytes states_;        // of each thread of a group
  std::uint32_t laid_out_ = 0;      // states that have held only threads of this layout
  std::vector<jit::Environment> environments_;  // of each thread
  std::vector<std::uint32_t> slot_;             // of each thread
  bool has_slots_ = false;         // slot_ is taken: one slot for all threads, or one for each if together_
  bool reads_place_ = false;       // the code reads the ids in sr0
  std::uint32_t shared_slot_ = 0;  // the slot that stays when the threads no longer run together
  std::optional<mem::Slm> slm_;

  bool under_way_ = false;
  std::uint64_t index_ = 0;
  std::array<std::uint32_t, 3> id_{};
  std::vector<Thread> threads_;
  bool fresh_ = false;           // none of its threads has begun or ended
  std::uint32_t alive_ = 0;      // threads that have not ended
  std::uint32_t turn_ = 0;       // thread that runs next
  std::uint64_t slice_ = 0;      // guest instructions left in its turn
  bool together_ = false;        // every thread has its own slot
  bool moved_ = false;           // a thread has run in this round
  std::uint32_t completed_ = 0;  // barriers that every thread has signalled
  std::optional<Ran> stopped_;   // what run_ahead() ended with

  GuestFault fault_;
  WalkerCounts counts_;
};

}  // namespace eum::rt
