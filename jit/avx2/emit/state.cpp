// Register regions, flags and mask variables.
#include <bit>

#include "jit/avx2/emit/emit.hpp"
#include "jit/avx2/emit/scalar.hpp"

namespace eum::jit::avx2::emit {

namespace I = x86::Inst;
using ir::Type;

namespace {

void move_element(Compiler& c, const x86::Mem& to, const x86::Mem& from, x86::Gp through) {
  switch (from.size()) {
    case 1:
      c.a.movzx(through.r32(), from);
      c.a.mov(to, through.r8());
      break;
    case 2:
      c.a.movzx(through.r32(), from);
      c.a.mov(to, through.r16());
      break;
    case 4:
      c.a.mov(through.r32(), from);
      c.a.mov(to, through.r32());
      break;
    default:
      c.a.mov(through.r64(), from);
      c.a.mov(to, through.r64());
      break;
  }
}

x86::Mem frame_element(int offset, unsigned lane, unsigned bytes) {
  return x86::ptr(x86::rsp, offset + static_cast<int>(lane * bytes), bytes);
}

/// Any region: element by element through the frame.
void gather_elements(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type);
  SlotRange range = slots_of(inst, target.vector_bytes);
  c.s.write_back(range.first * target.vector_bytes, (range.last - range.first + 1) * target.vector_bytes);
  x86::Gp through = c.g.scratch();
  for (unsigned lane = 0; lane < inst.lanes; ++lane)
    move_element(c, frame_element(Frame::data, lane, bytes),
                 c.s.memory(inst.region.byte_of(lane, bytes), bytes), through);
  c.load_packed(inst.result, Frame::data);
}

/// 32-bit elements, every second one, from the beginning of a slot.
void read_stride2(Compiler& c, const CodeInst& inst) {
  unsigned slot = inst.region.offset / target.vector_bytes;
  unsigned control = inst.region.offset % 8 == 0 ? 0x88 : 0xdd;
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    x86::Ymm low = c.s.use(slot + 2 * chunk);
    asmjit::Operand high = inst.lanes > 4 ? c.s.operand(slot + 2 * chunk + 1) : asmjit::Operand(low);
    x86::Ymm to = c.v.define(inst.result, chunk);
    c.a.emit(I::kIdVshufps, to, low, high, asmjit::Imm(control));
    c.a.vpermq(to, to, 0xd8);
    c.regs.unpin();
  }
}

/// 8 or 16-bit elements, one in each dword, from the beginning of a slot on.
bool is_dword_strided(const CodeInst& inst, unsigned bytes) {
  const int stride = inst.region.stride(inst.lanes);
  return bytes < 4 && stride > 0 && static_cast<unsigned>(stride) * bytes == 4 && inst.lanes % 8 == 0 &&
         inst.region.offset % target.vector_bytes + bytes <= 4;
}

void read_dword_strided(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type), shift = inst.region.offset % 4 * 8;
  const unsigned first = inst.region.offset / target.vector_bytes, slots = inst.lanes / 8;
  auto element = [&](unsigned slot) {
    x86::Ymm to = c.v.scratch();
    x86::Ymm dwords = c.s.use(first + slot);
    if (shift > 0) {
      c.a.vpsrld(to, dwords, shift);
      dwords = to;
    }
    c.a.vpand(to, dwords, c.splat(bytes == 1 ? 0xff : 0xffff, 4));
    return to;
  };
  auto words = [&](unsigned pair) {  // sixteen lanes; of the last eight, where there are only eight, anything
    x86::Ymm low = element(2 * pair);
    x86::Ymm high = 2 * pair + 1 < slots ? element(2 * pair + 1) : low;
    c.a.vpackusdw(low, low, high);
    c.a.vpermq(low, low, 0xd8);
    return low;
  };
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    x86::Ymm to = words(bytes == 1 ? 2 * chunk : chunk);
    if (bytes == 1) {
      x86::Ymm high = 4 * chunk + 2 < slots ? words(2 * chunk + 1) : to;
      c.a.vpackuswb(to, to, high);
      c.a.vpermq(to, to, 0xd8);
    }
    c.v.bind(inst.result, chunk, to);
    c.regs.unpin();
  }
}

