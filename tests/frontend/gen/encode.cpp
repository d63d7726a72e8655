// Encodes the fields of an Instruction in the order in which decoder.cpp and operand.cpp read them.
#include "tests/frontend/gen/encode.hpp"

#include <bit>
#include <cstring>

#include "frontend/gen/encoding.hpp"

namespace eum::gen::test {
namespace {

/// The data of a family that the encoder needs.
struct Data {
  const Layout* fields;
  TypeCodes types;
  int branch_unit, jump_unit;
  bool send_has_region;
};

const Data& data_of(Family family) {
  static const Data rows[] = {
#define GEN_ENCODING(name)                                                                 \
  Data{&EncodingData<Encoding::name>::fields, EncodingData<Encoding::name>::types,         \
       EncodingData<Encoding::name>::branch_unit, EncodingData<Encoding::name>::jump_unit, \
       EncodingData<Encoding::name>::send_has_region},
#include "frontend/gen/encodings.def"
#undef GEN_ENCODING
  };
  return rows[static_cast<std::size_t>(info(family).encoding)];
}

constexpr unsigned code_of(const TypeList& list, Type type) {
  for (unsigned code = 0; code < 16; ++code)
    if (list[code] == type) return code;
  return 0;
}
constexpr unsigned stride_code(unsigned stride) {
  return stride == 0 ? 0 : static_cast<unsigned>(std::bit_width(stride));
}
unsigned vertical_code(const Region& region) {
  return region.vstride == Region::vxh ? 15 : stride_code(region.vstride);
}
unsigned register_code(const Operand& op) {
  return op.file == RegisterFile::Arf ? static_cast<unsigned>(op.arf) << 4 | op.reg : op.reg;
}
bool is_arf(const Operand& op) { return op.kind != OperandKind::Indirect && op.file == RegisterFile::Arf; }
unsigned file_code(const Operand& op) { return op.is_immediate() ? 3 : is_arf(op) ? 0 : 1; }
std::uint64_t offset_code(const Operand& op, int unit) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(op.address_offset / unit));
}

/// The fields of source 0 or 1.
struct SourceBits {
  Bits file, type, mod, addr_mode, vstride, reg, width, hstride, subreg, addr_subreg, addr_imm, chan_sel,
      subreg16, addr_imm16, mme;
};

class Encoder {
 public:
  Encoder(const Instruction& inst, Family family)
      : i_(inst), d_(data_of(family)), L(*d_.fields), shape_(shape(inst.opcode, family)) {}

  std::array<std::byte, 16> run() {
    put(L.opcode, info(i_.opcode).number);
    if (shape_.format == Format::Nullary)
      put(L.debug_ctrl, i_.debug_ctrl);
    else
      head();
    std::array<std::byte, 16> out;
    std::memcpy(out.data(), halves_.data(), out.size());
    return out;
  }

 private:
  void put(const Bits& field, std::uint64_t value) {
    for (unsigned n = field.count; n-- > 0;) {
      const unsigned width = field.ranges[n].hi - field.ranges[n].lo + 1u;
      halves_[field.ranges[n].lo / 64] |= (value & low_mask(width)) << field.ranges[n].lo % 64;
      value = width >= 64 ? 0 : value >> width;
    }
  }
  void put_type(const Bits& field, Type type) { put(field, code_of(d_.types.registers, type)); }

  void head();
  void body();
  void predicate();
  void destination();
  void source(const Operand& op, const SourceBits& f);
  void source0() {
    source(i_.src[0], {L.src0_file, L.src0_type, L.src0_mod, L.src0_addr_mode, L.src0_vstride, L.src0_reg,
                       L.src0_width, L.src0_hstride, L.src0_subreg, L.src0_addr_subreg, L.src0_addr_imm,
                       L.src0_chan_sel, L.src0_subreg16, L.src0_addr_imm16, L.m1_src0_mme});
  }
  void source1(const Operand& op) {
    source(op, {L.src1_file, L.src1_type, L.src1_mod, L.src1_addr_mode, L.src1_vstride, L.src1_reg,
                L.src1_width, L.src1_hstride, L.src1_subreg, L.src1_addr_subreg, L.src1_addr_imm,
                L.src1_chan_sel, L.src1_subreg16, L.src1_addr_imm16, L.m1_src1_mme});
  }
  void ternary();
  void ternary16();
  void ternary1();
  void target(const Bits& field, const Target& target, int unit) {
    put(field, static_cast<std::uint64_t>(static_cast<std::int64_t>(target.raw / unit)));
  }
  void target_type(const Bits& file, const Bits& type) {
    put(file, 3);
    put(type, code_of(d_.types.immediates, i_.jip.type));
  }
  void branch();
  void send();
  void send_split();

