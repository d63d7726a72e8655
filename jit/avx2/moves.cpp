// Moves between registers and memory, and between the forms of masks.
#include "jit/avx2/moves.hpp"

#include "jit/avx2/frame.hpp"
#include "jit/codegen/bug.hpp"

namespace eum::jit::avx2 {

using codegen::ConstantPool;
using codegen::Location;

x86::Mem Moves::memory(Location location, unsigned bytes) const {
  switch (location.where) {
    case Location::Where::Frame:
      return x86::ptr(x86::rsp, location.offset, bytes);
    case Location::Where::RegisterFile:
      return x86::ptr(state_reg, static_cast<std::int32_t>(layout_.file) + location.offset, bytes);
    case Location::Where::Pool:
      return x86::ptr(a_.pool_label(), location.offset, bytes);
    case Location::Where::Header:
      return x86::ptr(x86::rsp, Frame::group + location.offset, bytes);
    case Location::Where::Surfaces:
      return x86::ptr(surfaces_reg, location.offset, bytes);
    case Location::Where::Nowhere:
      break;
  }
  throw codegen::EngineBug("a place in memory that is nowhere");
}

void Moves::load_vector(unsigned reg, Location from, unsigned bytes) {
  const x86::Ymm to = x86::ymm(reg);
  if (bytes > 16) return (void)a_.vmovups(to, memory(from, 32));
  if (bytes > 8) return (void)a_.vmovups(to.xmm(), memory(from, 16));
  if (bytes > 4) return (void)a_.vmovq(to.xmm(), memory(from, 8));
  if (bytes > 2) return (void)a_.vmovd(to.xmm(), memory(from, 4));
  a_.vpxor(to.xmm(), to.xmm(), to.xmm());
  if (bytes == 2) {
    a_.vpinsrw(to.xmm(), to.xmm(), memory(from, 2), 0);
  } else {
    a_.vpinsrb(to.xmm(), to.xmm(), memory(from, 1), 0);
  }
}

void Moves::store_vector(Location to, unsigned reg, unsigned bytes) {
  const x86::Ymm from = x86::ymm(reg);
  switch (bytes) {
    case 32:
      return (void)a_.vmovups(memory(to, 32), from);
    case 16:
      return (void)a_.vmovups(memory(to, 16), from.xmm());
    case 8:
      return (void)a_.vmovq(memory(to, 8), from.xmm());
    case 4:
      return (void)a_.vmovd(memory(to, 4), from.xmm());
    case 2:
      return (void)a_.vpextrw(memory(to, 2), from.xmm(), 0);
    default:
      return (void)a_.vpextrb(memory(to, 1), from.xmm(), 0);
  }
}

void Moves::move_vector(unsigned to, unsigned from) { a_.vmovaps(x86::ymm(to), x86::ymm(from)); }

void Moves::take_first_lane(unsigned to, unsigned from, unsigned bytes) {
  if (bytes == 8) return (void)a_.vmovq(x86::gpq(to), x86::xmm(from));
  a_.vmovd(x86::gpd(to), x86::xmm(from));
}

void load_scalar(x86::Assembler& a, x86::Gp to, x86::Mem from, ir::Type type) {
  const unsigned bytes = ir::is_mask(type) ? 4 : ir::size_of(type);
  from.setSize(bytes);
  if (bytes == 8) {
    a.mov(to.r64(), from);
  } else if (bytes == 4) {
    a.mov(to.r32(), from);
  } else if (ir::is_signed(type)) {
    a.movsx(to.r32(), from);
  } else {
    a.movzx(to.r32(), from);
  }
}

void Moves::load_general(unsigned reg, Location from, ir::Type type) {
  load_scalar(a_, x86::gpq(reg), memory(from, 8), type);
}
void Moves::store_whole(Location to, unsigned reg) { a_.mov(memory(to, 8), x86::gpq(reg)); }
void Moves::load_whole(unsigned reg, Location from) { a_.mov(x86::gpq(reg), memory(from, 8)); }
void Moves::move_general(unsigned to, unsigned from) { a_.mov(x86::gpq(to), x86::gpq(from)); }

void Moves::set_general(unsigned reg, std::uint64_t constant) {
  if (constant >> 32 != 0)
    a_.mov(x86::gpq(reg), asmjit::Imm(constant));
  else
    a_.mov(x86::gpd(reg), asmjit::Imm(constant));
}

void Moves::pack_mask(unsigned bits, unsigned lanes, unsigned width, unsigned vector_scratch) {
  const x86::Gp to = x86::gpd(bits);
  if (has_mask_registers_) {
    if (width == 1) return (void)a_.kmovd(to, x86::k(lanes));
    if (width == 2) return (void)a_.kmovw(to, x86::k(lanes));
    return (void)a_.kmovb(to, x86::k(lanes));
  }
  const x86::Ymm from = x86::ymm(lanes);
  switch (width) {
    case 1:
      a_.vpmovmskb(to, from);
      break;
    case 2: {
      const x86::Xmm packed = x86::xmm(vector_scratch);
      a_.vextracti128(packed, from, 1);
      a_.vpacksswb(packed, from.xmm(), packed);
      a_.vpmovmskb(to, packed);
      break;
    }
    default:
      pack_lanes(bits, lanes, width);
      break;
  }
}

void Moves::join_bits(unsigned bits, unsigned part, unsigned by) {
  a_.shl(x86::gpd(part), by);
  a_.or_(x86::gpd(bits), x86::gpd(part));
}

void Moves::keep_bits(unsigned bits, std::uint32_t mask) { a_.and_(x86::gpd(bits), asmjit::Imm(mask)); }

codegen::ConstantPool::Entry Moves::lane_bits(unsigned width, unsigned first) {
  ConstantPool::Entry bits{};
  for (unsigned i = 0; i < 32 / width; ++i) {
    const unsigned bit = width == 1 ? i % 8 : first + i;
    bits[i * width + bit / 8] = static_cast<std::uint8_t>(1u << bit % 8);
  }
  return bits;
}

void Moves::broadcast_bits(x86::Ymm to, x86::Gp from, unsigned width) {
  if (width == 8) {
    a_.vmovq(to.xmm(), from.r64());
    a_.vpbroadcastq(to, to.xmm());
    return;
  }
  a_.vmovd(to.xmm(), from.r32());
  if (width == 2) {
    a_.vpbroadcastw(to, to.xmm());
  } else {
    a_.vpbroadcastd(to, to.xmm());
  }
}

/// to = all ones in the lanes whose bit is set in the same lane of `from`.
void Moves::test_lane_bits(x86::Ymm to, x86::Ymm from, const x86::Mem& mask, unsigned width) {
  a_.vpand(to, from, mask);
  switch (width) {
    case 1:
      a_.vpcmpeqb(to, to, mask);
      break;
    case 2:
      a_.vpcmpeqw(to, to, mask);
      break;
    case 4:
      a_.vpcmpeqd(to, to, mask);
      break;
    default:
      a_.vpcmpeqq(to, to, mask);
      break;
  }
}

void Moves::spread_mask(unsigned lanes, unsigned bits, unsigned width, unsigned chunk,
                        unsigned general_scratch) {
  const x86::Ymm vector = x86::ymm(lanes);
  x86::Gp from = x86::gpq(bits);
  unsigned first = chunk * (32 / width);
  if (spreading_needs_general(width, chunk)) {
    from = x86::gpq(general_scratch);
    a_.mov(from.r32(), x86::gpd(bits));
    a_.shr(from.r32(), first);
    first = 0;
  }
  broadcast_bits(vector, from, width);
  if (width == 1) {
    ConstantPool::Entry byte_of_lane;
    for (unsigned i = 0; i < 32; ++i) byte_of_lane[i] = static_cast<std::uint8_t>(i / 8);
    a_.vpshufb(vector, vector, constant(byte_of_lane));
  }
  test_lane_bits(vector, vector, constant(lane_bits(width, first)), width);
}

void Moves::spread_mask_pair(unsigned first, unsigned second, unsigned bits, unsigned width) {
  const x86::Ymm low = x86::ymm(first), high = x86::ymm(second);
  broadcast_bits(high, x86::gpq(bits), width);
  test_lane_bits(low, high, constant(lane_bits(width, 0)), width);
  test_lane_bits(high, high, constant(lane_bits(width, 32 / width)), width);
}

void Moves::spread_signs(unsigned first, unsigned second, unsigned bits, unsigned width, unsigned chunk) {
  const x86::Ymm all = x86::ymm(second);
  broadcast_bits(all, x86::gpq(bits), width);
  const auto shift_up = [&](unsigned to, unsigned of_chunk) {
    ConstantPool::Entry by{};
    const unsigned lanes = 32 / width;
    for (unsigned i = 0; i < lanes; ++i)
      by[i * width] = static_cast<std::uint8_t>(8 * width - 1 - (of_chunk * lanes + i));
    a_.emit(width == 4 ? x86::Inst::kIdVpsllvd : x86::Inst::kIdVpsllvq, x86::ymm(to), all, constant(by));
    if (spreads_whole_lanes_) complete_signs(to, width);
  };
  if (first != second) shift_up(first, chunk);
  shift_up(second, first != second ? chunk + 1 : chunk);
}

void Moves::complete_signs(unsigned lanes, unsigned width) {
  const x86::Ymm vector = x86::ymm(lanes);
  a_.vpsrad(vector, vector, 31);
  if (width == 8) a_.vpshufd(vector, vector, 0xf5);
}

void Moves::narrow_lanes(unsigned to, unsigned first, unsigned second, unsigned width) {
  if (width == 4)
    a_.vshufps(x86::ymm(to), x86::ymm(first), x86::ymm(second), 0x88);
  else
    a_.emit(width == 2 ? x86::Inst::kIdVpackssdw : x86::Inst::kIdVpacksswb, x86::ymm(to), x86::ymm(first),
            x86::ymm(second));
  a_.vpermq(x86::ymm(to), x86::ymm(to), 0xd8);
}

void Moves::widen_lanes(unsigned to, unsigned from, unsigned part) {
  if (part != 0) a_.vextracti128(x86::xmm(to), x86::ymm(from), 1);
  a_.vpmovsxdq(x86::ymm(to), x86::xmm(part != 0 ? to : from));
}

void Moves::spread_execution(unsigned first, unsigned second, unsigned width, unsigned chunk) {
  spread_signs(first, second, mask_reg.id(), width, chunk);
}

void Moves::load_mask(unsigned mask, unsigned bits, unsigned first) {
  const x86::KReg to = x86::k(mask);
  a_.kmovd(to, x86::gpd(bits));
  if (first != 0) a_.kshiftrd(to, to, asmjit::Imm(first));
}

bool Moves::pack_mask_pair(unsigned bits, unsigned low, unsigned high, unsigned lanes) {
  switch (lanes) {
    case 8:
      a_.kunpckbw(scratch_mask, x86::k(high), x86::k(low));
      a_.kmovw(x86::gpd(bits), scratch_mask);
      return true;
    case 16:
      a_.kunpckwd(scratch_mask, x86::k(high), x86::k(low));
      a_.kmovd(x86::gpd(bits), scratch_mask);
      return true;
    default:
      return false;
  }
}

void Moves::pack_lanes(unsigned bits, unsigned lanes, unsigned width) {
  const x86::Gp to = x86::gpd(bits);
  if (width == 4) return (void)a_.vmovmskps(to, x86::ymm(lanes));
  a_.vmovmskpd(to, x86::ymm(lanes));
}

void Moves::mask_to_lanes(unsigned vector, unsigned mask, unsigned width) {
  const x86::Ymm to = x86::ymm(vector);
  const x86::KReg from = x86::k(mask);
  switch (width) {
    case 1:
      return (void)a_.vpmovm2b(to, from);
    case 2:
      return (void)a_.vpmovm2w(to, from);
    case 4:
      return (void)a_.vpmovm2d(to, from);
    default:
      return (void)a_.vpmovm2q(to, from);
  }
}

}  // namespace eum::jit::avx2
