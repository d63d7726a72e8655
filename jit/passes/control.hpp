#pragma once
// What is known of the floating point mode at translation time: which one the function's threads set, and
// that they set it first.
#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/engine.hpp"

namespace eum::jit {

/// Whether only the beginning of a thread leads to the first block, and no jump is to a computed address.
bool is_begun_only(const ir::Function& function);

/// How the threads of a function set their mode.
struct ModeUse {
  /// A thread sets it at its beginning, before anything depends on it or could observe it, as in compiled
  /// kernels.
  bool first = false;
  /// The cr0.0 that it sets, and has wherever the thread exits or waits: it may as well begin with it.
  std::optional<std::uint32_t> usual;
  /// For each block the cr0.0 of the mode in which it is entered, if it is a constant.
  std::vector<std::optional<std::uint32_t>> entered;
};
ModeUse mode_use_of(const ir::Function& function);

/// Folds what is computed from cr0.0, with whose value every thread begins, to constants.
void fold_control(ir::Function& function, const KnownRegister& control);

}  // namespace eum::jit
