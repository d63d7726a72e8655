#pragma once
// Quotients of 64-bit integers.
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::avx2::emit {

/// `by_zero`: x/0 is needed, and may be anything otherwise.
void emit_long_quotient(Compiler& c, const CodeInst& inst, bool by_zero);

}  // namespace eum::jit::avx2::emit
