/* User MSR instructions (URDMSR, UWRMSR, and RDMSR and WRMSRNS with an immediate) for other x86 emulators.
 *
 * A machine is one logical processor as these instructions see it. An embedder either keeps its registers
 * there, or copies them in before eum_msr_step and out after it. Only one thread at a time may use a machine;
 * machines share nothing except what callbacks share. Pointers passed to a call need not outlive it, unless
 * stated otherwise. C99 and C++17. */
#ifndef EUMULATE_EUMULATE_MSR_H
#define EUMULATE_EUMULATE_MSR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eum_msr_machine eum_msr_machine;

/* Result of a call by the embedder. After any but EUM_MSR_OK, eum_msr_message says what was expected. */
typedef enum eum_msr_status {
  EUM_MSR_OK = 0,
  EUM_MSR_BAD_ARGUMENT = 1,
  EUM_MSR_UNSUPPORTED = 2, /* the host cannot run the engine */
  EUM_MSR_NO_MEMORY = 3
} eum_msr_status;

/* ---- Decoding: needs no machine, allocates nothing */

typedef enum eum_msr_mode { EUM_MSR_MODE_16 = 0, EUM_MSR_MODE_32 = 1, EUM_MSR_MODE_64 = 2 } eum_msr_mode;

typedef enum eum_msr_verdict {
  EUM_MSR_INSTRUCTION = 0,
  EUM_MSR_FOREIGN = 1,   /* another instruction: the embedder's own decoder judges it */
  EUM_MSR_UNDEFINED = 2, /* #UD */
  EUM_MSR_TRUNCATED = 3, /* more bytes are needed */
  EUM_MSR_TOO_LONG = 4   /* more than 15 bytes: #GP(0) */
} eum_msr_verdict;

typedef enum eum_msr_form {
  EUM_MSR_URDMSR_REG = 0,
  EUM_MSR_UWRMSR_REG = 1,
  EUM_MSR_URDMSR_IMM = 2,
  EUM_MSR_UWRMSR_IMM = 3,
  EUM_MSR_RDMSR_IMM = 4,
  EUM_MSR_WRMSRNS_IMM = 5,
  /* EVEX forms, which need APX: a processor without it raises #UD */
  EUM_MSR_URDMSR_REG_APX = 6,
  EUM_MSR_UWRMSR_REG_APX = 7,
  EUM_MSR_URDMSR_IMM_APX = 8,
  EUM_MSR_UWRMSR_IMM_APX = 9,
  EUM_MSR_RDMSR_IMM_APX = 10,
  EUM_MSR_WRMSRNS_IMM_APX = 11
} eum_msr_form;

/* General registers: RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to R15, and with APX R16 to R31. */
enum { EUM_MSR_GPRS = 32 };

typedef struct eum_msr_instruction {
  uint32_t form;   /* eum_msr_form */
  uint32_t length; /* bytes; ignored by eum_msr_encode and eum_msr_print */
  uint32_t data; /* general register: destination of a read, source of a write; beyond 15 in APX forms only */
  uint32_t index; /* general register that holds the MSR address; register forms */
  uint32_t msr;   /* MSR address; immediate forms */
} eum_msr_instruction;

/* `instruction` may be null; it is written for EUM_MSR_INSTRUCTION, and for EUM_MSR_UNDEFINED its length. */
eum_msr_verdict eum_msr_decode(const uint8_t* bytes, size_t size, eum_msr_mode mode,
                               eum_msr_instruction* instruction);
/* Writes the shortest encoding; returns its length, or 0 for an instruction that does not exist: no such
 * form, or a register that the form cannot name. */
size_t eum_msr_encode(const eum_msr_instruction* instruction, uint8_t bytes[15]);
/* Writes text such as "urdmsr rax, rcx", zero-terminated and cut to `size`; returns the full length, or 0 as
 * eum_msr_encode does. */
size_t eum_msr_print(const eum_msr_instruction* instruction, char* text, size_t size);

/* ---- Machines */

typedef enum eum_msr_engine { EUM_MSR_ENGINE_AVX2 = 0, EUM_MSR_ENGINE_REFERENCE = 1 } eum_msr_engine;

