/* What gdb steps through, by stepped.gdb. */
#include <stdio.h>

#include "user_msr.h"

static __attribute__((noinline)) uint64_t one(void) {
  uint64_t value;
  __asm__ volatile(".globl the_site\nthe_site: .byte 0xf2, 0x0f, 0x38, 0xf8, 0xc8"
                   : "=a"(value)
                   : "c"(0x10ul));
  value += 1; /* behind the access */
  return value;
}

int main(void) {
  for (int i = 0; i < 10; ++i) printf("read %d %lx\n", i, (unsigned long)one());
  return 0;
}
