/* A debugger steps over accesses of its child as gdb does: when the instruction has raised its signal, it
 * puts a breakpoint there, passes the signal on, and lets the child run. The child shall do the access and
 * stop behind it. */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "user_msr.h"

enum { constant_msr = 0x10, scratch_msr = 0x13, page = 4096 };
#define CONSTANT 0x123456789abcdef0ull
#define BREAKPOINT 0xccul

/* An instruction of the child, behind int3, and what it leaves in rax and in the scratch register. */
struct access {
  const unsigned char* code;
  int length;
  uint64_t rax_after, scratch_after;
  int is_hidden; /* a breakpoint hides what it is: the child must not do the wrong access */
};

/* rcx and rax hold addresses of registers, or a value. */
extern const unsigned char read_register[], write_register[], read_immediate[], write_immediate[],
    read_padded[], end_of_code[];
__asm__(
    ".text\n.globl read_register, write_register, read_immediate, write_immediate, read_padded, end_of_code\n"
    "read_register: .byte 0xf2, 0x0f, 0x38, 0xf8, 0xc8\nret\n"
    "write_register: .byte 0xf3, 0x0f, 0x38, 0xf8, 0xc8\nret\n"
    "read_immediate: .byte 0xc4, 0xe7, 0x7b, 0xf8, 0xc0\n.long 0x10\nret\n"
    "write_immediate: .byte 0xc4, 0xe7, 0x7a, 0xf8, 0xc0\n.long 0x13\nret\n"
    "read_padded: .byte 0x67, 0x2e, 0xf2, 0x0f, 0x38, 0xf8, 0xc8\nret\n"
    "end_of_code:\n");

static void call(const unsigned char* code, uint64_t rcx, uint64_t rax) {
  __asm__ volatile("int3\n\tcall *%2" : "+a"(rax), "+c"(rcx) : "r"(code) : "memory", "cc");
}

static int wait_stop(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return -1;
  return WSTOPSIG(status);
}

/* Runs the child from its int3 to the access, steps over it, and lets it go on to the next int3. */
static void step_over(pid_t child, const struct access* access) {
  struct user_regs_struct registers;
  uint64_t site = (uint64_t)(uintptr_t)access->code;
  int stop = SIGTRAP;
  do {
    ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
    stop = wait_stop(child);
    ptrace(PTRACE_GETREGS, child, NULL, &registers);
  } while (stop == SIGTRAP && registers.rip < site + 16 && registers.rip != site + (uint64_t)access->length);
  if (stop == SIGTRAP && is_patching()) return; /* patched before: it raises nothing */
  CHECK(stop == SIGILL && registers.rip == site);
  long word = ptrace(PTRACE_PEEKTEXT, child, access->code, NULL);
  ptrace(PTRACE_POKETEXT, child, access->code, (word & ~0xffl) | (long)BREAKPOINT);
  ptrace(PTRACE_CONT, child, NULL, SIGILL);
  stop = wait_stop(child);
  ptrace(PTRACE_GETREGS, child, NULL, &registers);
  if (access->is_hidden) { /* back at the breakpoint, to raise SIGILL again with nobody to handle it */
    CHECK(stop == SIGTRAP && registers.rip == site + 1 && registers.rax != access->rax_after);
    ptrace(PTRACE_KILL, child, NULL, NULL);
    waitpid(child, NULL, 0);
    return;
  }
  CHECK(stop == SIGTRAP);
  CHECK(registers.rip == site + (uint64_t)access->length);
  CHECK(registers.rax == access->rax_after);
  ptrace(PTRACE_POKETEXT, child, access->code, word);
}

static int debug(const struct access* access) {
  enum { times = 3 };
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    int writes = access->scratch_after != 0;
    for (int i = 0; i < times; ++i)
      call(access->code, writes ? scratch_msr : constant_msr, writes ? access->scratch_after : 0);
    __asm__ volatile("int3");
    _exit(read_msr(scratch_msr) != access->scratch_after);
  }
  for (int i = 0; i < times; ++i) {
    CHECK(wait_stop(child) == SIGTRAP); /* int3 */
    step_over(child, access);
    if (access->is_hidden) return 0;
    ptrace(PTRACE_CONT, child, NULL, NULL);
  }
  CHECK(wait_stop(child) == SIGTRAP);
  ptrace(PTRACE_CONT, child, NULL, NULL);
  int status = 1;
  /* The last read may trap; nobody hides it. */
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
    ptrace(PTRACE_CONT, child, NULL, (long)WSTOPSIG(status));
  return status;
}

/* A container may forbid it. */
static int may_trace(void) {
  pid_t child = fork();
  if (child == 0) _exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0);
  int status = 1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void) {
  if (!may_trace()) {
    printf("skipped: this host does not allow ptrace\n");
    return 77;
  }
  const struct access own[] = {{read_register, 5, CONSTANT, 0, 0},
                               {write_register, 5, 0x77, 0x77, 0},
                               {read_immediate, 9, CONSTANT, 0, 0},
                               {write_immediate, 9, 0x78, 0x78, 0},
                               {read_padded, 7, CONSTANT, 0, 0}};
  for (unsigned i = 0; i < sizeof own / sizeof *own; ++i) {
    failures = 0;
    int status = debug(&own[i]);
    CHECK(status == 0);
    if (failures) printf("access %u\n", i);
    if (failures) return FINISH();
  }
  /* Code of no file: only the immediate forms tell what they are. */
  unsigned char* code = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, read_register, (size_t)(end_of_code - read_register));
  mprotect(code, page, PROT_READ | PROT_EXEC);
  const struct access made[] = {{code + (read_immediate - read_register), 9, CONSTANT, 0, 0},
                                {code + (write_immediate - read_register), 9, 0x79, 0x79, 0},
                                {code + (read_padded - read_register), 7, CONSTANT, 0, 0},
                                {code, 5, CONSTANT, 0, 1}};
  for (unsigned i = 0; i < sizeof made / sizeof *made; ++i) {
    CHECK(debug(&made[i]) == 0);
    if (failures) printf("made access %u\n", i);
  }
  return FINISH();
}
