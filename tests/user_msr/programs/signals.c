/* SIGILL and SIGSEGV as the program sees them under the runner. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"
#include "user_msr.h"

enum { constant_msr = 0x10, counter_msr = 0x11, denied_msr = 0x99 };
#define CONSTANT 0x123456789abcdef0ull

static sigjmp_buf jump;
static volatile int last_signal, last_code, calls;
static void* volatile last_rip;
static volatile uint64_t last_rcx, last_rax;

static void on_signal(int signal, siginfo_t* info, void* context) {
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  last_signal = signal;
  last_code = info->si_code;
  last_rip = (void*)registers[REG_RIP];
  last_rcx = (uint64_t)registers[REG_RCX];
  last_rax = (uint64_t)registers[REG_RAX];
  ++calls;
  siglongjmp(jump, 1);
}

static void install(int signal, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  CHECK(sigaction(signal, &action, NULL) == 0);
}

/* The site's address, and an access that is refused. */
extern char denied_site[];
__attribute__((noinline)) static uint64_t denied_read(uint64_t rax) {
  __asm__ volatile(".globl denied_site\ndenied_site: .byte 0xf2, 0x0f, 0x38, 0xf8, 0xc8"
                   : "+a"(rax)
                   : "c"(0xabcd00000000ull | denied_msr)
                   : "memory");
  return rax;
}
/* The same site serves addresses that are allowed, so it becomes patched. */
extern char mixed_site[];
__attribute__((noinline)) static uint64_t mixed_read(uint64_t address) {
  uint64_t value = 0x7777;
  __asm__ volatile(".globl mixed_site\nmixed_site: .byte 0xf2, 0x0f, 0x38, 0xf8, 0xc8"
                   : "+a"(value)
                   : "c"(address)
                   : "memory");
  return value;
}

static void test_general_protection(void) {
  volatile int i;
  install(SIGSEGV, on_signal, 0);
  for (i = 0; i < 3; ++i) {
    calls = 0;
    if (!sigsetjmp(jump, 1)) {
      denied_read(0x1234567);
      CHECK(0 && "returned");
    }
    CHECK(calls == 1 && last_signal == SIGSEGV && last_code == SI_KERNEL);
    CHECK(last_rip == denied_site);
    CHECK(last_rcx == (0xabcd00000000ull | denied_msr) && last_rax == 0x1234567);
  }
  CHECK(mixed_read(constant_msr) == CONSTANT);
  CHECK(!is_patching() || (unsigned char)mixed_site[0] == 0xe9);
  for (i = 0; i < 3; ++i) {
    calls = 0;
    if (!sigsetjmp(jump, 1)) {
      mixed_read(i == 2 ? 0xffffffff : denied_msr);
      CHECK(0 && "returned");
    }
    CHECK(calls == 1 && last_signal == SIGSEGV && last_code == SI_KERNEL);
    CHECK(last_rip == mixed_site && last_rax == 0x7777);
    CHECK(mixed_read(constant_msr) == CONSTANT);
  }
  signal(SIGSEGV, SIG_DFL);
}

static void skip_ud2(int signal, siginfo_t* info, void* context) {
  (void)signal;
  last_code = info->si_code;
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] += 2;
  ++calls;
}
static void plain_handler(int signal) {
  (void)signal;
  ++calls;
  siglongjmp(jump, 1);
}

static void test_own_sigill(void) {
  calls = 0;
  install(SIGILL, skip_ud2, 0);
  for (int i = 0; i < 100; ++i) {
    __asm__ volatile("ud2");
    CHECK(READ_MSR_IMM(constant_msr) == CONSTANT);
  }
  CHECK(calls == 100 && last_code == ILL_ILLOPN);
  struct sigaction seen;
  CHECK(sigaction(SIGILL, NULL, &seen) == 0);
  CHECK(seen.sa_sigaction == skip_ud2 && (seen.sa_flags & SA_SIGINFO));
  CHECK(signal(SIGILL, plain_handler) == (void (*)(int))(void*)skip_ud2);
  calls = 0;
  if (!sigsetjmp(jump, 1)) __asm__ volatile("ud2");
  if (!sigsetjmp(jump, 1)) __asm__ volatile("ud2");
  CHECK(calls == 2);
  CHECK(READ_MSR_IMM(constant_msr) == CONSTANT);
  /* A handler for one time. */
  install(SIGILL, skip_ud2, (int)SA_RESETHAND);
  calls = 0;
  __asm__ volatile("ud2");
  CHECK(calls == 1);
  CHECK(sigaction(SIGILL, NULL, &seen) == 0 && seen.sa_handler == SIG_DFL);
  CHECK(READ_MSR_IMM(constant_msr) == CONSTANT);
}

sighandler_t __sysv_signal(int signal, sighandler_t handler);

