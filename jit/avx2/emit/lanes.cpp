// Constants, and ops that move lanes and masks around.
#include <array>
#include <bit>

#include "jit/avx2/emit/emit.hpp"
#include "jit/avx2/emit/scalar.hpp"

namespace eum::jit::avx2::emit {

namespace I = x86::Inst;
using ir::Type;

const BySize vpbroadcast{{I::kIdVpbroadcastb, I::kIdVpbroadcastw, I::kIdVpbroadcastd, I::kIdVpbroadcastq}};

void store_element(Compiler& c, const x86::Mem& to, x86::Xmm from, unsigned index) {
  auto& a = c.a;
  switch (to.size()) {
    case 1:
      return (void)a.vpextrb(to, from, index);
    case 2:
      return (void)a.vpextrw(to, from, index);
    case 4:
      return (void)(index == 0 ? a.vmovd(to, from) : a.vpextrd(to, from, index));
    default:
      return (void)(index == 0 ? a.vmovq(to, from) : a.vmovhps(to, from));
  }
}

namespace {

/// Moves 4 or 8 bytes; the rest of the register becomes zero.
void to_vector(Compiler& c, x86::Ymm to, x86::Gp from, unsigned bytes) {
  bytes == 8 ? c.a.vmovq(to.xmm(), from.r64()) : c.a.vmovd(to.xmm(), from.r32());
}

void bind_all(Compiler& c, ir::ValueId value, x86::Ymm reg) {
  for (unsigned chunk = 0; chunk < c.v.chunks(value); ++chunk) c.v.bind(value, chunk, reg);
}

/// Loads the result from packed lanes in the frame.
void move_through_frame(Compiler& c, const CodeInst& inst, int offset) {
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    c.a.vmovups(c.v.define(inst.result, chunk),
                x86::ptr(x86::rsp, offset + static_cast<int>(chunk) * 32, 32));
    c.regs.unpin();
  }
}

/// Sets each group of `group` bits to all ones if one of them is one.
void fold_groups(Compiler& c, x86::Gp bits, unsigned lanes, unsigned group) {
  if (!std::has_single_bit(group)) {
    // No shift and multiplication does this: one group after the other.
    x86::Gp from = c.g.scratch().r32(), members = c.g.scratch().r32();
    c.a.mov(from, bits);
    c.a.xor_(bits, bits);
    for (unsigned first = 0; first < lanes; first += group) {
      const auto ones = static_cast<std::int32_t>(ir::lane_mask(group) << first);
      c.a.mov(members, from);
      c.a.and_(members, asmjit::Imm(ones));
      c.a.neg(members);  // carry: not zero
      c.a.sbb(members, members);
      c.a.and_(members, asmjit::Imm(ones));
      c.a.or_(bits, members);
    }
    return;
  }
  x86::Gp shifted = c.g.scratch().r32();
  for (unsigned step = 1; step < group; step *= 2) {
    c.a.mov(shifted, bits);
    c.a.shr(shifted, step);
    c.a.or_(bits, shifted);
  }
  std::uint32_t first = 0;
  for (unsigned lane = 0; lane < lanes; lane += group) first |= 1u << lane;
  c.a.and_(bits, asmjit::Imm(static_cast<std::int32_t>(first)));
  c.a.imul(bits, bits, asmjit::Imm(static_cast<std::int32_t>(ir::lane_mask(group))));
}

void invert(Compiler& c, x86::Gp bits, unsigned lanes) {
  c.a.xor_(bits, asmjit::Imm(static_cast<std::int32_t>(ir::lane_mask(lanes))));
}

}  // namespace

void emit_constant(Compiler& c, const CodeInst& inst) {
  std::uint64_t bits = inst.imm;
  if (ir::is_mask(inst.type)) {
    bits &= ir::lane_mask(inst.lanes);
  } else if (c.regs.is_scalar(inst.result)) {
    // Kept extended, as every scalar.
    switch (inst.type) {
      case Type::u8:
        bits &= 0xff;
        break;
      case Type::u16:
        bits &= 0xffff;
        break;
      case Type::s8:
        bits = static_cast<std::uint32_t>(static_cast<std::int8_t>(bits));
        break;
      case Type::s16:
        bits = static_cast<std::uint32_t>(static_cast<std::int16_t>(bits));
        break;
      case Type::u32:
      case Type::s32:
        bits &= 0xffffffff;
        break;
      default:
        break;
    }
  }
  c.regs.define_constant(inst.result, bits);
}

