/* SIGILL blocked, waited for and handled by ways that no signal mask of libc's shows, and SIGSEGV with every
 * kind of handler: accesses go on, and the program sees what it would see without the runner. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"
#include "user_msr.h"

enum { constant_msr = 0x10, denied_msr = 0x99, trap_gp = 13 };
#define CONSTANT 0x123456789abcdef0ull

/* A fresh site each: what is patched needs no signal. */
#define READ_FRESH() READ_MSR_IMM(constant_msr)

static int end_of(void (*body)(void)) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    failures = 0;
    alarm(20);
    body();
    fflush(stdout);
    _exit(failures != 0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  return status;
}

static void block_by_number(void) {
  unsigned long all = ~0ul, seen = 0;
  CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, 8) == 0);
  CHECK(READ_FRESH() == CONSTANT);
  CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &seen, 8) == 0);
  CHECK(seen >> (SIGILL - 1) & 1);
  CHECK(syscall(SYS_rt_sigprocmask, 99, &all, NULL, 8) == -1);
}

static ucontext_t back, other;
static void with_all_blocked(void) {
  CHECK(READ_FRESH() == CONSTANT);
  swapcontext(&other, &back);
  CHECK(READ_FRESH() == CONSTANT);
  setcontext(&back);
}
static void block_by_context(void) {
  static char stack[65536];
  getcontext(&other);
  other.uc_stack.ss_sp = stack;
  other.uc_stack.ss_size = sizeof stack;
  sigfillset(&other.uc_sigmask);
  makecontext(&other, with_all_blocked, 0);
  swapcontext(&back, &other);
  sigfillset(&other.uc_sigmask);
  swapcontext(&back, &other);
}

static volatile int calls;
static void count(int signal) {
  (void)signal;
  ++calls;
}
int __sigaction(int signal, const struct sigaction* set, struct sigaction* old);
static void handle_by_other_names(void) {
  struct sigaction action, seen;
  memset(&action, 0, sizeof action);
  action.sa_handler = count;
  CHECK(__sigaction(SIGILL, &action, NULL) == 0);
  CHECK(READ_FRESH() == CONSTANT);
  CHECK(sigaction(SIGILL, NULL, &seen) == 0 && seen.sa_handler == count);
  struct {
    void (*handler)(int);
    unsigned long flags;
    void* restorer;
    unsigned long mask;
  } raw = {count, SA_RESTART | 0x04000000, (void*)count, 0}, old;
  CHECK(syscall(SYS_rt_sigaction, SIGILL, &raw, &old, 8) == 0 && old.handler == count);
  CHECK(READ_FRESH() == CONSTANT);
  raise(SIGILL);
  CHECK(calls == 1);
  /* The mask of another signal's handler, set by number. */
  raw.mask = ~0ul;
  CHECK(syscall(SYS_rt_sigaction, SIGUSR1, &raw, NULL, 8) == 0);
  CHECK(sigaction(SIGUSR1, NULL, &seen) == 0 && sigismember(&seen.sa_mask, SIGILL) == 1);
}

static void only_sigill(sigset_t* set) {
  sigemptyset(set);
  sigaddset(set, SIGILL);
}

/* A blocked SIGILL that is sent waits, is seen as pending, and comes when it is unblocked. */
static void send_while_blocked(void) {
  sigset_t set, seen;
  only_sigill(&set);
  signal(SIGILL, count);
  sigprocmask(SIG_BLOCK, &set, NULL);
  kill(getpid(), SIGILL);
  raise(SIGILL);
  CHECK(READ_FRESH() == CONSTANT);
  CHECK(calls == 0 && sigpending(&seen) == 0 && sigismember(&seen, SIGILL) == 1);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  CHECK(calls == 1 && sigpending(&seen) == 0 && sigismember(&seen, SIGILL) == 0);
  CHECK(READ_FRESH() == CONSTANT);
}

