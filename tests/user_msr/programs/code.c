/* Sites in all kinds of code memory: across lines and pages, read-only, writable, shared, changed, unmapped,
 * padded. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "user_msr.h"

enum { constant_msr = 0x10, other_msr = 0x15 };
#define CONSTANT 0x123456789abcdef0ull
#define OTHER 0x15151515ull

typedef uint64_t (*function)(void);
static const int page = 4096;

static unsigned char* map(size_t size) {
  return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
/* [prefix] urdmsr rax, imm; ret */
static int put(unsigned char* at, const char* prefix, unsigned msr) {
  int n = (int)strlen(prefix);
  unsigned char code[] = {0xc4, 0xe7, 0x7b, 0xf8, 0xc0, (unsigned char)msr, (unsigned char)(msr >> 8),
                          0,    0,    0xc3};
  memcpy(at, prefix, (size_t)n);
  memcpy(at + n, code, sizeof code);
  return n;
}
static uint64_t call(unsigned char* at) { return ((function)(void*)at)(); }

static void test_straddling(void) {
  /* Every offset around the end of a page, thereby of a line. */
  unsigned char* code = map((size_t)page * 40);
  for (int i = 0; i < 16; ++i) put(code + (2 * i + 1) * page - i, "", constant_msr);
  mprotect(code, (size_t)page * 40, PROT_READ | PROT_EXEC);
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 16; ++i) {
      CHECK(call(code + (2 * i + 1) * page - i) == CONSTANT);
      CHECK(!is_patching() || code[(2 * i + 1) * page - i] == 0xe9);
    }
  munmap(code, (size_t)page * 40);
}

static void test_end_of_mapping(void) {
  /* RET is the last byte before a page that is not there. */
  unsigned char* code = map((size_t)page * 2);
  munmap(code + page, (size_t)page);
  put(code + page - 10, "", constant_msr);
  mprotect(code, (size_t)page, PROT_READ | PROT_EXEC);
  for (int round = 0; round < 3; ++round) CHECK(call(code + page - 10) == CONSTANT);
  munmap(code, (size_t)page);
}

static void test_mixed_protection(void) {
  /* The second page of the site is writable: the site must stay as it is, and work. */
  unsigned char* code = map((size_t)page * 2);
  put(code + page - 3, "", constant_msr);
  mprotect(code, (size_t)page, PROT_READ | PROT_EXEC);
  mprotect(code + page, (size_t)page, PROT_READ | PROT_WRITE | PROT_EXEC);
  for (int round = 0; round < 3; ++round) CHECK(call(code + page - 3) == CONSTANT);
  CHECK(code[page - 3] == 0xc4);
  munmap(code, (size_t)page * 2);
}

