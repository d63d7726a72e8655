#pragma once
// What a paused dispatch saves: everything but memory. Plain data, apart from engines: any dispatch of the
// same walk, by whatever engine and number of workers, can go on from it.
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

/// A thread that runs next.
struct ThreadPlace {
  std::uint64_t group = 0;   ///< place in the walk
  std::uint32_t thread = 0;  ///< in the group
  ThreadPhase phase = ThreadPhase::Unstarted;
  std::uint32_t ip = 0;  ///< of its next instruction, where it is Running or Waiting
};

struct GroupThreadImage {
  ThreadPhase phase = ThreadPhase::Unstarted;
  std::uint32_t slot = 0;   ///< thread slot; scratch and private memory there are the thread's
  std::uint32_t waits = 0;  ///< barriers that it has passed or waits at
  std::uint32_t barrier_signals = 0;
  std::uint64_t budget = 0;  ///< guest instructions that it may still execute
  jit::ThreadImage state;    ///< empty where it has not started or has ended
};

/// A thread group under way.
struct GroupImage {
  std::uint64_t index = 0;      ///< place in the walk: x runs fastest, then y, then z
  std::uint32_t turn = 0;       ///< thread that runs next
  std::uint64_t slice = 0;      ///< guest instructions left of its turn
  std::uint32_t completed = 0;  ///< barriers that every thread has signalled
  bool together = false;        ///< every thread has a slot of its own
  std::vector<GroupThreadImage> threads;
  std::vector<std::byte> slm;
};

/// Groups that nobody has begun: begin to end - 1.
struct GroupRange {
  std::uint64_t begin = 0, end = 0;
};

struct DispatchImage {
  std::vector<GroupImage> groups;
  std::vector<GroupRange> remaining;
  WalkerCounts counts;
};

}  // namespace eum::rt
