// The C API over Machine and the decoder. No exception leaves it.
#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "frontend/x86/decoder.hpp"
#include "frontend/x86/encoder.hpp"
#include "frontend/x86/printer.hpp"
#include "runtime/include/eumulate/eumulate_msr.h"
#include "runtime/user_msr/machine.hpp"

using namespace eum;
using namespace eum::rt;

/// Two C function pointers behind a single context pointer.
struct CRegister {
  void* context;
  eum_msr_read_callback read;
  eum_msr_write_callback write;
};

struct CLinear {
  void* context;
  eum_msr_linear_callback read;
};

struct alignas(4096) BitmapPage {
  std::array<std::byte, LinearMemory::page_bytes> bytes;
};

struct eum_msr_machine {
  std::unique_ptr<Machine> machine;
  mutable std::string message;
  mutable std::optional<Outcome> untold;  // the last outcome, if it has a message that nobody has asked for
  std::deque<CRegister> registers;        // a deque: addresses do not change
  std::deque<BitmapPage> bitmap_pages;    // for eum_msr_load_config
  CLinear linear{};
};

namespace {

static_assert(EUM_MSR_WRMSRNS_IMM == static_cast<int>(x86::Form::WrmsrnsImm));
static_assert(EUM_MSR_WRMSRNS_IMM_APX == static_cast<int>(x86::Form::WrmsrnsImmApx) && x86::form_count == 12);
static_assert(EUM_MSR_GPRS == x86::gpr_count);
static_assert(EUM_MSR_TOO_LONG == static_cast<int>(x86::Verdict::TooLong));
static_assert(EUM_MSR_STOPPED == static_cast<int>(Outcome::Kind::Stopped));
static_assert(EUM_MSR_MODE_64 == static_cast<int>(x86::Mode::Bits64));

/// Stores a message that needs no memory: at most 15 characters, which a string holds itself.
eum_msr_status failed(eum_msr_machine* machine, const char* message, eum_msr_status status) noexcept {
  machine->message = message;
  machine->untold.reset();
  return status;
}

/// Runs the body, which returns a Result<void>, and stores its message.
template <class Body>
eum_msr_status guarded(eum_msr_machine* machine, Body body) {
  if (!machine) return EUM_MSR_BAD_ARGUMENT;
  try {
    Result<void> result = body();
    if (result) return EUM_MSR_OK;
    machine->message = result.error().message;
    machine->untold.reset();
    return EUM_MSR_BAD_ARGUMENT;
  } catch (const std::bad_alloc&) {
    return failed(machine, "out of memory", EUM_MSR_NO_MEMORY);
  } catch (const std::exception&) {
    return failed(machine, "internal error", EUM_MSR_BAD_ARGUMENT);
  }
}

PageAttributes attributes(unsigned flags) {
  return {(flags & EUM_MSR_PAGE_PRESENT) != 0, (flags & EUM_MSR_PAGE_USER) != 0,
          (flags & EUM_MSR_PAGE_WRITABLE) != 0};
}

/// Returns nothing for an instruction that does not exist. Fields that the form does not use are ignored.
std::optional<x86::Instruction> from_c(const eum_msr_instruction* c) {
  if (!c || c->form >= x86::form_count || c->data >= x86::gpr_count) return std::nullopt;
  x86::Instruction instruction{static_cast<x86::Form>(c->form), static_cast<std::uint8_t>(c->data)};
  if (instruction.is_immediate())
    instruction.msr = c->msr;
  else if (c->index < x86::gpr_count)
    instruction.index = static_cast<std::uint8_t>(c->index);
  else
    return std::nullopt;
  if (!x86::exists(instruction)) return std::nullopt;
  return instruction;
}

eum_msr_outcome to_c(const Outcome& outcome) {
  eum_msr_outcome c{};
  c.kind = static_cast<std::uint32_t>(outcome.kind);
  c.vector = outcome.kind == Outcome::Kind::Exception ? static_cast<std::uint32_t>(outcome.vector) : 0;
  c.has_error_code = outcome.error_code.has_value();
  c.error_code = outcome.error_code.value_or(0);
  c.cr2 = outcome.cr2;
  c.exit_reason = outcome.exit_reason;
  c.exit_qualification = outcome.exit_qualification;
  c.completed = static_cast<std::uint32_t>(outcome.completed);
  c.exit_instruction_information = outcome.exit_instruction_information;
  c.exit_instruction_length = outcome.exit_instruction_length;
  c.exit_register = outcome.exit_register;
  return c;
}

eum_msr_status execute(eum_msr_machine* machine, const uint8_t* bytes, size_t size, eum_msr_outcome* outcome,
                       Outcome (Machine::*method)(std::span<const std::uint8_t>)) {
  return guarded(machine, [&]() -> Result<void> {
    if (!outcome || (!bytes && size != 0))
      return error("expected bytes and a place for the outcome, found null");
    Outcome result = ((*machine->machine).*method)({bytes, size});
    *outcome = to_c(result);
    if (result.kind != Outcome::Kind::Done) machine->untold = result;
    return {};
  });
}

}  // namespace

