// Starting threads, and the barrier as a place where they are left and resumed.
#include "runtime/thread_group.hpp"

#include <algorithm>
#include <cstring>

namespace eum::rt {
namespace {

constexpr std::uint32_t slot_bytes = 32;

/// Guest instructions after which a thread looks whether it is still wanted.
constexpr std::uint64_t slice = std::uint64_t{1} << 24;

// A run is a few slots long: a call of memcpy with a length would cost more than it copies.
void copy_slots(std::byte* to, const std::byte* from, std::uint32_t slots) {
  for (; slots != 0; --slots, to += slot_bytes, from += slot_bytes) std::memcpy(to, from, slot_bytes);
}

}  // namespace

Result<void> AlignedBytes::reserve(std::size_t bytes) {
  if (bytes <= size_) return {};
  auto* block = static_cast<std::byte*>(::operator new(bytes, alignment, std::nothrow));
  if (block == nullptr) return error("the host has no {} bytes for the state of threads", bytes);
  bytes_.reset(block);
  size_ = bytes;
  return {};
}

Result<void> GroupRunner::begin(const WalkerCommand& walk, std::uint32_t first_slot) {
  walk_ = &walk;
  layout_ = walk.code->executable->layout();
  first_slot_ = first_slot;
  all_channels_ = walk.code->simd >= 32 ? ~0u : (1u << walk.code->simd) - 1;
  fault_ = {};
  counts_ = {};
  plan();

  const std::uint32_t threads = walk.threads_per_group, concurrent = concurrent_threads(walk);
  if (auto reserved = states_.reserve(std::size_t{threads} * layout_.size); !reserved) return reserved;
  if (auto reserved = images_.reserve(std::size_t{threads} * restored_slots_ * slot_bytes); !reserved)
    return reserved;
  progress_.resize(walk.code->waits ? threads : 0);

  if (walk.slm_bytes != 0) {
    if (!slm_ || slm_->size() != mem::slm_allocation(walk.slm_bytes)) {
      auto slm = mem::Slm::create(walk.slm_bytes, mem::SlmInit::Zero);
      if (!slm) return slm.error();
      slm_ = std::move(*slm);
    }
  }
  environments_.resize(concurrent);
  for (std::uint32_t i = 0; i < concurrent; ++i) {
    const std::size_t scratch_offset = std::size_t{first_slot + i} * walk.scratch.bytes;
    std::byte* scratch = walk.scratch.bytes != 0 ? walk.scratch.base + scratch_offset : nullptr;
    jit::Environment& environment = environments_[i] = {};
    environment.surfaces = walk.surfaces->surfaces.data();
    environment.scratch = scratch;
    environment.scratch_bytes = walk.scratch.bytes;
    environment.space = walk.space;
    environment.slm = walk.slm_bytes != 0 ? slm_->data() : nullptr;
    environment.slm_bytes = walk.slm_bytes != 0 ? slm_->size() : 0;
  }
  for (std::uint32_t t = 0; t < threads; ++t) fill(t);
  return {};
}

// Each thread of a group has a state of its own, laid out once and used for that thread of every group.
// Before a start only those slots are brought back that the code reads and may have written: what a thread
// does never depends on the thread before it.
void GroupRunner::plan() {
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

/// Lays out the state and the image of a thread. Group ids follow in start().
void GroupRunner::fill(std::uint32_t thread) {
  jit::ThreadState& s = state(thread);
  std::memset(static_cast<void*>(&s), 0, layout_.size);
  const std::uint32_t place = walk_->code->waits ? thread : 0;  // among the threads under way
  new (&s) jit::ThreadState;
  s.environment = &environments_[place];

  std::byte* file = layout_.file_of(s);
  // GPGPU thread payload: r0.5 scratch offset in bits 31:10, thread slot (FFTID) in bits 8:0.
  std::array<std::uint32_t, 8> header = walk_->header;
  const std::uint32_t slot = first_slot_ + place;
  header[5] |= (walk_->scratch.address + slot * walk_->scratch.bytes) | slot;
  std::memcpy(file, header.data(), sizeof header);
  const std::size_t own = walk_->per_thread_bytes;
  if (own != 0) std::memcpy(file + slot_bytes, walk_->per_thread.data() + thread * own, own);
  if (const auto& cross = walk_->cross_thread; !cross.empty())
    std::memcpy(file + slot_bytes + own, cross.data(), cross.size());
  const std::uint32_t mask =
      thread + 1 == walk_->threads_per_group ? all_channels_ & walk_->last_mask : all_channels_;
  std::memcpy(file + walk_->code->cr0_offset, &initial_control, sizeof initial_control);
  std::memcpy(file + walk_->code->sr0_offset + 8, &mask, sizeof mask);  // sr0.2: dispatch mask

  std::byte* image = images_.data() + std::size_t{thread} * restored_slots_ * slot_bytes;
  for (const Run& run : restored_) {
    copy_slots(image, file + run.to, run.slots);
    image += run.slots * slot_bytes;
  }
}

void GroupRunner::start(std::uint32_t thread) {
  jit::ThreadState& s = state(thread);
  s.resume = 0;
  s.barrier_signals = 0;
  s.fp_mode = initial_control;
  std::memset(layout_.flags_of(s), 0, layout_.file - layout_.flags);
  std::uint32_t* masks = layout_.masks_of(s);
  for (std::uint32_t done = layout_.masks; done < layout_.size; done += 64)
    std::memset(reinterpret_cast<std::byte*>(&s) + done, 0, 64);
  masks[0] = thread + 1 == walk_->threads_per_group ? all_channels_ & walk_->last_mask : all_channels_;

  std::byte* file = layout_.file_of(s);
  const std::byte* image = images_.data() + std::size_t{thread} * restored_slots_ * slot_bytes;
  for (const Run& run : restored_) {
    copy_slots(file + run.to, image, run.slots);
    image += run.slots * slot_bytes;
  }
  // GPGPU thread payload: r0.1, r0.6, r0.7 thread group id.
  std::memcpy(file + 4, &group_[0], 4);
  std::memcpy(file + 24, &group_[1], 8);
  const jit::Environment& environment = *s.environment;
  if (environment.scratch_bytes != 0) std::memset(environment.scratch, 0, environment.scratch_bytes);
}

// Paused: the budget is used up, or the thread is no longer wanted; the caller tells by the budget left.
jit::Status GroupRunner::advance(jit::ThreadState& s, std::uint64_t& budget, const Group& group) {
  for (;;) {
    const auto granted = static_cast<std::int64_t>(std::min(budget, slice));
    s.budget = granted;
    const jit::Status status = walk_->code->executable->run(s, group.scope);
    const auto used = static_cast<std::uint64_t>(granted - s.budget);
    counts_.instructions += used;
    budget -= std::min(budget, used);
    if (status != jit::Status::Paused || budget == 0 || group.stopped()) return status;
  }
}

GroupRunner::Outcome GroupRunner::conclude(GuestFault::Cause cause, std::uint32_t thread) {
  fault_ = {cause, state(thread).fault, group_, thread, 0, 0};
  return Outcome::Faulted;
}

GroupRunner::Outcome GroupRunner::run_alone(std::uint32_t thread, const Group& group) {
  start(thread);
  std::uint64_t budget = walk_->budget;
  switch (advance(state(thread), budget, group)) {
    case jit::Status::Exited:
      return Outcome::Done;
    case jit::Status::Faulted:
      return conclude(GuestFault::Cause::Instruction, thread);
    case jit::Status::Paused:
      return budget == 0 ? conclude(GuestFault::Cause::Budget, thread) : Outcome::Stopped;
    case jit::Status::Waiting:
      break;  // only code that waits returns it, and such code runs together
  }
  return deadlock();
}

// A barrier completes when every thread of the group has signalled it, whether it then waits or ends; each
// completion lets every thread pass one wait. A thread that neither signalled nor can run is a deadlock.
GroupRunner::Outcome GroupRunner::run_together(const Group& group) {
  const std::uint32_t threads = walk_->threads_per_group;
  for (std::uint32_t t = 0; t < threads; ++t) {
    start(t);
    progress_[t] = {walk_->budget, 0, false};
  }
  std::uint32_t running = threads;
  std::uint32_t completed = 0;  // barriers
  while (running != 0) {
    bool moved = false;
    for (std::uint32_t t = 0; t < threads; ++t) {
      Progress& progress = progress_[t];
      while (!progress.ended && progress.waits <= completed) {
        moved = true;
        switch (advance(state(t), progress.budget, group)) {
          case jit::Status::Exited:
            progress.ended = true;
            --running;
            break;
          case jit::Status::Waiting:
            ++progress.waits;
            break;
          case jit::Status::Faulted:
            return conclude(GuestFault::Cause::Instruction, t);
          case jit::Status::Paused:
            return progress.budget == 0 ? conclude(GuestFault::Cause::Budget, t) : Outcome::Stopped;
        }
      }
    }
    completed = ~0u;
    for (std::uint32_t t = 0; t < threads; ++t) completed = std::min(completed, state(t).barrier_signals);
    if (!moved && running != 0) return deadlock();
    if (group.stopped()) return Outcome::Stopped;
  }
  return Outcome::Done;
}

GroupRunner::Outcome GroupRunner::deadlock() {
  fault_ = {};
  fault_.cause = GuestFault::Cause::Deadlock;
  fault_.group = group_;
  bool found = false;
  for (std::uint32_t t = 0; t < progress_.size(); ++t) {
    if (progress_[t].ended) {
      ++fault_.ended;
      continue;
    }
    ++fault_.waiting;
    if (!found) fault_.thread = t;
    found = true;
  }
  return Outcome::Faulted;
}

GroupRunner::Outcome GroupRunner::run(std::uint64_t index, const std::atomic<std::uint64_t>& stop_below,
                                      jit::FpScope& scope) {
  const auto& groups = walk_->groups;
  const auto& first = walk_->first_group;
  group_ = {first[0] + static_cast<std::uint32_t>(index % groups[0]),
            first[1] + static_cast<std::uint32_t>(index / groups[0] % groups[1]),
            first[2] + static_cast<std::uint32_t>(index / groups[0] / groups[1])};
  if (walk_->slm_bytes != 0) slm_->reset();
  const Group group{index, stop_below, scope};
  counts_.threads += walk_->threads_per_group;
  Outcome outcome = Outcome::Done;
  if (walk_->code->waits) {
    outcome = run_together(group);
  } else {
    for (std::uint32_t t = 0; t < walk_->threads_per_group && outcome == Outcome::Done; ++t)
      outcome = run_alone(t, group);
  }
  if (outcome == Outcome::Done) ++counts_.groups;
  return outcome;
}

}  // namespace eum::rt
