#pragma once
// ThreadSlots: which thread slots (FFTID) of a dispatch are taken. Thread-safe.
#include <bitset>
#include <cstdint>
#include <mutex>
#include <span>

#include "runtime/dispatch/walker.hpp"

namespace eum::rt {

class ThreadSlots {
 public:
  /// All slots from 0 to `count` - 1 are free; count is at most max_thread_slots.
  explicit ThreadSlots(std::uint32_t count) : count_(count) {}

  /// Fills `slots` with free slots, lowest first; if there are too few, takes none and returns false.
  bool take(std::span<std::uint32_t> slots) {
    const std::scoped_lock lock(mutex_);
    if (count_ - taken_.count() < slots.size()) return false;
    std::uint32_t next = 0;
    for (std::uint32_t& slot : slots) {
      while (taken_[next]) ++next;
      taken_.set(next);
      slot = next;
    }
    return true;
  }
  /// Takes this slot; false if it is taken or does not exist.
  bool take_one(std::uint32_t slot) {
    const std::scoped_lock lock(mutex_);
    if (slot >= count_ || taken_[slot]) return false;
    taken_.set(slot);
    return true;
  }
  void release(std::span<const std::uint32_t> slots) {
    const std::scoped_lock lock(mutex_);
    for (const std::uint32_t slot : slots) taken_.reset(slot);
  }

 private:
  std::mutex mutex_;
  std::uint32_t count_;
  std::bitset<max_thread_slots> taken_;
};

}  // namespace eum::rt
