// Arithmetic: read in the execution type, one micro-op, finish.
#include <algorithm>

#include "frontend/eu/handlers.hpp"

namespace eum::eu {
namespace {

/// The type for an arithmetic result: one that holds it exactly where saturation looks at its value.
ir::Type result_type(const Instruction& inst) {
  ir::Type type = modular_type(inst);
  if (!ir::is_int(type) || !inst.saturate) return type;
  ir::Type exact = ordered_type(inst);
  unsigned bytes = std::max(ir::size_of(type), ir::size_of(exact));
  return widened(ir::int_type(bytes, ir::is_signed(exact)));
}

/// Saturation of an integer result that no micro-op type holds exactly.
bool saturates_quadwords(const Instruction& inst) {
  if (!inst.saturate || !ir::is_int(modular_type(inst))) return false;
  bool quadwords = ir::size_of(inst.dst.type) == 8;
  for (unsigned i = 0; i < inst.source_count; ++i) quadwords |= ir::size_of(inst.src[i].type) == 8;
  return quadwords;
}

}  // namespace

void lower_float_unary(Lowering& l, ir::Op op) {
  ir::Type type = modular_type(l.inst());
  if (!ir::is_float(type)) return l.unsupported("integer operand");
  l.finish(l.b().lanewise(op, {l.source(0, type)}));
}

void lower_wrapping(Lowering& l, ir::Op op) {
  const Instruction& in = l.inst();
  if (saturates_quadwords(in)) return l.unsupported("saturation of quadwords");
  ir::Type type = result_type(in);
  unsigned negated = in.src[1].modifier == SourceModifier::Neg ? 1 : 0;
  if (op == ir::Op::add && in.src[negated].modifier == SourceModifier::Neg) {
    // A sum with a negated source is a difference, to the bit.
    Operand subtrahend = in.src[negated];
    subtrahend.modifier = SourceModifier::None;
    ir::ValueId a = l.source(1 - negated, type);
    return l.finish(l.b().lanewise(ir::Op::sub, {a, l.read(subtrahend, type, false)}));
  }
  ir::ValueId a = l.source(0, type);
  l.finish(l.b().lanewise(op, {a, l.source(1, type)}));
}

void lower_exact(Lowering& l, ir::Op op) {
  ir::Type type = ordered_type(l.inst());
  ir::ValueId a = l.source(0, type);
  l.finish(l.b().lanewise(op, {a, l.source(1, type)}));
}

void lower_mul(Lowering& l, ir::Op op) {
  if (writes_wide_product(l.inst())) return lower_wide_mul(l);
  lower_wrapping(l, op);
}

void lower_mad(Lowering& l, ir::Op) {
  if (saturates_quadwords(l.inst())) return l.unsupported("saturation of quadwords");
  ir::Type type = result_type(l.inst());
  ir::ValueId addend = l.source(0, type), a = l.source(1, type);
  ir::Op op = ir::is_float(type) ? ir::Op::fma : ir::Op::mad;
  l.finish(l.b().lanewise(op, {a, l.source(2, type), addend}));
}

void lower_add3(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  if (saturates_quadwords(in)) return l.unsupported("saturation of quadwords");
  const ir::Type type = result_type(in);
  if (!ir::is_int(type)) return l.unsupported("sum of three floats");
  const ir::ValueId a = l.source(0, type), c = l.source(1, type);
  const ir::ValueId sum = l.b().lanewise(ir::Op::add, {a, c});
  l.finish(l.b().lanewise(ir::Op::add, {sum, l.source(2, type)}));
}

// dst = src0 * src1 + (1 - src0) * src2.
void lower_lrp(Lowering& l, ir::Op) {
  ir::Type type = modular_type(l.inst());
  if (!ir::takes(ir::info(ir::Op::lrp).types, type)) return l.unsupported("operands of this type");
  ir::ValueId a = l.source(0, type), c = l.source(1, type);
  l.finish(l.b().lanewise(ir::Op::lrp, {a, c, l.source(2, type)}));
}

namespace {

/// File offset of the coefficients p, q, -, r of line and pln, or nothing after a trap.
std::optional<unsigned> coefficients(Lowering& l) {
  const Operand& origin = l.inst().src[0];
  if (!origin.is_grf(l.target()) || origin.type != ir::Type::f32 || origin.modifier != SourceModifier::None ||
      origin.offset % 16 != 0) {
    l.unsupported("coefficients that are not four floats of a general register");
    return std::nullopt;
  }
  return origin.offset;
}

ir::ValueId coefficient(Lowering& l, unsigned offset) {
  return l.b().splat(l.scalar(ir::Type::f32, offset), l.lanes());
}

}  // namespace

// dst = p * src1 + r.
void lower_line(Lowering& l, ir::Op) {
  std::optional<unsigned> origin = coefficients(l);
  if (!origin) return;
  ir::ValueId p = coefficient(l, *origin), r = coefficient(l, *origin + 12);
  l.finish(l.b().lanewise(ir::Op::fma, {p, l.source(1, ir::Type::f32), r}));
}

// dst = p * u + q * v + r: u is a register of src1, v the next one, for as many channels as a register holds.
void lower_pln(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  std::optional<unsigned> origin = coefficients(l);
  if (!origin) return;
  const Operand& at = in.src[1];
  const unsigned grf = l.target().grf_bytes, row = grf / 4;
  if (!at.is_grf(l.target()) || at.type != ir::Type::f32 || at.offset % grf != 0 ||
      at.modifier != SourceModifier::None || l.lanes() % row != 0 ||
      at.offset + l.lanes() / row * 2 * grf > l.target().grf_file_bytes())
    return l.unsupported("coordinates that are not pairs of registers");
  auto coordinate = [&](unsigned offset) {
    ir::Region region{at.offset + offset, static_cast<std::uint8_t>(2 * row), static_cast<std::uint8_t>(row),
                      1};
    return l.b().reg_read(ir::Type::f32, l.lanes(), region);
  };
  ir::ValueId u = coordinate(0), v = coordinate(grf);
  ir::ValueId p = coefficient(l, *origin), q = coefficient(l, *origin + 4), r = coefficient(l, *origin + 12);
  ir::ValueId sum = l.b().lanewise(ir::Op::fma, {p, u, r});
  l.finish(l.b().lanewise(ir::Op::fma, {q, v, sum}));
}

namespace {

/// Each group of four channels gets the sum of products of its first components; homogeneous: src0.w counts
/// as 1.
void lower_dot_product(Lowering& l, unsigned components, bool homogeneous) {
  const Instruction& in = l.inst();
  if (l.lanes() % 4 != 0) return l.unsupported("dot product of fewer than four channels");
  for (unsigned i = 0; i < 2; ++i) {
    const Operand& op = in.src[i];
    bool packed = op.is_grf(l.target()) && op.type == ir::Type::f32 &&
                  ir_region(op.region, 0, l.lanes()).stride(l.lanes()) == 1;
    if (!packed) return l.unsupported("dot product of a source that is not packed floats");
  }
  auto component = [&](unsigned source, unsigned index) {
    Operand op = in.src[source];
    op.offset += 4 * index;
    op.region = {4, 4, 0};
    return l.read(op, ir::Type::f32, false);
  };
  ir::ValueId sum = ir::no_value;
  for (unsigned i = 0; i < components; ++i) {
    ir::ValueId product = homogeneous && i == 3
                              ? component(1, i)
                              : l.b().lanewise(ir::Op::mul, {component(0, i), component(1, i)});
    sum = i == 0 ? product : l.b().lanewise(ir::Op::add, {sum, product});
  }
  l.finish(sum);
}

}  // namespace

void lower_dp2(Lowering& l, ir::Op) { lower_dot_product(l, 2, false); }
void lower_dp3(Lowering& l, ir::Op) { lower_dot_product(l, 3, false); }
void lower_dp4(Lowering& l, ir::Op) { lower_dot_product(l, 4, false); }
void lower_dph(Lowering& l, ir::Op) { lower_dot_product(l, 4, true); }

}  // namespace eum::eu
