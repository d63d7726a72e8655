/* Programs that forbid themselves system calls, before and after they start: accesses go on. What the runner
 * says of it is said once, on standard error. */
#define _GNU_SOURCE
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "user_msr.h"

enum { constant_msr = 0x10, counter_msr = 0x11, page = 4096 };
#define CONSTANT 0x123456789abcdef0ull

/* Sites that were met, one that was not, and two across the end of a page, of which one cannot be read where
 * the processor has protection keys. */
static unsigned char *straddling, *unreadable;
static int access_all(void) {
  int wrong = 0;
  uint64_t count = READ_MSR_IMM(counter_msr);
  for (int i = 0; i < 3; ++i) {
    wrong |= read_msr(constant_msr) != CONSTANT;
    wrong |= ((uint64_t(*)(void))(uintptr_t)straddling)() != CONSTANT;
    wrong |= ((uint64_t(*)(void))(uintptr_t)unreadable)() != CONSTANT;
    wrong |= READ_MSR_IMM(counter_msr) != ++count;
  }
  return wrong;
}
static unsigned char* make_straddling(int protection) {
  static const unsigned char code[] = {0xc4, 0xe7, 0x7b, 0xf8, 0xc0, constant_msr, 0, 0, 0, 0xc3};
  unsigned char* memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(memory + page - 4, code, sizeof code);
  mprotect(memory, 2 * page, protection);
  return memory + page - 4;
}
static void leave(int status) {
  syscall(SYS_exit, status); /* exit_group is not among the four of strict mode */
}

/* A filter that does `action` for what patching needs, and lets all else through. */
static const struct sock_fprog* filter(unsigned action) {
  static struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
                                      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
                                      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                                      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 3, 0),
                                      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 2, 0),
                                      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 1, 0),
                                      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                                      BPF_STMT(BPF_RET | BPF_K, 0)};
  static struct sock_fprog program = {sizeof code / sizeof *code, code};
  code[sizeof code / sizeof *code - 1].k = action;
  return &program;
}

static void strict(void) {
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  leave(access_all());
}
static void kill_by_prctl(void) {
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter(SECCOMP_RET_KILL_PROCESS)) == 0);
  leave(access_all());
}
static void kill_by_number(void) {
  CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, filter(SECCOMP_RET_KILL_PROCESS)) == 0);
  leave(access_all());
}
static void trap_by_number(void) {
  CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, filter(SECCOMP_RET_TRAP)) == 0);
  leave(access_all());
}
static void refuse(void) {
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter(SECCOMP_RET_ERRNO | 1)) == 0);
  leave(access_all());
}
static void start_under_kill(void) {
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter(SECCOMP_RET_KILL_PROCESS));
  execl("/proc/self/exe", "confined", "child", (char*)NULL);
}
static void start_under_refusal(void) {
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter(SECCOMP_RET_ERRNO | 1));
  execl("/proc/self/exe", "confined", "child", (char*)NULL);
}

int main(int argc, char** argv) {
  static void (*const ways[])(void) = {strict,           kill_by_prctl, kill_by_number,     trap_by_number,
                                       start_under_kill, refuse,        start_under_refusal};
  enum { deadly = 5 };
  straddling = make_straddling(PROT_READ | PROT_EXEC);
  unreadable = make_straddling(PROT_EXEC);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (argc > 1 && strcmp(argv[1], "child") == 0) return access_all();
  if (argc > 1) {
    if (argc > 2) CHECK(access_all() == 0); /* patched before */
    ways[atoi(argv[1])]();
    return 8;
  }
  for (unsigned i = 0; i < sizeof ways / sizeof *ways; ++i)
    for (int before = 0; before < 2; ++before) {
      int ends[2], status = 1, times = 0;
      CHECK(pipe(ends) == 0);
      fflush(stdout);
      pid_t child = fork();
      if (child == 0) {
        char number[4] = {(char)('0' + i), 0};
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", "confined", number, before ? "before" : (char*)NULL, (char*)NULL);
        _exit(7);
      }
      close(ends[1]);
      char text[4096];
      ssize_t length = 0, got;
      while ((got = read(ends[0], text + length, sizeof text - 1 - (size_t)length)) > 0) length += got;
      text[length] = '\0';
      close(ends[0]);
      CHECK(waitpid(child, &status, 0) == child && status == 0);
      for (char* at = text; (at = strstr(at, "(seccomp)")); ++at) ++times;
      /* A program that starts another says it, and so does the other. */
      CHECK(times == (i >= deadly ? 0 : ways[i] == start_under_kill ? 2 : 1));
      if (failures) printf("way %u, status %x, said: %s\n", i, (unsigned)status, text);
    }
  return FINISH();
}