/* sigwait for one that waits already, and for one that is still to come. */
static void* send_later(void* argument) {
  sigset_t set;
  only_sigill(&set);
  pthread_sigmask(SIG_BLOCK, &set, NULL); /* as all threads of such a program do */
  usleep(20000);
  kill(getpid(), SIGILL);
  return argument;
}
static void wait_for_it(void) {
  sigset_t set;
  only_sigill(&set);
  sigprocmask(SIG_BLOCK, &set, NULL);
  int number = 0;
  kill(getpid(), SIGILL);
  CHECK(sigwait(&set, &number) == 0 && number == SIGILL);
  siginfo_t info;
  union sigval value = {.sival_int = 77};
  sigqueue(getpid(), SIGILL, value);
  CHECK(sigwaitinfo(&set, &info) == SIGILL && info.si_value.sival_int == 77);
  struct timespec soon = {0, 1000000};
  CHECK(sigtimedwait(&set, &info, &soon) == -1);
  for (int i = 0; i < 10; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, send_later, NULL);
    CHECK(sigwait(&set, &number) == 0 && number == SIGILL);
    pthread_join(thread, NULL);
    CHECK(READ_FRESH() == CONSTANT);
  }
}

/* sigsuspend and ppoll let it in. */
static void suspend_for_it(void) {
  sigset_t set, none, seen;
  only_sigill(&set);
  sigemptyset(&none);
  signal(SIGILL, count);
  sigprocmask(SIG_BLOCK, &set, NULL);
  kill(getpid(), SIGILL);
  CHECK(calls == 0);
  CHECK(sigsuspend(&none) == -1 && calls == 1);
  kill(getpid(), SIGILL);
  CHECK(calls == 1);
  CHECK(ppoll(NULL, 0, NULL, &none) == -1 && calls == 2);
  struct timespec soon = {0, 1000000};
  kill(getpid(), SIGILL);
  CHECK(ppoll(NULL, 0, &soon, &set) == 0 && calls == 2);
  CHECK(sigprocmask(SIG_BLOCK, NULL, &seen) == 0 && sigismember(&seen, SIGILL) == 1);
  CHECK(READ_FRESH() == CONSTANT);
}

/* SIGSEGV. */
static sigjmp_buf jump;
static siginfo_t last;
static greg_t last_trap, last_error;
static char *last_stack, *alternate;
enum { alternate_bytes = 65536 };
static void note(int signal, siginfo_t* info, void* context) {
  (void)signal;
  last = *info;
  last_trap = ((ucontext_t*)context)->uc_mcontext.gregs[REG_TRAPNO];
  last_error = ((ucontext_t*)context)->uc_mcontext.gregs[REG_ERR];
  last_stack = (char*)&info;
  ++calls;
  siglongjmp(jump, 1);
}
static void install(int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = note;
  action.sa_flags = SA_SIGINFO | flags;
  CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
}
static int is_on_alternate(void) {
  return last_stack >= alternate && last_stack < alternate + alternate_bytes;
}
static volatile int zero;
static __attribute__((noinline)) int overflow(volatile char* above) {
  volatile char room[4096];
  room[0] = above ? *above : 1;
  return zero ? 0 : overflow(room) + room[0];
}

