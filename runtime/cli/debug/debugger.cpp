// The debugger decides which thread runs next: between instructions the group is an image, from which a new
// dispatch continues whenever another thread's turn comes. While one thread continues, its dispatch is kept.
#include "runtime/cli/debug/debugger.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "frontend/gen/instruction.hpp"
#include "memory/slm.hpp"
#include "runtime/dispatch/thread_payload.hpp"

namespace eum::cli::debug {

std::optional<Failure> Debugger::begin() {
  const auto code = session_.module().code(*step_.kernel);
  if (!code) return Failure{ExitCode::BadInput, code.error()};
  code_ = *code;
  for (std::size_t at = 0; at < code_.bytes.size();) {
    const auto instruction = gen::decode(code_.bytes, at, code_.family);
    starts_.push_back(static_cast<std::uint32_t>(at));
    kinds_.resize(at / unit_bytes + 1, Kind::Other);
    if (instruction &&
        (instruction->opcode == gen::Opcode::call || instruction->opcode == gen::Opcode::calla))
      kinds_.back() = Kind::Call;
    if (instruction && instruction->opcode == gen::Opcode::ret) kinds_.back() = Kind::Return;
    at += instruction                            ? instruction->length
          : code_.bytes.size() - at < unit_bytes ? unit_bytes
                                                 : gen::length_at(code_.bytes, at, code_.family);
  }
  auto walks = step_.launch->commands();
  if (!walks) return Failure{ExitCode::Internal, walks.error()};
  walks_ = std::move(*walks);
  walk_ = 0;
  if (auto begun = begin_walk(); !begun) return Failure{ExitCode::Internal, begun.error()};
  return std::nullopt;
}

rt::WalkerCounts Debugger::counts() const {
  rt::WalkerCounts counts = counts_;
  if (dispatch_) counts += dispatch_->counts();
  return counts;
}

/// Begins the next walk that has groups; if there is none, the kernel is over.
Result<void> Debugger::begin_walk() {
  for (; walk_ < walks_.size(); ++walk_) {
    const std::uint64_t groups = walks_[walk_].group_count();
    if (groups == 0) continue;
    saved_counts_ = {};
    remaining_.clear();
    return begin_group(0, groups);
  }
  walk_ = walks_.size() - 1;
  over_ = true;
  group_.reset();
  return {};
}

/// Begins group `index`, in which no thread has begun; `last` - 1 is the last group of the walk.
Result<void> Debugger::begin_group(std::uint64_t index, std::uint64_t last) {
  const rt::WalkerCommand& walk = walks_[walk_];
  rt::GroupImage group;
  group.index = index;
  group.together = true;
  group.threads.resize(walk.threads_per_group);
  for (std::uint32_t t = 0; t < walk.threads_per_group; ++t) {
    group.threads[t].slot = t;
    group.threads[t].budget = walk.budget;
  }
  if (walk.slm_bytes != 0) group.slm.resize(mem::slm_allocation(walk.slm_bytes));
  group_ = std::move(group);
  if (index + 1 < last) remaining_.assign(1, {index + 1, last});
  thread_ = 0;
  frames_.assign(walk.threads_per_group, {});
  return restart();
}

/// Creates a dispatch that continues from group_.
Result<void> Debugger::restart() {
  const std::uint64_t whole_slice = ~std::uint64_t{0};
  group_->turn = thread_;
  group_->slice = whole_slice;
  rt::DispatchImage image;
  image.groups.push_back(*group_);
  image.remaining = remaining_;
  image.counts = saved_counts_;
  dispatch_.reset();  // returns its thread group to the pool first
  auto dispatch = rt::Dispatch::create(session_.device().workers(), walks_[walk_], &image);
  if (!dispatch) return dispatch.error();
  dispatch_ = std::move(*dispatch);
  stale_ = false;
  return {};
}

/// Brings group_ up to date.
Result<void> Debugger::look() {
  if (!stale_) return {};
  rt::DispatchImage image = dispatch_->save();
  stale_ = false;
  if (image.groups.empty()) return error("no thread group is under way");
  group_ = std::move(image.groups[0]);
  remaining_ = std::move(image.remaining);
  saved_counts_ = image.counts;
  return {};
}

bool Debugger::can_run(std::uint32_t thread) const {
  // A barrier is open once every thread has signalled it, including threads that have ended.
  std::uint32_t completed = ~0u;
  for (const rt::GroupThreadImage& t : group_->threads) completed = std::min(completed, t.barrier_signals);
  const rt::GroupThreadImage& t = group_->threads[thread];
  return t.phase != rt::ThreadPhase::Ended && t.waits <= completed;
}

Result<void> Debugger::choose(std::uint64_t thread) {
  if (over_) return error("the kernel is over");
  if (auto seen = look(); !seen) return seen;
  if (thread >= group_->threads.size())
    return error("expected one of the group's {} threads, found {}", group_->threads.size(), thread);
  if (group_->threads[thread].phase == rt::ThreadPhase::Ended) return error("thread {} has ended", thread);
  if (thread == thread_) return {};
  thread_ = static_cast<std::uint32_t>(thread);
  return restart();
}

std::array<std::uint32_t, 3> Debugger::group_id() const {
  const rt::WalkerCommand& walk = walks_[walk_];
  const std::uint64_t index = group();
  return {walk.first_group[0] + static_cast<std::uint32_t>(index % walk.groups[0]),
          walk.first_group[1] + static_cast<std::uint32_t>(index / walk.groups[0] % walk.groups[1]),
          walk.first_group[2] + static_cast<std::uint32_t>(index / walk.groups[0] / walk.groups[1])};
}

Result<jit::ThreadImage> Debugger::image() {
  if (faulted_) return *faulted_;
  if (over_) return error("the kernel is over");
  if (auto seen = look(); !seen) return seen.error();
  const rt::GroupThreadImage& thread = group_->threads[thread_];
  if (thread.phase == rt::ThreadPhase::Ended) return error("thread {} has ended", thread_);
  if (thread.phase != rt::ThreadPhase::Unstarted) return thread.state;
  // The state that ThreadGroup gives a thread that begins.
  const rt::WalkerCommand& walk = walks_[walk_];
  const jit::Executable& executable = *walk.code->executable;
  const jit::StateLayout& layout = executable.layout();
  mem::AlignedBytes memory;
  if (auto reserved = memory.reserve(layout.size); !reserved) return reserved.error();
  std::memset(memory.data(), 0, layout.size);
  auto& state = *new (memory.data()) jit::ThreadState;
  const rt::ThreadPayload payload(walk);
  payload.write(layout.file_of(state), thread_);
  const auto header = payload.header(group_id(), thread.slot, thread_);
  std::memcpy(layout.file_of(state), header.data(), sizeof header);
  layout.masks_of(state)[0] = payload.dispatch_mask(thread_);
  return executable.save(state, jit::Status::Paused);
}

Result<std::uint32_t> Debugger::ip() {
  if (stale_ && !over_) return ip_;
  const auto now = image();
  if (!now) return now.error();
  return now->ip;
}

bool Debugger::is_start(std::uint32_t ip) const {
  return std::binary_search(starts_.begin(), starts_.end(), ip);
}

/// Updates the call stack of this thread.
void Debugger::follow(std::uint32_t from, std::uint32_t to) {
  std::vector<Frame>& frames = frames_[thread_];
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), from);
  const std::uint32_t behind = next == starts_.end() ? ~std::uint32_t{0} : *next;
  if (kind_at(from) == Kind::Call && to != behind) frames.push_back({from, behind});
  if (kind_at(from) == Kind::Return && !frames.empty() && frames.back().back == to) frames.pop_back();
}

