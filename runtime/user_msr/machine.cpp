// State and execution of the machine.
#include "runtime/user_msr/machine.hpp"

#include <fmt/core.h>
#include <xmmintrin.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "frontend/x86/printer.hpp"

namespace eum::rt {
namespace {

constexpr std::size_t max_translations = 4096;

/// Sets the host's default floating point mode while an embedder's handler runs.
class DefaultFloatMode {
 public:
  DefaultFloatMode() : mode_(_mm_getcsr()) {
    if (mode_ != standard) _mm_setcsr(standard);  // setting it costs more than the rest of an access
  }
  ~DefaultFloatMode() {
    if (mode_ != standard) _mm_setcsr(mode_);
  }
  DefaultFloatMode(const DefaultFloatMode&) = delete;
  DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

 private:
  static constexpr unsigned standard = 0x1f80;
  unsigned mode_;
};

/// Guest control register 0 with which engines run in the host's default floating point mode, so that MXCSR
/// need not be set.
constexpr std::uint32_t keep_denormals = 0x4c0;

/// Status of Callback::load_linear that cannot be a #PF error code + 1.
constexpr std::uint64_t linear_stopped = std::uint64_t{1} << 32;

}  // namespace

void Machine::FreeState::operator()(std::byte* memory) const { std::free(memory); }

Result<std::unique_ptr<Machine>> Machine::create(const MachineOptions& options) {
  if (options.linear_address_bits != 48 && options.linear_address_bits != 57)
    return error("expected linear addresses of 48 or 57 bits, found {}", options.linear_address_bits);
  std::unique_ptr<Machine> machine(new Machine(options));
  Result<std::unique_ptr<jit::Engine>> engine = jit::info(options.engine).make();
  if (!engine) return engine.error();
  machine->engine_ = *std::move(engine);
  ir::Function shape;
  shape.file_bytes = sizeof(x86::MachineFile);
  jit::StateLayout layout = jit::StateLayout::of(shape);
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(64, layout.size));
  if (!memory) return error("no memory for a machine");
  machine->memory_of_state_.reset(memory);
  std::fill_n(memory, layout.size, std::byte{0});
  machine->state_ = new (memory) jit::ThreadState;
  machine->state_->fp_mode = keep_denormals;
  machine->file_ = new (layout.file_of(*machine->state_)) x86::MachineFile{};
  layout.masks_of(*machine->state_)[0] = 1;

  machine->callbacks_.context = machine.get();
  machine->callbacks_.call = [](void* context, std::uint64_t number, std::span<const std::uint64_t> operands,
                                std::span<std::uint64_t> results) {
    results[0] = 0;
    results[1] =
        static_cast<Machine*>(context)->call_back(static_cast<x86::Callback>(number), operands, results[0]);
  };
  machine->environment_.callbacks = &machine->callbacks_;
  machine->state_->environment = &machine->environment_;

  MsrEntry control;
  control.address = x86::ia32_user_msr_ctl;
  control.name = "IA32_USER_MSR_CTL";
  control.source = MsrSource::Handler;
  MsrHandlers handlers;
  handlers.context = machine.get();
  handlers.read = [](void* context, std::uint32_t, std::uint64_t* value) {
    *value = static_cast<Machine*>(context)->user_msr_ctl_;
    return true;
  };
  handlers.write = [](void* context, std::uint32_t, std::uint64_t value) {
    auto& self = *static_cast<Machine*>(context);
    if (!x86::is_valid_user_msr_ctl(value, self.options_.linear_address_bits)) return false;
    self.user_msr_ctl_ = value;
    return true;
  };
  Result<std::uint32_t> added = machine->msrs_.add(control, handlers);
  if (!added) return added.error();
  return machine;
}

Result<void> Machine::set_cpl(unsigned cpl) {
  if (cpl > 3) return error("expected a CPL from 0 to 3, found {}", cpl);
  cpl_ = static_cast<std::uint8_t>(cpl);
  return {};
}

Result<void> Machine::set_user_msr_ctl(std::uint64_t value) {
  if (!x86::is_valid_user_msr_ctl(value, options_.linear_address_bits))
    return error(
        "expected IA32_USER_MSR_CTL with bits 11:1 clear and a canonical address of {} bits, found {:#x}",
        options_.linear_address_bits, value);
  user_msr_ctl_ = value;
  return {};
}

