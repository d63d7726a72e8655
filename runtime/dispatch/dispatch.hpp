#pragma once
// Dispatch: runs the thread groups of a WalkerCommand on a number of workers. It can be stepped, stopped from
// any thread, saved and restored. It must not know kernel arguments or binaries.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/dispatch/image.hpp"
#include "runtime/dispatch/thread_group.hpp"
#include "runtime/dispatch/thread_slots.hpp"
#include "runtime/dispatch/walker.hpp"
#include "runtime/dispatch/workers.hpp"

namespace eum::rt {

/// Not synchronised, except for stop().
class Dispatch {
 public:
  static constexpr std::uint64_t unlimited = ~std::uint64_t{0};

  /// Prepares to run `walk`, from its beginning or from an image of a dispatch of the same walk, in which
  /// case memory must match. Workers, walk and everything that the walk points to must outlive the dispatch.
  /// An error names the field of the walk or the part of the image, what was expected and what was found.
  static Result<std::unique_ptr<Dispatch>> create(Workers& workers, const WalkerCommand& walk,
                                                  const DispatchImage* from = nullptr);
  ~Dispatch();
  Dispatch(const Dispatch&) = delete;
  Dispatch& operator=(const Dispatch&) = delete;

  enum class Progress : std::uint8_t {
    Done,     ///< every group has ended
    Paused,   ///< the budget is used up, or stop() was called; step() continues
    Faulted,  ///< see fault(); nothing more runs
  };
  /// Runs until everything is done, a group faults, or about `budget` guest instructions have been executed
  /// by all threads together (a thread pauses at its next safepoint). Between steps memory may be mapped and
  /// unmapped. An error concerns the host, or the image that the dispatch began with; nothing more can be run
  /// then.
  Result<Progress> step(std::uint64_t budget = unlimited);

  /// Makes the current step(), or the next one, pause soon. May be called from any thread and from signal
  /// handlers.
  void stop() noexcept { stop_.store(true, std::memory_order_relaxed); }

  /// The fault of the lowest faulting group in x, then y, then z order. Later groups may have run in part.
  const std::optional<GuestFault>& fault() const { return fault_; }
  /// The state of the thread of fault(), at the faulting instruction.
  const std::optional<jit::ThreadImage>& faulted_thread() const { return faulted_thread_; }
  WalkerCounts counts() const;

  /// The thread that the lowest group under way runs next: the part of save() that a debugger needs at each
  /// step. Not during a step.
  std::optional<ThreadPlace> place() const;
  /// Everything needed, besides memory, to continue later or elsewhere. Not during a step.
  DispatchImage save();

 private:
  using Clock = std::chrono::steady_clock;
  /// On cache lines of its own, like ThreadGroup.
  struct alignas(128) Worker {
    std::unique_ptr<ThreadGroup> group;      // null until the worker has something to do
    GroupRange mine;                         // groups that it has been handed
    GroupRange home;                         // groups that it is handed first; others may take what is left
    std::optional<Clock::time_point> until;  // after this it takes no more groups

    bool under_way() const { return group && group->under_way(); }
  };

  Dispatch(Workers& workers, const WalkerCommand& walk);
  static Result<std::unique_ptr<Dispatch>> prepare(Workers& workers, const WalkerCommand& walk,
                                                   const DispatchImage* from);
  Result<void> make_ready(Worker& worker);
  void hand_homes(std::uint64_t groups);
  Result<void> adopt(const DispatchImage& image);
  Result<void> work(Worker& worker, std::atomic<std::uint64_t>& budget);
  Result<double> rate(Worker& worker, std::uint64_t budget, std::optional<Clock::duration> time = {});
  Result<void> all(const std::function<Result<void>(Worker&)>& work);
  std::uint64_t groups_left() const;
  void take_back_groups();
  Result<void> work_alone();
  Result<bool> next_group(Worker& worker, Allowance& allowance, jit::FpScope& scope);
  bool hand_out(Worker& worker);
  void note_fault(ThreadGroup& group);
  bool wanted(std::uint64_t group) const { return group < stop_below_.load(std::memory_order_relaxed); }
  bool finished() const;

  Workers& workers_;
  const WalkerCommand& walk_;
  ThreadSlots slots_;
  std::vector<Worker> worker_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> stop_below_{unlimited};  // the lowest group that has faulted
  bool stepped_ = false;
  bool several_work_ = false;   // workers run at the same time
  std::uint64_t portion_ = 1;   // groups handed out at a time
  bool portion_grows_ = false;  // twice as many each time
  WalkerCounts counts_before_;  // counts in the image

  std::mutex mutex_;                   // guards the following members while workers run
  std::vector<GroupImage> restored_;   // groups of the image that nobody has resumed yet
  std::vector<GroupRange> remaining_;  // other groups not handed out yet, in ascending order
  std::optional<GuestFault> fault_;
  std::optional<jit::ThreadImage> faulted_thread_;
};

}  // namespace eum::rt
