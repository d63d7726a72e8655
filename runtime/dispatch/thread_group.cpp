// Starting threads, their turns, and the barrier as a place where they are left and resumed.
#include "runtime/dispatch/thread_group.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace eum::rt {
namespace {

constexpr std::uint32_t slot_bytes = 32;  // of the register file, for bringing registers back

/// Guest instructions of one turn, about a millisecond: after it the next thread of the group has its turn,
/// so that a thread may spin on what another one does.
constexpr std::uint64_t turn_instructions = std::uint64_t{1} << 20;

// A run is a few slots long: a call of memcpy with a length would cost more than it copies.
void copy_slots(std::byte* to, const std::byte* from, std::uint32_t slots) {
  for (; slots != 0; --slots, to += slot_bytes, from += slot_bytes) std::memcpy(to, from, slot_bytes);
}

}  // namespace

Result<void> AlignedBytes::reserve(std::size_t bytes) {
  if (bytes <= size_) return {};
  auto* block = static_cast<std::byte*>(::operator new(bytes, alignment, std::nothrow));
  if (block == nullptr) return host_error("the host has no {} bytes for the state of threads", bytes);
  bytes_.reset(block);
  size_ = bytes;
  return {};
}

Result<void> ThreadGroup::prepare(const WalkerCommand& walk, ThreadSlots& slots) {
  walk_ = &walk;
  slots_ = &slots;
  layout_ = walk.code->executable->layout();
  fault_ = {};
  counts_ = {};
  under_way_ = false;
  find_restored();

  const std::uint32_t threads = walk.threads_per_group;
  if (auto reserved = states_.reserve(std::size_t{threads} * layout_.size); !reserved) return reserved;
  if (auto reserved = images_.reserve(std::size_t{threads} * restored_slots_ * slot_bytes); !reserved)
    return reserved;
  threads_.assign(threads, {});
  if (walk.slm_bytes != 0 && (!slm_ || slm_->size() != mem::slm_allocation(walk.slm_bytes))) {
    auto slm = mem::Slm::create(walk.slm_bytes);
    if (!slm) return slm.error();
    slm_ = std::move(*slm);
  }

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
    lay_out(t);
  }
  return {};
}

void ThreadGroup::use_slot(std::uint32_t thread, std::uint32_t slot) {
  slot_[thread] = slot;
  const ScratchSpace& scratch = walk_->scratch;
  environments_[thread].scratch =
      scratch.bytes != 0 ? scratch.base + std::size_t{slot} * scratch.bytes : nullptr;
}

// Each thread of a group has a state of its own, laid out once and used for that thread of every group.
// Before a start only those slots are brought back that the code reads and may have written: what a thread
// does never depends on the thread before it.
void ThreadGroup::find_restored() {
  restored_.clear();
  restored_slots_ = 0;
  for (const jit::FileRange& range : walk_->code->restored) {
    const std::uint32_t done =
        restored_.empty() ? 0 : restored_.back().to + restored_.back().slots * slot_bytes;
    const std::uint32_t to = std::max(done, range.offset / slot_bytes * slot_bytes);
    const std::uint32_t end = range.offset + range.bytes;
    if (end <= to) continue;
    restored_.push_back({to, (end - to + slot_bytes - 1) / slot_bytes});
    restored_slots_ += restored_.back().slots;
  }
}

void ThreadGroup::lay_out(std::uint32_t thread) {
  jit::ThreadState& s = state(thread);
  std::memset(static_cast<void*>(&s), 0, layout_.size);
  new (&s) jit::ThreadState;
  s.environment = &environments_[thread];
  std::byte* file = layout_.file_of(s);
  ThreadPayload(*walk_).write(file, thread);
  std::byte* image = images_.data() + std::size_t{thread} * restored_slots_ * slot_bytes;
  for (const Run& run : restored_) {
    copy_slots(image, file + run.to, run.slots);
    image += run.slots * slot_bytes;
  }
}

void ThreadGroup::start(std::uint32_t thread) {
  jit::ThreadState& s = state(thread);
  s.resume = 0;
  s.barrier_signals = 0;
  s.fp_mode = initial_control;
  std::memset(layout_.flags_of(s), 0, layout_.file - layout_.flags);
  std::uint32_t* masks = layout_.masks_of(s);
  for (std::uint32_t done = layout_.masks; done < layout_.size; done += 64)
    std::memset(reinterpret_cast<std::byte*>(&s) + done, 0, 64);
  const ThreadPayload payload(*walk_);
  masks[0] = payload.dispatch_mask(thread);

  std::byte* file = layout_.file_of(s);
  const std::byte* image = images_.data() + std::size_t{thread} * restored_slots_ * slot_bytes;
  for (const Run& run : restored_) {
    copy_slots(file + run.to, image, run.slots);
    image += run.slots * slot_bytes;
  }
  payload.write(file, id_, slot_[thread]);
  const jit::Environment& environment = *s.environment;
  if (environment.scratch_bytes != 0) std::memset(environment.scratch, 0, environment.scratch_bytes);
  threads_[thread].phase = ThreadPhase::Running;
  ++counts_.threads;
}