CpuidResult Machine::cpuid(std::uint32_t leaf, std::uint32_t subleaf) const {
  CpuidResult result;
  if (leaf != 7) return result;
  if (subleaf == 0) {
    result.eax = 1;  // the highest subleaf
    result.ecx = options_.linear_address_bits == 57 ? 1u << 16 : 0;
  }
  if (subleaf == 1) {
    result.ecx = options_.has_msr_imm ? 1u << 5 : 0;
    result.edx = (options_.has_user_msr ? 1u << 15 : 0) | (options_.has_apx ? 1u << 21 : 0);
  }
  return result;
}

std::uint64_t Machine::translated_state() const {
  return std::uint64_t{msrs_.size()} << 8 | static_cast<std::uint64_t>(mode_) << 4 |
         std::uint64_t{vmx_.use_msr_bitmaps} << 3 | std::uint64_t{vmx_.in_guest} << 2 | cpl_;
}

Machine::Stepped& Machine::stepped(std::span<const std::uint8_t> bytes) {
  // Hashes opcode, ModRM and the low byte of an immediate: they follow VEX, EVEX, REX or nothing; no other
  // prefix is expected before those. The choice of bytes only affects speed.
  std::uint64_t word = 0;
  if (bytes.size() >= 5) {
    const std::size_t at = bytes[0] == 0xc4 ? 3 : bytes[0] == 0x62 ? 4 : bytes[3] == 0xf8 ? 2 : 3;
    word = bytes[1];
    for (std::size_t i = at; i < at + 3 && i < bytes.size(); ++i) word = word << 8 | bytes[i];
  }
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  static_assert(stepped_count == std::size_t{1} << (64 - 58));
  return stepped_[(word * odd) >> 58];
}

Outcome Machine::step(std::span<const std::uint8_t> bytes) {
  Stepped& last = stepped(bytes);
  const std::size_t length = last.placed.length;
  if (length != 0 && length <= bytes.size() && last.state == translated_state() &&
      std::memcmp(last.bytes.data(), bytes.data(), length) == 0)
    return execute(*last.code, {&last.placed, 1});
  const x86::Decoding d = x86::decode(bytes, mode_);
  if (!can_execute(d)) return outcome_of(d);
  const x86::PlacedInst placed{d.instruction, 0, d.length};
  bytes = bytes.first(d.length);
  Result<const jit::Executable*> code = translate({&placed, 1}, bytes);
  if (!code) return failed(d.instruction, code.error().message);
  std::ranges::copy(bytes, last.bytes.begin());
  last.placed = placed;
  last.state = translated_state();
  last.code = *code;
  return execute(**code, {&placed, 1});
}

Outcome Machine::run(std::span<const std::uint8_t> bytes) {
  std::array<x86::PlacedInst, max_run> run;
  std::size_t count = 0, offset = 0;
  while (count < max_run) {
    const x86::Decoding d = x86::decode(bytes.subspan(offset), mode_);
    if (!can_execute(d)) {
      if (count == 0) return outcome_of(d);
      break;
    }
    run[count++] = {d.instruction, static_cast<std::uint32_t>(offset), d.length};
    offset += d.length;
  }
  const std::span<const x86::PlacedInst> placed(run.data(), count);
  Result<const jit::Executable*> code = translate(placed, bytes.first(offset));
  if (!code) return failed(run[0].instruction, code.error().message);
  return execute(**code, placed);
}

Outcome Machine::failed(const x86::Instruction& first, std::string_view why) {
  failure_ = fmt::format("{}: {}", x86::print(first), why);
  return {.kind = Outcome::Kind::Failed, .reason = failure_};
}

Outcome Machine::execute(const jit::Executable& code, std::span<const x86::PlacedInst> run) {
  file_->user_msr_ctl = user_msr_ctl_;
  file_->event = x86::EventKind::None;
  file_->completed = 0;
  state_->budget = INT64_MAX;
  state_->resume = 0;
  // Lowered code ends in no other way: anything else is a bug of the emulator, not a fault of the guest.
  if (code.run(*state_) != jit::Status::Exited)
    return failed(run[0].instruction, "the engine reports a fault that lowering does not make");
  return outcome_of_event(run);
}

