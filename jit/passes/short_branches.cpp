// Short branches. Channels that an `if` turns off are parked, and come back where it ends; what it skips is
// done by the others, in blocks of its own. Where that is little, it is done under the mask, and nobody
// parks:
//   a: ...; parked |= ~%on; execution mask = %on; branch_any %on, b, join
//   b: ...; jump join
//   join: execution mask |= parked; parked = none; ...
// becomes one block, in which whatever b does is under %on. As control now gets there with no channel on,
// nothing in b may show then: what it writes of all lanes has to be dead at the join. Then a thread also
// stays in the version of its code for all channels.
#include <algorithm>
#include <optional>
#include <vector>

#include "jit/passes/liveness.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/reconvergence.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

constexpr unsigned vector_bytes = 32;

/// What a masked block may cost, in instructions of vectors: skipping it costs a branch that may be
/// mispredicted, masks that become bits and lanes again, and mostly all that is known of registers. In a loop
/// channels part more often.
constexpr unsigned most_cost = 100, most_cost_in_loop = 48;

constexpr unsigned load_cost = 6;

/// Of an op on a vector, in instructions; nothing if it is one of those that take long.
std::optional<unsigned> cost_of(const Inst& inst) {
  switch (inst.op) {
    case Op::constant:
    case Op::vconst:
    case Op::mask_get:
    case Op::mask_set:
    case Op::flag_read:
    case Op::slice:
    case Op::concat:
    case Op::spend:
      return 0;
    case Op::flag_write:
      return 2;
    case Op::load:
      return load_cost * std::max(1u, inst.lanes / 8u) * inst.result_count;
    default:
      break;
  }
  const OpInfo& row = info(inst.op);
  const bool state = inst.op == Op::reg_read || inst.op == Op::reg_write;
  if (!state && (row.effect != Effect::Pure || row.backend != Backend::Native)) return std::nullopt;
  if (is_mask(inst.type)) return 1;
  unsigned each = 1;
  switch (inst.op) {
    case Op::reg_read:
      each = inst.region.stride(inst.lanes) == 1 || inst.lanes == 1 ? 0 : 3;
      break;
    case Op::reg_write:
      each = inst.region.stride(inst.lanes) == 1 || inst.lanes == 1 ? 1 : 4;
      break;
    case Op::div:
    case Op::sqrt:
    case Op::rcp:
    case Op::rsqrt:
    case Op::quot:
      return std::nullopt;
    case Op::mul_wide:
    case Op::mach:
      each = 5;
      break;
    case Op::mul:
    case Op::mad:
      each = is_int(inst.type) ? (size_of(inst.type) == 8 ? 6 : 2) : 1;
      break;
    default:
      break;
  }
  const unsigned bytes =
      inst.lanes * std::max(size_of(inst.type), shape_of(inst.op).has_from() ? size_of(inst.from) : 0u);
  return each * std::max(1u, (bytes + vector_bytes - 1) / vector_bytes);
}

/// Of each block the mask variables in which channels may be parked in front of it.
class MayBeParked {
 public:
  explicit MayBeParked(const Function& function)
      : before_(function.blocks.size(), BitSet(function.mask_variables)) {
    std::vector<bool> reached(function.blocks.size());
    std::vector<BlockId> pending{0};
    reached[0] = true;
    while (!pending.empty()) {
      const BlockId block = pending.back();
      pending.pop_back();
      const BitSet behind = this->behind(function, block);
      for (const BlockId successor : successors(function.blocks[block].insts.back())) {
        if (successor == no_block) continue;
        const BitSet all = before_[successor] | behind;
        if (reached[successor] && all == before_[successor]) continue;
        reached[successor] = true;
        before_[successor] = all;
        pending.push_back(successor);
      }
    }
  }
  bool operator()(BlockId block, std::uint64_t variable) const { return before_[block][variable]; }

 private:
  BitSet behind(const Function& function, BlockId block) {
    BitSet now = before_[block];
    zeros_.clear();
    for (const Inst& inst : function.blocks[block].insts) {
      if (inst.op == Op::constant && is_mask(inst.type) && inst.imm == 0) zeros_.push_back(inst.result);
      if (inst.op != Op::mask_set) continue;
      if (std::ranges::find(zeros_, function.arg(inst, 0)) != zeros_.end())
        now.reset(inst.imm);
      else
        now.set(inst.imm);
    }
    return now;
  }

