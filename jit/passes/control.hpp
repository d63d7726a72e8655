#pragma once
// What is known of the floating point mode when a function is translated: which one its threads set, and that
// they set it first.
#include <cstdint>
#include <optional>

#include "frontend/ir/function.hpp"
#include "jit/engine.hpp"

namespace eum::jit {

/// How the threads of a function set their mode.
struct ModeUse {
  /// A thread that begins sets it before anything follows it, or could show it: as compiled kernels do.
  bool first = false;
  /// And never to anything but this cr0.0.
  std::optional<std::uint32_t> always;
};
ModeUse mode_use_of(const ir::Function& function);

/// What the first block computes of cr0.0, which every thread begins with, becomes constants.
void fold_control(ir::Function& function, const KnownRegister& control);

}  // namespace eum::jit
