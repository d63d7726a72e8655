// Ops on types that hosts do not compute on become the same op on a wider type between conversions: f16 on
// f32 (as its semantics do), integers of 8 and 16 bits where products, quotients and shifts want
// more. Conversions take a step on the way where there is no direct one.
#include "frontend/ir/float_ops.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

enum class Widening : std::uint8_t {
  None,
  Half,         ///< computed on f32
  Product,      ///< 8 bits on 16
  Quotient,     ///< 8 or 16 bits on 32
  Shift,        ///< 8 bits on 32
  ThroughF32,   ///< a conversion to or from f16
  ThroughS32,   ///< a conversion between floats and narrow integers
  Twice,        ///< 64 bits to 8 or 16
  Clamp,        ///< a conversion of integers that saturates
  ClampToUnit,  ///< a conversion to a float that saturates
};

Widening widening_of_convert(const Inst& inst) {
  const Type to = inst.type, from = inst.from;
  if (inst.op == Op::bitcast || inst.op == Op::convert_indefinite) return Widening::None;
  const bool saturates = inst.op == Op::convert_sat;
  if (is_int(to) && is_int(from)) {
    if (saturates) return Widening::Clamp;
    return size_of(from) == 8 && size_of(to) < 4 && inst.lanes > 1 ? Widening::Twice : Widening::None;
  }
  const bool direct = from == Type::f32 && !saturates;
  if (to == Type::f16 && from != Type::f64 && from != Type::f16 && !direct) return Widening::ThroughF32;
  if (to == Type::f16 && from == Type::f16 && saturates) return Widening::ThroughF32;
  if (from == Type::f16 && to != Type::f16 && to != Type::f32) return Widening::ThroughF32;
  if (is_float(from) && is_int(to) && size_of(to) < 4) return Widening::ThroughS32;
  if (to == Type::f64 && is_int(from) && size_of(from) < 4) return Widening::ThroughS32;
  // Conversions from f64 have a mode of denormals of their own, which every step has to keep.
  if (saturates && is_float(to) && to != Type::f16 && (from != Type::f64 || to == from))
    return Widening::ClampToUnit;
  return Widening::None;
}

Widening widening_of(const Inst& inst) {
  if (info(inst.op).shape == Shape::Convert) return widening_of_convert(inst);
  if (inst.type == Type::f16 && computes_on_floats(inst)) return Widening::Half;
  // One-lane integers are in general registers, which have 32 bits or more anyway.
  if (!is_int(inst.type) || size_of(inst.type) > 2 || inst.lanes == 1) return Widening::None;
  switch (inst.op) {
    case Op::mul:
    case Op::mad:
      return size_of(inst.type) == 1 ? Widening::Product : Widening::None;
    case Op::quot:
      return Widening::Quotient;
    case Op::shl:
    case Op::shr:
    case Op::asr:
      return size_of(inst.type) == 1 ? Widening::Shift : Widening::None;
    default:
      return Widening::None;
  }
}

class Widener {
 public:
  Widener(Builder& builder, const Inst& inst) : b_(builder), inst_(inst) {
    std::ranges::copy(b_.function().args(inst), args_.begin());
  }

  void append(Widening widening) {
    switch (widening) {
      case Widening::None:
        break;
      case Widening::Half:
        return half();
      case Widening::Product:
        return on(int_type(2, is_signed(inst_.type)));
      case Widening::Quotient:
        return quotient();
      case Widening::Shift:
        return shift();
      case Widening::ThroughF32:
        return step(Type::f32);
      case Widening::ThroughS32:
        return step(Type::s32);
      case Widening::Twice:
        return (void)convert(convert(args_[0], Type::u32), inst_.type);
      case Widening::Clamp:
        return clamp(args_[0], inst_.type);
      case Widening::ClampToUnit:
        return (void)b_.lanewise(Op::sat, {convert(args_[0], inst_.type)});
    }
  }

 private:
  ValueId convert(ValueId value, Type to) { return b_.convert(Op::convert, to, value); }
  ValueId constant(Type type, std::uint64_t bits) { return b_.constant(type, inst_.lanes, bits); }

