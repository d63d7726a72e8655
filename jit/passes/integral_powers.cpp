// Powers of two of integral numbers. Compilers compute e^x and what is built of it as 2^n * 2^f, with n
// rounded and f small, each by the instruction for powers of two: of those of n the fraction is zero. From
//   %v = max (min %x, ...), ...; %n = rnde %v; %f = sub %v, %n; %p = fma %f, ..., 1; ...
//   add (mul (mul %p, %a), %b), (select (cmp_lt %x, inf), 0, %x)
// the rounding and the polynomial of the fraction, which is 1, are left out.
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "frontend/ir/semantics/transcendental.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

class IntegralPowers {
 public:
  explicit IntegralPowers(Function& function) : function_(function), out_(function) {}

  void run(Block& block) {
    out_.clear();
    bool changes = false;
    for (Inst inst : block.insts) {
      same_.resolve(function_, inst);
      if (inst.op == Op::rnde && is_integral(arg(inst, 0))) {
        same_.add(inst.result, arg(inst, 0));
        changes = true;
        continue;
      }
      if (inst.op == Op::add) changes |= simplify(inst);
      out_.keep(inst);
    }
    if (changes) out_.replace(block);
  }

 private:
  static constexpr unsigned most_depth = 8;

  ValueId arg(const Inst& inst, unsigned k) const { return function_.arg(inst, k); }
  /// The instruction that defines the value, if it is an `op`.
  const Inst* defined_by(ValueId value, Op op) const {
    const Inst* inst = out_.definition(value);
    return inst && inst->op == op ? inst : nullptr;
  }
  std::optional<float> constant(ValueId value) const {
    const Inst* inst = defined_by(value, Op::constant);
    if (!inst || inst->type != Type::f32) return std::nullopt;
    return std::bit_cast<float>(static_cast<std::uint32_t>(inst->imm));
  }

  bool is_finite(ValueId value) const {
    const auto known = constant(value);
    return known && std::isfinite(*known);
  }
  /// Whether it lies between two constants; of NaN, the operand becomes one of them.
  bool is_clamped(ValueId value) const {
    const Inst* above = defined_by(value, Op::max);
    const Inst* below = above ? defined_by(arg(*above, 0), Op::min) : nullptr;
    return below && is_finite(arg(*above, 1)) && is_finite(arg(*below, 1));
  }
  /// Whether no lane has a fraction, or is a NaN that arithmetic would still change.
  bool is_integral(ValueId value, unsigned depth = 0) const {
    const Inst* inst = out_.definition(value);
    if (!inst || inst->type != Type::f32 || depth == most_depth) return false;
    const auto operand = [&](unsigned k) { return is_integral(arg(*inst, k), depth + 1); };
    switch (inst->op) {
      case Op::rnde:
      case Op::rndz:
      case Op::rndd:
      case Op::rndu:
        return true;
      case Op::constant:
        return std::trunc(*constant(value)) == *constant(value);
      case Op::convert:
        return is_int(inst->from);
      case Op::neg:
      case Op::abs:
      case Op::slice:
        return operand(0);
      case Op::concat:
        return operand(0) && operand(1);
      case Op::select:
        return operand(1) && operand(2);
      case Op::min:
      case Op::max:
        return operand(0) && operand(1);
      case Op::add:
        return (constant(arg(*inst, 1)) == 0.0f && operand(0)) ||
               (constant(arg(*inst, 0)) == 0.0f && operand(1));
      default:
        return false;
    }
  }

  /// math::exp2 of an integral number becomes the product of two powers.
  bool simplify(Inst& inst) {
    const Inst* beyond = inst.type == Type::f32 ? defined_by(arg(inst, 1), Op::select) : nullptr;
    const Inst* less = beyond ? defined_by(arg(*beyond, 0), Op::cmp_lt) : nullptr;
    if (!less || constant(arg(*less, 1)) != math::infinity || constant(arg(*beyond, 1)) != 0.0f) return false;
    const ValueId x = arg(*less, 0);
    if (arg(*beyond, 2) != x || !is_integral(x)) return false;
    const Inst* product = defined_by(arg(inst, 0), Op::mul);
    const Inst* first = product ? defined_by(arg(*product, 0), Op::mul) : nullptr;
    if (!first || !is_one(arg(*first, 0))) return false;
    const ValueId power = out_.append(make_op(Op::mul, Type::f32, inst.lanes, inst.guest_ip),
                                      {arg(*first, 1), arg(*product, 1)});
    function_.set_args(inst, {power, arg(inst, 1)});
    return true;
  }
  /// Whether it is the polynomial of the difference of a number, no infinity, and itself.
  bool is_one(ValueId value) const {
    const Inst* sum = defined_by(value, Op::fma);
    if (!sum || constant(arg(*sum, 2)) != 1.0f) return false;
    const ValueId fraction = arg(*sum, 0);
    const Inst* difference = defined_by(fraction, Op::sub);
    if (!difference || arg(*difference, 0) != arg(*difference, 1) || !is_clamped(arg(*difference, 0)))
      return false;
    // So that nothing else is multiplied by it.
    const Inst* rest = defined_by(arg(*sum, 1), Op::fma);
    for (unsigned depth = 0; rest && depth < most_depth; ++depth) {
      if (arg(*rest, 0) != fraction || !is_finite(arg(*rest, 2))) return false;
      if (is_finite(arg(*rest, 1))) return true;
      rest = defined_by(arg(*rest, 1), Op::fma);
    }
    return false;
  }

  Function& function_;
  NewBlock out_;
  SameValues same_;
};

}  // namespace

void integral_powers(Function& function) {
  run_on_blocks_with<IntegralPowers>(function, [](const Inst& inst) { return inst.op == Op::rnde; });
}

}  // namespace eum::jit
