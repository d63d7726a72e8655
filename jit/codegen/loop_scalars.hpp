#pragma once
// LoopScalars: floats of one lane that a loop reads and writes have a vector register of their own there,
// beside their place in the register file. Writes go to both, so that the file is up to date for exits and
// observers; reads need not wait for the store before them. Integers are not included: hosts forward their
// stores to loads, and registers made them no faster (Zen 4).
#include <cstdint>
#include <span>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/codegen/entry_state.hpp"
#include "jit/codegen/target.hpp"

namespace eum::jit::codegen {

/// 4 or 8 bytes of the register file.
struct LoopScalar {
  std::uint32_t offset;
  std::uint8_t bytes;
  std::uint8_t reg;  ///< vector register, in its first lane
  bool operator==(const LoopScalar&) const = default;
};

class LoopScalars {
 public:
  /// None.
  LoopScalars() = default;
  LoopScalars(const ir::Function& function, const LoopSlots& loops, const Target& target);

  /// The scalars that every edge into the block loads, or has.
  std::span<const LoopScalar> of(ir::BlockId block) const {
    if (block >= loop_of_.size()) return {};
    return loops_[loop_of_[block]];
  }

 private:
  std::vector<std::vector<LoopScalar>> loops_;  // the first one stands for no loop
  std::vector<std::uint16_t> loop_of_;          // by block
};

}  // namespace eum::jit::codegen
