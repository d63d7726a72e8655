#pragma once
// Accesses of the register file at addresses known only at run time: reg_gather and reg_scatter.
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
  x86::Mem file(const x86::Reg& index, unsigned offset, unsigned bytes) const {
    x86::Mem memory = x86::ptr(state_reg, static_cast<std::int32_t>(c_.layout.file + offset), bytes);
    memory.setIndex(index);
    return memory;
  }
  /// Fetches the bits alone first: a mask in vectors takes many registers while its bits are collected.
  void fetch_mask();
  /// Brings the operands into registers, and takes a general register for an address.
  void fetch();

  /// Registers for the result.
  void define_results();
  /// The addresses as a value and a constant in each lane, if that is what they are the sum of.
  struct Sum {
    const CodeInst* value = nullptr;  ///< null: they are no such sum
    const ir::PoolEntry* steps = nullptr;
  };
  Sum address_sum() const;

  // ---- Runs
  /// The addresses are a0, a0 + element, ... as long as they do not wrap: one address in every lane plus
  /// constants, as for a region relative to one address register. If they wrap, the address of some lane is
  /// beyond the end, and so is the end of the run.
  bool is_run() const;
  /// first_ = the address of lane 0; jumps to slow_ unless the run from there is in bounds.
  void check_run();
  void one();
  /// 2 to 32 bytes between a register and memory, in the op's direction.
  void move(x86::Ymm vector, x86::Mem place, unsigned bytes);
  void gather_run();
  void scatter_run();

  // ---- An address per lane
  /// Registers that hold four addresses of eight each.
  using Words = std::array<x86::Gp, 2>;
  void load_words(const Words& places, x86::Xmm words);
  /// use(): with a register that holds address `index` of four, which come in this order.
  template <class Use>
  void with_address(const x86::Gp& four, unsigned index, Use use) {
    const bool last = index == 3;
    if (!last) c_.a.movzx(first_.r32(), four.r16());
    use(last ? four.r64() : first_.r64());
    if (!last) c_.a.shr(four.r64(), 16);
  }
  /// Jumps to slow_ if an address exceeds `most`, or with `beyond` if one does not; `free` changes.
  void check(x86::Ymm addresses, unsigned most, x86::Ymm free, bool beyond = false);
  /// The words of lanes 8 * i to 8 * i + 7 of `vectors`, in `free` or where they are.
  x86::Xmm eight_words(const std::vector<x86::Ymm>& vectors, unsigned i, x86::Ymm free);

  // ---- Reads
  void gather_lanes();
  /// Pairs of lanes read the two dwords of a qword, as in the region <2,1>:ud with one address register per
  /// qword.
  bool reads_qwords() const;
  /// check() of all addresses.
  void check_addresses(x86::Ymm free, unsigned most);
  /// Gathers dwords and truncates them to the elements.
  void gather_dwords();
  /// Element by element, which is faster than a gather on EPYCs but takes more code.
  void insert_lanes();
  void insert_qwords();
  /// `to` = the eight dwords at the addresses in `words`.
  void insert_dwords(x86::Ymm to, x86::Ymm upper, x86::Xmm words, const Words& places);
  /// `to` = the eight elements of 1 or 2 bytes at the addresses in `words`.
  void insert_narrow(x86::Xmm to, x86::Xmm words, const Words& places);

  /// One element after the other, without branches: lanes outside the mask write beyond the end of the file.
  void scatter_lanes();

  // ---- The call
  /// Stores the operands to the frame.
  void store_operands() const;
  void store_mask() const;
  void call(const codegen::LiveRegisters& live, const x86::Mem& access) const;
  x86::Mem access() const;
  /// Under a mask: jumps to lone_ if at most one lane is active, as is usual where all channels diverge.
  void go_if_lone();
  /// Out of line, the access of that lane. The other lanes of a read get its element, too.
  void access_lone() const;
  /// Emits the out-of-line path at slow_, and the label to which it returns.
  void finish();
  void call_in_line();

  Compiler& c_;
  const CodeInst& inst_;  // dangles in code out of line
  const unsigned element_, bytes_, end_;
  bool writes_;
  const bool one_by_one_;
  x86::Gp bits_, address_, first_, scalar_;  // scalar_: one lane's data
  x86::Gp lane_;                             // free, for access_lone
  std::vector<x86::Ymm> addresses_, data_;
  const asmjit::Label slow_ = c_.a.newLabel(), done_ = c_.a.newLabel(), lone_ = c_.a.newLabel();
};

}  // namespace eum::jit::avx2::emit
