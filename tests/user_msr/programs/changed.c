/* A program that changes, moves or drops code of its own that was patched: it finds its own bytes whenever it
 * can write them, so whatever part of an instruction it rewrites has the effect that it has on hardware. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"
#include "user_msr.h"

enum { constant_msr = 0x10, other_msr = 0x15, page = 4096, sites = 64, stride = 61 };
#define CONSTANT 0x123456789abcdef0ull
#define OTHER 0x15151515ull

typedef uint64_t (*function)(void);
static uint64_t call(const void* code) { return ((function)(uintptr_t)code)(); }

/* urdmsr rax, constant_msr; ret, and the same in register form behind mov ecx, constant_msr */
static const unsigned char immediate_form[] = {0xc4, 0xe7, 0x7b, 0xf8, 0xc0, constant_msr, 0, 0, 0, 0xc3};
static const unsigned char register_form[] = {0xb9, constant_msr, 0,    0,    0,   0xf2,
                                              0x0f, 0x38,         0xf8, 0xc8, 0xc3};
enum { immediate_at = 5, modrm_at = 4 };

/* Two pages full of sites, one of them across their border. */
static unsigned char* make_code(void* where) {
  unsigned char* code = mmap(where, 2 * page, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0), -1, 0);
  memset(code, 0xcc, 2 * page);
  for (int i = 0; i < sites; ++i) {
    if (i % 2)
      memcpy(code + i * stride, register_form, sizeof register_form);
    else
      memcpy(code + i * stride, immediate_form, sizeof immediate_form);
  }
  memcpy(code + page - 3, immediate_form, sizeof immediate_form);
  mprotect(code, 2 * page, PROT_READ | PROT_EXEC);
  return code;
}
static void run_code(const unsigned char* code) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < sites; ++i) CHECK(call(code + i * stride) == CONSTANT);
    CHECK(call(code + page - 3) == CONSTANT);
  }
  CHECK(!is_patching() || code[0] == 0xe9);
  CHECK(!is_patching() || code[page - 3] == 0xe9);
}

/* The bytes are the program's. */
static void check_own_bytes(const unsigned char* code) {
  for (int i = 0; i < sites; ++i) {
    if (i % 2)
      CHECK(memcmp(code + i * stride, register_form, sizeof register_form) == 0);
    else
      CHECK(memcmp(code + i * stride, immediate_form, sizeof immediate_form) == 0);
  }
  CHECK(memcmp(code + page - 3, immediate_form, sizeof immediate_form) == 0);
}

static int protect_by_name(void* code, int protection) { return mprotect(code, 2 * page, protection); }
static int protect_by_key(void* code, int protection) {
  return pkey_mprotect(code, 2 * page, protection, -1);
}
static int protect_by_number(void* code, int protection) {
  return (int)syscall(SYS_mprotect, code, (size_t)2 * page, protection);
}

/* In every way to make it writable; also readable only, as code that is moved. */
static void test_own_bytes(void) {
  static int (*const protect[])(void*, int) = {protect_by_name, protect_by_key, protect_by_number};
  static const int protections[] = {PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE | PROT_EXEC, PROT_READ};
  unsigned char* code = make_code(NULL);
  for (int way = 0; way < 3; ++way)
    for (int i = 0; i < 3; ++i) {
      run_code(code);
      CHECK(protect[way](code, protections[i]) == 0);
      check_own_bytes(code);
      if (protections[i] & PROT_EXEC) CHECK(call(code) == CONSTANT);
      CHECK(protect[way](code, PROT_READ | PROT_EXEC) == 0);
    }
  run_code(code);
  munmap(code, 2 * page);
}

/* Each byte of the instruction that can become another instruction, alone. */
static void test_part_of_an_instruction(void) {
  unsigned char* code = make_code(NULL);
  run_code(code);
  struct {
    int site, at;
    unsigned char value, back; /* back: 89 /r; ret behind the site brings the other destination to rax */
    uint64_t expected;
  } changes[] = {{0, immediate_at, other_msr, 0, OTHER},
                 {0, modrm_at, 0xc1, 0xc8, CONSTANT}, /* to rcx */
                 {0, 1, 0xc7, 0xc0, CONSTANT},        /* VEX.B: to r8 */
                 {1, 1, other_msr, 0, OTHER},         /* the operand of mov */
                 {1, 5 + modrm_at, 0xc9, 0xc8, CONSTANT}};
  for (unsigned i = 0; i < sizeof changes / sizeof *changes; ++i)
    for (int round = 0; round < 3; ++round) {
      unsigned char* at = code + changes[i].site * stride;
      mprotect(code, page, PROT_READ | PROT_WRITE);
      unsigned char before = at[changes[i].at], tail[8];
      at[changes[i].at] = changes[i].value;
      int end = changes[i].site ? 10 : 9;
      memcpy(tail, at + end, sizeof tail);
      if (changes[i].back) {
        at[end] = changes[i].at == 1 && !changes[i].site ? 0x4c : 0x48;
        at[end + 1] = 0x89;
        at[end + 2] = changes[i].back;
        at[end + 3] = 0xc3;
      }
      mprotect(code, page, PROT_READ | PROT_EXEC);
      for (int k = 0; k < 3; ++k) CHECK(call(at) == changes[i].expected);
      mprotect(code, page, PROT_READ | PROT_WRITE);
      at[changes[i].at] = before;
      memcpy(at + end, tail, sizeof tail);
      mprotect(code, page, PROT_READ | PROT_EXEC);
      run_code(code);
    }
  munmap(code, 2 * page);
}