  std::vector<BitSet> before_;
  std::vector<ValueId> zeros_;
};

class Joiner {
 public:
  explicit Joiner(Function& function)
      : function_(function),
        parked_(function),
        liveness_(function, vector_bytes, false),
        predecessors_(function.blocks.size()),
        loops_(function.blocks.size()) {
    for (BlockId block = 0; block < function.blocks.size(); ++block)
      for (const BlockId target : successors(function.blocks[block].insts.back())) {
        if (target == no_block) continue;
        ++predecessors_[target];
        for (BlockId b = target; b <= block; ++b) loops_[b] = true;
      }
  }

  void run() {
    bool joined = false;
    for (BlockId block = static_cast<BlockId>(function_.blocks.size()); block-- > 0;)
      while (!function_.blocks[block].insts.empty() &&
             (join_masked(block) || join_other(block) || join_next(block)))
        joined = true;
    if (joined) drop_blocks();
  }

 private:
  ValueId arg(const Inst& inst, unsigned k) const { return function_.arg(inst, k); }
  static const Inst* definition(const auto& insts, ValueId value) {
    for (const Inst& inst : insts)
      if (value >= inst.result && value < inst.result + inst.result_count) return &inst;
    return nullptr;
  }
  static bool contains(const auto& list, const auto& item) {
    return std::ranges::find(list, item) != list.end();
  }

  /// The block that the branch skips if no channel is on, behind those of `id`. It leads to where the branch
  /// would have led; what it is not done for may have a block of its own there.
  bool join_masked(BlockId id) {
    const Block& block = function_.blocks[id];
    const Inst& branch = block.insts.back();
    if (branch.op != Op::branch_any) return false;
    const BlockId masked = branch.targets.taken, end = branch.targets.fallthrough;
    if (!may_join(id, masked) || end == masked) return false;
    in_loop_ = loops_[id];
    const Block& skipped = function_.blocks[masked];
    const Inst& leads = skipped.insts.back();
    const bool has_other = leads.op == Op::branch_any;
    if ((leads.op != Op::jump && !has_other) || leads.targets.taken != end) return false;
    if (!is_inert(skipped, 0, no_value)) return false;
    begin(id);
    const ValueId on = resolve(arg(branch, 0));
    if (const ValueId* const now = content(0); !now || *now != on || !come_back(on, end)) return false;
    other_ = has_other ? other_of(id, skipped, on, end) : std::nullopt;
    if (has_other && !other_) return false;
    guest_ip_ = skipped.insts.front().guest_ip;
    append_spend(on, skipped);
    for (std::size_t i = 0; i + 1 < skipped.insts.size(); ++i) keep(skipped.insts[i]);
    Inst last = leads;
    if (has_other) {
      // It had gone to the other one with no channel on too.
      const ValueId none =
          append(Op::not_, function_.simd, {append(Op::group_any, function_.simd, {on}, function_.simd)});
      other_->wanted = append(Op::or_, function_.simd, {other_->mask, none});
      function_.set_args(last, {other_->wanted});
    }
    insts_.push_back(last);
    finish(id, masked);
    --predecessors_[end];
    return true;
  }

