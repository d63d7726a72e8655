#pragma once
// What the emitters of memory ops share. An access has up to three ways: the addresses are consecutive (one
// vector move), they are in bounds (gather, rows, or a loop over the lanes), or anything else (a call of
// jit/access.hpp).
#include "jit/access.hpp"
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::emit {

/// Every register that an access may need is taken before its first branch: code that spills or fetches a
/// value must not stand on one way and be missing on another.
struct AccessRegisters {
  x86::Ymm t, u, v;
  std::array<x86::Ymm, 2> mask;  // 32-bit lanes, if there is a mask
  x86::Gp limit, base, first, bits, lane, address, value;
};

class MemorySite {
 public:
  MemorySite(Compiler& c, const CodeInst& inst);

  /// Brings the bits of the mask into a register, before anything is pinned: a mask in vectors takes up to
  /// four.
  void fetch_mask_bits();
  /// Takes the registers of an access in vectors, and brings its addresses and mask into registers.
  void acquire();
  AccessRegisters reg;

  bool surface() const { return inst_.mem.space == ir::MemSpace::Surface && inst_.from == ir::Type::u32; }
  unsigned element() const { return ir::size_of(inst_.type); }
  unsigned bytes() const { return inst_.lanes * element(); }
  unsigned components() const { return static_cast<unsigned>(__builtin_popcount(inst_.mem.components)); }
  /// Byte offset of the k-th component that is accessed.
  unsigned component_offset(unsigned k) const;
  /// Bytes from the address to the end of the last component.
  unsigned extent() const;

  x86::Mem surface_base() const;
  x86::Mem surface_size() const;

  /// `limit` = the highest address in bounds; jumps to `otherwise` if the surface is too small for any
  /// element, or too large for signed 32-bit indices.
  void load_limit(asmjit::Label otherwise);
  /// Jumps to `otherwise` unless the addresses are a0, a0 + element, ... ; `first` = a0.
  void check_consecutive(asmjit::Label otherwise);
  /// Jumps to `otherwise` unless every address is at most `limit`; with a mask, every address under it.
  void check_bounds(asmjit::Label otherwise);
  /// `first` becomes the host address, if the `size` bytes there are in the region of the last A64 access.
  void translate_a64(unsigned size, asmjit::Label otherwise);

  /// The call that serves everything; its code lies apart, begins at `entry` and ends with a jump to `done`.
  /// `before` stores addresses and data to the frame, `after` fetches results.
  void call_apart(asmjit::Label entry, asmjit::Label done, const void* function, std::function<void()> before,
                  std::function<void()> after);
  /// The same, in line.
  void call_here(const void* function);

  /// The lanes of a value to the frame at `offset`, which need not be aligned.
  void store_operand(ir::ValueId value, int offset);

  /// `bits` = the lanes that are accessed.
  void load_lane_bits();

 private:
  Compiler& c_;
  const CodeInst& inst_;
};

/// A thunk for translated code: false = a fault is in the state.
using AccessThunk = bool (*)(ThreadState*, const Access*, const void* addresses, void* data,
                             std::uint32_t mask);
const void* load_thunk();
const void* store_thunk();
const void* atomic_thunk();
const void* block_load_thunk();
const void* block_store_thunk();

}  // namespace eum::jit::emit
