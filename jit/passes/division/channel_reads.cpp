#include "jit/passes/division/channel_reads.hpp"

#include <algorithm>

namespace eum::jit {

using namespace ir;

bool ChannelReads::may_read(const Place& place, unsigned group, BlockId block, std::uint64_t variables) {
  if (function_.mask_variables > most_variables) return true;
  place_ = place;
  own_channels_ = {place.lanes * group};
  if (may_read(block, variables, own_channels_[0])) return true;
  // To others, who know the place as theirs, it is what anybody has written.
  std::uint64_t all = 1;
  for (unsigned variable = 1; variable < function_.mask_variables; ++variable)
    all |= std::uint64_t{parked_(block, variable)} << variable;
  for (std::size_t i = 1; i < own_channels_.size(); ++i)
    if (may_read(block, all, own_channels_[i])) return true;
  return false;
}

bool ChannelReads::may_read(BlockId block, std::uint64_t variables, unsigned first_channel) {
  first_channel_ = first_channel;
  std::vector<std::uint64_t> before(function_.blocks.size());
  before[block] = variables;
  std::vector<BlockId> pending{block};
  while (!pending.empty()) {
    const BlockId now = pending.back();
    pending.pop_back();
    const std::optional<std::uint64_t> left = behind(now, before[now]);
    if (!left) return true;
    for (const BlockId next : successors(function_.blocks[now].insts.back())) {
      if (next == no_block || (before[next] | *left) == before[next]) continue;
      before[next] |= *left;
      pending.push_back(next);
    }
  }
  return false;
}

/// In which variables they may be behind the block, still with what they had; nothing: it may be read.
std::optional<std::uint64_t> ChannelReads::behind(BlockId id, std::uint64_t variables) {
  ValueId on = no_value;  // the execution mask
  for (const Inst& inst : function_.blocks[id].insts) {
    if (variables == 0) return 0;
    for (unsigned k = 0; k < inst.result_count; ++k) roots_[inst.result + k] = {inst.result + k, 0};
    switch (inst.op) {
      case Op::mask_get:
        holds_[inst.result] = (variables >> inst.imm & 1) != 0;
        if (inst.imm == 0 && on != no_value) roots_[inst.result] = {on, 0};
        if (inst.imm == 0 && on == no_value) on = inst.result;
        break;
      case Op::mask_set: {
        const ValueId set = function_.arg(inst, 0);
        const std::uint64_t bit = std::uint64_t{1} << inst.imm;
        variables = holds_[root(set).mask] ? variables | bit : variables & ~bit;
        if (inst.imm == 0) on = root(set).first == 0 ? root(set).mask : no_value;
        break;
      }
      case Op::reg_gather:
        return std::nullopt;
      case Op::reg_scatter:
        if (inst.own.given()) return std::nullopt;
        break;
      case Op::reg_read:
        if (!overlaps(inst)) break;
        if (const auto channel = channel_of(inst); !channel) {
          return std::nullopt;
        } else if (*channel == first_channel_) {
          if (holds_[root(inst.mask).mask]) return std::nullopt;
        } else if (std::ranges::find(own_channels_, *channel) == own_channels_.end()) {
          own_channels_.push_back(*channel);
        }
        break;
      case Op::reg_write: {
        if (channel_of(inst) != first_channel_) break;
        const Root mask = root(inst.mask);
        holds_[mask.mask] = false;
        if (mask.mask == on) variables &= ~std::uint64_t{1};
        break;
      }
      default:
        if (inst.op == Op::slice && is_mask(inst.type)) {
          const Root of = root(function_.arg(inst, 0));
          roots_[inst.result] = {of.mask, of.first + static_cast<unsigned>(inst.imm)};
        } else if (inst.result_count == 1 && is_mask(function_.values[inst.result].type)) {
          holds_[inst.result] = holds(inst);
        }
        break;
    }
  }
  return variables;
}

/// What a mask is made of may tell that none of them is in it.
bool ChannelReads::holds(const Inst& made) const {
  const auto arg = [&](unsigned k) -> bool { return holds_[root(function_.arg(made, k)).mask]; };
  switch (made.op) {
    case Op::constant:
      return made.imm != 0;
    case Op::and_:
      return arg(0) && arg(1);
    case Op::andn:
      return arg(1);
    case Op::or_:
    case Op::concat:
      return arg(0) || arg(1);
    default:
      return true;
  }
}

bool ChannelReads::overlaps(const Inst& access) const {
  const unsigned bytes = size_of(access.type);
  for (unsigned lane = 0; lane < access.lanes; ++lane) {
    const std::uint32_t at = access.region.byte_of(lane, bytes);
    if (at < place_.end() && place_.first < at + bytes) return true;
  }
  return false;
}

/// The first channel of those that have the place, as the access has it; nothing: not channel by channel.
std::optional<unsigned> ChannelReads::channel_of(const Inst& access) const {
  const unsigned bytes = size_of(access.type);
  if (access.mask == no_value || bytes != place_.bytes || access.region.stride(access.lanes) != 1)
    return std::nullopt;
  const std::uint32_t first = access.region.offset, end = first + access.lanes * bytes;
  if (first > place_.first || end < place_.end() || (place_.first - first) % bytes != 0) return std::nullopt;
  return root(access.mask).first + (place_.first - first) / bytes;
}

}  // namespace eum::jit
