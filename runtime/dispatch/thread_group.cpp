// Starts threads, gives them turns, and implements the barrier as a point where threads are left and resumed.
#include "runtime/dispatch/thread_group.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace eum::rt {
namespace {

/// Guest instructions in one turn, about a millisecond: then the next thread of the group has its turn, so
/// that a thread may spin until another one has done something.
constexpr std::uint64_t turn_instructions = std::uint64_t{1} << 20;

/// Limit on guest instructions of groups started at once, so that run_ahead() checks often enough whether to
/// stop.
constexpr std::uint64_t instructions_ahead = 16 * turn_instructions;
/// The threads of a group with barriers begin together only if the allowance suffices for what each is
/// granted. Where it is small, half of it is shared among them, if each share is at least this large; the
/// other half is for further groups.
constexpr std::uint64_t least_share = turn_instructions / 16;

using GroupId = std::array<std::uint32_t, 3>;

GroupId group_id(const WalkerCommand& walk, std::uint64_t index) {
  const auto& groups = walk.groups;
  const auto& first = walk.first_group;
  return {first[0] + static_cast<std::uint32_t>(index % groups[0]),
          first[1] + static_cast<std::uint32_t>(index / groups[0] % groups[1]),
          first[2] + static_cast<std::uint32_t>(index / groups[0] / groups[1])};
}

void next_group_id(const WalkerCommand& walk, GroupId& id) {
  for (unsigned d = 0; d < 3; ++d) {
    if (++id[d] != walk.first_group[d] + walk.groups[d]) return;
    id[d] = walk.first_group[d];
  }
}

}  // namespace

Result<void> ThreadGroup::prepare(const WalkerCommand& walk, ThreadSlots& slots) {
  walk_ = &walk;
  slots_ = &slots;
  const jit::StateLayout layout_before = std::exchange(layout_, walk.code->executable->layout());
  fault_ = {};
  counts_ = {};
  under_way_ = false;
  stopped_.reset();
  restored_bytes_ = 0;
  for (const jit::FileRange& range : walk.code->executable->restored()) restored_bytes_ += range.bytes;

  const std::uint32_t threads = walk.threads_per_group;
  apart_ = !walk.code->waits && (walk.slm_bytes == 0 || threads == 1);
  const std::byte* const states_before = states_.data();
  if (auto reserved = states_.reserve(std::size_t{threads} * layout_.size); !reserved) return reserved;
  if (layout_ != layout_before || states_.data() != states_before) laid_out_ = 0;
  if (auto reserved = images_.reserve(threads * restored_bytes_); !reserved) return reserved;
  threads_.assign(threads, {});
  if (walk.slm_bytes != 0 && (!slm_ || slm_->size() != mem::slm_allocation(walk.slm_bytes))) {
    auto slm = mem::Slm::create(walk.slm_bytes);
    if (!slm) return slm.error();
    slm_ = std::move(*slm);
  }

  const jit::LaunchFacts& promised = walk.code->promised;
  const PerThreadData own{walk.per_thread, walk.per_thread_bytes, walk.code->grf_bytes, walk.last_mask};
  const bool go_on = promised.id_steps.any() && promised.id_steps == id_steps(own, promised.ids);
  ids_go_on_ = go_on ? whole_threads(own, promised.ids) : 0;
  together_ = walk.code->waits;
  has_slots_ = false;
  slot_.assign(threads, 0);
  environments_.assign(threads, {});
  for (std::uint32_t t = 0; t < threads; ++t) {
    jit::Environment& environment = environments_[t];
    environment.surfaces = walk.surfaces->surfaces.data();
    environment.scratch_bytes = walk.scratch.bytes;
    environment.space = walk.space;
    environment.bounds = walk.bounds;
    environment.image_kernels = walk.image_kernels;
    environment.samplers = walk.samplers.data();
    environment.sampler_count = static_cast<std::uint32_t>(walk.samplers.size());
    environment.sampler_table = walk.sampler_table();
    environment.slm = walk.slm_bytes != 0 ? slm_->data() : nullptr;
    environment.slm_bytes = walk.slm_bytes != 0 ? slm_->size() : 0;
  }
  // Code from vISA text finds these ids in r0.
  reads_place_ = false;
  for (const jit::FileRange& range : walk.code->executable->register_use().read)
    reads_place_ |= !walk.code->text && range.offset < walk.code->sr0_offset + 8 &&
                    range.offset + range.bytes > walk.code->sr0_offset;
  for (std::uint32_t t = 0; t < threads; ++t) lay_out(t);
  laid_out_ = std::max(laid_out_, threads);
  return {};
}

