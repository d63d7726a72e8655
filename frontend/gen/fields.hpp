#pragma once
// Bit positions of every field of an instruction, per family, and reading them. The rows are fields.def.
// The compiler checks here that fields which occur in one instruction do not overlap.
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "frontend/gen/family.hpp"

namespace eum::gen {

/// The 128 bits of an instruction.
struct Encoding {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  constexpr bool operator==(const Encoding&) const = default;
};

/// One to four ranges of bits, most significant first; both ends count. Width 0: the family lacks the field.
struct Bits {
  struct Range {
    std::uint8_t hi = 0;
    std::uint8_t lo = 0;
    constexpr bool operator==(const Range&) const = default;
  };
  Range ranges[4] = {};
  std::uint8_t count = 0;

  constexpr unsigned width() const {
    unsigned sum = 0;
    for (unsigned i = 0; i < count; ++i) sum += ranges[i].hi - ranges[i].lo + 1u;
    return sum;
  }
};

inline constexpr Bits absent{};

/// bits(hi, lo, ...): pairs of inclusive ends, most significant pair first.
template <class... Ends>
requires(sizeof...(Ends) % 2 == 0 && sizeof...(Ends) <= 8) constexpr Bits bits(Ends... ends) {
  const std::uint8_t list[] = {static_cast<std::uint8_t>(ends)...};
  Bits out;
  out.count = sizeof...(Ends) / 2;
  for (unsigned i = 0; i < out.count; ++i) out.ranges[i] = {list[2 * i], list[2 * i + 1]};
  return out;
}

constexpr std::uint64_t low_mask(unsigned width) { return width >= 64 ? ~0ull : (1ull << width) - 1; }

/// The value of field `B`; each range lies within one 64-bit half.
template <Bits B>
constexpr std::uint64_t get(const Encoding& word) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    std::uint64_t value = 0;
    (
        [&] {
          constexpr Bits::Range range = B.ranges[I];
          constexpr unsigned width = range.hi - range.lo + 1u;
          const std::uint64_t part =
              ((range.lo >= 64 ? word.high : word.low) >> (range.lo % 64)) & low_mask(width);
          if constexpr (I == 0)
            value = part;
          else
            value = value << width | part;
        }(),
        ...);
    return value;
  }
  (std::make_index_sequence<B.count>{});
}

/// Sets field `B`, whose bits are zero in `word`, to `value`.
template <Bits B>
constexpr void put(Encoding& word, std::uint64_t value) {
  for (unsigned i = B.count; i-- > 0;) {
    const unsigned width = B.ranges[i].hi - B.ranges[i].lo + 1u;
    std::uint64_t& half = B.ranges[i].lo >= 64 ? word.high : word.low;
    half |= (value & low_mask(width)) << (B.ranges[i].lo % 64);
    value = width >= 64 ? 0 : value >> width;
  }
}

/// Two's complement of a `width` bit value.
constexpr std::int64_t sign_extend(std::uint64_t value, unsigned width) {
  const std::uint64_t sign = 1ull << (width - 1);
  return static_cast<std::int64_t>((value ^ sign) - sign);
}

/// Parts of an instruction; fields.def names them.
enum class Part : std::uint8_t {
  Head,
  DepCtrl,
  CondMod,
  MathFc,
  AccWr,
  BranchCtl,
  NoSrcDep,
  Saturate,
  Dst,
  DstDirect,
  Dst1,
  Dst1Indirect,
  Dst16,
  Dst16Indirect,
  Src0Type,
  Src0,
  Src0Direct,
  Src0In1,
  Src0Direct1,
  Src0Indirect1,
  Src0In16,
  Src0Direct16,
  Src0Indirect16,
  Src1Type,
  Src1,
  Src1Direct,
  Src1In1,
  Src1Direct1,
  Src1Indirect1,
  Src1In16,
  Src1Direct16,
  Src1Indirect16,
  Imm32,
  Imm64,
  Ternary,
  SendCommon,
  Send,
  SendSplit,
  SplitDirect,
  SplitIndirect,
  SplitImm,
  SplitReg,
  Jip,
  Uip,
};

/// All fields of one family.
struct Layout {
#define GEN_FIELD(part, name, gen8, gen9) Bits name;
#include "frontend/gen/fields.def"
#undef GEN_FIELD
};

inline constexpr Layout gen8_layout{
#define GEN_FIELD(part, name, gen8, gen9) gen8,
#include "frontend/gen/fields.def"
#undef GEN_FIELD
};

inline constexpr Layout gen9_layout{
#define GEN_FIELD(part, name, gen8, gen9) gen9,
#include "frontend/gen/fields.def"
#undef GEN_FIELD
};

