#pragma once
// BeyondCaches: what pays if the buffers of a launch are larger than the caches.
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/region_numbers.hpp"
#include "jit/codegen/entry_state.hpp"
#include "jit/passes/scalar_runs.hpp"

namespace eum::jit::codegen {

class BeyondCaches {
 public:
  /// None of it.
  BeyondCaches() = default;
  BeyondCaches(const ir::Function& function, const ScalarRuns& runs, const LoopSlots& loops,
               const RegionNumbers& regions, const Optimisations& optimisations);

  /// Whether known runs should be prefetched. Processors do so by themselves, better than code does, but not
  /// where several buffers are written, one of them through the caches.
  bool fetches_ahead() const { return fetches_ahead_; }
  /// Whether the store should bypass the caches. A processor reads a line before it writes the first part of
  /// it, and keeps it; both are useless for whole lines that are computed from other buffers and not read
  /// again.
  bool is_stream(const ir::Inst& store) const {
    const auto access = static_cast<std::size_t>(store.imm);
    return access < streams_.size() && streams_[access];
  }

 private:
  void find_streams(const ir::Function& function, const ScalarRuns& runs, const LoopSlots& loops,
                    const RegionNumbers& regions);
  bool writes_several(const ir::Function& function, const RegionNumbers& regions) const;

  bool fetches_ahead_ = false;
  std::vector<bool> streams_;  ///< by access of the function
};

}  // namespace eum::jit::codegen
