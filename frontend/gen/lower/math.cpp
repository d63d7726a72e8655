// The math instruction: one micro-op a function.
#include "frontend/gen/lower/handlers.hpp"

namespace eum::gen {
namespace {

std::optional<ir::Op> math_op(MathFunction function) {
  using enum MathFunction;
  switch (function) {
    case inv:
      return ir::Op::rcp;
    case log:
      return ir::Op::log2;
    case exp:
      return ir::Op::exp2;
    case sqt:
    case rsqtm:
      return ir::Op::sqrt;
    case rsqt:
      return ir::Op::rsqrt;
    case sin:
      return ir::Op::sin;
    case cos:
      return ir::Op::cos;
    case fdiv:
    case invm:
      return ir::Op::div;
    case pow:
      return ir::Op::pow;
    case idiv:
    case iqot:
      return ir::Op::quot;
    case irem:
      return ir::Op::rem;
    default:
      return std::nullopt;
  }
}

/// The register behind the quotient takes the remainder, as far as the quotient goes.
void write_remainder(Lowering& l, ir::ValueId a, ir::ValueId c) {
  Operand dst = l.inst().dst;
  unsigned registers = (l.lanes() * size_of(dst.type) + 31) / 32;
  dst.reg = static_cast<std::uint8_t>(dst.reg + registers);
  l.write(dst, l.b().lanewise(ir::Op::rem, {a, c}), l.write_mask());
}

}  // namespace

void lower_math(Lowering& l) {
  const Instruction& in = l.inst();
  std::optional<ir::Op> op = math_op(in.math);
  if (!op) return l.unsupported("math function that is not modelled");
  bool integer = *op == ir::Op::quot || *op == ir::Op::rem;
  ir::Type type = integer ? ordered_type(in) : modular_type(in);
  if (integer && (!ir::is_int(type) || ir::size_of(type) != 4))
    return l.unsupported("division of other than dwords");
  if (!integer && !ir::is_float(type)) return l.unsupported("integer operand");
  if (!ir::takes(ir::info(*op).types, type)) return l.unsupported("math function of this type");
  ir::ValueId a = l.source(0, type);
  if (in.math == MathFunction::idiv) {
    unsigned registers = (l.lanes() * size_of(in.dst.type) + 31) / 32;
    if (!in.dst.is_grf() || in.dst.reg + 2 * registers > 128)
      return l.unsupported("remainder beyond the registers");
    ir::ValueId c = l.source(1, type);
    ir::ValueId quotient = l.b().lanewise(ir::Op::quot, {a, c});
    l.write(in.dst, quotient, l.write_mask());
    return write_remainder(l, a, c);
  }
  bool two = source_count(in.math) == 2;
  ir::ValueId result = two ? l.b().lanewise(*op, {a, l.source(1, type)}) : l.b().lanewise(*op, {a});
  if (is_macro(in.math)) {
    // The macro's first instruction may finish early, channel by channel, and says so in the flag; the rest
    // of the macro runs where the flag is clear. Every channel finishes here, with the correctly rounded
    // quotient or root.
    l.write_flag_mask(l.b().constant(ir::Type::m, l.lanes(), (1ull << l.lanes()) - 1));
    return l.write(in.dst, l.to_destination(result), l.write_mask());
  }
  l.finish(result);
}

}  // namespace eum::gen
