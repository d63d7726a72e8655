// The trap handler: decodes at RIP, does the access on the signal context, patches. Also attaching and
// detaching.
#include "runtime/user_msr/native/runner.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <memory>

#include "runtime/user_msr/native/breakpoint.hpp"
#include "runtime/user_msr/native/copied_jump.hpp"
#include "runtime/user_msr/native/cpuid.hpp"
#include "runtime/user_msr/native/mapping_change.hpp"
#include "runtime/user_msr/native/patcher.hpp"
#include "runtime/user_msr/native/seccomp.hpp"
#include "runtime/user_msr/native/signal_mask.hpp"
#include "runtime/user_msr/native/signals.hpp"
#include "runtime/user_msr/native/trapped.hpp"
#include "runtime/user_msr/raw_syscall.hpp"

namespace eum::rt::native {
namespace {

// The only global: state that a signal handler can reach is global to the process anyway.
std::atomic<RunnerState*> attached{nullptr};

/// Whether the trap was an instruction fetch.
bool is_fetch_fault(const ucontext_t& context) {
  constexpr greg_t page_fault = 14, by_fetch = 0x10;
  const greg_t* registers = context.uc_mcontext.gregs;
  return registers[REG_TRAPNO] == page_fault && (registers[REG_ERR] & by_fetch) != 0 &&
         registers[REG_CR2] == registers[REG_RIP];
}

/// Indices of signal context registers by x86 register number.
constexpr std::array<int, x86::legacy_gpr_count> context_registers{
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

/// If `rip` is at the fault instruction of a stub, the site to which the stub belongs; else null.
const Site* site_of_fault(const RunnerState& state, std::uint64_t rip) {
  if (!state.arenas.find(rip)) return nullptr;
  const auto* code = reinterpret_cast<const std::uint8_t*>(rip);
  if (code[0] != fault_instruction[0] || code[1] != fault_instruction[1]) return nullptr;
  const Site* site;
  __builtin_memcpy(&site, code + fault_instruction.size(), sizeof site);
  return site;
}

/// Does the access of the instruction at `rip` on the context, or raises #GP(0). `msr`: set to the register.
bool do_access(RunnerState& state, ucontext_t& context, std::uint64_t rip,
               const x86::Instruction& instruction, std::uint8_t length, std::uint32_t& msr) {
  greg_t* registers = context.uc_mcontext.gregs;
  msr = instruction.is_immediate()
            ? instruction.msr
            : static_cast<std::uint32_t>(registers[context_registers[instruction.index]]);
  greg_t& data = registers[context_registers[instruction.data]];
  auto value = static_cast<std::uint64_t>(data);
  bool allowed = access_user_msr(state, instruction.is_read(), msr, value);
  if (state.trace.is_open())
    state.trace.line(rip, instruction, msr, state.msrs.user_name(msr), allowed, value);
  if (!allowed) {
    raise_general_protection(&context);
    return false;
  }
  if (instruction.is_read()) data = static_cast<greg_t>(value);
  registers[REG_RIP] = static_cast<greg_t>(rip + length);
  return true;
}

/// Does the access for a jump that was copied with its code; false if it was something else.
bool follow_copied_jump(RunnerState& state, ucontext_t& context) {
  greg_t* registers = context.uc_mcontext.gregs;
  CopiedJump copied = find_copied_jump(state, static_cast<std::uint64_t>(registers[REG_RIP]));
  if (copied.address == 0) return false;
  registers[REG_RIP] = static_cast<greg_t>(copied.address);
  if (copied.is_replaced) return true;
  std::uint32_t msr = 0;
  do_access(state, context, copied.address, copied.instruction, copied.length, msr);
  return true;
}

/// A debugger with a breakpoint on the instruction expects the handler to return to it, which it does not: a
/// SIGTRAP, which the debugger takes for its own, tells it that the instruction is done.
void tell_debugger() {
  if (is_traced()) raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), SIGTRAP);
}

/// Determines the access under a debugger's breakpoint.
Trapped classify_under_breakpoint(RunnerState& state, std::uint64_t rip, const CodeBytes& bytes) {
  Trapped trapped;
  UnderBreakpoint found = look_under_breakpoint(state.sites, rip, bytes, -1);
  if (found.kind == UnderBreakpoint::Unknown) {
    state.lock.lock();
    int first_byte = byte_of_file(state.mappings, rip, bytes.span());
    state.lock.unlock();
    found = look_under_breakpoint(state.sites, rip, bytes, first_byte);
  }
  if (found.kind == UnderBreakpoint::Unknown) state.notices.say(Notice::HiddenByBreakpoint, rip);
  if (found.kind != UnderBreakpoint::Access) return trapped;
  trapped.kind = Trapped::Access;
  trapped.instruction = found.instruction;
  trapped.length = found.length;
  tell_debugger();
  return trapped;
}

void on_sigill(int signal, siginfo_t* info, void* pointer) {
  auto& context = *static_cast<ucontext_t*>(pointer);
  greg_t* registers = context.uc_mcontext.gregs;
  RunnerState* state = runner();
  if (!state || info->si_code <= 0) return deliver_to_program(signal, info, pointer);
  auto rip = static_cast<std::uint64_t>(registers[REG_RIP]);
  if (const Site* site = site_of_fault(*state, rip)) {
    registers[REG_RIP] = static_cast<greg_t>(site->address);
    return raise_general_protection(pointer);
  }
  if (state->arenas.find(rip) && follow_copied_jump(*state, context)) return;
  if (state->shows_cpuid) set_cpuid_faults(true);  // again, after a handler of SIGSEGV
  CodeBytes bytes;
  Trapped trapped = classify_stable(
      state->sites, state->clock, rip, bytes, [&](std::uint64_t address, std::span<std::uint8_t> to) {
        std::size_t count = state->is_confined ? read_code_without_calls(state->cpu, address, to)
                                               : read_code(state->cpu, address, to);
        restore_copy(state->sites, address, to.first(count));
        return count;
      });
  if (trapped.kind == Trapped::Retry) return;
  if (trapped.kind == Trapped::NotOurs && bytes.count != 0 && bytes.bytes[0] == breakpoint_byte)
    trapped = classify_under_breakpoint(*state, rip, bytes);
  if (trapped.kind == Trapped::NotOurs) return deliver_to_program(signal, info, pointer);

  std::uint32_t msr = 0;
  if (!do_access(*state, context, rip, trapped.instruction, trapped.length, msr)) return;
  if (trapped.is_whole && state->can_patch.load(std::memory_order_relaxed))
    patch_site(*state, rip + trapped.prefixes, bytes.span().first(trapped.length).subspan(trapped.prefixes),
               trapped.instruction, msr);
}

/// Emulates a CPUID that faulted; false if it was something else.
bool follow_cpuid(RunnerState& state, ucontext_t& context) {
  constexpr greg_t general_protection = 13;
  greg_t* registers = context.uc_mcontext.gregs;
  if (registers[REG_TRAPNO] != general_protection || registers[REG_ERR] != 0) return false;
  CodeBytes bytes;
  bytes.count = read_code(state.cpu, static_cast<std::uint64_t>(registers[REG_RIP]), bytes.bytes);
  std::size_t length = cpuid_length(bytes.span());
  if (length == 0) return false;
  CpuidResult result = emulate_cpuid(static_cast<std::uint32_t>(registers[REG_RAX]),
                                     static_cast<std::uint32_t>(registers[REG_RCX]));
  registers[REG_RAX] = result.eax;
  registers[REG_RBX] = result.ebx;
  registers[REG_RCX] = result.ecx;
  registers[REG_RDX] = result.edx;
  registers[REG_RIP] += static_cast<greg_t>(length);
  if (bytes.bytes[0] == breakpoint_byte) tell_debugger();
  return true;
}

/// Handles a SIGSEGV that must be hidden from the program.
bool on_sigsegv(siginfo_t* info, void* pointer) {
  auto& context = *static_cast<ucontext_t*>(pointer);
  RunnerState* state = runner();
  if (!state) return false;
  bool is_fault = info->si_code > 0;
  if (is_fault && state->shows_cpuid && follow_cpuid(*state, context)) return true;
  if (is_fault && is_fetch_fault(context) && follow_copied_jump(*state, context)) return true;
  // The program's handler runs next, with SIGSEGV blocked.
  if (state->shows_cpuid) set_cpuid_faults(false);
  return false;
}

/// After a fork while another thread was patching: that thread does not exist in the child, but its
/// unfinished changes do.
void after_fork_in_child() {
  RunnerState* state = runner();
  if (!state) return;
  forget_changes_of_other_threads();
  forget_signal_lock();
  if (state->lock.reset()) finish_rewrites(*state);
}

}  // namespace

