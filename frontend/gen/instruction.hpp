#pragma once
// The decoded form of one GEN instruction: plain data, no heap, only the content of the encoding. It must not
// know bit positions (layout.hpp) nor what an instruction means (frontend/eu).
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "frontend/eu/operand.hpp"
#include "frontend/gen/family.hpp"
#include "frontend/gen/opcode.hpp"
#include "frontend/gen/type.hpp"
#include "memory/base/result.hpp"

namespace eum::gen {

enum class OperandKind : std::uint8_t { None, Null, Direct, Indirect, Immediate };

/// Architecture registers; the value is RegNum[7:4] of the encoding.
enum class Arf : std::uint8_t {
  null = 0,
  a = 1,
  acc = 2,
  f = 3,
  ce = 4,
  msg = 5,
  sp = 6,
  sr = 7,
  cr = 8,
  n = 9,
  ip = 10,
  tdr = 11,
  tm = 12,
  fc = 13,
  dbg = 15,
};

enum class RegisterFile : std::uint8_t { Grf, Arf };

// These mean the same in both layers.
using eu::identity_swizzle;
using eu::Region;
using eu::SourceModifier;

/// Math macro operand without an accumulator (`nomme`); 0 to 7 mean acc2 to acc9.
inline constexpr std::uint8_t no_mme = 8;

struct Operand {
  OperandKind kind = OperandKind::None;
  RegisterFile file = RegisterFile::Grf;  ///< Direct and Null
  Arf arf = Arf::null;                    ///< if `file` is Arf
  Type type = Type::none;
  SourceModifier modifier = SourceModifier::None;  ///< in and, or, xor, not: Neg is the bitwise complement
  std::uint8_t reg = 0;                            ///< GRF number, or number within the Arf (acc1: 1)
  std::uint8_t subreg = 0;                         ///< in BYTES within the register
  Region region;                                   ///< Align1; Align16: vstride only
  std::uint8_t channel_enable = 0xf;               ///< Align16 destination: bit 0 is x
  std::uint8_t swizzle = identity_swizzle;         ///< Align16 source
  bool replicate = false;  ///< Align16 three-source operand: one element for all channels
  bool macro = false;      ///< math macro operand, which uses `mme`
  std::uint8_t mme = no_mme;
  std::uint8_t address_subreg = 0;  ///< Indirect: word sub-register of a0
  std::int16_t address_offset = 0;  ///< Indirect: signed bytes added to the address
  std::uint64_t immediate = 0;      ///< the bits as encoded, zero-extended from the type's size

