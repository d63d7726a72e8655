// Register regions, flags and mask variables.
#include <bit>

#include "jit/avx2/emit/emit.hpp"
#include "jit/avx2/emit/scalar.hpp"

namespace eum::jit::emit {

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
  SlotRange range = slots_of(inst);
  c.r.flush_home(range.first * slot_size, (range.last - range.first + 1) * slot_size);
  x86::Gp through = c.r.temp_gp();
  for (unsigned lane = 0; lane < inst.lanes; ++lane)
    move_element(c, frame_element(Frame::data, lane, bytes),
                 c.r.home(inst.region.byte_of(lane, bytes), bytes), through);
  c.load_packed(inst.result, Frame::data);
}

/// 32-bit elements, every second one, from the beginning of a slot.
void read_every_second(Compiler& c, const CodeInst& inst) {
  unsigned slot = inst.region.offset / slot_size;
  unsigned control = inst.region.offset % 8 == 0 ? 0x88 : 0xdd;
  for (unsigned chunk = 0; chunk < c.r.chunks(inst.result); ++chunk) {
    x86::Ymm low = c.r.slot_in(slot + 2 * chunk);
    asmjit::Operand high = inst.lanes > 4 ? c.r.slot_src(slot + 2 * chunk + 1) : asmjit::Operand(low);
    x86::Ymm to = c.r.out(inst.result, chunk);
    c.a.emit(I::kIdVshufps, to, low, high, asmjit::Imm(control));
    c.a.vpermq(to, to, 0xd8);
    c.r.unpin();
  }
}

/// 8 or 16-bit elements, one in each dword, from the beginning of a slot on.
bool one_in_each_dword(const CodeInst& inst, unsigned bytes) {
  const int stride = inst.region.stride(inst.lanes);
  return bytes < 4 && stride > 0 && static_cast<unsigned>(stride) * bytes == 4 && inst.lanes % 8 == 0 &&
         inst.region.offset % slot_size + bytes <= 4;
}

void read_from_dwords(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type), shift = inst.region.offset % 4 * 8;
  const unsigned first = inst.region.offset / slot_size, slots = inst.lanes / 8;
  auto element = [&](unsigned slot) {
    x86::Ymm to = c.r.temp();
    x86::Ymm dwords = c.r.slot_in(first + slot);
    if (shift > 0) {
      c.a.vpsrld(to, dwords, shift);
      dwords = to;
    }
    c.a.vpand(to, dwords, c.pool.splat(bytes == 1 ? 0xff : 0xffff, 4));
    return to;
  };
  auto words = [&](unsigned pair) {  // sixteen lanes; of the last eight, where there are only eight, anything
    x86::Ymm low = element(2 * pair);
    x86::Ymm high = 2 * pair + 1 < slots ? element(2 * pair + 1) : low;
    c.a.vpackusdw(low, low, high);
    c.a.vpermq(low, low, 0xd8);
    return low;
  };
  for (unsigned chunk = 0; chunk < c.r.chunks(inst.result); ++chunk) {
    x86::Ymm to = words(bytes == 1 ? 2 * chunk : chunk);
    if (bytes == 1) {
      x86::Ymm high = 4 * chunk + 2 < slots ? words(2 * chunk + 1) : to;
      c.a.vpackuswb(to, to, high);
      c.a.vpermq(to, to, 0xd8);
    }
    c.r.bind(inst.result, chunk, to);
    c.r.unpin();
  }
}

void write_to_dwords(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type), shift = inst.region.offset % 4 * 8;
  const unsigned first = inst.region.offset / slot_size, slots = inst.lanes / 8;
  const std::uint32_t field = (bytes == 1 ? 0xffu : 0xffffu) << shift;
  for (unsigned i = 0; i < slots; ++i) {
    const unsigned at = i * 8 * bytes;  // of the eight elements in the packed value
    x86::Ymm value = c.r.in(inst.args[0], at / 32), spread = c.r.temp();
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
    x86::Ymm old = c.r.slot_in(first + i);
    c.a.vpxor(spread, spread, old);
    c.a.vpand(spread, spread, c.pool.splat(field, 4));
    if (inst.mask != ir::no_value) c.a.vpand(spread, spread, c.r.mask_vector(inst.mask, 4, i));
    c.a.vpxor(spread, spread, old);
    c.r.set_slot(first + i, spread);
    c.r.unpin();
  }
}

