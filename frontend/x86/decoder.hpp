#pragma once
// Decides whether bytes are a user MSR instruction, as the processor's decoder would.
// Nothing that depends on machine state other than the mode (enable bit, CPL, CPUID) is decided here.
#include <cstdint>
#include <span>
#include <string_view>

#include "frontend/x86/instruction.hpp"

namespace eum::x86 {

/// Operating mode as far as decoding depends on it: default operand and address size, and whether REX exists.
enum class Mode : std::uint8_t { Bits16, Bits32, Bits64 };

enum class Verdict : std::uint8_t {
  Instruction,  ///< one of the forms
  Foreign,      ///< another instruction (or its #UD), which this decoder does not judge
  Undefined,    ///< #UD, see Decoding::why
  Truncated,    ///< the bytes end before the instruction does
  TooLong,      ///< more than 15 bytes: #GP(0)
};

/// Why an encoding is #UD: the first reason that applies, in this order.
enum class Undefined : std::uint8_t {
  None,
  NoOpcode,         ///< nothing is defined for this prefix and opcode
  ReservedMap,      ///< VEX.mmmmm selects no existing map
  LegacyPrefix,     ///< 66, F2, F3 or REX before VEX or EVEX
  Lock,             ///< LOCK
  Not64Bit,         ///< the form exists in 64-bit mode only
  MemoryOperand,    ///< ModRM.mod is not 11
  OpcodeExtension,  ///< ModRM.reg is not 000
  VectorLength,     ///< VEX.L or EVEX.L'L is not 0
  OperandSize,      ///< VEX.W or EVEX.W = 1
  Vvvv,             ///< VEX.vvvv or EVEX.V4 and vvvv are not all ones
  EvexField,        ///< EVEX.z, ND, NF, aa or X4
};
std::string_view describe(Undefined why);

struct Decoding {
  Verdict verdict = Verdict::Truncated;
  Undefined why = Undefined::None;
  std::uint8_t length = 0;       ///< bytes of the encoding; Instruction and Undefined only
  Instruction instruction = {};  ///< Instruction only
};

/// Decodes the instruction at the front of `bytes`; looks at no more than 15 of them. A fetch beyond the end
/// comes before #UD, as in the priority of faults (SDM vol 3, table 7-2), except where the opcode already
/// decides. Allocates nothing and is safe in a signal handler.
Decoding decode(std::span<const std::uint8_t> bytes, Mode mode);
/// The same for 64-bit mode without APX: bytes from 62 on are Foreign at once, as such a processor may raise
/// #UD before it fetches more.
Decoding decode_without_apx(std::span<const std::uint8_t> bytes);

}  // namespace eum::x86
