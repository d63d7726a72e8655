#pragma once
// Which emitter an op has, by its row of ops.def.
#include "jit/avx2/emit/emit.hpp"
#include "jit/codegen/bug.hpp"

namespace eum::jit::avx2::emit {

inline void call_semantics(Compiler& c, const CodeInst& inst) { c.call_lane_function(inst); }

[[noreturn]] inline void not_expanded(Compiler&, const CodeInst& inst) {
  throw codegen::EngineBug(fmt::format("{} should have been expanded", ir::op_name(inst.op)));
}

template <ir::Op op, Emitter native>
constexpr Emitter pick() {
  constexpr ir::Backend backend = ir::info(op).backend;
  if constexpr (ir::shape_of(op).has_image()) return emit_image;
  if constexpr (backend == ir::Backend::Native) return native;
  if constexpr (backend == ir::Backend::Table) return call_semantics;
  return not_expanded;
}

constexpr Table native_table() {
  return {
#define IR_OP(name, ...) pick<ir::Op::name, emit_##name>(),
#include "frontend/ir/ops.def"
#undef IR_OP
  };
}

}  // namespace eum::jit::avx2::emit