void ThreadGroup::set_exclusive(bool exclusive) {
  for (jit::Environment& environment : environments_) environment.exclusive = exclusive;
}

void ThreadGroup::use_slot(std::uint32_t thread, std::uint32_t slot) {
  slot_[thread] = slot;
  const ScratchSpace& scratch = walk_->scratch;
  environments_[thread].scratch =
      scratch.bytes != 0 ? scratch.base + std::size_t{slot} * scratch.bytes : nullptr;
  ThreadPayload(*walk_).write_header(state(thread).begin.header, {}, slot, thread);
  if (reads_place_) put_place(thread, slot);
}

/// Writes sr0 into this thread's state and into the image of its restored slots.
void ThreadGroup::put_place(std::uint32_t thread, std::uint32_t slot) {
  const auto ids = ThreadPayload::place(slot);
  const std::uint32_t at = walk_->code->sr0_offset;
  std::memcpy(layout_.file_of(state(thread)) + at, ids.data(), sizeof ids);
  std::byte* image = images_.data() + thread * restored_bytes_;
  for (const jit::FileRange& range : walk_->code->executable->restored()) {
    if (at >= range.offset && at + sizeof ids <= range.offset + range.bytes)
      std::memcpy(image + (at - range.offset), ids.data(), sizeof ids);
    image += range.bytes;
  }
}

// Each thread of a group has its own state, laid out once and reused for that thread of every group. Before a
// start only those slots are restored that the code reads and may have written.
void ThreadGroup::lay_out(std::uint32_t thread) {
  const ThreadPayload payload(*walk_);
  jit::ThreadState& s = state(thread);
  // Clearing registers that no instruction reads would take a small launch longer than running its threads.
  if (thread < laid_out_)
    walk_->code->executable->clear(s);
  else
    std::memset(static_cast<void*>(&s), 0, layout_.size);
  new (&s) jit::ThreadState;
  s.environment = &environments_[thread];
  std::byte* file = layout_.file_of(s);
  payload.write(file, thread);
  std::byte* image = images_.data() + thread * restored_bytes_;
  s.begin.mask = payload.dispatch_mask(thread);
  s.begin.restored = image;
  for (const jit::FileRange& range : walk_->code->executable->restored()) {
    std::memcpy(image, file + range.offset, range.bytes);
    image += range.bytes;
  }
}

bool ThreadGroup::take_slots() {
  if (has_slots_) return true;
  if (!slots_->take(std::span(slot_).first(together_ ? slot_.size() : 1))) return false;
  has_slots_ = true;
  shared_slot_ = slot_[0];
  for (std::uint32_t t = 0; t < slot_.size(); ++t) use_slot(t, together_ ? slot_[t] : shared_slot_);
  return true;
}

/// Makes the group with this index in the walk the group under way: its first `ended` threads have ended and
/// no other thread has begun.
void ThreadGroup::place(std::uint64_t index, std::uint32_t ended) {
  index_ = index;
  id_ = group_id(*walk_, index);
  ThreadPayload::set_group(headers_[0].bits, id_);
  under_way_ = true;
  const auto count = static_cast<std::uint32_t>(threads_.size());
  for (std::uint32_t t = 0; t < count; ++t) {
    threads_[t] = {t < ended ? ThreadPhase::Ended : ThreadPhase::Unstarted, 0, walk_->budget};
    state(t).barrier_signals = 0;
  }
  fresh_ = ended == 0;
  alive_ = count - ended;
  turn_ = ended;
  slice_ = turn_instructions;
  moved_ = ended != 0;
  completed_ = 0;
}

