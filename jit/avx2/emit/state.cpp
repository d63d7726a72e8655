// Register regions, flags and mask variables.
#include <bit>

#include "jit/avx2/emit/byte_regions.hpp"
#include "jit/avx2/emit/dword_regions.hpp"
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

/// The size of a container, if the region has one 8 or 16-bit element in each word or dword of whole slots or
/// of half a slot; else 0.
unsigned container_bytes(const CodeInst& inst, unsigned bytes) {
  const int stride = inst.region.stride(inst.lanes);
  if (stride < 2 || bytes > 2) return 0;
  const unsigned container = static_cast<unsigned>(stride) * bytes;
  const unsigned all = inst.lanes * container, half = target.vector_bytes / 2;
  const bool fits = (container == 2 || container == 4) && (all % target.vector_bytes == 0 || all == half) &&
                    inst.region.offset % std::min(all, target.vector_bytes) + bytes <= container;
  return fits ? container : 0;
}

/// Which half of a slot the containers are in.
enum class InSlot : std::uint8_t { Both, Low, High };
InSlot in_slot(const CodeInst& inst, unsigned container) {
  constexpr unsigned half = target.vector_bytes / 2;
  if (inst.lanes * container != half) return InSlot::Both;
  return inst.region.offset % target.vector_bytes < half ? InSlot::Low : InSlot::High;
}

void read_contained(Compiler& c, const CodeInst& inst, unsigned container) {
  const unsigned bytes = ir::size_of(inst.type), shift = inst.region.offset % container * 8;
  const unsigned first = inst.region.offset / target.vector_bytes;
  const unsigned slots = std::max(1u, inst.lanes * container / target.vector_bytes);
  const InSlot where = in_slot(inst, container);
  const std::uint64_t field = bytes == 1 ? 0xff : 0xffff;
  auto element = [&](unsigned slot) {
    x86::Ymm to = c.v.scratch(), from = to;
    if (where != InSlot::Both && !c.s.is_newer({first, first})) {
      constexpr unsigned half = target.vector_bytes / 2;  // loaded alone, as it may just have been written
      c.a.vmovdqu(to.xmm(), c.s.memory(inst.region.offset / half * half, half));
    } else {
      from = c.s.use(first + slot);
      if (where == InSlot::High) {
        c.a.vextracti128(to.xmm(), from, 1);
        from = to;
      }
    }
    if (shift > 0) {
      c.a.emit(container == 2 ? I::kIdVpsrlw : I::kIdVpsrld, to, from, asmjit::Imm(shift));
      from = to;
    }
    if (shift + 8 * bytes < 8 * container) c.a.vpand(to, from, c.splat(field, container));
    return to;
  };
  auto packed = [&](unsigned pair, auto of, unsigned count, std::uint32_t id) {
    x86::Ymm low = of(2 * pair);
    // Lanes beyond the value may hold anything.
    x86::Ymm high = 2 * pair + 1 < count ? of(2 * pair + 1) : low;
    c.a.emit(id, low, low, high);
    if (where == InSlot::Both) c.a.vpermq(low, low, 0xd8);
    return low;
  };
  auto words = [&](unsigned pair) { return packed(pair, element, slots, I::kIdVpackusdw); };
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    x86::Ymm to = container == 2 ? packed(chunk, element, slots, I::kIdVpackuswb)
                  : bytes == 1   ? packed(chunk, words, (slots + 1) / 2, I::kIdVpackuswb)
                                 : words(chunk);
    c.v.bind(inst.result, chunk, to);
    c.regs.unpin();
  }
}

void write_contained(Compiler& c, const CodeInst& inst, unsigned container) {
  const unsigned bytes = ir::size_of(inst.type), shift = inst.region.offset % container * 8;
  const unsigned first = inst.region.offset / target.vector_bytes;
  const unsigned slots = std::max(1u, inst.lanes * container / target.vector_bytes);
  const InSlot where = in_slot(inst, container);
  const auto fields = [&](std::uint32_t byte) -> std::uint32_t {  // of the four bytes that begin at `byte`
    const std::uint32_t field = (bytes == 1 ? 0xffu : 0xffffu) << shift;
    if (where != InSlot::Both && (byte < target.vector_bytes / 2) != (where == InSlot::Low)) return 0;
    return container == 2 ? field | field << 16 : field;
  };
  const std::uint32_t extend_id = container == 2 ? I::kIdVpmovzxbw
                                  : bytes == 1   ? I::kIdVpmovzxbd
                                                 : I::kIdVpmovzxwd;
  for (unsigned i = 0; i < slots; ++i) {
    const unsigned at = i * target.vector_bytes / container * bytes;  // of the slot's elements in the value
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
    c.a.emit(extend_id, spread, part);
    if (shift > 0) c.a.emit(container == 2 ? I::kIdVpsllw : I::kIdVpslld, spread, spread, asmjit::Imm(shift));
    x86::Ymm old = c.s.use(first + i);
    if (where == InSlot::High) c.a.vpermq(spread, spread, 0x44);
    if (bytes == 2 && shift % 16 == 0 && inst.mask == ir::no_value && where == InSlot::Both) {
      c.a.vpblendw(spread, old, spread, shift > 0 ? 0xaa : 0x55);
    } else {
      c.a.vpxor(spread, spread, old);
      c.a.vpand(spread, spread,
                c.constant(ConstantPool::dwords([&](std::uint32_t d) { return fields(4 * d); })));
      if (inst.mask != ir::no_value) {
        x86::Ymm lanes = c.m.lanes(inst.mask, container, i);
        if (where == InSlot::High) {
          const x86::Ymm moved = c.v.scratch();
          c.a.vpermq(moved, lanes, 0x44);
          lanes = moved;
        }
        c.a.vpand(spread, spread, lanes);
      }
      c.a.vpxor(spread, spread, old);
    }
    c.s.set(first + i, spread);
    c.regs.unpin();
  }
}

