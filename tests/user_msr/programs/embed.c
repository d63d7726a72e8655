/* The C API as an embedder uses it, from C99. */
#include <string.h>

#include "check.h"
#include "eumulate/eumulate_msr.h"

static uint64_t written[4];
static int writes, reads;

static int on_read(void* context, uint32_t address, uint64_t* value) {
  ++reads;
  *value = (uint64_t)address << 16 | *(const uint16_t*)context;
  return address != 0x21;
}
static int on_write(void* context, uint32_t address, uint64_t value) {
  (void)context;
  (void)address;
  written[writes++ & 3] = value;
  return 1;
}

static uint8_t pages[2 * 4096];

static void test_decode(void) {
  static const uint8_t bytes[] = {0xf2, 0x45, 0x0f, 0x38, 0xf8, 0xf4};
  static const uint8_t evex[] = {0x62, 0x64, 0x7e, 0x08, 0xf8, 0xc0}; /* uwrmsr r24, rax */
  eum_msr_instruction i;
  uint8_t again[15];
  char text[8];
  CHECK(eum_msr_decode(bytes, sizeof bytes, EUM_MSR_MODE_64, &i) == EUM_MSR_INSTRUCTION);
  CHECK(i.form == EUM_MSR_URDMSR_REG && i.length == 6 && i.data == 12 && i.index == 14);
  CHECK(eum_msr_encode(&i, again) == 6 && memcmp(again, bytes, 6) == 0);
  CHECK(eum_msr_print(&i, text, sizeof text) == strlen("urdmsr r12, r14") && strcmp(text, "urdmsr ") == 0);
  CHECK(eum_msr_decode(bytes, sizeof bytes, EUM_MSR_MODE_32, NULL) == EUM_MSR_FOREIGN); /* 45 is INC EBP */
  CHECK(eum_msr_decode(bytes, 5, EUM_MSR_MODE_64, &i) == EUM_MSR_TRUNCATED);
  CHECK(eum_msr_decode(NULL, 0, EUM_MSR_MODE_64, &i) == EUM_MSR_TRUNCATED);
  i.data = 16; /* no form without APX has it */
  CHECK(eum_msr_encode(&i, again) == 0 && eum_msr_print(&i, text, sizeof text) == 0);
  i.data = 12;
  i.index = 16;
  CHECK(eum_msr_encode(&i, again) == 0);
  i.form = EUM_MSR_URDMSR_IMM; /* which has no index */
  CHECK(eum_msr_encode(&i, again) == 9);
  i.form = EUM_MSR_URDMSR_REG_APX;
  CHECK(eum_msr_encode(&i, again) == 6);
  i.index = 14 + 256; /* no register comes from higher bits */
  CHECK(eum_msr_encode(&i, again) == 0);
  CHECK(eum_msr_decode(evex, sizeof evex, EUM_MSR_MODE_64, &i) == EUM_MSR_INSTRUCTION);
  CHECK(i.form == EUM_MSR_UWRMSR_REG_APX && i.length == 6 && i.data == 0 && i.index == 24);
  i.form = 99;
  CHECK(eum_msr_encode(&i, again) == 0 && eum_msr_print(&i, text, sizeof text) == 0);
}

