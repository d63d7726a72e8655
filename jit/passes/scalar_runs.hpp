#pragma once
// What passes/linear has found, as scalars: the first address of each run of an access, and the first lane of
// a comparison. They are computed beside the vectors; the version of a block for all channels takes them, and
// so has no use for the vectors, and its other version has none for the scalars.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "jit/engine.hpp"
#include "jit/passes/linear.hpp"

namespace eum::jit {

/// What stands for operands or results of an instruction where all channels are on as its block begins.
struct ScalarRun {
  static constexpr unsigned most_runs = 4;

  std::uint32_t index = 0;  ///< in its block
  LinearRun run;            ///< of an access
  /// The address of the first lane of each run, if it is accessed by those.
  std::array<ir::ValueId, most_runs> addresses{};
  std::uint8_t address_count = 0;
  ir::ValueId mask = ir::no_value;  ///< what a comparison gives
};

class ScalarRuns {
 public:
  /// Adds values and instructions to the function, which `liveness` and `uses` are of.
  ScalarRuns(ir::Function& function, Liveness& liveness, const LinearUses& uses,
             const Optimisations& optimisations);

  /// Of the block's instructions, in their order.
  std::span<const ScalarRun> of(ir::BlockId block) const {
    return found_.empty() ? std::span<const ScalarRun>() : found_[block];
  }

 private:
  std::vector<std::vector<ScalarRun>> found_;  // by block; or empty
};

}  // namespace eum::jit
