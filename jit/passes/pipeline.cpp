// The order of the passes: reads from top to bottom.
#include "jit/passes/passes.hpp"

namespace eum::jit {

void run_pipeline(ir::Function& function) {
  expand_math(function);
  forward_state(function);
  fuse_mul_mach(function);
  scalar_compare(function);
}

}  // namespace eum::jit
