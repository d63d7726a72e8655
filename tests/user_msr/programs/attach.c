/* attach CONFIG: links the runner's library, attaches and detaches many times with threads of its own. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "check.h"
#include "user_msr.h"

int eum_msr_attach(const char* path);
void eum_msr_detach(void);

enum { constant_msr = 0x10, counter_msr = 0x11 };
#define CONSTANT 0x123456789abcdef0ull

static uint64_t read_constant(void) { return READ_MSR_IMM(constant_msr); }
static uint64_t read_counter(void) { return read_msr(counter_msr); }

static void* work(void* argument) {
  (void)argument;
  long bad = 0;
  for (int i = 0; i < 1000; ++i) {
    bad += read_constant() != CONSTANT;
    read_counter();
  }
  return (void*)bad;
}

static sigjmp_buf jump;
static volatile int seen;
static void on_sigill(int signal) {
  (void)signal;
  ++seen;
  siglongjmp(jump, 1);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  signal(SIGILL, on_sigill);
  for (volatile int round = 0; round < 100; ++round) {
    /* Detached, the instruction is the program's own SIGILL. */
    seen = 0;
    if (!sigsetjmp(jump, 1)) read_constant();
    CHECK(seen == 1);
    CHECK(eum_msr_attach(argv[1]) == 0);
    if (round == 0) CHECK(eum_msr_attach(argv[1]) == -1); /* one at a time */
    pthread_t ids[4];
    for (int i = 0; i < 4; ++i) pthread_create(&ids[i], NULL, work, NULL);
    for (int i = 0; i < 4; ++i) {
      void* bad = (void*)1;
      pthread_join(ids[i], &bad);
      CHECK(bad == NULL);
    }
    CHECK(read_counter() == 4000); /* a fresh machine each time */
    seen = 0;
    if (!sigsetjmp(jump, 1)) __asm__ volatile("ud2");
    CHECK(seen == 1);
    eum_msr_detach();
  }
  CHECK(eum_msr_attach("/no/such/file") == -1);
  return FINISH();
}
