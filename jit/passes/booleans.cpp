// Comparisons that have gone through numbers. For "x == 0 || y == 0" compilers turn one mask into a number
// that is -1 or 0, combine it with the other mask into another number, and compare that with 0: with masks it
// is an or. Or they make two numbers that are 1 or 0, and compare the and of these.
#include <array>
#include <optional>

#include "frontend/ir/semantics/lane_function.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

class BlockBooleans {
 public:
  explicit BlockBooleans(Function& function) : function_(function), out_(function) {}

  void run(Block& block) {
    out_.clear();
    changes_ = false;
    for (const Inst& source : block.insts) {
      Inst inst = source;
      same_.resolve(function_, inst);
      if (info(inst.op).shape == Shape::Compare && is_int(inst.type) && simplify(inst)) continue;
      out_.keep(inst);
    }
    if (changes_) out_.replace(block);
  }

 private:
  /// The result of a comparison in a lane: the same for all lanes, or that of a mask.
  struct Outcome {
    enum { Zero, One, Mask } what;
    ValueId mask = no_value;
  };

  ValueId mask_of(Op op, unsigned lanes, std::initializer_list<ValueId> args) {
    return out_.append(make_op(op, Type::m, lanes, ip_), args);
  }

  /// The constant that every lane of a value equals.
  const Inst* constant_of(ValueId value) const {
    const Inst* inst = out_.definition(value);
    if (inst && inst->op == Op::splat) inst = out_.definition(function_.arg(*inst, 0));
    return inst && inst->op == Op::constant ? inst : nullptr;
  }

  bool simplify(const Inst& compare) {
    const auto constant_at = [&](unsigned k) { return constant_of(function_.arg(compare, k)); };
    const unsigned tested = constant_at(0) ? 1 : 0;
    if (constant_at(tested) || !constant_at(1 - tested)) return false;
    compare_ = &compare;
    tested_ = tested;
    other_ = constant_at(1 - tested)->imm;
    ip_ = compare.guest_ip;
    steps_ = 0;
    const std::size_t before = out_.insts().size();
    const auto outcome = outcome_of(function_.arg(compare, tested), 0);
    // A constant result is left to constant folding.
    if (!outcome || outcome->what != Outcome::Mask) {
      out_.insts().resize(before);
      return false;
    }
    same_.add(compare.result, outcome->mask);
    changes_ = true;
    return true;
  }

  std::optional<Outcome> outcome_of(ValueId value, unsigned depth) {
    const Inst* inst = out_.definition(value);
    if (!inst || depth > deepest || !is_int(inst->type)) return std::nullopt;
    switch (inst->op) {
      case Op::constant:
        return test(inst->imm);
      case Op::splat: {
        const auto outcome = outcome_of(function_.arg(*inst, 0), depth + 1);
        // A mask of one lane is not a mask of all lanes.
        return outcome && outcome->what == Outcome::Mask ? std::nullopt : outcome;
      }
      case Op::neg:
      case Op::not_:
        break;
      case Op::convert:
      case Op::bitcast:
        if (!is_int(inst->from)) return std::nullopt;
        break;
      case Op::select:
        return chosen(*inst, depth);
      case Op::and_:
      case Op::or_:
        return joined(value, depth);
      default:
        return std::nullopt;
    }
    if (steps_ == through_.size()) return std::nullopt;
    through_[steps_++] = {inst->op, inst->type, inst->from};
    const auto outcome = outcome_of(function_.arg(*inst, 0), depth + 1);
    --steps_;
    return outcome;
  }