  /// Of a block that ends with what is done for some channels only: the others, and what is done for them.
  struct Other {
    BlockId block;           ///< that ends so
    std::uint64_t variable;  ///< where they are parked
    ValueId mask;            ///< they
    ValueId wanted = no_value;
  };
  /// If `skipped` parks all its channels, and goes on for those that were parked in front of it, in a block
  /// that can be joined too.
  std::optional<Other> other_of(BlockId id, const Block& skipped, ValueId on, BlockId end) {
    const auto variable = reconverges_from(function_, function_.blocks[end]);
    if (!variable || parked_(id, *variable) || !is_inert_other(end, skipped.insts.back().targets.fallthrough))
      return std::nullopt;
    const ValueId* const parked = content(*variable);
    const Inst* asked = definition(skipped.insts, arg(skipped.insts.back(), 0));
    if (!parked || !asked || asked->op != Op::mask_get || asked->imm != *variable) return std::nullopt;
    ValueId left = on;
    for (const Inst& inst : skipped.insts) {
      if (inst.op == Op::mask_set && inst.imm == *variable) return std::nullopt;
      if (inst.op == Op::mask_set && inst.imm == 0) left = arg(inst, 0);
    }
    const Inst* none = definition(skipped.insts, left);
    if (!none || none->op != Op::constant || none->imm != 0) return std::nullopt;
    const Other other{id, *variable, without_variable(*parked, *variable)};
    return other.mask != no_value ? std::optional(other) : std::nullopt;
  }
  bool is_inert_other(BlockId other, BlockId end) {
    const Block& block = function_.blocks[other];
    const Inst& leads = block.insts.back();
    const std::size_t reconverged = 6, all = 2;
    return predecessors_[other] == 2 && !block.safepoint && leads.op == Op::jump &&
           leads.targets.taken == end && is_joined(end) &&
           is_inert(block, reconverged, block.insts[all].result);
  }
  /// Two ways lead to the block, which become one.
  bool is_joined(BlockId end) const { return predecessors_[end] == 2 && !function_.blocks[end].safepoint; }

  /// What is done for the other channels.
  bool join_other(BlockId id) {
    const Inst& branch = function_.blocks[id].insts.back();
    if (!other_ || other_->block != id || branch.op != Op::branch_any) return false;
    const BlockId masked = branch.targets.taken, end = branch.targets.fallthrough;
    const Block& skipped = function_.blocks[masked];
    begin(id);
    guest_ip_ = skipped.insts.front().guest_ip;
    append_spend(other_->wanted, skipped);
    for (std::size_t i = append_reconvergence(id, skipped, other_->variable); i < skipped.insts.size(); ++i)
      keep(skipped.insts[i]);
    other_.reset();
    finish(id, masked);
    --predecessors_[end];
    return true;
  }

  /// Channels that the block may have turned off are on again behind the one that is skipped. Those that have
  /// left a loop are not: there the version for all channels ends, unless none leaves.
  bool come_back(ValueId on, BlockId end) const {
    const Inst* made = definition(insts_, on);
    if (!made || (made->op != Op::and_ && made->op != Op::andn)) return true;
    const auto variable = reconverges_from(function_, function_.blocks[end]);
    return variable && is_joined(end) && std::ranges::any_of(insts_, [&](const Inst& inst) {
             return inst.op == Op::mask_set && inst.imm == *variable;
           });
  }

  /// The block that follows, whatever the masks are.
  bool join_next(BlockId id) {
    Block& block = function_.blocks[id];
    const Inst& leads = block.insts.back();
    if (leads.op != Op::jump || !may_join(id, leads.targets.taken)) return false;
    const BlockId next = leads.targets.taken;
    const Block& rest = function_.blocks[next];
    begin(id);
    guest_ip_ = rest.insts.front().guest_ip;
    if (!std::ranges::any_of(insts_, [](const Inst& inst) { return may_leave(inst.op); }))
      block.guest_instructions += rest.guest_instructions;
    else
      append_spend(append(Op::constant, function_.simd, {}, lane_mask(function_.simd)), rest);
    std::size_t first = 0;
    if (const auto variable = reconverges_from(function_, rest))
      first = append_reconvergence(id, rest, *variable);
    for (std::size_t i = first; i < rest.insts.size(); ++i) keep(rest.insts[i]);
    finish(id, next);
    return true;
  }

  bool may_join(BlockId id, BlockId next) const {
    return next != id && next != 0 && predecessors_[next] == 1 && !function_.blocks[next].safepoint;
  }

  // ---- What is skipped

