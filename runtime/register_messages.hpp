#pragma once
// Messages whose descriptors are in registers, such as those on a surface that the kernel chooses. The engine
// leaves such a thread in front of the message; the message is then translated for the registers' values and
// executed on the thread's state, and the thread continues after it.
#include <memory>
#include <optional>

#include "frontend/ir/function.hpp"
#include "jit/engine.hpp"
#include "runtime/translation.hpp"

namespace eum::rt {

/// Whether the function contains such a message.
bool has_register_messages(const ir::Function& function);

/// Wraps `code`, translated from `function` with exact registers and a safepoint after each message, so that
/// such messages are executed. Copies what it needs of `kernel`, which must be a GEN kernel.
std::unique_ptr<jit::Executable> with_register_messages(std::unique_ptr<jit::Executable> code,
                                                        const ir::Function& function,
                                                        const KernelCode& kernel);

}  // namespace eum::rt
