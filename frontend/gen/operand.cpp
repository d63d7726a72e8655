// Operand decoding: types, register files, regions, modifiers, addressing, swizzles.
#include "frontend/gen/operand.hpp"

namespace eum::gen {
namespace {

using ArfTable = std::array<ArfInfo, 16>;
constexpr auto arf_tables = [] {
  using namespace family_range;
  using enum Family;
  std::array<ArfTable, family_count> out{};
  for (std::size_t i = 0; i < family_count; ++i) {
    const FamilyInfo& family = family_table[i];
    const auto add = [&](Arf arf, unsigned code, FamilyRange families, const ArfInfo& row) {
      if (static_cast<unsigned>(arf) != code) throw "an architecture register has two codes";
      if (!families.contains(static_cast<Family>(i))) return;
      if (out[i][code].count != 0) throw "two rows for one architecture register of a family";
      out[i][code] = row;
    };
#define GEN_ARF(name, code, families, count, numbered, subregs, scaled) \
  add(Arf::name, code, families, {#name, count, numbered, subregs, scaled});
#include "frontend/gen/registers.def"
#undef GEN_ARF
  }
  return out;
}();

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

const ArfInfo& arf_info(Family family, unsigned code) {
  return arf_tables[static_cast<std::size_t>(family)][code & 15];
}

template <Encoding E>
template <Bits B>
bool OperandDecoder<E>::type(Type& out, const TypeList& types, const char* what) {
  out = types[get<B>(w_)];
  return out != Type::none || fail(what, get<B>(w_), B);
}

/// Decodes the register number; `out.file` is already set. The register must exist.
template <Encoding E>
template <Bits B>
bool OperandDecoder<E>::register_number(Operand& out) {
  const unsigned number = u8<B>(w_);
  out.kind = OperandKind::Direct;
  if (out.file == RegisterFile::Grf) {
    if (number >= info(family_).grf_count) return fail("general register number", number, B);
    out.reg = static_cast<std::uint8_t>(number);
    return true;
  }
  if ((number & 15) >= arf_info(family_, number >> 4).count) return fail("architecture register", number, B);
  out.arf = static_cast<Arf>(number >> 4);
  out.reg = number & 15;
  if (out.arf == Arf::null) out.kind = OperandKind::Null;
  return true;
}

template <Encoding E>
template <Bits B>
bool OperandDecoder<E>::vertical_stride(Operand& out) {
  const unsigned code = u8<B>(w_);
  if (code == 15)
    out.region.vstride = Region::vxh;
  else if (code <= 6)
    out.region.vstride = static_cast<std::uint8_t>(code == 0 ? 0 : 1u << (code - 1));
  else
    return fail("vertical stride", code, B);
  return true;
}

template <Encoding E>
template <Bits B>
bool OperandDecoder<E>::width(Operand& out) {
  const unsigned code = u8<B>(w_);
  if (code > 4) return fail("region width", code, B);
  out.region.width = static_cast<std::uint8_t>(1u << code);
  return true;
}

template <Encoding E>
template <Bits B>
bool OperandDecoder<E>::macro_register(Operand& out, unsigned number) {
  out.macro = true;
  out.mme = static_cast<std::uint8_t>(number);
  return number <= no_mme || fail("math macro register", number, B);
}

template <Encoding E>
bool OperandDecoder<E>::destination(Operand& out, bool align16, bool macro) {
  const unsigned file = u8<L.dst_file>(w_);
  if (file != file_arf && file != file_grf) return fail("destination register file", file, L.dst_file);
  if (!type<L.dst_type>(out.type, Data::types.registers, "register data type")) return false;
  out.file = file == file_grf ? RegisterFile::Grf : RegisterFile::Arf;
  const bool indirect = flag<L.dst_addr_mode>(w_);
  if (macro && indirect) return fail("addressing of a math macro", 1, L.dst_addr_mode);
  if constexpr (!macros_in_align1)
    if (macro && !align16) return fail("access mode of a math macro", 0, L.access_mode);
  if (indirect) {
    if (file != file_grf) return fail("register file of an indirect operand", file, L.dst_file);
    out.kind = OperandKind::Indirect;
    out.address_subreg = u8<L.dst_addr_subreg>(w_);
    if constexpr (has_align16)
      if (align16) {
        out.address_offset = static_cast<std::int16_t>(16 * signed_value<L.dst_addr_imm16>(w_));
        out.channel_enable = u8<L.dst_chan_en>(w_);
        out.region.hstride = 1;
        return true;
      }
    out.address_offset = static_cast<std::int16_t>(signed_value<L.dst_addr_imm>(w_));
    out.region.hstride = horizontal[u8<L.dst_hstride>(w_)];
    return true;
  }
  if (!register_number<L.dst_reg>(out)) return false;
  if constexpr (has_align16)
    if (align16) {
      out.subreg = static_cast<std::uint8_t>(16 * u8<L.dst_subreg16>(w_));
      out.channel_enable = u8<L.dst_chan_en>(w_);
      out.region.hstride = 1;
      return !macro || macro_register<L.dst_chan_en>(out, out.channel_enable);
    }
  out.region.hstride = horizontal[u8<L.dst_hstride>(w_)];
  if constexpr (macros_in_align1)
    if (macro) return macro_register<L.m1_dst_mme>(out, u8<L.m1_dst_mme>(w_));
  out.subreg = u8<L.dst_subreg>(w_);
  return true;
}

template <Encoding E>
template <SourceFields F>
bool OperandDecoder<E>::source(Operand& out, bool align16, bool macro, Files files) {
  const unsigned file = u8<F.file>(w_);
  if (file == file_immediate) {
    if (!type<F.type>(out.type, Data::types.immediates, "immediate data type")) return false;
    out.kind = OperandKind::Immediate;
    const unsigned bytes = size_of(out.type);
    if (bytes == 8 && F.second) return fail("64-bit immediate type of source 1", u8<F.type>(w_), F.type);
    out.immediate = get<L.imm32>(w_) & low_mask(8 * bytes);
    if constexpr (L.has(Part::Imm64))
      if (bytes == 8) out.immediate = get<L.imm64>(w_);
    return true;
  }
  if ((file != file_grf || files == Files::Arf) && (file != file_arf || files == Files::Grf))
    return fail("source register file", file, F.file);
  if (!type<F.type>(out.type, Data::types.registers, "register data type")) return false;
  out.file = file == file_grf ? RegisterFile::Grf : RegisterFile::Arf;
  out.modifier = static_cast<SourceModifier>(u8<F.mod>(w_));
  if (!vertical_stride<F.vstride>(out)) return false;
  const bool indirect = flag<F.addr_mode>(w_);
  if (macro && indirect) return fail("addressing of a math macro", 1, F.addr_mode);
  if constexpr (!macros_in_align1)
    if (macro && !align16) return fail("access mode of a math macro", 0, L.access_mode);
  if (!align16) {
    if (!width<F.width>(out)) return false;
    out.region.hstride = horizontal[u8<F.hstride>(w_)];
  }
  if (indirect) {
    if (file != file_grf) return fail("register file of an indirect operand", file, F.file);
    out.kind = OperandKind::Indirect;
    out.address_subreg = u8<F.addr_subreg>(w_);
    out.address_offset = static_cast<std::int16_t>(signed_value<F.addr_imm>(w_));
    if constexpr (has_align16)
      if (align16) {
        out.swizzle = u8<F.chan_sel>(w_);
        out.address_offset = static_cast<std::int16_t>(16 * signed_value<F.addr_imm16>(w_));
      }
    return true;
  }
  if (!register_number<F.reg>(out)) return false;
  if constexpr (has_align16)
    if (align16) {
      out.swizzle = u8<F.chan_sel>(w_);
      out.subreg = static_cast<std::uint8_t>(16 * u8<F.subreg16>(w_));
      return !macro || macro_register<F.chan_sel>(out, out.swizzle & 15);
    }
  if constexpr (macros_in_align1)
    if (macro) return macro_register<F.mme>(out, u8<F.mme>(w_));
  out.subreg = u8<F.subreg>(w_);
  return true;
}

template <Encoding E>
bool OperandDecoder<E>::source0(Operand& out, bool align16, bool macro) {
  constexpr SourceFields fields{L.src0_file,     L.src0_type,        L.src0_mod,      L.src0_addr_mode,
                                L.src0_vstride,  L.src0_reg,         L.src0_width,    L.src0_hstride,
                                L.src0_subreg,   L.src0_addr_subreg, L.src0_addr_imm, L.src0_chan_sel,
                                L.src0_subreg16, L.src0_addr_imm16,  L.m1_src0_mme,   false};
  return source<fields>(out, align16, macro, Files::Any);
}

template <Encoding E>
bool OperandDecoder<E>::double_immediate(Operand& out) {
  if constexpr (L.has(Part::DimImm)) {
    if (get<L.src0_file>(w_) != file_immediate)
      return fail("source register file", get<L.src0_file>(w_), L.src0_file);
    // The encoded type is f, but the immediate is a df.
    if (!type<L.src0_type>(out.type, Data::types.immediates, "immediate data type")) return false;
    if (out.type != Type::f) return fail("immediate data type", get<L.src0_type>(w_), L.src0_type);
    out.kind = OperandKind::Immediate;
    out.type = Type::df;
    out.immediate = get<L.dim_imm>(w_);
    return true;
  } else {
    return fail("opcode", get<L.opcode>(w_), L.opcode);
  }
}

template <Encoding E>
bool OperandDecoder<E>::source1(Operand& out, bool align16, bool macro, Files files) {
  constexpr SourceFields fields{L.src1_file,     L.src1_type,        L.src1_mod,      L.src1_addr_mode,
                                L.src1_vstride,  L.src1_reg,         L.src1_width,    L.src1_hstride,
                                L.src1_subreg,   L.src1_addr_subreg, L.src1_addr_imm, L.src1_chan_sel,
                                L.src1_subreg16, L.src1_addr_imm16,  L.m1_src1_mme,   true};
  return source<fields>(out, align16, macro, files);
}

template <Encoding E>
bool OperandDecoder<E>::send_source0(Operand& out, bool align16) {
  const unsigned file = u8<L.src0_file>(w_);
  if (file != file_grf && (file != file_arf || !Data::send_takes_arf))
    return fail("register file of a message payload", file, L.src0_file);
  if (!type<L.src0_type>(out.type, Data::types.registers, "register data type")) return false;
  out.file = file == file_grf ? RegisterFile::Grf : RegisterFile::Arf;
  out.region = {0, 1, 0};
  if (flag<L.src0_addr_mode>(w_)) {
    if (file != file_grf) return fail("register file of an indirect operand", file, L.src0_file);
    out.kind = OperandKind::Indirect;
    out.address_subreg = u8<L.src0_addr_subreg>(w_);
    if constexpr (L.has(Part::SendSrc0Indirect))
      out.address_offset = static_cast<std::int16_t>(16 * signed_value<L.send_src0_addr_imm>(w_));
    else
      out.address_offset = static_cast<std::int16_t>(align16 ? 16 * signed_value<L.src0_addr_imm16>(w_)
                                                             : signed_value<L.src0_addr_imm>(w_));
    return true;
  }
  if (!register_number<L.src0_reg>(out)) return false;
  if constexpr (Data::send_has_region) {
    if (!vertical_stride<L.src0_vstride>(out)) return false;
    if (align16) {
      out.swizzle = u8<L.src0_chan_sel>(w_);
    } else {
      if (!width<L.src0_width>(out)) return false;
      out.region.hstride = horizontal[u8<L.src0_hstride>(w_)];
    }
  }
  out.subreg = static_cast<std::uint8_t>(16 * u8<L.send_src0_subreg>(w_));
  return true;
}

template <Encoding E>
bool OperandDecoder<E>::ternary(Instruction& out, bool macro) {
  if constexpr (L.has(Part::Ternary1))
    return ternary1(out, macro);
  else
    return ternary16(out, macro);
}

template <Encoding E>
template <Bits Reg, Bits Subreg, Bits SubregWord, Bits Mod, Bits Rep, Bits ChanSel>
bool OperandDecoder<E>::ternary16_source(Operand& out, bool macro) {
  out.file = RegisterFile::Grf;
  if (!register_number<Reg>(out)) return false;
  unsigned subreg = 4u * u8<Subreg>(w_);
  if constexpr (SubregWord.present()) subreg += 2u * u8<SubregWord>(w_);
  out.subreg = static_cast<std::uint8_t>(subreg);
  out.modifier = static_cast<SourceModifier>(u8<Mod>(w_));
  out.replicate = flag<Rep>(w_);
  out.swizzle = u8<ChanSel>(w_);
  out.region = out.replicate ? Region{0, 1, 0} : Region{4, 4, 1};
  if (macro && out.replicate) return fail("replicate control of a math macro", 1, Rep);
  return !macro || macro_register<ChanSel>(out, out.swizzle & 15);
}

template <Encoding E>
bool OperandDecoder<E>::ternary16(Instruction& out, bool macro) {
  if constexpr (L.has(Part::Ternary16)) {
    if (!out.align16) return fail("Align1 access mode of a three-source instruction", 0, L.access_mode);
    constexpr const char* what = "three-source data type";
    Operand& dst = out.dst;
    dst.file = RegisterFile::Grf;
    if (!type<L.t_dst_type>(dst.type, Data::types.ternary, what) || !register_number<L.t_dst_reg>(dst))
      return false;
    dst.subreg = static_cast<std::uint8_t>(4 * u8<L.t_dst_subreg>(w_));
    dst.channel_enable = u8<L.t_dst_chan_en>(w_);
    dst.region.hstride = 1;
    if (macro && !macro_register<L.t_dst_chan_en>(dst, dst.channel_enable)) return false;

    auto& [s0, s1, s2] = out.src;
    if (!type<L.t_src_type>(s0.type, Data::types.ternary, what)) return false;
    s1.type = s2.type = s0.type;
    if constexpr (L.has(Part::TernaryMixed)) {
      if (s0.type == Type::f || s0.type == Type::hf) {
        s1.type = flag<L.t_src1_type>(w_) ? Type::hf : Type::f;
        s2.type = flag<L.t_src2_type>(w_) ? Type::hf : Type::f;
      }
    }
    return ternary16_source<L.t_src0_reg, L.t_src0_subreg, L.t_src0_subreg_word, L.t_src0_mod, L.t_src0_rep,
                            L.t_src0_chan_sel>(s0, macro) &&
           ternary16_source<L.t_src1_reg, L.t_src1_subreg, L.t_src1_subreg_word, L.t_src1_mod, L.t_src1_rep,
                            L.t_src1_chan_sel>(s1, macro) &&
           ternary16_source<L.t_src2_reg, L.t_src2_subreg, L.t_src2_subreg_word, L.t_src2_mod, L.t_src2_rep,
                            L.t_src2_chan_sel>(s2, macro);
  } else {
    return fail("opcode", get<L.opcode>(w_), L.opcode);
  }
}

template <Encoding E>
template <Bits B>
bool OperandDecoder<E>::ternary1_type(Type& out) {
  return type<B>(out, flag<L.t1_exec_type>(w_) ? Data::types.ternary_float : Data::types.ternary,
                 "three-source data type");
}

/// An immediate has 16 bits, which are sign-extended for d.
template <Encoding E>
template <Bits TypeBits, Bits Imm>
bool OperandDecoder<E>::ternary1_immediate(Operand& out) {
  if (!ternary1_type<TypeBits>(out.type)) return false;
  if (out.type != Type::hf && (is_float(out.type) || size_of(out.type) < 2))
    return fail("data type of a 16-bit immediate", get<TypeBits>(w_), TypeBits);
  out.kind = OperandKind::Immediate;
  out.immediate = out.type == Type::d ? static_cast<std::uint32_t>(signed_value<Imm>(w_)) : get<Imm>(w_);
  return true;
}

template <Encoding E>
template <Bits Reg, Bits Subreg, Bits Mod, Bits TypeBits, Bits Vert, Bits Horizontal, Bits Macro>
bool OperandDecoder<E>::ternary1_source(Operand& out, bool macro) {
  if (!ternary1_type<TypeBits>(out.type) || !register_number<Reg>(out)) return false;
  out.modifier = static_cast<SourceModifier>(u8<Mod>(w_));
  out.region.hstride = horizontal[u8<Horizontal>(w_)];
  if constexpr (Vert.present()) {
    constexpr std::uint8_t vertical[4] = {0, 2, 4, 8};
    out.region.vstride = vertical[u8<Vert>(w_)];
  } else {
    out.region.vstride = out.region.hstride;  // for rows of one element
  }
  const bool rows = Vert.present() && out.region.hstride != 0 && out.region.vstride > out.region.hstride;
  out.region.width = static_cast<std::uint8_t>(rows ? out.region.vstride / out.region.hstride : 1);
  if (macro) return macro_register<Macro>(out, u8<Macro>(w_));
  out.subreg = u8<Subreg>(w_);
  return true;
}

template <Encoding E>
bool OperandDecoder<E>::ternary1(Instruction& out, bool macro) {
  if constexpr (L.has(Part::Ternary1)) {
    Operand& dst = out.dst;
    dst.file = flag<L.t1_dst_file>(w_) ? RegisterFile::Arf : RegisterFile::Grf;
    if (!ternary1_type<L.t_dst_type>(dst.type) || !register_number<L.t_dst_reg>(dst)) return false;
    if (macro) {
      dst.region.hstride = 1;
      if (!macro_register<L.t1_dst_mme>(dst, u8<L.t1_dst_mme>(w_))) return false;
    } else {
      dst.region.hstride = static_cast<std::uint8_t>(1u << u8<L.t1_dst_hstride>(w_));
      dst.subreg = static_cast<std::uint8_t>(8 * u8<L.t1_dst_subreg>(w_));
    }

    auto& [s0, s1, s2] = out.src;
    s0.file = s2.file = RegisterFile::Grf;
    s1.file = flag<L.t1_src1_file>(w_) ? RegisterFile::Arf : RegisterFile::Grf;
    return (flag<L.t1_src0_file>(w_)
                ? ternary1_immediate<L.t1_src0_type, L.t1_src0_imm>(s0)
                : ternary1_source<L.t_src0_reg, L.t1_src0_subreg, L.t_src0_mod, L.t1_src0_type,
                                  L.t1_src0_vstride, L.t1_src0_hstride, L.t1_src0_mme>(s0, macro)) &&
           ternary1_source<L.t_src1_reg, L.t1_src1_subreg, L.t_src1_mod, L.t1_src1_type, L.t1_src1_vstride,
                           L.t1_src1_hstride, L.t1_src1_mme>(s1, macro) &&
           (flag<L.t1_src2_file>(w_)
                ? ternary1_immediate<L.t1_src2_type, L.t1_src2_imm>(s2)
                : ternary1_source<L.t_src2_reg, L.t1_src2_subreg, L.t_src2_mod, L.t1_src2_type, absent,
                                  L.t1_src2_hstride, L.t1_src2_mme>(s2, macro));
  } else {
    return fail("opcode", get<L.opcode>(w_), L.opcode);
  }
}

template <Encoding E>
bool OperandDecoder<E>::split_send(Instruction& out) {
  if constexpr (!L.has(Part::SendSplit)) {
    return fail("opcode", get<L.opcode>(w_), L.opcode);
  } else {
    Operand& dst = out.dst;
    auto& [s0, s1, s2] = out.src;
    dst.file = flag<L.s_dst_file>(w_) ? RegisterFile::Grf : RegisterFile::Arf;
    dst.region.hstride = 1;
    if (!type<L.s_dst_type>(dst.type, Data::types.registers, "register data type")) return false;
    if (flag<L.s_dst_addr_mode>(w_)) {
      if (dst.file != RegisterFile::Grf) return fail("register file of an indirect operand", 0, L.s_dst_file);
      dst.kind = OperandKind::Indirect;
      dst.address_subreg = u8<L.s_dst_addr_subreg>(w_);
      dst.address_offset = static_cast<std::int16_t>(16 * signed_value<L.s_dst_addr_imm>(w_));
    } else if (!register_number<L.s_dst_reg>(dst)) {
      return false;
    }
    s0.file = RegisterFile::Grf;
    s0.type = Type::ud;
    if (flag<L.s_src0_addr_mode>(w_)) {
      s0.kind = OperandKind::Indirect;
      s0.address_subreg = u8<L.s_src0_addr_subreg>(w_);
      s0.address_offset = static_cast<std::int16_t>(16 * signed_value<L.s_src0_addr_imm>(w_));
    } else if (!register_number<L.s_src0_reg>(s0)) {
      return false;
    }
    s1.file = flag<L.s_src1_file>(w_) ? RegisterFile::Grf : RegisterFile::Arf;
    return register_number<L.s_src1_reg>(s1);
  }
}

#define GEN_ENCODING(name) template class OperandDecoder<Encoding::name>;
#include "frontend/gen/encodings.def"
#undef GEN_ENCODING

}  // namespace eum::gen