void write_dword_strided(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type), shift = inst.region.offset % 4 * 8;
  const unsigned first = inst.region.offset / target.vector_bytes, slots = inst.lanes / 8;
  const std::uint32_t field = (bytes == 1 ? 0xffu : 0xffffu) << shift;
  for (unsigned i = 0; i < slots; ++i) {
    const unsigned at = i * 8 * bytes;  // of the eight elements in the packed value
    x86::Ymm value = c.v.use(inst.args[0], at / 32), spread = c.v.scratch();
    x86::Xmm part = value.xmm();
    if (at % 32 >= 16) {
      c.a.vextracti128(spread.xmm(), value, 1);
      part = spread.xmm();
    }
    if (at % 16 != 0) {
      c.a.vpsrldq(spread.xmm(), part, at % 16);
      part = spread.xmm();
    }
    c.a.emit(bytes == 1 ? I::kIdVpmovzxbd : I::kIdVpmovzxwd, spread, part);
    if (shift > 0) c.a.vpslld(spread, spread, shift);
    x86::Ymm old = c.s.use(first + i);
    c.a.vpxor(spread, spread, old);
    c.a.vpand(spread, spread, c.splat(field, 4));
    if (inst.mask != ir::no_value) c.a.vpand(spread, spread, c.m.lanes(inst.mask, 4, i));
    c.a.vpxor(spread, spread, old);
    c.s.set(first + i, spread);
    c.regs.unpin();
  }
}

x86::Ymm blend(Compiler& c, x86::Ymm old, x86::Ymm value, x86::Ymm mask, unsigned bytes) {
  x86::Ymm to = c.v.scratch();
  std::uint32_t id = bytes == 4 ? I::kIdVblendvps : bytes == 8 ? I::kIdVblendvpd : I::kIdVpblendvb;
  c.a.emit(id, to, old, value, mask);
  return to;
}

/// Whole slots, one after the other.
void write_slots(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.args[0]); ++chunk) {
    unsigned slot = inst.region.offset / target.vector_bytes + chunk;
    x86::Ymm value = c.v.use(inst.args[0], chunk);
    if (inst.mask != ir::no_value && !(inst.overwrite >> chunk & 1)) {
      x86::Ymm mask = c.m.lanes(inst.mask, bytes, chunk);
      value = blend(c, c.s.use(slot), value, mask, bytes);
    }
    c.s.set(slot, value);
    c.regs.unpin();
  }
}

/// 32-bit elements to every second place of whole slots; the others stay.
void write_every_second(Compiler& c, const CodeInst& inst) {
  const bool odd = inst.region.offset % 8 != 0;
  const unsigned first = inst.region.offset / target.vector_bytes, slots = inst.lanes / 4;
  for (unsigned i = 0; i < slots; ++i) {
    x86::Ymm value = c.v.use(inst.args[0], i / 2), spread = c.v.scratch();
    if (i % 2 == 0) {
      c.a.vpmovzxdq(spread, value.xmm());
    } else {
      c.a.vextracti128(spread.xmm(), value, 1);
      c.a.vpmovzxdq(spread, spread.xmm());
    }
    if (odd) c.a.vpsllq(spread, spread, 32);
    x86::Ymm old = c.s.use(first + i), to = c.v.scratch();
    c.a.vpblendd(to, old, spread, odd ? 0xaa : 0x55);
    if (inst.mask != ir::no_value) c.a.vblendvpd(to, old, to, c.m.lanes(inst.mask, 8, i));
    c.s.set(first + i, to);
    c.regs.unpin();
  }
}

/// Elements one after the other that do not fill whole slots.
void write_packed(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = inst.lanes * ir::size_of(inst.type);
  c.s.write_back_and_invalidate(inst.region.offset, bytes);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.args[0]); ++chunk) {
    x86::Ymm value = c.v.use(inst.args[0], chunk);
    unsigned at = inst.region.offset + chunk * 32, left = std::min(32u, bytes - chunk * 32);
    if (inst.mask != ir::no_value) {
      const unsigned width = ir::size_of(inst.type);
      x86::Ymm mask = c.m.lanes(inst.mask, width, chunk), old = c.v.scratch();
      c.load(old, at, left);
      value = blend(c, old, value, mask, width);
    }
    c.store(at, value, left);
    c.regs.unpin();
  }
}

/// Any region, any mask: element by element through the frame.
void scatter_elements(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type);
  SlotRange range = slots_of(inst, target.vector_bytes);
  c.store_packed(inst.args[0], Frame::data);
  c.regs.unpin();
  c.s.write_back_and_invalidate(range.first * target.vector_bytes,
                                (range.last - range.first + 1) * target.vector_bytes);
  x86::Gp bits = inst.mask != ir::no_value ? c.m.bits(inst.mask) : x86::Gp();
  x86::Gp through = c.g.scratch();
  for (unsigned lane = 0; lane < inst.lanes; ++lane) {
    asmjit::Label skip = c.a.newLabel();
    if (inst.mask != ir::no_value) {
      c.a.bt(bits.r32(), lane);
      c.a.jnc(skip);
    }
    move_element(c, c.s.memory(inst.region.byte_of(lane, bytes), bytes),
                 frame_element(Frame::data, lane, bytes), through);
    c.a.bind(skip);
  }
}

