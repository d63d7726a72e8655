#pragma once
// Lowers runs of user MSR instructions into micro-ops, with the order of checks of the document (Figures 6 to
// 9) and the manual: enumeration, enable bit or CPL, range, bitmap as a supervisor access, VMX MSR bitmap,
// register. A fault or VM exit is reported as an event in the MachineFile, of which it changes nothing else.
#include <functional>
#include <optional>
#include <span>

#include "frontend/ir/function.hpp"
#include "frontend/x86/instruction.hpp"
#include "frontend/x86/machine_file.hpp"

namespace eum::x86 {

/// The state that a translation depends on; if it changes, another translation is needed.
struct LoweringContext {
  std::uint8_t cpl = 3;
  bool has_user_msr = true;     ///< CPUID.(7,1):EDX[15]
  bool has_msr_imm = true;      ///< CPUID.(7,1):ECX[5]
  bool in_guest = false;        ///< VMX non-root operation
  bool use_msr_bitmaps = true;  ///< the VM-execution control; 0: every access exits
  /// Slot of an MSR address; empty if there is no such register. Immediates are resolved with it at
  /// translation.
  std::function<std::optional<std::uint32_t>(std::uint32_t)> find_slot;
};

/// An instruction of a run.
struct PlacedInst {
  Instruction instruction;
  std::uint32_t offset = 0;  ///< bytes from the run's first instruction
  std::uint8_t length = 0;
};

/// The requests that callback ops of a translated run make of the machine. Each has two results: a value, and
/// a status that is 0 on success.
enum class Callback : std::uint64_t {
  load_linear,  ///< (address): the byte there, as a supervisor access; else status is the #PF error code + 1
  load_msr_bitmap,  ///< (offset): the byte of the VMX MSR bitmap
  read_msr,         ///< (address, how): the register's value
  write_msr,        ///< (address, how, value): the first result is 0
};

/// `how` of read_msr and write_msr: the register's slot + 1 where translation found it (0 = unknown) in the
/// low half, and this bit for CPL 0 instructions.
inline constexpr std::uint64_t msr_supervisor = std::uint64_t{1} << 32;

/// A function that executes the run from MachineFile::rip = its first instruction. `run` must not be empty.
ir::Function lower(std::span<const PlacedInst> run, const LoweringContext& context);

}  // namespace eum::x86
