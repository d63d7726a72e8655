// The reference engine: keeps a verified copy of the function and interprets it. Slow, obviously right.
#include "frontend/ir/verifier.hpp"
#include "jit/passes/passes.hpp"
#include "jit/reference/interpreter.hpp"
#include "memory/base/within_host.hpp"

namespace eum::jit {
namespace {

class ReferenceExecutable final : public Executable {
 public:
  explicit ReferenceExecutable(const ir::Function& function)
      : Executable(function), function_(function), places_(reference::ValuePlaces::of(function)) {
    function_.resource = std::pmr::get_default_resource();  // as the copied vectors, not the caller's
  }
  // The interpreter restores the mode itself, so the scope is unchanged.
  Status run(ThreadState& state, FpScope&) const override {
    return reference::Interpreter(function_, places_, layout(), state).run();
  }

 private:
  ir::Function function_;
  reference::ValuePlaces places_;
};

class ReferenceEngine final : public Engine {
 public:
  std::string_view name() const override { return "reference"; }
  Result<std::unique_ptr<Executable>> compile(ir::Function& function,
                                              const CompileOptions& options) override {
    using Compiled = Result<std::unique_ptr<Executable>>;
    if (auto good = check(Limit::blocks, options.limits, function.name, function.blocks.size()); !good)
      return good.error();
    return within_host(function.name, [&]() -> Compiled {
      mark_safepoints(function, options.safepoints);
      if (auto good = ir::verify(function); !good) return good.error();
      return std::unique_ptr<Executable>(std::make_unique<ReferenceExecutable>(function));
    });
  }
};

}  // namespace

std::unique_ptr<Engine> make_reference_engine() { return std::make_unique<ReferenceEngine>(); }

}  // namespace eum::jit