  const Instruction& i_;
  const Data& d_;
  const Layout& L;
  const OpcodeShape& shape_;
  std::array<std::uint64_t, 2> halves_{};
};

void Encoder::head() {
  put(L.channel_offset, i_.channel_offset / 4);
  put(L.thread_ctrl, static_cast<unsigned>(i_.thread_ctrl));
  put(L.exec_size, stride_code(i_.exec_size) - 1);
  put(L.debug_ctrl, i_.debug_ctrl);
  put(L.mask_ctrl, i_.no_mask);
  put(L.access_mode, i_.align16);
  const bool three = shape_.format == Format::Ternary;
  if (shape_.format != Format::DoubleImm) {
    put(three ? L.t_flag_subreg : L.flag_subreg, i_.flag_subreg);
    put(three ? L.t_flag_reg : L.flag_reg, i_.flag_reg);
  }
  if (shape_.has(cap::Pred)) predicate();
  if (is_send(shape_.format)) {
    put(L.no_src_dep_set, i_.send.no_src_dep_set);
  } else {
    put(L.dep_ctrl, unsigned{i_.no_dd_clr} | unsigned{i_.no_dd_chk} << 1);
    if (shape_.has(cap::BranchCtl)) put(L.branch_ctrl, i_.branch_ctrl);
    if (!is_branch(shape_.format)) put(L.acc_wr_ctrl, i_.acc_wr_en);
    if (shape_.has(cap::Sat)) put(L.saturate, i_.saturate);
  }
  if (shape_.has(cap::CMod)) put(L.cond_mod, static_cast<unsigned>(i_.cond_mod));
  body();
}

void Encoder::predicate() {
  auto code = static_cast<unsigned>(i_.pred_ctrl);
  if (i_.align16) {
    if (i_.pred_ctrl >= PredCtrl::X)
      code = 2 + static_cast<unsigned>(i_.pred_ctrl) - static_cast<unsigned>(PredCtrl::X);
    // Any4H and All4H have the same code in both modes.
  }
  put(L.pred_ctrl, code);
  put(L.pred_inv, i_.pred_inverse);
}

void Encoder::body() {
  switch (shape_.format) {
    case Format::Math:
      put(L.math_function, static_cast<unsigned>(i_.math));
      [[fallthrough]];
    case Format::Unary:
    case Format::Binary:
      destination();
      source0();
      if (i_.source_count == 2) source1(i_.src[1]);
      return;
    case Format::DoubleImm:
      destination();
      put(L.src0_file, 3);
      put(L.src0_type, code_of(d_.types.immediates, Type::f));
      return put(L.dim_imm, i_.src[0].immediate);
    case Format::Wait:
      return source0();
    case Format::Ternary:
      return ternary();
    case Format::Send:
      return send();
    case Format::SendSplit:
      return send_split();
    default:
      return branch();
  }
}

void Encoder::destination() {
  const Operand& dst = i_.dst;
  put(L.dst_file, file_code(dst));
  put_type(L.dst_type, dst.type);
  if (dst.kind == OperandKind::Indirect) {
    put(L.dst_addr_mode, 1);
    put(L.dst_addr_subreg, dst.address_subreg);
    if (i_.align16)
      put(L.dst_addr_imm16, offset_code(dst, 16));
    else
      put(L.dst_addr_imm, offset_code(dst, 1));
  } else {
    put(L.dst_reg, register_code(dst));
    if (i_.align16)
      put(L.dst_subreg16, dst.subreg / 16);
    else if (dst.macro)
      put(L.m1_dst_mme, dst.mme);
    else
      put(L.dst_subreg, dst.subreg);
  }
  if (i_.align16)
    put(L.dst_chan_en, dst.macro ? dst.mme : dst.channel_enable);
  else
    put(L.dst_hstride, stride_code(dst.region.hstride));
}

void Encoder::source(const Operand& op, const SourceBits& f) {
  put(f.file, file_code(op));
  if (op.is_immediate()) {
    put(f.type, code_of(d_.types.immediates, op.type));
    const unsigned bytes = size_of(op.type);
    // 16-bit immediates are encoded twice (IVB PRM volume 4 part 3, 3.3.4).
    if (bytes == 8)
      put(L.imm64, op.immediate);
    else
      put(L.imm32, bytes == 2 ? op.immediate << 16 | op.immediate : op.immediate);
    return;
  }
  put_type(f.type, op.type);
  put(f.mod, static_cast<unsigned>(op.modifier));
  put(f.vstride, vertical_code(op.region));
  if (!i_.align16) {
    put(f.width, stride_code(op.region.width) - 1);
    put(f.hstride, stride_code(op.region.hstride));
  }
  if (op.kind == OperandKind::Indirect) {
    put(f.addr_mode, 1);
    put(f.addr_subreg, op.address_subreg);
    if (i_.align16)
      put(f.addr_imm16, offset_code(op, 16));
    else
      put(f.addr_imm, offset_code(op, 1));
  } else {
    put(f.reg, register_code(op));
    if (i_.align16)
      put(f.subreg16, op.subreg / 16);
    else if (op.macro)
      put(f.mme, op.mme);
    else
      put(f.subreg, op.subreg);
  }
  if (i_.align16) put(f.chan_sel, op.macro ? (op.swizzle & 0xf0u) | op.mme : op.swizzle);
}

