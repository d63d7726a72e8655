// Operand decoding: types, register files, regions, modifiers, addressing, swizzles.
#include "frontend/gen/operand.hpp"

namespace eum::gen {
namespace {

constexpr auto arf_table = [] {
  std::array<ArfInfo, 16> out{};
#define GEN_ARF(name, code, count, numbered, subregs, scaled) \
  static_assert(code == static_cast<int>(Arf::name));         \
  out[code] = {#name, count, numbered, subregs, scaled};
#include "frontend/gen/registers.def"
#undef GEN_ARF
  return out;
}();

/// Encodings of data types on families 8 and 9; Type::none is undefined.
constexpr Type register_types[16] = {Type::ud,   Type::d,    Type::uw,   Type::w,   Type::ub, Type::b,
                                     Type::df,   Type::f,    Type::uq,   Type::q,   Type::hf, Type::none,
                                     Type::none, Type::none, Type::none, Type::none};
constexpr Type immediate_types[16] = {Type::ud,   Type::d,    Type::uw,   Type::w,   Type::uv, Type::vf,
                                      Type::v,    Type::f,    Type::uq,   Type::q,   Type::df, Type::hf,
                                      Type::none, Type::none, Type::none, Type::none};
constexpr Type ternary_types[8] = {Type::f,  Type::d,    Type::ud,   Type::df,
                                   Type::hf, Type::none, Type::none, Type::none};

constexpr unsigned file_arf = 0, file_grf = 1, file_immediate = 3;
constexpr std::uint8_t horizontal[4] = {0, 1, 2, 4};

}  // namespace

std::string to_string(const Bits& field) {
  std::string out;
  for (unsigned i = 0; i < field.count; ++i) {
    const auto [hi, lo] = field.ranges[i];
    out += fmt::format("{}{}", i ? "," : "", hi);
    if (hi != lo) out += fmt::format(":{}", lo);
  }
  return out;
}

const ArfInfo& arf_info(unsigned code) { return arf_table[code & 15]; }

template <const Layout& L>
template <Bits B>
bool OperandDecoder<L>::reg_type(Operand& out) {
  out.type = register_types[get<B>(w_)];
  return out.type != Type::none || fail("register data type", get<B>(w_), B);
}

template <const Layout& L>
template <Bits B>
bool OperandDecoder<L>::immediate_type(Operand& out) {
  out.type = immediate_types[get<B>(w_)];
  return out.type != Type::none || fail("immediate data type", get<B>(w_), B);
}

template <const Layout& L>
template <Bits B>
bool OperandDecoder<L>::ternary_type(Type& out) {
  out = ternary_types[get<B>(w_)];
  return out != Type::none || fail("three-source data type", get<B>(w_), B);
}

/// `out.file` is set; the number must exist.
template <const Layout& L>
template <Bits B>
bool OperandDecoder<L>::register_number(Operand& out) {
  const unsigned number = u8<B>();
  out.kind = OperandKind::Direct;
  if (out.file == RegisterFile::Grf) {
    if (number >= info(family_).grf_count) return fail("general register number", number, B);
    out.reg = static_cast<std::uint8_t>(number);
    return true;
  }
  if ((number & 15) >= arf_info(number >> 4).count) return fail("architecture register", number, B);
  out.arf = static_cast<Arf>(number >> 4);
  out.reg = number & 15;
  if (out.arf == Arf::null) out.kind = OperandKind::Null;
  return true;
}

template <const Layout& L>
template <Bits B>
bool OperandDecoder<L>::vertical_stride(Operand& out) {
  const unsigned code = u8<B>();
  if (code == 15)
    out.region.vstride = Region::vxh;
  else if (code <= 6)
    out.region.vstride = static_cast<std::uint8_t>(code == 0 ? 0 : 1u << (code - 1));
  else
    return fail("vertical stride", code, B);
  return true;
}

template <const Layout& L>
template <Bits B>
bool OperandDecoder<L>::width(Operand& out) {
  const unsigned code = u8<B>();
  if (code > 4) return fail("region width", code, B);
  out.region.width = static_cast<std::uint8_t>(1u << code);
  return true;
}

template <const Layout& L>
template <Bits B>
bool OperandDecoder<L>::destination_mme(Operand& out) {
  out.macro = true;
  out.mme = u8<B>();
  return out.mme <= no_mme || fail("math macro register of the destination", out.mme, B);
}

template <const Layout& L>
template <Bits B>
bool OperandDecoder<L>::source_mme(Operand& out) {
  out.macro = true;
  out.mme = u8<B>() & 15;
  return out.mme <= no_mme || fail("math macro register of a source", out.mme, B);
}

template <const Layout& L>
bool OperandDecoder<L>::destination(Operand& out, bool align16, bool macro) {
  const unsigned file = u8<L.dst_file>();
  if (file != file_arf && file != file_grf) return fail("destination register file", file, L.dst_file);
  if (!reg_type<L.dst_type>(out)) return false;
  out.file = file == file_grf ? RegisterFile::Grf : RegisterFile::Arf;
  const bool indirect = u8<L.dst_addr_mode>() != 0;
  if (macro && (!align16 || indirect)) return fail("access mode of a math macro", align16, L.access_mode);
  if (indirect) {
    if (file != file_grf) return fail("register file of an indirect operand", file, L.dst_file);
    out.kind = OperandKind::Indirect;
    if (align16) {
      out.address_subreg = u8<L.dst_addr_subreg16>();
      out.address_offset = static_cast<std::int16_t>(16 * sign_extend(get<L.dst_addr_imm16>(w_), 6));
      out.channel_enable = u8<L.dst_chan_en_ind>();
      out.region.hstride = 1;
    } else {
      out.address_subreg = u8<L.dst_addr_subreg>();
      out.address_offset = static_cast<std::int16_t>(sign_extend(get<L.dst_addr_imm>(w_), 10));
      out.region.hstride = horizontal[u8<L.dst_hstride>()];
    }
    return true;
  }
  if (!register_number<L.dst_reg>(out)) return false;
  if (align16) {
    out.subreg = static_cast<std::uint8_t>(16 * u8<L.dst_subreg16>());
    out.channel_enable = u8<L.dst_chan_en>();
    out.region.hstride = 1;
    return !macro || destination_mme<L.dst_chan_en>(out);
  }
  out.subreg = u8<L.dst_subreg>();
  out.region.hstride = horizontal[u8<L.dst_hstride>()];
  return true;
}

template <const Layout& L>
template <SourceFields F>
bool OperandDecoder<L>::source(Operand& out, bool align16, bool macro) {
  const unsigned file = u8<F.file>();
  if (file == file_immediate) {
    if (!immediate_type<F.type>(out)) return false;
    out.kind = OperandKind::Immediate;
    const unsigned bytes = size_of(out.type);
    if (bytes == 8 && F.second) return fail("64-bit immediate type of source 1", u8<F.type>(), F.type);
    out.immediate = bytes == 8 ? get<L.imm64>(w_) : get<L.imm32>(w_) & low_mask(8 * bytes);
    return true;
  }
  // Source 1 is a general register or an immediate (GED, and the manual of each instruction).
  if (file != file_grf && (file != file_arf || F.second)) return fail("source register file", file, F.file);
  if (!reg_type<F.type>(out)) return false;
  out.file = file == file_grf ? RegisterFile::Grf : RegisterFile::Arf;
  out.modifier = static_cast<SourceModifier>(u8<F.mod>());
  if (!vertical_stride<F.vstride>(out)) return false;
  const bool indirect = u8<F.addr_mode>() != 0;
  if (macro && (!align16 || indirect)) return fail("access mode of a math macro", align16, L.access_mode);
  if (align16) {
    out.swizzle = u8<F.chan_sel>();
  } else {
    if (!width<F.width>(out)) return false;
    out.region.hstride = horizontal[u8<F.hstride>()];
  }
  if (indirect) {
    if (file != file_grf) return fail("register file of an indirect operand", file, F.file);
    out.kind = OperandKind::Indirect;
    out.address_subreg = u8<F.addr_subreg>();
    out.address_offset = static_cast<std::int16_t>(align16 ? 16 * sign_extend(get<F.addr_imm16>(w_), 6)
                                                           : sign_extend(get<F.addr_imm>(w_), 10));
    return true;
  }
  if (!register_number<F.reg>(out)) return false;
  out.subreg = static_cast<std::uint8_t>(align16 ? 16 * u8<F.subreg16>() : u8<F.subreg>());
  return !macro || source_mme<F.chan_sel>(out);
}

template <const Layout& L>
bool OperandDecoder<L>::source0(Operand& out, bool align16, bool macro) {
  constexpr SourceFields fields{
      L.src0_file,     L.src0_type,     L.src0_mod,      L.src0_addr_mode,  L.src0_vstride,
      L.src0_reg,      L.src0_width,    L.src0_hstride,  L.src0_subreg,     L.src0_addr_subreg,
      L.src0_addr_imm, L.src0_chan_sel, L.src0_subreg16, L.src0_addr_imm16, false};
  return source<fields>(out, align16, macro);
}

template <const Layout& L>
bool OperandDecoder<L>::source1(Operand& out, bool align16, bool macro) {
  constexpr SourceFields fields{
      L.src1_file,     L.src1_type,     L.src1_mod,      L.src1_addr_mode,  L.src1_vstride,
      L.src1_reg,      L.src1_width,    L.src1_hstride,  L.src1_subreg,     L.src1_addr_subreg,
      L.src1_addr_imm, L.src1_chan_sel, L.src1_subreg16, L.src1_addr_imm16, true};
  return source<fields>(out, align16, macro);
}

template <const Layout& L>
bool OperandDecoder<L>::send_source0(Operand& out, bool align16) {
  const unsigned file = u8<L.src0_file>();
  // From family 9 on a payload is in general registers only.
  constexpr bool arf_too = L.ex_func_ctrl.count == 0;
  if (file != file_grf && (file != file_arf || !arf_too))
    return fail("register file of a message payload", file, L.src0_file);
  if (!reg_type<L.src0_type>(out)) return false;
  out.file = file == file_grf ? RegisterFile::Grf : RegisterFile::Arf;
  out.region = {0, 1, 0};
  if (u8<L.src0_addr_mode>() != 0) {
    if (file != file_grf) return fail("register file of an indirect operand", file, L.src0_file);
    out.kind = OperandKind::Indirect;
    out.address_subreg = u8<L.src0_addr_subreg>();
    // The extended descriptor takes bits 67:64, so the offset counts 16 bytes there.
    const bool coarse = align16 || L.ex_func_ctrl.count != 0;
    out.address_offset = static_cast<std::int16_t>(coarse ? 16 * sign_extend(get<L.src0_addr_imm16>(w_), 6)
                                                          : sign_extend(get<L.src0_addr_imm>(w_), 10));
    return true;
  }
  if (!register_number<L.src0_reg>(out)) return false;
  if constexpr (L.ex_func_ctrl.count == 0) {
    if (!vertical_stride<L.src0_vstride>(out)) return false;
    if (!align16) {
      if (!width<L.src0_width>(out)) return false;
      out.region.hstride = horizontal[u8<L.src0_hstride>()];
    }
  }
  out.subreg = static_cast<std::uint8_t>(16 * u8<L.src0_subreg16>());
  return true;
}

template <const Layout& L>
template <Bits Reg, Bits Subreg, Bits Mod, Bits Rep, Bits ChanSel>
bool OperandDecoder<L>::ternary_source(Operand& out, bool macro) {
  out.file = RegisterFile::Grf;
  if (!register_number<Reg>(out)) return false;
  // Three bits count dwords; family 9 has a fourth, low one, that counts words.
  constexpr unsigned unit = Subreg.width() == 4 ? 2 : 4;
  out.subreg = static_cast<std::uint8_t>(unit * u8<Subreg>());
  out.modifier = static_cast<SourceModifier>(u8<Mod>());
  out.replicate = u8<Rep>() != 0;
  out.swizzle = u8<ChanSel>();
  out.region = out.replicate ? Region{0, 1, 0} : Region{4, 4, 1};
  if (macro && out.replicate) return fail("replicate control of a math macro", 1, Rep);
  return !macro || source_mme<ChanSel>(out);
}

template <const Layout& L>
bool OperandDecoder<L>::ternary(Instruction& out, bool macro) {
  Operand& dst = out.dst;
  dst.file = RegisterFile::Grf;
  if (!ternary_type<L.t_dst_type>(dst.type) || !register_number<L.t_dst_reg>(dst)) return false;
  dst.subreg = static_cast<std::uint8_t>(4 * u8<L.t_dst_subreg>());
  dst.channel_enable = u8<L.t_dst_chan_en>();
  dst.region.hstride = 1;
  if (macro && !destination_mme<L.t_dst_chan_en>(dst)) return false;

  auto& [s0, s1, s2] = out.src;
  if (!ternary_type<L.t_src_type>(s0.type)) return false;
  s1.type = s2.type = s0.type;
  if constexpr (L.t_src1_type.count != 0) {
    // Mixed mode: sources 1 and 2 choose between f and hf on their own.
    if (s0.type == Type::f || s0.type == Type::hf) {
      s1.type = u8<L.t_src1_type>() ? Type::hf : Type::f;
      s2.type = u8<L.t_src2_type>() ? Type::hf : Type::f;
    }
  }
  return ternary_source<L.t_src0_reg, L.t_src0_subreg, L.t_src0_mod, L.t_src0_rep, L.t_src0_chan_sel>(
             s0, macro) &&
         ternary_source<L.t_src1_reg, L.t_src1_subreg, L.t_src1_mod, L.t_src1_rep, L.t_src1_chan_sel>(
             s1, macro) &&
         ternary_source<L.t_src2_reg, L.t_src2_subreg, L.t_src2_mod, L.t_src2_rep, L.t_src2_chan_sel>(s2,
                                                                                                      macro);
}

template <const Layout& L>
bool OperandDecoder<L>::split_send(Instruction& out) {
  if constexpr (L.s_dst_reg.count != 0) {
    Operand& dst = out.dst;
    auto& [s0, s1, s2] = out.src;
    dst.file = u8<L.s_dst_file>() ? RegisterFile::Grf : RegisterFile::Arf;
    dst.region.hstride = 1;
    if (!reg_type<L.s_dst_type>(dst)) return false;
    if (u8<L.s_dst_addr_mode>()) {
      if (dst.file != RegisterFile::Grf) return fail("register file of an indirect operand", 0, L.s_dst_file);
      dst.kind = OperandKind::Indirect;
      dst.address_subreg = u8<L.s_dst_addr_subreg>();
      dst.address_offset = static_cast<std::int16_t>(16 * sign_extend(get<L.s_dst_addr_imm>(w_), 6));
    } else if (!register_number<L.s_dst_reg>(dst)) {
      return false;
    }
    s0.file = RegisterFile::Grf;
    s0.type = Type::ud;
    if (u8<L.s_src0_addr_mode>()) {
      s0.kind = OperandKind::Indirect;
      s0.address_subreg = u8<L.s_src0_addr_subreg>();
      s0.address_offset = static_cast<std::int16_t>(16 * sign_extend(get<L.s_src0_addr_imm>(w_), 6));
    } else if (!register_number<L.s_src0_reg>(s0)) {
      return false;
    }
    s1.file = u8<L.s_src1_file>() ? RegisterFile::Grf : RegisterFile::Arf;
    return register_number<L.s_src1_reg>(s1);
  }
  return true;
}

template class OperandDecoder<gen8_layout>;
template class OperandDecoder<gen9_layout>;

}  // namespace eum::gen
