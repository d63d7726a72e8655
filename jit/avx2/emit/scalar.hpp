#pragma once
// One-lane integers in general registers. A value of 8 or 16 bits is kept extended to 32 by its type's sign.
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::avx2::emit {

/// The register in the width in which values of the type are computed.
inline x86::Gp sized(x86::Gp reg, ir::Type type) {
  if (ir::size_of(type) == 8) return reg.r64();
  return reg.r32();
}

/// The low `bytes` (1, 2, 4, 8) of the register.
inline x86::Gp low_part(x86::Gp reg, unsigned bytes) {
  switch (bytes) {
    case 1:
      return reg.r8();
    case 2:
      return reg.r16();
    case 4:
      return reg.r32();
    default:
      return reg.r64();
  }
}

/// Brings an 8 or 16-bit result back to its extended form.
inline void extend(Compiler& c, x86::Gp reg, ir::Type type) {
  switch (type) {
    case ir::Type::u8:
      c.a.movzx(reg.r32(), reg.r8());
      break;
    case ir::Type::s8:
      c.a.movsx(reg.r32(), reg.r8());
      break;
    case ir::Type::u16:
      c.a.movzx(reg.r32(), reg.r16());
      break;
    case ir::Type::s16:
      c.a.movsx(reg.r32(), reg.r16());
      break;
    default:
      break;
  }
}

/// The result's register, initialised with operand `arg`, whose register is `a`, in the width of `a`.
inline x86::Gp begin_over(Compiler& c, const CodeInst& inst, unsigned arg, x86::Gp a) {
  x86::Gp result = c.g.define_over(inst, arg);
  result.setSignature(a.signature());
  if (result.id() != a.id()) c.a.mov(result, a);
  return result;
}

enum class Commutes : bool { No, Yes };

/// result = a, then `id` result, b.
inline void scalar2(Compiler& c, const CodeInst& inst, std::uint32_t id, Commutes commutes) {
  x86::Gp a = sized(c.g.use(inst.args[0]), inst.type);
  asmjit::Operand b = c.g.operand(inst.args[1]);
  if (b.isReg()) b = sized(b.as<x86::Gp>(), inst.type);
  unsigned over = 0;
  if (commutes == Commutes::Yes && b.isReg() && !c.g.is_dying(inst, 0) && c.g.is_dying(inst, 1)) {
    over = 1;
    const x86::Gp first = a;
    a = b.as<x86::Gp>();
    b = first;
  }
  const x86::Gp result = begin_over(c, inst, over, a);
  c.a.emit(id, result, b);
  extend(c, result, inst.type);
}

/// result = a, then `id` result.
inline void scalar1(Compiler& c, const CodeInst& inst, std::uint32_t id) {
  const x86::Gp result = begin_over(c, inst, 0, sized(c.g.use(inst.args[0]), inst.type));
  c.a.emit(id, result);
  extend(c, result, inst.type);
}

}  // namespace eum::jit::avx2::emit