  std::optional<Outcome> chosen(const Inst& select, unsigned depth) {
    const std::array<ValueId, 3> args{function_.arg(select, 0), function_.arg(select, 1),
                                      function_.arg(select, 2)};
    const unsigned lanes = select.lanes;
    const auto a = outcome_of(args[1], depth + 1);
    if (!a) return std::nullopt;
    const auto b = outcome_of(args[2], depth + 1);
    if (!b) return std::nullopt;
    const ValueId m = args[0];
    const auto mask = [](ValueId value) { return Outcome{Outcome::Mask, value}; };
    if (a->what == b->what && a->what != Outcome::Mask) return a;
    if (a->what == Outcome::One)
      return mask(b->what == Outcome::Zero ? m : mask_of(Op::or_, lanes, {m, b->mask}));
    if (a->what == Outcome::Zero)
      return mask(b->what == Outcome::One ? mask_of(Op::not_, lanes, {m})
                                          : mask_of(Op::andn, lanes, {m, b->mask}));
    const ValueId inside = mask_of(Op::and_, lanes, {m, a->mask});
    if (b->what == Outcome::Zero) return mask(inside);
    const ValueId outside =
        b->what == Outcome::One ? mask_of(Op::not_, lanes, {m}) : mask_of(Op::andn, lanes, {m, b->mask});
    return mask(mask_of(Op::or_, lanes, {inside, outside}));
  }

  /// A number that is `on` where the mask is set, and elsewhere 0.
  struct Choice {
    ValueId mask;
    std::uint64_t on;
  };
  std::optional<Choice> choice_of(ValueId value, unsigned depth) {
    const Inst* found = out_.definition(value);
    if (!found || depth > deepest || !is_int(found->type)) return std::nullopt;
    const Inst inst = *found;
    if (inst.op == Op::select) {
      const Inst* on = constant_of(function_.arg(inst, 1));
      const Inst* off = constant_of(function_.arg(inst, 2));
      if (!on || !off || off->imm != 0) return std::nullopt;
      return Choice{function_.arg(inst, 0), on->imm};
    }
    if (inst.op != Op::and_ && inst.op != Op::or_) return std::nullopt;
    const auto a = choice_of(function_.arg(inst, 0), depth + 1);
    if (!a) return std::nullopt;
    const auto b = choice_of(function_.arg(inst, 1), depth + 1);
    if (!b || (inst.op == Op::or_ && a->on != b->on)) return std::nullopt;
    return Choice{mask_of(inst.op, inst.lanes, {a->mask, b->mask}), a->on & b->on};
  }
  std::optional<Outcome> joined(ValueId value, unsigned depth) {
    const unsigned lanes = function_.values[value].lanes;
    const auto choice = choice_of(value, depth);
    if (!choice) return std::nullopt;
    const Outcome on = test(choice->on), off = test(0);
    if (on.what == off.what) return on;
    if (on.what == Outcome::One) return Outcome{Outcome::Mask, choice->mask};
    return Outcome{Outcome::Mask, mask_of(Op::not_, lanes, {choice->mask})};
  }

  /// The result of the comparison for a constant, after the ops in through_.
  Outcome test(std::uint64_t bits) const {
    for (unsigned i = steps_; i-- > 0;) {
      const void* arg = &bits;
      std::uint64_t result = 0;
      lane_function(through_[i].op, through_[i].type, through_[i].from)(&result, &arg, 1);
      bits = result;
    }
    std::array<const void*, 2> args{};
    args[tested_] = &bits;
    args[1 - tested_] = &other_;
    std::uint64_t result = 0;
    lane_function(compare_->op, compare_->type)(&result, args.data(), 1);
    return {(result & 1) != 0 ? Outcome::One : Outcome::Zero};
  }

  static constexpr unsigned deepest = 8;
  struct Step {
    Op op;
    Type type, from;
  };
  Function& function_;
  NewBlock out_;
  SameValues same_;
  bool changes_ = false;
  // The current comparison.
  const Inst* compare_ = nullptr;
  unsigned tested_ = 0;
  std::uint64_t other_ = 0;
  std::uint32_t ip_ = 0;
  std::array<Step, deepest> through_{};  // from the comparison inwards
  unsigned steps_ = 0;
};

}  // namespace

void booleans(Function& function) {
  run_on_blocks_with<BlockBooleans>(
      function, [](const Inst& inst) { return inst.op == Op::select && is_int(inst.type); });
}

}  // namespace eum::jit
