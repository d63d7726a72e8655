// Conversions between element types. Those of floats to 64-bit integers call their function.
#include "jit/avx2/emit/formula.hpp"

namespace eum::jit::avx2::emit {

namespace I = x86::Inst;
using ir::Type;

namespace {

/// vpmov from (row: u8 s8 u16 s16 u32 s32) to 16, 32, 64 bits.
std::uint32_t widening(Type from, unsigned to_bytes) {
  constexpr std::uint32_t ids[6][3] = {{I::kIdVpmovzxbw, I::kIdVpmovzxbd, I::kIdVpmovzxbq},
                                       {I::kIdVpmovsxbw, I::kIdVpmovsxbd, I::kIdVpmovsxbq},
                                       {0, I::kIdVpmovzxwd, I::kIdVpmovzxwq},
                                       {0, I::kIdVpmovsxwd, I::kIdVpmovsxwq},
                                       {0, 0, I::kIdVpmovzxdq},
                                       {0, 0, I::kIdVpmovsxdq}};
  if (to_bytes < 2 || static_cast<unsigned>(from) > 5) return 0;
  return ids[static_cast<unsigned>(from)][to_bytes == 2 ? 0 : to_bytes == 4 ? 1 : 2];
}

/// The part of the operand that becomes chunk `chunk` of a wider result, as an xmm register or memory.
asmjit::Operand narrow_part(Compiler& c, ir::ValueId value, unsigned chunk, unsigned from_bytes,
                            unsigned to_bytes) {
  if (c.regs.is_scalar(value)) return to_vector(c, value).xmm();
  const unsigned bytes = 32 * from_bytes / to_bytes, offset = chunk * bytes;
  const unsigned within = offset % 32;
  asmjit::Operand source = c.v.operand(value, offset / 32, within + bytes);
  if (source.isMem()) {
    x86::Mem memory = source.as<x86::Mem>();
    memory.addOffset(within);
    memory.setSize(bytes);
    return memory;
  }
  x86::Ymm ymm = source.as<x86::Ymm>();
  if (within == 0) return ymm.xmm();
  x86::Ymm part = c.v.scratch();
  if (within >= 16) {
    c.a.vextracti128(part.xmm(), ymm, 1);
    if (within > 16) c.a.vpsrldq(part.xmm(), part.xmm(), within - 16);
  } else {
    c.a.vpsrldq(part.xmm(), ymm.xmm(), within);
  }
  return part.xmm();
}

void widen(Compiler& c, const CodeInst& inst) {
  const unsigned from = ir::size_of(inst.from), to = ir::size_of(inst.type);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    asmjit::Operand part = narrow_part(c, inst.args[0], chunk, from, to);
    c.a.emit(widening(inst.from, to), c.v.define(inst.result, chunk), part);
    c.regs.unpin();
  }
}

/// How integers get fewer bits: they are cut, or signed ones clamped to the range of the result, as packing
/// does.
enum class Narrowing : std::uint8_t { Cut, ToSigned, ToUnsigned };

/// Chunks of the operand, from which `bytes` a lane are packed: where they are cut, without what is above.
class PackedChunks {
 public:
  PackedChunks(Compiler& c, const CodeInst& inst, Narrowing how) : c_(c), inst_(inst), how_(how) {}

  /// Half as wide as the operand.
  void halves(x86::Ymm to, unsigned chunk) const {
    const bool of_dwords = ir::size_of(inst_.from) == 4;
    join(to, 2 * chunk,
         of_dwords ? (how_ == Narrowing::ToSigned ? I::kIdVpackssdw : I::kIdVpackusdw) : words_to_bytes());
    c_.a.vpermq(to, to, 0xd8);
  }
  /// Bytes of dwords. Packing works within halves of registers: the order of the dwords is restored once.
  void quarters(x86::Ymm to, unsigned chunk) const {
    const std::uint32_t to_words = how_ == Narrowing::Cut ? I::kIdVpackusdw : I::kIdVpackssdw;
    x86::Ymm second = to;
    join(to, 4 * chunk, to_words);
    if (4 * chunk + 2 < chunks()) {
      second = c_.v.scratch();
      join(second, 4 * chunk + 2, to_words);
    }
    c_.a.emit(words_to_bytes(), to, to, second);
    const x86::Ymm order = c_.v.scratch();
    c_.a.vmovups(order, c_.constant(ConstantPool::dwords([](std::uint32_t i) { return i / 2 + i % 2 * 4; })));
    c_.a.vpermd(to, order, to);
  }

