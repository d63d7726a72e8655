#pragma once
// Regions of dwords whose slots stay in registers: each dword is moved to its place by permutations and
// blended with the rest of the register. Going through the register file's memory takes fewer instructions,
// but a load of a whole slot after stores to parts of it waits until they have left the store buffer.
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::avx2::emit {

/// Whether a read or a write of the instruction's region, whose value is a vector, is done this way: whole
/// dwords, on average two or more in each slot.
bool is_of_dwords(const Compiler& c, const CodeInst& inst);
void read_dwords(Compiler& c, const CodeInst& inst);
void write_dwords(Compiler& c, const CodeInst& inst);

}  // namespace eum::jit::avx2::emit
