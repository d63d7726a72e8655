#pragma once
// Whether a value depends on what has been loaded, as far as a block tells.
#include <span>

#include "frontend/ir/function.hpp"

namespace eum::jit {

/// Whether `value`, defined by one of a block's first instructions, depends on what one of them loads: by
/// operands, or by registers and flags. Writes are taken to add to what was there before.
bool depends_on_load(const ir::Function& function, std::span<const ir::Inst> insts, ir::ValueId value);

}  // namespace eum::jit
