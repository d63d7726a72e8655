#pragma once
// Accesses of one address: of one lane, through general registers, and blocks of consecutive elements.
#include "jit/avx2/emit/memory.hpp"

namespace eum::jit::avx2::emit {

/// Of instructions with operands of one lane, and of MemorySite::fits_in_line().
void load_one_lane(Compiler& c, const CodeInst& inst);
void store_one_lane(Compiler& c, const CodeInst& inst);

}  // namespace eum::jit::avx2::emit
