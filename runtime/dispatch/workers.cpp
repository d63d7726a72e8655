// Uses oneTBB, except under the thread sanitizer, which does not understand oneTBB's synchronisation.
#include "runtime/dispatch/workers.hpp"

#include <algorithm>
#include <exception>

#include "runtime/dispatch/thread_group.hpp"

#if defined(__SANITIZE_THREAD__)
#define EUMULATE_STD_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EUMULATE_STD_THREADS 1
#endif
#endif

#ifdef EUMULATE_STD_THREADS
#include <thread>
#include <vector>
#else
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>
#endif

namespace eum::rt {

#ifdef EUMULATE_STD_THREADS

struct Workers::Arena {
  explicit Arena(unsigned) {}
  void run(unsigned n, const std::function<void(unsigned)>& work) {
    std::vector<std::jthread> threads;
    for (unsigned w = 1; w < n; ++w) threads.emplace_back(work, w);
    work(0);
  }
};

#else

struct Workers::Arena {
  // oneTBB warns on stderr if more threads are requested than there are processors.
  explicit Arena(unsigned count)
      : arena(std::min(static_cast<int>(count), tbb::info::default_concurrency())) {}
  void run(unsigned n, const std::function<void(unsigned)>& work) {
    arena.execute([&] { tbb::parallel_for(0u, n, work, tbb::static_partitioner()); });
  }
  tbb::task_arena arena;
};

#endif

Workers::Workers(unsigned count) : count_(std::clamp(count, 1u, max_thread_slots)) {}
Workers::~Workers() = default;

std::unique_ptr<ThreadGroup> Workers::take_group() {
  const std::scoped_lock lock(mutex_);
  if (spare_.empty()) return std::make_unique<ThreadGroup>();
  std::unique_ptr<ThreadGroup> group = std::move(spare_.back());
  spare_.pop_back();
  return group;
}

void Workers::give_back(std::unique_ptr<ThreadGroup> group) {
  const std::scoped_lock lock(mutex_);
  spare_.push_back(std::move(group));
}

namespace {

constexpr unsigned launches_until_tried = 16;

}  // namespace

void Workers::note_faster_alone(const void* code, bool is_faster) {
  const std::scoped_lock lock(mutex_);
  if (!is_faster && faster_alone_ != code) return;
  faster_alone_ = is_faster ? code : nullptr;
  launches_alone_ = launches_until_tried;
}

bool Workers::is_faster_alone(const void* code) {
  const std::scoped_lock lock(mutex_);
  if (faster_alone_ != code || launches_alone_ == 0) return false;
  --launches_alone_;
  return true;
}

Result<void> Workers::run(unsigned n, const std::function<void(unsigned)>& work) {
  try {
    if (n == 1) {
      work(0);
    } else {
      std::call_once(arena_made_, [&] { arena_ = std::make_unique<Arena>(count_); });
      arena_->run(n, work);
    }
  } catch (const std::exception& e) {
    return host_error("work could not be handed to {} workers: {}", n, e.what());
  }
  return {};
}

}  // namespace eum::rt
