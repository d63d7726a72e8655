/* A program that copies code of its own after it was patched, and executes the copy: what was copied is a
 * jump to somewhere else. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"
#include "user_msr.h"

enum { constant_msr = 0x10, counter_msr = 0x11, other_msr = 0x15, denied_msr = 0x99, page = 4096 };
#define CONSTANT 0x123456789abcdef0ull
#define OTHER 0x15151515ull

typedef uint64_t (*function)(uint64_t);
static uint64_t call(const void* code, uint64_t argument) { return ((function)(uintptr_t)code)(argument); }

/* The program's own text: mov rcx, rdi; urdmsr rax, rcx; ret, and urdmsr rax, 0x10; ret. */
extern const unsigned char by_register[], by_immediate[], end_of_code[];
__asm__(
    ".text\n.globl by_register, by_immediate, end_of_code\n"
    "by_register: mov %rdi, %rcx\n.byte 0xf2, 0x0f, 0x38, 0xf8, 0xc8\nret\n"
    "by_immediate: .byte 0xc4, 0xe7, 0x7b, 0xf8, 0xc0\n.long 0x10\nret\n"
    "end_of_code:\n");
enum { immediate_at = 5 };

static void* map(void* where, int protection) {
  void* memory =
      mmap(where, page, protection, MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED_NOREPLACE : 0), -1, 0);
  CHECK(memory != MAP_FAILED);
  return memory;
}

static void check_copy(const unsigned char* from, int is_changed) {
  const unsigned char *reg = from, *imm = from + (by_immediate - by_register);
  for (int round = 0; round < 4; ++round) {
    CHECK(call(reg, constant_msr) == CONSTANT);
    CHECK(call(reg, other_msr) == OTHER);
    CHECK(call(imm, 0) == (is_changed ? OTHER : CONSTANT));
  }
}
static void copy_to(unsigned char* memory, const unsigned char* from) {
  memcpy(memory, from, (size_t)(end_of_code - by_register));
}

static void test_copy(void* where) {
  /* Written, then executable. */
  unsigned char* code = map(where, PROT_READ | PROT_WRITE);
  copy_to(code, by_register);
  mprotect(code, page, PROT_READ | PROT_EXEC);
  CHECK(memcmp(code + (by_immediate - by_register), "\xc4\xe7\x7b\xf8\xc0\x10\0\0\0\xc3", 10) == 0);
  check_copy(code, 0);
  /* It is patched like any other code. */
  CHECK(!is_patching() || code[by_immediate - by_register] == 0xe9);
  /* Another operand in the copy, while the copy holds the program's bytes. */
  mprotect(code, page, PROT_READ | PROT_WRITE);
  CHECK(memcmp(code + (by_immediate - by_register), "\xc4\xe7\x7b\xf8\xc0\x10\0\0\0\xc3", 10) == 0);
  copy_to(code, by_register);
  code[by_immediate - by_register + immediate_at] = other_msr;
  mprotect(code, page, PROT_READ | PROT_EXEC);
  check_copy(code, 1);
  munmap(code, page);

  /* Written while it is executable; a copy of the copy. */
  code = map(where, PROT_READ | PROT_WRITE | PROT_EXEC);
  copy_to(code, by_register);
  check_copy(code, 0);
  copy_to(code + 1024, code);
  check_copy(code + 1024, 0);
  code[1024 + (by_immediate - by_register) + immediate_at] = other_msr;
  check_copy(code + 1024, 1);
  munmap(code, page);
}

/* Beside the original, so that the jump leads to where the runner has room for others. */
static void test_near(void) {
  unsigned char* code = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  copy_to(code, by_register);
  mprotect(code, page, PROT_READ | PROT_EXEC);
  check_copy(code, 0);
  mprotect(code + page, 7 * page, PROT_READ | PROT_WRITE | PROT_EXEC);
  for (int i = 1; i < 8; ++i) {
    copy_to(code + i * page, code);
    check_copy(code + i * page, 0);
  }
  munmap(code, 8 * page);
}

/* Eight threads meet the same fresh copy. */
static unsigned char* fresh;
static pthread_barrier_t barrier;
enum { rounds = 50, threads = 8 };
static void* execute(void* argument) {
  (void)argument;
  long wrong = 0;
  for (int i = 0; i < rounds; ++i) {
    pthread_barrier_wait(&barrier);
    for (int k = 0; k < 20; ++k) wrong += call(fresh, constant_msr) != CONSTANT;
    pthread_barrier_wait(&barrier);
  }
  return (void*)wrong;
}
static void test_threads(void) {
  pthread_barrier_init(&barrier, NULL, threads + 1);
  pthread_t ids[threads];
  for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, execute, NULL);
  for (int i = 0; i < rounds; ++i) {
    fresh = map(NULL, PROT_READ | PROT_WRITE);
    copy_to(fresh, by_register);
    mprotect(fresh, page, PROT_READ | PROT_EXEC);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    munmap(fresh, page);
  }
  for (int i = 0; i < threads; ++i) {
    void* wrong = (void*)1;
    pthread_join(ids[i], &wrong);
    CHECK(wrong == NULL);
  }
}

/* Where a copied jump led is no place that the program's handlers may see. */
static volatile long alarms, elsewhere;
static void on_alarm(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)info;
  unsigned char byte;
  struct iovec local = {&byte, 1}, remote = {(void*)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP], 1};
  elsewhere += process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != 1;
  ++alarms;
}
static void test_alarms(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_alarm;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  unsigned char* code = map(NULL, PROT_READ | PROT_WRITE | PROT_EXEC);
  copy_to(code, by_register);
  check_copy(code, 0);
  struct itimerval storm = {{0, 100}, {0, 100}}, none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &storm, NULL);
  while (alarms < 500) CHECK(call(code, constant_msr) == CONSTANT);
  setitimer(ITIMER_REAL, &none, NULL);
  CHECK(elsewhere == 0);
}

int main(void) {
  check_copy(by_register, 0);
  CHECK(!is_patching() || *by_immediate == 0xe9);
  test_copy(NULL);
  test_copy((void*)0x200000000000);
  test_copy((void*)0x10000000);
  test_near();
  test_threads();
  test_alarms();
  /* Each copied access counts once. */
  uint64_t first = call(by_register, counter_msr);
  unsigned char* code = map(NULL, PROT_READ | PROT_WRITE | PROT_EXEC);
  copy_to(code, by_register);
  for (uint64_t i = 1; i < 100; ++i) CHECK(call(code, counter_msr) == first + i);
  return FINISH();
}
