#pragma once
// Pairs of loads or stores of a block that together access both halves of the channels: GEN's instructions
// have 16 lanes, so kernels of 32 channels access a run by two of them, the second from where the first ends.
// They may be done as one, with one bounds check.
#include <span>

#include "jit/analysis/linear.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/engine.hpp"
#include "jit/passes/scalar_runs.hpp"

namespace eum::jit {

class AccessPairs {
 public:
  AccessPairs(ir::Function& function, const Liveness& liveness, const LinearUses& linear,
              const Optimisations& optimisations)
      : function_(function), liveness_(liveness), linear_(linear), optimisations_(optimisations) {}

  /// Begins the full version of a block. `definitions`: for each value of the block, the instruction that
  /// defines it.
  void begin(std::span<const ir::Inst> insts, std::span<const std::uint32_t> definitions);
  /// `found`: accesses of the full version of a block. If the last one continues an earlier one, both become
  /// a pair, for which a value is added. False: it continues none.
  bool add(std::span<ScalarRun> found);

 private:
  bool may_pair(const ScalarRun& access) const;
  bool goes_on(const ScalarRun& first, const ScalarRun& second) const;
  bool may_be_at_once(std::uint32_t first, std::uint32_t second) const;
  bool has_all_on(ir::ValueId mask) const;

  ir::Function& function_;
  const Liveness& liveness_;
  const LinearUses& linear_;
  const Optimisations& optimisations_;
  std::span<const ir::Inst> insts_;  // of the current block
  std::span<const std::uint32_t> definitions_;
  std::size_t mask_set_ =
      0;  // the first mask_set of the execution mask, or the end: all channels are active before it
};

}  // namespace eum::jit