RunnerState* runner() { return attached.load(std::memory_order_acquire); }

void confine(RunnerState& state) {
  state.can_patch = false;
  state.is_confined = true;
  state.trace.close();
  state.notices.say(Notice::Confined);
}

Result<void> attach(const std::string& config_path, const RunnerOptions& options) {
  if (runner()) return error("expected no runner in this process yet, found one attached");
  Result<MsrConfig> config = load_msr_config(config_path);
  if (!config) return config.error();
  auto state = std::make_unique<RunnerState>();
  state->bitmap = config->bitmap;
  if (!state->sites.create()) return error("no address space for the table of sites");
  Result<void> added = state->msrs.add_all(*config);
  if (!added) return added.error();
  state->options = options;
  state->code = CodeMemory(options.write_method);
  if (!state->trace.open(state->options.trace.c_str()))
    return error("expected a file that can be written for the trace, found {}", options.trace);
  state->cpu = look_at_cpu();
  state->notices.open();
  bool is_confined = is_started_confined();
  state->can_patch = options.patch && !is_confined && prepare_serialize_cores();
  static const int registered = pthread_atfork(nullptr, nullptr, &after_fork_in_child);
  if (registered != 0) return error("pthread_atfork: no memory");
  attached.store(state.release(), std::memory_order_release);
  if (is_confined) confine(*runner());
  take_signals(&on_sigill, &on_sigsegv);
  if (options.show_cpuid && !is_confined && make_cpuid_fault()) {
    runner()->shows_cpuid = true;
    set_unblockable(bit_of(SIGILL) | bit_of(SIGSEGV));
  }
  return {};
}

void detach() {
  RunnerState* state = runner();
  if (!state) return;
  state->can_patch = false;
  state->lock.lock();
  restore_sites(*state, 0, UINT64_MAX);
  if (state->shows_cpuid) set_cpuid_faults(false);
  give_signals_back();
  attached.store(nullptr, std::memory_order_release);
  state->arenas.release();
  state->code.close();
  state->mappings.close();
  state->trace.close();
  delete state;
}

}  // namespace eum::rt::native
