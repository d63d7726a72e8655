#pragma once
// What a block costs whose instructions are all executed: of channels of which some are active, none perhaps.
#include <algorithm>
#include <cstddef>

#include "frontend/ir/function.hpp"

namespace eum::jit {

/// The vectors whose instructions are counted.
inline constexpr unsigned cost_vector_bytes = 32;

/// What a masked block may cost, in instructions of vectors: skipping it costs a branch that may be
/// mispredicted, masks that become bits and lanes again, and mostly all that is known of registers. What
/// computes floats is often for special cases that hardly occur, and slow if it meets denormals; long chains
/// of integer ops are mostly 64-bit arithmetic of devices without it.
struct CostLimit {
  unsigned cost, integer_cost;
  bool may_take_long = false;  ///< divisions and square roots may be among them
};

/// What an access of one element of so many channels costs.
constexpr unsigned access_cost(unsigned lanes) { return 6 * std::max(1u, lanes / 8u); }

/// Whether the block from instruction `first` on, without its terminator, costs no more than the limit. Ops
/// that take long cost too much, unless the limit allows them.
bool is_short(const ir::Block& block, std::size_t first, const CostLimit& limit);

}  // namespace eum::jit
