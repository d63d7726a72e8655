#pragma once
// The emitters of AVX-512VL: those of AVX2, whose instructions the assembler re-encodes, except where this
// folder has its own.
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::avx512::emit {

using avx2::CodeInst;
using avx2::Compiler;
namespace x86 = asmjit::x86;

extern const avx2::emit::Table table;

#define AVX512_EMITTER(name) void emit_##name(Compiler& c, const CodeInst& inst);
#include "jit/avx512/emit/rows.def"
#undef AVX512_EMITTER

}  // namespace eum::jit::avx512::emit
