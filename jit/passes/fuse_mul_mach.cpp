// GEN multiplies 32-bit integers in two steps: `mul acc a b.low16`, then `mach r a b`. The accumulator that
// mach reads is by then a value of the same block, so the pair can be seen and made one 64-bit product.
#include <algorithm>

#include "jit/passes/passes.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;
using ir::ValueId;

class Fuser {
 public:
  Fuser(ir::Function& function, ir::Block& block, std::vector<std::uint32_t>& definitions)
      : function_(function), block_(block), definitions_(definitions) {}

  void run() {
    for (std::uint32_t i = 0; i < block_.insts.size(); ++i) {
      Inst& inst = block_.insts[i];
      for (unsigned k = 0; k < inst.result_count; ++k) definitions_[inst.result + k] = i;
      if (inst.op == Op::mach && fits(inst)) {
        inst.op = Op::mul_wide;
        inst.arg_count = 2;
      }
    }
  }

 private:
  const Inst* definition(ValueId value) const {
    std::uint32_t index = definitions_[value];
    if (index >= block_.insts.size()) return nullptr;
    const Inst& inst = block_.insts[index];
    return value >= inst.result && value < inst.result + inst.result_count ? &inst : nullptr;
  }
  /// The value behind copies that keep the bits: splat, bitcast, zero extension.
  const Inst* source(ValueId value) const {
    const Inst* inst = definition(value);
    while (inst && (inst->op == Op::splat || inst->op == Op::bitcast ||
                    (inst->op == Op::convert && ir::is_int(inst->type) && ir::is_int(inst->from) &&
                     (ir::size_of(inst->type) == ir::size_of(inst->from) ||
                      (ir::size_of(inst->type) > ir::size_of(inst->from) && !ir::is_signed(inst->from))))))
      inst = definition(function_.arg(*inst, 0));
    return inst;
  }
  /// `low` is the zero-extended low 16 bits of each lane of `whole`.
  bool is_low_half(ValueId low, ValueId whole) const {
    const Inst* l = source(low);
    const Inst* w = source(whole);
    if (!l || !w) return false;
    if (l->op == Op::constant && w->op == Op::constant)
      return (l->imm & 0xffffffff) == (w->imm & 0xffff) && ir::size_of(l->type) >= 2;
    if (l->op == Op::reg_read && w->op == Op::reg_read && l->type == ir::Type::u16 &&
        ir::size_of(w->type) == 4 && l->lanes == w->lanes && l->region.offset == w->region.offset &&
        same_stride(*l, *w)) {
      auto [first, last] = std::minmax(l, w);
      unsigned begin = w->region.offset, end = w->region.byte_of(w->lanes - 1u, 4) + 4;
      for (const Inst* inst = first; inst != last; ++inst) {
        if (inst->op == Op::reg_scatter) return false;
        if (inst->op != Op::reg_write) continue;
        unsigned bytes = ir::size_of(inst->type);
        for (unsigned lane = 0; lane < inst->lanes; ++lane) {
          unsigned at = inst->region.byte_of(lane, bytes);
          if (at < end && at + bytes > begin) return false;
        }
      }
      return true;
    }
    return false;
  }
  static bool same_stride(const Inst& words, const Inst& dwords) {
    int w = words.region.stride(words.lanes), d = dwords.region.stride(dwords.lanes);
    return words.lanes == 1 || (d > 0 && w == 2 * d);
  }
  bool fits(const Inst& mach) const {
    const Inst* low = definition(function_.arg(mach, 2));
    const Inst* high = definition(function_.arg(mach, 3));
    while (low && low->op == Op::bitcast) low = definition(function_.arg(*low, 0));
    while (high && high->op == Op::bitcast) high = definition(function_.arg(*high, 0));
    if (!low || low != high || low->op != Op::mul_wide || low->type != mach.type) return false;
    if (strip(function_.arg(mach, 2)) != low->result || strip(function_.arg(mach, 3)) != low->result + 1)
      return false;
    return strip(function_.arg(*low, 0)) == strip(function_.arg(mach, 0)) &&
           is_low_half(function_.arg(*low, 1), function_.arg(mach, 1));
  }
  ValueId strip(ValueId value) const {
    const Inst* inst = definition(value);
    while (inst && inst->op == Op::bitcast) {
      value = function_.arg(*inst, 0);
      inst = definition(value);
    }
    return value;
  }

  ir::Function& function_;
  ir::Block& block_;
  std::vector<std::uint32_t>& definitions_;
};

}  // namespace

void fuse_mul_mach(ir::Function& function) {
  std::vector<std::uint32_t> definitions(function.values.size(), ~0u);
  for (ir::Block& block : function.blocks) Fuser(function, block, definitions).run();
}

}  // namespace eum::jit
