// Comparisons into mask registers.
#include "jit/avx2/emit/scalar.hpp"
#include "jit/avx512/emit/emit.hpp"

namespace eum::jit::avx512::emit {

namespace I = x86::Inst;
using avx2::emit::BySize;
using ir::Type;

namespace {

constexpr BySize vpcmp{{I::kIdVpcmpb, I::kIdVpcmpw, I::kIdVpcmpd, I::kIdVpcmpq}};
constexpr BySize vpcmpu{{I::kIdVpcmpub, I::kIdVpcmpuw, I::kIdVpcmpud, I::kIdVpcmpuq}};

/// `integer` and `real`: predicates of vpcmpd and of vcmpps.
void compare(Compiler& c, const CodeInst& inst, unsigned integer, unsigned real) {
  if (c.regs.is_scalar(inst.args[0]) || !c.host.has_mask_registers())
    return avx2::emit::table[static_cast<std::size_t>(inst.op)](c, inst);
  const unsigned bytes = ir::size_of(inst.type);
  const std::uint32_t id = inst.type == Type::f32     ? I::kIdVcmpps
                           : inst.type == Type::f64   ? I::kIdVcmppd
                           : ir::is_signed(inst.type) ? vpcmp[inst.type]
                                                      : vpcmpu[inst.type];
  if (bytes >= 4 && c.m.suits_vectors(inst, bytes)) {
    c.m.keep_in_vectors(inst.result);
    return avx2::emit::table[static_cast<std::size_t>(inst.op)](c, inst);
  }
  const asmjit::Imm predicate(ir::is_float(inst.type) ? real : integer);
  const unsigned chunks = c.v.chunks(inst.args[0]);
  const auto into = [&](x86::KReg to, unsigned chunk) {
    const x86::Ymm a = c.v.use(inst.args[0], chunk);
    c.a.emit(id, to, a, c.v.operand(inst.args[1], chunk), predicate);
  };
  // With more chunks than mask registers for them, each chunk is converted to bits in turn.
  constexpr unsigned most_chunks = 4;
  if (chunks > most_chunks) {
    const unsigned lanes = avx2::target.lanes_per_vector(bytes);
    const x86::Gp bits = c.m.define_bits(inst.result).r32(), part = c.g.scratch().r32();
    c.a.xor_(bits, bits);
    for (unsigned chunk = chunks; chunk-- > 0;) {
      into(avx2::scratch_mask, chunk);
      c.a.kmovb(part, avx2::scratch_mask);
      c.a.shl(bits, lanes);
      c.a.or_(bits, part);
    }
    // The last chunk may hold more than the operands have lanes.
    if (inst.lanes % lanes != 0) c.a.and_(bits, asmjit::Imm(ir::lane_mask(inst.lanes)));
    return;
  }
  c.m.define_lanes(inst.result, bytes);
  for (unsigned chunk = 0; chunk < chunks; ++chunk) into(c.m.define_chunk(inst.result, chunk), chunk);
}

}  // namespace

void emit_cmp_eq(Compiler& c, const CodeInst& inst) { compare(c, inst, 0, 0x00); }
void emit_cmp_ne(Compiler& c, const CodeInst& inst) { compare(c, inst, 4, 0x04); }
void emit_cmp_lt(Compiler& c, const CodeInst& inst) { compare(c, inst, 1, 0x11); }
void emit_cmp_le(Compiler& c, const CodeInst& inst) { compare(c, inst, 2, 0x12); }
void emit_cmp_gt(Compiler& c, const CodeInst& inst) { compare(c, inst, 6, 0x1e); }
void emit_cmp_ge(Compiler& c, const CodeInst& inst) { compare(c, inst, 5, 0x1d); }
void emit_cmp_un(Compiler& c, const CodeInst& inst) { compare(c, inst, 0, 0x03); }

}  // namespace eum::jit::avx512::emit
