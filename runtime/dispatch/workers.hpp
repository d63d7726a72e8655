#pragma once
// Workers: the host threads on which dispatches run, and memory for thread groups that dispatches take and
// give back. It must not know what runs on them.
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "memory/base/result.hpp"

namespace eum::rt {

class ThreadGroup;

class Workers {
 public:
  /// `count` is at least 1. With 1 everything runs on the caller's thread and no other is made; otherwise the
  /// caller's thread is one of them, the others belong to oneTBB and are at most as many as the host has
  /// processors.
  explicit Workers(unsigned count);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  unsigned count() const { return count_; }

  /// Calls work(0) to work(n - 1), n at most count(), and returns when all are done. They may run one after
  /// the other. An error is one of the host: no memory, no threads.
  Result<void> run(unsigned n, const std::function<void(unsigned)>& work);

  /// For as long as a dispatch needs it. Any thread.
  std::unique_ptr<ThreadGroup> take_group();
  void give_back(std::unique_ptr<ThreadGroup> group);

  /// Code that one worker was faster with than all of them is left to one for some launches, as to find that
  /// out again takes time. A guess: only the last such code is remembered, by the address of what it was. Any
  /// thread.
  void note_faster_alone(const void* code, bool is_faster);
  bool is_faster_alone(const void* code);

 private:
  struct Arena;
  unsigned count_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadGroup>> spare_;
  const void* faster_alone_ = nullptr;
  unsigned launches_alone_ = 0;  ///< that are left
  std::once_flag arena_made_;
  std::unique_ptr<Arena> arena_;  ///< made when first needed: oneTBB looks for libraries then
};

}  // namespace eum::rt
