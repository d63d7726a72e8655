#pragma once
// Where inactive channels are: each channel with which a thread began is active, or parked in some mask
// variable, from which it reconverges. A forward dataflow over blocks; it knows no host.
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/bit_set.hpp"

namespace eum::jit {

class ParkedChannels {
 public:
  explicit ParkedChannels(const ir::Function& function);

  /// Whether the block begins with a reconvergence after which every channel of the thread is active.
  bool all_are_back(ir::BlockId block) const { return all_back_[block]; }

 private:
  std::vector<bool> all_back_;  // by block
};

/// For each block the mask variables in which channels may be parked before it. A thread begins with none.
class MayBeParked {
 public:
  explicit MayBeParked(const ir::Function& function);

  bool operator()(ir::BlockId block, std::uint64_t variable) const { return before_[block][variable]; }

 private:
  BitSet behind(const ir::Function& function, ir::BlockId block) const;

  std::vector<BitSet> before_;
};

}  // namespace eum::jit
