#pragma once
// Regions of dwords whose slots stay in registers: each dword is moved to its place by permutations, and
// blended with what else the register holds. Through the memory of the register file it takes fewer
// instructions, but a load of a whole slot behind stores to parts of it waits until they have left the store
// buffer.
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::avx2::emit {

/// Whether a read or a write of the instruction's region, whose value is a vector, is done so: whole dwords,
/// and some of them in each slot.
bool is_of_dwords(const Compiler& c, const CodeInst& inst);
void read_dwords(Compiler& c, const CodeInst& inst);
void write_dwords(Compiler& c, const CodeInst& inst);

}  // namespace eum::jit::avx2::emit
