// Starting threads, and the barrier as a place where they are left and resumed.
#include "runtime/thread_group.hpp"

#include <algorithm>
#include <cstring>

namespace eum::rt {
namespace {

constexpr std::uint32_t slot_bytes = 32;

/// Guest instructions after which a thread looks whether it is still wanted.
constexpr std::uint64_t slice = std::uint64_t{1} << 24;

// Pieces are a few slots long: a call of memcpy with a length would cost more than it copies.
void copy_slots(std::byte* to, const std::byte* from, std::uint32_t slots) {
  for (; slots != 0; --slots, to += slot_bytes, from += slot_bytes) std::memcpy(to, from, slot_bytes);
}

void clear_slots(std::byte* to, std::uint32_t slots) {
  for (; slots != 0; --slots, to += slot_bytes) std::memset(to, 0, slot_bytes);
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
  fault_ = {};
  counts_ = {};
  plan();

  const std::uint32_t states = concurrent_threads(walk);
  const std::size_t bytes = std::size_t{states} * layout_.size;
  if (auto reserved = states_.reserve(bytes); !reserved) return reserved;
  std::memset(states_.data(), 0, bytes);
  progress_.resize(states);

  const mem::Surface* surfaces = walk.surfaces->surfaces.data();
  if (walk.slm_bytes != 0) {
    if (!slm_ || slm_->size() != mem::slm_allocation(walk.slm_bytes)) {
      auto slm = mem::Slm::create(walk.slm_bytes, mem::SlmInit::Zero);
      if (!slm) return slm.error();
      slm_ = std::move(*slm);
    }
    surfaces_ = *walk.surfaces;
    surfaces_[mem::ReservedIndex::SharedLocalMemory] = slm_->surface();
    surfaces = surfaces_.surfaces.data();
  }
  environments_.resize(states);
  for (std::uint32_t i = 0; i < states; ++i) {
    const std::size_t scratch_offset = std::size_t{first_slot + i} * walk.scratch.bytes;
    std::byte* scratch = walk.scratch.bytes != 0 ? walk.scratch.base + scratch_offset : nullptr;
    environments_[i] = {surfaces, scratch, walk.scratch.bytes, walk.space};
    new (&state(i)) jit::ThreadState;
    state(i).environment = &environments_[i];
  }
  return {};
}

// Of the payload only what the code reads is brought into the file; of the rest only what it reads without
// having written it is cleared, so that what a thread does never depends on the thread before it.
void GroupRunner::plan() {
  per_thread_.clear();
  cross_thread_.clear();
  zero_.clear();
  const auto& inputs = walk_->code->inputs;
  const std::uint32_t thread_begin = 1;
  const std::uint32_t cross_begin = thread_begin + walk_->per_thread_bytes / slot_bytes;
  const auto cross_slots = static_cast<std::uint32_t>(walk_->cross_thread.size() / slot_bytes);
  const std::uint32_t payload_end = cross_begin + cross_slots;
  for (std::uint32_t slot = 1; slot < inputs.size(); ++slot) {
    if (!inputs[slot]) continue;
    if (slot < cross_begin)
      add_piece(per_thread_, slot, thread_begin);
    else if (slot < payload_end)
      add_piece(cross_thread_, slot, cross_begin);
    else
      add_piece(zero_, slot, 0);
  }
  header_read_ = !inputs.empty() && inputs[0];
}

void GroupRunner::add_piece(std::vector<Piece>& pieces, std::uint32_t slot, std::uint32_t source_begin) {
  const std::uint32_t to = slot * slot_bytes;
  if (!pieces.empty() && pieces.back().to + pieces.back().slots * slot_bytes == to)
    ++pieces.back().slots;
  else
    pieces.push_back({to, (slot - source_begin) * slot_bytes, 1});
}

void GroupRunner::start(std::uint32_t thread, std::uint32_t state_index) {
  jit::ThreadState& s = state(state_index);
  s.resume = 0;
  s.barrier_signals = 0;
  s.flags = 0;
  s.fp_mode = initial_control;
  s.fault = {};
  const bool last = thread + 1 == walk_->threads_per_group;
  const std::uint32_t all = walk_->code->simd >= 32 ? ~0u : (1u << walk_->code->simd) - 1;
  const std::uint32_t mask = last ? all & walk_->last_mask : all;
  std::uint32_t* masks = layout_.masks_of(s);
  std::memset(masks, 0, layout_.size - layout_.masks);
  masks[0] = mask;

  std::byte* file = layout_.file_of(s);
  if (header_read_) {
    // r0.1, r0.6, r0.7 thread group id; r0.5 scratch offset in bits
    // 31:10, thread slot (FFTID) in bits 8:0.
    std::array<std::uint32_t, 8> header = walk_->header;
    const std::uint32_t slot = first_slot_ + state_index;
    header[1] = group_[0];
    header[5] |= (walk_->scratch.address + slot * walk_->scratch.bytes) | slot;
    header[6] = group_[1];
    header[7] = group_[2];
    std::memcpy(file, header.data(), sizeof header);
  }
  const std::byte* own = walk_->per_thread.data() + std::size_t{thread} * walk_->per_thread_bytes;
  for (const Piece& p : per_thread_) copy_slots(file + p.to, own + p.from, p.slots);
  for (const Piece& p : cross_thread_) copy_slots(file + p.to, walk_->cross_thread.data() + p.from, p.slots);
  for (const Piece& p : zero_) clear_slots(file + p.to, p.slots);
  std::memcpy(file + walk_->code->control_offset, &initial_control, sizeof initial_control);
  std::memcpy(file + walk_->code->state_offset + 8, &mask, sizeof mask);  // sr0.2: dispatch mask
  const jit::Environment& environment = environments_[state_index];
  if (environment.scratch_bytes != 0) std::memset(environment.scratch, 0, environment.scratch_bytes);
  progress_[state_index] = {walk_->budget, 0, false};
  ++counts_.threads;
}

// Paused: the budget is used up, or the thread is no longer wanted; the caller tells by the budget left.
jit::Status GroupRunner::advance(std::uint32_t state_index, std::uint64_t index,
                                 const std::atomic<std::uint64_t>& stop_below) {
  jit::ThreadState& s = state(state_index);
  std::uint64_t& left = progress_[state_index].budget;
  for (;;) {
    const auto granted = static_cast<std::int64_t>(std::min(left, slice));
    s.budget = granted;
    const jit::Status status = walk_->code->executable->run(s);
    const auto used = static_cast<std::uint64_t>(granted - s.budget);
    counts_.instructions += used;
    left -= std::min(left, used);
    if (status != jit::Status::Paused || left == 0) return status;
    if (stop_below.load(std::memory_order_relaxed) <= index) return status;
  }
}

GroupRunner::Outcome GroupRunner::conclude(GuestFault::Cause cause, std::uint32_t thread,
                                           const jit::ThreadState& s) {
  fault_ = {cause, s.fault, group_, thread, 0, 0};
  return Outcome::Faulted;
}

GroupRunner::Outcome GroupRunner::run_alone(std::uint32_t thread, std::uint64_t index,
                                            const std::atomic<std::uint64_t>& stop_below) {
  start(thread, 0);
  switch (advance(0, index, stop_below)) {
    case jit::Status::Exited:
      return Outcome::Done;
    case jit::Status::Faulted:
      return conclude(GuestFault::Cause::Instruction, thread, state(0));
    case jit::Status::Paused:
      if (progress_[0].budget == 0) return conclude(GuestFault::Cause::Budget, thread, state(0));
      return Outcome::Stopped;
    case jit::Status::Waiting:
      break;  // only code that waits returns it, and such code runs together
  }
  return deadlock();
}

// A barrier completes when every thread of the group has signalled it, whether it then waits or ends; each
// completion lets every thread pass one wait. A thread that neither signalled nor can run is a deadlock.
GroupRunner::Outcome GroupRunner::run_together(std::uint64_t index,
                                               const std::atomic<std::uint64_t>& stop_below) {
  const std::uint32_t threads = walk_->threads_per_group;
  for (std::uint32_t t = 0; t < threads; ++t) start(t, t);
  std::uint32_t running = threads;
  std::uint32_t completed = 0;  // barriers
  while (running != 0) {
    bool moved = false;
    for (std::uint32_t t = 0; t < threads; ++t) {
      Progress& progress = progress_[t];
      while (!progress.ended && progress.waits <= completed) {
        moved = true;
        switch (advance(t, index, stop_below)) {
          case jit::Status::Exited:
            progress.ended = true;
            --running;
            break;
          case jit::Status::Waiting:
            ++progress.waits;
            break;
          case jit::Status::Faulted:
            return conclude(GuestFault::Cause::Instruction, t, state(t));
          case jit::Status::Paused:
            if (progress.budget == 0) return conclude(GuestFault::Cause::Budget, t, state(t));
            return Outcome::Stopped;
        }
      }
    }
    std::uint32_t signals = ~0u;
    for (std::uint32_t t = 0; t < threads; ++t) signals = std::min(signals, state(t).barrier_signals);
    completed = signals;
    if (!moved && running != 0) return deadlock();
    if (stop_below.load(std::memory_order_relaxed) <= index) return Outcome::Stopped;
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

GroupRunner::Outcome GroupRunner::run(std::uint64_t index, const std::atomic<std::uint64_t>& stop_below) {
  const auto& groups = walk_->groups;
  const auto& first = walk_->first_group;
  group_ = {first[0] + static_cast<std::uint32_t>(index % groups[0]),
            first[1] + static_cast<std::uint32_t>(index / groups[0] % groups[1]),
            first[2] + static_cast<std::uint32_t>(index / groups[0] / groups[1])};
  if (walk_->slm_bytes != 0) slm_->reset();
  Outcome outcome = Outcome::Done;
  if (walk_->code->waits) {
    outcome = run_together(index, stop_below);
  } else {
    for (std::uint32_t t = 0; t < walk_->threads_per_group && outcome == Outcome::Done; ++t)
      outcome = run_alone(t, index, stop_below);
  }
  if (outcome == Outcome::Done) ++counts_.groups;
  return outcome;
}

}  // namespace eum::rt