bool ThreadGroup::begin(std::uint64_t index) {
  if (!take_slots()) return false;
  if (walk_->slm_bytes != 0) slm_->reset();
  place(index, 0);
  return true;
}

/// Prepares the headers of the next groups of the range, as many as are begun at once; returns their number.
std::uint32_t ThreadGroup::head_groups(const GroupRange& range) {
  const auto groups =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(groups_ahead, range.end - range.begin));
  GroupId id = group_id(*walk_, range.begin);
  for (jit::GroupHeader& header : std::span(headers_).first(groups)) {
    ThreadPayload::set_group(header.bits, id);
    next_group_id(*walk_, id);
  }
  return groups;
}

void ThreadGroup::run_ahead(GroupRange& range, Allowance& allowance, jit::FpScope& scope) {
  if (walk_->code->waits) return run_waiting_ahead(range, allowance, scope);
  if (!apart_ || !take_slots()) return;
  const std::uint32_t each = walk_->threads_per_group;
  while (range.begin != range.end && !allowance.over(range.begin)) {
    const std::uint32_t groups = head_groups(range);
    const std::uint64_t granted = std::min({walk_->budget, turn_instructions, allowance.left});
    const Ran ran = run_batch({0, groups * each, true, granted, instructions_ahead}, allowance, scope);
    const std::uint32_t whole = ran.done / each, part = ran.done % each;
    counts_.groups += whole;
    range.begin += whole;
    if (part == 0 && !ran.stopped) continue;
    place(range.begin++, part);
    if (ran.stopped) stopped_ = ran;
    return;
  }
}

/// For code that waits: one group after the other, each with all of its threads.
void ThreadGroup::run_waiting_ahead(GroupRange& range, Allowance& allowance, jit::FpScope& scope) {
  while (range.begin != range.end && !allowance.over(range.begin) && begin(range.begin)) {
    Run run = next_run(allowance);
    run.more_groups = head_groups(range) - 1;
    // Each group after the first begins only if as much is left as all of its threads may use.
    run.most = instructions_ahead + run.granted * run.threads;
    const Ran ran = run_turns(run, allowance, scope);
    range.begin += ran.groups + 1;
    if (ran.stopped) stopped_ = ran;
    if (alive_ != 0) return;
    ++counts_.groups;
    end();
  }
}

/// The threads of a group that run one after the other share a slot. Gives each thread its own slot, so that
/// they can take turns; false if too few are free.
bool ThreadGroup::run_together() {
  if (together_) return true;
  std::vector<std::uint32_t> own(slot_.size() - 1);
  if (!slots_->take(own)) return false;
  // The thread whose turn it is started with the shared slot and keeps it.
  auto next = own.begin();
  for (std::uint32_t t = 0; t < slot_.size(); ++t)
    if (t != turn_) use_slot(t, *next++);
  together_ = true;
  return true;
}

/// Ends the group. The next one begins with as many slots as its kind of code needs.
void ThreadGroup::end() {
  under_way_ = false;
  if (!together_ || walk_->code->waits) return;
  std::erase(slot_, shared_slot_);
  slots_->release(slot_);
  together_ = false;
  slot_.resize(threads_.size());
  for (std::uint32_t t = 0; t < slot_.size(); ++t) use_slot(t, shared_slot_);
}

void ThreadGroup::memory_changed() {
  for (std::uint32_t t = 0; t < threads_.size(); ++t) layout_.forget_regions(state(t));
}

void ThreadGroup::abandon() {
  if (under_way_) end();
  if (has_slots_) slots_->release(std::span(slot_).first(together_ ? slot_.size() : 1));
  has_slots_ = false;
}

