#pragma once
// Whether something may read what has been written to a place: follows all paths from a block on, and in
// which mask variables the channels are to which the place belongs. It is more exact for one place than
// Liveness, which only knows channels as active or inactive.
#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/analysis/loop_turns.hpp"
#include "jit/analysis/parked.hpp"
#include "jit/analysis/terms.hpp"

namespace eum::jit {

class ChannelReads {
 public:
  /// The number of mask variables that can be told apart.
  static constexpr unsigned most_variables = 256;
  using Variables = std::bitset<most_variables>;

  /// For a function without jump_ip. `liveness` says to which channels accesses of flags belong.
  ChannelReads(const ir::Function& function, const MayBeParked& parked, const Liveness& liveness)
      : function_(function),
        parked_(parked),
        liveness_(liveness),
        holds_(function.values.size()),
        roots_(function.values.size()) {}

  /// Whether something may read `place`, which has been written by the channels from 8 * `group` on that are
  /// in one of `variables` before `block`.
  bool may_read(const Place& place, unsigned group, ir::BlockId block, const Variables& variables);
  /// The same if it has been written for whichever channels it belongs to.
  bool may_read(const Place& place, ir::BlockId block);

 private:
  /// The first of the channels to which the place belongs in an access; with one lane there is none.
  static constexpr unsigned no_channel = ~0u;
  /// A mask, and the lane of it at which another mask begins.
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
  std::vector<unsigned> first_channels_;  // to which the place belongs in accesses
  unsigned first_channel_ = 0;            // the current one
  std::vector<bool> holds_;               // of masks of the current block: one of those channels may be in it
  std::vector<Root> roots_;
};

}  // namespace eum::jit