/// Writes consecutive whole slots.
void write_slots(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.args[0]); ++chunk) {
    unsigned slot = inst.region.offset / target.vector_bytes + chunk;
    x86::Ymm value = c.v.use(inst.args[0], chunk);
    if (inst.mask != ir::no_value && !(inst.overwrite >> chunk & 1)) {
      const Mask mask(c, inst.mask, bytes, chunk);
      const x86::Ymm old = c.s.use(slot), to = c.v.scratch();
      mask.blend(to, old, value);
      value = to;
    }
    c.s.set(slot, value);
    c.regs.unpin();
  }
}

/// Writes 32-bit elements to every second place of whole slots; the others stay.
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
    if (inst.mask != ir::no_value) Mask(c, inst.mask, 8, i).blend(to, old, to);
    c.s.set(first + i, to);
    c.regs.unpin();
  }
}

/// Writes consecutive elements that do not fill whole slots.
void write_packed(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = inst.lanes * ir::size_of(inst.type);
  c.s.write_back_and_invalidate(inst.region.offset, bytes);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.args[0]); ++chunk) {
    x86::Ymm value = c.v.use(inst.args[0], chunk);
    unsigned at = inst.region.offset + chunk * 32, left = std::min(32u, bytes - chunk * 32);
    if (inst.mask != ir::no_value) {
      const unsigned width = ir::size_of(inst.type);
      const Mask mask(c, inst.mask, width, chunk);
      const x86::Ymm old = c.v.scratch(), to = c.v.scratch();
      c.load(old, at, left);
      mask.blend(to, old, value);
      value = to;
    }
    c.store(at, value, left);
    if (const codegen::LoopScalar* scalar = inst.lanes == 1 ? c.regs.loop_scalar(at, left) : nullptr)
      c.a.vmovaps(x86::ymm(scalar->reg), value);
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
  const codegen::LoopScalar* const scalar = c.regs.loop_scalar(inst.region.offset, bytes);
  if (value.isMem()) value = c.g.use(inst.args[0]);
  c.s.write_back_and_invalidate(inst.region.offset, bytes);
  asmjit::Label skip = c.a.newLabel();
  if (inst.mask != ir::no_value) {
    c.a.test(c.m.bits(inst.mask).r8(), 1);
    c.a.jz(skip);
  }
  if (value.isReg()) value = low_part(value.as<x86::Gp>(), bytes);
  c.a.emit(I::kIdMov, to, value);
  if (scalar)
    c.a.emit(bytes == 8 ? I::kIdVmovq : I::kIdVmovd, x86::xmm(scalar->reg), value.isReg() ? value : to);
  c.a.bind(skip);
}

/// Whether the flag bits are whole bytes of the flag registers.
bool whole_bytes(const CodeInst& inst) {
  return inst.imm % 8 == 0 && (inst.lanes == 8 || inst.lanes == 16 || inst.lanes == 32);
}

/// The bytes around the flag bits, no more than needed: a load that is wider than the store before it waits.
x86::Mem flag_bytes(Compiler& c, const CodeInst& inst) {
  return c.state(c.layout.flags + inst.imm / 8,
                 std::bit_ceil(static_cast<unsigned>(inst.imm % 8 + inst.lanes + 7) / 8));
}

void load_flags(Compiler& c, const CodeInst& inst, x86::Gp to) {
  const x86::Mem bytes = flag_bytes(c, inst);
  load_scalar(c.a, to, bytes, ir::int_type(bytes.size(), false));
}

void store_flags(Compiler& c, const CodeInst& inst, x86::Gp from) {
  const x86::Mem bytes = flag_bytes(c, inst);
  c.a.mov(bytes, low_part(from, bytes.size()));
}

}  // namespace