 private:
  unsigned chunks() const { return c_.v.chunks(inst_.args[0]); }
  std::uint32_t words_to_bytes() const {
    return how_ == Narrowing::ToSigned ? I::kIdVpacksswb : I::kIdVpackuswb;
  }
  /// Packs chunk `first` and the one behind it, if there is one.
  void join(x86::Ymm to, unsigned first, std::uint32_t by) const {
    const x86::Ymm a = part(first, to);
    const asmjit::Operand b = first + 1 == chunks() ? asmjit::Operand(a) : second_part(first + 1);
    c_.a.emit(by, to, a, b);
  }
  x86::Ymm part(unsigned chunk, x86::Ymm scratch) const {
    const x86::Ymm whole = c_.v.use(inst_.args[0], chunk);
    if (how_ != Narrowing::Cut) return whole;
    c_.a.vpand(scratch, whole, kept());
    return scratch;
  }
  asmjit::Operand second_part(unsigned chunk) const {
    if (how_ != Narrowing::Cut) return c_.v.operand(inst_.args[0], chunk);
    return part(chunk, c_.v.scratch());
  }
  x86::Mem kept() const {
    return c_.splat((std::uint64_t{1} << 8 * ir::size_of(inst_.type)) - 1, ir::size_of(inst_.from));
  }

  Compiler& c_;
  const CodeInst& inst_;
  Narrowing how_;
};

void narrow(Compiler& c, const CodeInst& inst, Narrowing how) {
  const unsigned from = ir::size_of(inst.from), to = ir::size_of(inst.type);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const x86::Ymm result = c.v.define(inst.result, chunk);
    if (from == 8) {
      const x86::Ymm a = c.v.use(inst.args[0], 2 * chunk);
      const bool both = 2 * chunk + 1 < c.v.chunks(inst.args[0]);
      pack(c, result, c.v.scratch(), a, both ? c.v.use(inst.args[0], 2 * chunk + 1) : a, from);
    } else if (from == 2 * to) {
      PackedChunks(c, inst, how).halves(result, chunk);
    } else {
      PackedChunks(c, inst, how).quarters(result, chunk);
    }
    c.regs.unpin();
  }
}

/// Lanes of 32 bits of the operand, widened from 8 or 16 where they are narrower.
x86::Ymm dwords(Compiler& c, const CodeInst& inst, unsigned chunk) {
  if (c.regs.is_scalar(inst.args[0])) return to_vector(c, inst.args[0]);
  if (ir::size_of(inst.from) == 4) return c.v.use(inst.args[0], chunk);
  asmjit::Operand part = narrow_part(c, inst.args[0], chunk, ir::size_of(inst.from), 4);
  x86::Ymm to = c.v.scratch();
  c.a.emit(widening(inst.from, 4), to, part);
  return to;
}

void int_to_f32(Compiler& c, const CodeInst& inst) {
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    x86::Ymm a = dwords(c, inst, chunk), to = c.v.define(inst.result, chunk);
    if (inst.from != Type::u32) {
      c.a.vcvtdq2ps(to, a);
    } else {
      // high * 65536 + low: both halves are exact, the one addition rounds.
      x86::Ymm low = c.v.scratch();
      c.a.vpsrld(to, a, 16);
      c.a.vcvtdq2ps(to, to);
      c.a.vpand(low, a, c.splat(0xffff, 4));
      c.a.vcvtdq2ps(low, low);
      c.a.vfmadd132ps(to, low, c.splat(0x47800000, 4));
    }
    c.regs.unpin();
  }
}

void f32_to_s32_chunk(Compiler& c, x86::Ymm to, x86::Ymm x) {
  x86::Ymm mask = c.v.scratch();
  c.a.vcvttps2dq(to, x);
  c.a.vcmpps(mask, x, c.splat(0x4f000000, 4), 0x1d);  // x >= 2^31: 0x80000000 becomes 0x7fffffff
  c.a.vpxor(to, to, mask);
  c.a.vcmpps(mask, x, x, 7);  // NaN gives 0
  c.a.vpand(to, to, mask);
}

