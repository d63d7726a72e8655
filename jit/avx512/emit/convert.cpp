// Conversions between floats and integers of 32 and 64 bits. The instructions round as the mode says; what
// does not fit gives all ones for unsigned and the lowest value for signed results, so signed ones are
// corrected.
#include "jit/avx512/emit/emit.hpp"

namespace eum::jit::avx512::emit {

namespace I = x86::Inst;
using ir::Type;

namespace {

/// An instruction id by bytes of the operand and of the result: 4 or 8 each.
struct ByWidths {
  std::uint32_t ids[2][2];
  std::uint32_t of(const CodeInst& inst) const {
    return ids[ir::size_of(inst.from) / 8][ir::size_of(inst.type) / 8];
  }
};

constexpr ByWidths from_signed{{{I::kIdVcvtdq2ps, I::kIdVcvtdq2pd}, {I::kIdVcvtqq2ps, I::kIdVcvtqq2pd}}};
constexpr ByWidths from_unsigned{
    {{I::kIdVcvtudq2ps, I::kIdVcvtudq2pd}, {I::kIdVcvtuqq2ps, I::kIdVcvtuqq2pd}}};
constexpr ByWidths to_signed{{{I::kIdVcvttps2dq, I::kIdVcvttps2qq}, {I::kIdVcvttpd2dq, I::kIdVcvttpd2qq}}};
constexpr ByWidths to_unsigned{
    {{I::kIdVcvttps2udq, I::kIdVcvttps2uqq}, {I::kIdVcvttpd2udq, I::kIdVcvttpd2uqq}}};

bool is_word(Type type) { return ir::size_of(type) >= 4; }

/// Calls one(to, from) for each vector of the wider type; the narrower one is an xmm. Narrow results are then
/// joined.
template <class One>
void by_wider_chunks(Compiler& c, const CodeInst& inst, One one) {
  const unsigned from = ir::size_of(inst.from), to = ir::size_of(inst.type);
  if (to < from) {
    for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
      const x86::Ymm joined = c.v.define(inst.result, chunk);
      one(joined.xmm(), c.v.use(inst.args[0], 2 * chunk));
      if (2 * chunk + 1 < c.v.chunks(inst.args[0])) {
        const x86::Ymm upper = c.v.scratch();
        one(upper.xmm(), c.v.use(inst.args[0], 2 * chunk + 1));
        c.a.vinserti32x4(joined, joined, upper.xmm(), 1);
      }
      c.regs.unpin();
    }
    return;
  }
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    if (to == from) {
      const x86::Ymm x = c.v.use(inst.args[0], chunk);
      one(c.v.define(inst.result, chunk), x);
    } else {
      const x86::Ymm x = c.v.use(inst.args[0], chunk / 2);
      x86::Xmm half = x.xmm();
      if (chunk % 2 == 1) {
        half = c.v.scratch().xmm();
        c.a.vextracti32x4(half, x, 1);
      }
      one(c.v.define(inst.result, chunk), half);
    }
    c.regs.unpin();
  }
}

void int_to_float(Compiler& c, const CodeInst& inst) {
  const std::uint32_t id = (ir::is_signed(inst.from) ? from_signed : from_unsigned).of(inst);
  by_wider_chunks(c, inst, [&](const x86::Vec& to, const x86::Vec& x) { c.a.emit(id, to, x); });
}

void float_to_int(Compiler& c, const CodeInst& inst) {
  const bool single = inst.from == Type::f32;
  const unsigned bytes = single ? 4 : 8;
  if (!ir::is_signed(inst.type)) {
    const std::uint32_t id = to_unsigned.of(inst);
    return by_wider_chunks(c, inst, [&](const x86::Vec& to, const x86::Vec& x) {
      // NaN and negative numbers give 0.
      const x86::Vec positive = x.isYmm() ? x86::Vec(c.v.scratch()) : x86::Vec(c.v.scratch().xmm());
      c.a.vpxor(positive.as<x86::Xmm>(), positive.as<x86::Xmm>(), positive.as<x86::Xmm>());
      c.a.emit(single ? I::kIdVmaxps : I::kIdVmaxpd, positive, x, positive);
      c.a.emit(id, to, positive);
    });
  }
  // 2^31 or 2^63 as a float, and the greatest result.
  const bool wide = ir::size_of(inst.type) == 8;
  const std::uint64_t limit =
      single ? (wide ? 0x5f000000u : 0x4f000000u) : (wide ? 0x43e0000000000000u : 0x41e0000000000000u);
  const std::uint64_t greatest = wide ? 0x7fffffffffffffffu : 0x7fffffffu;
  const std::uint32_t compare = single ? I::kIdVcmpps : I::kIdVcmppd;
  by_wider_chunks(c, inst, [&](const x86::Vec& to, const x86::Vec& x) {
    const auto sized = [&](x86::Mem memory, const x86::Vec& like) {
      memory.setSize(like.size());
      return memory;
    };
    const auto if_set = [&](asmjit::InstId id, auto... operands) {
      c.a.k(avx2::scratch_mask);
      c.a.emit(id, operands...);
    };
    c.a.emit(to_signed.of(inst), to, x);
    c.a.emit(compare, avx2::scratch_mask, x, sized(c.splat(limit, bytes), x), asmjit::Imm(0x1d));
    if_set(wide ? I::kIdVmovdqu64 : I::kIdVmovdqu32, to, sized(c.splat(greatest, wide ? 8 : 4), to));
    c.a.emit(compare, avx2::scratch_mask, x, x, asmjit::Imm(3));
    if_set(wide ? I::kIdVpxorq : I::kIdVpxord, to, to, to);
  });
}

}  // namespace

void emit_convert(Compiler& c, const CodeInst& inst) {
  const bool in_vectors = !c.regs.is_scalar(inst.args[0]) && !c.regs.is_scalar(inst.result);
  if (in_vectors && is_word(inst.type) && is_word(inst.from)) {
    if (ir::is_float(inst.type) && ir::is_int(inst.from)) return int_to_float(c, inst);
    if (ir::is_int(inst.type) && ir::is_float(inst.from)) return float_to_int(c, inst);
  }
  avx2::emit::emit_convert(c, inst);
}

void emit_convert_sat(Compiler& c, const CodeInst& inst) {
  if (ir::is_float(inst.from) && ir::is_int(inst.type)) return emit_convert(c, inst);
  avx2::emit::emit_convert_sat(c, inst);
}

}  // namespace eum::jit::avx512::emit
