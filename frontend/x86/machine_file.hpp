#pragma once
// The register file of a translated run of user MSR instructions: which byte holds what. Lowering and the
// machine (runtime/user_msr) share it; it must not know how either works.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "frontend/x86/instruction.hpp"

namespace eum::x86 {

/// How a run ended.
enum class EventKind : std::uint64_t {
  None,       ///< after its last instruction
  Exception,  ///< code = vector; error, and address = CR2 where the vector is #PF
  VmExit,     ///< code = basic exit reason; address = exit qualification
};

enum class Vector : std::uint8_t { UD = 6, GP = 13, PF = 14 };

struct MachineFile {
  std::uint64_t gpr[gpr_count];
  std::uint64_t rip;           ///< of the next instruction, or of the one that did not complete
  std::uint64_t user_msr_ctl;  ///< IA32_USER_MSR_CTL
  EventKind event;
  std::uint64_t event_code;
  std::uint64_t event_error;    ///< meaningful for exceptions only
  std::uint64_t event_address;  ///< meaningful for #PF and VM exits only
  std::uint64_t completed;      ///< instructions of the run that completed
  std::uint64_t scratch;        ///< holds a value between blocks of one instruction
};
static_assert(std::is_standard_layout_v<MachineFile> && sizeof(MachineFile) == 8 * (gpr_count + 8));

/// Byte offset of a general register.
constexpr unsigned gpr_offset(unsigned reg) { return reg * 8; }

inline constexpr std::uint32_t ia32_user_msr_ctl = 0x1c;
inline constexpr std::uint64_t user_msr_ctl_enable = 1;
inline constexpr std::uint64_t user_msr_ctl_reserved = 0xffe;

/// Canonical for linear addresses of `bits` bits: 48, or 57 with LA57.
constexpr bool is_canonical(std::uint64_t address, unsigned bits) {
  const unsigned above = 64 - bits;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(address << above) >> above) == address;
}
/// Whether `value` may be written to IA32_USER_MSR_CTL; otherwise the write raises #GP(0).
constexpr bool is_valid_user_msr_ctl(std::uint64_t value, unsigned bits) {
  return (value & user_msr_ctl_reserved) == 0 && is_canonical(value & ~std::uint64_t{0xfff}, bits);
}

}  // namespace eum::x86
