#include "tests/frontend/eu/model/encode.hpp"

#include <bit>
#include <cstring>

#include "frontend/gen/encoding.hpp"

namespace eum::model {
namespace {

using gen::Bits;
using Data = gen::EncodingData<gen::Encoding::gen9>;
constexpr const gen::Layout& L = Data::fields;

class Word {
 public:
  void put(const Bits& field, std::uint64_t value) {
    for (unsigned i = field.count; i-- > 0;) {
      const unsigned width = field.ranges[i].hi - field.ranges[i].lo + 1u;
      std::uint64_t& half = halves_[field.ranges[i].lo / 64];
      half |= (value & gen::low_mask(width)) << field.ranges[i].lo % 64;
      value = width >= 64 ? 0 : value >> width;
    }
  }
  std::array<std::byte, 16> bytes() const {
    std::array<std::byte, 16> out;
    std::memcpy(out.data(), halves_.data(), out.size());
    return out;
  }

 private:
  std::array<std::uint64_t, 2> halves_{};
};

unsigned code_of(const gen::TypeList& list, gen::Type type) {
  for (unsigned code = 0; code < 16; ++code)
    if (list[code] == type) return code;
  return 0;
}
unsigned stride_code(unsigned stride) {
  return stride == 0 ? 0 : static_cast<unsigned>(std::bit_width(stride));
}
unsigned vertical_code(const gen::Region& region) {
  return region.vstride == gen::Region::vxh ? 15 : stride_code(region.vstride);
}
unsigned register_code(const gen::Operand& op) {
  return op.file == gen::RegisterFile::Arf ? static_cast<unsigned>(op.arf) << 4 | op.reg : op.reg;
}
unsigned file_code(const gen::Operand& op) {
  const bool arf = op.kind != gen::OperandKind::Indirect && op.file == gen::RegisterFile::Arf;
  return op.is_immediate() ? 3 : arf ? 0 : 1;
}

struct SourceBits {
  const Bits &file, &type, &mod, &addr_mode, &vstride, &reg, &width, &hstride, &subreg, &addr_subreg,
      &addr_imm;
};

void put_source(Word& w, const gen::Operand& op, const SourceBits& f) {
  w.put(f.file, file_code(op));
  if (op.is_immediate()) {
    w.put(f.type, code_of(Data::types.immediates, op.type));
    const unsigned bytes = gen::size_of(op.type);
    // Words are given twice (3.3.4).
    if (bytes == 8)
      w.put(L.imm64, op.immediate);
    else
      w.put(L.imm32, bytes == 2 ? op.immediate << 16 | op.immediate : op.immediate);
    return;
  }
  w.put(f.type, code_of(Data::types.registers, op.type));
  w.put(f.mod, static_cast<unsigned>(op.modifier));
  w.put(f.vstride, vertical_code(op.region));
  w.put(f.width, stride_code(op.region.width) - 1);
  w.put(f.hstride, stride_code(op.region.hstride));
  if (op.kind == gen::OperandKind::Indirect) {
    w.put(f.addr_mode, 1);
    w.put(f.addr_subreg, op.address_subreg);
    w.put(f.addr_imm, static_cast<std::uint64_t>(op.address_offset));
  } else {
    w.put(f.reg, register_code(op));
    w.put(f.subreg, op.subreg);
  }
}

void put_ternary(Word& w, const gen::Instruction& i) {
  w.put(L.access_mode, 1);
  w.put(L.t_flag_subreg, i.flag_subreg);
  w.put(L.t_flag_reg, i.flag_reg);
  w.put(L.t_dst_type, code_of(Data::types.ternary, i.dst.type));
  w.put(L.t_dst_reg, i.dst.reg);
  w.put(L.t_dst_subreg, i.dst.subreg / 4);
  // A step of a macro names its macro registers there: none.
  const bool macro = i.opcode == gen::Opcode::madm;
  w.put(L.t_dst_chan_en, macro ? gen::no_mme : 15);
  w.put(L.t_src_type, code_of(Data::types.ternary, i.src[0].type));
  w.put(L.t_src1_type, i.src[1].type == gen::Type::hf);
  w.put(L.t_src2_type, i.src[2].type == gen::Type::hf);
  struct Fields {
    const Bits &reg, &subreg, &word, &mod, &rep, &swizzle;
  };
  const Fields fields[] = {
      {L.t_src0_reg, L.t_src0_subreg, L.t_src0_subreg_word, L.t_src0_mod, L.t_src0_rep, L.t_src0_chan_sel},
      {L.t_src1_reg, L.t_src1_subreg, L.t_src1_subreg_word, L.t_src1_mod, L.t_src1_rep, L.t_src1_chan_sel},
      {L.t_src2_reg, L.t_src2_subreg, L.t_src2_subreg_word, L.t_src2_mod, L.t_src2_rep, L.t_src2_chan_sel}};
  for (unsigned n = 0; n < 3; ++n) {
    const gen::Operand& op = i.src[n];
    w.put(fields[n].reg, op.reg);
    w.put(fields[n].subreg, op.subreg / 4);
    w.put(fields[n].word, op.subreg / 2 % 2);
    w.put(fields[n].mod, static_cast<unsigned>(op.modifier));
    w.put(fields[n].rep, op.replicate);
    w.put(fields[n].swizzle, macro ? gen::no_mme : gen::identity_swizzle);
  }
}

}  // namespace

std::array<std::byte, 16> encode(const gen::Instruction& i) {
  Word w;
  w.put(L.opcode, gen::info(i.opcode).number);
  w.put(L.channel_offset, i.channel_offset / 4);
  w.put(L.pred_ctrl, static_cast<unsigned>(i.pred_ctrl));
  w.put(L.pred_inv, i.pred_inverse);
  w.put(L.exec_size, stride_code(i.exec_size) - 1);
  w.put(L.mask_ctrl, i.no_mask);
  w.put(
      i.math != gen::MathFunction::None ? L.math_function : L.cond_mod,
      i.math != gen::MathFunction::None ? static_cast<unsigned>(i.math) : static_cast<unsigned>(i.cond_mod));
  w.put(L.acc_wr_ctrl, i.acc_wr_en);
  w.put(L.saturate, i.saturate);
  if (i.source_count == 3) {
    put_ternary(w, i);
    return w.bytes();
  }
  w.put(L.flag_subreg, i.flag_subreg);
  w.put(L.flag_reg, i.flag_reg);
  w.put(L.dst_file, file_code(i.dst));
  w.put(L.dst_type, code_of(Data::types.registers, i.dst.type));
  w.put(L.dst_hstride, stride_code(i.dst.region.hstride));
  if (i.dst.kind == gen::OperandKind::Indirect) {
    w.put(L.dst_addr_mode, 1);
    w.put(L.dst_addr_subreg, i.dst.address_subreg);
    w.put(L.dst_addr_imm, static_cast<std::uint64_t>(i.dst.address_offset));
  } else {
    w.put(L.dst_reg, register_code(i.dst));
    w.put(L.dst_subreg, i.dst.subreg);
  }
  put_source(w, i.src[0],
             {L.src0_file, L.src0_type, L.src0_mod, L.src0_addr_mode, L.src0_vstride, L.src0_reg,
              L.src0_width, L.src0_hstride, L.src0_subreg, L.src0_addr_subreg, L.src0_addr_imm});
  if (i.source_count == 2)
    put_source(w, i.src[1],
               {L.src1_file, L.src1_type, L.src1_mod, L.src1_addr_mode, L.src1_vstride, L.src1_reg,
                L.src1_width, L.src1_hstride, L.src1_subreg, L.src1_addr_subreg, L.src1_addr_imm});
  return w.bytes();
}

}  // namespace eum::model