ThreadGroup::Ran ThreadGroup::run_batch(const Run& run, Allowance& allowance, jit::FpScope& scope) {
  const auto [first, threads, begin, granted, most, waits, more_groups] = run;
  jit::ThreadBatch batch;
  batch.state = &state(first);
  batch.threads = threads;
  batch.granted = static_cast<std::int64_t>(granted);
  batch.left = static_cast<std::int64_t>(std::min(allowance.left, most));
  const std::int64_t before = batch.left;
  batch.group_threads = walk_->threads_per_group;
  batch.group_states = &state(0);
  if (begin) {
    batch.groups = headers_.data();
    batch.fp_mode = initial_control;
  }
  batch.waits = waits;
  batch.more_groups = more_groups;
  batch.ids_go_on = ids_go_on_;
  const jit::Status status = walk_->code->executable->run(batch, scope);
  const auto used = static_cast<std::uint64_t>(before - batch.left);
  counts_.instructions += used;
  allowance.left -= std::min(allowance.left, used);
  const std::uint32_t done = threads - batch.threads;
  const bool stopped = status == jit::Status::Faulted || status == jit::Status::Paused;
  const std::uint32_t over = more_groups - batch.more_groups;
  counts_.groups += over;
  if (begin) counts_.threads += over * threads + (batch.turns != 0 ? threads : done + (stopped ? 1 : 0));
  return {status, stopped, done, batch.granted, batch.turns, batch.exited, over};
}

/// The threads from turn_ on that can continue together, or begin together.
ThreadGroup::Run ThreadGroup::next_run(const Allowance& allowance) const {
  const auto count = static_cast<std::uint32_t>(threads_.size());
  if (fresh_) {
    std::uint64_t granted = std::min({walk_->budget, slice_, allowance.left});
    const bool waits = walk_->code->waits;
    if (const std::uint64_t share = allowance.left / (2 * count); waits && share >= least_share)
      granted = std::min(granted, share);
    return {.first = 0, .threads = count, .begin = true, .granted = granted, .waits = waits ? 1u : 0u};
  }
  const Thread& first = threads_[turn_];
  const bool begin = first.phase == ThreadPhase::Unstarted;
  std::uint32_t threads = 1;
  std::uint64_t granted = std::min({first.budget, slice_, allowance.left});
  // In the middle of its turn a thread continues alone.
  if (slice_ == turn_instructions) {
    for (; threads < count - turn_; ++threads) {
      const Thread& next = threads_[turn_ + threads];
      if (!can_run(next) || (next.phase == ThreadPhase::Unstarted) != begin) break;
      granted = std::min(granted, next.budget);
    }
  }
  // A whole group whose threads have all reached the same number of barriers may have several turns.
  const bool together = threads == count && std::ranges::all_of(threads_, [&](const Thread& thread) {
                          return thread.waits == first.waits;
                        });
  const std::uint32_t waits = walk_->code->waits && together ? first.waits + 1 : 0;
  return {turn_, threads, begin, granted, INT64_MAX, waits};
}

/// Runs the threads in one batch. Afterwards turn_ is the thread that ran last.
ThreadGroup::Ran ThreadGroup::run_turns(const Run& run, Allowance& allowance, jit::FpScope& scope) {
  fresh_ = false;
  const Ran ran = run_batch(run, allowance, scope);
  if (ran.groups != 0) {
    index_ += ran.groups;
    id_ = group_id(*walk_, index_);
    // Threads that have not begun still have the states left by the previous group.
    if (ran.turns == 0)
      for (std::uint32_t t = ran.done + (ran.stopped ? 1 : 0); t < threads_.size(); ++t)
        state(t).barrier_signals = 0;
  }
  if (ran.turns != 0) completed_ = run.waits - 1 + ran.turns;
  account(turn_, ran);
  moved_ = true;
  turn_ += ran.stopped ? ran.done : ran.done - 1;
  return ran;
}