void emit_reg_read(Compiler& c, const CodeInst& inst) {
  const bool scalar = c.regs.is_scalar(inst.result);
  if (inst.region.stride(inst.lanes) == 1) {
    const bool whole = inst.lanes * ir::size_of(inst.type) % target.vector_bytes == 0 &&
                       inst.region.offset % target.vector_bytes == 0;
    if (!scalar && !whole && is_of_dwords(c, inst) && c.s.is_newer(slots_of(inst, target.vector_bytes)))
      return read_dwords(c, inst);
    return c.regs.slots.read(inst);
  }
  const bool dwords = ir::size_of(inst.type) == 4 && !scalar;
  if (const unsigned container = container_bytes(inst, ir::size_of(inst.type)))
    return read_contained(c, inst, container);
  if (dwords && inst.region.stride(inst.lanes) == 2 && inst.lanes % 8 == 0 &&
      inst.region.offset % target.vector_bytes < 8 && inst.region.offset % 4 == 0)
    return read_stride2(c, inst);
  if (!scalar && is_of_dwords(c, inst)) return read_dwords(c, inst);
  if (!scalar && is_of_bytes(c, inst)) return read_bytes(c, inst);
  gather_elements(c, inst);
}

void emit_reg_write(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type);
  if (c.regs.is_scalar(inst.args[0])) return write_scalar(c, inst);
  const int stride = inst.region.stride(inst.lanes);
  const bool whole = inst.lanes * bytes % target.vector_bytes == 0;
  if (stride == 1 && whole && inst.region.offset % target.vector_bytes == 0) return write_slots(c, inst);
  const bool stays = inst.lanes == 1 && c.regs.loop_scalar(inst.region.offset, bytes) != nullptr;
  if (stride == 1 && !whole && !stays && is_of_dwords(c, inst) && c.s.is_joined(inst))
    return write_dwords(c, inst);
  if (stride == 1 && std::has_single_bit(inst.lanes * bytes % target.vector_bytes | (whole ? 1u : 0u)))
    return write_packed(c, inst);
  if (const unsigned container = container_bytes(inst, bytes)) return write_contained(c, inst, container);
  if (stride == 2 && bytes == 4 && inst.lanes % 4 == 0 && inst.region.offset % target.vector_bytes < 8 &&
      inst.region.offset % 4 == 0)
    return write_every_second(c, inst);
  if (is_of_dwords(c, inst)) return write_dwords(c, inst);
  scatter_elements(c, inst);
}

void emit_flag_read(Compiler& c, const CodeInst& inst) {
  x86::Gp to = c.m.define_bits(inst.result);
  load_flags(c, inst, to);
  if (whole_bytes(inst)) return;
  if (inst.imm % 8 != 0) c.a.shr(to, asmjit::Imm(inst.imm % 8));
  if (inst.lanes < 32) {
    c.a.and_(to.r32(), asmjit::Imm(ir::lane_mask(inst.lanes)));
  } else {
    c.a.mov(to.r32(), to.r32());
  }
}

void emit_flag_write(Compiler& c, const CodeInst& inst) {
  x86::Gp bits = c.m.bits(inst.args[0]);
  if (whole_bytes(inst) && inst.mask == ir::no_value) return store_flags(c, inst, bits);
  if (whole_bytes(inst)) {
    const x86::Gp given = c.g.scratch().r32(), kept = c.g.scratch().r32(), mask = c.m.bits(inst.mask).r32();
    load_flags(c, inst, kept);
    c.a.mov(given, bits.r32());
    c.a.and_(given, mask);
    c.a.andn(kept, mask, kept);
    c.a.or_(kept, given);
    return store_flags(c, inst, kept);
  }
  // new = old ^ ((old ^ value) & mask), on the bytes around them.
  x86::Gp old = c.g.scratch(), change = c.g.scratch(), mask = c.g.scratch();
  load_flags(c, inst, old);
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
  store_flags(c, inst, old);
}

void emit_mask_get(Compiler& c, const CodeInst& inst) {
  const bool is_execution = inst.imm == 0 && inst.lanes == c.function.simd;
  if (is_execution && c.regs.slots.read_mask(inst.result) && !c.m.is_used_in_bits(inst)) return;
  const x86::Gp to = c.m.define_bits(inst.result).r32();
  if (inst.imm == 0) {
    c.a.mov(to, mask_reg);
  } else {
    c.a.mov(to, c.mask_variable(inst.imm));
  }
  if (inst.lanes < 32 && inst.lanes < c.function.simd) c.a.and_(to, asmjit::Imm((1u << inst.lanes) - 1));
}

void emit_mask_set(Compiler& c, const CodeInst& inst) {
  const asmjit::Operand to = inst.imm == 0 ? asmjit::Operand(mask_reg) : c.mask_variable(inst.imm);
  if (const std::uint64_t* bits = c.regs.constant(inst.args[0])) {
    c.a.emit(I::kIdMov, to, asmjit::Imm(static_cast<std::int32_t>(*bits)));
  } else {
    c.a.emit(I::kIdMov, to, c.m.bits(inst.args[0]).r32());
  }
  if (inst.imm == 0) c.regs.slots.write_mask(inst.args[0]);
}

}  // namespace eum::jit::avx2::emit
