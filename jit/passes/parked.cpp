// For each block the mask variables that, together with the execution mask, contain every channel with which
// the thread began. Within a block masks are followed as unions of what variables held before it, whole or
// split by a condition.
#include "jit/passes/parked.hpp"

#include <algorithm>
#include <optional>

#include "jit/passes/reconvergence.hpp"

namespace eum::jit {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::Op;
using ir::ValueId;

/// A set of mask variables without the execution mask, variable 0; `anywhere`: nothing is known.
using Variables = std::uint64_t;
constexpr Variables anywhere = ~Variables{0};
constexpr unsigned most_variables = 63;

/// What a mask variable held before the block, or the part of that for which a condition holds, or does not.
struct Part {
  std::uint64_t variable;
  ValueId condition = ir::no_value;
  bool negated = false;

  bool whole() const { return condition == ir::no_value; }
  bool completes(const Part& other) const {
    return variable == other.variable && !whole() && condition == other.condition && negated != other.negated;
  }
};
/// A union of parts: all of a mask, or some of it.
struct Union {
  std::vector<Part> parts;
  bool exact = false;  ///< it is all of the mask
};

class Follower {
 public:
  explicit Follower(const ir::Function& function) : function_(function), unions_(function.values.size()) {}

  /// Follows masks through the block.
  void follow(const ir::Block& block) {
    now_.clear();
    for (const Inst& inst : block.insts) follow(inst);
  }
  /// The variables that contain the channels after the block, if those of `before` do before it and `none`,
  /// if it is a variable, had no channel.
  Variables behind(Variables before, std::optional<std::uint64_t> none) const {
    if (before == anywhere) return anywhere;
    Variables needed = 0;
    for (std::uint64_t variable = 0; variable <= most_variables; ++variable)
      if (variable != none && (variable == 0 || (before >> variable & 1) != 0))
        needed |= holders_of(variable);
    return needed == anywhere ? anywhere : needed & ~Variables{1};
  }
  /// The variable that had no channel before the block, if the block is left by its edge for no channel.
  std::optional<std::uint64_t> without_any(const Inst& terminator) const {
    if (terminator.op != Op::branch_any) return std::nullopt;
    const Union& mask = unions_[function_.arg(terminator, 0)];
    const bool is_variable = mask.exact && mask.parts.size() == 1 && mask.parts[0].whole();
    return is_variable ? std::optional(mask.parts[0].variable) : std::nullopt;
  }

 private:
  struct Set {
    std::uint64_t variable;
    Union to;
  };

  Union content(std::uint64_t variable) const {
    for (const Set& set : now_)
      if (set.variable == variable) return set.to;
    return {{{variable}}, true};
  }

  /// The fewest variables that contain all of what this one held: the execution mask alone, another one
  /// alone, or two with a part each.
  Variables holders_of(std::uint64_t variable) const {
    const auto bit = [](std::uint64_t of) { return Variables{1} << of; };
    const bool is_set =
        std::any_of(now_.begin(), now_.end(), [&](const Set& set) { return set.variable == variable; });
    Variables found = is_set ? anywhere : bit(variable);
    for (const Set& set : now_)
      for (const Part& part : set.to.parts) {
        if (part.variable != variable) continue;
        if (part.whole()) {
          if (found == anywhere || set.variable == 0) found = bit(set.variable);
          continue;
        }
        for (const Set& other : now_)
          for (const Part& rest : other.to.parts)
            if (found == anywhere && rest.completes(part)) found = bit(set.variable) | bit(other.variable);
      }
    return found;
  }

  void follow(const Inst& inst) {
    const auto arg = [&](unsigned k) -> const Union& { return unions_[function_.arg(inst, k)]; };
    if (inst.op == Op::mask_set) {
      std::erase_if(now_, [&](const Set& set) { return set.variable == inst.imm; });
      now_.push_back({inst.imm, arg(0)});
      return;
    }
    if (inst.result_count != 1 || !ir::is_mask(inst.type)) return;
    Union& result = unions_[inst.result];
    result = {};
    if (inst.lanes != function_.simd) return;
    switch (inst.op) {
      case Op::mask_get:
        result = content(inst.imm);
        break;
      case Op::constant:
        result.exact = (inst.imm & ir::lane_mask(inst.lanes)) == 0;
        break;
      case Op::or_:
        result = arg(0);
        result.parts.insert(result.parts.end(), arg(1).parts.begin(), arg(1).parts.end());
        result.exact &= arg(1).exact;
        break;
      case Op::and_:
        for (const unsigned k : {0u, 1u})
          if (!arg(k).parts.empty() && arg(1 - k).parts.empty())
            result = where(arg(k), {.variable = 0, .condition = function_.arg(inst, 1 - k)});
        break;
      case Op::andn:
        result = where(arg(1), {.variable = 0, .condition = function_.arg(inst, 0), .negated = true});
        break;
      default:
        break;
    }
  }