typedef struct eum_msr_options {
  size_t struct_size;           /* sizeof(eum_msr_options) */
  uint32_t engine;              /* eum_msr_engine */
  int no_user_msr;              /* CPUID.(7,1):EDX[15] = 0 */
  int no_msr_imm;               /* CPUID.(7,1):ECX[5] = 0 */
  int apx;                      /* CPUID.(7,1):EDX[21] = 1: EVEX forms execute; without it they are #UD */
  uint32_t linear_address_bits; /* what is canonical: 48 (also 0), or 57 with LA57 */
} eum_msr_options;

/* `options` may be null. A machine begins in 64-bit mode at CPL 3 with CR4.SMAP = 1 and everything else 0. */
eum_msr_status eum_msr_create(const eum_msr_options* options, eum_msr_machine** machine);
void eum_msr_destroy(eum_msr_machine* machine);
/* The message of the last failed call, valid until the next call; "" if none has failed. */
const char* eum_msr_message(const eum_msr_machine* machine);

/* All EUM_MSR_GPRS general registers, to be read and written in place: an embedder can keep its own there.
 * The pointer is valid as long as the machine. */
uint64_t* eum_msr_gprs(eum_msr_machine* machine);
uint64_t eum_msr_gpr(const eum_msr_machine* machine, unsigned reg); /* reg modulo EUM_MSR_GPRS */
void eum_msr_set_gpr(eum_msr_machine* machine, unsigned reg, uint64_t value);
uint64_t eum_msr_rip(const eum_msr_machine* machine);
void eum_msr_set_rip(eum_msr_machine* machine, uint64_t value);
eum_msr_status eum_msr_set_cpl(eum_msr_machine* machine, unsigned cpl);
eum_msr_status eum_msr_set_mode(eum_msr_machine* machine, eum_msr_mode mode);
void eum_msr_set_smap(eum_msr_machine* machine, int on);
/* IA32_USER_MSR_CTL; an error for a value that WRMSR refuses. */
uint64_t eum_msr_control(const eum_msr_machine* machine);
eum_msr_status eum_msr_set_control(eum_msr_machine* machine, uint64_t value);
/* VMX non-root operation, and "use MSR bitmaps" with its 4096 bytes (null: the control is 0). Copied. */
void eum_msr_set_guest(eum_msr_machine* machine, int in_guest, const uint8_t* msr_bitmap);
/* registers[0..3] = EAX, EBX, ECX, EDX. */
void eum_msr_cpuid(const eum_msr_machine* machine, uint32_t leaf, uint32_t subleaf, uint32_t registers[4]);

/* ---- Linear memory, as needed for bitmaps: whole pages of 4096 bytes; `host` outlives the mapping */

enum { EUM_MSR_PAGE_PRESENT = 1, EUM_MSR_PAGE_WRITABLE = 2, EUM_MSR_PAGE_USER = 4 };
eum_msr_status eum_msr_map(eum_msr_machine* machine, uint64_t address, void* host, size_t size,
                           unsigned flags);
eum_msr_status eum_msr_protect(eum_msr_machine* machine, uint64_t address, size_t size, unsigned flags);
eum_msr_status eum_msr_unmap(eum_msr_machine* machine, uint64_t address);

/* An embedder's own MMU instead of these pages. The callback reads a byte of the bitmap of IA32_USER_MSR_CTL
 * at a linear address as an implicit supervisor access, whatever the CPL (with CR4.SMAP user pages fault). It
 * is called on the executing thread and must not throw or use the machine. */
typedef enum eum_msr_linear_answer {
  EUM_MSR_LINEAR_DONE = 0,       /* *byte is set */
  EUM_MSR_LINEAR_PAGE_FAULT = 1, /* #PF with *error_code, which is 0 (not present) at first */
  EUM_MSR_LINEAR_STOP = 2        /* the step ends as EUM_MSR_STOPPED, as for an EPT violation */
} eum_msr_linear_answer;
typedef eum_msr_linear_answer (*eum_msr_linear_callback)(void* context, uint64_t address, uint8_t* byte,
                                                         uint32_t* error_code);
/* `read` and `context` must outlive the machine; a null function restores the use of mapped pages. */
void eum_msr_set_linear(eum_msr_machine* machine, eum_msr_linear_callback read, void* context);