/* The older ways to the same. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void test_old_interfaces(void) {
  signal(SIGILL, SIG_DFL);
  calls = 0;
  CHECK(__sysv_signal(SIGILL, plain_handler) == SIG_DFL);
  if (!sigsetjmp(jump, 1)) __asm__ volatile("ud2");
  struct sigaction seen;
  CHECK(calls == 1 && sigaction(SIGILL, NULL, &seen) == 0 && seen.sa_handler == SIG_DFL);
  CHECK(READ_MSR_IMM(constant_msr) == CONSTANT);
  CHECK(sigset(SIGILL, plain_handler) == SIG_DFL);
  if (!sigsetjmp(jump, 1)) __asm__ volatile("ud2");
  CHECK(calls == 2 && READ_MSR_IMM(constant_msr) == CONSTANT);
  CHECK(sighold(SIGILL) == 0 && READ_MSR_IMM(constant_msr) == CONSTANT && sigrelse(SIGILL) == 0);
  CHECK(sigignore(SIGILL) == 0 && sigaction(SIGILL, NULL, &seen) == 0 && seen.sa_handler == SIG_IGN);
  sigblock(~0);
  CHECK(READ_MSR_IMM(constant_msr) == CONSTANT);
  CHECK(sigsetmask(0) & 1 << (SIGILL - 1));
  CHECK(READ_MSR_IMM(constant_msr) == CONSTANT);
  signal(SIGILL, SIG_DFL);
}

static volatile uint64_t read_in_handler;
static void read_with_all_blocked(int signal) {
  (void)signal;
  read_in_handler = READ_MSR_IMM(constant_msr);
}

static void test_blocked(void) {
  sigset_t all, old, seen;
  sigfillset(&all);
  sigemptyset(&seen);
  CHECK(pthread_sigmask(SIG_SETMASK, &all, &old) == 0);
  CHECK(READ_MSR_IMM(constant_msr) == CONSTANT); /* a site of its own: it traps with everything blocked */
  CHECK(sigprocmask(SIG_BLOCK, NULL, &seen) == 0 && sigismember(&seen, SIGILL) == 1);
  CHECK(sigprocmask(SIG_SETMASK, &old, NULL) == 0);
  CHECK(sigprocmask(SIG_BLOCK, NULL, &seen) == 0 && sigismember(&seen, SIGILL) == 0);

  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = read_with_all_blocked;
  sigfillset(&action.sa_mask);
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  CHECK(raise(SIGUSR1) == 0);
  CHECK(read_in_handler == CONSTANT);
  struct sigaction reported;
  CHECK(sigaction(SIGUSR1, NULL, &reported) == 0 && sigismember(&reported.sa_mask, SIGILL) == 1);
}

/* How a child ends that does this. */
static int end_of(void (*body)(void)) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  return status;
}
static void die_by_ud2(void) {
  signal(SIGILL, SIG_DFL);
  __asm__ volatile("ud2");
}
static void die_by_ud2_ignored(void) {
  signal(SIGILL, SIG_IGN);
  __asm__ volatile("ud2");
}
static void die_by_denied(void) {
  signal(SIGSEGV, SIG_DFL);
  denied_read(0);
}
static void die_by_denied_blocked(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  denied_read(0);
}
static void die_by_kill(void) {
  signal(SIGILL, SIG_DFL);
  kill(getpid(), SIGILL);
  for (;;) pause();
}
static void ignore_kill(void) {
  signal(SIGILL, SIG_IGN);
  kill(getpid(), SIGILL);
}
static void read_in_child(void) {
  uint64_t value = 0;
  for (int i = 0; i < 3; ++i) value = READ_MSR_IMM(constant_msr);
  if (value != CONSTANT) _exit(1);
}
static void exec_in_child(void) {
  execl("/proc/self/exe", "signals", "child", (char*)NULL);
  _exit(2);
}

static void test_ends(void) {
  int status;
  status = end_of(die_by_ud2);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGILL);
  status = end_of(die_by_ud2_ignored);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGILL);
  status = end_of(die_by_denied);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
  status = end_of(die_by_denied_blocked);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
  status = end_of(die_by_kill);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGILL);
  CHECK(end_of(ignore_kill) == 0);
  CHECK(end_of(read_in_child) == 0);
  CHECK(end_of(exec_in_child) == 0);
}

/* A thread on a stack just large enough, with an alternate stack for signals. */
static void* small_stack(void* argument) {
  (void)argument;
  stack_t alternate = {.ss_sp = malloc(65536), .ss_size = 65536, .ss_flags = 0};
  sigaltstack(&alternate, NULL);
  uint64_t sum = 0;
  for (int i = 0; i < 1000; ++i) sum += READ_MSR_IMM(constant_msr) == CONSTANT;
  return (void*)sum;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "child") == 0) return READ_MSR_IMM(constant_msr) != CONSTANT;
  test_general_protection();
  test_own_sigill();
  test_old_interfaces();
  test_blocked();
  test_ends();
  pthread_t thread;
  void* result = NULL;
  pthread_create(&thread, NULL, small_stack, NULL);
  pthread_join(thread, &result);
  CHECK(result == (void*)1000);
  return FINISH();
}
