#pragma once
// Workers: the host threads on which dispatches run, and a pool of thread group memory for dispatches. It
// must not know what runs on them.
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "memory/base/result.hpp"

namespace eum::rt {

class ThreadGroup;

class Workers {
 public:
  /// `count` is at least 1. With 1 everything runs on the caller's thread and no other is created; otherwise
  /// the caller's thread is one of the workers, and the others belong to oneTBB and are at most as many as
  /// the host has processors.
  explicit Workers(unsigned count);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  unsigned count() const { return count_; }

  /// Calls work(0) to work(n - 1), n at most count(), and returns when all are done. They may run one after
  /// the other. An error concerns the host: no memory, no threads.
  Result<void> run(unsigned n, const std::function<void(unsigned)>& work);

  /// Lent for as long as a dispatch needs it. Thread-safe.
  std::unique_ptr<ThreadGroup> take_group();
  void give_back(std::unique_ptr<ThreadGroup> group);

  /// Code that one worker ran faster than all of them is left to one worker for some launches, because
  /// measuring again takes time. A heuristic: only the last such code is remembered, by its address.
  /// Thread-safe.
  void note_faster_alone(const void* code, bool is_faster);
  bool is_faster_alone(const void* code);

 private:
  struct Arena;
  unsigned count_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadGroup>> spare_;
  const void* faster_alone_ = nullptr;
  unsigned launches_alone_ = 0;  ///< launches left until it is measured again
  std::once_flag arena_made_;
  std::unique_ptr<Arena> arena_;  ///< created on first use, because oneTBB then searches for libraries
};

}  // namespace eum::rt
