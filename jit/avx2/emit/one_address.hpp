#pragma once
// Accesses with a single address: one lane, through general registers, and blocks of consecutive elements.
#include "jit/avx2/emit/memory.hpp"

namespace eum::jit::avx2::emit {

/// For instructions with one-lane operands that MemorySite::fits_in_line() allows.
void load_one_lane(Compiler& c, const CodeInst& inst);
void store_one_lane(Compiler& c, const CodeInst& inst);

}  // namespace eum::jit::avx2::emit