void emit_vconst(Compiler& c, const CodeInst& inst) {
  const ir::PoolEntry& lanes = c.function.pool[inst.imm];
  const unsigned bytes = ir::size_of(inst.type), per_chunk = 32 / bytes;
  if (inst.lanes == 1 && ir::is_int(inst.type)) {
    CodeInst constant = inst;
    constant.imm = lanes[0];
    return emit_constant(c, constant);
  }
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    ConstantPool::Entry entry{};
    for (unsigned i = 0; i < per_chunk && chunk * per_chunk + i < inst.lanes; ++i)
      std::memcpy(entry.data() + i * bytes, &lanes[chunk * per_chunk + i], bytes);
    c.v.define_constant(inst.result, chunk, entry);
  }
}

void emit_splat(Compiler& c, const CodeInst& inst) {
  ir::ValueId scalar = inst.args[0];
  if (const std::uint64_t* bits = c.regs.constant(scalar)) return c.regs.define_constant(inst.result, *bits);
  const std::uint32_t id = vpbroadcast[inst.type];
  if (const auto memory = c.regs.whole_in_memory(scalar)) {
    x86::Ymm to = c.v.scratch();
    c.a.emit(id, to, c.memory(*memory, ir::size_of(inst.type)));
    return bind_all(c, inst.result, to);
  }
  if (!c.regs.is_scalar(scalar)) {
    x86::Ymm from = c.v.use(scalar), to = c.v.scratch();
    c.a.emit(id, to, from.xmm());
    return bind_all(c, inst.result, to);
  }
  x86::Gp from = c.g.use(scalar);
  x86::Ymm to = c.v.scratch();
  to_vector(c, to, from, ir::size_of(inst.type));
  c.a.emit(id, to, to.xmm());
  bind_all(c, inst.result, to);
}

namespace {

/// Moves what begins at byte `at` of a vector, and lies within the same 16 bytes, to the vector's beginning.
void move_low(Compiler& c, const CodeInst& inst, unsigned at) {
  auto& a = c.a;
  const unsigned from_half = at % 16;
  x86::Xmm from = c.v.use(inst.args[0], at / 32).xmm();
  const x86::Xmm to = c.v.define(inst.result, 0).xmm();
  if (at % 32 >= 16) {
    a.vextracti128(to, from.ymm(), 1);
    from = to;
  }
  if (from_half == 8)
    a.vpunpckhqdq(to, from, from);
  else if (from_half != 0)
    a.vpsrldq(to, from, from_half);
}

/// Moves a lane to a general register.
void take_lane(Compiler& c, const CodeInst& inst, unsigned lane, unsigned bytes) {
  auto& a = c.a;
  const unsigned at = lane * bytes, index = at % 16 / bytes;
  x86::Xmm from = c.v.use(inst.args[0], at / 32).xmm();
  const x86::Gp to = c.g.define(inst.result);
  if (at % 32 >= 16) {
    const x86::Ymm high = c.v.scratch();
    a.vextracti128(high.xmm(), from.ymm(), 1);
    from = high.xmm();
  }
  if (bytes == 8)
    index == 0 ? a.vmovq(to, from) : a.vpextrq(to, from, index);
  else if (bytes == 4)
    index == 0 ? a.vmovd(to.r32(), from) : a.vpextrd(to.r32(), from, index);
  else
    bytes == 2 ? a.vpextrw(to.r32(), from, index) : a.vpextrb(to.r32(), from, index);
  if (bytes < 4) extend(c, to, inst.type);
}

}  // namespace