namespace layout_check {

template <class... P>
constexpr std::uint64_t parts(P... part) {
  return (0ull | ... | (1ull << static_cast<unsigned>(part)));
}

struct Row {
  Part part;
  Bits gen8, gen9;
};

inline constexpr Row rows[] = {
#define GEN_FIELD(part, name, gen8, gen9) {Part::part, gen8, gen9},
#include "frontend/gen/fields.def"
#undef GEN_FIELD
};

/// The shapes that instructions take: sets of parts.
inline constexpr auto shapes = [] {
  using enum Part;
  constexpr std::uint64_t basic = parts(Head, DepCtrl, CondMod, AccWr, Saturate, Dst, Src0Type);
  constexpr std::uint64_t dst1 = parts(DstDirect, Dst1), dst16 = parts(DstDirect, Dst16);
  constexpr std::uint64_t src0_1 = parts(Src0, Src0Direct, Src0In1, Src0Direct1);
  constexpr std::uint64_t src1_1 = parts(Src1Type, Src1, Src1Direct, Src1In1, Src1Direct1);
  constexpr std::uint64_t src0_16 = parts(Src0, Src0Direct, Src0In16, Src0Direct16);
  constexpr std::uint64_t src1_16 = parts(Src1Type, Src1, Src1Direct, Src1In16, Src1Direct16);
  constexpr std::uint64_t ind0_1 = parts(Src0, Src0In1, Src0Indirect1);
  constexpr std::uint64_t ind1_1 = parts(Src1Type, Src1, Src1In1, Src1Indirect1);
  constexpr std::uint64_t ind0_16 = parts(Src0, Src0In16, Src0Indirect16);
  constexpr std::uint64_t ind1_16 = parts(Src1Type, Src1, Src1In16, Src1Indirect16);
  return std::array{
      basic | dst1 | src0_1 | src1_1,
      basic | dst1 | src0_1 | parts(Src1Type, Imm32),
      basic | dst1 | parts(Imm32),
      basic | dst1 | parts(Imm64),
      basic | parts(Dst1Indirect) | ind0_1 | src1_1,
      basic | parts(Dst1Indirect) | src0_1 | ind1_1,
      basic | parts(Dst1Indirect) | ind0_1 | parts(Src1Type, Imm32),
      basic | dst16 | src0_16 | src1_16,
      basic | parts(Dst16Indirect) | ind0_16 | src1_16,
      basic | parts(Dst16Indirect) | src0_16 | ind1_16,
      parts(Head, DepCtrl, MathFc, AccWr, Saturate, Dst, Src0Type) | dst1 | src0_1 | src1_1,
      parts(Head, DepCtrl, CondMod, AccWr, Saturate, Ternary),
      parts(Head, NoSrcDep, Dst, Src0Type, SendCommon, Send, Src0Direct) | dst1,
      parts(Head, NoSrcDep, SendCommon, SendSplit, SplitDirect, SplitImm),
      parts(Head, NoSrcDep, SendCommon, SendSplit, SplitDirect, SplitReg),
      parts(Head, NoSrcDep, SendCommon, SendSplit, SplitIndirect, SplitImm),
      parts(Head, NoSrcDep, Dst, Src0Type, SendCommon, Send, Src0Indirect16, Dst1Indirect),
      parts(Head, DepCtrl, BranchCtl, Dst, Src0Type, Jip, Uip) | dst1,
      parts(Head, DepCtrl, Dst, Src0Type, Src1Type, Jip) | dst1 | src0_1,
  };
}();

constexpr bool overlaps(Encoding& used, const Bits& field) {
  for (unsigned i = 0; i < field.count; ++i)
    for (unsigned bit = field.ranges[i].lo; bit <= field.ranges[i].hi; ++bit) {
      std::uint64_t& half = bit >= 64 ? used.high : used.low;
      const std::uint64_t one = 1ull << (bit % 64);
      if (half & one) return true;
      half |= one;
    }
  return false;
}

constexpr bool disjoint(Bits Row::*family) {
  for (std::uint64_t shape : shapes) {
    Encoding used;
    for (const Row& row : rows)
      if ((shape & parts(row.part)) && overlaps(used, row.*family)) return false;
  }
  return true;
}

/// Each part occurs in some shape, so each field is checked.
constexpr bool covered() {
  std::uint64_t all = 0;
  for (std::uint64_t shape : shapes) all |= shape;
  for (const Row& row : rows)
    if (!(all & parts(row.part))) return false;
  return true;
}

constexpr bool well_formed(Bits Row::*family) {
  for (const Row& row : rows)
    for (unsigned i = 0; i < (row.*family).count; ++i) {
      const Bits::Range r = (row.*family).ranges[i];
      if (r.hi < r.lo || r.hi > 127 || r.hi / 64 != r.lo / 64) return false;
    }
  return true;
}

static_assert(covered());
static_assert(well_formed(&Row::gen8) && well_formed(&Row::gen9));
static_assert(disjoint(&Row::gen8) && disjoint(&Row::gen9));

}  // namespace layout_check

}  // namespace eum::gen