Result<Stop> Debugger::finished(rt::Dispatch::Progress progress) {
  if (progress == rt::Dispatch::Progress::Faulted) {
    const auto& thread = dispatch_->faulted_thread();
    const auto& fault = dispatch_->fault();
    fault_ = rt::report(*fault, code_, step_.launch->translated(),
                        {&session_.device().memory(), thread ? thread->ip : 0, walks_[walk_].budget});
    faulted_ = thread;
    thread_ = fault->thread;
    over_ = true;
    stale_ = false;
    return Stop::Faulted;
  }
  counts_ += dispatch_->counts();
  dispatch_.reset();
  ++walk_;
  stale_ = false;
  if (auto begun = begin_walk(); !begun) return begun.error();
  return over_ ? Stop::Ended : Stop::Switched;
}

/// Executes one instruction of this thread. Returns a stop if the thread cannot continue.
Result<std::optional<Stop>> Debugger::execute_one() {
  const auto from = ip();
  if (!from) return from.error();
  const std::uint64_t group = this->group();
  if (!stale_) {
    // Barriers may have opened in the meantime; in a deadlock the dispatch reports it.
    std::uint32_t completed = ~0u;
    for (const rt::GroupThreadImage& t : group_->threads) completed = std::min(completed, t.barrier_signals);
    if (group_->completed != completed) {
      group_->completed = completed;
      if (auto ready = restart(); !ready) return ready.error();
    }
  }
  const auto progress = dispatch_->step(1);
  if (!progress) return progress.error();
  if (*progress != rt::Dispatch::Progress::Paused) {
    const auto stop = finished(*progress);
    if (!stop) return stop.error();
    return std::optional(*stop);
  }
  stale_ = true;
  const auto now = dispatch_->place();
  if (now && now->group == group && now->thread == thread_ && now->phase == rt::ThreadPhase::Running) {
    follow(*from, now->ip);
    ip_ = now->ip;
    return std::optional<Stop>();
  }
  if (auto seen = look(); !seen) return seen.error();
  if (group_->index != group) {
    const std::uint64_t last = remaining_.empty() ? group_->index + 1 : remaining_.back().end;
    if (auto begun = begin_group(group_->index, last); !begun) return begun.error();
    return std::optional(Stop::Switched);
  }
  const rt::GroupThreadImage& thread = group_->threads[thread_];
  if (can_run(thread_)) {
    // Its turn is over, or the barrier at which it waited has opened.
    if (thread.phase == rt::ThreadPhase::Running) follow(*from, thread.state.ip);
    if (auto ready = restart(); !ready) return ready.error();
    return std::optional<Stop>();
  }
  for (std::uint32_t i = 1; i < group_->threads.size(); ++i) {
    const auto other = static_cast<std::uint32_t>((thread_ + i) % group_->threads.size());
    if (!can_run(other)) continue;
    thread_ = other;
    break;
  }
  if (auto ready = restart(); !ready) return ready.error();
  return std::optional(Stop::Switched);
}

