#pragma once
// libc's syscall(): calls that the preloaded library replaces, reached by number.
#include <sys/syscall.h>

#include <array>

namespace eum::rt::native {

using SyscallArguments = std::array<long, 6>;
/// Executes the call; result and errno are those of syscall().
using SyscallForward = long (*)(long number, const SyscallArguments& arguments);

/// Behave as libc's functions for these calls. A call that they do not handle is forwarded.
long change_memory(long number, const SyscallArguments& arguments, SyscallForward forward);
long change_signals(long number, const SyscallArguments& arguments, SyscallForward forward);
long change_filters(long number, const SyscallArguments& arguments, SyscallForward forward);
long change_program(long number, const SyscallArguments& arguments, SyscallForward forward);

/// Must be called at startup: stores what children need from the environment.
void remember_environment();

}  // namespace eum::rt::native
