#pragma once
// Components of each lane, x y z w of a float4, that are loaded, computed with alike and stored again: every
// lane and component undergoes the same operations, so their order in registers does not matter, and may be
// that of memory.
#include <span>

#include "jit/codegen/block_code.hpp"

namespace eum::jit::codegen {

/// Sets CodeInst::interleaved and CodeInst::rows of loads and stores, of two or four dwords or two qwords per
/// lane, whose values are used only by such loads and stores and by lanewise ops that treat all components
/// alike.
void mark_interleaved(const ir::Function& function, const Optimisations& optimisations,
                      std::span<CodeInst> insts);

}  // namespace eum::jit::codegen
