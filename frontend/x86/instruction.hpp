#pragma once
// A decoded user MSR instruction, and the table of its forms.
// It knows nothing of machine state: lower.hpp and runtime/user_msr execute it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace eum::x86 {

enum class Form : std::uint8_t {
#define X86_FORM(name, ...) name,
#include "frontend/x86/forms.def"
#undef X86_FORM
};

enum class Encoding : std::uint8_t { Legacy, Vex, EvexMap4, EvexMap7 };
/// The values are those of VEX.pp and EVEX.pp.
enum class Prefix : std::uint8_t { None = 0, P66 = 1, F3 = 2, F2 = 3 };
enum class Access : std::uint8_t { Read, Write };
enum class Level : std::uint8_t { User, Supervisor };

struct FormInfo {
  std::string_view name;
  std::string_view mnemonic;
  Encoding encoding;
  Prefix prefix;
  std::uint8_t opcode;
  Access access;
  Level level;
  std::uint8_t exit_reason;
};

inline constexpr auto form_table = std::to_array<FormInfo>({
#define X86_FORM(name, mnemonic, encoding, prefix, opcode, access, level, exit) \
  {#name, mnemonic, Encoding::encoding, Prefix::prefix, opcode, Access::access, Level::level, exit},
#include "frontend/x86/forms.def"
#undef X86_FORM
});
inline constexpr std::size_t form_count = form_table.size();

constexpr const FormInfo& info(Form form) { return form_table[static_cast<std::size_t>(form)]; }

/// An instruction that was decoded or is to be encoded.
struct Instruction {
  Form form = Form::UrdmsrReg;
  std::uint8_t data = 0;   ///< general register: destination of a read, source of a write
  std::uint8_t index = 0;  ///< general register that holds the MSR address; not immediate forms
  std::uint32_t msr = 0;   ///< MSR address; immediate forms

  constexpr bool is_read() const { return info(form).access == Access::Read; }
  constexpr bool is_immediate() const {
    return info(form).encoding == Encoding::Vex || info(form).encoding == Encoding::EvexMap7;
  }
  constexpr bool needs_apx() const {
    return info(form).encoding == Encoding::EvexMap4 || info(form).encoding == Encoding::EvexMap7;
  }
  constexpr bool is_user() const { return info(form).level == Level::User; }
  constexpr bool operator==(const Instruction&) const = default;
};

inline constexpr std::size_t gpr_count = 32;
inline constexpr std::size_t legacy_gpr_count = 16;  ///< general registers without APX
inline constexpr std::array<std::string_view, gpr_count> gpr_names{
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8",  "r9",  "r10",
    "r11", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21",
    "r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31"};

/// Whether the form can name the registers of its operands.
constexpr bool exists(const Instruction& instruction) {
  const std::size_t registers = instruction.needs_apx() ? gpr_count : legacy_gpr_count;
  return instruction.data < registers && (instruction.is_immediate() || instruction.index < registers);
}

/// Length limit of an x86 instruction; a longer one raises #GP(0).
inline constexpr std::size_t max_length = 15;

/// Bitmap of IA32_USER_MSR_CTL: one bit an MSR, reads in the lower half, writes in the upper.
inline constexpr std::uint32_t user_msr_limit = 0x4000;  ///< first MSR address beyond it
inline constexpr std::uint32_t bitmap_bytes = 4096;
inline constexpr std::uint32_t bitmap_write_half = 2048;
static_assert(bitmap_write_half * 8 == user_msr_limit && bitmap_bytes == 2 * bitmap_write_half);

/// Byte offset in the bitmap of the permission bit, which is bit msr & 7; msr < user_msr_limit.
constexpr std::uint32_t bitmap_byte(std::uint32_t msr, Access access) {
  return msr / 8 + (access == Access::Write ? bitmap_write_half : 0);
}

}  // namespace eum::x86