/// Updates the threads from `first` on that the batch has run with ran.granted instructions each: they have
/// exited or reached a barrier, except for the one that stopped.
void ThreadGroup::account(std::uint32_t first, const Ran& ran) {
  if (ran.exited == alive_) {  // the threads' phases are not needed any more
    alive_ = 0;
    return;
  }
  if (!walk_->code->waits) {
    for (Thread& thread : std::span(threads_).subspan(first, ran.done)) thread.phase = ThreadPhase::Ended;
    alive_ -= ran.done;
    return;
  }
  const auto all = static_cast<std::uint32_t>(threads_.size());
  const std::uint32_t end = ran.turns != 0 ? all : first + ran.done;
  for (std::uint32_t t = first; t < end; ++t) {
    Thread& thread = threads_[t];
    const jit::ThreadState& s = state(t);
    thread.waits += ran.turns;
    if (t == first + ran.done && ran.stopped) continue;
    const auto used = static_cast<std::uint64_t>(ran.granted - s.budget);
    thread.budget -= std::min(thread.budget, used);
    if (t >= first + ran.done || s.stopped == jit::Status::Waiting) {
      thread.phase = ThreadPhase::Waiting;
      if (t < first + ran.done) ++thread.waits;
    } else {
      thread.phase = ThreadPhase::Ended;
      --alive_;
    }
  }
}

/// Passes the turn to the next thread; false after a round in which no thread could run.
bool ThreadGroup::next_turn() {
  slice_ = turn_instructions;
  if (++turn_ != threads_.size()) return true;
  turn_ = 0;
  // A barrier completes when every thread of the group has signalled it, whether it then waits or ends; each
  // completion lets every thread pass one wait.
  completed_ = ~0u;
  for (std::uint32_t t = 0; t < threads_.size(); ++t)
    completed_ = std::min(completed_, state(t).barrier_signals);
  return std::exchange(moved_, false);
}

/// The thread whose turn it is has paused or faulted. No outcome: another turn follows, or the rest of this
/// one.
std::optional<ThreadGroup::Outcome> ThreadGroup::thread_stopped(const Ran& ran) {
  Thread& thread = threads_[turn_];
  const auto used = static_cast<std::uint64_t>(ran.granted - state(turn_).budget);
  fresh_ = false;
  thread.phase = ThreadPhase::Running;
  thread.budget -= std::min(thread.budget, used);
  slice_ -= std::min(slice_, used);
  moved_ = true;
  if (ran.status == jit::Status::Faulted) return faulted(GuestFault::Cause::Instruction, turn_);
  if (thread.budget == 0) return faulted(GuestFault::Cause::Budget, turn_);
  if (slice_ != 0) return {};  // the allowance is used up
  if (run_together()) {
    next_turn();
  } else {
    slice_ = turn_instructions;
  }
  return {};
}

ThreadGroup::Outcome ThreadGroup::advance(Allowance& allowance, jit::FpScope& scope) {
  if (const auto ran = std::exchange(stopped_, std::nullopt))
    if (const auto outcome = thread_stopped(*ran)) return *outcome;
  while (alive_ != 0) {
    if (can_run(threads_[turn_])) {
      if (allowance.over(index_)) return Outcome::Paused;
      if (const Ran ran = run_turns(next_run(allowance), allowance, scope); ran.stopped) {
        if (const auto outcome = thread_stopped(ran)) return *outcome;
        continue;
      }
      if (alive_ == 0) break;
    }
    if (!next_turn()) return faulted_by_deadlock();
  }
  ++counts_.groups;
  end();
  return Outcome::Done;
}

ThreadGroup::Outcome ThreadGroup::faulted(GuestFault::Cause cause, std::uint32_t thread) {
  fault_ = {cause, state(thread).fault, id_, thread, {}, 0};
  return Outcome::Faulted;
}

ThreadGroup::Outcome ThreadGroup::faulted_by_deadlock() {
  fault_ = {};
  fault_.cause = GuestFault::Cause::Deadlock;
  fault_.group = id_;
  const auto first = std::find_if(threads_.begin(), threads_.end(),
                                  [](const Thread& t) { return t.phase != ThreadPhase::Ended; });
  fault_.thread = static_cast<std::uint32_t>(first - threads_.begin());
  for (std::uint32_t t = 0; t < threads_.size(); ++t)
    if (threads_[t].phase == ThreadPhase::Waiting) fault_.waiters.push_back({t, thread_image(t).ip});
  fault_.ended = static_cast<std::uint32_t>(threads_.size()) - alive_;
  return Outcome::Faulted;
}

