#pragma once
// Checks that a function is well formed: everything that its rows and shapes imply. An engine may run a
// function that passes without further checks.
#include "frontend/ir/function.hpp"
#include "memory/base/result.hpp"

namespace eum::ir {

/// The first rule that `function` breaks, with block, instruction and text of the instruction.
Result<void> verify(const Function& function);

/// Upper bounds of a function.
inline constexpr unsigned max_file_bytes = 65536;  // register addresses have 16 bits
inline constexpr unsigned max_mask_variables = 65536;
inline constexpr unsigned max_flag_bits = 65536;

}  // namespace eum::ir
