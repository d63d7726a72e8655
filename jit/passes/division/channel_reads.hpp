#pragma once
// Whether anybody reads what has been written to a place: along all ways from a block on, by where the
// channels are whose it is. It tells more of one place than Liveness, which knows of channels only whether
// they are on.
#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/passes/division/loop_turns.hpp"
#include "jit/passes/division/terms.hpp"
#include "jit/passes/liveness.hpp"
#include "jit/passes/parked.hpp"

namespace eum::jit {

class ChannelReads {
 public:
  /// As many mask variables can be told apart.
  static constexpr unsigned most_variables = 256;
  using Variables = std::bitset<most_variables>;

  /// Of a function without jump_ip. `liveness` says which channels accesses of flags are of.
  ChannelReads(const ir::Function& function, const MayBeParked& parked, const Liveness& liveness)
      : function_(function),
        parked_(parked),
        liveness_(liveness),
        holds_(function.values.size()),
        roots_(function.values.size()) {}

  /// `place` has been written by the channels from 8 * `group` on that are in one of `variables` in
  /// front of `block`.
  bool may_read(const Place& place, unsigned group, ir::BlockId block, const Variables& variables);
  /// It has been written for whichever channels have it.
  bool may_read(const Place& place, ir::BlockId block);

 private:
  /// The first of the channels that an access has at the place; of one lane there is none.
  static constexpr unsigned no_channel = ~0u;
  /// A mask, and from which of its lanes on another one is it.
  struct Root {
    ir::ValueId mask = ir::no_value;
    unsigned first = 0;
  };

  bool may_read(ir::BlockId block, const Variables& variables, unsigned first_channel);
  bool others_may_read(ir::BlockId block);
  Variables wherever_channels_are(ir::BlockId block) const;
  std::optional<Variables> behind(ir::BlockId block, Variables variables);
  bool reads_registers(const ir::Inst& read);
  bool reads_flags(const ir::Inst& read, const MaskUse& use, const Variables& variables) const;
  bool holds(const ir::Inst& made) const;
  bool covers(const ir::Inst& access) const;
  std::optional<unsigned> channel_of(const ir::Inst& access) const;
  Root root(ir::ValueId mask) const { return roots_[mask]; }

  const ir::Function& function_;
  const MayBeParked& parked_;
  const Liveness& liveness_;
  Place place_;
  std::vector<unsigned> first_channels_;  // as accesses have the place
  unsigned first_channel_ = 0;            // the one that is looked at
  std::vector<bool> holds_;  // of masks of the block that is looked at: one of those channels may be in it
  std::vector<Root> roots_;
};

}  // namespace eum::jit
