/* abuse THREADS SECONDS LIBRARY: everything at once. Threads read registers at fresh and patched sites,
 * change code of their own and code that others execute, copy code, load and unload a library, fork children
 * that do the same, and raise SIGILLs of their own, under a storm of SIGALRM whose handler reads too. No read
 * of the counter may be lost or given twice, no value be wrong. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"
#include "user_msr.h"

enum { constant_msr = 0x10, counter_msr = 0x11, other_msr = 0x15, page = 4096, immediate_at = 5 };
#define CONSTANT 0x123456789abcdef0ull
#define OTHER 0x15151515ull

typedef uint64_t (*function)(void);
static uint64_t call(const unsigned char* code) { return ((function)(uintptr_t)code)(); }

static atomic_long counted, wrong, alarms, changes, forks, loads, copies, foreign;
static atomic_int stop;
static const char* library;
static unsigned char* shared_code;
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

static void expect(int is_good, const char* what) {
  if (!is_good && atomic_fetch_add(&wrong, 1) < 10) printf("wrong: %s\n", what);
}

/* Whether there is memory. A signal may come when a copied jump in memory that is writable and executable has
 * led to nowhere and has not been seen through yet; unwinders read what is there. */
static int is_mapped(const void* address) {
  unsigned char byte;
  struct iovec local = {&byte, 1}, remote = {(void*)(uintptr_t)address, 1};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}
static void on_alarm(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)info;
  int error = errno;
  READ_MSR_IMM(counter_msr);
  atomic_fetch_add(&counted, 1);
  expect(READ_MSR_IMM(constant_msr) == CONSTANT, "in a handler");
  const void* at = (const void*)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
  if (atomic_fetch_add(&alarms, 1) % 64 == 0 && is_mapped(at)) {
    void* frames[32];
    expect(backtrace(frames, 32) >= 3, "a backtrace"); /* made code has no unwind information */
  }
  errno = error;
}
static void on_sigill(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)info;
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] += 2;
  atomic_fetch_add(&foreign, 1);
}

/* urdmsr rax, msr; ret */
static void put(unsigned char* at, unsigned msr) {
  static const unsigned char code[] = {0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 0, 0, 0, 0, 0xc3};
  memcpy(at, code, sizeof code);
  at[immediate_at] = (unsigned char)msr;
}
static unsigned char* make_page(void) {
  unsigned char* code = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  put(code, constant_msr);
  put(code + page - 4, counter_msr); /* across the border */
  mprotect(code, 2 * page, PROT_READ | PROT_EXEC);
  return code;
}

/* A page that only this thread executes: its operand has effect at once. */
static void change_own(unsigned char* code) {
  for (int i = 0; i < 4; ++i) {
    unsigned msr = i % 2 ? constant_msr : other_msr;
    mprotect(code, page, PROT_READ | PROT_WRITE);
    expect(code[0] == 0xc4, "not the program's bytes");
    code[immediate_at] = (unsigned char)msr;
    mprotect(code, page, PROT_READ | PROT_EXEC);
    for (int k = 0; k < 3; ++k) expect(call(code) == (i % 2 ? CONSTANT : OTHER), "changed code");
  }
  atomic_fetch_add(&changes, 1);
}
/* The page that all execute. */
static void change_shared(void) {
  if (pthread_mutex_trylock(&shared_lock) != 0) return;
  mprotect(shared_code, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC);
  expect(shared_code[0] == 0xc4, "not the program's bytes, shared");
  atomic_store((_Atomic unsigned char*)&shared_code[immediate_at],
               shared_code[immediate_at] == other_msr ? constant_msr : other_msr);
  mprotect(shared_code, 2 * page, PROT_READ | PROT_EXEC);
  pthread_mutex_unlock(&shared_lock);
  atomic_fetch_add(&changes, 1);
}
/* Where it is writable and executable at once, far away: nearby, the copied jump may lead to another's stub.
 */