static void test_machine(uint32_t engine) {
  eum_msr_options options = {sizeof options, engine, 0, 0, 0, 0};
  eum_msr_machine* m = NULL;
  eum_msr_register description;
  eum_msr_outcome outcome;
  static const uint64_t base = 0xffff900000000000u;
  uint8_t* page = (uint8_t*)(((uintptr_t)pages + 4095) & ~(uintptr_t)4095);
  uint16_t context = 0x77;
  uint32_t cpuid[4];
  /* urdmsr rax, rcx; uwrmsr 0x20, rax; urdmsr rdx, 0x21 */
  static const uint8_t run[] = {0xf2, 0x0f, 0x38, 0xf8, 0xc8, 0xc4, 0xe7, 0x7a, 0xf8, 0xc0, 0x20, 0,
                                0,    0,    0xc4, 0xe7, 0x7b, 0xf8, 0xc2, 0x21, 0,    0,    0};
  memset(pages, 0, sizeof pages);
  writes = reads = 0;
  CHECK(eum_msr_create(&options, &m) == EUM_MSR_OK && m);
  if (!m) return;
  eum_msr_cpuid(m, 7, 1, cpuid);
  CHECK(cpuid[3] == 1u << 15);
  memset(&description, 0, sizeof description);
  description.struct_size = sizeof description;
  description.context = &context;
  description.read = on_read;
  description.write = on_write;
  description.address = 0x20;
  CHECK(eum_msr_add(m, &description) == EUM_MSR_OK);
  CHECK(eum_msr_add(m, &description) == EUM_MSR_BAD_ARGUMENT && strstr(eum_msr_message(m), "0x20"));
  description.address = 0x21;
  CHECK(eum_msr_add(m, &description) == EUM_MSR_OK);
  CHECK(eum_msr_map(m, base, page, 4096, EUM_MSR_PAGE_PRESENT | EUM_MSR_PAGE_WRITABLE) == EUM_MSR_OK);
  CHECK(eum_msr_map(m, base + 8192, page, 100, EUM_MSR_PAGE_PRESENT) == EUM_MSR_BAD_ARGUMENT);

  /* Disabled, then every bit 0, then allowed. */
  eum_msr_set_rip(m, 0x1000);
  eum_msr_set_gpr(m, 1, 0x20);
  CHECK(eum_msr_run(m, run, sizeof run, &outcome) == EUM_MSR_OK);
  CHECK(outcome.kind == EUM_MSR_EXCEPTION && outcome.vector == 6 && !outcome.has_error_code);
  CHECK(eum_msr_set_control(m, base | 3) == EUM_MSR_BAD_ARGUMENT);
  CHECK(eum_msr_set_control(m, base | 1) == EUM_MSR_OK && eum_msr_control(m) == (base | 1));
  CHECK(eum_msr_run(m, run, sizeof run, &outcome) == EUM_MSR_OK);
  CHECK(outcome.kind == EUM_MSR_EXCEPTION && outcome.vector == 13 && outcome.has_error_code &&
        outcome.error_code == 0);
  CHECK(reads == 0 && writes == 0);
  page[0x20 / 8] = 3;
  page[2048 + 0x20 / 8] = 1;
  CHECK(eum_msr_run(m, run, sizeof run, &outcome) == EUM_MSR_OK);
  CHECK(outcome.kind == EUM_MSR_EXCEPTION && outcome.completed == 2); /* the callback refused 0x21 */
  CHECK(eum_msr_rip(m) == 0x1000 + 14 && eum_msr_gpr(m, 0) == 0x200077);
  CHECK(writes == 1 && written[0] == 0x200077);
  CHECK(eum_msr_step(m, run, 3, &outcome) == EUM_MSR_OK && outcome.kind == EUM_MSR_NEED_BYTES);
  CHECK(eum_msr_step(m, (const uint8_t*)"\x90", 1, &outcome) == EUM_MSR_OK &&
        outcome.kind == EUM_MSR_NOT_OURS);
  CHECK(eum_msr_step(m, run, sizeof run, NULL) == EUM_MSR_BAD_ARGUMENT);

  /* A page that is not present, and a guest. */
  CHECK(eum_msr_protect(m, base, 4096, 0) == EUM_MSR_OK);
  CHECK(eum_msr_step(m, run, sizeof run, &outcome) == EUM_MSR_OK);
  CHECK(outcome.vector == 14 && outcome.error_code == 0 && outcome.cr2 == base + 4);
  CHECK(eum_msr_protect(m, base, 4096, EUM_MSR_PAGE_PRESENT) == EUM_MSR_OK);
  eum_msr_set_guest(m, 1, NULL);
  CHECK(eum_msr_step(m, run, sizeof run, &outcome) == EUM_MSR_OK);
  CHECK(outcome.kind == EUM_MSR_VM_EXIT && outcome.exit_reason == 80 && outcome.exit_qualification == 0x20);
  CHECK(eum_msr_set_cpl(m, 4) == EUM_MSR_BAD_ARGUMENT);
  CHECK(eum_msr_load_config(m, "/no/such/file", 0x10000) == EUM_MSR_BAD_ARGUMENT);
  eum_msr_destroy(m);
}

typedef struct own_mmu {
  eum_msr_linear_answer answer;
  uint64_t address;
} own_mmu;

static eum_msr_linear_answer on_linear(void* context, uint64_t address, uint8_t* byte, uint32_t* error_code) {
  own_mmu* mmu = context;
  mmu->address = address;
  *byte = 0xff;
  if (mmu->answer == EUM_MSR_LINEAR_PAGE_FAULT) *error_code = 9;
  return mmu->answer;
}

/* What an emulator wants: its MMU, its registers in place, APX and 57-bit addresses, the state of all
 * registers. */
