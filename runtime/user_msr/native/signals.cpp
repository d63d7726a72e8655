// Real and virtual SIGILL dispositions.
#include "runtime/user_msr/native/signals.hpp"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>

#include "runtime/user_msr/raw_syscall.hpp"

namespace eum::rt::native {
namespace {

constexpr unsigned long restorer_flag = 0x04000000;  // SA_RESTORER, which libc's headers hide
constexpr long mask_bytes = 8;

/// struct sigaction as the kernel has it.
struct KernelAction {
  void* handler;
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};

// The bytes by which debuggers and unwinders know a signal frame.
asm(R"(
  .pushsection .text
  .hidden eum_msr_restore_signal
  .globl eum_msr_restore_signal
  .type eum_msr_restore_signal, @function
eum_msr_restore_signal:
  mov $15, %rax
  syscall
  .popsection
)");
extern "C" void eum_msr_restore_signal();

long kernel_sigaction(int signal, const KernelAction* set, KernelAction* old) {
  return raw_syscall(SYS_rt_sigaction, signal, to_long(set), to_long(old), mask_bytes);
}

std::uint64_t swap_mask(std::uint64_t mask) {
  std::uint64_t old = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, to_long(&mask), to_long(&old), mask_bytes);
  return old;
}

constexpr std::uint64_t bit_of(int signal) { return std::uint64_t{1} << (signal - 1); }

/// The program's disposition. Written and read with all signals blocked, so that no handler waits for its own
/// thread.
struct ProgramAction {
  std::atomic<bool> lock{false};
  std::atomic<bool> taken{false};
  KernelAction action{};
};
ProgramAction program;

template <class Body>
void with_program_action(Body body) {
  std::uint64_t mask = swap_mask(~std::uint64_t{0});
  while (program.lock.exchange(true, std::memory_order_acquire)) raw_syscall(SYS_sched_yield);
  body(program.action);
  program.lock.store(false, std::memory_order_release);
  swap_mask(mask);
}

std::uint64_t low_mask(const sigset_t& set) {
  std::uint64_t mask;
  __builtin_memcpy(&mask, &set, sizeof mask);
  return mask;
}

KernelAction to_kernel(const struct sigaction& action) {
  return {reinterpret_cast<void*>(action.sa_handler),
          static_cast<unsigned long>(static_cast<unsigned>(action.sa_flags)) | restorer_flag,
          &eum_msr_restore_signal, low_mask(action.sa_mask)};
}

void kill_by(int signal) {
  KernelAction fallback{};
  fallback.handler = reinterpret_cast<void*>(SIG_DFL);
  kernel_sigaction(signal, &fallback, nullptr);
}

std::uint64_t context_mask(const ucontext_t& context) { return low_mask(context.uc_sigmask); }
void set_context_mask(ucontext_t& context, std::uint64_t mask) {
  __builtin_memcpy(&context.uc_sigmask, &mask, sizeof mask);
}

}  // namespace

void take_sigill(SignalHandler handler) {
  KernelAction ours{reinterpret_cast<void*>(handler), SA_SIGINFO | SA_ONSTACK | restorer_flag,
                    &eum_msr_restore_signal, ~std::uint64_t{0}};
  with_program_action([&](KernelAction& action) {
    kernel_sigaction(SIGILL, &ours, &action);
    program.taken = true;
  });
  // A program that was started with SIGILL blocked would be killed at the first instruction.
  std::uint64_t mask = swap_mask(~std::uint64_t{0});
  swap_mask(mask & ~bit_of(SIGILL));
}

void give_sigill_back() {
  with_program_action([](KernelAction& action) {
    kernel_sigaction(SIGILL, &action, nullptr);
    program.taken = false;
  });
}

bool sigill_is_taken() { return program.taken.load(std::memory_order_acquire); }

void program_sigill(const struct sigaction* set, struct sigaction* old) {
  with_program_action([&](KernelAction& action) {
    KernelAction before = action;
    if (set) action = to_kernel(*set);
    if (!old) return;
    *old = {};
    old->sa_handler = reinterpret_cast<void (*)(int)>(before.handler);
    old->sa_flags = static_cast<int>(before.flags & ~restorer_flag);
    __builtin_memcpy(&old->sa_mask, &before.mask, sizeof before.mask);
  });
}

void deliver_to_program(int signal, siginfo_t* info, void* pointer) {
  auto& context = *static_cast<ucontext_t*>(pointer);
  bool is_forced = info->si_code > 0;  // raised by an instruction, not sent
  KernelAction action{};
  with_program_action([&](KernelAction& stored) {
    action = stored;
    if (action.flags & static_cast<unsigned>(SA_RESETHAND)) stored.handler = reinterpret_cast<void*>(SIG_DFL);
  });
  if (action.handler == reinterpret_cast<void*>(SIG_IGN) && !is_forced) return;
  if (action.handler == reinterpret_cast<void*>(SIG_DFL) ||
      action.handler == reinterpret_cast<void*>(SIG_IGN)) {
    // The instruction is executed again, or the signal sent again, and ends the process.
    kill_by(signal);
    if (!is_forced) raw_syscall(SYS_tgkill, getpid(), raw_syscall(SYS_gettid), signal);
    return;
  }
  // SIGILL itself stays open: one of our instructions may stand in the handler.
  swap_mask((context_mask(context) | action.mask) & ~bit_of(SIGILL));
  if (action.flags & SA_SIGINFO)
    reinterpret_cast<SignalHandler>(action.handler)(signal, info, pointer);
  else
    reinterpret_cast<void (*)(int)>(action.handler)(signal);
}

void raise_general_protection(void* pointer) {
  auto& context = *static_cast<ucontext_t*>(pointer);
  // The kernel does not let a thread block or ignore what its own instruction raises.
  KernelAction action{};
  kernel_sigaction(SIGSEGV, nullptr, &action);
  if (context_mask(context) & bit_of(SIGSEGV) || action.handler == reinterpret_cast<void*>(SIG_IGN)) {
    kill_by(SIGSEGV);
    set_context_mask(context, context_mask(context) & ~bit_of(SIGSEGV));
  }
  siginfo_t info{};
  info.si_signo = SIGSEGV;
  info.si_code = SI_KERNEL;
  // Pending until our handler returns, then taken with the registers of the faulting instruction.
  raw_syscall(SYS_rt_tgsigqueueinfo, getpid(), raw_syscall(SYS_gettid), SIGSEGV, to_long(&info));
}

}  // namespace eum::rt::native
