// From op to emitter, derived from ops.def.
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::emit {
namespace {

void call_semantics(Compiler& c, const CodeInst& inst) { c.call_lane_function(inst); }

[[noreturn]] void not_expanded(Compiler&, const CodeInst& inst) {
  throw EngineBug(fmt::format("{} should have been expanded", ir::op_name(inst.op)));
}

template <ir::Backend backend, Emitter native>
constexpr Emitter pick() {
  if constexpr (backend == ir::Backend::Native) return native;
  if constexpr (backend == ir::Backend::Helper) return call_semantics;
  return not_expanded;
}

}  // namespace

const std::array<Emitter, ir::op_count> table = {
#define IR_OP(name, shape, effect, types, backend, doc) pick<ir::Backend::backend, emit_##name>(),
#include "frontend/ir/ops.def"
#undef IR_OP
};

void lanewise2(Compiler& c, const CodeInst& inst, std::uint32_t id) {
  for (unsigned chunk = 0; chunk < c.r.chunks(inst.result); ++chunk) {
    x86::Ymm a = c.r.in(inst.args[0], chunk);
    asmjit::Operand b = c.r.src(inst.args[1], chunk);
    c.a.emit(id, c.r.out_over_dying(inst, chunk), a, b);
    c.r.unpin();
  }
}

void commutative2(Compiler& c, const CodeInst& inst, std::uint32_t id) {
  for (unsigned chunk = 0; chunk < c.r.chunks(inst.result); ++chunk) {
    asmjit::Operand a = c.r.src(inst.args[0], chunk);
    asmjit::Operand b = a.isReg() ? c.r.src(inst.args[1], chunk) : c.r.in(inst.args[1], chunk);
    if (!a.isReg()) std::swap(a, b);
    c.a.emit(id, c.r.out_over_dying(inst, chunk), a, b);
    c.r.unpin();
  }
}

}  // namespace eum::jit::emit
