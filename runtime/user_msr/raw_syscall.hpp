#pragma once
// System calls without libc: no errno, no vector registers, no cancellation point; safe in signal handlers
// and on a program's stack below its red zone.
#include <cstdint>

namespace eum::rt {

/// The kernel's answer: -errno on failure.
inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

inline long to_long(const void* pointer) {
  return static_cast<long>(reinterpret_cast<std::intptr_t>(pointer));
}

}  // namespace eum::rt
