// The alternative floating point mode and the accumulator disable and vector mask enable bits, as selections
// by cr0.0, only in programs that may set them. Facts: the manual's 2.3.2, the definition of "ALT mode" in
// its glossary, 3.3.3.7 and 3.3.3.8.
#include "frontend/eu/modes.hpp"

#include <bit>

#include "frontend/eu/lowering.hpp"

namespace eum::eu {

using ir::Op;
using ir::Type;
using ir::ValueId;

bool Lowering::may_be_on(std::uint32_t mode) const { return (flow_.modes() & mode) != 0; }

ValueId Lowering::mode_mask(std::uint32_t mode, unsigned lanes) {
  const ValueId modes = scalar(Type::u32, target_.offset(StateRegister::Control));
  const auto bit = static_cast<unsigned>(std::countr_zero(mode));
  // Spreads the one bit to all ones or all zeros.
  const ValueId top = builder_.lanewise(Op::shl, {modes, builder_.constant(Type::u32, 1, 31 - bit)});
  const ValueId sign = builder_.lanewise(
      Op::asr, {builder_.convert(Op::bitcast, Type::s32, top), builder_.constant(Type::s32, 1, 31)});
  return builder_.bits_mask(builder_.convert(Op::bitcast, Type::u32, sign), lanes);
}

ValueId Lowering::without_specials(ValueId value) {
  const unsigned lanes = builder_.lanes_of(value);
  const auto constant = [&](std::uint32_t bits) { return builder_.constant(Type::u32, lanes, bits); };
  constexpr std::uint32_t infinity = 0x7f800000, largest = 0x7f7fffff, smallest_normal = 0x00800000;
  const ValueId bits = builder_.convert(Op::bitcast, Type::u32, value);
  const ValueId sign = builder_.lanewise(Op::and_, {bits, constant(0x80000000)});
  const ValueId size = builder_.lanewise(Op::and_, {bits, constant(0x7fffffff)});
  ValueId result = builder_.select(builder_.compare(Op::cmp_lt, size, constant(smallest_normal)), sign, bits);
  result = builder_.select(builder_.compare(Op::cmp_eq, size, constant(infinity)),
                           builder_.lanewise(Op::or_, {sign, constant(largest)}), result);
  result = builder_.select(builder_.compare(Op::cmp_gt, size, constant(infinity)), constant(0), result);
  result = builder_.select(mode_mask(mode::AlternativeFloats, lanes), result, bits);
  return builder_.convert(Op::bitcast, Type::f32, result);
}

ValueId Lowering::as_input(const Operand& op, ValueId value) {
  if (!may_be_on(mode::AlternativeFloats) || op.type != Type::f32 || builder_.type_of(value) != Type::f32)
    return value;
  value = without_specials(value);
  // In this mode extended math takes the absolute value, so that neither NaN nor infinity results.
  const Op math = inst_->op;
  if (math != Op::log2 && math != Op::sqrt && math != Op::rsqrt) return value;
  return builder_.select(mode_mask(mode::AlternativeFloats, builder_.lanes_of(value)),
                         builder_.lanewise(Op::abs, {value}), value);
}

ValueId Lowering::as_result(ValueId value) {
  if (!may_be_on(mode::AlternativeFloats) || builder_.type_of(value) != Type::f32) return value;
  return without_specials(value);
}

ValueId Lowering::accumulator_mask(ValueId mask, unsigned lanes) {
  if (!may_be_on(mode::AccumulatorDisable)) return mask;
  return both(mask, builder_.lanewise(Op::not_, {mode_mask(mode::AccumulatorDisable, lanes)}));
}

// Channels of the vector mask only are activated at the current instruction when it is switched on, and
// removed from the execution mask and all parking places when it is switched off.
void Lowering::switch_masks(ValueId old, ValueId now) {
  const unsigned state = target_.offset(StateRegister::State), simd = builder_.function().simd;
  const ValueId dispatched = scalar(Type::u32, state + 8), vector = scalar(Type::u32, state + 12);
  // All ones if the bit is set in `a` and not in `b`, else 0.
  const auto changes = [&](ValueId a, ValueId b) {
    constexpr unsigned bit = std::countr_zero(mode::VectorMask);
    const ValueId set = builder_.lanewise(Op::andn, {b, a});
    const ValueId low = builder_.lanewise(Op::shr, {set, builder_.constant(Type::u32, 1, bit)});
    return builder_.lanewise(Op::neg,
                             {builder_.lanewise(Op::and_, {low, builder_.constant(Type::u32, 1, 1)})});
  };
  const ValueId more = builder_.bits_mask(builder_.lanewise(Op::and_, {changes(now, old), vector}), simd);
  const ValueId kept = builder_.bits_mask(
      builder_.lanewise(Op::or_, {builder_.lanewise(Op::not_, {changes(old, now)}), dispatched}), simd);
  for (unsigned variable = 1; variable < flow_.mask_variables(); ++variable)
    builder_.mask_set(variable, builder_.lanewise(Op::and_, {builder_.mask_get(variable), kept}));
  set_execution_mask(
      builder_.lanewise(Op::and_, {builder_.lanewise(Op::or_, {execution_mask(), more}), kept}));
}

}  // namespace eum::eu