void write_scalar(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type);
  x86::Mem to = c.s.memory(inst.region.offset, bytes);
  asmjit::Operand value = c.g.operand(inst.args[0]);
  if (value.isMem()) value = c.g.use(inst.args[0]);
  c.s.write_back_and_invalidate(inst.region.offset, bytes);
  asmjit::Label skip = c.a.newLabel();
  if (inst.mask != ir::no_value) {
    c.a.test(c.m.bits(inst.mask).r8(), 1);
    c.a.jz(skip);
  }
  if (value.isReg()) value = low_part(value.as<x86::Gp>(), bytes);
  c.a.emit(I::kIdMov, to, value);
  c.a.bind(skip);
}

/// Flag bits are whole bytes of the flag registers.
bool whole_bytes(const CodeInst& inst) {
  return inst.imm % 8 == 0 && (inst.lanes == 8 || inst.lanes == 16 || inst.lanes == 32);
}

x86::Mem flag_bytes(Compiler& c, const CodeInst& inst, unsigned bytes) {
  return c.state(c.layout.flags + inst.imm / 8, bytes);
}

}  // namespace

void emit_reg_read(Compiler& c, const CodeInst& inst) {
  if (inst.region.stride(inst.lanes) == 1) return c.regs.slots.read(inst);
  const bool dwords = ir::size_of(inst.type) == 4 && !c.regs.is_scalar(inst.result);
  if (is_dword_strided(inst, ir::size_of(inst.type))) return read_dword_strided(c, inst);
  if (dwords && inst.region.stride(inst.lanes) == 2 && inst.lanes % 8 == 0 &&
      inst.region.offset % target.vector_bytes < 8 && inst.region.offset % 4 == 0)
    return read_stride2(c, inst);
  gather_elements(c, inst);
}

void emit_reg_write(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type);
  if (c.regs.is_scalar(inst.args[0])) return write_scalar(c, inst);
  const int stride = inst.region.stride(inst.lanes);
  const bool whole = inst.lanes * bytes % target.vector_bytes == 0;
  if (stride == 1 && whole && inst.region.offset % target.vector_bytes == 0) return write_slots(c, inst);
  if (stride == 1 && std::has_single_bit(inst.lanes * bytes % target.vector_bytes | (whole ? 1u : 0u)))
    return write_packed(c, inst);
  if (is_dword_strided(inst, bytes)) return write_dword_strided(c, inst);
  if (stride == 2 && bytes == 4 && inst.lanes % 4 == 0 && inst.region.offset % target.vector_bytes < 8 &&
      inst.region.offset % 4 == 0)
    return write_every_second(c, inst);
  scatter_elements(c, inst);
}

void emit_flag_read(Compiler& c, const CodeInst& inst) {
  x86::Gp to = c.m.define_bits(inst.result);
  if (whole_bytes(inst)) {
    const x86::Mem from = flag_bytes(c, inst, inst.lanes / 8u);
    if (inst.lanes == 32) {
      c.a.mov(to.r32(), from);
    } else {
      c.a.movzx(to.r32(), from);
    }
    return;
  }
  c.a.mov(to, flag_bytes(c, inst, 8));
  if (inst.imm % 8 != 0) c.a.shr(to, asmjit::Imm(inst.imm % 8));
  if (inst.lanes < 32) {
    c.a.and_(to.r32(), asmjit::Imm(ir::lane_mask(inst.lanes)));
  } else {
    c.a.mov(to.r32(), to.r32());
  }
}

void emit_flag_write(Compiler& c, const CodeInst& inst) {
  x86::Gp bits = c.m.bits(inst.args[0]);
  if (whole_bytes(inst) && inst.mask == ir::no_value) {
    c.a.emit(I::kIdMov, flag_bytes(c, inst, inst.lanes / 8u), low_part(bits, inst.lanes / 8u));
    return;
  }
  // new = old ^ ((old ^ value) & mask), on the 64 bits from the first byte.
  x86::Gp old = c.g.scratch(), change = c.g.scratch(), mask = c.g.scratch();
  c.a.mov(old, flag_bytes(c, inst, 8));
  c.a.mov(change.r32(), bits.r32());
  if (inst.mask != ir::no_value) {
    c.a.mov(mask.r32(), c.m.bits(inst.mask).r32());
  } else {
    c.a.mov(mask.r32(), asmjit::Imm(ir::lane_mask(inst.lanes)));
  }
  if (inst.imm % 8 != 0) {
    c.a.shl(change, asmjit::Imm(inst.imm % 8));
    c.a.shl(mask, asmjit::Imm(inst.imm % 8));
  }
  c.a.xor_(change, old);
  c.a.and_(change, mask);
  c.a.xor_(old, change);
  c.a.mov(flag_bytes(c, inst, 8), old);
}

