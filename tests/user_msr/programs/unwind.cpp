// Unwinding from every instruction of every kind of stub: backtrace() in a signal handler sees the function
// with the access and its callers, and an exception thrown there is caught with all registers restored. The
// trap flag single-steps through the instructions.
#include <execinfo.h>
#include <ucontext.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "check.h"
#include "user_msr.h"

namespace {

constexpr unsigned constant_msr = 0x10, counter_msr = 0x11, tsc_msr = 0x12, scratch_msr = 0x13,
                   file_msr = 0x17;
constexpr std::uint64_t trap_flag = 0x100;

// Functions with one access each; their operands are RCX and RAX, and for some RBX.
struct Probe {
  void (*code)();
  std::uint64_t rcx, rax;
};

#define PROBE(name, bytes)                                                         \
  extern "C" void name();                                                          \
  asm(".text\n.type " #name ", @function\n" #name ": .cfi_startproc\n.byte " bytes \
      "\nret\n.cfi_endproc\n.size " #name ", . - " #name)
PROBE(read_by_register, "0xf2, 0x0f, 0x38, 0xf8, 0xc8");
PROBE(read_to_rbx, "0xf2, 0x0f, 0x38, 0xf8, 0xcb");
PROBE(write_by_register, "0xf3, 0x0f, 0x38, 0xf8, 0xc8");
PROBE(read_constant, "0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 0x10, 0, 0, 0");
PROBE(read_counter, "0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 0x11, 0, 0, 0");
PROBE(read_tsc, "0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 0x12, 0, 0, 0");
PROBE(read_scratch, "0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 0x13, 0, 0, 0");
PROBE(write_scratch, "0xc4, 0xe7, 0x7a, 0xf8, 0xc0, 0x13, 0, 0, 0");
PROBE(read_file, "0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 0x17, 0, 0, 0");

const Probe probes[] = {{read_by_register, constant_msr, 0},
                        {read_by_register, counter_msr, 0},
                        {read_by_register, tsc_msr, 0},
                        {read_by_register, file_msr, 0},
                        {read_to_rbx, constant_msr, 0},
                        {read_to_rbx, file_msr, 0},
                        {write_by_register, scratch_msr, 7},
                        {read_constant, 0, 0},
                        {read_counter, 0, 0},
                        {read_tsc, 0, 0},
                        {read_scratch, 0, 0},
                        {write_scratch, 0, 9},
                        {read_file, 0, 0}};

/// Calls the probe with the trap flag set and known values in the other registers; returns what is left of
/// them.
struct Saved {
  std::uint64_t rbx, rbp, r12, r13, r14, r15;
  bool operator==(const Saved&) const = default;
};
constexpr Saved known{0xb0b0, 0xb1b1, 0xb2b2, 0xb3b3, 0xb4b4, 0xb5b5};

extern "C" void call_stepping(const Probe* probe, const Saved* in, Saved* out);
// Callee-saved registers are saved here and restored after the probe; an exception bypasses this.
asm(R"(
  .text
  .type call_stepping, @function
call_stepping:
  .cfi_startproc
  push %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_offset %rbx, -16
  push %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_offset %rbp, -24
  push %rdx
  .cfi_adjust_cfa_offset 8
  mov %rdi, %r10
  mov 8(%r10), %rcx
  mov 16(%r10), %rax
  mov (%rsi), %rbx
  mov 8(%rsi), %rbp
  pushfq
  .cfi_adjust_cfa_offset 8
  orq $0x100, (%rsp)
  popfq
  .cfi_adjust_cfa_offset -8
  call *(%r10)
  pushfq
  .cfi_adjust_cfa_offset 8
  andq $~0x100, (%rsp)
  popfq
  .cfi_adjust_cfa_offset -8
  pop %rdx
  .cfi_adjust_cfa_offset -8
  mov %rbx, (%rdx)
  mov %rbp, 8(%rdx)
  pop %rbp
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rbp
  pop %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rbx
  ret
  .cfi_endproc
  .size call_stepping, . - call_stepping
)");

struct Thrown {};
const Probe* stepped;
long steps, throw_at, cut_off, in_probe;
int frames_of_caller;  // the number of run_probe's callers, including itself
constexpr long max_steps = 100000;
bool is_in_stub[max_steps];  // or in this program; slow paths are far from both

bool is_in(const void* pc, void (*function)()) {
  auto offset = reinterpret_cast<std::uintptr_t>(pc) - reinterpret_cast<std::uintptr_t>(function);
  return offset <= 16;
}

/// The interrupted instruction must be in the probe or have been reached from there, followed by all frames
/// of the caller.
void on_trap(int, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  ++steps;
  void* frames[64];
  int count = backtrace(frames, 64);
  void* pc = reinterpret_cast<void*>(registers[REG_RIP]);
  void** at = std::find(frames, frames + count, pc);
  void** probe = std::find_if(at, frames + count, [](void* frame) { return is_in(frame, stepped->code); });
  bool has_returned = probe == frames + count;  // back in call_stepping
  long behind = frames + count - (has_returned ? at : probe + 1);
  in_probe += !has_returned;
  auto distance = registers[REG_RIP] - static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(stepped->code));
  if (steps < max_steps) is_in_stub[steps] = distance == static_cast<std::int32_t>(distance);
  // call_stepping adds one frame.
  if (at == frames + count || behind != frames_of_caller + 1) ++cut_off;
  if (steps == throw_at) throw Thrown{};
}

__attribute__((noinline)) bool run_probe(const Probe& probe) {
  void* frames[64];
  frames_of_caller = backtrace(frames, 64);
  stepped = &probe;
  steps = in_probe = 0;
  Saved left{};
  // Values that unwinding has to restore.
  volatile std::uint64_t seed = steps + 5;
  std::uint64_t a = seed * 3, b = seed * 5, c = seed * 7, d = seed * 11;
  bool caught = false;
  try {
    call_stepping(&probe, &known, &left);
  } catch (const Thrown&) {
    caught = true;
  }
  CHECK(a == 15 && b == 25 && c == 35 && d == 55);
  if (!caught) {
    CHECK(left.rbp == known.rbp && (left.rbx == known.rbx || probe.code == read_to_rbx));
  }
  return caught;
}

}  // namespace

int main() {
  struct sigaction action = {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  CHECK(sigaction(SIGTRAP, &action, nullptr) == 0);
  for (const Probe& probe : probes) {
    throw_at = -1;
    for (int round = 0; round < 3; ++round) {  // the first one patches
      cut_off = 0;
      CHECK(!run_probe(probe));
      CHECK(in_probe >= (is_patching() && round > 0 ? 2 : 1));
      if (cut_off != 0)
        printf("probe %d: %ld of %ld cut off\n", static_cast<int>(&probe - probes), cut_off, steps);
      CHECK(cut_off == 0);
    }
    long all = steps;
    CHECK(all < max_steps);
    for (long at = 1; at <= all; ++at) {
      if (!is_in_stub[at] && at % 64 != 0) continue;
      throw_at = at;
      if (!run_probe(probe)) CHECK(at > steps);
    }
  }
  return FINISH();
}
