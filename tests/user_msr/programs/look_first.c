/* look_first [hidden]: looks whether CPUID has USER_MSR before it uses it, as real programs do, in every
 * state of a program; where CPUID can be made to fault it has, else nothing changes. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <cpuid.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "user_msr.h"

enum { constant_msr = 0x10 };
#define CONSTANT 0x123456789abcdef0ull

static int expected;
static int has_user_msr(void) {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) ? (int)(d >> 15 & 1) : 0;
}

static void* look_in_thread(void* argument) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  for (int i = 0; i < 100; ++i) CHECK(has_user_msr() == expected);
  return argument;
}

static volatile int seen;
static void look(int signal) {
  (void)signal;
  seen = has_user_msr();
}
static void look_in_handler(int signal, int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = look;
  action.sa_flags = flags;
  sigfillset(&action.sa_mask);
  CHECK(sigaction(signal, &action, NULL) == 0);
  seen = -1;
  raise(signal);
  CHECK(seen == expected || (signal == SIGSEGV && seen == 0));
}
static sigjmp_buf jump;
static void leave(int signal) {
  (void)signal;
  seen = has_user_msr();
  siglongjmp(jump, 1);
}

/* The other registers and the flags stay, and the high halves of the four are zeros. */
static void look_closely(void) {
  uint64_t rax = 0xffffffff00000007, rbx = ~0ull, rcx = 0xffffffff00000001, rdx = ~0ull, flags_before,
           flags_after;
  __asm__ volatile("pushfq\n\tpop %4\n\t.byte 0x66, 0x48, 0x0f, 0xa2\n\tpushfq\n\tpop %5"
                   : "+a"(rax), "+b"(rbx), "+c"(rcx), "+d"(rdx), "=&r"(flags_before), "=&r"(flags_after)
                   :
                   : "memory");
  CHECK((rax | rbx | rcx | rdx) >> 32 == 0);
  CHECK((int)(rdx >> 15 & 1) == expected);
  CHECK((flags_before ^ flags_after) == 0 || (flags_before ^ flags_after) == 0x10000);
  unsigned a, b, c, d;
  CHECK(__get_cpuid(0, &a, &b, &c, &d) && a >= 7);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "child") == 0) return has_user_msr() ? 5 : 6;
  int is_hidden = argc > 1 && strcmp(argv[1], "hidden") == 0;
  /* 0: this thread's CPUID faults. */
  expected = !is_hidden && syscall(SYS_arch_prctl, ARCH_GET_CPUID) == 0;
  for (int i = 0; i < 3; ++i) CHECK(has_user_msr() == expected);
  look_closely();
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, look_in_thread, NULL);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  sigset_t all, none, old;
  sigfillset(&all);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &all, NULL);
  CHECK(has_user_msr() == expected);
  CHECK(sigprocmask(SIG_SETMASK, &none, &old) == 0 && sigismember(&old, SIGSEGV) == 1);
  CHECK(sigprocmask(SIG_SETMASK, NULL, &old) == 0 && sigismember(&old, SIGSEGV) == 0);
  look_in_handler(SIGUSR1, 0);
  /* In a handler of SIGSEGV it may be the processor's; it must not end the program, and an access brings it
   * back. */
  look_in_handler(SIGSEGV, 0);
  CHECK(READ_MSR_IMM(constant_msr) == CONSTANT);
  if (is_patching()) CHECK(has_user_msr() == expected);
  signal(SIGSEGV, leave);
  for (volatile int i = 0; i < 3; ++i)
    if (!sigsetjmp(jump, 1)) *(volatile int*)0x1234 = 0;
  signal(SIGSEGV, SIG_DFL);
  fflush(stdout);
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    (void)has_user_msr();
    execl("/proc/self/exe", "look_first", "child", (char*)NULL);
  }
  CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == (expected ? 5 : 6));
  printf("USER_MSR %s\n", expected ? "is there" : "is not there");
  return FINISH();
}
