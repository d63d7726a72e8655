// Instructions of AVX2 on registers that only EVEX encodes; see evex.def.
#include "jit/avx2/assembler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "jit/codegen/bug.hpp"

namespace eum::jit::avx2 {
namespace {

namespace I = x86::Inst;
using asmjit::Imm;
using asmjit::Operand_;

enum class Rewrite : std::uint8_t { Renamed, Compare, Blend, BlendConstant, Signs, Masked, Gather };

struct Row {
  asmjit::InstId vex;
  Rewrite how;
  asmjit::InstId evex;
  char width;     ///< of a lane: b, w, d, q
  bool repeated;  ///< of BlendConstant
};

constexpr Row rows[]{
#define EVEX_RENAMED(vex, evex) {I::kId##vex, Rewrite::Renamed, I::kId##evex, 0, false},
#define EVEX_COMPARE(vex, n) {I::kId##vex, Rewrite::Compare, I::kId##vex, #n[0], false},
#define EVEX_BLEND(vex, evex, n) {I::kId##vex, Rewrite::Blend, I::kId##evex, #n[0], false},
#define EVEX_BLEND_CONSTANT(vex, evex, repeated) \
  {I::kId##vex, Rewrite::BlendConstant, I::kId##evex, 0, repeated},
#define EVEX_SIGNS(vex, n) {I::kId##vex, Rewrite::Signs, I::kId##vex, #n[0], false},
#define EVEX_MASKED(vex, evex, n) {I::kId##vex, Rewrite::Masked, I::kId##evex, #n[0], false},
#define EVEX_GATHER(vex, n) {I::kId##vex, Rewrite::Gather, I::kId##vex, #n[0], false},
#include "jit/avx2/evex.def"
#undef EVEX_RENAMED
#undef EVEX_COMPARE
#undef EVEX_BLEND
#undef EVEX_BLEND_CONSTANT
#undef EVEX_SIGNS
#undef EVEX_MASKED
#undef EVEX_GATHER
};

const Row* row_of(asmjit::InstId id) {
  static const auto by_id = [] {
    std::array<std::uint8_t, I::_kIdCount> table{};
    for (std::size_t i = 0; i < std::size(rows); ++i) table[rows[i].vex] = static_cast<std::uint8_t>(i + 1);
    return table;
  }();
  return by_id[id] == 0 ? nullptr : &rows[by_id[id] - 1];
}

/// Lanes of `width` bytes, all ones where the bit is set.
codegen::ConstantPool::Entry lanes_of(std::uint64_t bits, unsigned width) {
  codegen::ConstantPool::Entry lanes{};
  for (unsigned i = 0; i < lanes.size(); ++i)
    if ((bits >> i / width & 1) != 0) lanes[i] = 0xff;
  return lanes;
}

/// On AMD processors a masked store takes a tenth of the time if the mask is in a mask register, so it is
/// rewritten even if its operands do not need EVEX.
bool is_store_under_lanes(asmjit::InstId id, const Operand_& to) {
  const Row* row = to.isMem() ? row_of(id) : nullptr;
  return row != nullptr && row->how == Rewrite::Masked;
}

}  // namespace

bool needs_evex(const Operand_& operand) {
  if (operand.isReg()) return operand.as<x86::Reg>().isVec() && operand.id() >= 16 && operand.id() < 32;
  if (!operand.isMem()) return false;
  const auto& memory = operand.as<x86::Mem>();
  return memory.hasIndexReg() && x86::Reg::groupOf(memory.indexType()) == asmjit::RegGroup::kVec &&
         memory.indexId() >= 16;
}

asmjit::Error Assembler::_emit(asmjit::InstId id, const Operand_& o0, const Operand_& o1, const Operand_& o2,
                               const Operand_* more) {
  if (!evex_) return x86::Assembler::_emit(id, o0, o1, o2, more);
  const Operands operands{o0, o1, o2, more[0], more[1], more[2]};
  if (std::none_of(operands.begin(), operands.end(), needs_evex) && !is_store_under_lanes(id, o0))
    return x86::Assembler::_emit(id, o0, o1, o2, more);
  const auto used = std::find_if(operands.begin(), operands.end(), [](const auto& o) { return o.isNone(); });
  return emit_evex(id, operands, static_cast<unsigned>(used - operands.begin()));
}

template <class... More>
asmjit::Error Assembler::put(asmjit::InstId id, const More&... operands) {
  Operands o{};
  std::size_t count = 0;
  ((o[count++] = operands), ...);
  return x86::Assembler::_emit(id, o[0], o[1], o[2], &o[3]);
}

/// scratch_mask = the sign bits of the lanes.
void Assembler::set_scratch_mask(const Operand_& lanes, char width) {
  put(width == 'b' ? I::kIdVpmovb2m : width == 'd' ? I::kIdVpmovd2m : I::kIdVpmovq2m, scratch_mask, lanes);
}

/// o[0] = o[2] where the bits of the constant are set, else o[1].
asmjit::Error Assembler::select_bits(const Operands& o, const codegen::ConstantPool::Entry& bits) {
  const x86::Mem mask = x86::ptr(pool_label_, pool_.add(bits), 32);
  // The immediate has the result for each combination of bits of the three operands.
  if (o[0] == o[2]) return put(I::kIdVpternlogd, o[0], o[1], mask, Imm(0xe4));
  if (o[0] != o[1]) put(I::kIdVmovdqa32, o[0], o[1]);
  return put(I::kIdVpternlogd, o[0], o[2], mask, Imm(0xd8));
}

asmjit::Error Assembler::emit_evex(asmjit::InstId id, const Operands& o, unsigned count) {
  const auto as = [&](asmjit::InstId evex) { return put(evex, o[0], o[1], o[2], o[3], o[4], o[5]); };
  if (id == I::kIdVptest) {  // only ZF is valid
    put(I::kIdVptestmd, scratch_mask, o[0], o[1]);
    return put(I::kIdKortestb, scratch_mask, scratch_mask);
  }
  if (id == I::kIdVperm2f128) {
    const auto halves = o[3].as<Imm>().value();
    if (halves != 0x20 && halves != 0x31)
      throw codegen::EngineBug("vperm2f128 of other halves than both low or both high ones");
    return put(I::kIdVshuff32x4, o[0], o[1], o[2], Imm(halves == 0x31 ? 3 : 0));
  }
  // An instruction with a mask register, as a comparison's destination or as its mask, is EVEX already.
  const bool has_mask = extraReg().isReg() || (o[0].isReg() && o[0].as<x86::Reg>().isKReg());
  const Row* row = has_mask ? nullptr : row_of(id);
  if (row == nullptr) {
    if (!x86::InstDB::infoById(id).isEvex())
      throw codegen::EngineBug(fmt::format("instruction {} has no EVEX form", std::uint32_t{id}));
    return as(id);
  }
  const Operand_& last = o[count - 1];
  switch (row->how) {
    case Rewrite::Renamed:
      return as(row->evex);
    case Rewrite::Compare:
      put(id, scratch_mask, o[1], o[2], o[3]);
      return put(row->width == 'b'   ? I::kIdVpmovm2b
                 : row->width == 'w' ? I::kIdVpmovm2w
                 : row->width == 'd' ? I::kIdVpmovm2d
                                     : I::kIdVpmovm2q,
                 o[0], scratch_mask);
    case Rewrite::Blend:
      set_scratch_mask(last, row->width);
      k(scratch_mask);
      return put(row->evex, o[0], o[1], o[2]);
    case Rewrite::BlendConstant: {
      auto bits = static_cast<std::uint64_t>(last.as<Imm>().value()) & 0xff;
      if (row->repeated) bits |= bits << 8;
      if (o[2].isReg()) return select_bits(o, lanes_of(bits, row->repeated ? 2 : 4));
      put(I::kIdKmovw, scratch_mask,
          x86::ptr(pool_label_, pool_.add(codegen::ConstantPool::splat(bits, 8)), 2));
      k(scratch_mask);
      return put(row->evex, o[0], o[1], o[2]);
    }
    case Rewrite::Signs:
      set_scratch_mask(o[1], row->width);
      return put(row->width == 'b' ? I::kIdKmovd : I::kIdKmovb, o[0].as<x86::Gp>().r32(), scratch_mask);
    case Rewrite::Masked:
      set_scratch_mask(o[1], row->width);
      k(scratch_mask);
      if (o[0].isReg()) z();
      return put(row->evex, o[0], o[2]);
    case Rewrite::Gather:
      set_scratch_mask(last, row->width);
      k(scratch_mask);
      return put(row->evex, o[0], o[1]);
  }
  throw codegen::EngineBug("an instruction is rewritten in no way that there is");
}

}  // namespace eum::jit::avx2
