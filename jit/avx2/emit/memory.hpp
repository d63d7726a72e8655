#pragma once
// What the emitters of memory ops share: the operands of an access, the check of its addresses, and the call
// of jit/access.hpp that serves whatever is not done in line. Accesses in line use a CheckedAddress.
//
// Every register that an access may need is taken before its first branch: code that spills or fetches a
// value must not be on one path and missing on another. Paths that are rarely taken first are out of line, so
// their emitters hold registers, not values.
#include "jit/access.hpp"
#include "jit/analysis/access_form.hpp"
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::avx2::emit {

/// Guest memory that has been found to be inside its space; the only source of operands that name it.
/// MemorySite's checks create it; a request for a byte that was not checked is an engine bug and throws.
class CheckedAddress {
 public:
  /// `bytes` of a run from `offset` after the first address of its row.
  x86::Mem at(unsigned offset, unsigned bytes, unsigned row = 0) const;
  /// `bytes` from `offset` after the address of one lane, which `address` holds.
  x86::Mem lane(x86::Gp address, unsigned offset, unsigned bytes) const;
  /// The same for each lane of a vector of 32-bit addresses, as gathers need it.
  x86::Mem gather(x86::Vec addresses, unsigned offset, unsigned bytes) const;
  /// Memory `distance` bytes after a byte of a run, which may be outside guest memory: only prefetches, which
  /// never fault, may name it.
  x86::Mem ahead(unsigned offset, int distance, unsigned row = 0) const {
    return of_row(row, behind_ + static_cast<int>(offset) + distance, 0);
  }
  /// The same after the address of one lane.
  x86::Mem ahead_of_lane(x86::Gp address, unsigned offset, int distance) const {
    return x86::ptr(base_, address, 0, static_cast<int>(offset) + distance);
  }

 private:
  friend class MemorySite;
  CheckedAddress(x86::Gp base, std::array<x86::Gp, 2> rows, unsigned extent)
      : base_(base), rows_(rows), extent_(extent) {}
  /// In a window of a codegen::Strip; `index` may be none.
  CheckedAddress(x86::Gp base, x86::Gp index, int behind, unsigned extent)
      : base_(base), rows_{index}, extent_(extent), behind_(behind), is_window_(true) {}
  int displacement(unsigned offset, unsigned bytes) const;
  x86::Mem of_row(unsigned row, int displacement, unsigned bytes) const {
    if (is_window_ && !rows_[row].isValid()) return x86::ptr(base_, displacement, bytes);
    return x86::ptr(base_, rows_[row], 0, displacement, bytes);
  }

  x86::Gp base_;
  std::array<x86::Gp, 2> rows_;
  unsigned extent_;
  int behind_ = 0;
  bool is_window_ = false;
};

/// The registers that hold the operands and the results of an out-of-line call.
struct CallRegisters {
  x86::Gp address = {};                      ///< of all elements
  std::span<const x86::Ymm> addresses = {};  ///< of each lane
  bool in_vectors = true;                    ///< data and results
  std::span<const x86::Ymm> data = {}, results = {};
  std::span<const x86::Gp> generals = {};  ///< data of one lane
  x86::Gp result = {};                     ///< of one lane
};

/// load, store, atomic, block_load or block_store of jit/access.hpp.
using AccessFunction = decltype(CodeData::CallSite::function);
/// Adapts a function, such as a store's, which only reads the data, to AccessFunction.
template <auto function>
bool on_data(const Environment& environment, const Access& access, const AccessOperands& operands, void* data,
             Fault& fault) {
  return function(environment, access, operands, data, fault);
}

/// An access of consecutive lanes of an instruction. Out-of-line code keeps copies for as long as it needs
/// them.
class MemorySite {
 public:
  MemorySite(Compiler& c, const CodeInst& inst) : MemorySite(c, inst, 0, inst.lanes) {}
  MemorySite(Compiler& c, const CodeInst& inst, unsigned first_lane, unsigned lanes);

  // Operands of the instruction, while it is translated.
  ir::ValueId addresses() const { return inst_->args[first_arg_]; }
  /// The k-th operand after the addresses.
  ir::ValueId data(unsigned k) const { return inst_->args[first_data() + k]; }
  unsigned data_count() const { return inst_->arg_count - first_data(); }
  /// The address at which a run begins, if the access is done by runs.
  ir::ValueId first_address(unsigned run) const { return inst_->args[first_arg_ + run]; }
  const CodeInst& inst() const { return *inst_; }

  // What the access is.
  bool by_runs() const { return by_runs_; }
  const ir::MemoryAccess& mem() const { return access_.mem; }
  bool masked() const { return masked_; }
  unsigned first_lane() const { return access_.first_lane; }
  unsigned lanes() const { return access_.lanes; }
  unsigned element() const { return ir::size_of(access_.type); }
  /// Bytes of one component of all lanes.
  unsigned bytes() const { return lanes() * element(); }
  unsigned components() const { return mem().component_count(); }
  const SharedRows& shared() const { return access_.rows; }
  /// Addresses are in the address space, whose regions are found at run time.
  bool in_space() const { return ir::info(mem().space).in_space; }
  bool wide() const { return ir::info(mem().space).address == ir::Type::u64; }
  /// Addresses are distances from a base.
  bool based() const { return mem().is_based(); }
  /// Only the host thread that runs the thread group accesses this memory.
  bool of_one_host_thread() const { return !mem().is_global(); }
  /// Bytes from an address to the k-th component that is accessed.
  unsigned component_offset(unsigned k) const { return mem().offset + mem().component(k) * element(); }
  /// Bytes from the address to the end of the last component.
  unsigned extent() const { return component_offset(components() - 1) + element(); }
  bool does(Optimisation optimisation) const { return c_.optimisations[optimisation]; }
  bool fits_in_line() const { return jit::fits_in_line(c_.optimisations, mem(), lanes()); }

  struct {
    x86::Gp limit, base;
    std::array<x86::Gp, 2> first;  ///< of each row of a run
    x86::Gp surface;               ///< as ir::SurfaceBy says, if it is an operand
    x86::Gp mask;                  ///< bits, if there is a mask: lane first_lane() is bit 0
  } reg;

  /// Takes the registers of an access of `extent` bytes from one address, and returns that of the address,
  /// which check_scalar expects.
  x86::Gp acquire_scalar(unsigned extent);
  /// The same for one whose address must be in a register of its own: copy_address brings it to where
  /// check_runs expects it.
  x86::Gp acquire_scalar_copy();
  void copy_address(x86::Gp address) const;
  /// Takes reg.surface, reg.limit, reg.base.
  void acquire_window();

  // The two forms of the bounds check of every access. Both jump to `otherwise` unless the `extent` bytes
  // from each address are inside the directly accessible memory of the space; in the address space that is
  // the region of an earlier access. They set reg.base, if it has not been loaded.

  /// Runs that begin at each of reg.first, 64-bit registers whose upper half is 0 for 32-bit addresses. In
  /// the address space they are addresses, which become offsets in the region, or `located`: such offsets.
  CheckedAddress check_runs(unsigned rows, unsigned extent, bool located, asmjit::Label otherwise) const;
  /// A run that begins at the address that acquire_scalar has returned.
  CheckedAddress check_scalar(x86::Gp address, unsigned extent, asmjit::Label otherwise) const;
  /// Where the first offset at which no access of so many bytes may begin is stored, if it is.
  struct End {
    x86::Mem at;
    bool is_exact;  ///< else it is the limit for somewhat longer accesses
  };
  std::optional<End> end_of(unsigned extent) const;
  /// In the head of a codegen::Strip, for the access with which a window begins: jumps unless the window of
  /// this thread and those of `more` others are inside the memory; else `begin`, which may be a register that
  /// is not the allocator's, = the host address of this thread's. `step` holds its step if that is no
  /// constant.
  void check_window(const codegen::Strip::Window& window, x86::Gp more, const x86::Mem& step, x86::Gp begin,
                    asmjit::Label otherwise) const;
  /// check_runs by that end. The registers hold the unmodified addresses, and anything in bits 32 and up of
  /// 32-bit ones.
  CheckedAddress check_runs_by_end(std::span<const x86::Gp> addresses, unsigned extent,
                                   asmjit::Label otherwise) const;
  /// Offsets of the lanes in that memory, eight per vector, with masks of the active ones, if not all are
  /// active.
  struct Lanes {
    std::span<const x86::Ymm> places, masks;
    x86::Ymm t, u, v;  ///< free
    x86::Gp free;
  };
  /// reg.limit and each lane of t = the last offset in bounds.
  CheckedAddress check_lanes(const Lanes& lanes, unsigned extent, asmjit::Label otherwise) const;
  /// The entry of ThreadState::regions that the site uses.
  x86::Mem region(std::size_t field, unsigned bytes) const;

  /// The call that serves every access; its code is out of line, begins at `entry` and ends with a jump to
  /// `done`.
  void call_out_of_line(asmjit::Label entry, asmjit::Label done, AccessFunction function,
                        const CallRegisters& registers) const;
  /// The same, in line.
  void call_inline(AccessFunction function);

  /// Moves `bytes` of guest memory, a multiple of 4 or a power of two, to or from a register. No other byte
  /// is touched. A store may need a register.
  void load_chunk(x86::Ymm to, const CheckedAddress& from, unsigned offset, unsigned bytes) const;
  void store_chunk(const CheckedAddress& to, unsigned offset, x86::Ymm from, unsigned bytes,
                   x86::Ymm free) const;
  /// A block of dwords from a surface whose size the code knows how to find. Compilers load whole powers of
  /// two from arrays that are not.
  bool may_end_inside() const;
  /// Where check_scalar has found that not all of that block is inside: code out of line, at `entry`, that
  /// loads what is, with 0 for the rest, and jumps to `done`, or to `otherwise` if nothing is.
  void load_to_end(asmjit::Label entry, asmjit::Label done, asmjit::Label otherwise, x86::Gp address,
                   std::span<const x86::Ymm> results) const;

 protected:
  void take_lanes(unsigned first, unsigned count) {
    access_.first_lane = static_cast<std::uint8_t>(first);
    access_.lanes = static_cast<std::uint8_t>(count);
  }
  void set_guest_ip(std::uint32_t ip) { access_.guest_ip = ip; }
  /// Takes reg.base, with the address of the space's memory if that stays the same within a block.
  void acquire_base();
  /// For an access with a window of a codegen::Strip: takes reg.base if it needs it.
  void acquire_strip_window();
  /// The current thread's run, from `behind` bytes after its first address on.
  CheckedAddress in_strip_window(unsigned behind, unsigned extent) const;

  Compiler& c_;

 private:
  /// The operands for the host address and the size in bytes of the space's memory.
  struct Window {
    x86::Mem base, size;
  };
  x86::Gp acquire_address();
  unsigned first_data() const {
    return inst_->window != 0 ? 0 : first_arg_ + std::max<unsigned>(1, inst_->runs);
  }
  /// May use reg.base.
  Window find_window(asmjit::Label otherwise) const;
  /// Where that address is; nothing if reg.base is to be loaded by each check.
  std::optional<codegen::Location> kept_base() const;
  void set_base(const Window& window) const;

  const CodeInst* inst_;  // dangles in code out of line
  Access access_;
  unsigned first_arg_;
  bool masked_, by_runs_;
  bool has_base_ = false;  ///< reg.base has been loaded, and must not be written
};

}  // namespace eum::jit::avx2::emit
