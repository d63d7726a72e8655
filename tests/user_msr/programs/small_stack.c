/* How much of an alternate signal stack an access needs beside what the kernel's own frame takes: programs
 * have such stacks of SIGSTKSZ, 8192 bytes, of which the frame is about 3 KB with AVX-512. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "user_msr.h"

enum { constant_msr = 0x10, stack_bytes = 65536, page = 4096, most = 2048, untouched = 0x5a };
#define CONSTANT 0x123456789abcdef0ull

static void nothing(int signal) { (void)signal; }

/* A stack with a guard page below; how much of it was used. */
static unsigned char* make_stack(void) {
  unsigned char* memory =
      mmap(NULL, page + stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory, page, PROT_NONE);
  memset(memory + page, untouched, stack_bytes);
  stack_t stack = {.ss_sp = memory + page, .ss_size = stack_bytes, .ss_flags = 0};
  CHECK(sigaltstack(&stack, NULL) == 0);
  return memory + page;
}
static long used(const unsigned char* stack) {
  long free_bytes = 0;
  while (free_bytes < stack_bytes && stack[free_bytes] == untouched) ++free_bytes;
  return stack_bytes - free_bytes;
}

static void* measure(void* argument) {
  (void)argument;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = nothing;
  action.sa_flags = SA_ONSTACK;
  unsigned char* stack = make_stack();
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  long of_kernel = used(stack);
  stack = make_stack();
  for (int i = 0; i < 3; ++i) CHECK(read_msr(constant_msr) == CONSTANT);
  for (int i = 0; i < 3; ++i) CHECK(READ_MSR_IMM(constant_msr) == CONSTANT);
  long of_access = used(stack);
  printf("the kernel's frame %ld, an access %ld bytes\n", of_kernel, of_access);
  CHECK(of_kernel > 0 && of_access > of_kernel && of_access - of_kernel <= most);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, measure, NULL);
  pthread_join(thread, NULL);
  return FINISH();
}
