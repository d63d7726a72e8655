/* What abuse.c loads and unloads. */
#include "user_msr.h"

uint64_t library_count(void) { return READ_MSR_IMM(0x11); }
uint64_t library_read(uint64_t address) { return read_msr(address); }
