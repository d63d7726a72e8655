#pragma once
// The allocator in terms of asmjit's registers and operands, as emitters use it. `v` are values in ymm, `g`
// scalars in general registers, `m` masks, `s` slots of the register file; verbs are those of
// codegen/allocator.hpp.
#include <asmjit/x86.h>

#include "jit/avx2/frame.hpp"
#include "jit/avx2/moves.hpp"
#include "jit/codegen/allocator.hpp"

namespace eum::jit::avx2 {

using codegen::CodeInst;
using codegen::ConstantPool;

class VectorRegisters {
 public:
  VectorRegisters(codegen::Vectors& vectors, const Moves& moves) : vectors_(vectors), moves_(moves) {}

  unsigned chunks(ir::ValueId value) const { return vectors_.chunks(value); }
  x86::Ymm use(ir::ValueId value, unsigned chunk = 0) { return x86::ymm(vectors_.use(value, chunk)); }
  /// A register, or memory of which an instruction may read `bytes` from the chunk's first one on.
  asmjit::Operand operand(ir::ValueId value, unsigned chunk = 0, unsigned bytes = 32) {
    if (const auto location = vectors_.in_memory(value, chunk, bytes)) return moves_.memory(*location, 32);
    return use(value, chunk);
  }
  x86::Ymm scratch() { return x86::ymm(vectors_.scratch()); }
  x86::Ymm define(ir::ValueId value, unsigned chunk = 0) { return x86::ymm(vectors_.define(value, chunk)); }
  x86::Ymm define_over(const CodeInst& inst, unsigned chunk = 0) {
    return x86::ymm(vectors_.define_over(inst, chunk));
  }
  bool is_dying(const CodeInst& inst, unsigned arg, unsigned chunk) {
    return vectors_.is_dying(inst, arg, chunk);
  }
  x86::Ymm take_over(const CodeInst& inst, unsigned arg, unsigned chunk) {
    return x86::ymm(vectors_.take_over(inst, arg, chunk));
  }
  void bind(ir::ValueId value, unsigned chunk, x86::Ymm reg) { vectors_.bind(value, chunk, reg.id()); }
  void share(ir::ValueId value, unsigned chunk, ir::ValueId of, unsigned of_chunk) {
    vectors_.share(value, chunk, of, of_chunk);
  }
  void define_constant(ir::ValueId value, unsigned chunk, const ConstantPool::Entry& entry) {
    vectors_.define_constant(value, chunk, entry);
  }
  const ConstantPool::Entry* constant(ir::ValueId value, unsigned chunk) const {
    return vectors_.constant(value, chunk);
  }

 private:
  codegen::Vectors& vectors_;
  const Moves& moves_;
};

class GeneralRegisters {
 public:
  GeneralRegisters(codegen::Allocator& allocator, const ir::Function& function, const Moves& moves)
      : allocator_(allocator), function_(function), moves_(moves) {}

  x86::Gp use(ir::ValueId value) { return x86::gpq(allocator_.generals.use(value)); }
  /// A register, memory of the value's size, or an immediate of 32 bits.
  asmjit::Operand operand(ir::ValueId value) {
    const unsigned bytes = ir::size_of(function_.values[value].type);
    if (const std::uint64_t* constant = allocator_.constant(value)) {
      const auto wide = static_cast<std::int64_t>(*constant);
      if (bytes <= 4) return asmjit::Imm(static_cast<std::int32_t>(*constant));
      if (wide == static_cast<std::int32_t>(wide)) return asmjit::Imm(wide);
    }
    const auto location = allocator_.generals.in_memory(value);
    if (location && bytes >= 4) return moves_.memory(*location, bytes);
    return use(value);
  }
  x86::Gp use_pointer(codegen::Location from) { return x86::gpq(allocator_.generals.use_pointer(from)); }
  x86::Gp scratch() { return x86::gpq(allocator_.generals.scratch()); }
  x86::Gp define(ir::ValueId value) { return x86::gpq(allocator_.generals.define(value)); }
  x86::Gp define_over(const CodeInst& inst, unsigned arg) {
    return x86::gpq(allocator_.generals.define_over(inst, arg));
  }
  bool is_dying(const CodeInst& inst, unsigned arg) const { return allocator_.generals.is_dying(inst, arg); }

 private:
  codegen::Allocator& allocator_;
  const ir::Function& function_;
  const Moves& moves_;
};

class MaskRegisters {
 public:
  explicit MaskRegisters(codegen::Allocator& allocator) : allocator_(allocator) {}

