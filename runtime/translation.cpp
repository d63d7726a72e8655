// One arena a translation: everything between bits and host code is dropped at once.
#include "runtime/translation.hpp"

#include <algorithm>
#include <chrono>
#include <memory_resource>
#include <utility>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/printer.hpp"
#include "frontend/visa/lower/lower.hpp"
#include "frontend/visa/printer.hpp"
#include "memory/base/counted_memory.hpp"
#include "memory/base/within_host.hpp"

namespace eum::rt {
namespace {

using Clock = std::chrono::steady_clock;

/// Of an arena; enough for a small kernel.
constexpr std::size_t first_block = 64 * 1024;

double seconds_between(Clock::time_point a, Clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

}  // namespace

ThreadCode thread_code(const ir::Function& function, const jit::Executable& executable,
                       const eu::Target& target) {
  ThreadCode code;
  code.executable = &executable;
  code.simd = function.simd;
  code.grf_bytes = target.grf_bytes;
  code.payload_room = target.grf_file_bytes();
  code.cr0_offset = target.offset(eu::StateRegister::Control);
  code.sr0_offset = target.offset(eu::StateRegister::State);
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

Result<ir::Function> lower(const KernelCode& kernel, std::pmr::memory_resource* memory,
                           jit::Safepoints safepoints) {
  eu::LowerOptions options;
  switch (safepoints) {
    case jit::Safepoints::BackEdges:
      break;
    case jit::Safepoints::Messages:
      options.granularity = eu::Granularity::Message;
      break;
    case jit::Safepoints::Instructions:
      options.granularity = eu::Granularity::Instruction;
      break;
  }
  if (kernel.module != nullptr)
    return visa::lower_kernel(*kernel.module, kernel.module_kernel, kernel.grf_bytes,
                              std::string(kernel.name), memory, options);
  return gen::lower_kernel(kernel.bytes, kernel.family, kernel.simd, std::string(kernel.name), memory,
                           options);
}

Result<eu::Target> target_of(const KernelCode& kernel) {
  if (kernel.module == nullptr) return gen::target(kernel.family);
  return visa::target(kernel.module->kernels[kernel.module_kernel], kernel.grf_bytes);
}

/// The instruction of vISA text at `ip`; null if there is none.
const visa::Instruction* visa_instruction(const visa::Kernel& kernel, std::uint32_t ip) {
  const std::uint32_t index = ip / eu::Program::unit_bytes;
  return index < kernel.instructions.size() ? &kernel.instructions[index] : nullptr;
}

}  // namespace

Result<TranslatedKernel> translate(const KernelCode& kernel, jit::Engine& engine,
                                   const jit::CompileOptions& options) {
  return in_arena(kernel, options.limits, [&](std::pmr::memory_resource* memory) -> Result<TranslatedKernel> {
    TranslatedKernel result;
    const auto begin = Clock::now();
    auto function = lower(kernel, memory, options.safepoints);
    if (!function) return function.error();
    const auto lowered = Clock::now();
    for (const ir::Block& block : function->blocks) result.instructions += block.guest_instructions;
    auto executable = engine.compile(*function, options);
    if (!executable) return executable.error();
    const auto compiled = Clock::now();
    result.executable = std::move(*executable);
    const auto target = target_of(kernel);
    if (!target) return target.error();
    result.code = thread_code(*function, *result.executable, *target);
    result.code.ids = options.promised();
    result.traps = std::move(function->strings);
    result.lower_seconds = seconds_between(begin, lowered);
    result.compile_seconds = seconds_between(lowered, compiled);
    return result;
  });
}

Result<std::string> micro_op_text(const KernelCode& kernel, const jit::Limits& limits) {
  return in_arena(kernel, limits, [&](std::pmr::memory_resource* memory) -> Result<std::string> {
    auto function = lower(kernel, memory, jit::Safepoints::BackEdges);
    if (!function) return function.error();
    return ir::print(*function);
  });
}

std::string single_spaced(std::string_view aligned) {
  std::string text;
  for (const char c : aligned)
    if (c != ' ' || (!text.empty() && text.back() != ' ')) text += c;
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string instruction_text(const KernelCode& kernel, std::uint32_t ip) {
  if (kernel.module != nullptr) {
    const visa::Kernel& text = kernel.module->kernels[kernel.module_kernel];
    const visa::Instruction* instruction = visa_instruction(text, ip);
    if (instruction == nullptr) return fmt::format("no instruction at {:#x}", ip);
    return fmt::format("line {}: {}", instruction->location.line,
                       single_spaced(visa::print(text, *instruction)));
  }
  const auto instruction = gen::decode(kernel.bytes, ip, kernel.family);
  if (!instruction) return instruction.error().message;
  return single_spaced(gen::print(*instruction, kernel.family));
}

Result<std::vector<InstructionText>> instruction_texts(const KernelCode& kernel) {
  std::vector<InstructionText> texts;
  if (kernel.module != nullptr) {
    const std::size_t count = kernel.module->kernels[kernel.module_kernel].instructions.size();
    for (std::size_t i = 0; i < count; ++i) {
      const auto ip = static_cast<std::uint32_t>(i * eu::Program::unit_bytes);
      texts.push_back({ip, instruction_text(kernel, ip)});
    }
    return texts;
  }
  for (std::uint32_t ip = 0; ip < kernel.bytes.size();) {
    const auto instruction = gen::decode(kernel.bytes, ip, kernel.family);
    if (!instruction) return instruction.error();
    texts.push_back({ip, single_spaced(gen::print(*instruction, kernel.family))});
    ip += instruction->length;
  }
  return texts;
}

std::uint32_t instruction_before(const KernelCode& kernel, std::uint32_t ip) {
  if (kernel.module != nullptr) return ip - std::min(ip, eu::Program::unit_bytes);
  std::uint32_t before = 0;
  for (std::uint32_t at = 0; at < ip;) {
    before = at;
    const auto instruction = gen::decode(kernel.bytes, at, kernel.family);
    if (!instruction) break;
    at += instruction->length;
  }
  return before;
}

}  // namespace eum::rt