  /// Nothing of it, from instruction `first` on, shows if no channel is on; `on` is the execution mask.
  bool is_inert(const Block& block, std::size_t first, ValueId on) {
    parts_ = {on};
    unsigned cost = 0;
    for (std::size_t i = first; i + 1 < block.insts.size(); ++i) {
      const Inst& inst = block.insts[i];
      const std::optional<unsigned> own = cost_of(inst);
      if (!own || (cost += *own) > (in_loop_ ? most_cost_in_loop : most_cost)) return false;
      const bool is_write = inst.op == Op::reg_write || inst.op == Op::flag_write;
      if (!is_inert(block, inst) && (!is_write || is_wanted(inst, block.insts.back()))) return false;
      if (is_mask(inst.type) && inst.result_count == 1 && is_part_made(inst)) parts_.push_back(inst.result);
    }
    return true;
  }
  bool is_inert(const Block& block, const Inst& inst) const {
    switch (inst.op) {
      case Op::spend:
        return is_part(arg(inst, 0));
      case Op::mask_set:
        return inst.imm == 0 ? is_part(arg(inst, 0)) : only_adds(block, inst);
      case Op::load:
      case Op::reg_write:
      case Op::flag_write:
        return inst.mask != no_value && is_part(inst.mask);
      default:
        return true;
    }
  }
  /// It has no channel that the execution mask has not.
  bool is_part(ValueId mask) const { return contains(parts_, mask); }
  bool is_part_made(const Inst& inst) const {
    switch (inst.op) {
      case Op::mask_get:
      case Op::constant:
        return inst.imm == 0;
      case Op::slice:
        return is_part(arg(inst, 0));
      case Op::and_:
        return is_part(arg(inst, 0)) || is_part(arg(inst, 1));
      case Op::andn:
        return is_part(arg(inst, 1));
      case Op::or_:
      case Op::concat:
        return is_part(arg(inst, 0)) && is_part(arg(inst, 1));
      default:
        return false;
    }
  }
  /// Channels of the execution mask to those that the variable has.
  bool only_adds(const Block& block, const Inst& set) const {
    const Inst* sum = definition(block.insts, arg(set, 0));
    if (!sum || sum->op != Op::or_) return false;
    for (const unsigned k : {0u, 1u}) {
      const Inst* get = definition(block.insts, arg(*sum, k));
      if (get && get->op == Op::mask_get && get->imm == set.imm && is_part(arg(*sum, 1 - k))) return true;
    }
    return false;
  }
  /// By one of the blocks that follow.
  bool is_wanted(const Inst& write, const Inst& terminator) const {
    return std::ranges::any_of(successors(terminator),
                               [&](BlockId next) { return next != no_block && is_wanted_by(next, write); });
  }
  bool is_wanted_by(BlockId next, const Inst& write) const {
    const LiveState& live = liveness_.live_in(next);
    if (write.op == Op::flag_write)
      return live.active_flags.any_in_range(write.imm, write.lanes) ||
             live.inactive_flags.any_in_range(write.imm, write.lanes);
    const SlotRange range = slots_of(write, vector_bytes);
    for (unsigned slot = range.first; slot <= range.last; ++slot)
      if ((live.active[slot] || live.inactive[slot]) &&
          (live.bytes[slot] & bytes_of(write, slot, vector_bytes)) != 0)
        return true;
    return false;
  }

  // ---- The one block

  void begin(BlockId id) {
    insts_.clear();
    aliases_.clear();
    now_.clear();
    const auto& insts = function_.blocks[id].insts;
    for (std::size_t i = 0; i + 1 < insts.size(); ++i) keep(insts[i]);
  }
  void finish(BlockId id, BlockId joined) {
    function_.blocks[id].insts.assign(insts_.begin(), insts_.end());
    function_.blocks[joined].insts.clear();
    predecessors_[joined] = 0;
  }