static void test_writable_and_shared(void) {
  unsigned char* code = map((size_t)page);
  put(code, "", constant_msr);
  mprotect(code, (size_t)page, PROT_READ | PROT_WRITE | PROT_EXEC);
  for (int round = 0; round < 3; ++round) CHECK(call(code) == CONSTANT);
  CHECK(code[0] == 0xc4);
  /* Rewritten in place by the program. */
  put(code, "", other_msr);
  for (int round = 0; round < 3; ++round) CHECK(call(code) == OTHER);
  munmap(code, (size_t)page);

  /* A file: patching would change it. */
  char name[] = "/tmp/eumulate_code_XXXXXX";
  int file = mkstemp(name);
  unsigned char bytes[10];
  put(bytes, "", constant_msr);
  CHECK(write(file, bytes, sizeof bytes) == (ssize_t)sizeof bytes);
  code = mmap(NULL, (size_t)page, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  CHECK(code != MAP_FAILED);
  for (int round = 0; round < 3; ++round) CHECK(call(code) == CONSTANT);
  unsigned char after[10];
  CHECK(pread(file, after, sizeof after, 0) == (ssize_t)sizeof after &&
        memcmp(after, bytes, sizeof bytes) == 0);
  munmap(code, (size_t)page);
  /* The same privately is patched, in this process only. */
  code = mmap(NULL, (size_t)page, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  for (int round = 0; round < 3; ++round) CHECK(call(code) == CONSTANT);
  CHECK(!is_patching() || code[0] == 0xe9);
  CHECK(pread(file, after, sizeof after, 0) == (ssize_t)sizeof after &&
        memcmp(after, bytes, sizeof bytes) == 0);
  munmap(code, (size_t)page);
  close(file);
  unlink(name);
}

/* Executable only: with protection keys it cannot be read. Within a page and across the end of one, whose
 * protections need not agree. */
static void test_unreadable(void) {
  for (int first = 0; first < 2; ++first)
    for (int second = 0; second < 2; ++second) {
      unsigned char* code = map(2 * (size_t)page);
      put(code, "", constant_msr);
      put(code + page - 4, "", other_msr);
      mprotect(code, (size_t)page, PROT_EXEC | (first ? PROT_READ : 0));
      mprotect(code + page, (size_t)page, PROT_EXEC | (second ? PROT_READ : 0));
      for (int round = 0; round < 4; ++round) {
        CHECK(call(code) == CONSTANT);
        CHECK(call(code + page - 4) == OTHER);
      }
      munmap(code, 2 * (size_t)page);
    }
}

static void test_changed(void) {
  /* A just-in-time compiler: patched, then other code at the same place, then the first again, then nothing.
   */
  unsigned char* code = map((size_t)page);
  for (int round = 0; round < 10; ++round) {
    mprotect(code, (size_t)page, PROT_READ | PROT_WRITE);
    memset(code, 0xcc, 64);
    put(code, "", round % 2 ? other_msr : constant_msr);
    mprotect(code, (size_t)page, PROT_READ | PROT_EXEC);
    for (int i = 0; i < 4; ++i) CHECK(call(code) == (round % 2 ? OTHER : CONSTANT));
  }
  mprotect(code, (size_t)page, PROT_READ | PROT_WRITE);
  memcpy(code, "\xb8\x05\x00\x00\x00\xc3", 6); /* mov eax, 5; ret */
  mprotect(code, (size_t)page, PROT_READ | PROT_EXEC);
  CHECK(call(code) == 5);
  munmap(code, (size_t)page);
  /* Unmapped and mapped again at the same address, many times. */
  for (int round = 0; round < 200; ++round) {
    unsigned char* again =
        mmap(code, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    put(again, "", constant_msr);
    mprotect(again, (size_t)page, PROT_READ | PROT_EXEC);
    CHECK(call(again) == CONSTANT && call(again) == CONSTANT);
    munmap(again, (size_t)page);
  }
}

static void test_padded(void) {
  unsigned char* code = map((size_t)page);
  static const char* prefixes[] = {"\x2e", "\x2e\x2e\x3e", "\x64", "\x67", "\x26\x36\x2e\x3e\x65\x64"};
  for (int i = 0; i < 5; ++i) put(code + 64 * i, prefixes[i], constant_msr);
  /* cs urdmsr rax, rcx as an assembler pads it, entered before and behind the prefix. */
  unsigned char padded[] = {0xb9, constant_msr, 0, 0, 0, 0x2e, 0xf2, 0x0f, 0x38, 0xf8, 0xc8, 0xc3};
  unsigned char into[] = {0xb9, constant_msr, 0, 0, 0, 0xeb, 0xbf}; /* jmp back, behind the prefix */
  memcpy(code + 512, padded, sizeof padded);
  memcpy(code + 512 + 0x40, into, sizeof into);
  mprotect(code, (size_t)page, PROT_READ | PROT_EXEC);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5; ++i) CHECK(call(code + 64 * i) == CONSTANT);
    CHECK(call(code + 512) == CONSTANT);
    CHECK(call(code + 512 + 0x40) == CONSTANT);
  }
  munmap(code, (size_t)page);
}

/* RSP as destination cannot be patched. */
static uint64_t read_into_rsp(void) {
  uint64_t value;
  __asm__ volatile(
      "mov %%rsp, %%r12\n\t.byte 0xc4, 0xe7, 0x7b, 0xf8, 0xc4\n\t.long 0x10\n\tmov %%rsp, %0\n\tmov %%r12, "
      "%%rsp"
      : "=r"(value)
      :
      : "r12", "memory");
  return value;
}

static sigjmp_buf after_fault;
static int fault_signal;
static const void* fault_address;
static void on_fault(int signal, siginfo_t* info, void* context) {
  (void)context;
  fault_signal = signal;
  fault_address = info->si_addr;
  siglongjmp(after_fault, 1);
}
/* The runner leaves the EVEX forms, which need APX, alone: the program gets its own SIGILL. Of one that the
 * end of memory cuts, no more is read than the processor has read. */
static void test_evex(void) {
  static const unsigned char form[] = {0x62, 0xf4, 0x7f, 0x08, 0xf8, 0xc8}; /* urdmsr rax, rcx */
  unsigned char* code = map((size_t)page * 2);
  struct sigaction action, old_ill, old_segv;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, &old_ill);
  sigaction(SIGSEGV, &action, &old_segv);
  munmap(code + page, (size_t)page);
  for (int there = 1; there <= (int)sizeof form; ++there) {
    unsigned char* at = code + page - there;
    mprotect(code, (size_t)page, PROT_READ | PROT_WRITE);
    memcpy(at, form, (size_t)there);
    mprotect(code, (size_t)page, PROT_READ | PROT_EXEC);
    fault_signal = 0;
    if (!sigsetjmp(after_fault, 1)) call(at);
    CHECK(fault_signal == SIGILL ? fault_address == at
                                 : fault_signal == SIGSEGV && fault_address == code + page);
    CHECK(there < (int)sizeof form || fault_signal == SIGILL);
  }
  sigaction(SIGILL, &old_ill, NULL);
  sigaction(SIGSEGV, &old_segv, NULL);
  munmap(code, (size_t)page);
}

int main(void) {
  test_evex();
  test_straddling();
  test_end_of_mapping();
  test_mixed_protection();
  test_writable_and_shared();
  test_unreadable();
  test_changed();
  test_padded();
  for (int i = 0; i < 3; ++i) CHECK(read_into_rsp() == CONSTANT);
  return FINISH();
}
