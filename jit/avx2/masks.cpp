// The two forms of a mask and the ways between them.
#include "jit/avx2/registers.hpp"

namespace eum::jit {

using ir::ValueId;

void Registers::set_mask_width(ValueId mask, unsigned width) {
  values_[mask].mask_width = static_cast<std::uint8_t>(width);
}

x86::Gp Registers::mask_bits(ValueId mask) {
  Value& v = values_[mask];
  if (v.gp.reg >= 0 || v.gp.where != Where::Nowhere || v.is_constant) return in_gp(mask);
  if (v.mask_width == 0) throw EngineBug("a mask is used that has no value");
  const unsigned width = v.mask_width, lanes = function_.values[mask].lanes, per_chunk = 32 / width;
  x86::Gp bits = out_gp(mask);
  for (unsigned c = 0; c * per_chunk < lanes; ++c) {
    x86::Ymm chunk = in(mask, c);
    x86::Gp part = c == 0 ? bits : temp_gp();
    switch (width) {
      case 1:
        a_.vpmovmskb(part.r32(), chunk);
        break;
      case 2: {
        x86::Ymm packed = temp();
        a_.vextracti128(packed.xmm(), chunk, 1);
        a_.vpacksswb(packed.xmm(), chunk.xmm(), packed.xmm());
        a_.vpmovmskb(part.r32(), packed.xmm());
        break;
      }
      case 4:
        a_.vmovmskps(part.r32(), chunk);
        break;
      default:
        a_.vmovmskpd(part.r32(), chunk);
        break;
    }
    if (c > 0) {
      a_.shl(part.r32(), c * per_chunk);
      a_.or_(bits.r32(), part.r32());
      gp_pinned_ &= ~(1u << part.id());
    }
  }
  // Lanes of the last chunk beyond the mask hold whatever the operands held there.
  if (lanes % per_chunk != 0) a_.and_(bits.r32(), asmjit::Imm((1u << lanes) - 1));
  return bits;
}

x86::Ymm Registers::mask_vector(ValueId mask, unsigned width, unsigned chunk) {
  Value& v = values_[mask];
  if (v.mask_width == width) {
    const Place& p = place(mask, chunk);
    if (p.reg >= 0 || p.where != Where::Nowhere) return in(mask, chunk);
  }
  x86::Gp bits = mask_bits(mask);
  x86::Ymm vector = build_mask_vector(bits, width, chunk);
  if (v.mask_width == 0) v.mask_width = static_cast<std::uint8_t>(width);
  if (v.mask_width == width) bind(mask, chunk, vector);
  return vector;
}

x86::Ymm Registers::build_mask_vector(x86::Gp bits, unsigned width, unsigned chunk) {
  x86::Ymm vector = temp();
  ConstantPool::Entry lane_bit{};
  const unsigned per_chunk = 32 / width;
  x86::Gp from = bits;
  unsigned first = chunk * per_chunk;
  if (width <= 2 && first > 0) {
    from = temp_gp();
    a_.mov(from.r32(), bits.r32());
    a_.shr(from.r32(), first);
    first = 0;
  }
  for (unsigned i = 0; i < per_chunk; ++i) {
    unsigned bit = width == 1 ? i % 8 : first + i;
    lane_bit[i * width + bit / 8] = static_cast<std::uint8_t>(1u << bit % 8);
  }
  x86::Mem constant = pool_.add(lane_bit);
  if (width == 8) {
    a_.vmovq(vector.xmm(), from);
    a_.vpbroadcastq(vector, vector.xmm());
  } else {
    a_.vmovd(vector.xmm(), from.r32());
    if (width == 2) {
      a_.vpbroadcastw(vector, vector.xmm());
    } else {
      a_.vpbroadcastd(vector, vector.xmm());
    }
  }
  if (width == 1) {
    ConstantPool::Entry spread;
    for (unsigned i = 0; i < 32; ++i) spread[i] = static_cast<std::uint8_t>(i / 8);
    a_.vpshufb(vector, vector, pool_.add(spread));
  }
  a_.vpand(vector, vector, constant);
  switch (width) {
    case 1:
      a_.vpcmpeqb(vector, vector, constant);
      break;
    case 2:
      a_.vpcmpeqw(vector, vector, constant);
      break;
    case 4:
      a_.vpcmpeqd(vector, vector, constant);
      break;
    default:
      a_.vpcmpeqq(vector, vector, constant);
      break;
  }
  return vector;
}

}  // namespace eum::jit
