#pragma once
// What the emitters of memory ops share. An access has up to three paths: the addresses are consecutive (one
// vector move), they are in bounds (gather, rows, or a loop over the lanes), or anything else (a call of
// jit/access.hpp). Whatever is accessed in line comes from a CheckedAddress.
#include "jit/access.hpp"
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::avx2::emit {

/// Every register that an access may need is taken before its first branch: code that spills or fetches a
/// value must not stand on one path and be missing on another.
struct AccessRegisters {
  x86::Ymm t, u, v;
  std::array<x86::Ymm, 2> mask;  // 32-bit lanes, if there is a mask
  x86::Gp limit, base, first, bits, lane, address, value;
};

/// Guest memory that has been found to lie inside its space, and the only way to an operand that names it.
/// MemorySite::check makes it; asking for a byte that was not checked is a bug of ours and throws.
class CheckedAddress {
 public:
  /// `bytes` of a run from `offset` behind its first address.
  x86::Mem at(unsigned offset, unsigned bytes) const;
  /// `bytes` from `offset` behind the address of one lane, which `address` holds.
  x86::Mem lane(x86::Gp address, unsigned offset, unsigned bytes) const;
  /// The same for each lane of a chunk of 32-bit addresses, as gathers want it.
  x86::Mem gather(x86::Ymm addresses, unsigned offset, unsigned bytes) const;

 private:
  friend class MemorySite;
  CheckedAddress(x86::Gp base, x86::Gp index, unsigned extent)
      : base_(base), index_(index), extent_(extent) {}
  int displacement(unsigned offset, unsigned bytes) const;

  x86::Gp base_, index_;
  unsigned extent_;
};

/// What an access addresses: a run of bytes from one address, or each lane's own place.
struct Addresses {
  enum class Kind : std::uint8_t { Run, Lanes } kind;
  x86::Gp first;  ///< of a run: a 64-bit register; the upper half of a 32-bit address is 0

  static Addresses run(x86::Gp first) { return {Kind::Run, first}; }
  static Addresses lanes() { return {Kind::Lanes, {}}; }
};

/// load, store, atomic, block_load or block_store of jit/access.hpp.
using AccessFunction = decltype(CodeData::CallSite::function);
/// A store's function, which only reads the data, as what every site has.
template <auto function>
bool on_data(const Environment& environment, const Access& access, const AccessOperands& operands, void* data,
             Fault& fault) {
  return function(environment, access, operands, data, fault);
}

class MemorySite {
 public:
  MemorySite(Compiler& c, const CodeInst& inst);

  /// Brings the bits of the mask into a register, before anything is pinned: a mask in vectors takes up to
  /// four.
  void fetch_mask_bits();
  /// Takes the registers of an access in vectors, and brings its addresses and mask into registers.
  void acquire();
  /// Takes the registers of an access of one address, and copies the address into reg.first.
  void acquire_scalar();
  AccessRegisters reg;

  // Operands.
  ir::ValueId addresses() const { return inst_.args[first_arg_]; }
  /// The k-th operand behind the addresses.
  ir::ValueId data(unsigned k) const { return inst_.args[first_arg_ + 1 + k]; }
  unsigned data_count() const { return inst_.arg_count - first_arg_ - 1; }
  bool masked() const { return inst_.mask != ir::no_value; }

  /// Addresses are those of the address space, whose regions are found at run time.
  bool in_space() const { return ir::info(access_.space).in_space; }
  bool wide() const { return ir::info(access_.space).address == ir::Type::u64; }
  unsigned element() const { return ir::size_of(inst_.type); }
  /// Of one component of all lanes.
  unsigned bytes() const { return inst_.lanes * element(); }
  unsigned components() const { return access_.component_count(); }
  /// From an address to the k-th component that is accessed.
  unsigned component_offset(unsigned k) const { return access_.offset + access_.component(k) * element(); }
  /// Bytes from the address to the end of the last component.
  unsigned extent() const { return component_offset(components() - 1) + element(); }
  /// A large immediate offset leaves the access to the call.
  bool offset_fits() const { return access_.offset < (1u << 20); }
  /// Whether accesses through vectors may be emitted in line: lanes, element and offset allow it.
  bool in_vectors() const;

  /// Jumps to `otherwise` unless the addresses are a0, a0 + element, ... ; reg.first = a0.
  void check_consecutive(asmjit::Label otherwise);
  /// The bounds rule of every access: jumps to `otherwise` unless the `extent` bytes from each address (under
  /// the mask, if there is one) lie inside the space that can be reached directly. Uses reg.limit, reg.base,
  /// and for lanes reg.first, reg.t and reg.u; 64-bit addresses can only be a run.
  CheckedAddress check(const Addresses& addresses, unsigned extent, asmjit::Label otherwise);

  /// The call that serves everything; its code lies out of line, begins at `entry` and ends with a jump to
  /// `done`. `before` stores addresses and data to the frame, `after` fetches results.
  void call_out_of_line(asmjit::Label entry, asmjit::Label done, AccessFunction function,
                        std::function<void()> before, std::function<void()> after);
  /// The same, in line.
  void call_inline(AccessFunction function);

  /// `bytes` of guest memory, a multiple of 4 or a power of two, to or from the chunk's register. Not one
  /// byte more is touched.
  void load_chunk(x86::Ymm to, const CheckedAddress& from, unsigned offset, unsigned bytes);
  void store_chunk(const CheckedAddress& to, unsigned offset, x86::Ymm from, unsigned bytes);

  /// reg.bits = the lanes that are accessed.
  void load_lane_bits();

 private:
  class Call;
  void load_window(asmjit::Label otherwise);

  Compiler& c_;
  const CodeInst& inst_;
  const ir::MemoryAccess& access_;
  unsigned first_arg_;
};

}  // namespace eum::jit::avx2::emit