void emit_slice(Compiler& c, const CodeInst& inst) {
  auto first = static_cast<unsigned>(inst.imm);
  if (ir::is_mask(inst.type)) {
    c.m.note_part(inst.result, inst.args[0], first);
    if (c.m.take_part(inst)) return;
    const x86::Gp from = c.m.bits(inst.args[0]).r32();
    if (first == 0 && inst.lanes == 16)
      return (void)c.a.movzx(c.m.define_bits(inst.result).r32(), from.r16());
    if (first == 0 && inst.lanes == 8) return (void)c.a.movzx(c.m.define_bits(inst.result).r32(), from.r8());
    const x86::Gp to = begin_over(c, inst, 0, from);
    if (first > 0) c.a.shr(to, first);
    if (first + inst.lanes < c.lanes_of(inst.args[0]))
      c.a.and_(to, asmjit::Imm(static_cast<std::int32_t>(ir::lane_mask(inst.lanes))));
    return;
  }
  const unsigned bytes = ir::size_of(inst.type);
  if (c.regs.is_scalar(inst.args[0])) return c.regs.alias(inst.result, inst.args[0]);
  if (first * bytes % 32 == 0 && !c.regs.is_scalar(inst.result)) {
    for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
      c.v.share(inst.result, chunk, inst.args[0], first * bytes / 32 + chunk);
      c.regs.unpin();
    }
    return;
  }
  if (c.regs.is_scalar(inst.result)) return take_lane(c, inst, first, bytes);
  const unsigned at = first * bytes;
  if (at % 16 + inst.lanes * bytes <= 16) return move_low(c, inst, at);
  c.store_packed(inst.args[0], Frame::data);
  move_through_frame(c, inst, Frame::data + static_cast<int>(at));
}

void emit_recast(Compiler& c, const CodeInst& inst) {
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    c.v.share(inst.result, chunk, inst.args[0], chunk);
    c.regs.unpin();
  }
}

namespace {

/// Joins two parts of `bytes` each, 4, 8 or 16, in a register.
void join_parts(Compiler& c, const CodeInst& inst, unsigned bytes) {
  x86::Ymm low;
  if (c.regs.is_scalar(inst.args[0])) {
    low = c.v.scratch();
    to_vector(c, low, c.g.use(inst.args[0]), bytes);
  } else {
    low = c.v.use(inst.args[0], 0);
  }
  if (c.regs.is_scalar(inst.args[1])) {
    const x86::Gp high = c.g.use(inst.args[1]);
    const x86::Xmm to = c.v.define(inst.result, 0).xmm();
    bytes == 4 ? c.a.vpinsrd(to, low.xmm(), high.r32(), 1) : c.a.vpinsrq(to, low.xmm(), high.r64(), 1);
    return;
  }
  const x86::Ymm high = c.v.use(inst.args[1], 0);
  const x86::Ymm to = c.v.define(inst.result, 0);
  if (bytes == 4)
    c.a.vpunpckldq(to.xmm(), low.xmm(), high.xmm());
  else if (bytes == 8)
    c.a.vpunpcklqdq(to.xmm(), low.xmm(), high.xmm());
  else
    c.a.vinserti128(to, low, high.xmm(), 1);
}

/// Puts a dword in front of others, which go up by a lane each.
void put_in_front(Compiler& c, const CodeInst& inst) {
  auto& a = c.a;
  const unsigned chunks = c.v.chunks(inst.result);
  const x86::Ymm places = c.v.scratch();
  a.vmovdqu(places, c.constant(ConstantPool::dwords([](std::uint32_t i) { return (i + 7) % 8; })));
  std::array<x86::Ymm, 4> rotated;
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    const x86::Ymm from = c.v.use(inst.args[1], chunk);
    rotated[chunk] = c.v.define(inst.result, chunk);
    a.vpermd(rotated[chunk], places, from);
  }
  for (unsigned chunk = chunks; --chunk > 0;)
    a.vpblendd(rotated[chunk], rotated[chunk], rotated[chunk - 1], 1);
  x86::Ymm first = places;
  if (c.regs.is_scalar(inst.args[0]))
    a.vmovd(first.xmm(), c.g.use(inst.args[0]).r32());
  else
    first = c.v.use(inst.args[0], 0);
  a.vpblendd(rotated[0], rotated[0], first, 1);
}

}  // namespace