void f32_to_u32_chunk(Compiler& c, x86::Ymm to, x86::Ymm x) {
  x86::Ymm big = c.v.scratch(), positive = c.v.scratch(), part = c.v.scratch();
  c.a.vpxor(positive, positive, positive);
  c.a.vmaxps(positive, x, positive);  // NaN and negative numbers give 0
  c.a.vcmpps(big, positive, c.splat(0x4f000000, 4), 0x1d);
  c.a.vandps(part, big, c.splat(0x4f000000, 4));
  c.a.vsubps(part, positive, part);
  c.a.vcvttps2dq(to, part);
  c.a.vpslld(part, big, 31);
  c.a.vpxor(to, to, part);
  c.a.vcmpps(big, positive, c.splat(0x4f800000, 4), 0x1d);
  c.a.vpor(to, to, big);
}

void f32_to_int(Compiler& c, const CodeInst& inst) {
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.args[0]); ++chunk) {
    x86::Ymm x = c.v.use(inst.args[0], chunk);
    bool scalar = c.regs.is_scalar(inst.result);
    x86::Ymm to = scalar ? c.v.scratch() : c.v.define(inst.result, chunk);
    if (inst.type == Type::s32) {
      f32_to_s32_chunk(c, to, x);
    } else {
      f32_to_u32_chunk(c, to, x);
    }
    if (scalar) define_from_vector(c, inst.result, to);
    c.regs.unpin();
  }
}

constexpr std::uint64_t two_to_52 = 0x4330000000000000;

/// The low half of 2^52 + x is x; -0, the result of x - x where the mode rounds down, becomes 0.
void u32_to_f64(Compiler& c, const CodeInst& inst) {
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    asmjit::Operand part = narrow_part(c, inst.args[0], chunk, 4, 8);
    x86::Ymm to = c.v.define(inst.result, chunk);
    c.a.emit(I::kIdVpmovzxdq, to, part);
    c.a.vpor(to, to, c.splat(two_to_52, 8));
    c.a.vsubpd(to, to, c.splat(two_to_52, 8));
    c.a.vandpd(to, to, c.splat(~(1ull << 63), 8));
    c.regs.unpin();
  }
}

/// (2^84 + high * 2^32) - (2^84 + 2^52) is exact, adding 2^52 + low rounds once. For s64 the high half is
/// biased by 2^31. 0 is 0 in every mode.
void int64_as_f64(Compiler& c, Type from, x86::Ymm to, x86::Ymm x, x86::Ymm low) {
  const bool is_signed = ir::is_signed(from);
  c.a.vmovdqu(low, c.splat(two_to_52, 8));
  c.a.vpblendd(low, low, x, 0x55);
  c.a.vpsrlq(to, x, 32);
  c.a.vpxor(to, to, c.splat(is_signed ? 0x4530000080000000 : 0x4530000000000000, 8));
  c.a.vsubpd(to, to, c.splat(is_signed ? 0x4530000080100000 : 0x4530000000100000, 8));
  c.a.vaddpd(to, to, low);
  c.a.vpxor(low, low, low);
  c.a.vpcmpeqq(low, low, x);
  c.a.vandnpd(to, low, to);
}

x86::Ymm qwords(Compiler& c, ir::ValueId value, unsigned chunk) {
  return c.regs.is_scalar(value) ? to_vector(c, value) : c.v.use(value, chunk);
}

void int64_to_f64(Compiler& c, const CodeInst& inst) {
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const x86::Ymm x = qwords(c, inst.args[0], chunk);
    int64_as_f64(c, inst.from, c.v.define(inst.result, chunk), x, c.v.scratch());
    c.regs.unpin();
  }
}

