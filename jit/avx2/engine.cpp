// The AVX2 engine: passes, translation, executable memory.
#include <asmjit/x86.h>
#include <xmmintrin.h>

#include <memory>
#include <new>

#include "frontend/ir/printer.hpp"
#include "jit/avx2/compiler.hpp"
#include "jit/engine.hpp"
#include "jit/fpmode.hpp"
#include "jit/passes/passes.hpp"

namespace eum::jit {
namespace {

using Entry = std::uint32_t (*)(ThreadState*);

class Avx2Executable final : public Executable {
 public:
  Avx2Executable(const StateLayout& layout, std::shared_ptr<asmjit::JitRuntime> runtime, Entry entry,
                 std::size_t code_bytes, std::string listing)
      : Executable(layout),
        runtime_(std::move(runtime)),
        entry_(entry),
        code_bytes_(code_bytes),
        listing_(std::move(listing)) {}
  ~Avx2Executable() override { runtime_->release(entry_); }

  Status run(ThreadState& state, FpScope& scope) const override {
    const auto mode = fp_mode_mxcsr(state.fp_mode);
    if (!mode) {
      state.fault = {FaultKind::UnsupportedMode, 0, 0, 0, state.fp_mode};
      return Status::Faulted;
    }
    if (*mode != scope.set) {
      _mm_setcsr(*mode);
      scope.set = *mode;
    }
    const std::uint32_t before = state.fp_mode;
    const auto status = static_cast<Status>(entry_(&state));
    if (state.fp_mode != before || status == Status::Faulted) scope.set = FpScope::current();
    return status;
  }
  std::size_t code_bytes() const override { return code_bytes_; }
  std::string listing() const override { return listing_; }

 private:
  std::shared_ptr<asmjit::JitRuntime> runtime_;
  Entry entry_;
  std::size_t code_bytes_;
  std::string listing_;
};

/// The first error of the assembler; emission goes on, the result is dropped.
class FirstError final : public asmjit::ErrorHandler {
 public:
  void handleError(asmjit::Error, const char* message, asmjit::BaseEmitter*) override {
    if (text.empty()) text = message;
  }
  std::string text;
};

class Avx2Engine final : public Engine {
 public:
  std::string_view name() const override { return "avx2"; }

  Result<std::unique_ptr<Executable>> compile(ir::Function& function,
                                              const CompileOptions& options) override {
    if (function.file_bytes > max_slots * slot_size)
      return error("{}: a register file of {} bytes, at most {} expected", function.name, function.file_bytes,
                   max_slots * slot_size);
    try {
      return translate(function, options);
    } catch (const EngineBug& bug) {
      return error("{}: {} (a bug of the AVX2 engine, found in this function)\n{}", function.name, bug.what(),
                   ir::print(function));
    } catch (const std::bad_alloc&) {
      return error("{}: the host has no memory for its translation", function.name);
    }
  }

 private:
  Result<std::unique_ptr<Executable>> translate(ir::Function& function, const CompileOptions& options) {
    if (auto done = run_pipeline(function); !done) return done.error();
    asmjit::CodeHolder code;
    FirstError errors;
    asmjit::StringLogger logger;
    code.init(runtime_->environment());
    code.setErrorHandler(&errors);
    if (options.listing) code.setLogger(&logger);
    Liveness liveness(function, options.registers_live_at_exit);
    Compiler(function, liveness, code).run(options.listing);
    Entry entry = nullptr;
    if (errors.text.empty()) runtime_->add(&entry, &code);
    if (!entry) return error("{}: the assembler refused: {}", function.name, errors.text);
    return std::unique_ptr<Executable>(
        std::make_unique<Avx2Executable>(StateLayout::of(function), runtime_, entry, code.codeSize(),
                                         std::string(logger.data(), logger.dataSize())));
  }

  std::shared_ptr<asmjit::JitRuntime> runtime_ = std::make_shared<asmjit::JitRuntime>();
};

}  // namespace

Result<std::unique_ptr<Engine>> make_avx2_engine() {
  const auto& features = asmjit::CpuInfo::host().features().x86();
  if (!features.hasAVX2() || !features.hasFMA() || !features.hasBMI() || !features.hasBMI2() ||
      !features.hasF16C())
    return error("the avx2 engine needs a CPU with AVX2, FMA, BMI, BMI2 and F16C; use the reference engine");
  return std::unique_ptr<Engine>(std::make_unique<Avx2Engine>());
}

}  // namespace eum::jit
