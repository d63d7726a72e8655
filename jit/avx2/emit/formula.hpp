#pragma once
// Ops that take several instructions per chunk: the formula is written once, over vector registers, and
// serves vectors chunk by chunk as well as one-lane integers, which are moved to a vector register and back.
#include "jit/avx2/emit/emit.hpp"
#include "jit/avx2/emit/scalar.hpp"

namespace eum::jit::avx2::emit {

/// A one-lane integer in lane 0 of a vector register; the lanes above are 0.
inline x86::Ymm to_vector(Compiler& c, ir::ValueId scalar) {
  const x86::Gp from = c.g.use(scalar);
  const x86::Ymm to = c.v.scratch();
  if (ir::size_of(c.type_of(scalar)) == 8) {
    c.a.vmovq(to.xmm(), from);
  } else {
    c.a.vmovd(to.xmm(), from.r32());
  }
  return to;
}

/// Defines the one-lane integer `scalar` as lane 0 of a vector register.
inline void define_from_vector(Compiler& c, ir::ValueId scalar, x86::Ymm from) {
  const x86::Gp to = c.g.define(scalar);
  const ir::Type type = c.type_of(scalar);
  if (ir::size_of(type) == 8) {
    c.a.vmovq(to, from.xmm());
  } else {
    c.a.vmovd(to.r32(), from.xmm());
    extend(c, to, type);
  }
}

/// The instruction of the block that defines the value.
inline const CodeInst* definition(const Compiler& c, ir::ValueId value) {
  for (const CodeInst& inst : c.block_insts())
    if (value - inst.result < inst.result_count) return &inst;
  return nullptr;
}

/// formula(to, a, b, ...) for each chunk of the one result; `to` is none of the operands. A formula on lanes
/// narrower than 32 bits must not read lanes other than its own.
template <std::size_t operands, class Formula>
void by_chunks(Compiler& c, const CodeInst& inst, Formula formula) {
  const bool scalar = c.regs.is_scalar(inst.result);
  const unsigned chunks = scalar ? 1 : c.v.chunks(inst.result);
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    std::array<x86::Ymm, operands> args;
    for (std::size_t k = 0; k < operands; ++k)
      args[k] = scalar ? to_vector(c, inst.args[k]) : c.v.use(inst.args[k], chunk);
    const x86::Ymm to = scalar ? c.v.scratch() : c.v.define(inst.result, chunk);
    std::apply([&](auto... arg) { formula(to, arg...); }, args);
    if (scalar) define_from_vector(c, inst.result, to);
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx2::emit
