#pragma once
// The assembler that emitters write to. On a host with AVX-512VL, vector registers 16 to 31 may be operands
// of any instruction that emitters use: instructions that need EVEX are rewritten by the rows of evex.def.
#include <asmjit/x86.h>

#include <array>

#include "jit/codegen/constant_pool.hpp"

namespace eum::jit::avx2 {

namespace x86 = asmjit::x86;

/// The mask register that rewriting uses; never allocated.
inline const x86::KReg scratch_mask = x86::k7;

/// Whether only EVEX encodes the operand: one of vector registers 16 to 31, or memory with an index in one.
bool needs_evex(const asmjit::Operand_& operand);

class Assembler final : public x86::Assembler {
 public:
  /// `evex`: there are 32 vector registers.
  Assembler(asmjit::CodeHolder* code, codegen::ConstantPool& pool, bool evex)
      : x86::Assembler(code), pool_(pool), pool_label_(newLabel()), evex_(evex) {}

  /// Where the constant pool will be.
  asmjit::Label pool_label() const { return pool_label_; }

  asmjit::Error _emit(asmjit::InstId id, const asmjit::Operand_& o0, const asmjit::Operand_& o1,
                      const asmjit::Operand_& o2, const asmjit::Operand_* more) override;

 private:
  using Operands = std::array<asmjit::Operand_, 6>;
  /// Emits the instruction unchanged.
  template <class... More>
  asmjit::Error put(asmjit::InstId id, const More&... operands);
  asmjit::Error emit_evex(asmjit::InstId id, const Operands& o, unsigned count);
  asmjit::Error select_bits(const Operands& o, const codegen::ConstantPool::Entry& bits);
  void set_scratch_mask(const asmjit::Operand_& lanes, char width);

  codegen::ConstantPool& pool_;
  asmjit::Label pool_label_;
  bool evex_;
};

}  // namespace eum::jit::avx2
