// Real and virtual dispositions of SIGILL and SIGSEGV.
#include "runtime/user_msr/native/signals.hpp"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>

#include "runtime/user_msr/native/signal_mask.hpp"
#include "runtime/user_msr/signals_blocked.hpp"

// Reached by RET from a handler, with RSP at the ucontext_t. The name, the two instructions and the rules for
// each register are those of libc's own version: debuggers and unwinders recognise a signal frame by one or
// the other. They find the NOP when they look before the return address.
asm(R"(
  .pushsection .text
  .type __restore_rt, @function
  .cfi_startproc
  .cfi_signal_frame
  .cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06
  .cfi_escape 0x10, 8, 2, 0x77, 40
  .cfi_escape 0x10, 9, 2, 0x77, 48
  .cfi_escape 0x10, 10, 2, 0x77, 56
  .cfi_escape 0x10, 11, 3, 0x77, 0xc0, 0
  .cfi_escape 0x10, 12, 3, 0x77, 0xc8, 0
  .cfi_escape 0x10, 13, 3, 0x77, 0xd0, 0
  .cfi_escape 0x10, 14, 3, 0x77, 0xd8, 0
  .cfi_escape 0x10, 15, 3, 0x77, 0xe0, 0
  .cfi_escape 0x10, 5, 3, 0x77, 0xe8, 0
  .cfi_escape 0x10, 4, 3, 0x77, 0xf0, 0
  .cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0
  .cfi_escape 0x10, 3, 3, 0x77, 0x80, 1
  .cfi_escape 0x10, 1, 3, 0x77, 0x88, 1
  .cfi_escape 0x10, 0, 3, 0x77, 0x90, 1
  .cfi_escape 0x10, 2, 3, 0x77, 0x98, 1
  .cfi_escape 0x10, 7, 3, 0x77, 0xa0, 1
  .cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1
  nop
__restore_rt:
  mov $15, %rax
  syscall
  .cfi_endproc
  .size __restore_rt, . - __restore_rt

  # SIGSEGV's handler. The program's is entered by a jump: on its stack stands what the kernel put there.
  .type eum_msr_sigsegv_entry, @function
eum_msr_sigsegv_entry:
  .cfi_startproc
  push %rdi
  .cfi_adjust_cfa_offset 8
  push %rsi
  .cfi_adjust_cfa_offset 8
  push %rdx
  .cfi_adjust_cfa_offset 8
  call eum_msr_route_sigsegv
  pop %rdx
  .cfi_adjust_cfa_offset -8
  pop %rsi
  .cfi_adjust_cfa_offset -8
  pop %rdi
  .cfi_adjust_cfa_offset -8
  test %rax, %rax
  jz 1f
  jmp *%rax
1:
  ret
  .cfi_endproc
  .size eum_msr_sigsegv_entry, . - eum_msr_sigsegv_entry
  .popsection
)");
extern "C" __attribute__((visibility("hidden"))) void __restore_rt();
extern "C" __attribute__((visibility("hidden"))) void eum_msr_sigsegv_entry();

namespace eum::rt::native {
namespace {

constexpr unsigned long restorer_flag = 0x04000000;  // SA_RESTORER, which libc's headers hide
constexpr unsigned long siginfo_flag = SA_SIGINFO, stack_flag = SA_ONSTACK, restart_flag = SA_RESTART;
constexpr unsigned long reset_flag = static_cast<unsigned>(SA_RESETHAND);
constexpr long mask_bytes = 8;
constexpr greg_t trap_ud = 6, trap_gp = 13;

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}
void* default_action() { return address_of(SIG_DFL); }
void* ignore_action() { return address_of(SIG_IGN); }

long kernel_sigaction(int signal, const KernelAction* set, KernelAction* old) {
  return raw_syscall(SYS_rt_sigaction, signal, to_long(set), to_long(old), mask_bytes);
}

/// The program's dispositions. Written and read with all signals blocked, so that no handler waits for its
/// own thread.
struct ProgramActions {
  std::atomic<bool> lock{false};
  std::atomic<bool> taken{false};
  KernelAction sigill{}, sigsegv{};
  FaultFilter filter = nullptr;
};
ProgramActions program;

template <class Body>
void with_program_action(int signal, Body body) {
  SignalsBlocked blocked;
  while (program.lock.exchange(true, std::memory_order_acquire)) raw_syscall(SYS_sched_yield);
  body(signal == SIGILL ? program.sigill : program.sigsegv);
  program.lock.store(false, std::memory_order_release);
}

/// Sets the real disposition of SIGSEGV for this disposition of the program. All signals are blocked at
/// first: the target of a copied jump must not become visible.
void install_sigsegv(const KernelAction& action) {
  bool has_handler = action.handler != default_action() && action.handler != ignore_action();
  KernelAction ours{address_of(&eum_msr_sigsegv_entry), siginfo_flag | restorer_flag, &__restore_rt,
                    ~std::uint64_t{0}};
  ours.flags |= has_handler ? action.flags & ~reset_flag : stack_flag | restart_flag;
  kernel_sigaction(SIGSEGV, &ours, nullptr);
}

/// The program's disposition for one delivery, with SA_RESETHAND applied.
KernelAction take_program_action(int signal) {
  KernelAction action{};
  with_program_action(signal, [&](KernelAction& stored) {
    action = stored;
    if ((action.flags & reset_flag) == 0) return;
    stored.handler = default_action();
    if (signal == SIGSEGV) install_sigsegv(stored);
  });
  return action;
}

void kill_by(int signal) {
  KernelAction fallback{};
  fallback.handler = default_action();
  kernel_sigaction(signal, &fallback, nullptr);
}

/// If the disposition is not a handler, applies its effect and returns true.
bool act_without_handler(const KernelAction& action, int signal, const siginfo_t& info) {
  bool is_forced = info.si_code > 0;  // raised by an instruction, not sent
  if (action.handler == ignore_action() && !is_forced) return true;
  const bool has_handler = action.handler != default_action() && action.handler != ignore_action();
  // The kernel does not call a handler for a signal raised by an instruction while it is blocked.
  const bool is_blocked = is_forced && (believed_mask() & bit_of(signal)) != 0;
  if (has_handler && !is_blocked) return false;
  // Executing the instruction, or sending the signal, again then ends the process.
  kill_by(signal);
  if (!is_forced) raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), signal);
  return true;
}

