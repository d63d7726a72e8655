#pragma once
// What is known of the floating point mode when a function is translated: which one its threads set, and that
// they set it first.
#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/engine.hpp"

namespace eum::jit {

/// Nothing but the beginning of a thread leads to the first block, and none jumps to an address.
bool is_begun_only(const ir::Function& function);

/// How the threads of a function set their mode.
struct ModeUse {
  /// A thread that begins sets it before anything follows it, or could show it: as compiled kernels do.
  bool first = false;
  /// To this cr0.0, which it has again wherever the thread exits or waits: it may as well begin with it.
  std::optional<std::uint32_t> usual;
  /// For each block the cr0.0 of the mode that it is entered in, where constants say it.
  std::vector<std::optional<std::uint32_t>> entered;
};
ModeUse mode_use_of(const ir::Function& function);

/// What is computed of cr0.0, which every thread begins with, becomes constants.
void fold_control(ir::Function& function, const KnownRegister& control);

}  // namespace eum::jit
