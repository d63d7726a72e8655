// Comparisons, minima and maxima of negated dwords, as in `cmp (eq) r1:d -r2:d` and clamping to a range from
// -x to x. Negating the lowest number of 32 bits gives one that is not such a number, so that lowering
// computes in 64 bits, in which hosts do half as many lanes at once, and have neither minimum nor maximum.
// With 32 bits only the lowest number is apart.
#include <array>
#include <optional>

#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

constexpr std::uint64_t lowest = 0x80000000;

class BlockNegations {
 public:
  explicit BlockNegations(Function& function) : function_(function), out_(function) {}

  void run(Block& block) {
    out_.clear();
    bool changed = false;
    for (const Inst& inst : block.insts) {
      const bool replaced = info(inst.op).shape == Shape::Compare ? compare(inst)
                            : inst.op == Op::convert              ? choose(inst)
                                                                  : false;
      replaced ? out_.let_last_define(inst.result) : out_.keep(inst);
      changed |= replaced;
    }
    if (changed) out_.replace(block);
  }

 private:
  /// A number of 33 bits: a dword, or what is negated.
  struct Number {
    ValueId value = no_value;  ///< of type s32, if it exists; it may have one lane, which all lanes get
    std::uint64_t constant = 0;
    ValueId narrow = no_value;  ///< of a type of fewer bits
    bool is_negated = false;

    /// Whether it may be the negated lowest number.
    bool may_exceed() const { return is_negated && narrow == no_value; }
  };

  std::optional<Number> number(ValueId value, bool is_negated = false) const {
    const Inst* inst = out_.definition(value);
    if (!inst || inst->type != Type::s64) return std::nullopt;
    switch (inst->op) {
      case Op::constant: {
        const auto signed_bits = static_cast<std::int64_t>(inst->imm);
        if (is_negated || signed_bits != static_cast<std::int32_t>(signed_bits)) return std::nullopt;
        return Number{.constant = inst->imm & ~0u};
      }
      case Op::convert: {
        const ValueId from = function_.arg(*inst, 0);
        if (inst->from == Type::s32) return Number{.value = from, .is_negated = is_negated};
        if (!is_int(inst->from) || size_of(inst->from) >= 4) return std::nullopt;
        return Number{.narrow = from, .is_negated = is_negated};
      }
      case Op::neg:
        return is_negated ? std::nullopt : number(function_.arg(*inst, 0), true);
      case Op::splat:
        return number(function_.arg(*inst, 0), is_negated);
      default:
        return std::nullopt;
    }
  }
  using Numbers = std::array<Number, 2>;
  /// The operands of an op on 64 bits, of which one is negated.
  std::optional<Numbers> operands(const Inst& inst) const {
    if (inst.type != Type::s64) return std::nullopt;
    const auto a = number(function_.arg(inst, 0)), b = number(function_.arg(inst, 1));
    if (!a || !b || a->is_negated == b->is_negated) return std::nullopt;
    return Numbers{*a, *b};
  }

  ValueId append(Op op, unsigned lanes, const Inst& at, std::initializer_list<ValueId> args,
                 std::uint64_t imm = 0) {
    Inst inst = make_op(op, Type::s32, lanes, at.guest_ip);
    inst.imm = imm;
    return out_.append(inst, args);
  }
  unsigned lanes_of(ValueId value) const { return function_.values[value].lanes; }
  /// The dword, in one lane if all lanes get it.
  ValueId plain(const Number& number, const Inst& at) {
    if (number.value != no_value) return number.value;
    if (number.narrow == no_value) return append(Op::constant, at.lanes, at, {}, number.constant);
    Inst wider = make_op(Op::convert, Type::s32, lanes_of(number.narrow), at.guest_ip);
    wider.from = function_.values[number.narrow].type;
    return out_.append(wider, {number.narrow});
  }
  ValueId negation(ValueId value, const Inst& at) { return append(Op::neg, lanes_of(value), at, {value}); }
  /// The value in all lanes.
  ValueId spread(ValueId value, const Inst& at) {
    return lanes_of(value) == at.lanes ? value : append(Op::splat, at.lanes, at, {value});
  }
  /// A mask of all lanes.
  ValueId is_lowest(ValueId value, ValueId negated, const Inst& at) {
    if (lanes_of(value) == at.lanes)
      return append(Op::cmp_eq, at.lanes, at, {value, append(Op::constant, at.lanes, at, {}, lowest)});
    // Only of 0 and of the lowest number both have the same sign, and 0 has none.
    const ValueId both = append(Op::and_, 1, at, {value, negated});
    const ValueId bits = append(Op::asr, 1, at, {both, append(Op::constant, 1, at, {}, 31)});
    Inst all = make_op(Op::bits_mask, Type::m, at.lanes, at.guest_ip);
    all.from = Type::s32;
    return out_.append(all, {bits});
  }

  /// True: the last op of out_ replaces it.
  bool compare(const Inst& inst) {
    const auto numbers = operands(inst);
    if (!numbers) return false;
    const auto& [a, b] = *numbers;
    const Number& negative = a.is_negated ? a : b;
    const ValueId x = plain(a, inst), y = plain(b, inst), value = a.is_negated ? x : y;
    const ValueId negated = negation(value, inst);
    const ValueId left = spread(a.is_negated ? negated : x, inst);
    const ValueId right = spread(b.is_negated ? negated : y, inst);
    const ValueId order = append(inst.op, inst.lanes, inst, {left, right});
    if (!negative.may_exceed()) return true;
    // The negated lowest number is above all others.
    const bool is_true =
        inst.op == Op::cmp_ne || (a.is_negated ? inst.op == Op::cmp_gt || inst.op == Op::cmp_ge
                                               : inst.op == Op::cmp_lt || inst.op == Op::cmp_le);
    const ValueId exceeds = is_lowest(value, negated, inst);
    Inst both = make_op(is_true ? Op::or_ : Op::andn, Type::m, inst.lanes, inst.guest_ip);
    out_.append(both, {exceeds, order});
    return true;
  }

  /// The same for the low bits of a minimum or maximum.
  bool choose(const Inst& inst) {
    if (inst.from != Type::s64 || !is_int(inst.type) || size_of(inst.type) != 4) return false;
    const Inst* found = out_.definition(function_.arg(inst, 0));
    if (!found || (found->op != Op::min && found->op != Op::max)) return false;
    const Inst op = *found;
    const auto numbers = operands(op);
    if (!numbers) return false;
    const auto& [a, b] = *numbers;
    const Number &negative = a.is_negated ? a : b, &plus = a.is_negated ? b : a;
    const ValueId value = plain(negative, inst), other = spread(plain(plus, inst), inst);
    const ValueId negated = negation(value, inst);
    ValueId result = append(op.op, inst.lanes, inst, {spread(negated, inst), other});
    if (negative.may_exceed())  // its low bits are those of the lowest number
      result =
          append(Op::select, inst.lanes, inst,
                 {is_lowest(value, negated, inst), op.op == Op::max ? spread(value, inst) : other, result});
    if (inst.type != Type::s32) {
      Inst cast = make_op(Op::bitcast, inst.type, inst.lanes, inst.guest_ip);
      cast.from = Type::s32;
      out_.append(cast, {result});
    }
    return true;
  }

  Function& function_;
  NewBlock out_;
};

}  // namespace

void negations(Function& function) {
  run_on_blocks_with<BlockNegations>(
      function, [](const Inst& inst) { return inst.op == Op::neg && inst.type == Type::s64; });
}

}  // namespace eum::jit
