#pragma once
// CPUID as the program sees it, with USER_MSR, CPUID.(EAX=7,ECX=1):EDX[15]. If the processor can make CPUID
// fault (Linux: arch_prctl ARCH_SET_CPUID), each execution raises SIGSEGV and is emulated here; otherwise the
// program sees the processor's own. It must not know signals.
#include <cstddef>
#include <cstdint>
#include <span>

namespace eum::rt::native {

struct CpuidResult {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  bool operator==(const CpuidResult&) const = default;
};

/// CPUID.(7,1):EDX, see SDM volume 2, CPUID.
inline constexpr std::uint32_t user_msr_bit = 1 << 15;

/// The result, with USER_MSR added, for a processor whose CPUID is `host(leaf, subleaf)`.
template <class Host>
CpuidResult cpuid_with_user_msr(std::uint32_t leaf, std::uint32_t subleaf, Host host) {
  CpuidResult result = host(leaf, subleaf);
  if (leaf != 7 || subleaf > 1) return result;
  if (subleaf == 0) {  // EAX: the highest subleaf
    if (result.eax == 0) result.eax = 1;
    return result;
  }
  // A subleaf that the processor lacks reads as zeros, or as another leaf.
  if (host(7, 0).eax == 0) result = {};
  result.edx |= user_msr_bit;
  return result;
}

/// The length of the CPUID instruction at the front of `code`, including prefixes; 0 if there is none. A
/// debugger's breakpoint may hide its first byte.
std::size_t cpuid_length(std::span<const std::uint8_t> code);

/// Makes CPUID fault in this thread and those that it starts. False: the host cannot, needs no help, or has
/// no leaf 7.
bool make_cpuid_fault();
/// For this thread: while SIGSEGV is blocked, a fault would end the process. Costs nothing if nothing
/// changes.
void set_cpuid_faults(bool faults);

/// Executes CPUID in a thread in which it faults.
CpuidResult emulate_cpuid(std::uint32_t leaf, std::uint32_t subleaf);

}  // namespace eum::rt::native
