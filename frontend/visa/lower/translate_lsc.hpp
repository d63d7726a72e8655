#pragma once
// Lsc instructions: from operands and what Lsc says to a message of the EU, and what is refused. It must not
// know how messages are lowered.
#include "frontend/eu/messages/lsc.hpp"
#include "frontend/visa/kernel.hpp"
#include "frontend/visa/lower/layout.hpp"

namespace eum::visa {

/// Fills `message` with what `instruction`, an lsc one of `kernel`, asks. An error names the rule and what
/// was found.
Result<void> translate_lsc(const Kernel& kernel, const Instruction& instruction, const Layout& layout,
                           eu::LscMessage& message);

}  // namespace eum::visa
