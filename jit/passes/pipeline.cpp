// The passes of jit/optimisations.def, in its order.
#include "frontend/ir/printer.hpp"
#include "frontend/ir/verifier.hpp"
#include "jit/passes/passes.hpp"

namespace eum::jit {
namespace {

#ifdef NDEBUG
constexpr bool verifies = false;
#else
constexpr bool verifies = true;
#endif

constexpr Pass passes[]{
#define PASS(name, kind, doc) {Optimisation::name, #name, &name},
#define CHOICE(name, doc)
#include "jit/optimisations.def"
#undef PASS
#undef CHOICE
};

}  // namespace

std::span<const Pass> pipeline() { return passes; }

void note_promises(ir::Function& function, const LaunchFacts& facts, const Optimisations& optimisations) {
  function.pointers = facts.pointers;
  function.ids = optimisations[Optimisation::linear] ? facts.ids : ir::ConsecutiveIds{};
  function.disjoint_surfaces = facts.disjoint_surfaces;
}

Result<void> run_pipeline(ir::Function& function, const PipelineOptions& options) {
  for (const Pass& pass : passes) {
    if (!options.optimisations[pass.optimisation]) continue;
    const OptimisationKind kind = info(pass.optimisation).kind;
    const bool looks_away = kind == OptimisationKind::Unobserved || kind == OptimisationKind::Unrestored;
    if (options.exact_registers && looks_away) continue;
    if (!options.own_images && kind == OptimisationKind::Unrestored) continue;
    pass.run(function);
    if (!verifies && !options.verify) continue;
    if (const auto good = ir::verify(function); !good)
      return Error{fmt::format("{}: {} produced an invalid function: {}\n{}", function.name, pass.name,
                               good.error().message, ir::print(function)),
                   Cause::Bug};
  }
  return {};
}

}  // namespace eum::jit
