#pragma once
// Which memory accesses are known, when a function is translated, to have addresses a fixed distance apart,
// and which comparisons are of a value that increases by one from lane to lane and one that is the same in
// every lane: the local ids with which a thread begins (Function::ids) increase by one from channel to
// channel, and sums and products with them follow. A forward dataflow over the register file; it knows no
// host.
//
// Facts hold modulo 2^32, as addresses do. Whether addresses are in bounds is not known.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/analysis/symbols.hpp"

namespace eum::jit {

/// The addresses of an access in aligned groups of `run` lanes are each `stride` above the one before.
struct LinearRun {
  std::uint32_t run = 0;  ///< a power of two; 0: nothing is known
  std::int32_t stride = 0;
  std::uint32_t within = ~0u;  ///< the significant bits of each: addresses of a smaller space wrap around
  bool operator==(const LinearRun&) const = default;
};

/// An instruction that uses such values.
struct LinearUse {
  enum Kind : std::uint8_t {
    Access,
    FirstGoesUp,   ///< a comparison whose operand 0 increases by one in each run, while the other is the same
    SecondGoesUp,  ///< the same with the operands exchanged
    BothSame,      ///< a comparison whose operands are both the same in each run
  };

  std::uint32_t index = 0;  ///< in its block
  Kind kind = Access;
  LinearRun run;  ///< a comparison does not use `stride`
};

/// A value whose lanes increase by a constant `stride`, which is 0 if they are the same.
struct Ramp {
  SymbolicSum first;  ///< lane 0; its symbol belongs to the value's block
  std::uint32_t stride = 0;
  /// How many lanes of each aligned group have this stride, even if the first one is not known; 0: none.
  std::uint8_t run = 0;
  SymbolicSum lane(unsigned index) const { return {first.symbol, first.offset + index * stride}; }
};

class LinearUses {
 public:
  /// Functions with more blocks than this are not analysed.
  static constexpr std::size_t most_blocks = 2000;

  /// `begins_again`: partial versions of blocks begin again as full ones when no channel is inactive any
  /// more; see analysis/reconvergence.
  LinearUses(const ir::Function& function, const Liveness& liveness, bool begins_again);

  /// The block's uses, in order, with all channels active as the block begins (`full`), or any.
  std::span<const LinearUse> of(ir::BlockId block, bool full) const;
  /// The value's ramp there; no symbol: not known.
  Ramp ramp(ir::ValueId value, bool full) const {
    const std::vector<Ramp>& ramps = ramps_[full ? 1 : 0];
    return value < ramps.size() ? ramps[value] : Ramp{};
  }

 private:
  // Each for any channels active, then for all.
  std::array<std::vector<std::vector<LinearUse>>, 2> found_;  // by block; or empty
  std::array<std::vector<Ramp>, 2> ramps_;                    // by value; or empty
};

}  // namespace eum::jit
