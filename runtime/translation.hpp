#pragma once
// From a kernel's code, GEN or vISA, to translated code, and texts that describe each step. It must not know
// arguments, memory or dispatch.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/gen/family.hpp"
#include "frontend/visa/lower/lower.hpp"
#include "jit/engine.hpp"
#include "memory/base/result.hpp"
#include "runtime/dispatch/walker.hpp"

namespace eum::rt {

/// A kernel given as vISA text.
struct TextCode {
  const visa::Module* module = nullptr;  ///< null: there is none
  std::uint32_t kernel = 0;              ///< index in the module
  unsigned grf_bytes = 32;
  const visa::Symbols* symbols = nullptr;  ///< may be null: none
};

/// The input of a translation: instructions as the device holds them, with relocations applied.
struct KernelCode {
  std::string_view name;
  std::span<const std::byte> bytes;  ///< for vISA text, what distinguishes it from other text and addresses
  gen::Family family = gen::Family::Gen9;
  unsigned simd = 8;  ///< 8, 16 or 32
  TextCode text{};    ///< replaces `bytes` and `family`

  std::uint32_t grf_bytes() const {
    return text.module != nullptr ? text.grf_bytes : gen::info(family).grf_bytes;
  }
};

struct TranslatedKernel {
  std::unique_ptr<jit::Executable> executable;
  ThreadCode code;                 ///< for `executable`
  std::vector<std::string> traps;  ///< texts that faults refer to by number (jit::has_text)
  std::size_t instructions = 0;    ///< guest instructions translated
  double lower_seconds = 0;        ///< including decoding
  double compile_seconds = 0;

  double seconds() const { return lower_seconds + compile_seconds; }
};

/// What a walk needs to know about `executable`, compiled from `function`, of a kernel with `simd` channels.
ThreadCode thread_code(const ir::Function& function, const jit::Executable& executable, unsigned simd);

/// Options for code that only runs: registers that nothing reads any more need not be kept.
inline constexpr jit::CompileOptions run_only{.exact_registers = false};

/// Performs every step from bits to host code, and releases intermediate data before it returns. An error may
/// name the limit of the options that the kernel exceeds.
Result<TranslatedKernel> translate(const KernelCode& kernel, jit::Engine& engine,
                                   const jit::CompileOptions& options = run_only);

/// The kernel as micro-ops, in the text form of frontend/ir.
Result<std::string> micro_op_text(const KernelCode& kernel, const jit::Limits& limits = {});
/// The same after the engine's passes, of launches of which these facts hold.
Result<std::string> passed_micro_op_text(const KernelCode& kernel, const jit::LaunchFacts& facts,
                                         jit::Optimisations optimisations = {},
                                         const jit::Limits& limits = {});

/// The instruction at byte `ip`, or the reason why there is none.
std::string instruction_text(const KernelCode& kernel, std::uint32_t ip);

/// An instruction of a kernel as text.
struct InstructionText {
  std::uint32_t ip;
  std::string text;
};

/// All instructions, by ip. An error says where one does not decode.
Result<std::vector<InstructionText>> instruction_texts(const KernelCode& kernel);

/// Start of the instruction that ends at `ip`, found by decoding from the beginning.
std::uint32_t instruction_before(const KernelCode& kernel, std::uint32_t ip);

/// The instruction printer aligns columns; messages use single spaces.
std::string single_spaced(std::string_view aligned);

}  // namespace eum::rt
