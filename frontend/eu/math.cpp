// The math instruction: one micro-op per function, which determines the function's accuracy.
#include <algorithm>

#include "frontend/eu/handlers.hpp"

namespace eum::eu {
namespace {

bool is_division(ir::Op op) { return op == ir::Op::quot || op == ir::Op::rem; }

/// The type to compute `op` in, or nothing after a trap.
std::optional<ir::Type> math_type(Lowering& l, ir::Op op) {
  const bool integer = is_division(op);
  const Instruction& in = l.inst();
  ir::Type type = modular_type(in);
  const bool dwords = ir::is_int(type) && ir::size_of(type) <= 4;
  if (integer && dwords) {
    // Two d or two ud are computed in that type, to which modified values wrap; a d and a ud in a 64-bit one.
    const bool sign = ir::is_signed(in.src[0].type);
    type = sign == ir::is_signed(in.src[1].type)
               ? ir::int_type(4, sign)
               : ir::int_type(std::max(ir::size_of(ordered_type(in)), 4u), true);
  }
  const char* reason = nullptr;
  if (integer && !dwords)
    reason = "division of other than dwords";
  else if (!integer && !ir::is_float(type))
    reason = "integer operand";
  else if (!ir::takes(ir::info(op).types, type))
    reason = "math function of this type";
  if (reason == nullptr) return type;
  l.unsupported(reason);
  return std::nullopt;
}

/// Division by 0 gives the largest or smallest number of the destination's type, whatever type it is computed
/// in.
ir::ValueId apply(Lowering& l, ir::Op op, ir::ValueId a, ir::ValueId c) {
  ir::Builder& b = l.b();
  const ir::ValueId value = b.lanewise(op, {a, c});
  const ir::Type type = b.type_of(a), to = l.inst().dst.type;
  if (op != ir::Op::quot || ir::size_of(type) <= 4 || !ir::is_int(to)) return value;
  const ir::ValueId bound = b.convert(ir::Op::convert, type, b.convert(ir::Op::convert_sat, to, value));
  return b.select(b.compare(ir::Op::cmp_eq, c, b.constant(type, l.lanes(), 0)), bound, value);
}

/// The function's result, or nothing after a trap.
std::optional<ir::ValueId> evaluate(Lowering& l, ir::Op op) {
  const std::optional<ir::Type> type = math_type(l, op);
  if (!type) return std::nullopt;
  ir::ValueId a = l.source(0, *type);
  if (l.inst().source_count == 1) return l.b().lanewise(op, {a});
  return apply(l, op, a, l.source(1, *type));
}

}  // namespace

void lower_math(Lowering& l, ir::Op op) {
  if (std::optional<ir::ValueId> result = evaluate(l, op)) l.finish(*result);
}

// The macro's first instruction may finish some channels early and sets their flags; the rest of the macro
// runs for channels whose flag is clear. Here every channel finishes at once, with the correctly rounded
// quotient or root.
void lower_math_macro(Lowering& l, ir::Op op) {
  std::optional<ir::ValueId> result = evaluate(l, op);
  if (!result) return;
  const ir::ValueId value = l.to_destination(*result);
  l.commit(value,
           [&] { l.write_flag_mask(l.b().constant(ir::Type::m, l.lanes(), (1ull << l.lanes()) - 1)); });
}

// The remainder goes to the registers after the quotient.
void lower_quotient_and_remainder(Lowering& l, ir::Op op) {
  const Instruction& in = l.inst();
  const std::optional<ir::Type> type = math_type(l, op);
  if (!type) return;
  const unsigned bytes = l.target().registers(l.lanes() * ir::size_of(in.dst.type)) * l.target().grf_bytes;
  if (!in.dst.is_grf(l.target()) ||
      in.dst.offset / l.target().grf_bytes * l.target().grf_bytes + 2 * bytes > l.target().grf_file_bytes())
    return l.unsupported("remainder beyond the registers");
  const ir::ValueId a = l.source(0, *type), c = l.source(1, *type);
  l.finish(apply(l, op, a, c));
  Operand remainder = in.dst;
  remainder.offset += bytes;
  l.write(remainder, l.to_destination(l.b().lanewise(ir::Op::rem, {a, c})), l.write_mask());
}

}  // namespace eum::eu
