// From op to emitter, derived from ops.def.
#include "jit/avx2/emit/emit.hpp"
#include "jit/codegen/bug.hpp"

namespace eum::jit::avx2::emit {
namespace {

// Only rows that say Table refer to it.
[[maybe_unused]] void call_semantics(Compiler& c, const CodeInst& inst) { c.call_lane_function(inst); }

[[noreturn]] void not_expanded(Compiler&, const CodeInst& inst) {
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

}  // namespace

const std::array<Emitter, ir::op_count> table = {
#define IR_OP(name, ...) pick<ir::Op::name, emit_##name>(),
#include "frontend/ir/ops.def"
#undef IR_OP
};

void lanewise2(Compiler& c, const CodeInst& inst, std::uint32_t id) {
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    x86::Ymm a = c.v.use(inst.args[0], chunk);
    asmjit::Operand b = c.v.operand(inst.args[1], chunk);
    c.a.emit(id, c.v.define_over(inst, chunk), a, b);
    c.regs.unpin();
  }
}

void commutative2(Compiler& c, const CodeInst& inst, std::uint32_t id) {
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    asmjit::Operand a = c.v.operand(inst.args[0], chunk);
    asmjit::Operand b = a.isReg() ? c.v.operand(inst.args[1], chunk) : c.v.use(inst.args[1], chunk);
    if (!a.isReg()) std::swap(a, b);
    c.a.emit(id, c.v.define_over(inst, chunk), a, b);
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx2::emit
