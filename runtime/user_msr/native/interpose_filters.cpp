// Calls by which the program confines itself: the runner must know about them before they take effect.
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cstdarg>

#include "runtime/user_msr/native/interpose_syscall.hpp"
#include "runtime/user_msr/native/next.hpp"
#include "runtime/user_msr/native/runner.hpp"
#include "runtime/user_msr/native/seccomp.hpp"

namespace {

using namespace eum::rt::native;

/// struct sock_fprog, for which the program may have passed null.
bool is_deadly_program(const sock_fprog* program) {
  return program && program->filter && is_deadly({program->filter, program->len});
}

void before_confining(bool is_deadly) {
  RunnerState* state = runner();
  if (state && is_deadly && !state->is_confined) confine(*state);
}

void before_prctl(long option, long mode, long program) {
  if (option != PR_SET_SECCOMP) return;
  before_confining(
      mode == SECCOMP_MODE_STRICT ||
      (mode == SECCOMP_MODE_FILTER && is_deadly_program(reinterpret_cast<const sock_fprog*>(program))));
}

}  // namespace

namespace eum::rt::native {

long change_filters(long number, const SyscallArguments& a, SyscallForward forward) {
  if (number == SYS_prctl) before_prctl(a[0], a[1], a[2]);
  if (number == SYS_seccomp)
    before_confining(
        a[0] == SECCOMP_SET_MODE_STRICT ||
        (a[0] == SECCOMP_SET_MODE_FILTER && is_deadly_program(reinterpret_cast<const sock_fprog*>(a[2]))));
  return forward(number, a);
}

}  // namespace eum::rt::native

extern "C" int prctl(int option, ...) noexcept {
  std::va_list rest;
  va_start(rest, option);
  // If the option has fewer arguments, the values are arbitrary.
  long a = va_arg(rest, long), b = va_arg(rest, long), c = va_arg(rest, long), d = va_arg(rest, long);
  va_end(rest);
  before_prctl(option, a, b);
  return next_prctl.get()(option, a, b, c, d);
}
