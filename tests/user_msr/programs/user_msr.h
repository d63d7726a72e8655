/* URDMSR and UWRMSR as bytes, since assemblers do not support them yet. */
#ifndef USER_MSR_H
#define USER_MSR_H
#include <stdint.h>

/* urdmsr rax, rcx */
static inline uint64_t read_msr(uint64_t address) {
  uint64_t value;
  __asm__ volatile(".byte 0xf2, 0x0f, 0x38, 0xf8, 0xc8" : "=a"(value) : "c"(address) : "memory");
  return value;
}

/* uwrmsr rcx, rax */
static inline void write_msr(uint64_t address, uint64_t value) {
  __asm__ volatile(".byte 0xf3, 0x0f, 0x38, 0xf8, 0xc8" : : "c"(address), "a"(value) : "memory");
}

/* urdmsr rax, imm32 */
#define READ_MSR_IMM(address)                                          \
  ({                                                                   \
    uint64_t value_;                                                   \
    __asm__ volatile(".byte 0xc4, 0xe7, 0x7b, 0xf8, 0xc0\n\t.long %c1" \
                     : "=a"(value_)                                    \
                     : "i"(address)                                    \
                     : "memory");                                      \
    value_;                                                            \
  })

/* uwrmsr imm32, rax */
#define WRITE_MSR_IMM(address, value)                                \
  __asm__ volatile(".byte 0xc4, 0xe7, 0x7a, 0xf8, 0xc0\n\t.long %c1" \
                   :                                                 \
                   : "a"((uint64_t)(value)), "i"(address)            \
                   : "memory")

#endif