static void general_protection(void) {
  install(0);
  for (volatile int i = 0; i < 4; ++i) {
    calls = 0;
    if (!sigsetjmp(jump, 1)) read_msr(i == 3 ? 0x4000 : denied_msr);
    CHECK(calls == 1 && last_trap == trap_gp && last_error == 0);
    CHECK(last.si_code == SI_KERNEL && last.si_addr == NULL);
    CHECK(read_msr(constant_msr) == CONSTANT);
  }
}
static void other_faults(void) {
  install(0);
  if (!sigsetjmp(jump, 1)) *(volatile int*)0x1234 = 0;
  CHECK(calls == 1 && last.si_addr == (void*)0x1234 && last.si_code == SEGV_MAPERR && last_trap == 14);
  if (!sigsetjmp(jump, 1)) ((void (*)(void))(uintptr_t)0x5678)();
  CHECK(calls == 2 && last.si_addr == (void*)0x5678);
  if (!sigsetjmp(jump, 1)) raise(SIGSEGV);
  CHECK(calls == 3 && last.si_code == SI_TKILL);
  /* Stacks. */
  alternate = malloc(alternate_bytes);
  stack_t stack = {.ss_sp = alternate, .ss_size = alternate_bytes, .ss_flags = 0};
  sigaltstack(&stack, NULL);
  if (!sigsetjmp(jump, 1)) *(volatile int*)0x1234 = 0;
  CHECK(calls == 4 && !is_on_alternate());
  install(SA_ONSTACK);
  if (!sigsetjmp(jump, 1)) read_msr(denied_msr);
  CHECK(calls == 5 && is_on_alternate() && last_trap == trap_gp);
  if (!sigsetjmp(jump, 1)) zero = overflow(NULL) == 5;
  CHECK(calls == 6 && is_on_alternate());
  /* For one time; and what is seen of it. */
  install((int)SA_RESETHAND);
  struct sigaction seen;
  if (!sigsetjmp(jump, 1)) read_msr(denied_msr);
  CHECK(calls == 7 && sigaction(SIGSEGV, NULL, &seen) == 0 && seen.sa_handler == SIG_DFL);
  CHECK(signal(SIGSEGV, count) == SIG_DFL && signal(SIGSEGV, SIG_IGN) == count);
  raise(SIGSEGV); /* ignored */
  CHECK(signal(SIGSEGV, SIG_DFL) == SIG_IGN);
}
static void die_of_write(void) { *(volatile int*)0x1234 = 0; }
static void die_of_denied(void) { read_msr(denied_msr); }
static void die_of_denied_ignored(void) {
  signal(SIGSEGV, SIG_IGN);
  read_msr(denied_msr);
}
static void die_of_overflow(void) { zero = overflow(NULL) == 5; }
static void die_of_signal(void) { raise(SIGSEGV); }
static void handler_that_faults(int signal) {
  (void)signal;
  *(volatile int*)0x1234 = 0;
}
static void die_in_handler(void) {
  signal(SIGSEGV, handler_that_faults);
  *(volatile int*)0x1234 = 0;
}

/* A handler does not take what an instruction raises while the signal is blocked. */
static void take_it(int signal) { _exit(signal != 0 ? 9 : 8); }
static void block_with_handler(int number) {
  sigset_t all;
  signal(number, take_it);
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  CHECK(READ_FRESH() == CONSTANT);
}
static void die_of_blocked_write(void) {
  block_with_handler(SIGSEGV);
  *(volatile int*)0x1234 = 0;
}
static void die_of_blocked_denied(void) {
  block_with_handler(SIGSEGV);
  READ_MSR_IMM(denied_msr);
}
static void die_of_blocked_ud2(void) {
  block_with_handler(SIGILL);
  __asm__ volatile("ud2");
}

int main(void) {
  static void (*const ways[])(void) = {block_by_number,    block_by_context, handle_by_other_names,
                                       send_while_blocked, wait_for_it,      suspend_for_it,
                                       general_protection, other_faults};
  for (unsigned i = 0; i < sizeof ways / sizeof *ways; ++i) {
    int status = end_of(ways[i]);
    if (status != 0) printf("way %u: status %x\n", i, (unsigned)status);
    CHECK(status == 0);
  }
  static void (*const ends[])(void) = {die_of_write,          die_of_denied, die_of_denied_ignored,
                                       die_of_overflow,       die_of_signal, die_of_blocked_write,
                                       die_of_blocked_denied, die_in_handler};
  for (unsigned i = 0; i < sizeof ends / sizeof *ends; ++i) {
    int status = end_of(ends[i]);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
      printf("end %u: status %x\n", i, (unsigned)status);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
  }
  int status = end_of(die_of_blocked_ud2);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGILL);
  return FINISH();
}
