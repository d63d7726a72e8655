// Groups are handed out a few at a time. A fault stops the hand-out of later groups; earlier groups still
// finish, so that the reported fault does not depend on timing.
#include "runtime/dispatch/dispatch.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "memory/base/within_host.hpp"
#include "memory/slm.hpp"

namespace eum::rt {
namespace {

/// Guest instructions that a worker takes from the budget at a time.
constexpr std::uint64_t most_granted = std::uint64_t{1} << 22;

/// The calling thread first works alone to measure its speed, and continues alone if the rest would take no
/// longer than waking other workers.
constexpr std::chrono::microseconds looked_first{4}, worth_waking{60};
/// Upper limits, in guest instructions, because its work may wait for other groups.
constexpr std::uint64_t most_alone_at_first = std::uint64_t{1} << 22, most_alone = std::uint64_t{1} << 24;
/// Guest instructions that each worker executes to measure their combined speed: some tens of microseconds if
/// the workers hamper each other. Measuring begins when all workers have arrived, or after a timeout.
constexpr std::uint64_t tried = std::uint64_t{1} << 13;
constexpr std::chrono::microseconds waited_for_others{100};
/// Workers whose atomics contend for the same cache lines may be slower together than one of them alone. If
/// so, one continues alone and measures again after this time.
constexpr std::chrono::milliseconds looked_again{6};

Result<void> check(const WalkerCommand& walk) {
  if (!walk.code || !walk.code->executable) return error("walk: expected code, found none");
  if (!walk.surfaces) return error("walk: expected a binding table, found none");
  const ThreadCode& code = *walk.code;
  if (code.simd != 8 && code.simd != 16 && code.simd != 32)
    return error("walk: expected a SIMD width of 8, 16 or 32, found {}", code.simd);
  if (walk.threads_per_group == 0 || walk.threads_per_group > max_threads_per_group)
    return error("walk: expected 1 to {} threads in a group, found {}", max_threads_per_group,
                 walk.threads_per_group);
  if (walk.per_thread_bytes % code.grf_bytes != 0 || walk.cross_thread.size() % code.grf_bytes != 0)
    return error("walk: expected payloads of whole registers, found {} and {} bytes", walk.per_thread_bytes,
                 walk.cross_thread.size());
  if (walk.per_thread.size() != std::size_t{walk.per_thread_bytes} * walk.threads_per_group)
    return error("walk: expected {} bytes of per-thread data for {} threads, found {}",
                 std::size_t{walk.per_thread_bytes} * walk.threads_per_group, walk.threads_per_group,
                 walk.per_thread.size());
  const std::size_t payload = ThreadPayload(walk).bytes();
  if (payload > code.payload_room)
    return error("walk: a thread's registers hold {} bytes of payload, found {}", code.payload_room, payload);
  if (code.promised.lone_threads && walk.threads_per_group != 1)
    return error("walk: expected groups of one thread, as its code relies on, found {} threads",
                 walk.threads_per_group);
  if (const std::uint32_t channels = code.promised.channels; channels != 0) {
    const ThreadPayload payload(walk);
    for (std::uint32_t thread = 0; thread < walk.threads_per_group; ++thread)
      if (payload.dispatch_mask(thread) != ir::lane_mask(channels))
        return error("walk: expected threads of {} channels, as its code relies on, found the mask {:#x}",
                     channels, payload.dispatch_mask(thread));
  }
  if (const ir::ConsecutiveIds& ids = code.promised.ids; ids.run != 0) {
    const std::uint32_t found =
        consecutive_run({walk.per_thread, walk.per_thread_bytes, code.grf_bytes, walk.last_mask}, ids);
    if (found < ids.run)
      return error("walk: expected local ids that go up by 1 in runs of {}, as its code relies on, found {}",
                   ids.run, found == 0 ? "none" : fmt::format("runs of {}", found));
  }
  if (walk.slm_bytes > mem::slm_max_size)
    return error("walk: a group has at most {} bytes of shared local memory, found {}", mem::slm_max_size,
                 walk.slm_bytes);
  const std::uint32_t least = thread_slots(1, code.waits, walk.threads_per_group);
  if (walk.slots < least || walk.slots > max_thread_slots)
    return error("walk: expected {} to {} thread slots, found {}", least, max_thread_slots, walk.slots);
  if (walk.scratch.bytes != 0 && (!walk.scratch.base || walk.scratch.slots < walk.slots))
    return error("walk: expected scratch memory for {} threads, found {}", walk.slots,
                 walk.scratch.base ? walk.scratch.slots : 0);
  if (walk.scratch.bytes % jit::scratch_granule != 0)
    return error("walk: expected scratch memory in units of {} bytes, found {}", jit::scratch_granule,
                 walk.scratch.bytes);
  constexpr std::uint64_t most_groups = std::uint64_t{1} << 60;
  const std::uint64_t plane = std::uint64_t{walk.groups[0]} * walk.groups[1];
  if (plane != 0 && walk.groups[2] > most_groups / plane)
    return error("walk: {} x {} x {} thread groups are too many", walk.groups[0], walk.groups[1],
                 walk.groups[2]);
  return {};
}

std::uint64_t grant(std::atomic<std::uint64_t>& budget) {
  std::uint64_t left = budget.load(std::memory_order_relaxed), granted;
  do {
    if (left == Dispatch::unlimited) return left;
    granted = std::min(left, most_granted);
  } while (!budget.compare_exchange_weak(left, left - granted));
  return granted;
}

/// The threads of an image's group whose slots are taken.
std::span<const GroupThreadImage> slot_owners(const GroupImage& group) {
  return std::span(group.threads).first(group.together || group.threads.empty() ? group.threads.size() : 1);
}

}  // namespace

Dispatch::Dispatch(Workers& workers, const WalkerCommand& walk)
    : workers_(workers), walk_(walk), slots_(walk.slots) {}

Dispatch::~Dispatch() {
  for (Worker& worker : worker_)
    if (worker.group) workers_.give_back(std::move(worker.group));
}

Result<std::unique_ptr<Dispatch>> Dispatch::create(Workers& workers, const WalkerCommand& walk,
                                                   const DispatchImage* from) {
  if (auto good = check(walk); !good) return good.error();
  return within_host("dispatch", [&] { return prepare(workers, walk, from); });
}

Result<std::unique_ptr<Dispatch>> Dispatch::prepare(Workers& workers, const WalkerCommand& walk,
                                                    const DispatchImage* from) {
  std::unique_ptr<Dispatch> dispatch(new Dispatch(workers, walk));
  const std::uint64_t groups = walk.group_count();
  const std::uint32_t each = walk.code->waits ? walk.threads_per_group : 1;
  const auto count = std::min({std::uint64_t{workers.count()}, groups, std::uint64_t{walk.slots / each}});
  if (groups == 0) return dispatch;
  dispatch->worker_.resize(count);
  // The other workers are prepared on demand: often one does all the work.
  if (auto ready = dispatch->make_ready(dispatch->worker_[0]); !ready) return ready.error();
  // A worker alone leaves nothing to others.
  dispatch->portion_ = std::clamp<std::uint64_t>(count == 1 ? groups : groups / (count * 16), 1, 256);
  if (from == nullptr) {
    dispatch->hand_homes(groups);
  } else if (auto adopted = dispatch->adopt(*from); !adopted) {
    return adopted.error();
  }
  return dispatch;
}

Result<void> Dispatch::make_ready(Worker& worker) {
  if (worker.group) return {};
  std::unique_ptr<ThreadGroup> group = workers_.take_group();
  if (auto ready = within_host("dispatch", [&] { return group->prepare(walk_, slots_); }); !ready)
    return ready;
  worker.group = std::move(group);
  return {};
}

/// Gives each worker a contiguous range: neighbouring groups mostly access neighbouring memory, and the same
/// memory in every launch, so it is likely to be in the worker's caches.
void Dispatch::hand_homes(std::uint64_t groups) {
  // Groups that may wait for earlier groups are best begun in order.
  if (walk_.code->contends) return remaining_.push_back({0, groups});
  const std::uint64_t count = worker_.size();
  std::uint64_t begin = 0;
  for (std::uint64_t w = 0; w < count; ++w) {
    const std::uint64_t end = groups / count * (w + 1) + groups % count * (w + 1) / count;
    worker_[w].home = {begin, end};
    begin = end;
  }
}

Result<void> Dispatch::adopt(const DispatchImage& image) {
  for (const GroupImage& group : image.groups)
    for (const GroupThreadImage& thread : slot_owners(group))
      if (!slots_.take_one(thread.slot))
        return error("dispatch image: thread slot {} is there twice, or not one of the walk's {}",
                     thread.slot, walk_.slots);
  for (const GroupRange& range : image.remaining)
    if (range.begin > range.end || range.end > walk_.group_count())
      return error("dispatch image: expected groups of {}, found {} to {}", walk_.group_count(), range.begin,
                   range.end);
  restored_ = image.groups;
  remaining_ = image.remaining;
  counts_before_ = image.counts;
  return {};
}

bool Dispatch::hand_out(Worker& worker) {
  // Groups after a faulted group are not wanted.
  const std::uint64_t stop = stop_below_.load(std::memory_order_relaxed);
  const auto left = [&](const GroupRange& range) {
    return range.begin < stop ? std::min(range.end, stop) - range.begin : 0;
  };
  while (!remaining_.empty() && remaining_.front().begin == remaining_.front().end)
    remaining_.erase(remaining_.begin());
  GroupRange* from = &worker.home;
  if (!remaining_.empty())
    from = &remaining_.front();
  else if (left(*from) == 0)
    from = &std::ranges::max_element(worker_, {}, [&](const Worker& w) { return left(w.home); })->home;
  worker.mine = {from->begin, from->begin + std::min(portion_, left(*from))};
  if (portion_grows_) portion_ *= 2;
  from->begin = worker.mine.end;
  return worker.mine.begin != worker.mine.end;
}

/// Whether the worker has a group to continue with.
Result<bool> Dispatch::next_group(Worker& worker, Allowance& allowance, jit::FpScope& scope) {
  ThreadGroup& group = *worker.group;
  GroupRange& mine = worker.mine;
  while (!group.under_way()) {
    if (mine.begin == mine.end) {
      const std::scoped_lock lock(mutex_);
      while (!restored_.empty()) {
        const GroupImage image = std::move(restored_.back());
        restored_.pop_back();
        if (!wanted(image.index)) continue;
        if (auto restored = group.restore(image); !restored) return restored.error();
        return true;
      }
      if (worker.until && Clock::now() >= *worker.until) return false;
      if (!hand_out(worker)) return false;
    }
    if (!wanted(mine.begin)) return false;
    group.run_ahead(mine, allowance, scope);
    if (group.under_way() || mine.begin == mine.end) continue;
    if (!wanted(mine.begin) || !group.begin(mine.begin)) return false;
    ++mine.begin;
  }
  return true;
}

void Dispatch::note_fault(ThreadGroup& group) {
  const std::scoped_lock lock(mutex_);
  if (!wanted(group.index())) return;
  stop_below_ = group.index();
  fault_ = group.fault();
  faulted_thread_ = group.thread_image(fault_->thread);
}

Result<void> Dispatch::work(Worker& worker, std::atomic<std::uint64_t>& budget) {
  jit::FpScope scope;
  Allowance allowance{grant(budget), stop_, stop_below_};
  worker.group->set_exclusive(walk_.exclusive && !several_work_);
  for (;;) {
    const auto more = next_group(worker, allowance, scope);
    if (!more) return more.error();
    if (!*more) break;
    switch (worker.group->advance(allowance, scope)) {
      case ThreadGroup::Outcome::Done:
        continue;
      case ThreadGroup::Outcome::Faulted:
        note_fault(*worker.group);
        worker.group->abandon();
        continue;
      case ThreadGroup::Outcome::Paused:
        if (!wanted(worker.group->index())) {
          worker.group->abandon();
          continue;
        }
        if (allowance.left == 0) allowance.left = grant(budget);
        if (!allowance.over(worker.group->index())) continue;
        break;
    }
    break;
  }
  if (budget.load(std::memory_order_relaxed) != unlimited) budget += allowance.left;
  return {};
}

bool Dispatch::finished() const {
  const auto nothing = [&](std::uint64_t begin, std::uint64_t end) { return begin == end || !wanted(begin); };
  return std::all_of(worker_.begin(), worker_.end(),
                     [&](const Worker& w) {
                       return !w.under_way() && nothing(w.mine.begin, w.mine.end) &&
                              nothing(w.home.begin, w.home.end);
                     }) &&
         std::all_of(remaining_.begin(), remaining_.end(),
                     [&](const GroupRange& r) { return nothing(r.begin, r.end); }) &&
         std::none_of(restored_.begin(), restored_.end(),
                      [&](const GroupImage& g) { return wanted(g.index); });
}

/// Guest instructions per second while the worker works. If `time` is given, it takes no more groups after
/// that.
Result<double> Dispatch::rate(Worker& worker, std::uint64_t budget, std::optional<Clock::duration> time) {
  const std::uint64_t before = worker.group->counts().instructions;
  const auto begin = Clock::now();
  if (time) worker.until = begin + *time;
  std::atomic<std::uint64_t> own{budget};
  const auto worked = work(worker, own);
  worker.until.reset();
  if (!worked) return worked.error();
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  return static_cast<double>(worker.group->counts().instructions - before) / std::max(seconds.count(), 1e-9);
}

/// Calls `work` for every worker, concurrently if possible.
Result<void> Dispatch::all(const std::function<Result<void>(Worker&)>& work) {
  std::optional<Error> failed;
  several_work_ = worker_.size() > 1;
  const auto ran = workers_.run(static_cast<unsigned>(worker_.size()), [&](unsigned w) {
    auto worked = make_ready(worker_[w]);
    if (worked) worked = work(worker_[w]);
    if (worked) return;
    const std::scoped_lock lock(mutex_);
    failed = worked.error();
  });
  several_work_ = false;
  if (!ran) return ran.error();
  if (failed) return *failed;
  return {};
}

/// Number of groups that nobody has begun.
std::uint64_t Dispatch::groups_left() const {
  std::uint64_t left = restored_.size();
  const auto add = [&](const GroupRange& range) { left += range.end - range.begin; };
  std::ranges::for_each(remaining_, add);
  for (const Worker& worker : worker_) {
    add(worker.mine);
    add(worker.home);
  }
  return left;
}

/// Takes back groups that were handed out but not begun, so that any worker may take them, lowest first.
void Dispatch::take_back_groups() {
  for (Worker& worker : worker_)
    if (worker.mine.begin != worker.mine.end) remaining_.push_back(std::exchange(worker.mine, {}));
  std::ranges::sort(remaining_, {}, &GroupRange::begin);
}

/// Runs on one worker for as long as others would only slow it down.
Result<void> Dispatch::work_alone() {
  const auto goes_on = [&] { return !finished() && !stop_.load(std::memory_order_relaxed); };
  const std::uint64_t before = worker_[0].group->counts().groups;
  const auto begin = Clock::now();
  // Small groups take many times longer if they are handed out one by one, large ones soon end it.
  const std::uint64_t of_many = std::exchange(portion_, 1);
  portion_grows_ = true;
  auto one = rate(worker_[0], most_alone_at_first, looked_first);
  portion_grows_ = false;
  portion_ = of_many;
  if (!one) return one.error();
  const std::uint64_t done = worker_[0].group->counts().groups - before;
  const std::chrono::duration<double> took = Clock::now() - begin;
  if (goes_on() && took * static_cast<double>(groups_left()) < worth_waking * static_cast<double>(done)) {
    // In few portions, because handing one out and reading the clock take as long as running small groups.
    portion_ = groups_left() / 4 + 1;
    one = rate(worker_[0], most_alone_at_first, worth_waking);
    portion_ = of_many;
    if (!one) return one.error();
    take_back_groups();
  }
  if (!walk_.code->contends) return {};
  const void* const code = walk_.code->executable;
  if (goes_on() && workers_.is_faster_alone(code)) {
    one = rate(worker_[0], most_alone, looked_again);
    if (!one) return one.error();
  }
  while (goes_on()) {
    std::vector<double> rates(worker_.size());
    std::atomic<std::size_t> here{0};
    const auto together = all([&](Worker& worker) -> Result<void> {
      ++here;
      for (const auto until = Clock::now() + waited_for_others;
           here.load(std::memory_order_relaxed) != worker_.size() && Clock::now() < until;) {
      }
      const auto own = rate(worker, tried);
      if (!own) return own.error();
      rates[static_cast<std::size_t>(&worker - worker_.data())] = *own;
      return {};
    });
    if (!together) return together.error();
    const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
    if (!goes_on()) break;
    take_back_groups();
    bool is_alone = sum < *one;
    if (is_alone) {
      // Perhaps the current work is slower on any number of workers: measure one worker again.
      one = rate(worker_[0], tried);
      if (!one) return one.error();
      if (*one == 0) break;  // only other workers have groups under way
      is_alone = sum < *one;
    }
    workers_.note_faster_alone(code, is_alone);
    if (!goes_on() || !is_alone) break;
    if (auto worked = rate(worker_[0], most_alone, looked_again); !worked) return worked.error();
  }
  return {};
}

Result<Dispatch::Progress> Dispatch::step(std::uint64_t budget) {
  std::atomic<std::uint64_t> left{budget};
  if (stepped_)
    for (Worker& worker : worker_)
      if (worker.group) worker.group->memory_changed();
  stepped_ = true;
  if (!finished() && worker_.size() > 1 && budget == unlimited)
    if (auto worked = work_alone(); !worked) return worked.error();
  if (!finished() && left != 0 && !stop_)
    if (auto worked = all([&](Worker& worker) { return work(worker, left); }); !worked) return worked.error();
  stop_ = false;
  if (!finished()) return Progress::Paused;
  return fault_ ? Progress::Faulted : Progress::Done;
}

WalkerCounts Dispatch::counts() const {
  WalkerCounts counts = counts_before_;
  for (const Worker& worker : worker_)
    if (worker.group) counts += worker.group->counts();
  return counts;
}

std::optional<ThreadPlace> Dispatch::place() const {
  std::optional<ThreadPlace> lowest;
  for (const Worker& worker : worker_)
    if (worker.under_way() && (!lowest || worker.group->index() < lowest->group))
      lowest = worker.group->next_thread();
  return lowest;
}

DispatchImage Dispatch::save() {
  DispatchImage image{restored_, remaining_, counts()};
  for (Worker& worker : worker_) {
    if (worker.under_way()) image.groups.push_back(worker.group->save());
    for (const GroupRange& range : {worker.mine, worker.home})
      if (range.begin != range.end) image.remaining.push_back(range);
  }
  std::sort(image.groups.begin(), image.groups.end(),
            [](const GroupImage& a, const GroupImage& b) { return a.index < b.index; });
  std::sort(image.remaining.begin(), image.remaining.end(),
            [](const GroupRange& a, const GroupRange& b) { return a.begin < b.begin; });
  return image;
}

}  // namespace eum::rt