extern "C" {

eum_msr_verdict eum_msr_decode(const uint8_t* bytes, size_t size, eum_msr_mode mode,
                               eum_msr_instruction* instruction) {
  x86::Decoding d = x86::decode({bytes, bytes ? size : 0},
                                static_cast<x86::Mode>(std::min<unsigned>(mode, EUM_MSR_MODE_64)));
  if (instruction) {
    *instruction = {};
    instruction->length = d.length;
    if (d.verdict == x86::Verdict::Instruction) {
      instruction->form = static_cast<std::uint32_t>(d.instruction.form);
      instruction->data = d.instruction.data;
      instruction->index = d.instruction.index;
      instruction->msr = d.instruction.msr;
    }
  }
  return static_cast<eum_msr_verdict>(d.verdict);
}

size_t eum_msr_encode(const eum_msr_instruction* instruction, uint8_t bytes[15]) {
  const std::optional<x86::Instruction> existing = from_c(instruction);
  if (!existing || !bytes) return 0;
  const x86::Encoded encoded = x86::encode(*existing);
  std::copy_n(encoded.bytes.begin(), encoded.length, bytes);
  return encoded.length;
}

size_t eum_msr_print(const eum_msr_instruction* instruction, char* text, size_t size) {
  const std::optional<x86::Instruction> existing = from_c(instruction);
  if (!existing) return 0;
  try {
    std::string whole = x86::print(*existing);
    if (text && size != 0) {
      std::size_t kept = std::min(whole.size(), size - 1);
      std::memcpy(text, whole.data(), kept);
      text[kept] = '\0';
    }
    return whole.size();
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

eum_msr_status eum_msr_create(const eum_msr_options* options, eum_msr_machine** machine) {
  if (!machine) return EUM_MSR_BAD_ARGUMENT;
  *machine = nullptr;
  MachineOptions chosen;
  if (options) {
    if (options->struct_size < sizeof *options || options->engine > EUM_MSR_ENGINE_REFERENCE)
      return EUM_MSR_BAD_ARGUMENT;
    chosen.engine =
        options->engine == EUM_MSR_ENGINE_AVX2 ? jit::EngineKind::avx2 : jit::EngineKind::reference;
    chosen.has_user_msr = !options->no_user_msr;
    chosen.has_msr_imm = !options->no_msr_imm;
    chosen.has_apx = options->apx != 0;
    if (options->linear_address_bits != 0) chosen.linear_address_bits = options->linear_address_bits;
    if (chosen.linear_address_bits != 48 && chosen.linear_address_bits != 57) return EUM_MSR_BAD_ARGUMENT;
  }
  try {
    Result<std::unique_ptr<Machine>> made = Machine::create(chosen);
    if (!made) return EUM_MSR_UNSUPPORTED;
    auto result = std::make_unique<eum_msr_machine>();
    result->machine = *std::move(made);
    *machine = result.release();
    return EUM_MSR_OK;
  } catch (const std::bad_alloc&) {
    return EUM_MSR_NO_MEMORY;
  }
}

void eum_msr_destroy(eum_msr_machine* machine) { delete machine; }

const char* eum_msr_message(const eum_msr_machine* machine) {
  if (!machine) return "";
  try {
    if (machine->untold) machine->message = machine->untold->text();
    machine->untold.reset();
  } catch (const std::exception&) {
    return "no memory for the message";
  }
  return machine->message.c_str();
}

uint64_t* eum_msr_gprs(eum_msr_machine* machine) { return machine->machine->gprs().data(); }

uint64_t eum_msr_gpr(const eum_msr_machine* machine, unsigned reg) { return machine->machine->gpr(reg); }
void eum_msr_set_gpr(eum_msr_machine* machine, unsigned reg, uint64_t value) {
  machine->machine->set_gpr(reg, value);
}
uint64_t eum_msr_rip(const eum_msr_machine* machine) { return machine->machine->rip(); }
void eum_msr_set_rip(eum_msr_machine* machine, uint64_t value) { machine->machine->set_rip(value); }
void eum_msr_set_smap(eum_msr_machine* machine, int on) { machine->machine->set_smap(on != 0); }
uint64_t eum_msr_control(const eum_msr_machine* machine) { return machine->machine->user_msr_ctl(); }

eum_msr_status eum_msr_set_cpl(eum_msr_machine* machine, unsigned cpl) {
  return guarded(machine, [&] { return machine->machine->set_cpl(cpl); });
}

eum_msr_status eum_msr_set_mode(eum_msr_machine* machine, eum_msr_mode mode) {
  return guarded(machine, [&]() -> Result<void> {
    if (static_cast<unsigned>(mode) > EUM_MSR_MODE_64)
      return error("expected a mode, found {}", static_cast<unsigned>(mode));
    machine->machine->set_mode(static_cast<x86::Mode>(mode));
    return {};
  });
}

eum_msr_status eum_msr_set_control(eum_msr_machine* machine, uint64_t value) {
  return guarded(machine, [&] { return machine->machine->set_user_msr_ctl(value); });
}

void eum_msr_set_guest(eum_msr_machine* machine, int in_guest, const uint8_t* msr_bitmap) {
  VmxControls& vmx = machine->machine->vmx();
  vmx.in_guest = in_guest != 0;
  vmx.use_msr_bitmaps = msr_bitmap != nullptr;
  if (msr_bitmap) std::copy_n(msr_bitmap, vmx.msr_bitmap.size(), vmx.msr_bitmap.begin());
}

void eum_msr_cpuid(const eum_msr_machine* machine, uint32_t leaf, uint32_t subleaf, uint32_t registers[4]) {
  CpuidResult result = machine->machine->cpuid(leaf, subleaf);
  registers[0] = result.eax;
  registers[1] = result.ebx;
  registers[2] = result.ecx;
  registers[3] = result.edx;
}

eum_msr_status eum_msr_map(eum_msr_machine* machine, uint64_t address, void* host, size_t size,
                           unsigned flags) {
  return guarded(machine, [&]() -> Result<void> {
    if (!host) return error("expected memory to map, found null");
    return machine->machine->memory().map(address, {static_cast<std::byte*>(host), size}, attributes(flags));
  });
}

eum_msr_status eum_msr_protect(eum_msr_machine* machine, uint64_t address, size_t size, unsigned flags) {
  return guarded(machine,
                 [&] { return machine->machine->memory().protect(address, size, attributes(flags)); });
}

eum_msr_status eum_msr_unmap(eum_msr_machine* machine, uint64_t address) {
  return guarded(machine, [&] { return machine->machine->memory().unmap(address); });
}

void eum_msr_set_linear(eum_msr_machine* machine, eum_msr_linear_callback read, void* context) {
  machine->linear = {context, read};
  LinearReader reader;
  reader.context = &machine->linear;
  if (read)
    reader.read = [](void* mine, std::uint64_t address, std::uint8_t& byte, std::uint32_t& code) {
      auto& c = *static_cast<CLinear*>(mine);
      switch (c.read(c.context, address, &byte, &code)) {
        case EUM_MSR_LINEAR_DONE:
          return LinearReader::Answer::Done;
        case EUM_MSR_LINEAR_PAGE_FAULT:
          return LinearReader::Answer::PageFault;
        default:
          return LinearReader::Answer::Stop;
      }
    };
  machine->machine->set_linear_reader(reader);
}

size_t eum_msr_registers(const eum_msr_machine* machine, eum_msr_register_state* states, size_t count) {
  const Machine& m = *machine->machine;
  for (std::uint32_t i = 0; states && i < m.msrs().size() && i < count; ++i) {
    const MsrSlot& slot = m.msrs().slot(i);
    const bool is_control = slot.address == x86::ia32_user_msr_ctl;
    eum_msr_register_state& state = states[i];
    state.address = slot.address;
    state.readable = slot.readable;
    state.writable = slot.writable;
    state.has_value = is_control || slot.holds_value();
    state.value = is_control ? m.user_msr_ctl() : slot.holds_value() ? slot.value.load() : 0;
    state.name = m.msrs().name(i).c_str();
  }
  return m.msrs().size();
}

eum_msr_status eum_msr_set_value(eum_msr_machine* machine, uint32_t address, uint64_t value) {
  return guarded(machine, [&]() -> Result<void> {
    Machine& m = *machine->machine;
    if (address == x86::ia32_user_msr_ctl) return m.set_user_msr_ctl(value);
    const std::uint32_t index = m.msrs().find(address);
    if (index == MsrFile::no_slot || !m.msrs().slot(index).holds_value())
      return error("expected the address of a register that holds a value, found {:#x}", address);
    m.msrs().slot(index).value = value;
    return {};
  });
}

eum_msr_status eum_msr_add(eum_msr_machine* machine, const eum_msr_register* description) {
  return guarded(machine, [&]() -> Result<void> {
    if (!description || description->struct_size < sizeof *description)
      return error("expected a description of {} bytes, found {}", sizeof *description,
                   description ? description->struct_size : 0);
    MsrEntry entry;
    entry.address = description->address;
    entry.name = description->name ? description->name : fmt::format("msr {:#x}", description->address);
    entry.value = description->value;
    entry.reserved = description->reserved;
    entry.readable = !description->write_only;
    entry.writable = !description->read_only;
    MsrHandlers handlers;
    if (description->read || description->write) {
      entry.source = MsrSource::Handler;
      CRegister& mine = machine->registers.emplace_back(
          CRegister{description->context, description->read, description->write});
      handlers.context = &mine;
      if (mine.read)
        handlers.read = [](void* context, std::uint32_t address, std::uint64_t* value) {
          auto& c = *static_cast<CRegister*>(context);
          return c.read(c.context, address, value) != 0;
        };
      if (mine.write)
        handlers.write = [](void* context, std::uint32_t address, std::uint64_t value) {
          auto& c = *static_cast<CRegister*>(context);
          return c.write(c.context, address, value) != 0;
        };
    }
    Result<std::uint32_t> added = machine->machine->msrs().add(entry, handlers);
    if (!added) return added.error();
    return {};
  });
}

eum_msr_status eum_msr_load_config(eum_msr_machine* machine, const char* path, uint64_t bitmap_address) {
  return guarded(machine, [&]() -> Result<void> {
    if (!path) return error("expected the path of a configuration, found null");
    Result<MsrConfig> config = load_msr_config(path);
    if (!config) return config.error();
    BitmapPage& page = machine->bitmap_pages.emplace_back();
    std::memcpy(page.bytes.data(), config->bitmap.data(), page.bytes.size());
    Machine& m = *machine->machine;
    if (Result<void> mapped = m.memory().map(bitmap_address, page.bytes, {}); !mapped) return mapped;
    if (Result<void> added = m.msrs().add_all(*config); !added) return added;
    return m.set_user_msr_ctl(bitmap_address | x86::user_msr_ctl_enable);
  });
}

eum_msr_status eum_msr_step(eum_msr_machine* machine, const uint8_t* bytes, size_t size,
                            eum_msr_outcome* outcome) {
  return execute(machine, bytes, size, outcome, &Machine::step);
}

eum_msr_status eum_msr_run(eum_msr_machine* machine, const uint8_t* bytes, size_t size,
                           eum_msr_outcome* outcome) {
  return execute(machine, bytes, size, outcome, &Machine::run);
}

}  // extern "C"
