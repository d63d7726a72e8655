// Coordinates changes with patching: a change announces itself and waits until the lock is free; a patching
// thread takes the lock and checks for announced changes. So at least one of the two sees the other.
#include "runtime/user_msr/native/mapping_change.hpp"

#include "runtime/user_msr/native/copied_jump.hpp"
#include "runtime/user_msr/native/patcher.hpp"
#include "runtime/user_msr/signals_blocked.hpp"

namespace eum::rt::native {
namespace {

// Changes of this thread, possibly nested: a signal handler may change mappings while its thread does.
__attribute__((tls_model("initial-exec"))) thread_local int changes_of_thread = 0;

std::uint64_t end_of(std::uint64_t start, std::uint64_t length) {
  return length > UINT64_MAX - start ? UINT64_MAX : start + length;
}

bool restore_locked(RunnerState& state, std::uint64_t start, std::uint64_t end) {
  if (state.is_confined) return false;
  SignalsBlocked blocked;  // a handler that changes mappings would wait for a lock held by its own thread
  state.lock.lock();
  bool good = restore_sites(state, start, end);
  state.lock.unlock();
  return good;
}

}  // namespace

MappingChange::MappingChange() : state_(runner()) {
  ++changes_of_thread;
  if (!state_) return;
  state_->changes.fetch_add(1);
  state_->lock.wait_until_free();
}

MappingChange::~MappingChange() {
  --changes_of_thread;
  if (state_ && state_ == runner()) state_->changes.fetch_sub(1);
}

bool MappingChange::restore(std::uint64_t start, std::uint64_t length) {
  if (!state_) return true;
  std::uint64_t end = end_of(start, length), patched = 0;
  state_->sites.each_in(start, end, [&](const Site& site) {
    if (site.stub != 0) patched = site.address;
  });
  if (patched == 0 || restore_locked(*state_, start, end)) return true;
  state_->notices.say(Notice::NotRestored, patched);
  return false;
}

void MappingChange::replace_copies(std::uint64_t start, std::uint64_t length) {
  if (!state_ || !state_->sites.has_jumps() || state_->is_confined) return;
  SignalsBlocked blocked;
  state_->lock.lock();
  replace_copied_jumps(*state_, start, end_of(start, length));
  state_->lock.unlock();
}

void MappingChange::let_patch(std::uint64_t start, std::uint64_t length) {
  if (state_) state_->sites.each_in(start, end_of(start, length), [](Site& site) { site.traps = 0; });
}

void stop_patching() {
  RunnerState* state = runner();
  if (!state) return;
  state->notices.say(Notice::MemoryFile);
  state->can_patch = false;
  restore_locked(*state, 0, UINT64_MAX);
}

void forget_changes_of_other_threads() {
  if (RunnerState* state = runner()) state->changes.store(changes_of_thread);
}

}  // namespace eum::rt::native
