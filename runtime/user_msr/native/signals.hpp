#pragma once
// SIGILL shared between the runner and the program: the program's own disposition is kept beside the real
// one, its calls that would take SIGILL away or block it are led around (interpose.cpp), and what is not ours
// is handed on.
#include <csignal>
#include <cstdint>

namespace eum::rt::native {

using SignalHandler = void (*)(int, siginfo_t*, void*);

/// Makes `handler` the process's SIGILL handler; the old disposition becomes the program's.
void take_sigill(SignalHandler handler);
/// Makes the program's disposition the real one again.
void give_sigill_back();
bool sigill_is_taken();

/// The program's view of its SIGILL disposition; null arguments are allowed. Safe in signal handlers.
void program_sigill(const struct sigaction* set, struct sigaction* old);

/// Hands a SIGILL that is not ours to the program as the kernel would have.
void deliver_to_program(int signal, siginfo_t* info, void* context);
/// Raises SIGSEGV at the context's RIP as the kernel does for #GP(0).
void raise_general_protection(void* context);

}  // namespace eum::rt::native