Result<Stop> Debugger::run(const Reached& reached) {
  interrupted_ = false;
  session_.watch().begin(std::nullopt, [this] { interrupted_ = true; });
  const auto go = [&]() -> Result<Stop> {
    for (;;) {
      const auto stop = execute_one();
      if (!stop) return stop.error();
      if (*stop) return **stop;
      if (reached()) return Stop::Stepped;
      const auto at = ip();
      if (!at) return at.error();
      if (breakpoints_.count(*at) != 0) return Stop::Breakpoint;
      if (interrupted_) return Stop::Interrupted;
    }
  };
  auto stop = go();
  session_.watch().end();
  return stop;
}

/// Runs without examining instructions, some milliseconds at a time.
Result<Stop> Debugger::run_whole() {
  constexpr std::uint64_t portion = std::uint64_t{1} << 22;
  for (;;) {
    const auto progress = dispatch_->step(portion);
    if (!progress) return progress.error();
    if (*progress != rt::Dispatch::Progress::Paused) {
      const auto stop = finished(*progress);
      if (!stop || *stop != Stop::Switched) return stop;
    } else if (!interrupted_) {
      continue;
    } else {
      stale_ = true;
      const auto now = dispatch_->place();
      if (auto seen = look(); !seen) return seen.error();
      thread_ = now ? now->thread : 0;
      frames_.assign(group_->threads.size(), {});
      give_slots();
      if (auto ready = restart(); !ready) return ready.error();
    }
    if (interrupted_) return Stop::Interrupted;
  }
}

/// Gives each thread its own slot: threads that ran one after the other shared that of the current thread.
void Debugger::give_slots() {
  if (group_->together) return;
  group_->together = true;
  std::uint32_t next = 0;
  for (std::uint32_t t = 0; t < group_->threads.size(); ++t) {
    if (t == thread_) continue;
    if (next == group_->threads[thread_].slot) ++next;
    group_->threads[t].slot = next++;
  }
}

Result<Stop> Debugger::run_all() {
  const bool calls = std::find(kinds_.begin(), kinds_.end(), Kind::Call) != kinds_.end();
  if (breakpoints_.empty() && !calls) {
    interrupted_ = false;
    session_.watch().begin(std::nullopt, [this] { interrupted_ = true; });
    auto stop = run_whole();
    session_.watch().end();
    return stop;
  }
  for (;;) {
    const auto stop = run([] { return false; });
    if (!stop || *stop != Stop::Switched) return stop;
    const auto at = ip();
    if (!at) return at.error();
    if (breakpoints_.count(*at) != 0) return Stop::Breakpoint;
  }
}

}  // namespace eum::cli::debug