  /// The part of a union for which the condition of `cut` holds, or does not.
  Union where(const Union& of, const Part& cut) const {
    Union left{.parts = {}, .exact = of.exact};
    for (const Part& part : of.parts) {
      if (part.whole())
        left.parts.push_back(simple(part.variable, cut));
      else
        left.exact = false;
    }
    return left;
  }

  /// Without the part for which a condition holds, the part for which it does not is left.
  Part simple(std::uint64_t variable, const Part& cut) const {
    const Union& of = unions_[cut.condition];
    const auto same = [&](const Part& part) {
      return !part.whole() && part.condition == of.parts[0].condition && part.negated == of.parts[0].negated;
    };
    const bool has_one_condition = of.exact && !of.parts.empty() && std::ranges::all_of(of.parts, same);
    if (has_one_condition &&
        std::ranges::any_of(of.parts, [&](const Part& p) { return p.variable == variable; }))
      return {variable, of.parts[0].condition, of.parts[0].negated != cut.negated};
    return {variable, cut.condition, cut.negated};
  }

  const ir::Function& function_;
  std::vector<Union> unions_;  // of each mask
  std::vector<Set> now_;       // variables that the block has set
};

}  // namespace

ParkedChannels::ParkedChannels(const ir::Function& function) : all_back_(function.blocks.size()) {
  if (function.mask_variables > most_variables + 1) return;
  Follower follower(function);
  std::vector<std::optional<Variables>> before(function.blocks.size());
  std::vector<BlockId> pending{0};
  before[0] = 0;
  while (!pending.empty()) {
    const BlockId block = pending.back();
    pending.pop_back();
    const Inst& terminator = function.blocks[block].insts.back();
    follower.follow(function.blocks[block]);
    for (const BlockId successor : ir::successors(terminator)) {
      if (successor == ir::no_block) continue;
      const bool none = terminator.op == Op::branch_any && successor == terminator.targets.fallthrough &&
                        successor != terminator.targets.taken;
      const Variables behind =
          follower.behind(*before[block], none ? follower.without_any(terminator) : std::nullopt);
      std::optional<Variables>& known = before[successor];
      const Variables all = known.value_or(0) | behind;
      if (known == all) continue;
      known = all;
      pending.push_back(successor);
    }
  }
  for (BlockId block = 0; block < function.blocks.size(); ++block) {
    const auto variable = reconverges_from(function, function.blocks[block]);
    all_back_[block] = variable && *variable <= most_variables && before[block] &&
                       *before[block] != anywhere && (*before[block] & ~(Variables{1} << *variable)) == 0;
  }
}

namespace {

/// The variable from which the mask has been read, and that still holds it after the block.
std::optional<std::uint64_t> held_by(const ir::Block& block, ValueId mask) {
  std::optional<std::uint64_t> variable;
  for (const Inst& inst : block.insts) {
    if (inst.op == Op::mask_get && inst.result == mask) variable = inst.imm;
    if (inst.op == Op::mask_set && variable == inst.imm) variable.reset();
  }
  return variable;
}

}  // namespace

MayBeParked::MayBeParked(const ir::Function& function)
    : before_(function.blocks.size(), BitSet(function.mask_variables)) {
  std::vector<bool> reached(function.blocks.size());
  std::vector<BlockId> pending{0};
  reached[0] = true;
  while (!pending.empty()) {
    const BlockId block = pending.back();
    pending.pop_back();
    const BitSet behind_block = behind(function, block);
    const Inst& last = function.blocks[block].insts.back();
    for (const BlockId successor : ir::successors(last)) {
      if (successor == ir::no_block) continue;
      BitSet now = behind_block;
      // This edge is taken if no channel was in the variable.
      if (last.op == Op::branch_any && successor == last.targets.fallthrough &&
          successor != last.targets.taken)
        if (const auto asked = held_by(function.blocks[block], function.arg(last, 0))) now.reset(*asked);
      const BitSet all = before_[successor] | now;
      if (reached[successor] && all == before_[successor]) continue;
      reached[successor] = true;
      before_[successor] = all;
      pending.push_back(successor);
    }
  }
}

BitSet MayBeParked::behind(const ir::Function& function, BlockId block) const {
  BitSet now = before_[block];
  std::vector<ValueId> zeros;
  for (const Inst& inst : function.blocks[block].insts) {
    if (inst.op == Op::constant && ir::is_mask(inst.type) && inst.imm == 0) zeros.push_back(inst.result);
    if (inst.op != Op::mask_set) continue;
    if (std::ranges::find(zeros, function.arg(inst, 0)) != zeros.end())
      now.reset(inst.imm);
    else
      now.set(inst.imm);
  }
  return now;
}

}  // namespace eum::jit
