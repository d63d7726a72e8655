#pragma once
// Decodes operand fields to Operand, for each place of an operand in an instruction. It knows encodings of
// types, regions, registers and modifiers; not which operands an instruction has (decoder.cpp).
#include <cstdint>
#include <string>

#include "frontend/gen/encoding.hpp"
#include "frontend/gen/instruction.hpp"

namespace eum::gen {

/// A field value that the manual does not define.
struct Undefined {
  const char* what = "";
  std::uint64_t value = 0;
  Bits field;
};

/// Properties of an architecture register (registers.def).
struct ArfInfo {
  std::string_view name;
  std::uint8_t count;  ///< RegNum[3:0] is below it
  bool numbered;       ///< the text carries the number
  bool subregs;        ///< the text carries a sub-register
  bool scaled;         ///< the sub-register is in elements of the operand's type
};

/// The register with code RegNum[7:4]; count is 0 if the family has none.
const ArfInfo& arf_info(Family family, unsigned code);

/// Codes of register files.
inline constexpr unsigned file_arf = 0, file_grf = 1, file_immediate = 3;

/// Where the fields of source 0 or of source 1 are.
struct SourceFields {
  Bits file, type, mod, addr_mode, vstride, reg, width, hstride, subreg, addr_subreg, addr_imm;
  Bits chan_sel, subreg16, addr_imm16;  // Align16
  Bits mme;                             // math macros in Align1
  bool second;                          ///< source 1: no 64-bit immediate
};

/// Register files that an operand may be in.
enum class Files : std::uint8_t { Any, Grf, Arf };

/// One word being decoded, and what is undefined in it.
class WordDecoder {
 public:
  WordDecoder(const InstructionWord& word, Family family, Undefined& undefined)
      : w_(word), family_(family), undefined_(undefined) {}

 protected:
  /// Records the first undefined value; returns false.
  bool fail(const char* what, std::uint64_t value, const Bits& field) {
    undefined_ = {what, value, field};
    return false;
  }

  const InstructionWord& w_;
  Family family_;
  Undefined& undefined_;
};

/// Decodes operands of one word. Each function returns false after recording what is undefined.
template <Encoding E>
class OperandDecoder : public WordDecoder {
 public:
  using WordDecoder::WordDecoder;

  bool destination(Operand& out, bool align16, bool macro);
  bool source0(Operand& out, bool align16, bool macro);
  /// The immediate of dim.
  bool double_immediate(Operand& out);
  bool source1(Operand& out, bool align16, bool macro, Files files);
  bool send_source0(Operand& out, bool align16);
  /// dst and three sources.
  bool ternary(Instruction& out, bool macro);
  /// dst, src[0] and src[1] of sends.
  bool split_send(Instruction& out);

 private:
  using Data = EncodingData<E>;
  static constexpr const Layout& L = Data::fields;
  static constexpr bool has_align16 = L.has(Part::AccessMode);
  /// Whether math macros are in Align1; in the other encodings they are in Align16.
  static constexpr bool macros_in_align1 = L.has(Part::MathMacro1);

  template <SourceFields F>
  bool source(Operand& out, bool align16, bool macro, Files files);
  template <Bits B>
  bool type(Type& out, const TypeList& types, const char* what);
  template <Bits B>
  bool register_number(Operand& out);
  template <Bits Vert>
  bool vertical_stride(Operand& out);
  template <Bits Width>
  bool width(Operand& out);
  template <Bits B>
  bool macro_register(Operand& out, unsigned number);
  bool ternary16(Instruction& out, bool macro);
  bool ternary1(Instruction& out, bool macro);
  template <Bits Reg, Bits Subreg, Bits SubregWord, Bits Mod, Bits Rep, Bits ChanSel>
  bool ternary16_source(Operand& out, bool macro);
  template <Bits B>
  bool ternary1_type(Type& out);
  template <Bits Type, Bits Imm>
  bool ternary1_immediate(Operand& out);
  template <Bits Reg, Bits Subreg, Bits Mod, Bits Type, Bits Vert, Bits Horizontal, Bits Macro>
  bool ternary1_source(Operand& out, bool macro);
};

#define GEN_ENCODING(name) extern template class OperandDecoder<Encoding::name>;
#include "frontend/gen/encodings.def"
#undef GEN_ENCODING

}  // namespace eum::gen
