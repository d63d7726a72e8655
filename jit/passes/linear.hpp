#pragma once
// Which memory accesses are known, when a function is translated, to have addresses a fixed distance apart:
// the local ids that a thread begins with go up by one from channel to channel, and what is added to them and
// what they are multiplied by follows. A forward dataflow over the register file; it knows no host.
//
// What is known holds modulo 2^32, as the addresses do. That they are in bounds is not known.
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/engine.hpp"
#include "jit/passes/liveness.hpp"

namespace eum::jit {

/// The addresses of an access in aligned groups of `run` lanes are each `stride` above the one before.
struct LinearRun {
  std::uint32_t run = 0;  ///< a power of two; 0: nothing is known
  std::int32_t stride = 0;
  bool operator==(const LinearRun&) const = default;
};

class LinearAccesses {
 public:
  /// Functions with more blocks than this are left alone.
  static constexpr std::size_t most_blocks = 2000;

  LinearAccesses(const ir::Function& function, const Liveness& liveness, const ConsecutiveIds& ids);

  /// Of instruction `index` of the block, where all channels are on as the block begins.
  LinearRun of(ir::BlockId block, std::size_t index) const;

 private:
  struct Found {
    std::uint32_t index;
    LinearRun run;
  };
  std::vector<std::vector<Found>> found_;  // by block, in ascending order
};

}  // namespace eum::jit
