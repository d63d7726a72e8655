/* CHECK for programs that run under the runner: prints what failed and where, and counts. */
#ifndef CHECK_H
#define CHECK_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      if (failures++ < 20) printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                             \
  } while (0)

/* Whether the runner patches; with --trap-only it does not. */
static inline int is_patching(void) {
  const char* patch = getenv("EUMULATE_MSR_PATCH");
  return !patch || strcmp(patch, "off") != 0;
}

#define FINISH() (printf("%s\n", failures ? "FAILED" : "passed"), failures != 0)

#endif
