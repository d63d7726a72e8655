#pragma once
// What analysis/linear has found, as scalars: the first address of each run of an access, and the first lane
// of a comparison. They are computed besides the vectors; a version of a block that uses them does not need
// the vectors, and one that does not use them does not need the scalars.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "jit/analysis/linear.hpp"
#include "jit/engine.hpp"

namespace eum::jit {

/// What replaces operands or results of an instruction in one version of its block.
struct ScalarRun {
  static constexpr unsigned most_runs = 4;

  std::uint32_t index = 0;  ///< in its block
  LinearRun run;            ///< for an access
  /// The address of the first lane of each run, if the access is done by runs. For a reg_write the first lane
  /// of each slot: that suffices where nothing reads the others.
  std::array<ir::ValueId, most_runs> addresses{};
  std::uint8_t address_count = 0;
  bool under_mask = false;          ///< also if the access has a mask
  ir::ValueId mask = ir::no_value;  ///< the result of a comparison
  /// For two loads or stores, if the second one's lanes continue where those of the first one end: the value
  /// that they load or store together, the same for both. They may be one access of all these lanes, at the
  /// place of the first load or of the second store. Only the first one has its address.
  ir::ValueId pair = ir::no_value;
};

class ScalarRuns {
 public:
  /// Adds values and instructions to the function, to which `liveness` and `uses` belong.
  ScalarRuns(ir::Function& function, Liveness& liveness, const LinearUses& uses,
             const Optimisations& optimisations);

  /// Whether nothing was found in any block.
  bool empty() const { return found_.empty(); }
  /// For the block's instructions, in order, with all channels active as it begins (`full`), or any.
  std::span<const ScalarRun> of(ir::BlockId block, bool full) const {
    return found_.empty() ? std::span<const ScalarRun>() : found_[block][full ? 1 : 0];
  }

 private:
  std::vector<std::array<std::vector<ScalarRun>, 2>> found_;  // by block; or empty
};

}  // namespace eum::jit
