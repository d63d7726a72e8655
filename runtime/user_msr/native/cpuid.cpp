// Decodes and executes CPUID.
#include "runtime/user_msr/native/cpuid.hpp"

#include <asm/prctl.h>
#include <sys/syscall.h>

#include "runtime/user_msr/native/breakpoint.hpp"
#include "runtime/user_msr/native/trapped.hpp"
#include "runtime/user_msr/raw_syscall.hpp"

namespace eum::rt::native {
namespace {

// Whether CPUID faults in this thread; meaningful only if make_cpuid_fault() succeeded.
__attribute__((tls_model("initial-exec"))) thread_local bool faults_here = true;

bool set_faulting(bool faults) { return raw_syscall(SYS_arch_prctl, ARCH_SET_CPUID, faults ? 0 : 1) == 0; }

CpuidResult host_cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
  CpuidResult r;
  asm volatile("cpuid" : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx) : "a"(leaf), "c"(subleaf));
  return r;
}

}  // namespace

std::size_t cpuid_length(std::span<const std::uint8_t> code) {
  constexpr std::uint8_t escape = 0x0f, opcode = 0xa2;
  std::size_t i = 0;
  while (i < code.size() && is_prefix(code[i])) ++i;
  if (i + 1 >= code.size() || code[i + 1] != opcode) return 0;
  bool is_hidden = i == 0 && code[0] == breakpoint_byte;
  return code[i] == escape || is_hidden ? i + 2 : 0;
}

bool make_cpuid_fault() {
  if (host_cpuid(0, 0).eax < 7) return false;
  if (host_cpuid(7, 0).eax >= 1 && (host_cpuid(7, 1).edx & user_msr_bit) != 0) return false;
  faults_here = set_faulting(true);
  return faults_here;
}

void set_cpuid_faults(bool faults) {
  if (faults_here != faults && set_faulting(faults)) faults_here = faults;
}

CpuidResult emulate_cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
  set_faulting(false);
  CpuidResult result = cpuid_with_user_msr(leaf, subleaf, host_cpuid);
  set_faulting(true);
  return result;
}

}  // namespace eum::rt::native