void Encoder::ternary() {
  put(L.t_dst_reg, i_.dst.file == RegisterFile::Arf ? register_code(i_.dst) : i_.dst.reg);
  const Bits mods[] = {L.t_src0_mod, L.t_src1_mod, L.t_src2_mod};
  const Bits registers[] = {L.t_src0_reg, L.t_src1_reg, L.t_src2_reg};
  for (unsigned n = 0; n < 3; ++n) {
    if (i_.src[n].is_immediate()) continue;
    put(mods[n], static_cast<unsigned>(i_.src[n].modifier));
    put(registers[n], register_code(i_.src[n]));
  }
  if (L.has(Part::Ternary1))
    ternary1();
  else
    ternary16();
}

void Encoder::ternary16() {
  put(L.t_dst_type, code_of(d_.types.ternary, i_.dst.type));
  put(L.t_dst_subreg, i_.dst.subreg / 4);
  put(L.t_dst_chan_en, i_.dst.macro ? i_.dst.mme : i_.dst.channel_enable);
  put(L.t_src_type, code_of(d_.types.ternary, i_.src[0].type));
  put(L.t_src1_type, i_.src[1].type == Type::hf);
  put(L.t_src2_type, i_.src[2].type == Type::hf);
  const Bits fields[3][4] = {{L.t_src0_subreg, L.t_src0_subreg_word, L.t_src0_rep, L.t_src0_chan_sel},
                             {L.t_src1_subreg, L.t_src1_subreg_word, L.t_src1_rep, L.t_src1_chan_sel},
                             {L.t_src2_subreg, L.t_src2_subreg_word, L.t_src2_rep, L.t_src2_chan_sel}};
  for (unsigned n = 0; n < 3; ++n) {
    const Operand& op = i_.src[n];
    const auto& [subreg, word, replicate, swizzle] = fields[n];
    put(subreg, op.subreg / 4);
    put(word, op.subreg / 2 % 2);
    put(replicate, op.replicate);
    put(swizzle, op.macro ? (op.swizzle & 0xf0u) | op.mme : op.swizzle);
  }
}

void Encoder::ternary1() {
  const bool floats = is_float(i_.dst.type);
  const TypeList& types = floats ? d_.types.ternary_float : d_.types.ternary;
  put(L.t1_exec_type, floats);
  put(L.t_dst_type, code_of(types, i_.dst.type));
  put(L.t1_dst_file, i_.dst.file == RegisterFile::Arf);
  put(L.t1_src1_file, i_.src[1].file == RegisterFile::Arf);
  const Bits type_fields[] = {L.t1_src0_type, L.t1_src1_type, L.t1_src2_type};
  for (unsigned n = 0; n < 3; ++n) put(type_fields[n], code_of(types, i_.src[n].type));
  if (i_.dst.macro) {
    put(L.t1_dst_mme, i_.dst.mme);
  } else {
    put(L.t1_dst_hstride, i_.dst.region.hstride == 2);
    put(L.t1_dst_subreg, i_.dst.subreg / 8);
  }
  const auto vertical = [](const Region& r) { return r.vstride == 0 ? 0 : stride_code(r.vstride) - 1; };
  const Bits fields[3][6] = {
      {L.t1_src0_file, L.t1_src0_imm, L.t1_src0_vstride, L.t1_src0_hstride, L.t1_src0_subreg, L.t1_src0_mme},
      {absent, absent, L.t1_src1_vstride, L.t1_src1_hstride, L.t1_src1_subreg, L.t1_src1_mme},
      {L.t1_src2_file, L.t1_src2_imm, absent, L.t1_src2_hstride, L.t1_src2_subreg, L.t1_src2_mme}};
  for (unsigned n = 0; n < 3; ++n) {
    const Operand& op = i_.src[n];
    const auto& [immediate, value, vstride, hstride, subreg, mme] = fields[n];
    if (op.is_immediate()) {
      put(immediate, 1);
      put(value, op.immediate);
      continue;
    }
    put(vstride, vertical(op.region));
    put(hstride, stride_code(op.region.hstride));
    if (op.macro)
      put(mme, op.mme);
    else
      put(subreg, op.subreg);
  }
}

