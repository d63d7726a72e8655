#include "jit/analysis/channel_reads.hpp"

#include <algorithm>
#include <unordered_map>

namespace eum::jit {

using namespace ir;

bool ChannelReads::may_read(const Place& place, unsigned group, BlockId block, const Variables& variables) {
  if (function_.mask_variables > most_variables) return true;
  place_ = place;
  first_channels_ = {place.lanes * group};
  return may_read(block, variables, first_channels_[0]) || others_may_read(block);
}

bool ChannelReads::may_read(const Place& place, BlockId block) {
  if (function_.mask_variables > most_variables) return true;
  place_ = place;
  // Each bit of the flags belongs to one channel, whichever that is.
  if (place.space == Place::Flags) return may_read(block, wherever_channels_are(block), 0);
  // Byte by byte, as later accesses may cover only some.
  for (std::uint32_t byte = place.first; byte < place.end(); ++byte) {
    if (place.lanes == 1) place_ = {Place::File, 1, 1, byte};
    first_channels_ = {no_channel};
    if (may_read(block, Variables(1), no_channel) || others_may_read(block)) return true;
    if (place.lanes != 1) break;
  }
  return false;
}

/// Other channels, to which the place belongs in other accesses, may read what any channel has written.
bool ChannelReads::others_may_read(BlockId block) {
  const Variables all = wherever_channels_are(block);
  for (std::size_t i = 1; i < first_channels_.size(); ++i)
    if (may_read(block, all, first_channels_[i])) return true;
  return false;
}

ChannelReads::Variables ChannelReads::wherever_channels_are(BlockId block) const {
  Variables all(1);
  for (unsigned variable = 1; variable < function_.mask_variables; ++variable)
    all[variable] = parked_(block, variable);
  return all;
}

bool ChannelReads::may_read(BlockId block, const Variables& variables, unsigned first_channel) {
  first_channel_ = first_channel;
  std::unordered_map<BlockId, Variables> before{{block, variables}};
  std::vector<BlockId> pending{block};
  while (!pending.empty()) {
    const BlockId now = pending.back();
    pending.pop_back();
    const std::optional<Variables> left = behind(now, before[now]);
    if (!left) return true;
    for (const BlockId next : successors(function_.blocks[now].insts.back())) {
      if (next == no_block || left->none()) continue;
      Variables& there = before[next];
      if ((there | *left) == there) continue;
      there |= *left;
      pending.push_back(next);
    }
  }
  return false;
}

/// The variables in which the channels may be after the block with the place unchanged; nothing: it may be
/// read.
std::optional<ChannelReads::Variables> ChannelReads::behind(BlockId id, Variables variables) {
  ValueId on = no_value;  // the execution mask
  const auto& insts = function_.blocks[id].insts;
  for (std::size_t i = 0; i < insts.size(); ++i) {
    const Inst& inst = insts[i];
    if (variables.none()) return variables;
    for (unsigned k = 0; k < inst.result_count; ++k) roots_[inst.result + k] = {inst.result + k, 0};
    switch (inst.op) {
      case Op::mask_get:
        holds_[inst.result] = variables[inst.imm];
        if (inst.imm == 0 && on != no_value) roots_[inst.result] = {on, 0};
        if (inst.imm == 0 && on == no_value) on = inst.result;
        break;
      case Op::mask_set: {
        if (first_channel_ == no_channel) break;  // a place of one lane belongs to no channel
        const ValueId set = function_.arg(inst, 0);
        variables[inst.imm] = holds_[root(set).mask];
        if (inst.imm == 0) on = root(set).mask;
        break;
      }
      case Op::reg_gather:
        if (place_.space == Place::File) return std::nullopt;
        break;
      case Op::reg_scatter:
        if (place_.space == Place::File && inst.own.given()) return std::nullopt;
        break;
      case Op::reg_read:
        if (place_.space == Place::File && shared_bytes(inst, place_) != 0 && reads_registers(inst))
          return std::nullopt;
        break;
      case Op::reg_write: {
        if (place_.space != Place::File || !covers(inst)) break;
        if (inst.mask == no_value) return Variables();
        if (channel_of(inst) != first_channel_) break;
        const Root mask = root(inst.mask);
        holds_[mask.mask] = false;
        if (mask.mask == on) variables.reset(0);
        break;
      }
      case Op::flag_read:
        if (reads_flags(inst, liveness_.use(id, i), variables)) return std::nullopt;
        holds_[inst.result] = true;
        break;
      case Op::flag_write: {
        if (place_.space != Place::Flags || inst.imm > place_.first || inst.imm + inst.lanes < place_.end())
          break;
        const MaskRole role = liveness_.role(id, i);
        if (role == MaskRole::ExecutionMerge) variables.reset(0);
        if (inst.mask == no_value && role != MaskRole::ExecutionMerge && role != MaskRole::Merge)
          return Variables();
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

/// Whether one of those channels may do the read, which is of some of the place.
bool ChannelReads::reads_registers(const Inst& read) {
  const std::optional<unsigned> channel = channel_of(read);
  if (!channel) return true;
  if (*channel == first_channel_) return holds_[root(read.mask).mask];
  if (std::ranges::find(first_channels_, *channel) == first_channels_.end())
    first_channels_.push_back(*channel);
  return false;
}

bool ChannelReads::reads_flags(const Inst& read, const MaskUse& use, const Variables& variables) const {
  if (place_.space != Place::Flags || read.imm >= place_.end() || read.imm + read.lanes <= place_.first)
    return false;
  switch (use.role) {
    case MaskRole::Unused:
    case MaskRole::Merge:  // it is only merged and written back
      return false;
    case MaskRole::Execution:
      return variables[0];
    default:
      return true;
  }
}

/// Whether a computed mask may contain one of the channels.
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

/// Whether it covers every byte of the place.
bool ChannelReads::covers(const Inst& access) const {
  return shared_bytes(access, place_) == place_.end() - place_.first;
}

/// The first of the channels to which the place belongs in this access; nothing: it is not accessed by
/// channel.
std::optional<unsigned> ChannelReads::channel_of(const Inst& access) const {
  if (access.mask == no_value) return std::nullopt;
  const unsigned bytes = size_of(access.type), first_lane = root(access.mask).first;
  std::optional<unsigned> found;
  for (unsigned lane = 0; lane < access.lanes; ++lane) {
    const std::uint32_t at = access.region.byte_of(lane, bytes);
    if (at >= place_.end() || at + bytes <= place_.first) continue;
    const std::uint32_t first = std::max(at, place_.first) - place_.first;
    const std::uint32_t last = std::min(at + bytes, place_.end()) - 1 - place_.first;
    const unsigned own = first / place_.bytes, channel = first_lane + lane - own;
    if (last / place_.bytes != own || first_lane + lane < own || (found && found != channel))
      return std::nullopt;
    found = channel;
  }
  return found;
}

}  // namespace eum::jit
