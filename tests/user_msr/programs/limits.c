/* limits: what is never patched is said, once, on standard error; and is patched as soon as it can be. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "user_msr.h"

enum { constant_msr = 0x10, other_msr = 0x15, page = 4096, stride = 16, more_than_fit = 33000 };
#define CONSTANT 0x123456789abcdef0ull

static const unsigned char code_bytes[] = {0xc4, 0xe7, 0x7b, 0xf8, 0xc0, constant_msr, 0, 0, 0, 0xc3};
static uint64_t call(const unsigned char* code) { return ((uint64_t(*)(void))(uintptr_t)code)(); }
static int call_often(const unsigned char* code) {
  int wrong = 0;
  for (int i = 0; i < 1000; ++i) wrong += call(code) != CONSTANT;
  return wrong;
}

/* Hot while it is writable; patched at the next access after it is not. */
static int writable(void) {
  unsigned char* code =
      mmap(NULL, page, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, code_bytes, sizeof code_bytes);
  int wrong = call_often(code) + (code[0] != 0xc4);
  mprotect(code, page, PROT_READ | PROT_EXEC);
  return wrong + (call(code) != CONSTANT) + (code[0] != 0xe9) + call_often(code);
}
/* The same memory at two addresses: written at one, executed at the other. */
static int mapped_twice(void) {
  int file = memfd_create("code", 0), wrong = ftruncate(file, page);
  unsigned char* writer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  unsigned char* code = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  memcpy(writer, code_bytes, sizeof code_bytes);
  wrong += call_often(code) + (code[0] != 0xc4);
  writer[5] = other_msr;
  return wrong + (call(code) != 0x15151515);
}
static int many(void) {
  size_t size = (size_t)more_than_fit * stride;
  unsigned char* code = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < more_than_fit; ++i) memcpy(code + i * stride, code_bytes, sizeof code_bytes);
  mprotect(code, size, PROT_READ | PROT_EXEC);
  int wrong = 0;
  for (int i = 0; i < more_than_fit; ++i) wrong += call(code + i * stride) != CONSTANT;
  return wrong + (code[0] != 0xe9) + (code[(more_than_fit - 1) * stride] != 0xc4);
}
static int nothing_special(void) {
  unsigned char* code = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, code_bytes, sizeof code_bytes);
  mprotect(code, page, PROT_READ | PROT_EXEC);
  return call_often(code);
}

int main(int argc, char** argv) {
  static const struct {
    int (*body)(void);
    const char* said; /* or nothing */
  } ways[] = {{writable, "stands in memory that can be written while it is executed"},
              {mapped_twice, "stands in memory that can be written while it is executed"},
              {many, "more than 32768 URDMSR and UWRMSR instructions"},
              {nothing_special, NULL}};
  if (argc > 1) return ways[argv[1][0] - '0'].body() != 0;
  for (unsigned i = 0; i < sizeof ways / sizeof *ways; ++i) {
    int ends[2], status = 1;
    CHECK(pipe(ends) == 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      char number[] = {(char)('0' + i), 0};
      dup2(ends[1], 2);
      close(ends[0]);
      close(ends[1]);
      execl("/proc/self/exe", "limits", number, (char*)NULL);
      _exit(7);
    }
    close(ends[1]);
    char text[4096];
    ssize_t length = 0, got;
    while ((got = read(ends[0], text + length, sizeof text - 1 - (size_t)length)) > 0) length += got;
    text[length] = '\0';
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    int lines = 0;
    for (char* at = text; (at = strchr(at, '\n')); ++at) ++lines;
    CHECK(lines == (ways[i].said ? 1 : 0));
    CHECK(!ways[i].said || strstr(text, ways[i].said));
    if (failures) printf("way %u, status %x: %s\n", i, (unsigned)status, text);
  }
  return FINISH();
}
