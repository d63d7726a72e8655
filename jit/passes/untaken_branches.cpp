// Branches that no channel takes. The macros of IEEE division and root test after math.invm or math.rsqtm
// which channels need refinement; here none does, as the op returns the rounded result and writes all ones to
// the flag. An `if` with a zero mask follows, for which all channels park and reconverge at the next block:
// both are dropped, and the execution mask stays as it is.
#include <array>
#include <optional>
#include <vector>

#include "jit/analysis/reconvergence.hpp"
#include "jit/passes/passes.hpp"

namespace eum::jit {
namespace {

using namespace ir;

/// What is known of one lane of a mask, or of a flag bit, relative to channel `channel` of the execution
/// mask.
struct Lane {
  enum Kind : std::uint8_t { Unknown, Zero, One, Channel, AtLeastChannel, Outside } kind = Unknown;
  std::uint8_t channel = 0;
  bool operator==(const Lane&) const = default;
};
using Lanes = std::array<Lane, max_lanes>;

Lane complement(Lane a) {
  switch (a.kind) {
    case Lane::Zero:
      return {Lane::One};
    case Lane::One:
      return {Lane::Zero};
    case Lane::AtLeastChannel:
    case Lane::Channel:
      return {Lane::Outside, a.channel};
    case Lane::Outside:
      return {Lane::AtLeastChannel, a.channel};
    default:
      return {};
  }
}

Lane both(Lane a, Lane b) {
  if (b.kind == Lane::Zero || b.kind == Lane::One || b.kind == Lane::Channel) std::swap(a, b);
  if (a.kind == Lane::Zero || b.kind == Lane::One) return a;
  if (a.kind == Lane::One) return b;
  if (a.kind != Lane::Channel || b.kind == Lane::Unknown || a.channel != b.channel) return {};
  return b.kind == Lane::Outside ? Lane{Lane::Zero} : a;
}

Lane either(Lane a, Lane b) { return complement(both(complement(a), complement(b))); }

class BlockBranch {
 public:
  explicit BlockBranch(Function& function) : function_(function), known_(function.values.size(), none) {}