void emit_mask_get(Compiler& c, const CodeInst& inst) {
  c.a.mov(c.m.define_bits(inst.result).r32(), c.mask_variable(inst.imm));
  if (inst.lanes < 32 && inst.lanes < c.function.simd)
    c.a.and_(c.m.bits(inst.result).r32(), asmjit::Imm((1u << inst.lanes) - 1));
}

void emit_mask_set(Compiler& c, const CodeInst& inst) {
  if (const std::uint64_t* bits = c.regs.constant(inst.args[0])) {
    c.a.mov(c.mask_variable(inst.imm), asmjit::Imm(static_cast<std::int32_t>(*bits)));
  } else {
    c.a.mov(c.mask_variable(inst.imm), c.m.bits(inst.args[0]).r32());
  }
}

namespace {

struct RegisterAccess {
  std::uint32_t end, lanes, guest_ip;
};

enum class Direction : bool { Read, Write };

/// Lane by lane at byte addresses of the register file; data packed. False: a fault is in the state, and
/// nothing is written.
template <class Element, Direction direction>
bool access_registers(ThreadState* state, std::byte* file, const RegisterAccess* access,
                      const std::uint16_t* addresses, std::byte* data, std::uint32_t mask) {
  mask &= ir::lane_mask(access->lanes);
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    if (addresses[lane] + sizeof(Element) <= access->end) continue;
    state->fault = {FaultKind::BadRegister, access->guest_ip, lane, sizeof(Element), addresses[lane]};
    return false;
  }
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    std::byte* const element = data + lane * sizeof(Element);
    std::byte* const place = file + addresses[lane];
    std::memcpy(direction == Direction::Write ? place : element,
                direction == Direction::Write ? element : place, sizeof(Element));
  }
  return true;
}

template <Direction direction>
const void* register_access(unsigned bytes) {
  switch (bytes) {
    case 1:
      return reinterpret_cast<const void*>(&access_registers<std::uint8_t, direction>);
    case 2:
      return reinterpret_cast<const void*>(&access_registers<std::uint16_t, direction>);
    case 4:
      return reinterpret_cast<const void*>(&access_registers<std::uint32_t, direction>);
    default:
      return reinterpret_cast<const void*>(&access_registers<std::uint64_t, direction>);
  }
}

void call_register_access(Compiler& c, const CodeInst& inst, bool write) {
  c.store_packed(inst.args[0], Frame::operands);
  c.regs.unpin();
  if (write) c.store_packed(inst.args[1], Frame::data);
  c.regs.unpin();
  c.regs.slots.write_back_all();
  if (write) c.regs.slots.invalidate_all();
  if (inst.mask != ir::no_value) {
    c.a.mov(x86::ptr(x86::rsp, Frame::mask, 4), c.m.bits(inst.mask).r32());
  } else {
    c.a.mov(x86::ptr(x86::rsp, Frame::mask, 4), -1);
  }
  const unsigned bytes = ir::size_of(inst.type);
  RegisterAccess access{c.function.indirect_end(), inst.lanes, inst.guest_ip};
  ConstantPool::Entry entry{};
  std::memcpy(entry.data(), &access, sizeof access);
  const x86::Mem constant = c.constant(entry);
  c.call(
      inst, write ? register_access<Direction::Write>(bytes) : register_access<Direction::Read>(bytes),
      [&] {
        c.a.mov(x86::rdi, state_reg);
        c.a.lea(x86::rsi, c.s.memory(0, 8));
        c.a.lea(x86::rdx, constant);
        c.a.lea(x86::rcx, x86::ptr(x86::rsp, Frame::operands));
        c.a.lea(x86::r8, x86::ptr(x86::rsp, Frame::data));
        c.a.mov(x86::r9d, x86::ptr(x86::rsp, Frame::mask, 4));
      },
      true);
  if (!write) c.load_packed(inst.result, Frame::data);
}

}  // namespace

void emit_reg_gather(Compiler& c, const CodeInst& inst) { call_register_access(c, inst, false); }
void emit_reg_scatter(Compiler& c, const CodeInst& inst) { call_register_access(c, inst, true); }

}  // namespace eum::jit::avx2::emit
