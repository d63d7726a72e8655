// Comparisons give masks in vector form; select blends by one.
#include <optional>

#include "jit/avx2/emit/emit.hpp"
#include "jit/avx2/emit/scalar.hpp"

namespace eum::jit::avx2::emit {

namespace I = x86::Inst;
using ir::Type;

namespace {

/// How integers are compared: `gt` of the operands or of the exchanged operands, maybe negated.
struct IntCompare {
  enum Base { Equal, Greater } base;
  bool exchange, negate;
  x86::CondCode of_signed, of_unsigned;
};

constexpr IntCompare equal{IntCompare::Equal, false, false, x86::CondCode::kE, x86::CondCode::kE};
constexpr IntCompare not_equal{IntCompare::Equal, false, true, x86::CondCode::kNE, x86::CondCode::kNE};
constexpr IntCompare less{IntCompare::Greater, true, false, x86::CondCode::kL, x86::CondCode::kB};
constexpr IntCompare less_equal{IntCompare::Greater, false, true, x86::CondCode::kLE, x86::CondCode::kBE};
constexpr IntCompare greater{IntCompare::Greater, false, false, x86::CondCode::kG, x86::CondCode::kA};
constexpr IntCompare greater_equal{IntCompare::Greater, true, true, x86::CondCode::kGE, x86::CondCode::kAE};

const IntCompare& comparison(ir::Op op) {
  switch (op) {
    case ir::Op::cmp_eq:
      return equal;
    case ir::Op::cmp_ne:
      return not_equal;
    case ir::Op::cmp_lt:
      return less;
    case ir::Op::cmp_le:
      return less_equal;
    case ir::Op::cmp_gt:
      return greater;
    case ir::Op::cmp_ge:
      return greater_equal;
    default:
      throw codegen::EngineBug("no comparison of integers");
  }
}

constexpr BySize vpcmpeq{{I::kIdVpcmpeqb, I::kIdVpcmpeqw, I::kIdVpcmpeqd, I::kIdVpcmpeqq}};
constexpr BySize vpcmpgt{{I::kIdVpcmpgtb, I::kIdVpcmpgtw, I::kIdVpcmpgtd, I::kIdVpcmpgtq}};

constexpr BySize vpminu{{I::kIdVpminub, I::kIdVpminuw, I::kIdVpminud, 0}};
constexpr BySize vpmaxu{{I::kIdVpmaxub, I::kIdVpmaxuw, I::kIdVpmaxud, 0}};

/// Whether integers of the type are compared by minimum and maximum.
bool is_by_extremes(const IntCompare& how, Type type) {
  return how.base == IntCompare::Greater && !ir::is_signed(type) && ir::size_of(type) < 8;
}

/// Unsigned order: a <= b if a is the minimum of both, a >= b if it is the maximum. The other comparisons are
/// the complements or, with a constant b, the same test of b - 1 or b + 1.
void compare_unsigned(Compiler& c, const CodeInst& inst, const IntCompare& how) {
  const unsigned bytes = ir::size_of(inst.type);
  const std::uint64_t highest = (std::uint64_t{1} << 8 * bytes) - 1;
  // exchange: a < b and a >= b; negate: a <= b and a >= b.
  bool by_maximum = how.exchange, complement = !how.negate;
  std::optional<x86::Mem> neighbour;
  if (const std::uint64_t* constant = c.regs.constant(inst.args[1]); constant && complement) {
    const std::uint64_t b = *constant & highest;
    if (b != (by_maximum ? 0 : highest)) {
      neighbour = c.splat(by_maximum ? b - 1 : b + 1, bytes);
      by_maximum = !by_maximum;
      complement = false;
    }
  }
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.args[0]); ++chunk) {
    x86::Ymm a = c.v.use(inst.args[0], chunk);
    asmjit::Operand b = neighbour ? asmjit::Operand(*neighbour) : c.v.operand(inst.args[1], chunk);
    x86::Ymm to = c.v.define(inst.result, chunk);
    c.a.emit((by_maximum ? vpmaxu : vpminu)[inst.type], to, a, b);
    c.a.emit(vpcmpeq[inst.type], to, to, a);
    if (complement) c.a.vpxor(to, to, all_ones(c));
    c.regs.unpin();
  }
}