std::uint64_t context_mask(const ucontext_t& context) {
  std::uint64_t mask;
  __builtin_memcpy(&mask, &context.uc_sigmask, sizeof mask);
  return mask;
}
void set_context_mask(ucontext_t& context, std::uint64_t mask) {
  __builtin_memcpy(&context.uc_sigmask, &mask, sizeof mask);
}

}  // namespace

/// Returns the program's handler, which the caller enters, or null.
extern "C" __attribute__((visibility("hidden"), used)) void* eum_msr_route_sigsegv(int signal,
                                                                                   siginfo_t* info,
                                                                                   void* pointer) {
  greg_t* registers = static_cast<ucontext_t*>(pointer)->uc_mcontext.gregs;
  // After raise_general_protection(): the kernel reports the last trap, which was #UD.
  if (info->si_code == SI_KERNEL && registers[REG_TRAPNO] == trap_ud) {
    registers[REG_TRAPNO] = trap_gp;
    registers[REG_ERR] = 0;
  }
  if (program.filter && program.filter(info, pointer)) return nullptr;
  if (info->si_code <= 0 && keep_pending(signal, *info)) return nullptr;
  KernelAction action = take_program_action(signal);
  if (act_without_handler(action, signal, *info)) return nullptr;
  std::uint64_t own = action.flags & static_cast<unsigned>(SA_NODEFER) ? 0 : bit_of(signal);
  swap_signal_mask(((context_mask(*static_cast<ucontext_t*>(pointer)) | action.mask) & ~unblockable()) | own);
  return action.handler;
}

void take_signals(SignalHandler on_sigill, FaultFilter on_sigsegv) {
  set_unblockable(bit_of(SIGILL));
  program.filter = on_sigsegv;
  KernelAction ours{address_of(on_sigill), siginfo_flag | stack_flag | restorer_flag, &__restore_rt,
                    ~std::uint64_t{0}};
  with_program_action(SIGILL, [&](KernelAction& action) { kernel_sigaction(SIGILL, &ours, &action); });
  with_program_action(SIGSEGV, [&](KernelAction& action) {
    kernel_sigaction(SIGSEGV, nullptr, &action);
    install_sigsegv(action);
    program.taken = true;
  });
  // In a program that was started with SIGILL blocked, the first instruction would end the process.
  std::uint64_t mask = swap_signal_mask(asynchronous_signals());
  swap_signal_mask(mask & ~unblockable());
  set_believed_mask(mask & unblockable());
}

void give_signals_back() {
  for (int signal : {SIGILL, SIGSEGV})
    with_program_action(signal, [&](KernelAction& action) {
      kernel_sigaction(signal, &action, nullptr);
      program.taken = false;
    });
  set_unblockable(0);
}

void forget_signal_lock() { program.lock.store(false, std::memory_order_release); }

bool is_taken(int signal) {
  return (signal == SIGILL || signal == SIGSEGV) && program.taken.load(std::memory_order_acquire);
}

void program_action(int signal, const KernelAction* set, KernelAction* old) {
  with_program_action(signal, [&](KernelAction& action) {
    KernelAction before = action;
    if (set) action = *set;
    if (set && signal == SIGSEGV) install_sigsegv(action);
    if (old) *old = before;
  });
}

void deliver_to_program(int signal, siginfo_t* info, void* pointer) {
  if (info->si_code <= 0 && keep_pending(signal, *info)) return;
  KernelAction action = take_program_action(signal);
  if (act_without_handler(action, signal, *info)) return;
  // The signal itself stays unblocked: the handler may contain a user MSR instruction.
  swap_signal_mask((context_mask(*static_cast<ucontext_t*>(pointer)) | action.mask) & ~unblockable());
  if (action.flags & siginfo_flag)
    reinterpret_cast<SignalHandler>(action.handler)(signal, info, pointer);
  else
    reinterpret_cast<void (*)(int)>(action.handler)(signal);
}

void raise_general_protection(void* pointer) {
  auto& context = *static_cast<ucontext_t*>(pointer);
  // The kernel does not let a thread block or ignore signals raised by its own instructions.
  KernelAction action{};
  program_action(SIGSEGV, nullptr, &action);
  if (context_mask(context) & bit_of(SIGSEGV) || action.handler == ignore_action()) {
    kill_by(SIGSEGV);
    set_context_mask(context, context_mask(context) & ~bit_of(SIGSEGV));
  }
  siginfo_t info{};
  info.si_signo = SIGSEGV;
  info.si_code = SI_KERNEL;
  // Pending until this handler returns, then delivered with the registers of the faulting instruction.
  swap_signal_mask(~std::uint64_t{0});
  raw_syscall(SYS_rt_tgsigqueueinfo, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), SIGSEGV,
              to_long(&info));
}

}  // namespace eum::rt::native
