#pragma once
// Which loads and stores of a block are of both halves of the channels: GEN's instructions have 16 lanes, so
// that kernels of 32 channels access what goes up lane by lane in two, the second one from where the first
// one ends. These may be done as one, with one check of bounds.
#include <span>

#include "jit/engine.hpp"
#include "jit/passes/linear.hpp"
#include "jit/passes/liveness.hpp"
#include "jit/passes/scalar_runs.hpp"

namespace eum::jit {

class AccessPairs {
 public:
  AccessPairs(ir::Function& function, const Liveness& liveness, const LinearUses& linear,
              const Optimisations& optimisations)
      : function_(function), liveness_(liveness), linear_(linear), optimisations_(optimisations) {}

  /// The version of a block for all channels. `definitions` says of each value of the block which instruction
  /// gives it.
  void begin(std::span<const ir::Inst> insts, std::span<const std::uint32_t> definitions);
  /// `found`: the accesses of the version of a block for all channels, up to one that now becomes a pair with
  /// an earlier one, which gets a value for it. False: it goes on after none.
  bool add(std::span<ScalarRun> found);

 private:
  bool may_pair(const ScalarRun& access) const;
  bool goes_on(const ScalarRun& first, const ScalarRun& second) const;
  bool may_be_at_once(std::uint32_t first, std::uint32_t second) const;
  bool has_all_on(ir::ValueId mask) const;

  static constexpr unsigned element = 4;  ///< bytes
  ir::Function& function_;
  const Liveness& liveness_;
  const LinearUses& linear_;
  const Optimisations& optimisations_;
  std::span<const ir::Inst> insts_;  // of the block that is looked at
  std::span<const std::uint32_t> definitions_;
  std::size_t mask_set_ =
      0;  // the first one of the execution mask, or the end: all channels are on before it
};

}  // namespace eum::jit
