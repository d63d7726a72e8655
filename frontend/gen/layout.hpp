#pragma once
// Where the fields of an instruction word are: a Layout per encoding, with the fields of fields.def. Also the
// checks that a Layout must pass. It must not know what values of fields mean.
#include <array>
#include <cstdint>
#include <initializer_list>

#include "frontend/gen/word.hpp"

namespace eum::gen {

/// Parts of an instruction; fields.def names them.
enum class Part : std::uint8_t {
  Head,
  AccessMode,
  Flag,
  DepCtrl,
  CondMod,
  MathFc,
  AccWr,
  BranchCtl,
  NoSrcDep,
  Saturate,
  Dst,
  DstDirect,
  DstIndirect,
  Dst1,
  DstDirect1,
  DstIndirect1,
  Dst16,
  DstDirect16,
  DstIndirect16,
  Src0Type,
  Src0,
  Src0Direct,
  Src0Indirect,
  Src0In1,
  Src0Direct1,
  Src0Indirect1,
  Src0In16,
  Src0Direct16,
  Src0Indirect16,
  Src1Type,
  Src1,
  Src1Direct,
  Src1Indirect,
  Src1In1,
  Src1Direct1,
  Src1Indirect1,
  Src1In16,
  Src1Direct16,
  Src1Indirect16,
  Imm32,
  Imm64,
  DimImm,
  TernaryFlag,
  Ternary,
  TernarySrc0,
  TernarySrc2,
  Ternary16,
  TernaryMixed,
  Ternary1,
  Ternary1Src0,
  Ternary1Src2,
  Ternary1Subreg,
  Ternary1Subreg0,
  Ternary1Subreg2,
  Ternary1Imm0,
  Ternary1Imm2,
  Ternary1Macro,
  MathMacro1,
  SendCommon,
  Send,
  SendSrc0,
  ExFuncCtrl,
  SendSrc0Indirect,
  SendSplit,
  SplitDirect,
  SplitIndirect,
  SplitImm,
  SplitReg,
  Jip,
  Uip,
  CallOffset,
};

/// A set of parts, one bit each.
struct PartSet {
  std::array<std::uint64_t, 2> bits{};

  constexpr bool operator==(const PartSet&) const = default;
  constexpr PartSet operator|(const PartSet& other) const {
    return {{bits[0] | other.bits[0], bits[1] | other.bits[1]}};
  }
  constexpr bool has(Part part) const {
    const auto n = static_cast<unsigned>(part);
    return bits[n / 64] >> (n % 64) & 1;
  }
  constexpr bool has_all(const PartSet& other) const { return (*this | other) == *this; }
};
constexpr PartSet one_part(Part part) {
  const auto n = static_cast<unsigned>(part);
  PartSet out;
  out.bits[n / 64] = std::uint64_t{1} << (n % 64);
  return out;
}
template <class... P>
constexpr PartSet parts(P... part) {
  return (PartSet{} | ... | one_part(part));
}

enum class Field : std::uint8_t {
#define GEN_FIELD(part, name) name,
#include "frontend/gen/fields.def"
#undef GEN_FIELD
};

/// The bits of every field; `absent` where the encoding lacks it.
struct Layout {
#define GEN_FIELD(part, name) Bits name;
#include "frontend/gen/fields.def"
#undef GEN_FIELD