void ThreadGroup::place(std::uint64_t index) {
  const auto& groups = walk_->groups;
  const auto& first = walk_->first_group;
  index_ = index;
  id_ = {first[0] + static_cast<std::uint32_t>(index % groups[0]),
         first[1] + static_cast<std::uint32_t>(index / groups[0] % groups[1]),
         first[2] + static_cast<std::uint32_t>(index / groups[0] / groups[1])};
  under_way_ = true;
}

bool ThreadGroup::begin(std::uint64_t index) {
  if (!has_slots_) {
    if (!slots_->take(std::span(slot_).first(together_ ? slot_.size() : 1))) return false;
    has_slots_ = true;
    shared_slot_ = slot_[0];
    for (std::uint32_t t = 0; t < slot_.size(); ++t) use_slot(t, together_ ? slot_[t] : shared_slot_);
  }
  place(index);
  if (walk_->slm_bytes != 0) slm_->reset();
  for (Thread& thread : threads_) thread = {ThreadPhase::Unstarted, 0, walk_->budget};
  for (std::uint32_t t = 0; t < threads_.size(); ++t) state(t).barrier_signals = 0;
  alive_ = walk_->threads_per_group;
  turn_ = 0;
  slice_ = turn_instructions;
  moved_ = false;
  completed_ = 0;
  return true;
}

/// The threads of a group that run one after the other share a slot. Gives each one its own, so that they can
/// take turns; false where too few are free now.
bool ThreadGroup::run_together() {
  if (together_) return true;
  std::vector<std::uint32_t> own(slot_.size() - 1);
  if (!slots_->take(own)) return false;
  // The thread whose turn it is has started with the shared slot and keeps it.
  auto next = own.begin();
  for (std::uint32_t t = 0; t < slot_.size(); ++t)
    if (t != turn_) use_slot(t, *next++);
  together_ = true;
  return true;
}

/// The group is over. The next one begins with as many slots as its kind of code needs.
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
  for (std::uint32_t t = 0; t < threads_.size(); ++t) state(t).region_size = 0;
}

void ThreadGroup::abandon() {
  if (under_way_) end();
  if (has_slots_) slots_->release(std::span(slot_).first(together_ ? slot_.size() : 1));
  has_slots_ = false;
}

jit::Status ThreadGroup::run(std::uint32_t thread, Allowance& allowance, jit::FpScope& scope) {
  jit::ThreadState& s = state(thread);
  std::uint64_t& budget = threads_[thread].budget;
  const auto granted = static_cast<std::int64_t>(std::min({budget, slice_, allowance.left}));
  s.budget = granted;
  const jit::Status status = walk_->code->executable->run(s, scope);
  const auto used = static_cast<std::uint64_t>(granted - s.budget);
  counts_.instructions += used;
  budget -= std::min(budget, used);
  slice_ -= std::min(slice_, used);
  allowance.left -= std::min(allowance.left, used);
  return status;
}

/// Gives the turn to the next thread; false after a round in which none could run.
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

ThreadGroup::Outcome ThreadGroup::advance(Allowance& allowance, jit::FpScope& scope) {
  while (alive_ != 0) {
    Thread& thread = threads_[turn_];
    if (can_run(thread)) {
      if (allowance.over(index_)) return Outcome::Paused;
      if (thread.phase == ThreadPhase::Unstarted) start(turn_);
      thread.phase = ThreadPhase::Running;
      moved_ = true;
      switch (run(turn_, allowance, scope)) {
        case jit::Status::Exited:
          thread.phase = ThreadPhase::Ended;
          --alive_;
          break;
        case jit::Status::Waiting:
          thread.phase = ThreadPhase::Waiting;
          ++thread.waits;
          break;
        case jit::Status::Faulted:
          return faulted(GuestFault::Cause::Instruction, turn_);
        case jit::Status::Paused:
          if (thread.budget == 0) return faulted(GuestFault::Cause::Budget, turn_);
          if (slice_ != 0) continue;  // the allowance is over
          if (!run_together()) {
            slice_ = turn_instructions;
            continue;
          }
          break;
      }
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

  abandon();
  has_slots_ = true;
  together_ = image.together;
  for (std::uint32_t t = 0; t < threads_.size(); ++t) use_slot(t, image.threads[together_ ? t : 0].slot);
  shared_slot_ = slot_[0];
  place(image.index);
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
