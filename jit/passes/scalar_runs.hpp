#pragma once
// What passes/linear has found, as scalars: the first address of each run of an access, and the first lane of
// a comparison. They are computed beside the vectors; a version of a block that takes them has no use for the
// vectors, and one that does not has none for the scalars.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "jit/engine.hpp"
#include "jit/passes/linear.hpp"

namespace eum::jit {

/// What stands for operands or results of an instruction in one version of its block.
struct ScalarRun {
  static constexpr unsigned most_runs = 4;

  std::uint32_t index = 0;  ///< in its block
  LinearRun run;            ///< of an access
  /// The address of the first lane of each run, if it is accessed by those. Of a reg_write the first lane of
  /// each slot: that will do where nothing reads the others.
  std::array<ir::ValueId, most_runs> addresses{};
  std::uint8_t address_count = 0;
  bool under_mask = false;          ///< also where the access has a mask
  ir::ValueId mask = ir::no_value;  ///< what a comparison gives
  /// Of two loads or stores of which the second one's lanes go on where those of the first one end: what they
  /// load or store together, which both have here. They may be one access of all these lanes, at the place of
  /// the first load or of the second store. Only the first one has its address.
  ir::ValueId pair = ir::no_value;
};

class ScalarRuns {
 public:
  /// Adds values and instructions to the function, which `liveness` and `uses` are of.
  ScalarRuns(ir::Function& function, Liveness& liveness, const LinearUses& uses,
             const Optimisations& optimisations);

  /// Nothing was found in any block.
  bool empty() const { return found_.empty(); }
  /// Of the block's instructions, in their order, where all channels are on as it begins (`full`), or
  /// whichever are.
  std::span<const ScalarRun> of(ir::BlockId block, bool full) const {
    return found_.empty() ? std::span<const ScalarRun>() : found_[block][full ? 1 : 0];
  }

 private:
  std::vector<std::array<std::vector<ScalarRun>, 2>> found_;  // by block; or empty
};

}  // namespace eum::jit
