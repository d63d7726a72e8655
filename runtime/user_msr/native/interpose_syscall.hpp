#pragma once
// libc's syscall(): the calls that the preloaded library stands in for, reached by their numbers.
#include <sys/syscall.h>

#include <array>

namespace eum::rt::native {

using SyscallArguments = std::array<long, 6>;
/// Executes the call; the result and errno as syscall() has them.
using SyscallForward = long (*)(long number, const SyscallArguments& arguments);

/// The calls that change memory, as libc's functions of that name.
long change_memory(long number, const SyscallArguments& arguments, SyscallForward forward);

}  // namespace eum::rt::native
