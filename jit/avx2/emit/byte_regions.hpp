#pragma once
// Reads of bytes and words whose region repeats or skips elements, such as the addresses of qwords behind
// address registers, each of which two lanes read: half a register takes its elements from half a slot, by
// a shuffle. Element by element through memory, the load of the whole waits for the stores of its parts.
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::avx2::emit {

/// Whether a read of the instruction's region, whose result is a vector, is done so.
bool is_of_bytes(const Compiler& c, const CodeInst& inst);
void read_bytes(Compiler& c, const CodeInst& inst);

}  // namespace eum::jit::avx2::emit