static void copy(const unsigned char* code, int is_writable) {
  void* far_away = (void*)0x100000000000;
  unsigned char* to =
      mmap(is_writable ? far_away : NULL, page, PROT_READ | PROT_WRITE | (is_writable ? PROT_EXEC : 0),
           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(to, code, 16);
  if (!is_writable) mprotect(to, page, PROT_READ | PROT_EXEC);
  for (int i = 0; i < 3; ++i) expect(call(to) == CONSTANT, "copied code");
  munmap(to, page);
  atomic_fetch_add(&copies, 1);
}
static long load(void) {
  void* handle = dlopen(library, RTLD_NOW);
  if (!handle) return 0;
  function count = (function)(uintptr_t)dlsym(handle, "library_count");
  uint64_t (*read)(uint64_t) = (uint64_t(*)(uint64_t))(uintptr_t)dlsym(handle, "library_read");
  for (int i = 0; i < 4; ++i) {
    count();
    expect(read(constant_msr) == CONSTANT, "in a library");
  }
  dlclose(handle);
  atomic_fetch_add(&loads, 1);
  return 4;
}
static void fork_child(unsigned char* code) {
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    wrong = 0;
    uint64_t last = READ_MSR_IMM(counter_msr);
    for (int i = 0; i < 20; ++i) {
      uint64_t now = READ_MSR_IMM(counter_msr);
      expect(now == last + 1, "a count in a child");
      last = now;
      expect(call(shared_code) == CONSTANT || call(shared_code) == OTHER, "shared code in a child");
    }
    change_own(code);
    _exit(wrong != 0);
  }
  int status = 1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (status != 0) printf("child: %x\n", (unsigned)status);
  expect(status == 0, "a child");
  atomic_fetch_add(&forks, 1);
}

static void* work(void* argument) {
  unsigned seed = (unsigned)(uintptr_t)argument * 2654435761u;
  unsigned char* own = make_page();
  long reads = 0;
  uint64_t last = 0;
  while (!stop) {
    for (int i = 0; i < 200; ++i) {
      uint64_t now = READ_MSR_IMM(counter_msr);
      expect(reads == 0 || now > last, "a count");
      last = now;
      now = call(own + page - 4);
      expect(now > last, "a count across a border");
      last = now;
      reads += 2;
      uint64_t value = call(shared_code);
      expect(value == CONSTANT || value == OTHER, "shared code");
      expect(read_msr(constant_msr) == CONSTANT, "by register");
    }
    switch (rand_r(&seed) % 16) {
      case 0:
        reads += load();
        break;
      case 1:
        if (rand_r(&seed) % 4 == 0) fork_child(own);
        break;
      case 2:
      case 3:
        change_shared();
        break;
      case 4:
        copy(own, rand_r(&seed) % 2);
        break;
      case 5:
        __asm__ volatile("ud2");
        break;
      case 6: /* fresh code at each turn */
        munmap(own, 2 * page);
        own = make_page();
        break;
      default:
        change_own(own);
    }
  }
  atomic_fetch_add(&counted, reads);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  int threads = atoi(argv[1]);
  library = argv[3];
  void* frames[4];
  backtrace(frames, 4); /* loads what it needs now */
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_sigill;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, NULL);
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_alarm;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  shared_code = make_page();
  pthread_t ids[64];
  for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, work, (void*)(uintptr_t)(i + 1));
  struct itimerval storm = {{0, 200}, {0, 200}}, none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &storm, NULL);
  time_t end = time(NULL) + atoi(argv[2]);
  while (time(NULL) < end) {
    change_shared();
    usleep(1000);
  }
  stop = 1;
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  setitimer(ITIMER_REAL, &none, NULL);
  uint64_t count = READ_MSR_IMM(counter_msr);
  printf("counted %ld alarms %ld changes %ld forks %ld loads %ld copies %ld foreign %ld wrong %ld\n",
         (long)counted, (long)alarms, (long)changes, (long)forks, (long)loads, (long)copies, (long)foreign,
         (long)wrong);
  CHECK(count == (uint64_t)counted);
  CHECK(wrong == 0);
  CHECK(alarms > 0 && changes > 0 && forks > 0 && loads > 0 && copies > 0 && foreign > 0);
  return FINISH();
}
