#pragma once
// OuterMasks: branches in loops that split the execution mask, and the blocks where all of their channels are
// active again, such as if and endif. Code may keep the mask in between rather than compute it again from
// masks that depend on the condition: then nothing after the second block waits for the condition. It knows
// no host.
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"

namespace eum::jit {

class OuterMasks {
 public:
  static constexpr unsigned most = 128;

  /// The end of a block:
  ///   variable `parked` = `outer` without some channels; execution mask = the others; branch_any
  struct Split {
    ir::BlockId block, join;
    ir::ValueId outer;
    std::uint64_t parked;
    unsigned number;    ///< of the pair
    bool splits_again;  ///< a block in between changes the execution mask
  };

  /// There are none.
  OuterMasks() = default;
  explicit OuterMasks(const ir::Function& function);

  /// The split at the end of the block, or null.
  const Split* split_of(ir::BlockId block) const {
    return block < split_.size() ? at(split_[block]) : nullptr;
  }
  /// The split whose channels are active again after the reconvergence with which the block begins, or null.
  const Split* joined_by(ir::BlockId block) const {
    return block < join_.size() ? at(join_[block]) : nullptr;
  }
  unsigned count() const { return static_cast<unsigned>(splits_.size()); }

 private:
  static constexpr std::uint8_t none = 0xff;
  static_assert(most < none);
  const Split* at(std::uint8_t number) const { return number == none ? nullptr : &splits_[number]; }

  std::vector<Split> splits_;
  std::vector<std::uint8_t> split_, join_;  // by block: the number
};

}  // namespace eum::jit
