#pragma once
// What a paused dispatch saves: everything except memory. Plain data, independent of engines: any dispatch of
// the same walk, with any engine and number of workers, can continue from it.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/engine.hpp"
#include "runtime/dispatch/walker.hpp"

namespace eum::rt {

enum class ThreadPhase : std::uint8_t {
  Unstarted,
  Running,  ///< can run
  Waiting,  ///< at a barrier
  Ended,
};

/// The thread of a group that runs next.
struct ThreadPlace {
  std::uint64_t group = 0;   ///< index in the walk
  std::uint32_t thread = 0;  ///< in the group
  ThreadPhase phase = ThreadPhase::Unstarted;
  std::uint32_t ip = 0;  ///< of its next instruction, if it is Running or Waiting
};

struct GroupThreadImage {
  ThreadPhase phase = ThreadPhase::Unstarted;
  std::uint32_t slot = 0;   ///< thread slot; selects the thread's scratch and private memory
  std::uint32_t waits = 0;  ///< barriers that it has passed, including the one it waits at
  std::uint32_t barrier_signals = 0;
  std::uint64_t budget = 0;  ///< guest instructions that it may still execute
  jit::ThreadImage state;    ///< empty if the thread has not started or has ended
};

/// A thread group under way.
struct GroupImage {
  std::uint64_t index = 0;      ///< index in the walk: x varies fastest, then y, then z
  std::uint32_t turn = 0;       ///< thread that runs next
  std::uint64_t slice = 0;      ///< guest instructions left in its turn
  std::uint32_t completed = 0;  ///< barriers that every thread has signalled
  bool together = false;        ///< every thread has its own slot
  std::vector<GroupThreadImage> threads;
  std::vector<std::byte> slm;
};

/// Groups begin to end - 1, which nobody has begun.
struct GroupRange {
  std::uint64_t begin = 0, end = 0;
};

struct DispatchImage {
  std::vector<GroupImage> groups;
  std::vector<GroupRange> remaining;
  WalkerCounts counts;
};

}  // namespace eum::rt
