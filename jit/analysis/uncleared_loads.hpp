#pragma once
// UnclearedLoads: loads under a mask whose results are needed only under that mask, so that what they leave
// in other lanes does not matter. Not where the results become addresses: lanes with any address would fetch
// lines that nobody needs (page rank 1.24).
#include <vector>

#include "frontend/ir/function.hpp"

namespace eum::jit {

class UnclearedLoads {
 public:
  /// All are cleared.
  UnclearedLoads() = default;
  explicit UnclearedLoads(const ir::Function& function);

  /// Whether the load with these results, from `result` on, is one.
  bool has(ir::ValueId result) const { return result < found_.size() && found_[result]; }

 private:
  std::vector<bool> found_;  // by first result
};

}  // namespace eum::jit