  constexpr bool is_grf() const { return kind == OperandKind::Direct && file == RegisterFile::Grf; }
  constexpr bool is_arf(Arf which) const {
    return (kind == OperandKind::Direct || kind == OperandKind::Null) && file == RegisterFile::Arf &&
           arf == which;
  }
  constexpr bool is_null() const { return kind == OperandKind::Null; }
  constexpr bool is_immediate() const { return kind == OperandKind::Immediate; }
  /// Align16: whether swizzle (or channel enables) select both dwords of each 64-bit element.
  constexpr bool swizzles_pairs() const {
    // In each pair of selections the first is x or z, and the second is the next dword.
    return (swizzle & 0x11) == 0 && ((swizzle | 0x11) & 0x33) == (swizzle >> 2 & 0x33);
  }
  constexpr bool enables_pairs() const { return (channel_enable & 5) == (channel_enable >> 1 & 5); }
  /// Byte address of the first element in a linear file of registers of `grf_bytes` bytes.
  constexpr unsigned byte_address(unsigned grf_bytes) const { return reg * grf_bytes + subreg; }
};

/// Values 2 to 13 as Align1 encodes them. Align16 encodes X to W, Any4H and All4H as 2 to 7.
enum class PredCtrl : std::uint8_t {
  None,
  Sequential,
  AnyV,
  AllV,
  Any2H,
  All2H,
  Any4H,
  All4H,
  Any8H,
  All8H,
  Any16H,
  All16H,
  Any32H,
  All32H,
  X,
  Y,
  Z,
  W,
};

/// Condition modifiers; the value is the encoding.
enum class CondMod : std::uint8_t {
  None = 0,
  eq = 1,
  ne = 2,
  gt = 3,
  ge = 4,
  lt = 5,
  le = 6,
  ov = 8,
  un = 9
};

/// Math functions; the value is the encoding. The rows are in math_functions.def.
enum class MathFunction : std::uint8_t {
  None = 0,
#define GEN_MATH(name, code, ...) name = code,
#include "frontend/gen/math_functions.def"
#undef GEN_MATH
};
struct MathInfo {
  std::string_view name;
  std::uint8_t sources;  ///< 1 or 2
  bool macro;            ///< a step of a sequence
};
inline constexpr std::array<MathInfo, 16> math_table = [] {
  std::array<MathInfo, 16> table{};
  for (MathInfo& row : table) row.sources = 1;
#define GEN_MATH(name, code, text, sources, macro, ...) table[code] = {text, sources, macro};
#include "frontend/gen/math_functions.def"
#undef GEN_MATH
  return table;
}();
constexpr const MathInfo& info(MathFunction f) { return math_table[static_cast<std::size_t>(f)]; }
constexpr bool is_macro(MathFunction f) { return info(f).macro; }

enum class ThreadCtrl : std::uint8_t { None, Atomic, Switch, NoPreempt };

/// Shared functions; the value is the encoding in bits 3:0 of the extended descriptor (families 7 to 11).
enum class Sfid : std::uint8_t {
  null = 0,
  smpl = 2,
  gtwy = 3,
  dc2 = 4,
  rc = 5,
  urb = 6,
  ts = 7,
  vme = 8,
  dcro = 9,
  dc0 = 10,
  pixi = 11,
  dc1 = 12,
  cre = 13,
  from_register = 0xff,  ///< the extended descriptor is in a0
};

/// An immediate, or the sub-register of a0 that holds it.
struct Descriptor {
  std::uint32_t value = 0;
  bool is_register = false;
  std::uint8_t address_subreg = 0;  ///< in DWORDS: a0.0, a0.2 of :ud are 0, 2
};

/// The operands of send and similar instructions besides dst, src[0] and src[1].
struct SendInfo {
  Sfid sfid = Sfid::null;
  Descriptor ex_desc;
  Descriptor desc;
  std::int8_t src0_length = -1;  ///< registers; -1: known only at run time
  std::int8_t src1_length = -1;
  std::int8_t response_length = -1;
  bool eot = false;
  bool no_src_dep_set = false;
};

/// A branch offset as encoded, and its target.
struct Target {
  bool present = false;
  Type type = Type::d;      ///< of the offset: w if it has 16 bits and is so marked
  std::uint8_t unit = 1;    ///< bytes per unit of the offset, also if in a register
  std::int32_t raw = 0;     ///< in bytes; relative unless the instruction is calla
  std::int64_t offset = 0;  ///< byte offset in the kernel, wrapped to 32 bits as IP is; may be outside of it
};

struct Instruction {
  Opcode opcode = Opcode::illegal;
  std::uint8_t length = 16;  ///< in bytes: 8 if compacted
  std::uint8_t exec_size = 1;
  std::uint8_t channel_offset = 0;  ///< first channel: 0, 4, .. 28
  std::uint8_t source_count = 0;    ///< number of elements of src[] in use
  bool has_dst = false;
  bool no_mask = false;
  bool align16 = false;
  bool saturate = false;
  bool acc_wr_en = false;
  bool debug_ctrl = false;  ///< {Breakpoint}
  bool no_dd_clr = false;
  bool no_dd_chk = false;
  bool branch_ctrl = false;  ///< if, else, goto: `.b`
  ThreadCtrl thread_ctrl = ThreadCtrl::None;
  CondMod cond_mod = CondMod::None;
  MathFunction math = MathFunction::None;
  PredCtrl pred_ctrl = PredCtrl::None;
  bool pred_inverse = false;
  std::uint8_t flag_reg = 0;     ///< f0 or f1; for predicate and condition modifier alike
  std::uint8_t flag_subreg = 0;  ///< in words: .0 or .1
  std::uint32_t offset = 0;      ///< in bytes from the start of the kernel
  Operand dst;
  std::array<Operand, 3> src;
  Target jip;
  Target uip;
  SendInfo send;

  constexpr bool compacted() const { return length == 8; }
  constexpr std::uint32_t next() const { return offset + length; }
  constexpr bool predicated() const { return pred_ctrl != PredCtrl::None; }
};

/// Decodes the instruction at byte `offset` of `kernel`, compacted or not. Undefined opcodes and field values
/// are errors that give byte offset, bits and reason. Allocates only if it fails.
Result<Instruction> decode(std::span<const std::byte> kernel, std::size_t offset, Family family);

/// Length in bytes (8 or 16) of the instruction at byte `offset`; `kernel` must contain four bytes of it.
std::size_t length_at(std::span<const std::byte> kernel, std::size_t offset, Family family);

/// Rewrites an Align16 instruction into Align1 if that can express its swizzles and channel enables (what
/// compilers emit for three-source instructions and math macros); exec_size, regions and sub-registers then
/// have their usual meaning. An Align1 instruction is returned unchanged. Anything else is an error that
/// names the operand.
Result<Instruction> align1_form(const Instruction& instruction, Family family);

/// For families in which execution size and regions of df count dwords (trait::PairedDoubles): an instruction
/// with a df operand in the form of other families, lane k of which is channel 2k. Any other is returned
/// unchanged; regions that split doubles are errors that name the operand.
Result<Instruction> whole_doubles(const Instruction& instruction, Family family);

/// How a branch target is written.
enum class LabelStyle : std::uint8_t {
  Name,     ///< L48, as iga64 prints
  Numeric,  ///< relative bytes, as iga64 -n prints
};

/// One line in the syntax of iga64 without the trailing comment.
std::string print(const Instruction& instruction, Family family, LabelStyle labels = LabelStyle::Name);

/// Text of a whole kernel with labels, as iga64 -d prints it. Instructions that do not decode are printed as
/// `illegal` with the reason as a comment; decoding resumes after them. With `offsets` each line ends with
/// the offset of its instruction, and labels are hexadecimal too, as in the texts of faults:
/// "L0x88: ... // 0x88".
std::string disassemble(std::span<const std::byte> kernel, Family family, bool offsets = false);

}  // namespace eum::gen
