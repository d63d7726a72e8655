#pragma once
// SIGILL and SIGSEGV shared between the runner and the program: the program's own dispositions are kept
// beside the real ones, its calls that would change these are led around (interpose_signals.cpp), and what is
// not ours is handed on. It must not know instructions.
#include <csignal>
#include <cstdint>

namespace eum::rt::native {

using SignalHandler = void (*)(int, siginfo_t*, void*);
/// Sees a SIGSEGV before the program does. True: it is dealt with.
using FaultFilter = bool (*)(siginfo_t*, void*);

/// struct sigaction as the kernel has it.
struct KernelAction {
  void* handler;
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};

constexpr std::uint64_t bit_of(int signal) { return std::uint64_t{1} << (signal - 1); }

/// Makes both signals' real handlers the runner's, with all signals blocked; the old dispositions become the
/// program's. SIGSEGV is handled on the stack that the program has for it.
void take_signals(SignalHandler on_sigill, FaultFilter on_sigsegv);
/// Makes the program's dispositions the real ones again.
void give_signals_back();
/// After a fork, in the child: another thread that was about to change a disposition does not exist.
void forget_signal_lock();
/// Whether this signal's disposition is kept here.
bool is_taken(int signal);

/// The program's view of its disposition of a taken signal; null arguments are allowed. Safe in signal
/// handlers.
void program_action(int signal, const KernelAction* set, KernelAction* old);

/// Hands a SIGILL that is not ours to the program as the kernel would have.
void deliver_to_program(int signal, siginfo_t* info, void* context);
/// Raises SIGSEGV at the context's RIP as the kernel does for #GP(0). In a handler of either signal.
void raise_general_protection(void* context);

}  // namespace eum::rt::native