/// Chunk `chunk` of a result half as wide as the operand, whose chunk k of `chunks` half(to, k) converts.
template <class Half>
x86::Ymm define_by_halves(Compiler& c, const CodeInst& inst, unsigned chunk, unsigned chunks, Half half) {
  const x86::Ymm to = c.v.define(inst.result, chunk);
  half(to.xmm(), 2 * chunk);
  if (2 * chunk + 1 < chunks) {
    const x86::Ymm upper = c.v.scratch();
    half(upper.xmm(), 2 * chunk + 1);
    c.a.vinserti128(to, to, upper.xmm(), 1);
  }
  return to;
}

/// Via f64, without rounding: where a number needs more bits than f64 has, the last eleven become one that
/// says whether any was set (rounding to odd), so that the rounding to f32 is the only one.
void int64_to_f32(Compiler& c, const CodeInst& inst) {
  const bool is_signed = ir::is_signed(inst.from);
  const auto half = [&](x86::Xmm to, unsigned chunk) {
    const x86::Ymm x = qwords(c, inst.args[0], chunk);
    const x86::Ymm odd = c.v.scratch(), rest = c.v.scratch(), large = c.v.scratch();
    c.a.vpand(rest, x, c.splat(0x7ff, 8));
    c.a.vpaddd(rest, rest, c.splat(0x7ff, 8));
    c.a.vpor(odd, rest, x);
    c.a.vpand(odd, odd, c.splat(~std::uint64_t{0x7ff}, 8));
    // Bits 53 on of the magnitude, in the upper dword.
    if (is_signed) c.a.vpaddd(large, x, c.splat(0x20000000000000, 8));
    c.a.vpsrld(large, is_signed ? large : x, is_signed ? 22 : 21);
    c.a.vpxor(rest, rest, rest);
    c.a.vpcmpeqd(large, large, rest);
    c.a.vpshufd(large, large, 0xf5);
    c.a.vpblendvb(odd, odd, x, large);
    int64_as_f64(c, inst.from, large, odd, rest);
    c.a.vcvtpd2ps(to, large);
  };
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    define_by_halves(c, inst, chunk, (inst.lanes + 3u) / 4, half);
    c.regs.unpin();
  }
}

/// To s32 or u32: four lanes to the low half of `to`, or to the low dwords of its lanes.
void f64_to_dwords(Compiler& c, Type type, x86::Ymm to, x86::Ymm x) {
  if (type == Type::s32) {
    c.a.vcmppd(to, x, x, 7);  // NaN gives 0
    c.a.vandpd(to, to, x);
    c.a.vminpd(to, to, c.splat(0x41dfffffffc00000, 8));  // 2^31 - 1
    return (void)c.a.vcvttpd2dq(to.xmm(), to);
  }
  c.a.vpxor(to, to, to);
  c.a.vmaxpd(to, x, to);                               // NaN and negative numbers give 0
  c.a.vminpd(to, to, c.splat(0x41efffffffe00000, 8));  // 2^32 - 1
  c.a.vroundpd(to, to, 3 | 8);
  c.a.vaddpd(to, to, c.splat(two_to_52, 8));
}

void f64_to_int(Compiler& c, const CodeInst& inst) {
  const bool scalar = c.regs.is_scalar(inst.result);
  for (unsigned chunk = 0; chunk < (scalar ? 1 : c.v.chunks(inst.result)); ++chunk) {
    const x86::Ymm low = scalar ? c.v.scratch() : c.v.define(inst.result, chunk), high = c.v.scratch();
    f64_to_dwords(c, inst.type, low, c.v.use(inst.args[0], 2 * chunk));
    const bool both = 2 * chunk + 1 < c.v.chunks(inst.args[0]);
    if (both) f64_to_dwords(c, inst.type, high, c.v.use(inst.args[0], 2 * chunk + 1));
    if (inst.type == Type::u32) {
      c.a.vshufps(low, low, both ? high : low, 0x88);
      c.a.vpermq(low, low, 0xd8);
    } else if (both) {
      c.a.vinserti128(low, low, high.xmm(), 1);
    }
    if (scalar) define_from_vector(c, inst.result, low);
    c.regs.unpin();
  }
}

