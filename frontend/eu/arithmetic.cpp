// Arithmetic: read in the execution type, one micro-op, finish.
#include "frontend/eu/handlers.hpp"
#include "frontend/eu/integer.hpp"

namespace eum::eu {

void lower_float_unary(Lowering& l, ir::Op op) {
  ir::Type type = modular_type(l.inst());
  if (!ir::is_float(type)) return l.unsupported("integer operand");
  l.finish(l.b().lanewise(op, {l.source(0, type)}));
}

void lower_wrapping(Lowering& l, ir::Op op) {
  const Instruction& in = l.inst();
  const auto compute = [&](ir::Type type) {
    unsigned negated = in.src[1].modifier == SourceModifier::Neg ? 1 : 0;
    if (op == ir::Op::add && in.src[negated].modifier == SourceModifier::Neg) {
      // A sum with a negated source is a difference, bit for bit.
      Operand subtrahend = in.src[negated];
      subtrahend.modifier = SourceModifier::None;
      ir::ValueId a = l.source(1 - negated, type);
      return l.b().lanewise(ir::Op::sub, {a, l.read(subtrahend, type, false)});
    }
    ir::ValueId a = l.source(0, type);
    return l.b().lanewise(op, {a, l.source(1, type)});
  };
  if (const ir::Type type = modular_type(in); ir::is_float(type)) return l.finish(compute(type));
  finish_integer(l, compute, [&] {
    const Integer128 a = source128(l, 0), b = source128(l, 1);
    return op == ir::Op::add ? add128(l, a, b) : mul128(l, a, b);
  });
}

void lower_exact(Lowering& l, ir::Op op) {
  ir::Type type = ordered_type(l.inst());
  ir::ValueId a = l.source(0, type);
  const ir::ValueId value = l.b().lanewise(op, {a, l.source(1, type)});
  l.finish(value, keeps_exact_result(l.inst()) ? value : ir::no_value);
}

void lower_mul(Lowering& l, ir::Op op) {
  if (writes_wide_product(l.inst())) return lower_wide_mul(l);
  lower_wrapping(l, op);
}

// The low word is unsigned: the sign is in the upper one, which mach multiplies.
void lower_mul_word(Lowering& l, ir::Op op) {
  const Instruction& in = l.inst();
  ir::Builder& b = l.b();
  const auto compute = [&](ir::Type type) {
    const ir::ValueId a = l.source(0, type), c = l.source(1, ir::Type::u32);
    const ir::ValueId word = b.lanewise(ir::Op::and_, {c, b.constant(ir::Type::u32, l.lanes(), 0xffff)});
    return b.lanewise(ir::Op::mul, {a, b.convert(ir::Op::convert, type, word)});
  };
  if (ir::is_float(modular_type(in)) || has_quadwords(in)) return lower_mul(l, op);
  if (writes_wide_product(in)) return finish_wide_mul(l, compute(ir::Type::s64));
  const ir::Type exact = looks_at_range(in) || keeps_exact_result(in) ? ir::Type::s64 : modular_type(in);
  const ir::ValueId value = compute(exact);
  l.finish(value, keeps_exact_result(in) ? value : ir::no_value);
}

void lower_mad(Lowering& l, ir::Op) {
  const auto compute = [&](ir::Type type) {
    ir::ValueId addend = l.source(0, type), a = l.source(1, type);
    ir::Op op = ir::is_float(type) ? ir::Op::fma : ir::Op::mad;
    return l.b().lanewise(op, {a, l.source(2, type), addend});
  };
  if (const ir::Type type = modular_type(l.inst()); ir::is_float(type)) return l.finish(compute(type));
  finish_integer(l, compute,
                 [&] { return add128(l, mul128(l, source128(l, 1), source128(l, 2)), source128(l, 0)); });
}

void lower_add3(Lowering& l, ir::Op) {
  if (!ir::is_int(modular_type(l.inst()))) return l.unsupported("sum of three floats");
  const auto compute = [&](ir::Type type) {
    const ir::ValueId a = l.source(0, type), c = l.source(1, type);
    const ir::ValueId sum = l.b().lanewise(ir::Op::add, {a, c});
    return l.b().lanewise(ir::Op::add, {sum, l.source(2, type)});
  };
  finish_integer(l, compute,
                 [&] { return add128(l, add128(l, source128(l, 0), source128(l, 1)), source128(l, 2)); });
}

// dst = src0 * src1 + (1 - src0) * src2.
void lower_lrp(Lowering& l, ir::Op) {
  ir::Type type = modular_type(l.inst());
  if (!ir::takes(ir::info(ir::Op::lrp).types, type)) return l.unsupported("operands of this type");
  ir::ValueId a = l.source(0, type), c = l.source(1, type);
  l.finish(l.b().lanewise(ir::Op::lrp, {a, c, l.source(2, type)}));
}

namespace {

/// The coefficients p, q, -, r of line and pln are four floats of a general register.
bool has_coefficients(Lowering& l) {
  const Operand& origin = l.inst().src[0];
  if (origin.is_grf(l.target()) && origin.type == ir::Type::f32 && origin.offset % 16 == 0) return true;
  l.unsupported("coefficients that are not four floats of a general register");
  return false;
}

ir::ValueId coefficient(Lowering& l, unsigned index) {
  Operand one = l.inst().src[0];
  one.offset += 4 * index;
  one.region = {0, 1, 0};
  return l.read(one, ir::Type::f32, false);
}

}  // namespace

// dst = p * src1 + r.
void lower_line(Lowering& l, ir::Op) {
  if (!has_coefficients(l)) return;
  ir::ValueId p = coefficient(l, 0), r = coefficient(l, 3);
  l.finish(l.b().lanewise(ir::Op::fma, {p, l.source(1, ir::Type::f32), r}));
}

// dst = p * u + q * v + r: u is a register of src1, v the next one, for as many channels as a register holds.
void lower_pln(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  if (!has_coefficients(l)) return;
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
  ir::ValueId p = coefficient(l, 0), q = coefficient(l, 1), r = coefficient(l, 3);
  ir::ValueId sum = l.b().lanewise(ir::Op::fma, {p, u, r});
  l.finish(l.b().lanewise(ir::Op::fma, {q, v, sum}));
}

namespace {

/// Component `index` of each group of four channels of a source, in all four.
ir::ValueId read_component(Lowering& l, unsigned source, unsigned index) {
  Operand op = l.inst().src[source];
  const bool packed =
      op.kind == OperandKind::Register && ir_region(op.region, 0, l.lanes()).stride(l.lanes()) == 1;
  if (packed || (op.kind == OperandKind::Register && op.region.width == 4)) {
    const unsigned column = op.is_swizzled() ? op.column(index) : packed ? index : index * op.region.hstride;
    op.offset += column * ir::size_of(op.type);
    op.region = {packed ? std::uint8_t{4} : op.region.vstride, 4, 0};
    op.swizzle = identity_swizzle;
    return l.read(op, ir::Type::f32, false);
  }
  const ir::ValueId all = l.read_all(source, ir::Type::f32);
  ir::ValueId value = ir::no_value;
  for (unsigned lane = index; lane < l.lanes(); lane += 4) {
    const ir::ValueId group = l.b().splat(l.b().slice(all, lane, 1), 4);
    value = value == ir::no_value ? group : l.b().concat(value, group);
  }
  return value;
}

/// Each group of four channels receives the sum of products of its first `components` components;
/// homogeneous: src0.w counts as 1.
void lower_dot_product(Lowering& l, unsigned components, bool homogeneous) {
  if (l.lanes() % 4 != 0) return l.unsupported("dot product of fewer than four channels");
  if (!ir::is_float(modular_type(l.inst()))) return l.unsupported("integer operand");
  ir::ValueId sum = ir::no_value;
  for (unsigned i = 0; i < components; ++i) {
    const ir::ValueId other = read_component(l, 1, i);
    const ir::ValueId product =
        homogeneous && i == 3 ? other : l.b().lanewise(ir::Op::mul, {read_component(l, 0, i), other});
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
