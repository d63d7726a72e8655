// Groups are handed out in order, a few at a time. A fault stops the hand-out; groups before it still finish,
// so that the one that is reported does not depend on timing.
#include "runtime/dispatch.hpp"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <vector>

#include "memory/slm.hpp"
#include "runtime/thread_group.hpp"

namespace eum::rt {
namespace {

constexpr std::uint32_t slot_bytes = 32;

Result<void> check(const WalkerCommand& walk, std::uint32_t slots) {
  if (!walk.code || !walk.code->executable) return error("walk: expected code, found none");
  if (!walk.surfaces) return error("walk: expected a binding table, found none");
  const ThreadCode& code = *walk.code;
  if (code.simd != 8 && code.simd != 16 && code.simd != 32)
    return error("walk: expected a SIMD width of 8, 16 or 32, found {}", code.simd);
  if (walk.threads_per_group == 0 || walk.threads_per_group > max_threads_per_group)
    return error("walk: expected 1 to {} threads in a group, found {}", max_threads_per_group,
                 walk.threads_per_group);
  if (walk.per_thread_bytes % slot_bytes != 0 || walk.cross_thread.size() % slot_bytes != 0)
    return error("walk: expected payloads of whole registers, found {} and {} bytes", walk.per_thread_bytes,
                 walk.cross_thread.size());
  if (walk.per_thread.size() != std::size_t{walk.per_thread_bytes} * walk.threads_per_group)
    return error("walk: expected {} bytes of per-thread data for {} threads, found {}",
                 std::size_t{walk.per_thread_bytes} * walk.threads_per_group, walk.threads_per_group,
                 walk.per_thread.size());
  const std::size_t payload = slot_bytes + walk.per_thread_bytes + walk.cross_thread.size();
  if (payload > code.payload_room)
    return error("walk: a thread's registers hold {} bytes of payload, found {}", code.payload_room, payload);
  if (walk.slm_bytes > mem::slm_max_size)
    return error("walk: a group has at most {} bytes of shared local memory, found {}", mem::slm_max_size,
                 walk.slm_bytes);
  if (walk.scratch.bytes != 0 && (!walk.scratch.base || walk.scratch.slots < slots))
    return error("walk: expected scratch memory for {} threads, found {}", slots,
                 walk.scratch.base ? walk.scratch.slots : 0);
  constexpr std::uint64_t most_groups = std::uint64_t{1} << 60;
  const std::uint64_t plane = std::uint64_t{walk.groups[0]} * walk.groups[1];
  if (plane != 0 && walk.groups[2] > most_groups / plane)
    return error("walk: {} x {} x {} thread groups are too many", walk.groups[0], walk.groups[1],
                 walk.groups[2]);
  return {};
}

void lower_to(std::atomic<std::uint64_t>& value, std::uint64_t bound) {
  std::uint64_t old = value.load();
  while (bound < old && !value.compare_exchange_weak(old, bound)) {
  }
}

}  // namespace

struct Dispatcher::Pool {
  explicit Pool(unsigned workers) : runners(workers) {
    // oneTBB complains on stderr when it is asked for more threads than there are processors.
    const int threads = std::min(static_cast<int>(workers), tbb::info::default_concurrency());
    if (workers > 1) arena = std::make_unique<tbb::task_arena>(threads);
  }
  std::vector<GroupRunner> runners;
  std::unique_ptr<tbb::task_arena> arena;
};

Dispatcher::Dispatcher(unsigned workers)
    : workers_(std::clamp(workers, 1u, max_thread_slots)), pool_(std::make_unique<Pool>(workers_)) {}
Dispatcher::~Dispatcher() = default;

std::uint32_t Dispatcher::slots_needed(bool waits, std::uint32_t threads_per_group) const {
  const std::uint32_t each = waits ? threads_per_group : 1;
  return std::min(workers_, max_thread_slots / std::max(each, 1u)) * each;
}

unsigned Dispatcher::workers_for(const WalkerCommand& walk) const {
  const std::uint32_t each = GroupRunner::concurrent_threads(walk);
  const auto fit = std::min<std::uint64_t>(max_thread_slots / each, walk.group_count());
  return static_cast<unsigned>(std::min<std::uint64_t>(workers_, fit));
}

Result<WalkerOutcome> Dispatcher::run(const WalkerCommand& walk) {
  if (walk.code == nullptr || walk.group_count() == 0) {
    if (auto good = check(walk, 0); !good) return good.error();
    return WalkerOutcome{};
  }
  const std::uint32_t slots = slots_needed(walk.code->waits, walk.threads_per_group);
  if (auto good = check(walk, slots); !good) return good.error();
  const unsigned workers = workers_for(walk);
  for (unsigned w = 0; w < workers; ++w) {
    const std::uint32_t first_slot = w * GroupRunner::concurrent_threads(walk);
    if (auto ready = pool_->runners[w].begin(walk, first_slot); !ready) return ready.error();
  }

  const std::uint64_t groups = walk.group_count();
  const std::uint64_t portion = std::clamp<std::uint64_t>(groups / (std::uint64_t{workers} * 16), 1, 256);
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> stop_below{~std::uint64_t{0}};  // the lowest group that has faulted
  std::vector<std::uint64_t> faulted(workers, ~std::uint64_t{0});
  const auto work = [&](unsigned w) {
    GroupRunner& runner = pool_->runners[w];
    jit::FpScope scope;
    for (;;) {
      const std::uint64_t begin = next.fetch_add(portion, std::memory_order_relaxed);
      const std::uint64_t end = std::min(begin + portion, groups);
      for (std::uint64_t index = begin; index < end; ++index) {
        if (stop_below.load(std::memory_order_relaxed) <= index) return;
        const GroupRunner::Outcome outcome = runner.run(index, stop_below, scope);
        if (outcome == GroupRunner::Outcome::Done) continue;
        if (outcome == GroupRunner::Outcome::Faulted) {
          faulted[w] = index;
          lower_to(stop_below, index);
        }
        return;
      }
      if (end == groups || begin >= groups) return;
    }
  };
  try {
    if (workers == 1) {
      work(0);
    } else {
      pool_->arena->execute([&] { tbb::parallel_for(0u, workers, work, tbb::static_partitioner()); });
    }
  } catch (const std::exception& e) {  // oneTBB: no memory, no threads
    return error("the groups could not be handed to {} workers: {}", workers, e.what());
  }

  WalkerOutcome outcome;
  for (unsigned w = 0; w < workers; ++w) {
    outcome.counts += pool_->runners[w].counts();
    if (faulted[w] == stop_below.load() && faulted[w] != ~std::uint64_t{0})
      outcome.fault = pool_->runners[w].fault();
  }
  return outcome;
}

}  // namespace eum::rt
