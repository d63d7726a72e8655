/* Built with the address sanitizer, whose library wants to be the first. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "user_msr.h"

enum { constant_msr = 0x10 };
#define CONSTANT 0x123456789abcdef0ull

int main(void) {
  for (int i = 0; i < 4; ++i) CHECK(READ_MSR_IMM(constant_msr) == CONSTANT);
  /* It still finds what it looks for. */
  pid_t child = fork();
  if (child == 0) {
    close(2);
    volatile char* volatile memory = malloc(10);
    memory[10] = 1;
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status != 0);
  return FINISH();
}
