#pragma once
// BoundsLog: accesses of a launch beyond the surfaces that they named, counted per instruction. It must not
// know arguments: surfaces are numbers here.
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "jit/engine.hpp"

namespace eum::rt {

/// Elements that one instruction accessed beyond one surface.
struct BoundsReport {
  std::uint64_t count = 0;
  jit::OutOfSurface first;  ///< one of these accesses: which one came first depends on timing
  std::uint64_t surface_bytes = 0;
  std::string instruction;
};

/// Any number of threads may call note() at once.
class BoundsLog {
 public:
  BoundsLog() : observer_{this, &BoundsLog::note} {}
  BoundsLog(const BoundsLog&) = delete;
  BoundsLog& operator=(const BoundsLog&) = delete;

  const jit::BoundsObserver& observer() const { return observer_; }
  /// Returns what has been noted since the last call, in the order of instructions; only the counts and the
  /// accesses are filled in.
  std::vector<BoundsReport> take();

 private:
  static void note(void* log, const jit::OutOfSurface& access);

  struct Entry {
    std::uint64_t count = 0;
    jit::OutOfSurface first;
  };
  jit::BoundsObserver observer_;
  std::mutex mutex_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, Entry> entries_;  // by ip, surface, write
};

}  // namespace eum::rt