/// An operand of a comparison whose result is `to`: a copy in that register if it can be compared to lanes
/// there, but not where it is.
x86::Ymm comparable(Compiler& c, x86::Ymm operand, x86::Ymm to) {
  if (!needs_evex(operand) || needs_evex(to)) return operand;
  c.a.vmovdqa(to, operand);
  return to;
}

void compare_vector(Compiler& c, const CodeInst& inst, const IntCompare& how) {
  const unsigned bytes = ir::size_of(inst.type);
  c.m.define_lanes(inst.result, bytes);
  if (is_by_extremes(how, inst.type)) return compare_unsigned(c, inst, how);
  const bool flip = how.base == IntCompare::Greater && !ir::is_signed(inst.type);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.args[0]); ++chunk) {
    x86::Ymm a = c.v.use(inst.args[how.exchange ? 1 : 0], chunk);
    asmjit::Operand b = c.v.operand(inst.args[how.exchange ? 0 : 1], chunk);
    x86::Ymm to = c.v.define(inst.result, chunk);
    if (flip) {
      x86::Mem sign = c.splat(1ull << (8 * bytes - 1), bytes);
      x86::Ymm flipped = c.v.scratch();
      c.a.emit(I::kIdVmovdqu, flipped, b);
      c.a.vpxor(flipped, flipped, sign);
      c.a.vpxor(to, a, sign);
      a = to;
      b = flipped;
    }
    c.a.emit((how.base == IntCompare::Equal ? vpcmpeq : vpcmpgt)[inst.type], to, comparable(c, a, to), b);
    if (how.negate) c.a.vpxor(to, to, all_ones(c));
    c.regs.unpin();
  }
}

void compare_scalar(Compiler& c, const CodeInst& inst) {
  const x86::CondCode condition = compare_scalars(c, inst);
  const x86::Gp to = c.m.define_bits(inst.result);
  c.a.set(condition, to.r8());
  c.a.movzx(to.r32(), to.r8());
}

/// `predicate`: of vcmpps.
void compare(Compiler& c, const CodeInst& inst, unsigned predicate) {
  if (c.regs.is_scalar(inst.args[0])) return compare_scalar(c, inst);
  if (!ir::is_float(inst.type)) return compare_vector(c, inst, comparison(inst.op));
  c.m.define_lanes(inst.result, ir::size_of(inst.type));
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.args[0]); ++chunk) {
    x86::Ymm a = c.v.use(inst.args[0], chunk);
    asmjit::Operand b = c.v.operand(inst.args[1], chunk);
    const x86::Ymm to = c.v.define(inst.result, chunk);
    c.a.emit(inst.type == Type::f32 ? I::kIdVcmpps : I::kIdVcmppd, to, comparable(c, a, to), b,
             asmjit::Imm(predicate));
    c.regs.unpin();
  }
}

/// Where one value is 0, or the first all ones, lanes that are all ones or zeros do by a logical op, which
/// takes a third of a blend. False: not so.
bool select_by_logic(Compiler& c, const CodeInst& inst, unsigned chunk) {
  const unsigned bytes = ir::size_of(inst.type);
  const ir::ValueId mask = inst.args[0], on = inst.args[1], off = inst.args[2];
  const auto is = [&](ir::ValueId value, std::uint64_t bits) {
    const std::uint64_t* constant = c.regs.constant(value);
    return constant != nullptr && ((*constant ^ bits) & ~std::uint64_t{0} >> (64 - 8 * bytes)) == 0;
  };
  const bool is_copy = is(on, ~std::uint64_t{0}), is_off_zero = is(off, 0), is_on_zero = is(on, 0);
  if (!is_copy && !is_off_zero && !is_on_zero) return false;
  if (c.host.has_mask_registers() && !c.m.in_vectors(mask)) return false;
  const x86::Ymm lanes = c.m.signs(mask, bytes, chunk);
  if (!c.m.has_whole_lanes(mask, bytes)) return false;
  if (is_copy && is_off_zero) {
    c.a.vmovdqa(c.v.define(inst.result, chunk), lanes);
  } else {
    const std::uint32_t id = is_off_zero ? I::kIdVpand : is_on_zero ? I::kIdVpandn : I::kIdVpor;
    const asmjit::Operand other = c.v.operand(is_off_zero ? on : off, chunk);
    c.a.emit(id, c.v.define(inst.result, chunk), lanes, other);
  }
  c.regs.unpin();
  return true;
}

}  // namespace