  ValueId append(Op op, unsigned lanes, std::initializer_list<ValueId> args, std::uint64_t imm = 0) {
    Inst inst = make_op(op, Type::m, lanes, guest_ip_);
    inst.imm = imm;
    function_.set_args(inst, args);
    if (op == Op::mask_set || op == Op::spend)
      inst.result_count = 0;
    else
      inst.result = function_.add_value(Type::m, lanes);
    insts_.push_back(inst);
    return inst.result;
  }
  void append_spend(ValueId mask, const Block& block) {
    if (block.guest_instructions != 0) append(Op::spend, function_.simd, {mask}, block.guest_instructions);
  }
  ValueId resolve(ValueId value) const {
    for (const auto& [of, as] : aliases_)
      if (of == value) return as;
    return value;
  }
  /// What a mask variable holds, once that is known.
  ValueId* content(std::uint64_t variable) {
    const auto found = std::ranges::find(now_, variable, &Content::variable);
    return found == now_.end() ? nullptr : &found->mask;
  }
  void set_content(std::uint64_t variable, ValueId mask) {
    if (ValueId* const now = content(variable))
      *now = mask;
    else
      now_.push_back({variable, mask});
  }
  /// Masks have one name each: what sets them can then go.
  void keep(Inst inst) {
    if (inst.op == Op::mask_get) {
      if (const ValueId* const now = content(inst.imm)) return (void)aliases_.emplace_back(inst.result, *now);
      set_content(inst.imm, inst.result);
    }
    for (ValueId& operand : function_.args(inst)) operand = resolve(operand);
    if (inst.mask != no_value) inst.mask = resolve(inst.mask);
    if (inst.op == Op::mask_set) set_content(inst.imm, arg(inst, 0));
    insts_.push_back(inst);
  }

