// State and execution of the machine.
#include "runtime/user_msr/machine.hpp"

#include <fmt/core.h>
#include <xmmintrin.h>

#include <cstdlib>
#include <new>

#include "frontend/x86/printer.hpp"

namespace eum::rt {
namespace {

constexpr std::size_t max_translations = 4096;

/// The host's default floating point mode while an embedder's handler runs.
class DefaultFloatMode {
 public:
  DefaultFloatMode() : mode_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~DefaultFloatMode() { _mm_setcsr(mode_); }
  DefaultFloatMode(const DefaultFloatMode&) = delete;
  DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

 private:
  unsigned mode_;
};

Outcome exception(x86::Vector vector, std::optional<std::uint32_t> error_code, std::string text) {
  Outcome outcome{.kind = Outcome::Kind::Exception, .vector = vector, .error_code = error_code};
  outcome.text = std::move(text);
  return outcome;
}

/// What a decoder's answer that is no instruction means.
Outcome outcome_of(const x86::Decoding& d) {
  switch (d.verdict) {
    case x86::Verdict::Foreign:
      return {.kind = Outcome::Kind::Foreign, .text = "not a user MSR instruction"};
    case x86::Verdict::Truncated:
      return {.kind = Outcome::Kind::Truncated, .text = "the bytes end before the instruction does"};
    case x86::Verdict::TooLong:
      return exception(x86::Vector::GP, 0, "#GP(0): longer than 15 bytes");
    default:
      return exception(x86::Vector::UD, std::nullopt, fmt::format("#UD: {}", x86::describe(d.why)));
  }
}

}  // namespace

void Machine::FreeState::operator()(std::byte* memory) const { std::free(memory); }

Result<std::unique_ptr<Machine>> Machine::create(const MachineOptions& options) {
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
    if (!x86::is_valid_user_msr_ctl(value)) return false;
    static_cast<Machine*>(context)->user_msr_ctl_ = value;
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
  if (!x86::is_valid_user_msr_ctl(value))
    return error("expected IA32_USER_MSR_CTL with bits 11:1 clear and a canonical address, found {:#x}",
                 value);
  user_msr_ctl_ = value;
  return {};
}

CpuidResult Machine::cpuid(std::uint32_t leaf, std::uint32_t subleaf) const {
  CpuidResult result;
  if (leaf != 7) return result;
  if (subleaf == 0) result.eax = 1;  // the highest subleaf
  if (subleaf == 1) {
    result.ecx = options_.has_msr_imm ? 1u << 5 : 0;
    result.edx = options_.has_user_msr ? 1u << 15 : 0;
  }
  return result;
}

Outcome Machine::execute(std::span<const std::uint8_t> bytes, std::size_t limit) {
  std::array<x86::Placed, max_run> run;
  std::size_t count = 0, offset = 0;
  while (count < limit) {
    x86::Decoding d = x86::decode(bytes.subspan(offset), mode_);
    if (d.verdict != x86::Verdict::Instruction) {
      if (count == 0) return outcome_of(d);
      break;
    }
    run[count++] = {d.instruction, static_cast<std::uint32_t>(offset), d.length};
    offset += d.length;
  }
  return execute_run({run.data(), count}, bytes.first(offset));
}

Outcome Machine::execute_run(std::span<const x86::Placed> run, std::span<const std::uint8_t> bytes) {
  Result<const jit::Executable*> code = translate(run, bytes);
  file_->user_msr_ctl = user_msr_ctl_;
  file_->event = x86::EventKind::None;
  file_->completed = 0;
  state_->budget = INT64_MAX;
  state_->resume = 0;
  jit::Status status = code ? (*code)->run(*state_) : jit::Status::Faulted;
  // Lowering makes no other end: anything else is a bug of ours, and no reason to invent a guest's fault.
  if (status != jit::Status::Exited)
    return {.kind = Outcome::Kind::Failed,
            .text = fmt::format(
                "{}: {}", x86::print(run[0].instruction),
                code ? "the engine reports a fault that lowering does not make" : code.error().message)};
  return outcome_of_event();
}

Result<const jit::Executable*> Machine::translate(std::span<const x86::Placed> run,
                                                  std::span<const std::uint8_t> bytes) {
  // A register that was added may be one that an immediate names.
  if (translated_msrs_ != msrs_.size() || translations_.size() >= max_translations) translations_.clear();
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

Outcome Machine::outcome_of_event() const {
  Outcome outcome;
  outcome.completed = file_->completed;
  switch (file_->event) {
    case x86::EventKind::None:
      return outcome;
    case x86::EventKind::VmExit:
      outcome.kind = Outcome::Kind::VmExit;
      outcome.exit_reason = static_cast<std::uint32_t>(file_->event_code);
      outcome.exit_qualification = file_->event_address;
      outcome.text = fmt::format("VM exit, reason {}, qualification {:#x}", outcome.exit_reason,
                                 outcome.exit_qualification);
      return outcome;
    case x86::EventKind::Exception:
      break;
  }
  outcome.kind = Outcome::Kind::Exception;
  outcome.vector = static_cast<x86::Vector>(file_->event_code);
  auto code = static_cast<std::uint32_t>(file_->event_error);
  if (outcome.vector != x86::Vector::UD) outcome.error_code = code;
  if (outcome.vector == x86::Vector::PF) outcome.cr2 = file_->event_address;
  outcome.text = outcome.vector == x86::Vector::UD   ? "#UD"
                 : outcome.vector == x86::Vector::GP ? fmt::format("#GP({})", code)
                                                     : fmt::format("#PF({}) at {:#x}", code, outcome.cr2);
  return outcome;
}

std::uint64_t Machine::call_back(x86::Callback callback, std::span<const std::uint64_t> operands,
                                 std::uint64_t& value) {
  switch (callback) {
    case x86::Callback::load_msr_bitmap:
      value = vmx_.msr_bitmap[operands[0] % vmx_.msr_bitmap.size()];
      return 0;
    case x86::Callback::load_linear: {
      std::uint8_t byte = 0;
      if (std::optional<PageFault> fault = memory_.supervisor_read(operands[0], smap_, byte))
        return fault->error + 1;
      value = byte;
      return 0;
    }
    case x86::Callback::read_msr:
      return access_msr(true, operands[1], static_cast<std::uint32_t>(operands[0]), 0, value);
    case x86::Callback::write_msr:
      return access_msr(false, operands[1], static_cast<std::uint32_t>(operands[0]), operands[2], value);
  }
  return ~std::uint64_t{0};
}

std::uint64_t Machine::access_msr(bool is_read, std::uint64_t how, std::uint32_t address, std::uint64_t data,
                                  std::uint64_t& value) {
  constexpr std::uint64_t refused = 1;
  auto known = static_cast<std::uint32_t>(how);
  std::uint32_t slot = known != 0 ? known - 1 : msrs_.find(address);
  if (slot == MsrFile::no_slot) return refused;
  // UWRMSR writes no register that decides what it may write.
  if (!is_read && address == x86::ia32_user_msr_ctl && (how & x86::msr_supervisor) == 0) return refused;
  DefaultFloatMode mode;
  bool done = is_read ? read_slot(msrs_.slot(slot), value) : write_slot(msrs_.slot(slot), data);
  return done ? 0 : refused;
}

}  // namespace eum::rt
