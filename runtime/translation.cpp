// One heap a translation: everything between bits and host code is dropped at once.
#include "runtime/translation.hpp"

#include <chrono>
#include <utility>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/printer.hpp"
#include "memory/heap.hpp"

namespace eum::rt {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point a, Clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

std::string_view kind_text(jit::FaultKind kind) {
  switch (kind) {
    case jit::FaultKind::None:
      return "no fault";
    case jit::FaultKind::Unsupported:
      return "unsupported";
    case jit::FaultKind::OutOfBounds:
      return "stateless access outside the memory that is mapped for it";
    case jit::FaultKind::Misaligned:
      return "atomic at an address that is no multiple of its size";
    case jit::FaultKind::BadRegister:
      return "indirect access beyond the register file";
    case jit::FaultKind::BadJump:
      return "jump to where no instruction begins that control can reach";
  }
  return "unknown fault";
}

/// The printer of instructions aligns columns; a message wants one blank.
std::string single_spaced(std::string_view aligned) {
  std::string text;
  for (const char c : aligned)
    if (c != ' ' || (!text.empty() && text.back() != ' ')) text += c;
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string fault_text(const jit::Fault& fault, const TranslatedKernel& translated) {
  switch (fault.kind) {
    case jit::FaultKind::Unsupported:
      if (fault.address < translated.traps.size()) return single_spaced(translated.traps[fault.address]);
      break;
    case jit::FaultKind::OutOfBounds:
    case jit::FaultKind::Misaligned:
    case jit::FaultKind::BadRegister:
      return fmt::format("{}: {} bytes at {:#x}, lane {}", kind_text(fault.kind), fault.bytes, fault.address,
                         fault.lane);
    case jit::FaultKind::BadJump:
      return fmt::format("{}: {:#x}", kind_text(fault.kind), fault.address);
    default:
      break;
  }
  return std::string(kind_text(fault.kind));
}

}  // namespace

ThreadCode thread_code(const ir::Function& function, const jit::Executable& executable, gen::Family family) {
  const eu::Target target = gen::target(family);
  ThreadCode code;
  code.executable = &executable;
  code.restored = intersection(executable.register_use());
  code.simd = function.simd;
  code.grf_bytes = target.grf_bytes;
  code.payload_room = target.grf_file_bytes();
  code.cr0_offset = target.offset(eu::StateRegister::Control);
  code.sr0_offset = target.offset(eu::StateRegister::State);
  for (const ir::Block& block : function.blocks) code.waits |= block.insts.back().op == ir::Op::wait;
  return code;
}

Result<TranslatedKernel> translate(const KernelCode& kernel, jit::Engine& engine,
                                   const jit::CompileOptions& options) {
  mem::Heap heap;
  mem::HeapResource memory(heap);
  TranslatedKernel result;
  const auto begin = Clock::now();
  auto function =
      gen::lower_kernel(kernel.bytes, kernel.family, kernel.simd, std::string(kernel.name), &memory);
  if (!function) return function.error();
  const auto lowered = Clock::now();
  for (const ir::Block& block : function->blocks) result.instructions += block.guest_instructions;
  auto executable = engine.compile(*function, options);
  if (!executable) return executable.error();
  const auto compiled = Clock::now();
  result.executable = std::move(*executable);
  result.code = thread_code(*function, *result.executable, kernel.family);
  result.traps = std::move(function->strings);
  result.lower_seconds = seconds_between(begin, lowered);
  result.compile_seconds = seconds_between(lowered, compiled);
  return result;
}

Result<std::string> micro_op_text(const KernelCode& kernel) {
  mem::Heap heap;
  mem::HeapResource memory(heap);
  auto function =
      gen::lower_kernel(kernel.bytes, kernel.family, kernel.simd, std::string(kernel.name), &memory);
  if (!function) return function.error();
  return ir::print(*function);
}

std::string instruction_text(const KernelCode& kernel, std::uint32_t ip) {
  const auto instruction = gen::decode(kernel.bytes, ip, kernel.family);
  if (!instruction) return instruction.error().message;
  return single_spaced(gen::print(*instruction, kernel.family));
}

std::string describe(const GuestFault& fault, const KernelCode& kernel, const TranslatedKernel& translated) {
  const std::string where = fmt::format("group {},{},{}", fault.group[0], fault.group[1], fault.group[2]);
  switch (fault.cause) {
    case GuestFault::Cause::Deadlock:
      return fmt::format("{}: barrier deadlock in {}: {} threads wait (the first is {}), {} have ended",
                         kernel.name, where, fault.waiting, fault.thread, fault.ended);
    case GuestFault::Cause::Budget:
      return fmt::format("{}: thread {} of {} has used up its budget of instructions", kernel.name,
                         fault.thread, where);
    case GuestFault::Cause::Instruction:
      break;
  }
  // A trap's text has the instruction already.
  const bool trapped = fault.fault.kind == jit::FaultKind::Unsupported;
  const std::string instruction =
      trapped ? std::string() : ": " + instruction_text(kernel, fault.fault.guest_ip);
  return fmt::format("{}: {}; thread {} of {}, instruction at {:#x}{}", kernel.name,
                     fault_text(fault.fault, translated), fault.thread, where, fault.fault.guest_ip,
                     instruction);
}

}  // namespace eum::rt
