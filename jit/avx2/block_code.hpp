#pragma once
// One version of a block, ready for emission: with all channels on, masks fold away; what nothing needs is
// gone; and of each operand it is known which instruction uses the value next.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/passes/liveness.hpp"

namespace eum::jit {

inline constexpr std::uint32_t never = ~0u;
inline constexpr std::size_t mask_arg = ir::max_args;  ///< index of the mask operand in CodeInst::next_use

struct CodeInst : ir::Inst {
  /// Of each operand, then of the mask: the instruction that uses the value next; never = this is the last
  /// use.
  std::array<std::uint32_t, ir::max_args + 1> next_use;
  /// Bit c: chunk c of a masked reg_write may overwrite the channels outside the mask.
  std::uint8_t overwrite = 0;
};

class BlockCode {
 public:
  BlockCode(const ir::Function& function, const Liveness& liveness);

  /// Makes the version of `block` for all channels on (`full`), or for any execution mask.
  void build(ir::BlockId block, bool full);

  std::span<const CodeInst> insts() const { return insts_; }
  /// The first use of result `index` of instruction `i`.
  std::uint32_t first_use(std::size_t i, unsigned index) const { return first_use_[i][index]; }
  /// The first instruction from `position` on that reads the slot, or never.
  std::uint32_t next_read(unsigned slot, std::uint32_t position) const;
  /// The slot must be in its home when the block ends.
  bool live_out(unsigned slot) const { return live_out_[slot]; }
  /// The block changes the execution mask.
  bool changes_mask() const { return changes_mask_; }

 private:
  void fold(ir::BlockId block, bool full);
  bool fold_mask(CodeInst& inst);
  void drop_dead(ir::BlockId block, bool full);
  void index_slot_reads();
  ir::ValueId resolve(ir::ValueId value) const { return value == ir::no_value ? value : alias_[value]; }
  const std::uint32_t* constant(ir::ValueId value) const {
    return value != ir::no_value && is_constant_[value] ? &constant_[value] : nullptr;
  }

  const ir::Function& function_;
  const Liveness& liveness_;
  std::vector<CodeInst> folded_, insts_;
  std::vector<std::uint32_t> origin_;  // index in the block of each folded instruction
  std::vector<std::array<std::uint32_t, 4>> first_use_;
  std::vector<ir::ValueId> alias_;
  std::vector<std::uint32_t> constant_;
  std::vector<std::uint8_t> is_constant_;
  std::vector<std::uint32_t> last_seen_;
  std::vector<std::uint32_t> read_begin_, read_next_, reads_, gathers_;
  SlotSet live_out_;
  bool changes_mask_ = false;
};

}  // namespace eum::jit