  /// Execution mask = execution mask | variable, variable = none, with which `rest` begins; returns how many
  /// of its instructions that were. Where nobody looks at those that come back while they are parked, they
  /// need not be.
  std::size_t append_reconvergence(BlockId id, const Block& rest, std::uint64_t variable) {
    const std::size_t all = 2, none = 4, clear = 5, others = 6;
    for (std::size_t i = 0; i < all; ++i) keep(rest.insts[i]);
    std::size_t first = insts_.size();
    while (first > 0 && !may_leave(insts_[first - 1].op)) --first;
    const auto sets_it = [&](const Inst& inst) { return inst.op == Op::mask_set && inst.imm == variable; };
    const auto begin = insts_.begin() + static_cast<std::ptrdiff_t>(first);
    ValueId parked = *content(variable);
    const bool was_empty = !parked_(id, variable);
    bool is_empty = false;
    if (was_empty) {
      parked = without_variable(parked, variable);
      is_empty = std::none_of(insts_.begin(), begin, sets_it);
      if (is_empty)
        insts_.erase(std::remove_if(begin, insts_.end(), sets_it), insts_.end());
      else
        drop_empty(variable);
    }
    ValueId on = *content(0);
    if (parked != no_value) {
      on = sum_of(on, parked);
      drop_unseen_set();
      append(Op::mask_set, function_.simd, {on});
    }
    set_content(0, on);
    aliases_.emplace_back(rest.insts[all].result, on);
    keep(rest.insts[none]);
    if (is_empty)
      set_content(variable, rest.insts[none].result);
    else
      keep(rest.insts[clear]);
    return others;
  }
  /// The variable held nothing before it was set.
  void drop_empty(std::uint64_t variable) {
    for (Inst& inst : insts_) {
      if (inst.op != Op::mask_set || inst.imm != variable) continue;
      const Inst* sum = definition(insts_, arg(inst, 0));
      if (!sum || sum->op != Op::or_) continue;
      for (const unsigned k : {0u, 1u}) {
        const Inst* get = definition(insts_, arg(*sum, k));
        if (get && get->op == Op::mask_get && get->imm == variable)
          function_.args(inst)[0] = arg(*sum, 1 - k);
      }
    }
  }
  ValueId sum_of(ValueId on, ValueId off) {
    const Inst* none = definition(insts_, on);
    if (none && none->op == Op::constant && none->imm == 0) return off;
    for (const auto& [a, b] : {std::pair{on, off}, std::pair{off, on}})
      if (const ValueId whole = whole_of(a, b); whole != no_value) return whole;
    return append(Op::or_, function_.simd, {on, off});
  }
  /// The execution mask is set again: nothing is done under what it was set to just now.
  void drop_unseen_set() {
    for (std::size_t i = insts_.size(); i-- > 0 && is_pure_or_mask(insts_[i]);) {
      if (insts_[i].op != Op::mask_set || insts_[i].imm != 0) continue;
      insts_.erase(insts_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }
  static bool is_pure_or_mask(const Inst& inst) {
    return is_pure(inst.op) || inst.op == Op::mask_get || inst.op == Op::mask_set || inst.op == Op::spend;
  }
  /// The mask of which `off` is what is left without `on`; no_value: there is none.
  ValueId whole_of(ValueId on, ValueId off) const {
    const Inst *part = definition(insts_, on), *rest = definition(insts_, off);
    if (!part || !rest || rest->op != Op::andn || arg(*rest, 0) != on) return no_value;
    const ValueId whole = arg(*rest, 1);
    const bool is_part = (part->op == Op::and_ && (arg(*part, 0) == whole || arg(*part, 1) == whole)) ||
                         (part->op == Op::andn && arg(*part, 1) == whole);
    return is_part ? whole : no_value;
  }
  /// The union without what the variable held; no_value: nothing is left.
  ValueId without_variable(ValueId mask, std::uint64_t variable) {
    const Inst* made = definition(insts_, mask);
    if (!made) return mask;
    if (made->op == Op::mask_get && made->imm == variable) return no_value;
    if (made->op != Op::or_) return mask;
    const ValueId a = arg(*made, 0), b = arg(*made, 1);
    const ValueId left = without_variable(a, variable), right = without_variable(b, variable);
    if (left == no_value || right == no_value) return left == no_value ? right : left;
    return left == a && right == b ? mask : append(Op::or_, function_.simd, {left, right});
  }

  void drop_blocks() {
    std::vector<BlockId> now(function_.blocks.size());
    BlockId kept = 0;
    for (BlockId block = 0; block < function_.blocks.size(); ++block) {
      now[block] = kept;
      if (function_.blocks[block].insts.empty()) continue;
      if (kept != block) function_.blocks[kept] = std::move(function_.blocks[block]);
      ++kept;
    }
    function_.blocks.erase(function_.blocks.begin() + kept, function_.blocks.end());
    for (Block& block : function_.blocks) {
      Inst& last = block.insts.back();
      const unsigned targets = shape_of(last.op).targets();
      if (targets > 0) last.targets.taken = now[last.targets.taken];
      if (targets > 1) last.targets.fallthrough = now[last.targets.fallthrough];
    }
  }

  Function& function_;
  MayBeParked parked_;
  Liveness liveness_;  // as it was before blocks were joined
  std::vector<unsigned> predecessors_;
  std::vector<bool> loops_;     // which blocks are in one
  std::vector<ValueId> parts_;  // of it: masks that are parts of the execution mask
  std::vector<Inst> insts_;
  std::vector<std::pair<ValueId, ValueId>> aliases_;
  struct Content {
    std::uint64_t variable;
    ValueId mask;
  };
  std::vector<Content> now_;  // of mask variables
  std::optional<Other> other_;
  bool in_loop_ = false;
  std::uint32_t guest_ip_ = 0;
};

}  // namespace

void short_branches(Function& function) {
  constexpr std::size_t most_facts = std::size_t{1} << 22;
  if (function.simd < 2 || function.blocks.size() * function.mask_variables > most_facts) return;
  const auto& blocks = function.blocks;
  // Control may come from anywhere.
  if (std::ranges::any_of(blocks, [](const Block& block) { return block.insts.back().op == Op::jump_ip; }))
    return;
  const auto is_short = [](const Block& block) {
    unsigned cost = 0;
    return std::ranges::none_of(block.insts.begin(), block.insts.end() - 1, [&](const Inst& inst) {
      const std::optional<unsigned> own = cost_of(inst);
      return !own || (cost += *own) > most_cost;
    });
  };
  const auto skips = [&](const Block& block) {
    const Inst& branch = block.insts.back();
    if (branch.op != Op::branch_any || branch.lanes != function.simd) return false;
    const Block& skipped = blocks[branch.targets.taken];
    const Inst& leads = skipped.insts.back();
    return (leads.op == Op::jump || leads.op == Op::branch_any) &&
           leads.targets.taken == branch.targets.fallthrough && is_short(skipped);
  };
  if (std::ranges::any_of(blocks, skips)) Joiner(function).run();
}

}  // namespace eum::jit
