// The order of the passes: reads from top to bottom.
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
    {"expand_math", &expand_math},
    {"widen", &widen},
    {"strided_conversions", &strided_conversions},
    {"forward_state", &forward_state},
    {"fuse_mul_mach", &fuse_mul_mach},
    {"scalar_compare", &scalar_compare},
    {"distances", &distances},
    {"needed_lanes", &needed_lanes},
};

}  // namespace

std::span<const Pass> pipeline() { return passes; }

Result<void> run_pipeline(ir::Function& function, bool verify) {
  for (const Pass& pass : passes) {
    pass.run(function);
    if (!verifies && !verify) continue;
    if (const auto good = ir::verify(function); !good)
      return Error{fmt::format("{}: {} produced an invalid function: {}\n{}", function.name, pass.name,
                               good.error().message, ir::print(function)),
                   Cause::Bug};
  }
  return {};
}

}  // namespace eum::jit
