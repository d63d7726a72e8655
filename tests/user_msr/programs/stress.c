/* stress THREADS ACCESSES: all threads meet fresh sites at the same time, then make ACCESSES accesses in all,
 * with foreign SIGILLs in between. Every access is counted by MSR 0x11, a counter; no count may be lost or
 * given twice. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "check.h"
#include "user_msr.h"

enum { constant_msr = 0x10, counter_msr = 0x11, scratch_msr = 0x13, file_msr = 0x14 };
#define CONSTANT 0x123456789abcdef0ull

enum { fresh_sites = 1000, page = 4096 }; /* a page each */

static long accesses_each;
static int threads;
static unsigned char* fresh;
static pthread_barrier_t barrier;
static atomic_long foreign_seen, foreign_sent;
static atomic_long counted; /* reads of the counter */

static void on_sigill(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)info;
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] += 2;
  /* One of our instructions inside the handler of the other SIGILL. */
  if (READ_MSR_IMM(constant_msr) == CONSTANT) atomic_fetch_add(&foreign_seen, 1);
}

/* Sites fall on every place of a line; every other one goes across the end of its page. */
static unsigned char* site_code(int i) {
  return fresh + (size_t)i * page + (i % 2 == 0 ? 64 + i * 37 % (page - 128) : page - 1 - i / 2 % 8);
}

/* urdmsr rax, 0x11; ret */
static void make_fresh_sites(void) {
  static const unsigned char code[] = {0xc4, 0xe7, 0x7b, 0xf8, 0xc0, counter_msr, 0, 0, 0, 0xc3};
  size_t size = (size_t)(fresh_sites + 1) * page;
  fresh = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < fresh_sites; ++i) memcpy(site_code(i), code, sizeof code);
  mprotect(fresh, size, PROT_READ | PROT_EXEC);
}

static void* work(void* argument) {
  long number = (long)(intptr_t)argument;
  uint64_t last = 0;
  long reads = 0, bad = 0;
  for (int site = 0; site < fresh_sites; ++site) {
    uint64_t (*read_counter)(void) = (uint64_t(*)(void))(void*)site_code(site);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 3; ++i) {
      uint64_t now = read_counter();
      bad += reads++ > 0 && now <= last;
      last = now;
    }
  }
  for (long i = 0; i < accesses_each; ++i) {
    switch (i & 7) {
      case 0:
      case 4: {
        uint64_t now = READ_MSR_IMM(counter_msr);
        bad += now <= last;
        last = now;
        ++reads;
        break;
      }
      case 1:
        bad += READ_MSR_IMM(constant_msr) != CONSTANT;
        break;
      case 2:
        bad += read_msr(0xfeed00000000ull | constant_msr) != CONSTANT;
        break;
      case 3:
        WRITE_MSR_IMM(scratch_msr, number << 32 | number);
        break;
      case 5: {
        uint64_t value = read_msr(scratch_msr); /* some thread's, never a mixture */
        bad += value >> 32 != (uint32_t)value;
        break;
      }
      case 6: {
        uint64_t now = read_msr(counter_msr);
        bad += now <= last;
        last = now;
        ++reads;
        break;
      }
      default:
        write_msr(scratch_msr, (uint64_t)(number << 32 | number));
    }
    if ((i & 0xffff) == 0x1234) {
      atomic_fetch_add(&foreign_sent, 1);
      __asm__ volatile("ud2");
    }
  }
  atomic_fetch_add(&counted, reads);
  CHECK(bad == 0);
  return NULL;
}

int main(int argc, char** argv) {
  threads = argc > 1 ? atoi(argv[1]) : 1;
  long accesses = argc > 2 ? atol(argv[2]) : 1000000;
  accesses_each = accesses / threads;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_sigill;
  action.sa_flags = SA_SIGINFO;
  CHECK(sigaction(SIGILL, &action, NULL) == 0);
  make_fresh_sites();
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  pthread_t ids[64];
  for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, work, (void*)(intptr_t)(i + 1));
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  CHECK(READ_MSR_IMM(counter_msr) == (uint64_t)counted);
  CHECK(foreign_seen == foreign_sent);
  /* What was patched is a jump now. */
  int patched = 0;
  for (int i = 0; i < fresh_sites; ++i) patched += *site_code(i) == 0xe9;
  printf("threads %d accesses %ld counted %ld foreign %ld patched %d of %d\n", threads,
         accesses_each * threads + 3l * fresh_sites * threads, (long)counted, (long)foreign_seen, patched,
         fresh_sites);
  CHECK(patched == (is_patching() ? fresh_sites : 0));
  return FINISH();
}
