#pragma once
// Whether anybody reads what some channels have at a place: along all ways from a block on, by where those
// channels are. It tells more of one place than Liveness, which knows of channels only whether they are on.
#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/passes/division/terms.hpp"
#include "jit/passes/parked.hpp"

namespace eum::jit {

class ChannelReads {
 public:
  /// Of a function without jump_ip.
  ChannelReads(const ir::Function& function, const MayBeParked& parked)
      : function_(function),
        parked_(parked),
        holds_(function.values.size()),
        roots_(function.values.size()) {}

  /// `place` is that of the channels from 8 * `group` on. Those are meant that are in one of `variables` in
  /// front of `block`, a bit each.
  bool may_read(const Place& place, unsigned group, ir::BlockId block, std::uint64_t variables);

  /// As many mask variables can be told apart.
  static constexpr unsigned most_variables = 64;

 private:
  bool may_read(ir::BlockId block, std::uint64_t variables, unsigned first_channel);
  /// A mask, and from which of its lanes on another one is it.
  struct Root {
    ir::ValueId mask = ir::no_value;
    unsigned first = 0;
  };
  Root root(ir::ValueId mask) const { return roots_[mask]; }
  std::optional<std::uint64_t> behind(ir::BlockId block, std::uint64_t variables);
  bool holds(const ir::Inst& made) const;
  bool overlaps(const ir::Inst& access) const;
  std::optional<unsigned> channel_of(const ir::Inst& access) const;

  const ir::Function& function_;
  const MayBeParked& parked_;
  Place place_;
  std::vector<unsigned> own_channels_;  // the first one of the place, as accesses have it
  unsigned first_channel_ = 0;          // the one that is looked at
  std::vector<bool> holds_;  // of masks of the block that is looked at: one of those channels may be in it
  std::vector<Root> roots_;
};

}  // namespace eum::jit