x86::Ymm blend(Compiler& c, x86::Ymm old, x86::Ymm value, x86::Ymm mask, unsigned bytes) {
  x86::Ymm to = c.r.temp();
  std::uint32_t id = bytes == 4 ? I::kIdVblendvps : bytes == 8 ? I::kIdVblendvpd : I::kIdVpblendvb;
  c.a.emit(id, to, old, value, mask);
  return to;
}

/// Whole slots, one after the other.
void write_slots(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type);
  for (unsigned chunk = 0; chunk < c.r.chunks(inst.args[0]); ++chunk) {
    unsigned slot = inst.region.offset / slot_size + chunk;
    x86::Ymm value = c.r.in(inst.args[0], chunk);
    if (inst.mask != ir::no_value && !(inst.overwrite >> chunk & 1)) {
      x86::Ymm mask = c.r.mask_vector(inst.mask, bytes, chunk);
      value = blend(c, c.r.slot_in(slot), value, mask, bytes);
    }
    c.r.set_slot(slot, value);
    c.r.unpin();
  }
}

/// 32-bit elements to every second place of whole slots; the others stay.
void write_every_second(Compiler& c, const CodeInst& inst) {
  const bool odd = inst.region.offset % 8 != 0;
  const unsigned first = inst.region.offset / slot_size, slots = inst.lanes / 4;
  for (unsigned i = 0; i < slots; ++i) {
    x86::Ymm value = c.r.in(inst.args[0], i / 2), spread = c.r.temp();
    if (i % 2 == 0) {
      c.a.vpmovzxdq(spread, value.xmm());
    } else {
      c.a.vextracti128(spread.xmm(), value, 1);
      c.a.vpmovzxdq(spread, spread.xmm());
    }
    if (odd) c.a.vpsllq(spread, spread, 32);
    x86::Ymm old = c.r.slot_in(first + i), to = c.r.temp();
    c.a.vpblendd(to, old, spread, odd ? 0xaa : 0x55);
    if (inst.mask != ir::no_value) c.a.vblendvpd(to, old, to, c.r.mask_vector(inst.mask, 8, i));
    c.r.set_slot(first + i, to);
    c.r.unpin();
  }
}

/// Elements one after the other that do not fill whole slots.
void write_packed(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = inst.lanes * ir::size_of(inst.type);
  c.r.open_home(inst.region.offset, bytes);
  for (unsigned chunk = 0; chunk < c.r.chunks(inst.args[0]); ++chunk) {
    x86::Ymm value = c.r.in(inst.args[0], chunk);
    unsigned at = inst.region.offset + chunk * 32, left = std::min(32u, bytes - chunk * 32);
    if (inst.mask != ir::no_value) {
      const unsigned width = ir::size_of(inst.type);
      x86::Ymm mask = c.r.mask_vector(inst.mask, width, chunk), old = c.r.temp();
      c.r.load(old, c.r.home(at, left), left);
      value = blend(c, old, value, mask, width);
    }
    if (left >= 32) {
      c.a.vmovups(c.r.home(at, 32), value);
    } else if (left == 16) {
      c.a.vmovups(c.r.home(at, 16), value.xmm());
    } else if (left == 8) {
      c.a.vmovq(c.r.home(at, 8), value.xmm());
    } else if (left == 4) {
      c.a.vmovd(c.r.home(at, 4), value.xmm());
    } else if (left == 2) {
      c.a.vpextrw(c.r.home(at, 2), value.xmm(), 0);
    } else {
      c.a.vpextrb(c.r.home(at, 1), value.xmm(), 0);
    }
    c.r.unpin();
  }
}

/// Any region, any mask: element by element through the frame.
void scatter_elements(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type);
  SlotRange range = slots_of(inst);
  c.r.store_packed(inst.args[0], Frame::data);
  c.r.unpin();
  c.r.open_home(range.first * slot_size, (range.last - range.first + 1) * slot_size);
  x86::Gp bits = inst.mask != ir::no_value ? c.r.mask_bits(inst.mask) : x86::Gp();
  x86::Gp through = c.r.temp_gp();
  for (unsigned lane = 0; lane < inst.lanes; ++lane) {
    asmjit::Label skip = c.a.newLabel();
    if (inst.mask != ir::no_value) {
      c.a.bt(bits.r32(), lane);
      c.a.jnc(skip);
    }
    move_element(c, c.r.home(inst.region.byte_of(lane, bytes), bytes),
                 frame_element(Frame::data, lane, bytes), through);
    c.a.bind(skip);
  }
}

