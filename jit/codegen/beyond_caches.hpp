#pragma once
// BeyondCaches: what is worth doing where the buffers of a launch are more than the caches hold.
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/codegen/entry_state.hpp"
#include "jit/passes/region_numbers.hpp"
#include "jit/passes/scalar_runs.hpp"

namespace eum::jit::codegen {

class BeyondCaches {
 public:
  /// Nothing.
  BeyondCaches() = default;
  BeyondCaches(const ir::Function& function, const ScalarRuns& runs, const LoopSlots& loops,
               const RegionNumbers& regions, const Optimisations& optimisations);

  /// Runs that are known are to be fetched ahead. Processors do so by themselves, better than code does, but
  /// not where several buffers are written, one of them by way of the caches.
  bool fetches_ahead() const { return fetches_ahead_; }
  /// The store is to go past the caches. A processor reads a line before it writes the first part of it, and
  /// keeps it, neither of which is of use for whole lines of what is computed from other buffers and not
  /// looked at again.
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