bool takes_complement(ir::Op compare, Type type, bool with_constant) {
  const IntCompare& how = comparison(compare);
  return is_by_extremes(how, type) ? !how.negate && !with_constant : how.negate;
}

x86::CondCode compare_scalars(Compiler& c, const CodeInst& inst) {
  const x86::Gp a = sized(c.g.use(inst.args[0]), inst.type);
  asmjit::Operand b = c.g.operand(inst.args[1]);
  if (b.isReg()) b = sized(b.as<x86::Gp>(), inst.type);
  c.a.emit(I::kIdCmp, a, b);
  const IntCompare& how = comparison(inst.op);
  return ir::is_signed(inst.type) ? how.of_signed : how.of_unsigned;
}

Mask::Mask(Compiler& c, ir::ValueId mask, unsigned bytes, unsigned chunk) : c_(c), bytes_(bytes) {
  if (c.host.has_mask_registers() && !c.m.in_vectors(mask)) {
    register_ = c.m.chunk(mask, bytes, chunk);
    return;
  }
  lanes_ = c.m.signs(mask, bytes, chunk);
  has_whole_lanes_ = c.m.has_whole_lanes(mask, bytes);
}

/// Blends by lanes reach only the first 16 registers; bits are selected in any.
void Mask::blend_by_logic(x86::Ymm to, x86::Ymm off, const asmjit::Operand& on) const {
  // The immediate has the result for each combination of bits of the three operands.
  if (to == off) return (void)c_.a.emit(I::kIdVpternlogd, to, lanes_, on, 0xb8);
  if (on == to) return (void)c_.a.vpternlogd(to, lanes_, off, 0xe2);
  c_.a.vmovdqa(to, lanes_);
  c_.a.emit(I::kIdVpternlogd, to, off, on, 0xac);
}

void Mask::blend(x86::Ymm to, x86::Ymm off, const asmjit::Operand& on) const {
  if (register_.isValid()) {
    constexpr std::array<std::uint32_t, 9> by_bytes{
        0, I::kIdVpblendmb, I::kIdVpblendmw, 0, I::kIdVblendmps, 0, 0, 0, I::kIdVblendmpd};
    c_.a.k(register_);
    return (void)c_.a.emit(by_bytes[bytes_], to, off, on);
  }
  const bool any_beyond = needs_evex(to) || needs_evex(off) || needs_evex(on) || needs_evex(lanes_);
  if (has_whole_lanes_ && any_beyond) return blend_by_logic(to, off, on);
  const std::uint32_t id = bytes_ == 4 ? I::kIdVblendvps : bytes_ == 8 ? I::kIdVblendvpd : I::kIdVpblendvb;
  c_.a.emit(id, to, off, on, lanes_);
}

void emit_cmp_eq(Compiler& c, const CodeInst& inst) { compare(c, inst, 0x00); }
void emit_cmp_ne(Compiler& c, const CodeInst& inst) { compare(c, inst, 0x04); }
void emit_cmp_lt(Compiler& c, const CodeInst& inst) { compare(c, inst, 0x11); }
void emit_cmp_le(Compiler& c, const CodeInst& inst) { compare(c, inst, 0x12); }
void emit_cmp_gt(Compiler& c, const CodeInst& inst) { compare(c, inst, 0x1e); }
void emit_cmp_ge(Compiler& c, const CodeInst& inst) { compare(c, inst, 0x1d); }
void emit_cmp_un(Compiler& c, const CodeInst& inst) { compare(c, inst, 0x03); }

void emit_select(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) {
    x86::Gp mask = c.m.bits(inst.args[0]);
    x86::Gp a = c.g.use(inst.args[1]), b = c.g.use(inst.args[2]), to = c.g.define(inst.result);
    c.a.mov(to, b);
    c.a.test(mask.r32(), 1);
    c.a.cmovnz(to, a);
    return;
  }
  const unsigned bytes = ir::size_of(inst.type);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    if (select_by_logic(c, inst, chunk)) continue;
    const Mask mask(c, inst.args[0], bytes, chunk);
    asmjit::Operand a = c.v.operand(inst.args[1], chunk);
    x86::Ymm b = c.v.use(inst.args[2], chunk);
    mask.blend(c.v.define(inst.result, chunk), b, a);
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx2::emit
