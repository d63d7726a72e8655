#pragma once
// The emitters: one function for each Native row of ops.def, found through `table`. A Native row without an
// emitter does not link; a Table row calls its function of frontend/ir/semantics/lane_function.hpp.
#include "jit/avx2/compiler.hpp"

namespace eum::jit::avx2::emit {

extern const Table table;

#define IR_OP(name, ...) void emit_##name(Compiler& c, const CodeInst& inst);
#include "frontend/ir/ops.def"
#undef IR_OP

/// Compares integers of one lane; returns the condition under which the result is true.
x86::CondCode compare_scalars(Compiler& c, const CodeInst& inst);
/// Whether AVX2 computes this comparison of vectors of integers as the complement of another. One with a
/// constant can be done with the number next to it.
bool takes_complement(ir::Op compare, ir::Type type, bool with_constant);

/// Every op with an Image attribute.
void emit_image(Compiler& c, const CodeInst& inst);

/// One instruction per chunk: result = id(a, b). Operands are not exchanged: which NaN comes first matters.
void lanewise2(Compiler& c, const CodeInst& inst, std::uint32_t id);
/// The same with the two operands in either order.
void commutative2(Compiler& c, const CodeInst& inst, std::uint32_t id);

/// Emits a bfi2 of vectors whose mask is a constant of whole words, as blends; false: it is none.
bool blends_words(Compiler& c, const CodeInst& inst);

/// A chunk of a mask with lanes of `bytes` width, in the form that the host's blends need.
class Mask {
 public:
  Mask(Compiler& c, ir::ValueId mask, unsigned bytes, unsigned chunk);
  /// to = `on` in the lanes that are set, `off` in the others.
  void blend(x86::Ymm to, x86::Ymm off, const asmjit::Operand& on) const;

 private:
  void blend_by_logic(x86::Ymm to, x86::Ymm off, const asmjit::Operand& on) const;

  Compiler& c_;
  unsigned bytes_;
  x86::Ymm lanes_;
  bool has_whole_lanes_ = false;
  x86::KReg register_;
};

/// Packs two chunks of lanes of `from_bytes` into one of lanes half as wide, keeping the low parts. `to` may
/// be `a` only if that is `b` too; `scratch` is none of the others.
void pack(Compiler& c, x86::Ymm to, x86::Ymm scratch, x86::Ymm a, x86::Ymm b, unsigned from_bytes);

/// An instruction id by the size of the elements in bytes: 1, 2, 4, 8. 0: there is none.
struct BySize {
  std::array<std::uint32_t, 4> ids;
  std::uint32_t operator[](ir::Type type) const { return of(ir::size_of(type)); }
  std::uint32_t of(unsigned bytes) const { return ids[static_cast<std::size_t>(__builtin_ctz(bytes))]; }
};

/// One element of a vector in all of its lanes, by size.
extern const BySize vpbroadcast;
/// Element `index` of the register to memory, whose size is the element's: 1, 2, 4 or 8.
void store_element(Compiler& c, const x86::Mem& to, x86::Xmm from, unsigned index);

/// All bits one, as an operand.
inline x86::Mem all_ones(Compiler& c) { return c.splat(~0ull, 8); }

}  // namespace eum::jit::avx2::emit