void emit_concat(Compiler& c, const CodeInst& inst) {
  const unsigned low_lanes = c.lanes_of(inst.args[0]);
  if (ir::is_mask(inst.type)) {
    const x86::Gp low = c.m.bits(inst.args[0]).r32(), high = c.m.bits(inst.args[1]).r32();
    // Overwrites the high part, unless that is the low part too.
    const x86::Gp to =
        high.id() == low.id() ? c.m.define_bits(inst.result).r32() : begin_over(c, inst, 1, high);
    if (high.id() == low.id()) c.a.mov(to, high);
    c.a.shl(to, low_lanes);
    c.a.or_(to, low);
    return;
  }
  const unsigned low_bytes = low_lanes * ir::size_of(inst.type);
  if (low_bytes % 32 == 0 && !c.regs.is_scalar(inst.args[1])) {
    for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
      bool low = chunk < low_bytes / 32;
      c.v.share(inst.result, chunk, inst.args[low ? 0 : 1], low ? chunk : chunk - low_bytes / 32);
      c.regs.unpin();
    }
    return;
  }
  if (low_lanes * 2 == inst.lanes && low_bytes >= 4 && low_bytes <= 16 && std::has_single_bit(low_bytes))
    return join_parts(c, inst, low_bytes);
  if (low_lanes == 1 && low_bytes == 4 && inst.lanes % 8 == 0) return put_in_front(c, inst);
  c.store_packed(inst.args[0], Frame::data);
  // The second operand may begin at any offset: unaligned stores; the area has room beyond.
  if (c.regs.is_scalar(inst.args[1])) {
    x86::Gp reg = c.g.use(inst.args[1]);
    c.a.mov(x86::ptr(x86::rsp, Frame::data + static_cast<int>(low_bytes), 8), reg);
  } else {
    for (unsigned chunk = 0; chunk < c.v.chunks(inst.args[1]); ++chunk)
      c.a.vmovups(x86::ptr(x86::rsp, Frame::data + static_cast<int>(low_bytes + chunk * 32), 32),
                  c.v.use(inst.args[1], chunk));
  }
  move_through_frame(c, inst, Frame::data);
}

void emit_mask_bits(Compiler& c, const CodeInst& inst) {
  extend(c, begin_over(c, inst, 0, c.m.bits(inst.args[0]).r32()), inst.type);
}

void emit_bits_mask(Compiler& c, const CodeInst& inst) {
  const x86::Gp to = begin_over(c, inst, 0, c.g.use(inst.args[0]).r32());
  if (inst.lanes < 32) c.a.and_(to, asmjit::Imm(static_cast<std::int32_t>(ir::lane_mask(inst.lanes))));
}

void emit_is_place(Compiler& c, const CodeInst& inst) {
  x86::Gp ip = c.g.use(inst.args[0]), at = c.g.scratch(), table = c.g.scratch();
  const x86::Gp to = c.m.define_bits(inst.result).r32();
  const asmjit::Label found = c.a.newLabel(), bad = c.a.newLabel();
  c.a.mov(to, 1);
  c.find_place(ip, at, table, found, bad);
  c.a.bind(bad);
  c.a.xor_(to, to);
  c.a.bind(found);
}

void emit_group_any(Compiler& c, const CodeInst& inst) {
  x86::Gp from = c.m.bits(inst.args[0]), to = c.m.define_bits(inst.result).r32();
  if (inst.imm == inst.lanes) {
    c.a.mov(to, from.r32());
    c.a.neg(to);
    c.a.sbb(to, to);  // all ones if any lane is set
    if (inst.lanes < 32) c.a.and_(to, asmjit::Imm(ir::lane_mask(inst.lanes)));
    return;
  }
  c.a.mov(to, from.r32());
  fold_groups(c, to, inst.lanes, static_cast<unsigned>(inst.imm));
}

void emit_group_all(Compiler& c, const CodeInst& inst) {
  x86::Gp from = c.m.bits(inst.args[0]), to = c.m.define_bits(inst.result).r32();
  c.a.mov(to, from.r32());
  invert(c, to, inst.lanes);
  fold_groups(c, to, inst.lanes, static_cast<unsigned>(inst.imm));
  invert(c, to, inst.lanes);
}

}  // namespace eum::jit::avx2::emit
