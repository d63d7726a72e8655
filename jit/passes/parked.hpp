#pragma once
// Where the channels are that are not on: whichever a thread began with are on or parked in some mask
// variable, from which they come back. A forward dataflow over blocks; it knows no host.
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"

namespace eum::jit {

class ParkedChannels {
 public:
  explicit ParkedChannels(const ir::Function& function);

  /// The block begins with channels that come back, and then every channel is on that the thread began with.
  bool all_are_back(ir::BlockId block) const { return all_back_[block]; }

 private:
  std::vector<bool> all_back_;  // by block
};

}  // namespace eum::jit