  x86::Gp bits(ir::ValueId mask) { return x86::gpq(allocator_.masks.bits(mask)); }
  x86::Ymm lanes(ir::ValueId mask, unsigned width, unsigned chunk) {
    return x86::ymm(allocator_.masks.lanes(mask, width, chunk));
  }
  /// Whether a vector holds them already.
  bool holds_lanes(ir::ValueId mask, unsigned width, unsigned chunk) const {
    return allocator_.masks.holds_lanes(mask, width, chunk);
  }
  /// Whether something behind this access uses lanes of its mask.
  bool needs_lanes_behind(const CodeInst& access) const {
    return allocator_.masks.needs_lanes_behind(access);
  }
  /// Lanes of which only the sign bit is valid.
  x86::Ymm signs(ir::ValueId mask, unsigned width, unsigned chunk) {
    return x86::ymm(allocator_.masks.signs(mask, width, chunk));
  }
  bool is_used_in_bits(const CodeInst& inst) const { return allocator_.masks.is_used_in_bits(inst); }
  codegen::MaskForms forms(const CodeInst& inst) { return allocator_.masks.forms(inst); }
  bool has_whole_lanes(ir::ValueId mask, unsigned width) const {
    return allocator_.masks.has_whole_lanes(mask, width);
  }
  void keep_signs_only(ir::ValueId mask, unsigned width) { allocator_.masks.keep_signs_only(mask, width); }
  /// A mask register.
  x86::KReg chunk(ir::ValueId mask, unsigned width, unsigned chunk) {
    return x86::k(allocator_.masks.chunk(mask, width, chunk));
  }
  x86::KReg define_chunk(ir::ValueId mask, unsigned chunk) {
    return x86::k(allocator_.masks.define_chunk(mask, chunk));
  }
  x86::Gp define_bits(ir::ValueId mask) { return x86::gpq(allocator_.generals.define(mask)); }
  void keep_in_vectors(ir::ValueId mask) { allocator_.masks.keep_in_vectors(mask); }
  bool in_vectors(ir::ValueId mask) const { return allocator_.masks.in_vectors(mask); }
  bool suits_vectors(const CodeInst& compare, unsigned width) const {
    return allocator_.masks.suits_vectors(compare, width);
  }
  void define_lanes(ir::ValueId mask, unsigned width) { allocator_.masks.define_lanes(mask, width); }
  void note_part(ir::ValueId mask, ir::ValueId of, unsigned first_lane) {
    allocator_.masks.note_part(mask, of, first_lane);
  }
  bool take_part(const CodeInst& slice) { return allocator_.masks.take_part(slice); }

 private:
  codegen::Allocator& allocator_;
};

class SlotRegisters {
 public:
  SlotRegisters(codegen::Slots& slots, const Moves& moves) : slots_(slots), moves_(moves) {}

  x86::Ymm use(unsigned slot) { return x86::ymm(slots_.use(slot)); }
  asmjit::Operand operand(unsigned slot) {
    if (const auto location = slots_.in_memory(slot)) return moves_.memory(*location, 32);
    return use(slot);
  }
  void set(unsigned slot, x86::Ymm reg) { slots_.set(slot, reg.id()); }
  /// Whether one of them is newer in a register than in memory.
  bool is_newer(SlotRange range) const {
    for (unsigned slot = range.first; slot <= range.last; ++slot)
      if (slots_.is_newer(slot)) return true;
    return false;
  }
  /// Whether the slots of a partial write should stay in registers.
  bool is_joined(const CodeInst& write) const {
    const SlotRange range = slots_of(write, target.vector_bytes);
    for (unsigned slot = range.first; slot <= range.last; ++slot)
      if (slots_.is_joined(slot, bytes_of(write, slot, target.vector_bytes))) return true;
    return false;
  }
  void write_back(unsigned offset, unsigned bytes) { slots_.write_back(offset, bytes); }
  void write_back_and_invalidate(unsigned offset, unsigned bytes) {
    slots_.write_back_and_invalidate(offset, bytes);
  }
  /// Bytes of the register file in memory.
  x86::Mem memory(unsigned offset, unsigned bytes) const {
    return moves_.memory(codegen::Location::file(offset), bytes);
  }

 private:
  codegen::Slots& slots_;
  const Moves& moves_;
};

}  // namespace eum::jit::avx2