/// vcvtps2pd, vcvtdq2pd, vcvtph2ps: results twice as wide as the operand.
void widen_float(Compiler& c, const CodeInst& inst, std::uint32_t id) {
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    asmjit::Operand part =
        narrow_part(c, inst.args[0], chunk, ir::size_of(inst.from), ir::size_of(inst.type));
    const x86::Ymm to = c.v.define(inst.result, chunk);
    c.a.emit(id, to, part);
    if (inst.from == Type::f16)
      c.flush_if_not_kept([&c, to, small = c.v.scratch(), zero = c.v.scratch()] {
        c.a.vandps(small, to, c.splat(0x7fffffff, 4));
        c.a.vcmpps(small, small, c.splat(0x38800000, 4), 17);  // below 2^-14, the least normal f16
        c.a.vandps(zero, to, c.splat(0x80000000, 4));
        c.a.vblendvps(to, to, zero, small);
      });
    c.regs.unpin();
  }
}

/// Two chunks to one, each converted to an xmm.
void narrow_float(Compiler& c, const CodeInst& inst) {
  auto half = [&](x86::Xmm to, unsigned chunk) {
    x86::Ymm from = c.v.use(inst.args[0], chunk);
    if (inst.type == Type::f16) {
      c.a.vcvtps2ph(to, from, c.rounding_to_half());
    } else {
      c.a.vcvtpd2ps(to, from);
    }
  };
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const x86::Ymm to = define_by_halves(c, inst, chunk, c.v.chunks(inst.args[0]), half);
    if (inst.type == Type::f16)
      c.flush_if_not_kept([&c, to, small = c.v.scratch(), zero = c.v.scratch()] {
        c.a.vpand(small, to, c.splat(0x7c00, 2));
        c.a.vpxor(zero, zero, zero);
        c.a.vpcmpeqw(small, small, zero);
        c.a.vpand(zero, to, c.splat(0x8000, 2));
        c.a.vpblendvb(to, to, zero, small);
      });
    c.regs.unpin();
  }
}

void convert_scalar(Compiler& c, const CodeInst& inst) {
  const x86::Gp from = c.g.use(inst.args[0]);
  if (ir::size_of(inst.type) < 8 && ir::size_of(inst.from) < 8)
    return extend(c, begin_over(c, inst, 0, from.r32()), inst.type);
  const x86::Gp to = c.g.define(inst.result);
  if (ir::size_of(inst.type) == 8 && ir::size_of(inst.from) < 8) {
    if (ir::is_signed(inst.from)) {
      c.a.movsxd(to, from.r32());
    } else {
      c.a.mov(to.r32(), from.r32());
    }
    return;
  }
  c.a.mov(sized(to, inst.type), sized(from, inst.type));
  extend(c, to, inst.type);
}

/// Of up to 32 bits.
void saturate_scalar(Compiler& c, const CodeInst& inst) {
  const x86::Gp to = begin_over(c, inst, 0, c.g.use(inst.args[0]).r32()), limit = c.g.scratch().r32();
  const unsigned bits = 8 * ir::size_of(inst.type);
  const bool is_signed = ir::is_signed(inst.type);
  const std::uint32_t most = ~std::uint32_t{} >> (32 - bits + (is_signed ? 1 : 0));
  c.a.mov(limit, most);
  c.a.cmp(to, limit);
  if (!ir::is_signed(inst.from)) return (void)c.a.cmova(to, limit);
  c.a.cmovg(to, limit);
  c.a.mov(limit, is_signed ? ~most : 0);
  c.a.cmp(to, limit);
  c.a.cmovl(to, limit);
}

}  // namespace

void pack(Compiler& c, x86::Ymm to, x86::Ymm scratch, x86::Ymm a, x86::Ymm b, unsigned from_bytes) {
  if (from_bytes == 8) {
    c.a.vshufps(to, a, b, 0x88);
  } else {
    const x86::Mem keep = from_bytes == 4 ? c.splat(0xffff, 4) : c.splat(0xff, 2);
    c.a.vpand(scratch, a, keep);
    if (a != b) c.a.vpand(to, b, keep);
    c.a.emit(from_bytes == 4 ? I::kIdVpackusdw : I::kIdVpackuswb, to, scratch, a == b ? scratch : to);
  }
  c.a.vpermq(to, to, 0xd8);
}