void Encoder::branch() {
  const bool to_place = i_.jip.present;
  switch (shape_.format) {
    case Format::Branch2:
      target(L.uip, i_.uip, d_.branch_unit);
      [[fallthrough]];
    case Format::Branch1:
      return target(L.jip, i_.jip, d_.branch_unit);
    case Format::Jump:
      if (!to_place) return source1(i_.src[0]);
      target_type(L.src1_file, L.src1_type);
      return target(L.imm32, i_.jip, d_.jump_unit);
    case Format::Call:
      destination();
      if (!to_place) return source1(i_.src[0]);
      target_type(L.src1_file, L.src1_type);
      return target(L.call_offset, i_.jip, d_.jump_unit);
    case Format::Return:
      return source0();
    default:  // brd, brc
      if (!to_place) return source0();
      target_type(L.src0_file, L.src0_type);
      if (shape_.format == Format::BranchRegs) target(L.uip, i_.uip, d_.branch_unit);
      return target(L.jip, i_.jip, d_.branch_unit);
  }
}

void Encoder::send() {
  const SendInfo& s = i_.send;
  const Operand& payload = i_.src[0];
  destination();
  put(L.sfid, s.ex_desc.value & 15);
  put(L.eot, s.eot);
  put(L.ex_func_ctrl, s.ex_desc.value >> 16);
  put(L.desc_file, s.desc.is_register ? 0 : 3);
  if (!s.desc.is_register) put(L.desc, s.desc.value);
  put(L.src0_file, file_code(payload));
  put_type(L.src0_type, payload.type);
  if (payload.kind == OperandKind::Indirect) {
    put(L.src0_addr_mode, 1);
    put(L.src0_addr_subreg, payload.address_subreg);
    if (L.has(Part::SendSrc0Indirect))
      put(L.send_src0_addr_imm, offset_code(payload, 16));
    else
      put(i_.align16 ? L.src0_addr_imm16 : L.src0_addr_imm, offset_code(payload, i_.align16 ? 16 : 1));
    return;
  }
  put(L.src0_reg, register_code(payload));
  put(L.send_src0_subreg, payload.subreg / 16);
  if (!d_.send_has_region) return;
  put(L.src0_vstride, vertical_code(payload.region));
  if (i_.align16) return put(L.src0_chan_sel, payload.swizzle);
  put(L.src0_width, stride_code(payload.region.width) - 1);
  put(L.src0_hstride, stride_code(payload.region.hstride));
}

void Encoder::send_split() {
  const SendInfo& s = i_.send;
  put(L.eot, s.eot);
  put(L.s_desc_file, s.desc.is_register);
  if (!s.desc.is_register) put(L.desc, s.desc.value);
  put(L.s_ex_desc_file, s.ex_desc.is_register);
  if (s.ex_desc.is_register) {
    put(L.s_ex_desc_subreg, s.ex_desc.address_subreg);
  } else {
    put(L.sfid, s.ex_desc.value & 15);
    put(L.s_ex_desc_length, s.ex_desc.value >> 6 & 15);
    put(L.s_ex_func_ctrl, s.ex_desc.value >> 16);
  }
  put(L.s_dst_file, i_.dst.kind == OperandKind::Indirect || i_.dst.file == RegisterFile::Grf);
  put_type(L.s_dst_type, i_.dst.type);
  if (i_.dst.kind == OperandKind::Indirect) {
    put(L.s_dst_addr_mode, 1);
    put(L.s_dst_addr_subreg, i_.dst.address_subreg);
    put(L.s_dst_addr_imm, offset_code(i_.dst, 16));
  } else {
    put(L.s_dst_reg, register_code(i_.dst));
  }
  if (i_.src[0].kind == OperandKind::Indirect) {
    put(L.s_src0_addr_mode, 1);
    put(L.s_src0_addr_subreg, i_.src[0].address_subreg);
    put(L.s_src0_addr_imm, offset_code(i_.src[0], 16));
  } else {
    put(L.s_src0_reg, i_.src[0].reg);
  }
  put(L.s_src1_file, i_.src[1].file == RegisterFile::Grf);
  put(L.s_src1_reg, register_code(i_.src[1]));
}

}  // namespace

const Layout& layout_of(Family family) { return *data_of(family).fields; }

int distance_unit(Opcode opcode, Family family) {
  const Format format = shape(opcode, family).format;
  const bool jumps = format == Format::Jump || format == Format::Call;
  return jumps ? data_of(family).jump_unit : data_of(family).branch_unit;
}

std::array<std::byte, 16> encode(const Instruction& inst, Family family) {
  return Encoder(inst, family).run();
}

}  // namespace eum::gen::test
