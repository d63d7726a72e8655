#pragma once
// Loads and stores of two or four lanes, which is how kernels access single structures and vectors: lane by
// lane, each with a check of its own, where a row of eight has vectors. Operands of one lane are scalars and
// not for here.
#include "jit/avx2/emit/memory.hpp"

namespace eum::jit::avx2::emit {

bool is_of_few_lanes(const MemorySite& site);
void load_few_lanes(Compiler& c, const CodeInst& inst);
void store_few_lanes(Compiler& c, const CodeInst& inst);

}  // namespace eum::jit::avx2::emit
