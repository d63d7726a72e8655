// One arena per translation: all intermediate data is released at once.
#include "runtime/translation.hpp"

#include <algorithm>
#include <chrono>
#include <memory_resource>
#include <utility>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/printer.hpp"
#include "frontend/visa/lower/program.hpp"
#include "jit/passes/passes.hpp"
#include "memory/base/counted_memory.hpp"
#include "memory/base/within_host.hpp"
#include "runtime/dispatch/thread_payload.hpp"
#include "runtime/register_messages.hpp"

namespace eum::rt {
namespace {

using Clock = std::chrono::steady_clock;

/// Initial arena size, enough for a small kernel.
constexpr std::size_t first_block = 64 * 1024;

double seconds_between(Clock::time_point a, Clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

/// The register file layout that all front ends use.
eu::Target target_of(const ir::Function& function) {
  eu::Target target{nullptr, static_cast<std::uint16_t>(function.slot_bytes), 0, function.flag_bits};
  target.grf_count =
      static_cast<std::uint16_t>((function.file_bytes - target.file_bytes()) / target.grf_bytes);
  return target;
}

}  // namespace

ThreadCode thread_code(const ir::Function& function, const jit::Executable& executable, unsigned simd) {
  const eu::Target target = target_of(function);
  ThreadCode code;
  code.executable = &executable;
  code.simd = simd;
  code.grf_bytes = target.grf_bytes;
  code.payload_room = target.grf_file_bytes();
  code.cr0_offset = target.offset(eu::StateRegister::Control);
  code.sr0_offset = target.offset(eu::StateRegister::State);
  for (const ir::Block& block : function.blocks) {
    code.waits |= block.insts.back().op == ir::Op::wait;
    code.contends = code.contends || std::ranges::any_of(block.insts, [&](const ir::Inst& inst) {
                      return inst.op == ir::Op::typed_atomic ||
                             (inst.op == ir::Op::atomic && function.access(inst).space != ir::MemSpace::Slm);
                    });
  }
  return code;
}

namespace {

/// Calls `step` with an arena for micro-ops whose size the limit bounds.
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
  if (const TextCode& text = kernel.text; text.module != nullptr) {
    visa::LowerRequest request;
    request.grf_bytes = text.grf_bytes;
    if (text.symbols != nullptr) request.symbols = *text.symbols;
    request.options = options;
    return visa::lower_kernel(*text.module, text.kernel, std::string(kernel.name), request, memory);
  }
  return gen::lower_kernel(kernel.bytes, kernel.family, kernel.simd, std::string(kernel.name), memory,
                           options);
}

Result<std::unique_ptr<visa::Program>> program_of(const TextCode& text) {
  static const visa::Symbols none;
  return visa::Program::make(*text.module, text.kernel, text.grf_bytes,
                             text.symbols != nullptr ? *text.symbols : none);
}

}  // namespace

Result<TranslatedKernel> translate(const KernelCode& kernel, jit::Engine& engine,
                                   const jit::CompileOptions& options) {
  return in_arena(kernel, options.limits, [&](std::pmr::memory_resource* memory) -> Result<TranslatedKernel> {
    TranslatedKernel result;
    const auto begin = Clock::now();
    auto function = lower(kernel, memory, options.safepoints);
    if (!function) return function.error();
    jit::CompileOptions used = options;
    const bool leaves = has_register_messages(*function);
    if (leaves) {
      // Threads are left in front of such messages and continue after them.
      used.exact_registers = true;
      used.safepoints = std::max(options.safepoints, jit::Safepoints::Messages);
      if (used.safepoints != options.safepoints) function = lower(kernel, memory, used.safepoints);
      if (!function) return function.error();
    }
    const auto lowered = Clock::now();
    for (const ir::Block& block : function->blocks) result.instructions += block.guest_instructions;
    // In the way that ThreadPayload writes it.
    used.group_dwords = ThreadPayload::group_dwords;
    used.control = {target_of(*function).offset(eu::StateRegister::Control), initial_control};
    auto executable = engine.compile(*function, used);
    if (!executable) return executable.error();
    const auto compiled = Clock::now();
    result.executable = std::move(*executable);
    if (leaves) result.executable = with_register_messages(std::move(result.executable), *function, kernel);
    result.code = thread_code(*function, *result.executable, kernel.simd);
    result.code.text = kernel.text.module != nullptr;
    if (!result.code.text) result.code.slot_bits = gen::info(kernel.family).slot_bits;
    result.code.promised = used.promised();
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

Result<std::string> passed_micro_op_text(const KernelCode& kernel, const jit::LaunchFacts& facts,
                                         jit::Optimisations optimisations, const jit::Limits& limits) {
  return in_arena(kernel, limits, [&](std::pmr::memory_resource* memory) -> Result<std::string> {
    auto function = lower(kernel, memory, jit::Safepoints::BackEdges);
    if (!function) return function.error();
    jit::mark_safepoints(*function, jit::Safepoints::BackEdges);
    jit::note_promises(*function, facts, optimisations);
    if (auto done =
            jit::run_pipeline(*function, {.optimisations = optimisations, .own_images = facts.own_images});
        !done)
      return done.error();
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
  if (kernel.text.module != nullptr) {
    const auto program = program_of(kernel.text);
    if (!program) return program.error().message;
    return ip < (*program)->bytes() ? single_spaced((*program)->text(ip))
                                    : fmt::format("no instruction at {:#x}", ip);
  }
  const auto instruction = gen::decode(kernel.bytes, ip, kernel.family);
  if (!instruction) return instruction.error().message;
  return single_spaced(gen::print(*instruction, kernel.family));
}

Result<std::vector<InstructionText>> instruction_texts(const KernelCode& kernel) {
  std::vector<InstructionText> texts;
  if (kernel.text.module != nullptr) {
    const auto program = program_of(kernel.text);
    if (!program) return program.error();
    for (std::uint32_t ip = 0; ip < (*program)->bytes(); ip += (*program)->step(ip))
      texts.push_back({ip, single_spaced((*program)->text(ip))});
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
  if (kernel.text.module != nullptr) return ip - std::min(ip, eu::Program::unit_bytes);
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
