#pragma once
// Which memory accesses are known, when a function is translated, to have addresses a fixed distance apart,
// and which comparisons to be of something that goes up by one and something that is the same in every lane:
// the local ids that a thread begins with go up by one from channel to channel, and what is added to them and
// what they are multiplied by follows. A forward dataflow over the register file; it knows no host.
//
// What is known holds modulo 2^32, as the addresses do. That they are in bounds is not known.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/engine.hpp"
#include "jit/passes/liveness.hpp"
#include "jit/passes/symbols.hpp"

namespace eum::jit {

/// The addresses of an access in aligned groups of `run` lanes are each `stride` above the one before.
struct LinearRun {
  std::uint32_t run = 0;  ///< a power of two; 0: nothing is known
  std::int32_t stride = 0;
  std::uint32_t within = ~0u;  ///< the bits of each that count: addresses of a smaller space begin anew
  bool operator==(const LinearRun&) const = default;
};

/// An instruction that looks at such values.
struct LinearUse {
  enum Kind : std::uint8_t {
    Access,
    FirstGoesUp,   ///< a comparison whose operand 0 goes up by one, while the other is the same, in each run
    SecondGoesUp,  ///< the same with the operands exchanged
    BothSame,      ///< a comparison whose operands are both the same in each run
  };

  std::uint32_t index = 0;  ///< in its block
  Kind kind = Access;
  LinearRun run;  ///< of a comparison `stride` means nothing
};

/// A value whose lanes go up evenly from the first to the last: by nothing, if they are the same.
struct Ramp {
  SymbolicSum first;  ///< lane 0; its symbol is of the block that the value is of
  std::uint32_t stride = 0;
  /// So many lanes of each aligned group go up so, whatever is known of the first one; 0: none.
  std::uint8_t run = 0;
  SymbolicSum lane(unsigned index) const { return {first.symbol, first.offset + index * stride}; }
};

class LinearUses {
 public:
  /// Functions with more blocks than this are left alone.
  static constexpr std::size_t most_blocks = 2000;

  /// `begins_again`: the version of a block for some channels does so, where none is off any more; see
  /// passes/reconvergence.
  LinearUses(const ir::Function& function, const Liveness& liveness, const ConsecutiveIds& ids,
             bool begins_again);

  /// Of the block's instructions, in their order, where all channels are on as the block begins (`full`), or
  /// whichever are.
  std::span<const LinearUse> of(ir::BlockId block, bool full) const;
  /// What the value is there; no symbol: not known.
  Ramp ramp(ir::ValueId value, bool full) const {
    const std::vector<Ramp>& ramps = ramps_[full ? 1 : 0];
    return value < ramps.size() ? ramps[value] : Ramp{};
  }

 private:
  // Each for some channels on, then for all.
  std::array<std::vector<std::vector<LinearUse>>, 2> found_;  // by block; or empty
  std::array<std::vector<Ramp>, 2> ramps_;                    // by value; or empty
};

}  // namespace eum::jit