/* ---- Model specific registers */

/* Called on the executing thread after every check has passed; must not throw or use the machine. Returning 0
 * raises #GP(0), as does a null function. */
typedef int (*eum_msr_read_callback)(void* context, uint32_t address, uint64_t* value);
typedef int (*eum_msr_write_callback)(void* context, uint32_t address, uint64_t value);

typedef struct eum_msr_register {
  size_t struct_size; /* sizeof(eum_msr_register) */
  uint32_t address;
  const char* name;  /* may be null */
  int read_only;     /* writes raise #GP(0) */
  int write_only;    /* reads raise #GP(0) */
  uint64_t reserved; /* bits that must be 0 in a write */
  uint64_t value;    /* initial value, without callbacks */
  void* context;     /* outlives the machine, as do the functions */
  eum_msr_read_callback read;
  eum_msr_write_callback write;
} eum_msr_register;

eum_msr_status eum_msr_add(eum_msr_machine* machine, const eum_msr_register* description);
typedef struct eum_msr_register_state {
  uint32_t address;
  int readable, writable;
  int has_value;    /* 0 if a callback, a file or the host's time stamp counter gives the value */
  uint64_t value;   /* of a counter: what the next read returns */
  const char* name; /* valid as long as the machine */
} eum_msr_register_state;

/* Writes up to `count` registers: IA32_USER_MSR_CTL, then the others in the order in which they were added.
 * Returns the number of all registers. Performs no reads that have effects. */
size_t eum_msr_registers(const eum_msr_machine* machine, eum_msr_register_state* states, size_t count);
/* Sets the value in eum_msr_register_state; an error if the register has none or does not exist. */
eum_msr_status eum_msr_set_value(eum_msr_machine* machine, uint32_t address, uint64_t value);
/* Adds the registers of a configuration file of `eumulate msr run`, maps its bitmap as a supervisor page at
 * `bitmap_address`, and sets IA32_USER_MSR_CTL to that address, enabled. */
eum_msr_status eum_msr_load_config(eum_msr_machine* machine, const char* path, uint64_t bitmap_address);

/* ---- Execution */

typedef enum eum_msr_outcome_kind {
  EUM_MSR_DONE = 0,
  EUM_MSR_EXCEPTION = 1,
  EUM_MSR_VM_EXIT = 2,
  EUM_MSR_NOT_OURS = 3,   /* another instruction: not executed */
  EUM_MSR_NEED_BYTES = 4, /* truncated: not executed */
  EUM_MSR_FAILED = 5,     /* a bug of the emulator, see eum_msr_message */
  EUM_MSR_STOPPED = 6     /* the embedder's MMU said EUM_MSR_LINEAR_STOP */
} eum_msr_outcome_kind;

typedef struct eum_msr_outcome {
  uint32_t kind; /* eum_msr_outcome_kind; unless EUM_MSR_DONE the state is as before the instruction at RIP */
  uint32_t vector; /* exception: 6 #UD, 13 #GP, 14 #PF */
  uint32_t has_error_code;
  uint32_t error_code;
  uint64_t cr2;                /* #PF and EUM_MSR_STOPPED: the linear address */
  uint32_t exit_reason;        /* VM exit: basic exit reason */
  uint32_t completed;          /* instructions executed before the end */
  uint64_t exit_qualification; /* the MSR address */
  /* VM-exit instruction information: bits 6:3 are the low four bits of exit_register, the others 0. */
  uint32_t exit_instruction_information;
  uint32_t exit_instruction_length;
  uint32_t exit_register; /* general register 0-31: destination of a read, source of a write */
} eum_msr_outcome;

/* Executes the instruction at the front of `bytes`, which are the bytes at RIP. */
eum_msr_status eum_msr_step(eum_msr_machine* machine, const uint8_t* bytes, size_t size,
                            eum_msr_outcome* outcome);
/* Executes the run of such instructions at the front of `bytes`, up to 64. EUM_MSR_DONE: at least one. */
eum_msr_status eum_msr_run(eum_msr_machine* machine, const uint8_t* bytes, size_t size,
                           eum_msr_outcome* outcome);

#ifdef __cplusplus
}
#endif

#endif
