// syscall() itself. A call that is not watched goes to the kernel without a stack frame of this library: it
// may return twice, or on another stack.
#include "runtime/user_msr/native/interpose_syscall.hpp"

#include <cerrno>
#include <cstdint>

#include "runtime/user_msr/raw_syscall.hpp"

namespace {

using namespace eum::rt::native;

constexpr std::uint64_t watched_words = 8;  // numbers below 512

struct Watched {
  std::uint64_t words[watched_words];
};
constexpr Watched watch(std::initializer_list<long> numbers) {
  Watched watched{};
  for (long number : numbers) watched.words[number / 64] |= std::uint64_t{1} << number % 64;
  return watched;
}

long forward(long number, const SyscallArguments& a) {
  long result = eum::rt::raw_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (result > -4096 && result < 0) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}

}  // namespace

extern "C" {

/// One bit per call that eum_msr_watched_syscall handles.
__attribute__((visibility("hidden"), used)) extern const Watched eum_msr_watched_calls =
    watch({SYS_mprotect, SYS_pkey_mprotect, SYS_mmap, SYS_munmap, SYS_mremap, SYS_madvise,
           SYS_process_vm_writev, SYS_open, SYS_openat, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_prctl,
           SYS_seccomp, SYS_execve, SYS_execveat});

__attribute__((visibility("hidden"), used)) long eum_msr_watched_syscall(long number, long a, long b, long c,
                                                                         long d, long e, long f) {
  SyscallArguments arguments{a, b, c, d, e, f};
  switch (number) {
    case SYS_rt_sigaction:
    case SYS_rt_sigprocmask:
      return change_signals(number, arguments, &forward);
    case SYS_prctl:
    case SYS_seccomp:
      return change_filters(number, arguments, &forward);
    case SYS_execve:
    case SYS_execveat:
      return change_program(number, arguments, &forward);
    default:
      return change_memory(number, arguments, &forward);
  }
}

}  // extern "C"

asm(R"(
  .pushsection .text
  .globl syscall
  .type syscall, @function
syscall:
  .cfi_startproc
  cmp $511, %rdi
  ja 1f
  lea eum_msr_watched_calls(%rip), %rax
  bt %rdi, (%rax)
  jc eum_msr_watched_syscall
1:
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  mov %r8, %r10
  mov %r9, %r8
  mov 8(%rsp), %r9
  syscall
  cmp $-4095, %rax
  jae 2f
  ret
2:
  neg %eax
  push %rax
  .cfi_adjust_cfa_offset 8
  call __errno_location@plt
  pop %rcx
  .cfi_adjust_cfa_offset -8
  mov %ecx, (%rax)
  mov $-1, %rax
  ret
  .cfi_endproc
  .size syscall, . - syscall
  .popsection
)");
