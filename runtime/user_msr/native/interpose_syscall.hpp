#pragma once
// libc's syscall(): the calls that the preloaded library stands in for, reached by their numbers.
#include <sys/syscall.h>

#include <array>

namespace eum::rt::native {

using SyscallArguments = std::array<long, 6>;
/// Executes the call; the result and errno as syscall() has them.
using SyscallForward = long (*)(long number, const SyscallArguments& arguments);

/// As libc's functions of these names. A call that is none of theirs is forwarded.
long change_memory(long number, const SyscallArguments& arguments, SyscallForward forward);
long change_signals(long number, const SyscallArguments& arguments, SyscallForward forward);
long change_filters(long number, const SyscallArguments& arguments, SyscallForward forward);
long change_program(long number, const SyscallArguments& arguments, SyscallForward forward);

/// To be called at the start: what children need of the environment.
void remember_environment();

}  // namespace eum::rt::native
