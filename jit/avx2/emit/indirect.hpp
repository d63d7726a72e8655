#pragma once
// Accesses of the register file at addresses that are known at run time only, a reg_gather or a reg_scatter.
// indirect.cpp has runs, writes and the call that serves the rest; indirect_gather.cpp reads with an address
// per lane.
#include <array>
#include <vector>

#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::avx2::emit {

/// Emits one op. Every register is taken before the first branch.
class Indirect {
 public:
  Indirect(Compiler& c, const CodeInst& inst)
      : c_(c),
        inst_(inst),
        element_(ir::size_of(inst.type)),
        bytes_(inst.lanes * element_),
        end_(c.function.indirect_end()),
        writes_(inst.op == ir::Op::reg_scatter),
        one_by_one_(writes_ && inst.own.given()) {}

  void emit();

 private:
  x86::Mem file(x86::Reg index, unsigned offset, unsigned bytes) const {
    x86::Mem memory = x86::ptr(state_reg, static_cast<std::int32_t>(c_.layout.file + offset), bytes);
    memory.setIndex(index);
    return memory;
  }
  /// A mask in vectors takes many of them while its bits are collected.
  void fetch_mask();
  /// Operands in registers, and a general register for an address.
  void fetch();

  // ---- Runs
  /// The addresses are a0, a0 + element, ... as long as they do not wrap: one address in every lane plus
  /// constants, which is what a region behind one address register is. Where they wrap, some lane's is beyond
  /// the end, and so is the run's end.
  bool is_run() const;
  /// first_ = the address of lane 0; jumps away unless the run from there is in reach.
  void check_run();
  void one();
  /// 2 to 32 bytes between a register and memory, in the op's direction.
  void move(x86::Ymm vector, x86::Mem place, unsigned bytes);
  void gather_run();
  void scatter_run();

  // ---- Reads with an address per lane
  /// Registers with four words of a vector each.
  using Words = std::array<x86::Gp, 2>;
  void gather_lanes();
  /// Each two lanes read the two dwords of one qword, as the region <2,1> of ud behind an address register a
  /// qword does.
  bool reads_qwords() const;
  /// Jumps away unless all addresses are at most `most`.
  void check_addresses(x86::Ymm free, unsigned most);
  /// The words of lanes 8 * i to 8 * i + 7, in `free` or where they are.
  x86::Xmm eight_addresses(unsigned i, x86::Ymm free);
  /// By gathers of dwords, cut to the elements.
  void gather_dwords();
  /// Element by element: an EPYC gathers for longer.
  void insert_lanes();
  void insert_qwords();
  /// `to` = eight dwords at the places in `words`.
  void insert_dwords(x86::Ymm to, x86::Ymm upper, x86::Xmm words, Words places);
  /// `to` = eight elements of 1 or 2 bytes at the places in `words`.
  void insert_narrow(x86::Xmm to, x86::Xmm words, Words places);

  /// One element after the other, without branches: lanes outside the mask go to where nobody looks.
  void scatter_lanes();
  void store_element(const x86::Mem& to, x86::Xmm from, unsigned index);

  // ---- The call
  /// Operands in the frame.
  void store_operands() const;
  void store_mask() const;
  void call(const codegen::LiveRegisters& live, const x86::Mem& access) const;
  x86::Mem access() const;
  /// The way that jumps to slow_ take, and where it comes back.
  void finish();
  void call_in_line();

  Compiler& c_;
  const CodeInst& inst_;
  const unsigned element_, bytes_, end_;
  bool writes_;
  const bool one_by_one_;
  x86::Gp bits_, address_, first_, scalar_;  // scalar_: one lane's data
  std::vector<x86::Ymm> addresses_, data_;
  const asmjit::Label slow_ = c_.a.newLabel(), done_ = c_.a.newLabel();
};

}  // namespace eum::jit::avx2::emit