void emit_convert(Compiler& c, const CodeInst& inst) {
  const Type to = inst.type, from = inst.from;
  const unsigned to_bytes = ir::size_of(to), from_bytes = ir::size_of(from);
  if (c.regs.is_scalar(inst.args[0]) && c.regs.is_scalar(inst.result)) return convert_scalar(c, inst);
  if (ir::is_int(to) && ir::is_int(from)) {
    return to_bytes > from_bytes ? widen(c, inst)
                                 : narrow(c, inst, Narrowing::Cut);  // of one size: BlockCode::fold
  }
  if (to == Type::f32 && ir::is_int(from) && from_bytes <= 4) return int_to_f32(c, inst);
  if (from == Type::f32 && ir::is_int(to) && to_bytes == 4) return f32_to_int(c, inst);
  if (to == Type::f64 && from == Type::f32) return widen_float(c, inst, I::kIdVcvtps2pd);
  if (from == Type::f64 && ir::is_int(to) && to_bytes == 4) return f64_to_int(c, inst);
  if (to == Type::f64 && from == Type::u32) return u32_to_f64(c, inst);
  if (to == Type::f64 && ir::is_int(from) && from_bytes == 8) return int64_to_f64(c, inst);
  if (to == Type::f32 && ir::is_int(from) && from_bytes == 8) return int64_to_f32(c, inst);
  if (to == Type::f64 && from == Type::s32) return widen_float(c, inst, I::kIdVcvtdq2pd);
  if (to == Type::f32 && from == Type::f16) return widen_float(c, inst, I::kIdVcvtph2ps);
  if ((to == Type::f32 && from == Type::f64) || (to == Type::f16 && from == Type::f32))
    return narrow_float(c, inst);
  c.call_lane_function(inst);
}

void emit_convert_keep(Compiler& c, const CodeInst& inst) { emit_convert(c, inst); }

void emit_convert_sat(Compiler& c, const CodeInst& inst) {
  if (ir::is_float(inst.from) && ir::is_int(inst.type)) return emit_convert(c, inst);
  const bool from_scalar = c.regs.is_scalar(inst.args[0]), to_scalar = c.regs.is_scalar(inst.result),
             in_vectors = !from_scalar && !to_scalar;
  const bool narrows = ir::is_int(inst.type) && ir::is_int(inst.from) && ir::size_of(inst.from) <= 4 &&
                       ir::size_of(inst.type) < ir::size_of(inst.from);
  if (from_scalar && to_scalar && narrows) return saturate_scalar(c, inst);
  if (in_vectors && narrows && ir::is_signed(inst.from))
    return narrow(c, inst, ir::is_signed(inst.type) ? Narrowing::ToSigned : Narrowing::ToUnsigned);
  c.call_lane_function(inst);
}

void emit_convert_indefinite(Compiler& c, const CodeInst& inst) {
  const bool in_vectors = !c.regs.is_scalar(inst.args[0]) && !c.regs.is_scalar(inst.result);
  if (!in_vectors || inst.type != Type::s32 || (inst.from != Type::f32 && inst.from != Type::f64))
    return c.call_lane_function(inst);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    if (inst.from == Type::f32) {
      const asmjit::Operand x = c.v.operand(inst.args[0], chunk);
      c.a.emit(I::kIdVcvttps2dq, c.v.define(inst.result, chunk), x);
    } else {
      define_by_halves(c, inst, chunk, c.v.chunks(inst.args[0]),
                       [&](x86::Xmm to, unsigned half) { c.a.vcvttpd2dq(to, c.v.use(inst.args[0], half)); });
    }
    c.regs.unpin();
  }
}

void emit_bitcast(Compiler& c, const CodeInst& inst) {
  if (const std::uint64_t* bits = c.regs.constant(inst.args[0]); bits && inst.lanes == 1) {
    CodeInst constant = inst;
    constant.imm = *bits;
    return emit_constant(c, constant);
  }
  const bool scalar_from = c.regs.is_scalar(inst.args[0]), scalar_to = c.regs.is_scalar(inst.result);
  if (scalar_from && scalar_to) return convert_scalar(c, inst);
  if (scalar_to) return define_from_vector(c, inst.result, c.v.use(inst.args[0]));
  c.v.bind(inst.result, 0, to_vector(c, inst.args[0]));
}

}  // namespace eum::jit::avx2::emit
