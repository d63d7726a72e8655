#pragma once
// Messages whose descriptors only registers know, such as those on a surface that the kernel chooses. The
// engine leaves such a thread in front of the message; here the message is translated for what the registers
// hold, done on the thread's state, and the thread goes on behind it.
#include <memory>
#include <optional>

#include "frontend/ir/function.hpp"
#include "jit/engine.hpp"
#include "runtime/translation.hpp"

namespace eum::rt {

/// Whether some message of the function is one of those.
bool has_register_messages(const ir::Function& function);

/// `code`, translated from `function` with exact registers and a safepoint behind each message, with those
/// messages done. Copies what it needs of `kernel`, which is one of GEN.
std::unique_ptr<jit::Executable> with_register_messages(std::unique_ptr<jit::Executable> code,
                                                        const ir::Function& function,
                                                        const KernelCode& kernel);

}  // namespace eum::rt