  /// The op on operands of type `wide`.
  ValueId wide_op(Type wide) {
    // A result that is rounded twice must not be rounded to a tie first.
    const Op op = inst_.op == Op::fma && wide == Type::f32 ? Op::fma_odd : inst_.op;
    std::array<ValueId, max_pure_operands> args{};
    for (std::size_t k = 0; k < inst_.arg_count; ++k) args[k] = convert(args_[k], wide);
    return b_.append(Builder::make(op, wide, inst_.lanes), {args.data(), inst_.arg_count});
  }
  void on(Type wide) { convert(wide_op(wide), inst_.type); }

  void half() {
    ValueId result = wide_op(Type::f32);
    if (info(inst_.op).shape == Shape::Compare) return;
    if (inst_.op == Op::frc) {
      // f32 has numbers below 1 that round to 1 in f16. NaN is unchanged.
      const ValueId below_one = constant(Type::f32, 0x3f7fe000);
      result = b_.select(b_.compare(Op::cmp_lt, below_one, result), below_one, result);
    }
    convert(result, Type::f16);
  }

  void quotient() {
    const Type type = inst_.type;
    if (!is_signed(type)) return on(Type::u32);
    // x/0 is the lowest or highest number of the type.
    const std::uint64_t highest = (1u << (8 * size_of(type) - 1)) - 1;
    const ValueId quotient = convert(wide_op(Type::s32), type);
    const ValueId wide = convert(args_[0], Type::s32);
    const ValueId sign = convert(b_.lanewise(Op::asr, {wide, constant(Type::s32, 31)}), type);
    const ValueId by_zero = b_.compare(Op::cmp_eq, args_[1], constant(type, 0));
    b_.select(by_zero, b_.lanewise(Op::xor_, {sign, constant(type, highest)}), quotient);
  }

  void shift() {
    const unsigned bytes = size_of(inst_.type);
    const Type wide = inst_.op == Op::asr ? Type::s32 : Type::u32;
    const ValueId as = b_.convert(Op::bitcast, int_type(bytes, is_signed(wide)), args_[0]);
    const ValueId mask = constant(inst_.type, 8 * bytes - 1);
    const ValueId count = convert(b_.lanewise(Op::and_, {args_[1], mask}), wide);
    convert(b_.lanewise(inst_.op, {convert(as, wide), count}), inst_.type);
  }

  /// Clamped to the range of the type `to`, then converted.
  void clamp(ValueId value, Type to) {
    const Type from = b_.type_of(value);
    const auto digits = [](Type type) { return 8 * size_of(type) - (is_signed(type) ? 1 : 0); };
    if (is_signed(from) && (!is_signed(to) || digits(to) < digits(from))) {
      const std::uint64_t lowest = is_signed(to) ? ~std::uint64_t{0} << digits(to) : 0;
      value = b_.lanewise(Op::max, {value, constant(from, lowest)});
    }
    if (digits(to) < digits(from))
      value = b_.lanewise(Op::min, {value, constant(from, (std::uint64_t{1} << digits(to)) - 1)});
    if (from == to) return (void)b_.lanewise(Op::or_, {value, value});
    if (size_of(from) == 8 && size_of(to) < 4) value = convert(value, Type::u32);
    convert(value, to);
  }

  void step(Type through) {
    const Type to = inst_.type;
    const bool clamps_to_unit = inst_.op == Op::convert_sat && is_float(to);
    ValueId value = convert(args_[0], through);
    if (is_int(to) && size_of(to) < 4) return clamp(convert(value, Type::s32), to);
    if (clamps_to_unit && to == Type::f16) value = b_.lanewise(Op::sat, {value});
    value = convert(value, to);
    if (clamps_to_unit && to != Type::f16) b_.lanewise(Op::sat, {value});
  }

  Builder& b_;
  const Inst& inst_;
  std::array<ValueId, max_pure_operands> args_{};
};

}  // namespace

void widen(Function& function) {
  rewrite(
      function, [](const Inst& inst) { return widening_of(inst) != Widening::None; },
      [](Builder& builder, const Inst& inst) { Widener(builder, inst).append(widening_of(inst)); });
}

}  // namespace eum::jit