static void test_emulator(uint32_t engine) {
  static const uint64_t base = 0xff00000000042000u;
  static const uint8_t evex[] = {0x62, 0xec, 0x7f, 0x08, 0xf8, 0xf5}; /* urdmsr r21, r22 */
  eum_msr_options options = {sizeof options, engine, 0, 0, 1, 57};
  eum_msr_machine* m = NULL;
  eum_msr_register description;
  eum_msr_register_state states[4];
  eum_msr_outcome outcome;
  own_mmu mmu = {EUM_MSR_LINEAR_DONE, 0};
  uint64_t* gprs;
  options.linear_address_bits = 52;
  CHECK(eum_msr_create(&options, &m) == EUM_MSR_BAD_ARGUMENT && !m);
  options.linear_address_bits = 57;
  CHECK(eum_msr_create(&options, &m) == EUM_MSR_OK && m);
  if (!m) return;
  memset(&description, 0, sizeof description);
  description.struct_size = sizeof description;
  description.address = 0x30;
  description.name = "THIRTY";
  description.value = 0x3030;
  CHECK(eum_msr_add(m, &description) == EUM_MSR_OK);
  description.address = 0x31;
  description.read = on_read;
  description.write_only = 1;
  CHECK(eum_msr_add(m, &description) == EUM_MSR_OK);
  CHECK(eum_msr_set_control(m, base | 1) == EUM_MSR_OK);

  eum_msr_set_linear(m, on_linear, &mmu);
  gprs = eum_msr_gprs(m);
  gprs[22] = 0x30;
  CHECK(eum_msr_step(m, evex, sizeof evex, &outcome) == EUM_MSR_OK && outcome.kind == EUM_MSR_DONE);
  CHECK(gprs[21] == 0x3030 && eum_msr_gpr(m, 21) == 0x3030 && mmu.address == base + 0x30 / 8);
  mmu.answer = EUM_MSR_LINEAR_PAGE_FAULT;
  CHECK(eum_msr_step(m, evex, sizeof evex, &outcome) == EUM_MSR_OK);
  CHECK(outcome.vector == 14 && outcome.error_code == 9 && outcome.cr2 == base + 0x30 / 8);
  CHECK(!strcmp(eum_msr_message(m), "#PF(9) at 0xff00000000042006"));
  mmu.answer = EUM_MSR_LINEAR_STOP;
  CHECK(eum_msr_step(m, evex, sizeof evex, &outcome) == EUM_MSR_OK && outcome.kind == EUM_MSR_STOPPED);
  mmu.answer = EUM_MSR_LINEAR_DONE;
  eum_msr_set_guest(m, 1, NULL);
  CHECK(eum_msr_step(m, evex, sizeof evex, &outcome) == EUM_MSR_OK && outcome.kind == EUM_MSR_VM_EXIT);
  CHECK(outcome.exit_instruction_information == 5 << 3 && outcome.exit_register == 21);
  CHECK(outcome.exit_instruction_length == 6 && outcome.exit_qualification == 0x30);

  memset(states, 0, sizeof states);
  CHECK(eum_msr_registers(m, NULL, 0) == 3 && eum_msr_registers(m, states, 2) == 3);
  CHECK(states[0].address == 0x1c && states[0].has_value && states[0].value == (base | 1));
  CHECK(states[1].address == 0x30 && states[1].value == 0x3030 && !strcmp(states[1].name, "THIRTY"));
  CHECK(states[1].readable && states[1].writable && states[2].address == 0);
  reads = 0;
  CHECK(eum_msr_registers(m, states, 4) == 3 && reads == 0);
  CHECK(states[2].address == 0x31 && !states[2].has_value && !states[2].readable);
  CHECK(eum_msr_set_value(m, 0x30, 5) == EUM_MSR_OK && eum_msr_set_value(m, 0x1c, base) == EUM_MSR_OK);
  CHECK(eum_msr_set_value(m, 0x31, 5) == EUM_MSR_BAD_ARGUMENT && strstr(eum_msr_message(m), "0x31"));
  CHECK(eum_msr_set_value(m, 0x99, 5) == EUM_MSR_BAD_ARGUMENT &&
        eum_msr_set_value(m, 0x1c, 2) == EUM_MSR_BAD_ARGUMENT);
  CHECK(eum_msr_registers(m, states, 4) == 3 && states[0].value == base && states[1].value == 5);
  eum_msr_destroy(m);
}

int main(int argc, char** argv) {
  eum_msr_machine* m = NULL;
  eum_msr_outcome outcome;
  static const uint8_t read_constant[] = {0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 0x10, 0, 0, 0};
  test_decode();
  test_machine(EUM_MSR_ENGINE_REFERENCE);
  test_machine(EUM_MSR_ENGINE_AVX2);
  test_emulator(EUM_MSR_ENGINE_REFERENCE);
  test_emulator(EUM_MSR_ENGINE_AVX2);
  CHECK(eum_msr_create(NULL, &m) == EUM_MSR_OK);
  if (argc > 1) {
    CHECK(eum_msr_load_config(m, argv[1], 0x10000) == EUM_MSR_OK);
    CHECK(eum_msr_step(m, read_constant, sizeof read_constant, &outcome) == EUM_MSR_OK &&
          outcome.kind == EUM_MSR_DONE);
    CHECK(eum_msr_gpr(m, 0) == 0x123456789abcdef0u);
  }
  eum_msr_destroy(m);
  eum_msr_destroy(NULL);
  return FINISH();
}
