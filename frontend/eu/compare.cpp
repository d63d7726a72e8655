// Comparison and selection. Facts: the manual's tables in 2.3.1.3 and 2.3.1.4.
#include "frontend/eu/handlers.hpp"

namespace eum::eu {
namespace {

/// The comparison of a condition modifier; None counts as ne, which compares with zero where it stands for
/// truth.
std::optional<ir::Op> compare_op(Condition condition) {
  switch (condition) {
    case Condition::eq:
      return ir::Op::cmp_eq;
    case Condition::ne:
      return ir::Op::cmp_ne;
    case Condition::gt:
      return ir::Op::cmp_gt;
    case Condition::ge:
      return ir::Op::cmp_ge;
    case Condition::lt:
      return ir::Op::cmp_lt;
    case Condition::le:
      return ir::Op::cmp_le;
    case Condition::un:
      return ir::Op::cmp_un;
    default:
      return std::nullopt;
  }
}

/// Flags and destination of a comparison: all ones or all zeros a channel.
void finish_compare(Lowering& l, ir::ValueId holds) {
  const Instruction& in = l.inst();
  if (in.dst.is_null()) return l.write_flag_mask(holds);
  ir::Type type = ir::int_type(ir::size_of(in.dst.type), true);
  ir::ValueId ones = l.b().constant(type, l.lanes(), ~0ull >> (64 - 8 * ir::size_of(type)));
  ir::ValueId value = l.b().select(holds, ones, l.b().constant(type, l.lanes(), 0));
  l.commit(value, [&] { l.write_flag_mask(holds); });
}

/// The comparison that the min and max rules use: as usual, but a NaN in b makes it true (ne: false).
ir::ValueId nan_aware(Lowering& l, ir::Op op, ir::ValueId a, ir::ValueId b) {
  ir::ValueId holds = l.b().compare(op, a, b);
  if (!ir::is_float(l.b().type_of(a))) return holds;
  ir::ValueId nan = l.b().compare(ir::Op::cmp_un, b, b);
  return l.b().lanewise(op == ir::Op::cmp_ne ? ir::Op::andn : ir::Op::or_, {nan, holds});
}

}  // namespace

void lower_cmp(Lowering& l, ir::Op) {
  std::optional<ir::Op> op = compare_op(l.inst().condition);
  if (!op) return l.unsupported("comparison without a condition");
  ir::Type type = ordered_type(l.inst());
  if (*op == ir::Op::cmp_un && !ir::is_float(type)) return l.unsupported("unordered comparison of integers");
  ir::ValueId a = l.source(0, type);
  finish_compare(l, l.b().compare(*op, a, l.source(1, type)));
}

void lower_cmpn(Lowering& l, ir::Op) {
  std::optional<ir::Op> op = compare_op(l.inst().condition);
  if (!op || *op == ir::Op::cmp_un) return l.unsupported("comparison without an order");
  ir::Type type = ordered_type(l.inst());
  ir::ValueId a = l.source(0, type), c = l.source(1, type);
  finish_compare(l, nan_aware(l, *op, a, c));
}

// With a condition modifier sel takes the lower or higher source and writes no flag, else the predicate
// selects.
void lower_sel(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  ir::Builder& b = l.b();
  if (in.condition == Condition::None) {
    ir::ValueId chosen = l.predicate();
    if (chosen == ir::no_value) return l.unsupported("selection without predicate or condition");
    ir::Type type = modular_type(in);
    if (in.saturate && ir::is_int(type)) type = ordered_type(in);
    ir::ValueId a = l.source(0, type), c = l.source(1, type);
    ir::ValueId value = l.to_destination(b.select(chosen, a, c));
    return l.write(in.dst, value, l.lane_mask());
  }
  ir::Type type = ordered_type(in);
  ir::ValueId a = l.source(0, type), c = l.source(1, type), result;
  switch (in.condition) {
    case Condition::lt:
      result = b.lanewise(ir::Op::min, {a, c});
      break;
    case Condition::ge:
      result = b.lanewise(ir::Op::max, {a, c});
      break;
    case Condition::le:  // a where they are equal
      result = b.lanewise(ir::Op::min, {c, a});
      break;
    case Condition::gt:  // b where they are equal
      result = b.lanewise(ir::Op::max, {c, a});
      break;
    case Condition::eq:
    case Condition::ne:
      result = b.select(nan_aware(l, *compare_op(in.condition), a, c), a, c);
      break;
    default:
      return l.unsupported("selection without an order");
  }
  ir::ValueId value = l.to_destination(result);
  l.write(in.dst, value, l.write_mask());
  if (in.writes_accumulator)
    l.write_accumulator(l.implicit_acc_offset(b.type_of(value)), 1, value, ir::no_value, l.write_mask());
}

// dst = src2 compared with zero ? src0 : src1; no flag is written.
void lower_csel(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  std::optional<ir::Op> op = compare_op(in.condition);
  if (!op) return l.unsupported("selection without a condition");
  ir::Type type = modular_type(in);
  ir::ValueId a = l.source(0, type), c = l.source(1, type), key = l.source(2, type);
  ir::ValueId zero = l.b().constant(type, l.lanes(), 0);
  ir::ValueId holds = *op == ir::Op::cmp_un ? l.b().compare(*op, key, key) : l.b().compare(*op, key, zero);
  l.write(in.dst, l.to_destination(l.b().select(holds, a, c)), l.write_mask());
}

}  // namespace eum::eu