void write_scalar(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type);
  x86::Mem to = c.r.home(inst.region.offset, bytes);
  asmjit::Operand value = c.r.src_gp(inst.args[0]);
  if (value.isMem()) value = c.r.in_gp(inst.args[0]);
  c.r.open_home(inst.region.offset, bytes);
  asmjit::Label skip = c.a.newLabel();
  if (inst.mask != ir::no_value) {
    c.a.test(c.r.mask_bits(inst.mask).r8(), 1);
    c.a.jz(skip);
  }
  if (value.isReg()) value = low_part(value.as<x86::Gp>(), bytes);
  c.a.emit(I::kIdMov, to, value);
  c.a.bind(skip);
}

unsigned flag_byte(const CodeInst& inst) { return static_cast<unsigned>(inst.imm) / 8; }

/// Flag bits are whole bytes of the flag registers.
bool whole_bytes(const CodeInst& inst) {
  return inst.imm % 8 == 0 && (inst.lanes == 8 || inst.lanes == 16 || inst.lanes == 32);
}

}  // namespace

void emit_reg_read(Compiler& c, const CodeInst& inst) {
  if (inst.region.stride(inst.lanes) == 1) return c.r.read_region(inst);
  const bool dwords = ir::size_of(inst.type) == 4 && !c.r.is_scalar(inst.result);
  if (one_in_each_dword(inst, ir::size_of(inst.type))) return read_from_dwords(c, inst);
  if (dwords && inst.region.stride(inst.lanes) == 2 && inst.lanes % 8 == 0 &&
      inst.region.offset % slot_size < 8 && inst.region.offset % 4 == 0)
    return read_every_second(c, inst);
  gather_elements(c, inst);
}

void emit_reg_write(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type);
  if (c.r.is_scalar(inst.args[0])) return write_scalar(c, inst);
  const int stride = inst.region.stride(inst.lanes);
  const bool whole = inst.lanes * bytes % slot_size == 0;
  if (stride == 1 && whole && inst.region.offset % slot_size == 0) return write_slots(c, inst);
  if (stride == 1 && std::has_single_bit(inst.lanes * bytes % slot_size | (whole ? 1u : 0u)))
    return write_packed(c, inst);
  if (one_in_each_dword(inst, bytes)) return write_to_dwords(c, inst);
  if (stride == 2 && bytes == 4 && inst.lanes % 4 == 0 && inst.region.offset % slot_size < 8 &&
      inst.region.offset % 4 == 0)
    return write_every_second(c, inst);
  scatter_elements(c, inst);
}

void emit_flag_read(Compiler& c, const CodeInst& inst) {
  x86::Gp to = c.r.out_bits(inst.result);
  if (whole_bytes(inst)) {
    x86::Mem from = c.state(offsetof(ThreadState, flags) + flag_byte(inst), inst.lanes / 8u);
    if (inst.lanes == 32) {
      c.a.mov(to.r32(), from);
    } else {
      c.a.movzx(to.r32(), from);
    }
    return;
  }
  c.a.mov(to, c.state(offsetof(ThreadState, flags), 8));
  if (inst.imm > 0) c.a.shr(to, asmjit::Imm(inst.imm));
  if (inst.lanes < 32) {
    c.a.and_(to.r32(), asmjit::Imm((1u << inst.lanes) - 1));
  } else {
    c.a.mov(to.r32(), to.r32());
  }
}

void emit_flag_write(Compiler& c, const CodeInst& inst) {
  x86::Gp bits = c.r.mask_bits(inst.args[0]);
  if (whole_bytes(inst) && inst.mask == ir::no_value) {
    x86::Mem to = c.state(offsetof(ThreadState, flags) + flag_byte(inst), inst.lanes / 8u);
    c.a.emit(I::kIdMov, to, low_part(bits, inst.lanes / 8u));
    return;
  }
  // new = old ^ ((old ^ value) & mask), on all 64 flag bits.
  x86::Gp old = c.r.temp_gp(), change = c.r.temp_gp(), mask = c.r.temp_gp();
  c.a.mov(old, c.state(offsetof(ThreadState, flags), 8));
  c.a.mov(change.r32(), bits.r32());
  if (inst.mask != ir::no_value) {
    c.a.mov(mask.r32(), c.r.mask_bits(inst.mask).r32());
  } else {
    c.a.mov(mask.r32(), asmjit::Imm(inst.lanes >= 32 ? ~0u : (1u << inst.lanes) - 1));
  }
  if (inst.imm > 0) {
    c.a.shl(change, asmjit::Imm(inst.imm));
    c.a.shl(mask, asmjit::Imm(inst.imm));
  }
  c.a.xor_(change, old);
  c.a.and_(change, mask);
  c.a.xor_(old, change);
  c.a.mov(c.state(offsetof(ThreadState, flags), 8), old);
}

