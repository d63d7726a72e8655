/* A program that closes standard error and gets its number for a file of its own, under a trace to standard
 * error. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "user_msr.h"

int main(void) {
  char name[] = "/tmp/eumulate_own_XXXXXX";
  READ_MSR_IMM(0x10);
  close(2);
  CHECK(mkstemp(name) == 2);
  for (int i = 0; i < 3; ++i) READ_MSR_IMM(0x10);
  struct stat status;
  CHECK(fstat(2, &status) == 0 && status.st_size == 0);
  unlink(name);
  return FINISH();
}
