#pragma once
// Four dwords of each lane, x y z w of a float4, that are loaded, computed with alike and stored again: what
// is done to one lane and component is done to all, so that their order in registers does not matter, and may
// be that of memory.
#include <span>

#include "jit/codegen/block_code.hpp"

namespace eum::jit::codegen {

/// Sets CodeInst::interleaved of loads and stores by runs, side by side, whose values only such loads and
/// stores and lanewise ops look at that treat all four components alike.
void mark_interleaved(const ir::Function& function, std::span<CodeInst> insts);

}  // namespace eum::jit::codegen
