// Bitwise ops that AVX2 takes several instructions for: rotations, shifts of words by another number in each
// lane, arithmetic ones of 64 bits, and one of three operands.
#include "jit/avx512/emit/emit.hpp"

namespace eum::jit::avx512::emit {

void emit_rotl(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return avx2::emit::emit_rotl(c, inst);
  const std::uint64_t* by = c.regs.constant(inst.args[1]);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    if (by != nullptr) {
      const asmjit::Operand a = c.v.operand(inst.args[0], chunk);
      c.a.emit(x86::Inst::kIdVprold, c.v.define_over(inst, chunk), a, asmjit::Imm(*by % 32));
    } else {
      const x86::Ymm a = c.v.use(inst.args[0], chunk), count = c.v.use(inst.args[1], chunk);
      c.a.vprolvd(c.v.define_over(inst, chunk), a, count);
    }
    c.regs.unpin();
  }
}

namespace {

/// Of vectors, by `by` or by another number in each lane.
void shift(Compiler& c, const CodeInst& inst, const std::uint64_t* by, std::uint32_t by_one,
           std::uint32_t by_lanes) {
  const unsigned bytes = ir::size_of(inst.type), width = 8 * bytes;
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const x86::Ymm a = c.v.use(inst.args[0], chunk);
    if (by != nullptr) {
      c.a.emit(by_one, c.v.define_over(inst, chunk), a, asmjit::Imm(*by % width));
    } else {
      const x86::Ymm count = c.v.use(inst.args[1], chunk), masked = c.v.scratch();
      c.a.vpand(masked, count, c.splat(width - 1, bytes));
      c.a.emit(by_lanes, c.v.define_over(inst, chunk), a, masked);
    }
    c.regs.unpin();
  }
}

/// Shifts of words by another number in each lane are one instruction; others are those of AVX2.
void shift_words(Compiler& c, const CodeInst& inst, std::uint32_t by_lanes) {
  const bool is_of_words = ir::size_of(inst.type) == 2 && !c.regs.is_scalar(inst.result);
  if (!is_of_words || c.regs.constant(inst.args[1]) != nullptr)
    return avx2::emit::table[static_cast<std::size_t>(inst.op)](c, inst);
  shift(c, inst, nullptr, 0, by_lanes);
}

}  // namespace

void emit_shl(Compiler& c, const CodeInst& inst) { shift_words(c, inst, x86::Inst::kIdVpsllvw); }
void emit_shr(Compiler& c, const CodeInst& inst) { shift_words(c, inst, x86::Inst::kIdVpsrlvw); }
void emit_asr(Compiler& c, const CodeInst& inst) {
  if (ir::size_of(inst.type) != 8 || c.regs.is_scalar(inst.result))
    return shift_words(c, inst, x86::Inst::kIdVpsravw);
  shift(c, inst, c.regs.constant(inst.args[1]), x86::Inst::kIdVpsraq, x86::Inst::kIdVpsravq);
}

void emit_bfi2(Compiler& c, const CodeInst& inst) {
  if (c.regs.is_scalar(inst.result)) return avx2::emit::emit_bfi2(c, inst);
  if (avx2::emit::blends_words(c, inst)) return;
  constexpr int first_selects = 0xca;  // the bit of the second or, where the first is 0, of the third
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const x86::Ymm a = c.v.use(inst.args[1], chunk);
    const asmjit::Operand mask = c.v.operand(inst.args[0], chunk), b = c.v.operand(inst.args[2], chunk);
    const x86::Ymm to = c.v.define(inst.result, chunk);
    c.a.emit(x86::Inst::kIdVmovdqu, to, mask);
    c.a.emit(x86::Inst::kIdVpternlogd, to, a, b, asmjit::Imm(first_selects));
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx512::emit