  void run(Block& block) {
    Inst& branch = block.insts.back();
    if (branch.op != Op::branch_any || !writes_constant_flag(block)) return;
    follow(block);
    const ValueId mask = function_.arg(branch, 0);
    if (!is_zero(mask)) return;
    const std::optional<Parking> parking = parking_of(block, mask);
    const Block& next = function_.blocks[branch.targets.fallthrough];
    if (!parking || next.safepoint || reconverges_from(function_, next) != parking->variable) return;
    Inst jump;
    jump.op = Op::jump;
    jump.guest_ip = branch.guest_ip;
    jump.targets = {branch.targets.fallthrough, no_block};
    branch = jump;
    block.insts.erase(block.insts.begin() + parking->set_execution);
    block.insts.erase(block.insts.begin() + parking->set_parked);
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// The active channels are parked in a mask variable, and none stays active.
  struct Parking {
    std::uint64_t variable;
    std::ptrdiff_t set_parked, set_execution;  ///< the last instructions that set a mask, in this order
  };

  bool writes_constant_flag(const Block& block) const {
    ValueId constant = no_value;
    for (const Inst& inst : block.insts) {
      if (inst.op == Op::constant && is_mask(inst.type)) constant = inst.result;
      if (inst.op == Op::flag_write && function_.arg(inst, 0) == constant) return true;
    }
    return false;
  }

  // ---- Contents of masks

  Lanes lanes_of(ValueId value) const { return known_[value] == none ? Lanes{} : lanes_[known_[value]]; }
  bool is_zero(ValueId value) const {
    const Lanes lanes = lanes_of(value);
    for (unsigned i = 0; i < function_.values[value].lanes; ++i)
      if (lanes[i].kind != Lane::Zero) return false;
    return true;
  }
  void set(ValueId value, const Lanes& lanes) {
    known_[value] = static_cast<std::uint32_t>(lanes_.size());
    lanes_.push_back(lanes);
  }
  void set_to_execution(ValueId value) {
    Lanes lanes;
    for (unsigned i = 0; i < max_lanes; ++i) lanes[i] = {Lane::Channel, static_cast<std::uint8_t>(i)};
    set(value, lanes);
    execution_ = value;
  }

  void follow(const Block& block) {
    lanes_.clear();
    flags_.assign(function_.flag_bits, {});
    execution_ = no_value;
    ended_ = false;
    for (const Inst& inst : block.insts) {
      for (unsigned k = 0; k < inst.result_count; ++k) known_[inst.result + k] = none;
      visit(inst);
    }
  }
  void forget() {
    lanes_.clear();
    known_.assign(known_.size(), none);
    flags_.assign(flags_.size(), {});
    ended_ = false;
  }
  void visit(const Inst& inst) {
    switch (inst.op) {
      case Op::mask_get:
        if (ended_) forget();
        if (inst.imm == 0) set_to_execution(inst.result);
        return;
      case Op::mask_set:
        if (inst.imm != 0) return;
        // What is known is relative to the old execution mask, but what the branch tests stays.
        ended_ = is_zero(function_.arg(inst, 0));
        if (ended_) return;
        forget();
        return set_to_execution(function_.arg(inst, 0));
      case Op::flag_read: {
        Lanes lanes;
        for (unsigned i = 0; i < inst.lanes; ++i) lanes[i] = flag(inst.imm + i);
        return set(inst.result, lanes);
      }
      case Op::flag_write: {
        const Lanes value = lanes_of(function_.arg(inst, 0));
        const Lanes mask = inst.mask == no_value ? Lanes{} : lanes_of(inst.mask);
        for (unsigned i = 0; i < inst.lanes && inst.imm + i < flags_.size(); ++i)
          flags_[inst.imm + i] = inst.mask == no_value ? value[i] : written(value[i], mask[i]);
        return;
      }
      default:
        if (is_mask(inst.type) && is_pure(inst.op) && inst.result_count == 1) logic(inst);
    }
  }
  Lane flag(std::uint64_t bit) const { return bit < flags_.size() ? flags_[bit] : Lane{}; }
  /// Outside the mask the bit keeps its old value.
  static Lane written(Lane value, Lane mask) {
    if (mask.kind != Lane::Channel) return {};
    if (value.kind == Lane::One) return {Lane::AtLeastChannel, mask.channel};
    if (value.kind == Lane::Zero) return {Lane::Outside, mask.channel};
    return {};
  }
  void logic(const Inst& inst) {
    const auto arg = [&](unsigned k) { return lanes_of(function_.arg(inst, k)); };
    Lanes result;
    for (unsigned i = 0; i < inst.lanes; ++i) switch (inst.op) {
        case Op::constant:
          result[i] = {inst.imm >> i & 1 ? Lane::One : Lane::Zero};
          break;
        case Op::not_:
          result[i] = complement(arg(0)[i]);
          break;
        case Op::and_:
          result[i] = both(arg(0)[i], arg(1)[i]);
          break;
        case Op::andn:
          result[i] = both(complement(arg(0)[i]), arg(1)[i]);
          break;
        case Op::or_:
          result[i] = either(arg(0)[i], arg(1)[i]);
          break;
        case Op::slice:
          result[i] = arg(0)[i + inst.imm];
          break;
        case Op::concat: {
          const unsigned low = function_.values[function_.arg(inst, 0)].lanes;
          result[i] = i < low ? arg(0)[i] : arg(1)[i - low];
          break;
        }
        default:
          break;
      }
    set(inst.result, result);
  }

  // ---- How channels are parked

  const Inst* definition(const Block& block, ValueId value) const {
    for (const Inst& inst : block.insts)
      if (inst.result_count == 1 && inst.result == value) return &inst;
    return nullptr;
  }
  /// mask variable k = (mask variable k) | (~mask & execution mask), then execution mask = mask.
  std::optional<Parking> parking_of(const Block& block, ValueId mask) const {
    std::array<std::ptrdiff_t, 2> sets{-1, -1};
    for (std::size_t i = 0; i < block.insts.size(); ++i)
      if (block.insts[i].op == Op::mask_set) sets = {sets[1], static_cast<std::ptrdiff_t>(i)};
    if (sets[0] < 0) return std::nullopt;
    const Inst& parked = block.insts[static_cast<std::size_t>(sets[0])];
    const Inst& execution = block.insts[static_cast<std::size_t>(sets[1])];
    if (parked.imm == 0 || execution.imm != 0 || function_.arg(execution, 0) != mask) return std::nullopt;
    const Inst* all = definition(block, function_.arg(parked, 0));
    if (!all || all->op != Op::or_) return std::nullopt;
    const Inst* before = definition(block, function_.arg(*all, 0));
    const Inst* parks = definition(block, function_.arg(*all, 1));
    if (!before || before->op != Op::mask_get || before->imm != parked.imm) return std::nullopt;
    if (!parks || parks->op != Op::andn || function_.arg(*parks, 0) != mask ||
        function_.arg(*parks, 1) != execution_)
      return std::nullopt;
    // Nothing between the two, or after them, may use masks or leave.
    for (auto i = static_cast<std::size_t>(sets[0]) + 1; i + 1 < block.insts.size(); ++i)
      if (block.insts[i].op != Op::mask_set && !is_pure(block.insts[i].op)) return std::nullopt;
    return Parking{parked.imm, sets[0], sets[1]};
  }

  Function& function_;
  std::vector<std::uint32_t> known_;  ///< of each value: its place in lanes_, or none
  std::vector<Lanes> lanes_;
  std::vector<Lane> flags_;
  ValueId execution_ = no_value;
  bool ended_ = false;  ///< the execution mask has become zero
};

}  // namespace

void untaken_branches(Function& function) {
  BlockBranch branches(function);
  for (Block& block : function.blocks) branches.run(block);
}

}  // namespace eum::jit
