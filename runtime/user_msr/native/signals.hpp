#pragma once
// SIGILL and SIGSEGV shared between the runner and the program: the program's own dispositions are kept
// besides the real ones, its calls that would change them are redirected (interpose_signals.cpp), and signals
// that do not concern the runner are passed on. It must not know instructions.
#include <csignal>
#include <cstdint>

namespace eum::rt::native {

using SignalHandler = void (*)(int, siginfo_t*, void*);
/// Sees a SIGSEGV before the program does. True: it has been handled.
using FaultFilter = bool (*)(siginfo_t*, void*);

/// The kernel's struct sigaction.
struct KernelAction {
  void* handler;
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};

constexpr std::uint64_t bit_of(int signal) { return std::uint64_t{1} << (signal - 1); }

/// Installs the runner's handlers for both signals, with all signals blocked; the old dispositions become the
/// program's. SIGSEGV is handled on the stack that the program has chosen for it.
void take_signals(SignalHandler on_sigill, FaultFilter on_sigsegv);
/// Makes the program's dispositions the real ones again.
void give_signals_back();
/// For the child after a fork: releases the lock of a thread that does not exist there.
void forget_signal_lock();
/// Whether this signal's disposition is virtual.
bool is_taken(int signal);

/// Gets and sets the program's disposition of a taken signal; the arguments may be null. Safe in signal
/// handlers.
void program_action(int signal, const KernelAction* set, KernelAction* old);

/// Passes a SIGILL that does not concern the runner to the program as the kernel would have.
void deliver_to_program(int signal, siginfo_t* info, void* context);
/// Raises SIGSEGV at the context's RIP as the kernel does for #GP(0). For use in a handler of either signal.
void raise_general_protection(void* context);

}  // namespace eum::rt::native
