#pragma once
// Translates lsc instructions: from operands and Lsc to a message of the EU, or an error. It must not know
// how messages are lowered.
#include "frontend/eu/messages/lsc.hpp"
#include "frontend/visa/kernel.hpp"
#include "frontend/visa/lower/layout.hpp"

namespace eum::visa {

/// Sets `message` to the translation of `instruction`, an lsc instruction of `kernel`. An error names the
/// rule and what was found.
Result<void> translate_lsc(const Kernel& kernel, const Instruction& instruction, const Layout& layout,
                           eu::LscMessage& message);

}  // namespace eum::visa
