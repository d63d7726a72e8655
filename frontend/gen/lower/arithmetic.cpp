// Arithmetic: read in the execution type, one micro-op, finish.
#include <algorithm>

#include "frontend/gen/lower/handlers.hpp"

namespace eum::gen {
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
  bool quadwords = size_of(inst.dst.type) == 8;
  for (unsigned i = 0; i < inst.source_count; ++i) quadwords |= size_of(inst.src[i].type) == 8;
  return quadwords;
}

}  // namespace

void lower_float_unary(Lowering& l, ir::Op op) {
  ir::Type type = modular_type(l.inst());
  if (!ir::is_float(type)) return l.unsupported("integer operand");
  l.finish(l.b().lanewise(op, {l.source(0, type)}));
}

void lower_modular(Lowering& l, ir::Op op) {
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

void lower_ordered(Lowering& l, ir::Op op) {
  ir::Type type = ordered_type(l.inst());
  ir::ValueId a = l.source(0, type);
  l.finish(l.b().lanewise(op, {a, l.source(1, type)}));
}

void lower_mul(Lowering& l) {
  if (writes_wide_product(l.inst())) return lower_wide_mul(l);
  lower_modular(l, ir::Op::mul);
}

void lower_mad(Lowering& l) {
  if (saturates_quadwords(l.inst())) return l.unsupported("saturation of quadwords");
  ir::Type type = result_type(l.inst());
  ir::ValueId addend = l.source(0, type), a = l.source(1, type);
  ir::Op op = ir::is_float(type) ? ir::Op::fma : ir::Op::mad;
  l.finish(l.b().lanewise(op, {a, l.source(2, type), addend}));
}

// dst = src0 * src1 + (1 - src0) * src2.
void lower_lrp(Lowering& l) {
  ir::Type type = modular_type(l.inst());
  ir::ValueId a = l.source(0, type), c = l.source(1, type);
  l.finish(l.b().lanewise(ir::Op::lrp, {a, c, l.source(2, type)}));
}

// dst = src0.0 * src1 + src0.3, src0 being a scalar origin of four elements.
void lower_line(Lowering& l) {
  const Instruction& in = l.inst();
  ir::Type type = modular_type(in);
  if (!in.src[0].is_grf() || in.src[0].type != Type::f || in.src[0].modifier != SourceModifier::None)
    return l.unsupported("line with a first source that is not a plain register");
  unsigned origin = l.file_offset(in.src[0]);
  if (origin % 16 != 0) return l.unsupported("line with an origin that is not aligned to 16 bytes");
  ir::ValueId p = l.b().splat(l.scalar(type, origin), l.lanes());
  ir::ValueId q = l.b().splat(l.scalar(type, origin + 12), l.lanes());
  l.finish(l.b().lanewise(ir::Op::fma, {p, l.source(1, type), q}));
}

// Each group of four channels gets the sum of products of its first components; homogeneous: src0.w counts
// as 1.
void lower_dot_product(Lowering& l, unsigned components, bool homogeneous) {
  const Instruction& in = l.inst();
  if (l.lanes() % 4 != 0) return l.unsupported("dot product of fewer than four channels");
  for (unsigned i = 0; i < 2; ++i) {
    const Operand& op = in.src[i];
    bool packed =
        op.is_grf() && op.type == Type::f && ir_region(op.region, 0, l.lanes()).stride(l.lanes()) == 1;
    if (!packed) return l.unsupported("dot product of a source that is not packed floats");
  }
  auto component = [&](unsigned source, unsigned index) {
    Operand op = in.src[source];
    unsigned byte = op.byte_address(32) + 4 * index;
    op.reg = static_cast<std::uint8_t>(byte / 32);
    op.subreg = static_cast<std::uint8_t>(byte % 32);
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

}  // namespace eum::gen