  constexpr bool has(Part part) const;
};

struct FieldRow {
  Part part;
  Bits Layout::*bits;
};
inline constexpr std::array field_table{
#define GEN_FIELD(part, name) FieldRow{Part::part, &Layout::name},
#include "frontend/gen/fields.def"
#undef GEN_FIELD
};

constexpr bool Layout::has(Part part) const {
  for (const FieldRow& row : field_table)
    if (row.part == part) return (this->*row.bits).present();
  return false;
}

/// A row of an encoding: {name, hi, lo, ...}.
struct FieldBits {
  Field field;
  Bits bits;
  template <class... Ends>
  constexpr FieldBits(Field name, Ends... ends) : field(name), bits(gen::bits(ends...)) {}
};

constexpr Layout layout(std::initializer_list<FieldBits> fields) {
  Layout out;
  for (const FieldBits& given : fields) {
    Bits& bits = out.*field_table[static_cast<unsigned>(given.field)].bits;
    if (bits.present()) throw "an encoding has two rows for one field";
    bits = given.bits;
  }
  return out;
}

/// `base` without the parts in `lacks`, with `fields` replacing its own bits.
constexpr Layout layout(const Layout& base, PartSet lacks, std::initializer_list<FieldBits> fields) {
  Layout out = base;
  for (const FieldRow& row : field_table)
    if (lacks.has(row.part)) out.*row.bits = absent;
  for (const FieldBits& given : fields)
    out.*field_table[static_cast<unsigned>(given.field)].bits = given.bits;
  return out;
}

namespace layout_check {

/// The shapes of instructions: sets of parts. An encoding has a shape if it has all parts of it.
inline constexpr auto shapes = [] {
  using enum Part;
  constexpr PartSet plain = parts(Head, DepCtrl, AccWr, Saturate);
  constexpr PartSet head = plain | parts(Flag);
  constexpr PartSet basic = head | parts(CondMod, Dst, Src0Type);
  constexpr PartSet dst1 = parts(DstDirect, Dst1, DstDirect1);
  constexpr PartSet dst1_indirect = parts(DstIndirect, Dst1, DstIndirect1);
  constexpr PartSet src0_1 = parts(Src0, Src0Direct, Src0In1, Src0Direct1);
  constexpr PartSet src0_1_indirect = parts(Src0, Src0Indirect, Src0In1, Src0Indirect1);
  constexpr PartSet src1_1 = parts(Src1Type, Src1, Src1Direct, Src1In1, Src1Direct1);
  constexpr PartSet src1_1_indirect = parts(Src1Type, Src1, Src1Indirect, Src1In1, Src1Indirect1);
  constexpr PartSet basic16 = basic | parts(AccessMode, Dst16);
  constexpr PartSet dst16 = parts(DstDirect, DstDirect16);
  constexpr PartSet dst16_indirect = parts(DstIndirect, DstIndirect16);
  constexpr PartSet src0_16 = parts(Src0, Src0Direct, Src0In16, Src0Direct16);
  constexpr PartSet src0_16_indirect = parts(Src0, Src0Indirect, Src0In16, Src0Indirect16);
  constexpr PartSet src1_16 = parts(Src1Type, Src1, Src1Direct, Src1In16, Src1Direct16);
  constexpr PartSet src1_16_indirect = parts(Src1Type, Src1, Src1Indirect, Src1In16, Src1Indirect16);
  constexpr PartSet ternary = plain | parts(CondMod, TernaryFlag, Ternary);
  constexpr PartSet ternary16 = ternary | parts(AccessMode, TernarySrc0, TernarySrc2, Ternary16);
  constexpr PartSet ternary1 = ternary | parts(Ternary1);
  constexpr PartSet ternary1_src0 = parts(TernarySrc0, Ternary1Src0, Ternary1Subreg0);
  constexpr PartSet ternary1_src2 = parts(TernarySrc2, Ternary1Src2, Ternary1Subreg2);
  constexpr PartSet send = parts(Head, Flag, Dst, Src0Type, SendCommon, Send);
  constexpr PartSet split = parts(Head, Flag, NoSrcDep, SendCommon, SendSplit);
  constexpr PartSet branch = parts(Head, Flag, DepCtrl, Dst, Src0Type);
  return std::array{
      basic | dst1 | src0_1 | src1_1,
      basic | dst1 | src0_1 | parts(Src1Type, Imm32),
      basic | dst1 | parts(Imm32),
      basic | dst1 | parts(Imm64),
      plain | parts(CondMod, Dst, Src0Type, DimImm) | dst1,
      basic | dst1_indirect | src0_1_indirect | src1_1,
      basic | dst1_indirect | src0_1 | src1_1_indirect,
      basic | dst1_indirect | src0_1_indirect | parts(Src1Type, Imm32),
      basic16 | dst16 | src0_16 | src1_16,
      basic16 | dst16_indirect | src0_16_indirect | src1_16,
      basic16 | dst16_indirect | src0_16 | src1_16_indirect,
      head | parts(MathFc, Dst, Src0Type) | dst1 | src0_1 | src1_1,
      head | parts(MathFc, Dst, Src0Type, DstDirect, Dst1, Src0, Src0Direct, Src0In1, Src1Type, Src1,
                   Src1Direct, Src1In1, MathMacro1),
      ternary16,
      ternary16 | parts(TernaryMixed),
      ternary1 | parts(Ternary1Subreg) | ternary1_src0 | ternary1_src2,
      ternary1 | parts(Ternary1Subreg, Ternary1Imm0) | ternary1_src2,
      ternary1 | parts(Ternary1Subreg, Ternary1Imm2) | ternary1_src0,
      ternary1 | parts(TernarySrc0, Ternary1Src0, TernarySrc2, Ternary1Src2, Ternary1Macro),
      send | parts(Src0Direct, Src0, Src0In1, SendSrc0) | dst1,
      send | parts(NoSrcDep, ExFuncCtrl, Src0Direct, SendSrc0) | dst1,
      send | parts(NoSrcDep, ExFuncCtrl, Src0Indirect, SendSrc0Indirect) | dst1_indirect,
      split | parts(SplitDirect, SplitImm),
      split | parts(SplitDirect, SplitReg),
      split | parts(SplitIndirect, SplitImm),
      branch | dst1 | parts(Jip, Uip),
      branch | dst1 | parts(BranchCtl, Jip, Uip),
      branch | dst1 | src0_1 | parts(Src1Type, Jip),
      branch | dst1 | src0_1 | parts(Src1Type, CallOffset),
  };
}();

constexpr PartSet parts_of(const Layout& layout) {
  PartSet out;
  for (const FieldRow& row : field_table)
    if ((layout.*row.bits).present()) out = out | parts(row.part);
  return out;
}

/// Whether ranges are within one half of the word, and fields do not repeat a bit.
constexpr bool well_formed(const Layout& layout) {
  for (const FieldRow& row : field_table)
    for (unsigned i = 0; i < (layout.*row.bits).count; ++i) {
      const Bits::Range r = (layout.*row.bits).ranges[i];
      if (r.hi < r.lo || r.hi > 127 || r.hi / 64 != r.lo / 64) return false;
    }
  return true;
}

/// Whether the encoding has every field of the parts that it has.
constexpr bool whole_parts(const Layout& layout) {
  const PartSet present = parts_of(layout);
  for (const FieldRow& row : field_table)
    if (present.has(row.part) && !(layout.*row.bits).present()) return false;
  return true;
}

constexpr bool overlaps(InstructionWord& used, const Bits& field) {
  for (unsigned i = 0; i < field.count; ++i)
    for (unsigned bit = field.ranges[i].lo; bit <= field.ranges[i].hi; ++bit) {
      std::uint64_t& half = bit >= 64 ? used.high : used.low;
      const std::uint64_t one = 1ull << (bit % 64);
      if (half & one) return true;
      half |= one;
    }
  return false;
}

constexpr bool disjoint(const Layout& layout) {
  const PartSet present = parts_of(layout);
  for (const PartSet& shape : shapes) {
    if (!present.has_all(shape)) continue;
    InstructionWord used;
    for (const FieldRow& row : field_table)
      if (shape.has(row.part) && overlaps(used, layout.*row.bits)) return false;
  }
  return true;
}

/// Whether each part occurs in some shape of the encoding, so that each field is checked.
constexpr bool covered(const Layout& layout) {
  const PartSet present = parts_of(layout);
  PartSet used;
  for (const PartSet& shape : shapes)
    if (present.has_all(shape)) used = used | shape;
  return used == present;
}

}  // namespace layout_check

}  // namespace eum::gen
