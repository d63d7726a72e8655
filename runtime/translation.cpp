// One arena a translation: everything between bits and host code is dropped at once.
#include "runtime/translation.hpp"

#include <chrono>
#include <memory_resource>
#include <utility>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/lower/arf_layout.hpp"
#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/printer.hpp"
#include "memory/base/counted_memory.hpp"

namespace eum::rt {
namespace {

using Clock = std::chrono::steady_clock;

/// Of an arena; enough for a small kernel.
constexpr std::size_t first_block = 64 * 1024;

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
    case jit::FaultKind::UnsupportedMode:
      return "floating point mode with denormals kept for one of f32 and f64 only";
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
    case jit::FaultKind::UnsupportedMode:
      return fmt::format("{}: cr0.0 = {:#x}", kind_text(fault.kind), fault.address);
    default:
      break;
  }
  return std::string(kind_text(fault.kind));
}

}  // namespace

ThreadCode thread_code(const ir::Function& function, const jit::Executable& executable, gen::Family family) {
  ThreadCode code;
  code.executable = &executable;
  code.restored = intersection(executable.register_use());
  code.simd = function.simd;
  code.grf_bytes = gen::info(family).grf_bytes;
  code.payload_room = gen::grf_file_bytes(family);
  code.cr0_offset = gen::arf_offset(family, gen::Arf::cr);
  code.sr0_offset = gen::arf_offset(family, gen::Arf::sr);
  for (const ir::Block& block : function.blocks) code.waits |= block.insts.back().op == ir::Op::wait;
  return code;
}

namespace {

/// Calls `step` with an arena for micro-ops that holds no more than the limit.
template <class Step>
auto in_arena(const KernelCode& kernel, const jit::Limits& limits, Step&& step)
    -> decltype(step(static_cast<std::pmr::memory_resource*>(nullptr))) {
  if (auto good = check(jit::Limit::code, limits, kernel.name, kernel.bytes.size()); !good)
    return good.error();
  mem::CountedMemory counted(limits.memory);
  auto result = within_host(kernel.name, [&] {
    std::pmr::monotonic_buffer_resource arena(first_block, &counted);
    return step(static_cast<std::pmr::memory_resource*>(&arena));
  });
  if (!result && counted.refused() != 0)
    return check(jit::Limit::memory, limits, kernel.name, counted.refused()).error();
  return result;
}

Result<ir::Function> lower(const KernelCode& kernel, std::pmr::memory_resource* memory) {
  return gen::lower_kernel(kernel.bytes, kernel.family, kernel.simd, std::string(kernel.name), memory);
}

}  // namespace

Result<TranslatedKernel> translate(const KernelCode& kernel, jit::Engine& engine,
                                   const jit::CompileOptions& options) {
  return in_arena(kernel, options.limits, [&](std::pmr::memory_resource* memory) -> Result<TranslatedKernel> {
    TranslatedKernel result;
    const auto begin = Clock::now();
    auto function = lower(kernel, memory);
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
  });
}

Result<std::string> micro_op_text(const KernelCode& kernel, const jit::Limits& limits) {
  return in_arena(kernel, limits, [&](std::pmr::memory_resource* memory) -> Result<std::string> {
    auto function = lower(kernel, memory);
    if (!function) return function.error();
    return ir::print(*function);
  });
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