jit::ThreadImage ThreadGroup::thread_image(std::uint32_t thread) {
  jit::ThreadState& s = state(thread);
  const bool at_fault = fault_.cause == GuestFault::Cause::Instruction &&
                        s.fault.kind != jit::FaultKind::None && fault_.thread == thread;
  return walk_->code->executable->save(s, at_fault ? jit::Status::Faulted : jit::Status::Paused);
}

GroupImage ThreadGroup::save() {
  GroupImage image{index_, turn_, slice_, completed_, together_, {}, {}};
  for (std::uint32_t t = 0; t < threads_.size(); ++t) {
    GroupThreadImage& thread = image.threads.emplace_back();
    thread = {threads_[t].phase,        slot_[t],           threads_[t].waits,
              state(t).barrier_signals, threads_[t].budget, {}};
    if (thread.phase == ThreadPhase::Running || thread.phase == ThreadPhase::Waiting)
      thread.state = thread_image(t);
  }
  if (walk_->slm_bytes != 0) image.slm.assign(slm_->data(), slm_->data() + slm_->size());
  return image;
}

Result<void> ThreadGroup::restore(const GroupImage& image) {
  const std::uint32_t slm_bytes = walk_->slm_bytes != 0 ? slm_->size() : 0;
  if (image.index >= walk_->group_count())
    return error("group image: expected one of {} groups, found number {}", walk_->group_count(),
                 image.index);
  if (image.threads.size() != threads_.size() || image.turn >= threads_.size())
    return error("group image: expected {} threads and the turn of one of them, found {} and {}",
                 threads_.size(), image.threads.size(), image.turn);
  if (image.slm.size() != slm_bytes)
    return error("group image: expected {} bytes of shared local memory, found {}", slm_bytes,
                 image.slm.size());
  if (walk_->code->waits && !image.together)
    return error("group image: expected a slot for each thread of code that waits");
  // Code ignores all other channels, and so does not check their addresses.
  const ThreadCode& code = *walk_->code;
  const std::uint32_t channels =
      ir::lane_mask(code.promised.channels != 0 ? code.promised.channels : code.simd);
  for (const GroupThreadImage& thread : image.threads) {
    std::uint32_t found = thread.state.execution_mask;
    for (const std::uint32_t parked : thread.state.parked) found |= parked;
    if ((found & ~channels) != 0)
      return error("group image: expected threads with channels of {:#x}, found {:#x}", channels, found);
  }

  abandon();
  stopped_.reset();
  has_slots_ = true;
  together_ = image.together;
  for (std::uint32_t t = 0; t < threads_.size(); ++t) use_slot(t, image.threads[together_ ? t : 0].slot);
  shared_slot_ = slot_[0];
  place(image.index, 0);
  fresh_ = false;
  turn_ = image.turn;
  slice_ = std::min(image.slice, turn_instructions);
  completed_ = image.completed;
  moved_ = true;
  alive_ = 0;
  std::copy(image.slm.begin(), image.slm.end(), slm_bytes != 0 ? slm_->data() : nullptr);
  for (std::uint32_t t = 0; t < threads_.size(); ++t) {
    const GroupThreadImage& thread = image.threads[t];
    threads_[t] = {thread.phase, thread.waits, thread.budget};
    alive_ += thread.phase != ThreadPhase::Ended ? 1 : 0;
    state(t).barrier_signals = thread.barrier_signals;
    if (thread.phase != ThreadPhase::Running && thread.phase != ThreadPhase::Waiting) continue;
    if (auto restored = walk_->code->executable->restore(thread.state, state(t)); !restored) return restored;
  }
  return {};
}

}  // namespace eum::rt