/* Half of the site across the border goes, by each call that drops memory. */
static void test_half_of_an_instruction(void) {
  for (int way = 0; way < 5; ++way) {
    unsigned char* code = make_code(NULL);
    run_code(code);
    unsigned char* second = code + page;
    switch (way) {
      case 0:
        munmap(second, page);
        break;
      case 1:
        mmap(second, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        break;
      case 2:
        madvise(second, page, MADV_DONTNEED);
        break;
      case 3: {
        unsigned char* to = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(mremap(second, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
        CHECK(memcmp(to, immediate_form + 3, sizeof immediate_form - 3) == 0);
        munmap(to, page);
        break;
      }
      default:
        syscall(SYS_munmap, second, (size_t)page);
    }
    CHECK(memcmp(code + page - 3, immediate_form, 3) == 0);
    munmap(code, 2 * page);
  }
}

/* Moved as a whole, it runs where it is then. */
static void test_moved(void) {
  unsigned char* code = make_code(NULL);
  for (int round = 0; round < 5; ++round) {
    run_code(code);
    unsigned char* to = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    code = mremap(code, 2 * page, 2 * page, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    CHECK(code == to);
    if (round % 2) {
      mprotect(code, 2 * page, PROT_READ | PROT_WRITE);
      check_own_bytes(code);
      mprotect(code, 2 * page, PROT_READ | PROT_EXEC);
    }
  }
  munmap(code, 2 * page);
}

/* Past protections. */
static void test_written_from_outside(void) {
  unsigned char* code = make_code(NULL);
  run_code(code);
  unsigned char value = other_msr;
  struct iovec local = {&value, 1}, remote = {code + immediate_at, 1};
  /* The system may refuse to write what is not writable; then nothing is written. */
  if (process_vm_writev(getpid(), &local, 1, &remote, 1, 0) == 1) CHECK(call(code) == OTHER);
  char name[40];
  snprintf(name, sizeof name, "/proc/%d/mem", (int)getpid());
  int file = open(name, O_RDWR);
  CHECK(file >= 0);
  for (int i = 0; i < 3; ++i) {
    value = i % 2 ? constant_msr : other_msr;
    CHECK(pwrite(file, &value, 1, (off_t)(uintptr_t)(code + immediate_at)) == 1);
    for (int k = 0; k < 3; ++k) CHECK(call(code) == (i % 2 ? CONSTANT : OTHER));
  }
  close(file);
  munmap(code, 2 * page);
}

/* Threads execute a site while others make its page writable, change its operand at once, and back. */
static unsigned char* shared_code;
static atomic_int stop;
static void* execute(void* argument) {
  (void)argument;
  long wrong = 0;
  while (!stop) {
    uint64_t value = call(shared_code);
    wrong += value != CONSTANT && value != OTHER;
    wrong += call(shared_code + page - 3) != CONSTANT;
  }
  return (void*)wrong;
}
static void test_changed_while_executed(void) {
  shared_code = make_code(NULL);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, execute, NULL);
  for (int round = 0; round < 300; ++round) {
    CHECK(mprotect(shared_code, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
    CHECK(shared_code[0] == 0xc4 && shared_code[modrm_at] == 0xc0);
    ((_Atomic unsigned char*)shared_code)[immediate_at] = round % 2 ? constant_msr : other_msr;
    if (round % 2) check_own_bytes(shared_code);
    CHECK(mprotect(shared_code, 2 * page, PROT_READ | PROT_EXEC) == 0);
    CHECK(call(shared_code) == (round % 2 ? CONSTANT : OTHER));
  }
  stop = 1;
  for (int i = 0; i < 4; ++i) {
    void* wrong = (void*)1;
    pthread_join(threads[i], &wrong);
    CHECK(wrong == NULL);
  }
  munmap(shared_code, 2 * page);
}

/* Redundant prefixes: entered with and without them, in each order. */
static void test_prefixes(void) {
  static const unsigned char prefixes[] = {0x2e, 0x67, 0x66, 0x48, 0xf2, 0xf3};
  static const unsigned char core[] = {0xf2, 0x0f, 0x38, 0xf8, 0xc8, 0xc3};
  unsigned char* code = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  enum { copies = 2 };
  for (unsigned i = 0; i < sizeof prefixes; ++i)
    for (int copy = 0; copy < copies; ++copy) {
      unsigned char* at = code + (copies * i + (unsigned)copy) * 16;
      at[0] = prefixes[i];
      memcpy(at + 1, core, sizeof core);
    }
  mprotect(code, page, PROT_READ | PROT_EXEC);
  for (unsigned i = 0; i < sizeof prefixes; ++i)
    for (int round = 0; round < 6; ++round) {
      int copy = round % 2, skipped = (round / 2 + copy) % 2;
      uint64_t value;
      __asm__ volatile("call *%1"
                       : "=a"(value)
                       : "r"(code + (copies * i + (unsigned)copy) * 16 + skipped), "c"((uint64_t)constant_msr)
                       : "memory");
      CHECK(value == CONSTANT);
    }
  munmap(code, page);
}

int main(void) {
  test_own_bytes();
  test_part_of_an_instruction();
  test_half_of_an_instruction();
  test_moved();
  test_prefixes();
  test_changed_while_executed();
  test_written_from_outside(); /* last: it ends patching */
  return FINISH();
}
