/* Linked statically: the runner cannot follow here. */
#include "user_msr.h"

int main(void) { return READ_MSR_IMM(0x10) != 0x123456789abcdef0ull; }
