// Comparisons of values that increase by one from lane to lane: all lanes agree in nearly every thread, which
// one comparison of scalars detects.
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::avx2::emit {

namespace {

/// For lanes that do not agree: registers of emit_ramp.
struct Ramp {
  x86::Gp first, limit;  ///< 32 bits
  x86::Gp at;            ///< copy of `first`, which changes
  x86::Gp below;         ///< 64 bits: how many lanes are below the limit, if the sum does not wrap
  x86::Gp to;
  unsigned lanes;
  bool is_signed, or_equal;
};

void split_ramp(Compiler& c, const Ramp& ramp, asmjit::Label done) {
  auto& a = c.a;
  const asmjit::Label wraps = a.newLabel(), next = a.newLabel();
  const std::uint32_t highest = ramp.is_signed ? INT32_MAX : UINT32_MAX;
  a.xor_(ramp.to, ramp.to);
  a.cmp(ramp.at, asmjit::Imm(static_cast<std::int32_t>(highest - (ramp.lanes - 1))));
  ramp.is_signed ? a.jg(wraps) : a.ja(wraps);
  a.test(ramp.below, ramp.below);
  a.jle(done);
  a.dec(ramp.to);
  a.bzhi(ramp.to, ramp.to, ramp.below.r32());
  a.jmp(done);
  // Lane by lane, from the last one.
  const x86::Gp lane = ramp.below;
  a.bind(wraps);
  a.mov(lane.r32(), ramp.lanes - 1);
  a.bind(next);
  a.lea(ramp.at, x86::ptr(ramp.first.r64(), lane));
  a.cmp(ramp.at, ramp.limit);
  if (ramp.is_signed) {
    ramp.or_equal ? a.setle(ramp.at.r8()) : a.setl(ramp.at.r8());
  } else {
    ramp.or_equal ? a.setbe(ramp.at.r8()) : a.setb(ramp.at.r8());
  }
  a.movzx(ramp.at, ramp.at.r8());
  a.lea(ramp.to, x86::ptr(ramp.at.r64(), ramp.to.r64(), 1));
  a.dec(lane.r32());
  a.jns(next);
  a.jmp(done);
}

void emit_ramp(Compiler& c, const CodeInst& inst, bool or_equal) {
  auto& a = c.a;
  Ramp ramp;
  ramp.lanes = inst.lanes;
  ramp.is_signed = ir::is_signed(inst.type);
  ramp.or_equal = or_equal;
  ramp.first = c.g.use(inst.args[0]).r32();
  ramp.limit = c.g.use(inst.args[1]).r32();
  ramp.at = c.g.scratch().r32();
  ramp.below = c.g.scratch().r64();
  ramp.to = c.m.define_bits(inst.result).r32();
  if (ramp.is_signed) {
    a.movsxd(ramp.at.r64(), ramp.first);
    a.movsxd(ramp.below, ramp.limit);
  } else {
    a.mov(ramp.at, ramp.first);
    a.mov(ramp.below.r32(), ramp.limit);
  }
  a.sub(ramp.below, ramp.at.r64());
  if (or_equal) a.inc(ramp.below);
  a.mov(ramp.to, asmjit::Imm(static_cast<std::int32_t>(ir::lane_mask(inst.lanes))));
  const asmjit::Label split = a.newLabel(), done = a.newLabel();
  a.cmp(ramp.below, inst.lanes);
  a.jl(split);
  a.bind(done);
  c.out_of_line([&c, ramp, split, done] {
    c.a.bind(split);
    split_ramp(c, ramp, done);
  });
}

}  // namespace

/// At most one lane is equal, and in few threads one is.
void emit_ramp_eq(Compiler& c, const CodeInst& inst) {
  auto& a = c.a;
  const x86::Gp first = c.g.use(inst.args[0]).r32(), limit = c.g.use(inst.args[1]).r32();
  const x86::Gp lane = c.g.scratch().r32(), to = c.m.define_bits(inst.result).r32();
  a.mov(lane, limit);
  a.sub(lane, first);
  a.xor_(to, to);
  const asmjit::Label one = a.newLabel(), done = a.newLabel();
  a.cmp(lane, inst.lanes);
  a.jb(one);
  a.bind(done);
  c.out_of_line([&c, lane, to, one, done] {
    c.a.bind(one);
    c.a.bts(to, lane);
    c.a.jmp(done);
  });
}
void emit_ramp_lt(Compiler& c, const CodeInst& inst) { emit_ramp(c, inst, false); }
void emit_ramp_le(Compiler& c, const CodeInst& inst) { emit_ramp(c, inst, true); }

}  // namespace eum::jit::avx2::emit
