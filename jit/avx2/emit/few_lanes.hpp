#pragma once
// Loads and stores of two or four lanes, with which kernels access single structures and vectors: lane by
// lane, each with its own bounds check, rather than by vectors as rows of eight lanes. One-lane operands are
// scalars and are not handled here.
#include "jit/avx2/emit/memory.hpp"

namespace eum::jit::avx2::emit {

bool is_of_few_lanes(const MemorySite& site);
void load_few_lanes(Compiler& c, const CodeInst& inst);
void store_few_lanes(Compiler& c, const CodeInst& inst);

}  // namespace eum::jit::avx2::emit