void emit_mask_get(Compiler& c, const CodeInst& inst) {
  c.a.mov(c.r.out_bits(inst.result).r32(), c.mask_variable(inst.imm));
  if (inst.lanes < 32 && inst.lanes < c.function.simd)
    c.a.and_(c.r.mask_bits(inst.result).r32(), asmjit::Imm((1u << inst.lanes) - 1));
}

void emit_mask_set(Compiler& c, const CodeInst& inst) {
  if (const std::uint64_t* bits = c.r.constant(inst.args[0])) {
    c.a.mov(c.mask_variable(inst.imm), asmjit::Imm(static_cast<std::int32_t>(*bits)));
  } else {
    c.a.mov(c.mask_variable(inst.imm), c.r.mask_bits(inst.args[0]).r32());
  }
}

namespace {

struct RegisterAccess {
  std::uint32_t file_bytes, element_bytes, lanes, guest_ip;
  bool write;
};

/// Lane by lane at byte addresses of the register file; data packed. False: a fault is in the state.
bool access_registers(ThreadState* state, std::byte* file, const RegisterAccess* access,
                      const std::uint16_t* addresses, std::byte* data, std::uint32_t mask) {
  for (std::uint32_t lane = 0; lane < access->lanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    std::uint32_t address = addresses[lane];
    if (address + access->element_bytes > access->file_bytes) {
      state->fault = {FaultKind::BadRegister, access->guest_ip, lane, access->element_bytes, address};
      return false;
    }
    std::byte* element = data + lane * access->element_bytes;
    if (access->write) {
      std::memcpy(file + address, element, access->element_bytes);
    } else {
      std::memcpy(element, file + address, access->element_bytes);
    }
  }
  return true;
}

void call_register_access(Compiler& c, const CodeInst& inst, bool write) {
  c.r.store_packed(inst.args[0], Frame::operands);
  c.r.unpin();
  if (write) c.r.store_packed(inst.args[1], Frame::data);
  c.r.unpin();
  c.r.flush_all_slots();
  if (write) c.r.forget_slots();
  x86::Gp bits = inst.mask != ir::no_value ? c.r.mask_bits(inst.mask) : x86::Gp();
  if (bits.isValid()) {
    c.a.mov(x86::ptr(x86::rsp, Frame::operands + Frame::operand_bytes, 4), bits.r32());
  } else {
    c.a.mov(x86::ptr(x86::rsp, Frame::operands + Frame::operand_bytes, 4), -1);
  }
  RegisterAccess access{c.function.file_bytes, ir::size_of(inst.type), inst.lanes, inst.guest_ip, write};
  ConstantPool::Entry entry{};
  std::memcpy(entry.data(), &access, sizeof access);
  x86::Mem constant = c.pool.add(entry);
  asmjit::Label failed = c.a.newLabel();
  c.call(
      inst, reinterpret_cast<const void*>(&access_registers),
      [&] {
        c.a.mov(x86::rdi, state_reg);
        c.a.lea(x86::rsi, c.r.home(0, 8));
        c.a.lea(x86::rdx, constant);
        c.a.lea(x86::rcx, x86::ptr(x86::rsp, Frame::operands));
        c.a.lea(x86::r8, x86::ptr(x86::rsp, Frame::data));
        c.a.mov(x86::r9d, x86::ptr(x86::rsp, Frame::operands + Frame::operand_bytes, 4));
      },
      &failed);
  c.cold([&c, failed] {
    c.a.bind(failed);
    c.leave(Status::Faulted);
  });
  if (!write) c.load_packed(inst.result, Frame::data);
}

}  // namespace

void emit_reg_gather(Compiler& c, const CodeInst& inst) { call_register_access(c, inst, false); }
void emit_reg_scatter(Compiler& c, const CodeInst& inst) { call_register_access(c, inst, true); }

}  // namespace eum::jit::emit
