// Divergent branches in the version of a block for all channels active: the mask is split out of line, when
// some channels go one way and some the other.
#include "jit/analysis/reconvergence.hpp"
#include "jit/avx2/compiler.hpp"
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::avx2 {

void Compiler::part(const codegen::PartingBranch& parting) {
  const ir::BlockId taken = parting.branch->targets.taken, none = parting.branch->targets.fallthrough;
  annotate(*parting.branch);
  follow_mode(*parting.branch);
  const x86::Gp bits = m.bits(parting.bits).r32();
  const asmjit::Imm all(static_cast<std::int32_t>(ir::lane_mask(function.simd)));
  const asmjit::Label some = a.newLabel(), other = a.newLabel();
  const auto all_go = [&] { parting.bits_go ? a.cmp(bits, all) : a.test(bits, bits); };
  const auto none_goes = [&] { parting.bits_go ? a.test(bits, bits) : a.cmp(bits, all); };
  const auto go = [&] {
    pause_if_due(taken);
    enter_same_version(taken);
  };
  // If no channel goes, and the other block unparks all of them, they need not be parked.
  const bool come_back = reconverges_from(function, function.blocks[none]) == parting.variable &&
                         !function.blocks[none].safepoint;
  all_go();
  if (!come_back) {
    a.jne(some);
    go();
  } else if (is_next(taken, full_)) {
    a.je(other);
    none_goes();
    a.jne(some);
    enter_same_version(none);
    a.bind(other);
    go();
  } else {
    a.jne(other);
    go();
    a.bind(other);
    none_goes();
    a.jne(some);
    enter_same_version(none);
  }
  const std::uint32_t row = row_of_dirty(needed(taken, false) | needed(none, false));
  const OuterMasks::Split* const split = outer_masks.split_of(current_);
  out_of_line(row, [this, split, parting, some, bits, all, row, taken, none, come_back] {
    a.bind(some);
    for (const codegen::CachedSlot& cached : data.exits.slots(row))
      store(cached.slot * avx2::target.vector_bytes, x86::ymm(cached.reg), avx2::target.vector_bytes);
    if (split && !split->splits_again) keep_outer_mask(*split);
    if (parting.bits_go) a.mov(mask_reg, bits);
    if (parting.bits_go) a.xor_(bits, all);
    a.or_(mask_variable(parting.variable), bits);
    if (!parting.bits_go) a.xor_(bits, all);
    if (!parting.bits_go) a.mov(mask_reg, bits);
    const asmjit::Label goes = a.newLabel();
    if (!come_back) {
      a.test(mask_reg, mask_reg);
      a.jnz(goes);
      enter_partial(none);
      a.bind(goes);
    }
    enter_partial(taken);
  });
}

void Compiler::keep_outer_mask(const OuterMasks::Split& split) {
  a.mov(mask_variable(function.mask_variables + split.number),
        static_cast<std::int32_t>(ir::lane_mask(function.simd)));
}

/// Called from out of line, with every slot in memory.
void Compiler::enter_partial(ir::BlockId target) {
  if (!function.blocks[target].safepoint) return (void)a.jmp(memory_entry(target, false));
  a.test(budget_reg, budget_reg);
  a.jg(memory_entry(target, false));
  a.mov(state(offsetof(ThreadState, resume), 4), target);
  leave(Status::Paused);
}

}  // namespace eum::jit::avx2