Result<const jit::Executable*> Machine::translate(std::span<const x86::PlacedInst> run,
                                                  std::span<const std::uint8_t> bytes) {
  // A newly added register may be one that an immediate names.
  if (translated_msrs_ != msrs_.size() || translations_.size() >= max_translations) {
    translations_.clear();
    stepped_.fill({});
  }
  translated_msrs_ = msrs_.size();
  std::string key(bytes.begin(), bytes.end());
  key += {static_cast<char>(cpl_), static_cast<char>(vmx_.in_guest), static_cast<char>(vmx_.use_msr_bitmaps)};
  auto& translation = translations_[key];
  if (!translation) {
    x86::LoweringContext context;
    context.cpl = cpl_;
    context.has_user_msr = options_.has_user_msr;
    context.has_msr_imm = options_.has_msr_imm;
    context.in_guest = vmx_.in_guest;
    context.use_msr_bitmaps = vmx_.use_msr_bitmaps;
    context.find_slot = [this](std::uint32_t address) -> std::optional<std::uint32_t> {
      std::uint32_t slot = msrs_.find(address);
      if (slot == MsrFile::no_slot) return std::nullopt;
      return slot;
    };
    ir::Function function = x86::lower(run, context);
    Result<std::unique_ptr<jit::Executable>> compiled = engine_->compile(function, {});
    if (!compiled) {
      translations_.erase(key);
      return compiled.error();
    }
    translation = *std::move(compiled);
  }
  return static_cast<const jit::Executable*>(translation.get());
}

Outcome Machine::outcome_of_event(std::span<const x86::PlacedInst> run) const {
  Outcome outcome;
  outcome.completed = file_->completed;
  switch (file_->event) {
    case x86::EventKind::None:
      return outcome;
    case x86::EventKind::VmExit: {
      const x86::PlacedInst& placed = run[outcome.completed];
      outcome.kind = Outcome::Kind::VmExit;
      outcome.exit_reason = static_cast<std::uint32_t>(file_->event_code);
      outcome.exit_qualification = file_->event_address;
      outcome.exit_register = placed.instruction.data;
      outcome.exit_instruction_information = (placed.instruction.data & 15u) << 3;
      outcome.exit_instruction_length = placed.length;
      return outcome;
    }
    case x86::EventKind::Exception:
      break;
  }
  outcome.kind = Outcome::Kind::Exception;
  outcome.vector = static_cast<x86::Vector>(file_->event_code);
  if (outcome.vector == x86::Vector::PF) outcome.cr2 = file_->event_address;
  if (outcome.vector == x86::Vector::PF && is_stopped_)
    outcome.kind = Outcome::Kind::Stopped;
  else if (outcome.vector != x86::Vector::UD)
    outcome.error_code = static_cast<std::uint32_t>(file_->event_error);
  return outcome;
}

std::uint64_t Machine::call_back(x86::Callback callback, std::span<const std::uint64_t> operands,
                                 std::uint64_t& value) {
  switch (callback) {
    case x86::Callback::load_msr_bitmap:
      value = vmx_.msr_bitmap[operands[0] % vmx_.msr_bitmap.size()];
      return 0;
    case x86::Callback::load_linear:
      return read_linear(operands[0], value);
    case x86::Callback::read_msr:
      return access_msr(true, operands[1], static_cast<std::uint32_t>(operands[0]), 0, value);
    case x86::Callback::write_msr:
      return access_msr(false, operands[1], static_cast<std::uint32_t>(operands[0]), operands[2], value);
  }
  return ~std::uint64_t{0};
}

std::uint64_t Machine::read_linear(std::uint64_t address, std::uint64_t& value) {
  std::uint8_t byte = 0;
  is_stopped_ = false;
  if (linear_reader_.read != nullptr) {
    std::uint32_t error = 0;
    DefaultFloatMode mode;
    switch (linear_reader_.read(linear_reader_.context, address, byte, error)) {
      case LinearReader::Answer::Done:
        break;
      case LinearReader::Answer::PageFault:
        return std::uint64_t{error} + 1;
      case LinearReader::Answer::Stop:
        is_stopped_ = true;
        return linear_stopped;
    }
  } else if (std::optional<PageFault> fault = memory_.supervisor_read(address, smap_, byte)) {
    return std::uint64_t{fault->error} + 1;
  }
  value = byte;
  return 0;
}

std::uint64_t Machine::access_msr(bool is_read, std::uint64_t how, std::uint32_t address, std::uint64_t data,
                                  std::uint64_t& value) {
  constexpr std::uint64_t refused = 1;
  auto known = static_cast<std::uint32_t>(how);
  std::uint32_t slot = known != 0 ? known - 1 : msrs_.find(address);
  if (slot == MsrFile::no_slot) return refused;
  // UWRMSR may not write a register that controls what it may write.
  if (!is_read && address == x86::ia32_user_msr_ctl && (how & x86::msr_supervisor) == 0) return refused;
  DefaultFloatMode mode;
  bool done = is_read ? read_slot(msrs_.slot(slot), value) : write_slot(msrs_.slot(slot), data);
  return done ? 0 : refused;
}

}  // namespace eum::rt
