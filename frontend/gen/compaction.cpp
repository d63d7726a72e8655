// Tables and rules that turn a 64-bit compacted instruction into its 128-bit form (families 8 and 9).
// The tables are facts of the hardware (public in Mesa's brw_eu_compact.c and in IGA's GED).
#include "frontend/gen/compaction.hpp"

#include <array>

namespace eum::gen {
namespace {

// Bits 33:31, 23:12, 10:9, 34, 8 of the instruction.
constexpr std::array<std::uint32_t, 32> control_table{
    0x00002, 0x04000, 0x04001, 0x04002, 0x04003, 0x04004, 0x04005, 0x04007, 0x04008, 0x04009, 0x0400d,
    0x06000, 0x06001, 0x06002, 0x06003, 0x06004, 0x06005, 0x06007, 0x06009, 0x0600d, 0x06010, 0x06100,
    0x08000, 0x08002, 0x08004, 0x08100, 0x16000, 0x16010, 0x18000, 0x18100, 0x28000, 0x28100};

// Bits 63:61, 94:89, 46:35.
constexpr std::array<std::uint32_t, 32> datatype_table{
    0x40001, 0x40040, 0x40041, 0x400c1, 0x4015d, 0x405dd, 0x40741, 0x40745, 0x4075d, 0x41041, 0x43040,
    0x43041, 0x45145, 0x47144, 0x47145, 0x5c75d, 0x5d71d, 0x5d75c, 0x5d75d, 0x5f75c, 0x0040c, 0x4005d,
    0x40145, 0x41040, 0x45144, 0x47104, 0x49209, 0x5775d, 0x5f75d, 0x4f34c, 0x49248, 0x4b248};

// Bits 100:96, 68:64, 52:48.
constexpr std::array<std::uint16_t, 32> subreg_table{
    0x0000, 0x0001, 0x0008, 0x000f, 0x0010, 0x0080, 0x0100, 0x0180, 0x0200, 0x0210, 0x0280,
    0x1000, 0x1001, 0x1081, 0x1082, 0x1083, 0x1084, 0x1087, 0x1088, 0x108e, 0x108f, 0x1180,
    0x11e8, 0x2000, 0x2180, 0x3000, 0x3c87, 0x4000, 0x5000, 0x6000, 0x7000, 0x701c};

// Bits 88:77 of source 0 and 120:109 of source 1.
constexpr std::array<std::uint16_t, 32> source_table{0x000, 0x002, 0x010, 0x012, 0x018, 0x020, 0x028, 0x048,
                                                     0x050, 0x070, 0x078, 0x300, 0x302, 0x308, 0x310, 0x312,
                                                     0x320, 0x328, 0x338, 0x340, 0x342, 0x348, 0x350, 0x360,
                                                     0x368, 0x370, 0x371, 0x378, 0x468, 0x469, 0x46a, 0x588};

// Bits 36:32, 28:8. Families 8 and 9 have the same values.
constexpr std::array<std::uint32_t, 4> ternary_control_table{0x806001, 0x006001, 0x008001, 0x008021};

// Bits 83, 114:107, 93:86, 72:65, 55:37. The bits that only family 9 has (126:125, 105:104, 84) are zero in
// each row.
constexpr std::array<std::uint64_t, 4> ternary_source_table{0x7272720f000, 0x7272720f002, 0x7272720f008,
                                                            0x7272720f020};

constexpr Bits control_bits = bits(33, 31, 23, 12, 10, 9, 34, 34);
constexpr Bits access_bit = bits(8, 8);
constexpr Bits datatype_bits = bits(63, 61, 94, 89, 46, 35);
constexpr Bits subreg_bits = bits(100, 96, 68, 64, 52, 48);
constexpr Bits ternary_source_high = bits(83, 83, 114, 107, 93, 86, 72, 65);

constexpr std::uint64_t take(std::uint64_t value, unsigned hi, unsigned lo) {
  return (value >> lo) & low_mask(hi - lo + 1);
}

/// Source 0 or source 1 is an immediate: the fields that would hold source 1 are then 13 bits of value.
constexpr bool has_immediate(std::uint64_t datatype) {
  constexpr unsigned immediate_file = 3;
  return take(datatype, 7, 6) == immediate_file || take(datatype, 13, 12) == immediate_file;
}

Encoding expand_basic(std::uint64_t compact) {
  const std::uint64_t control = control_table[take(compact, 12, 8)];
  const std::uint64_t datatype = datatype_table[take(compact, 17, 13)];
  Encoding word;
  put<bits(6, 0)>(word, take(compact, 6, 0));
  put<control_bits>(word, control >> 1);
  put<access_bit>(word, control);
  put<datatype_bits>(word, datatype);
  put<bits(30, 30)>(word, take(compact, 7, 7));    // debug control
  put<bits(28, 28)>(word, take(compact, 23, 23));  // accumulator write control
  put<bits(27, 24)>(word, take(compact, 27, 24));  // condition modifier
  put<bits(60, 53)>(word, take(compact, 47, 40));  // destination register
  put<bits(76, 69)>(word, take(compact, 55, 48));  // source 0 register
  put<bits(88, 77)>(word, source_table[take(compact, 34, 30)]);
  const std::uint64_t subreg = subreg_table[take(compact, 22, 18)];
  if (has_immediate(datatype)) {
    put<bits(68, 64, 52, 48)>(word, subreg);
    const std::uint64_t value = take(compact, 39, 35) << 8 | take(compact, 63, 56);
    put<bits(127, 96)>(word, static_cast<std::uint64_t>(sign_extend(value, 13)));
  } else {
    put<subreg_bits>(word, subreg);
    put<bits(120, 109)>(word, source_table[take(compact, 39, 35)]);
    put<bits(108, 101)>(word, take(compact, 63, 56));
  }
  return word;
}

Encoding expand_ternary(std::uint64_t compact) {
  const std::uint64_t source = ternary_source_table[take(compact, 11, 10)];
  Encoding word;
  put<bits(6, 0)>(word, take(compact, 6, 0));
  put<bits(36, 32, 28, 8)>(word, ternary_control_table[take(compact, 9, 8)]);
  put<bits(30, 30)>(word, take(compact, 30, 30));  // debug control
  put<bits(31, 31)>(word, take(compact, 31, 31));  // saturate
  put<ternary_source_high>(word, source >> 19);
  put<bits(55, 37)>(word, source);
  put<bits(63, 56)>(word, take(compact, 18, 12));  // destination register
  put<bits(64, 64)>(word, take(compact, 28, 28));  // replicate source 0, 1, 2
  put<bits(85, 85)>(word, take(compact, 32, 32));
  put<bits(106, 106)>(word, take(compact, 33, 33));
  put<bits(75, 73)>(word, take(compact, 36, 34));  // sub-registers
  put<bits(96, 94)>(word, take(compact, 39, 37));
  put<bits(117, 115)>(word, take(compact, 42, 40));
  put<bits(82, 76)>(word, take(compact, 49, 43));  // registers
  put<bits(103, 97)>(word, take(compact, 56, 50));
  put<bits(124, 118)>(word, take(compact, 63, 57));
  return word;
}

}  // namespace

bool has_compacted_form(Format format, Family family) {
  switch (format) {
    case Format::Unary:
    case Format::Binary:
    case Format::Ternary:
    case Format::Math:
    case Format::Return:
    case Format::Wait:
    case Format::Jump:
      return true;
    case Format::Send:
      return info(family).send_compacts;
    default:
      return false;
  }
}

Encoding expand(std::uint64_t compact, Format format) {
  return format == Format::Ternary ? expand_ternary(compact) : expand_basic(compact);
}

}  // namespace eum::gen
