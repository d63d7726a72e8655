// Comparison and selection. Facts: the manual's tables in 2.3.1.3 and 2.3.1.4.
#include "frontend/eu/handlers.hpp"
#include "frontend/eu/integer.hpp"

namespace eum::eu {
namespace {

/// The comparison of a condition modifier. None means ne: a comparison with zero for the truth value.
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
  if (in.dst.is_null() && !in.writes_accumulator) return l.write_flag_mask(holds);
  ir::Type type = ir::int_type(ir::size_of(in.dst.type), true);
  ir::ValueId ones = l.b().constant(type, l.lanes(), ~0ull >> (64 - 8 * ir::size_of(type)));
  ir::ValueId value = l.b().select(holds, ones, l.b().constant(type, l.lanes(), 0));
  l.commit(value, [&] { l.write_flag_mask(holds); });
  if (in.writes_accumulator && !in.dst.is_accumulator()) l.update_accumulator(l.as_destination(value));
}

/// A comparison of the first two sources.
ir::ValueId compare_sources(Lowering& l, ir::Op op) {
  if (beyond_quadwords(l.inst()) && !ir::is_float(ordered_type(l.inst())))
    return compare128(l, op, source128(l, 0), source128(l, 1));
  const ir::Type type = ordered_type(l.inst());
  ir::ValueId a = l.source(0, type);
  return l.b().compare(op, a, l.source(1, type));
}

/// The comparison that the min and max rules use: as usual, but a NaN in b makes it true (ne: false).
ir::ValueId nan_aware(Lowering& l, ir::Op op) {
  const ir::ValueId holds = compare_sources(l, op);
  const ir::Type type = ordered_type(l.inst());
  if (!ir::is_float(type)) return holds;
  const ir::ValueId b = l.source(1, type);
  ir::ValueId nan = l.b().compare(ir::Op::cmp_un, b, b);
  return l.b().lanewise(op == ir::Op::cmp_ne ? ir::Op::andn : ir::Op::or_, {nan, holds});
}

/// The smaller or larger source by the manual's rules, or nothing after a trap.
std::optional<ir::ValueId> ordered_source(Lowering& l) {
  const Instruction& in = l.inst();
  ir::Builder& b = l.b();
  const ir::Type type = ordered_type(in);
  ir::ValueId a = l.source(0, type), c = l.source(1, type);
  switch (in.condition) {
    case Condition::lt:
      return b.lanewise(ir::Op::min, {a, c});
    case Condition::ge:
      return b.lanewise(ir::Op::max, {a, c});
    case Condition::le:  // a if they are equal
      return b.lanewise(ir::Op::min, {c, a});
    case Condition::gt:  // b if they are equal
      return b.lanewise(ir::Op::max, {c, a});
    case Condition::eq:
    case Condition::ne:
      return b.select(nan_aware(l, *compare_op(in.condition)), a, c);
    default:
      l.unsupported("selection without an order");
      return std::nullopt;
  }
}

}  // namespace

void lower_cmp(Lowering& l, ir::Op) {
  std::optional<ir::Op> op = compare_op(l.inst().condition);
  if (!op) return l.unsupported("comparison without a condition");
  if (*op == ir::Op::cmp_un && !ir::is_float(ordered_type(l.inst())))
    return finish_compare(l, l.none_of(l.lanes()));  // integers are ordered
  finish_compare(l, compare_sources(l, *op));
}

void lower_cmpn(Lowering& l, ir::Op) {
  std::optional<ir::Op> op = compare_op(l.inst().condition);
  if (!op || *op == ir::Op::cmp_un) return l.unsupported("comparison without an order");
  finish_compare(l, nan_aware(l, *op));
}

// With a condition modifier sel takes the smaller or larger source and writes no flag; otherwise the
// predicate selects. Without a predicate either, every channel takes the first source.
void lower_sel(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  ir::Builder& b = l.b();
  Instruction plain = in;
  plain.condition = Condition::None;
  const bool by_order = in.condition != Condition::None;
  // The predicate selects, so it does not mask.
  const ir::ValueId chosen = by_order ? ir::no_value : l.predicate();
  const auto finish = [&](auto&& part) {
    if (by_order) return l.as(plain, part);
    l.unpredicated([&] { l.as(plain, part); });
  };
  const bool exact = looks_at_range(in) || keeps_exact_result(in);
  if (ir::is_int(modular_type(in)) && ir::is_int(in.dst.type) && beyond_quadwords(in) &&
      (by_order || exact)) {
    const Integer128 a = source128(l, 0), c = source128(l, 1);
    ir::ValueId mask = chosen;
    if (by_order) {
      const std::optional<ir::Op> op = compare_op(in.condition);
      if (!op || *op == ir::Op::cmp_un) return l.unsupported("selection without an order");
      mask = compare128(l, *op, a, c);
    }
    const Integer128 result = mask == ir::no_value ? a : select128(l, mask, a, c);
    return finish([&] { finish128(l, result); });
  }
  std::optional<ir::ValueId> result;
  if (by_order) {
    result = ordered_source(l);
    if (!result) return;
  } else {
    ir::Type type = modular_type(in);
    if (exact && ir::is_int(type)) type = ordered_type(in);
    ir::ValueId a = l.source(0, type);
    result = chosen == ir::no_value ? a : b.select(chosen, a, l.source(1, type));
  }
  const bool kept = keeps_exact_result(in) && ir::is_int(b.type_of(*result));
  finish([&] { l.finish(*result, kept ? *result : ir::no_value); });
}

// dst = src2 compared with zero ? src0 : src1; no flag is written.
void lower_csel(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  std::optional<ir::Op> op = compare_op(in.condition);
  if (!op) return l.unsupported("selection without a condition");
  ir::Type type = modular_type(in);
  ir::ValueId a = l.source(0, type), c = l.source(1, type), key = l.source(2, type);
  ir::ValueId zero = l.b().constant(type, l.lanes(), 0);
  ir::ValueId holds = l.none_of(l.lanes());  // integers are ordered
  if (*op != ir::Op::cmp_un)
    holds = l.b().compare(*op, key, zero);
  else if (ir::is_float(type))
    holds = l.b().compare(*op, key, key);
  l.write(in.dst, l.to_destination(l.b().select(holds, a, c)), l.write_mask());
}

}  // namespace eum::eu
