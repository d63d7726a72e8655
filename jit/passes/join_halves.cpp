// 64-bit values that are written in halves. Messages move dwords, and hardware without 64-bit arithmetic
// computes on dwords: halves go to the even and to the odd dwords of registers. Each such write takes the
// registers apart and puts them together again, or is a partial store for which the next read of the whole
// has to wait. If both are written and nothing reads them in between, the whole is written.
#include <algorithm>
#include <vector>

#include "jit/analysis/liveness.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

class BlockJoiner {
 public:
  explicit BlockJoiner(Function& function) : function_(function), out_(function) {}

  void run(Block& block) {
    find_wholes(block);
    const auto is_half_write = [&](const Inst& inst) { return inst.op == Op::reg_write && is_half(inst); };
    if (std::ranges::count_if(block.insts, is_half_write) < 2) return;
    pending_.clear();
    out_.clear();
    bool changed = false;
    for (const Inst& inst : block.insts) {
      if (!is_half_write(inst)) {
        settle(inst);
        out_.keep(inst);
      } else if (const Half* other = partner(inst)) {
        changed = true;
        join(*other, inst);
      } else {
        settle(inst);
        pending_.push_back({inst, out_.insts().size()});
        out_.keep(inst);
      }
    }
    if (!changed) return;
    std::erase_if(out_.insts(), [](const Inst& inst) { return inst.op == Op::reg_write && inst.lanes == 0; });
    out_.replace(block);
  }

 private:
  /// A write that may still become a part of another.
  struct Half {
    Inst write;
    std::size_t index;  ///< in out_
  };

  /// Single dwords are halves only where the block reads 64 bits there.
  void find_wholes(const Block& block) {
    wholes_.clear();
    for (const Inst& inst : block.insts) {
      if (inst.op != Op::reg_read || size_of(inst.type) != 8 || inst.region.offset % 8 != 0) continue;
      const SlotRange range = slots_of(inst, 8);
      for (unsigned whole = range.first; whole <= range.last; ++whole) wholes_.push_back(whole * 8);
    }
    std::ranges::sort(wholes_);
  }
  bool is_half(const Inst& inst) const {
    if (size_of(inst.type) != 4 || inst.region.offset % 4 != 0) return false;
    if (inst.lanes == 1) return std::ranges::binary_search(wholes_, whole_of(inst));
    return inst.region.stride(inst.lanes) == 2;
  }
  static unsigned whole_of(const Inst& inst) { return inst.region.offset & ~7u; }

  const Half* partner(const Inst& inst) const {
    for (const Half& half : pending_)
      if (half.write.lanes == inst.lanes && half.write.mask == inst.mask &&
          whole_of(half.write) == whole_of(inst) && half.write.region.offset != inst.region.offset)
        return &half;
    return nullptr;
  }

  /// Writes that `inst` reads or overwrites, or that must be done if a thread leaves there, stay as they are.
  void settle(const Inst& inst) {
    if (pending_.empty()) return;
    if (may_leave(inst.op) || inst.op == Op::reg_gather || inst.op == Op::reg_scatter)
      return pending_.clear();
    if (inst.op != Op::reg_read && inst.op != Op::reg_write) return;
    constexpr unsigned granule = 4;
    const SlotRange range = slots_of(inst, granule);
    std::erase_if(pending_, [&](const Half& half) { return overlap(range, slots_of(half.write, granule)); });
  }

  ValueId dwords(const Inst& write) {
    const ValueId value = function_.arg(write, 0);
    return out_.converted(Op::bitcast, Type::u32, value, write.guest_ip);
  }
  /// The value of a write, if it is a constant directly before it.
  const Inst* constant(const Inst& write, std::size_t index) const {
    if (index == 0 || out_.insts()[index - 1].op != Op::constant) return nullptr;
    return out_.insts()[index - 1].result == function_.arg(write, 0) ? &out_.insts()[index - 1] : nullptr;
  }

  void join(const Half& other, const Inst& inst) {
    const bool is_high = inst.region.offset % 8 != 0;
    const Inst* known = constant(inst, out_.insts().size());
    const Inst* known_before = constant(other.write, other.index);
    Inst both = make_op(Op::join, Type::u64, inst.lanes, inst.guest_ip);
    ValueId whole;
    if (known && known_before) {
      const Inst &low = is_high ? *known_before : *known, &high = is_high ? *known : *known_before;
      both.op = Op::constant;
      both.imm = (low.imm & ~0u) | high.imm << 32;
      whole = out_.append(both, {});
    } else {
      const ValueId given = dwords(inst), before = dwords(other.write);
      whole = out_.append(both, {is_high ? before : given, is_high ? given : before});
    }
    Inst write = inst;
    write.type = Type::u64;
    write.region = Region::packed(whole_of(inst));
    function_.set_args(write, {whole});
    // Other pending writes in the joined region must not move behind it.
    out_.insts()[other.index].lanes = 0;
    std::erase_if(pending_, [&](const Half& half) { return half.index == other.index; });
    settle(write);
    out_.keep(write);
  }

  Function& function_;
  std::vector<Half> pending_;
  std::vector<unsigned> wholes_;  ///< places of 64 bits that are read, in order
  NewBlock out_;
};

}  // namespace

void join_halves(Function& function) {
  BlockJoiner joiner(function);
  for (Block& block : function.blocks) joiner.run(block);
}

}  // namespace eum::jit
