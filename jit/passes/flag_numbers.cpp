// Masks that have gone through numbers. Compilers save flags in registers while they use these for something
// else, and compute with them as numbers of 16 or 32 bits:
//   mov r29.4:ud f1.0, ..., mov f0.0 r29.4:ud     not f1.1:uw f0.1:uw     mov f1.0:uw 0
// As masks, results of comparisons stay in lanes, and it is known to which channels a flag belongs.
#include <vector>

#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

class BlockMasks {
 public:
  explicit BlockMasks(Function& function) : function_(function), out_(function) {}

  void run(Block& block) {
    out_.clear();
    bool changes = false;
    for (const Inst& source : block.insts) {
      Inst inst = source;
      same_.resolve(function_, inst);
      const ValueId same = is_mask(inst.type) && inst.result_count == 1 ? simpler(inst) : no_value;
      if (same == no_value) {
        out_.keep(inst);
        continue;
      }
      same_.add(inst.result, same);
      changes = true;
    }
    if (changes) out_.replace(block);
  }

 private:
  const Inst* definition(ValueId value) const { return out_.definition(value); }

  /// An equal value; no_value: there is none.
  ValueId simpler(const Inst& inst) {
    ip_ = inst.guest_ip;
    if (inst.op == Op::slice)
      return part_of(function_.arg(inst, 0), static_cast<unsigned>(inst.imm), inst.lanes);
    if (inst.op != Op::bits_mask || !is_of_masks(function_.arg(inst, 0), 0)) return no_value;
    return mask_of(function_.arg(inst, 0), inst.lanes);
  }
  /// Lanes of one operand of a concat.
  ValueId part_of(ValueId mask, unsigned first, unsigned lanes) const {
    const Inst* whole = definition(mask);
    while (whole && whole->op == Op::concat) {
      const unsigned low = function_.values[function_.arg(*whole, 0)].lanes;
      if (first < low && first + lanes > low) return no_value;
      mask = function_.arg(*whole, first < low ? 0 : 1);
      if (first >= low) first -= low;
      if (first == 0 && function_.values[mask].lanes == lanes) return mask;
      whole = definition(mask);
    }
    return no_value;
  }

  /// Whether the number consists of bits of masks and constants, and logical ops on these.
  bool is_of_masks(ValueId number, unsigned depth) const {
    const Inst* inst = definition(number);
    if (!inst || depth == deepest) return false;
    switch (inst->op) {
      case Op::constant:
      case Op::mask_bits:
        return true;
      case Op::not_:
        return is_of_masks(function_.arg(*inst, 0), depth + 1);
      case Op::and_:
      case Op::or_:
      case Op::xor_:
      case Op::andn:
        return is_of_masks(function_.arg(*inst, 0), depth + 1) &&
               is_of_masks(function_.arg(*inst, 1), depth + 1);
      default:
        return false;
    }
  }
  /// The lowest bits of such a number.
  ValueId mask_of(ValueId number, unsigned lanes) {
    const Inst inst = *definition(number);
    switch (inst.op) {
      case Op::constant:
        return constant(inst.imm & lane_mask(lanes), lanes);
      case Op::mask_bits:
        return lowest(function_.arg(inst, 0), lanes);
      case Op::not_:
        return out_.append(make_op(Op::not_, Type::m, lanes, ip_), {mask_of(function_.arg(inst, 0), lanes)});
      default: {
        const ValueId a = mask_of(function_.arg(inst, 0), lanes), b = mask_of(function_.arg(inst, 1), lanes);
        return out_.append(make_op(inst.op, Type::m, lanes, ip_), {a, b});
      }
    }
  }
  ValueId lowest(ValueId mask, unsigned lanes) {
    const unsigned has = function_.values[mask].lanes;
    if (has == lanes) return mask;
    if (has < lanes)
      return out_.append(make_op(Op::concat, Type::m, lanes, ip_), {mask, constant(0, lanes - has)});
    const ValueId part = part_of(mask, 0, lanes);
    return part != no_value ? part : out_.append(make_op(Op::slice, Type::m, lanes, ip_), {mask});
  }
  ValueId constant(std::uint64_t bits, unsigned lanes) {
    Inst inst = make_op(Op::constant, Type::m, lanes, ip_);
    inst.imm = bits;
    return out_.append(inst, {});
  }

  static constexpr unsigned deepest = 4;

  Function& function_;
  NewBlock out_;
  SameValues same_;
  std::uint32_t ip_ = 0;
};

}  // namespace

void flag_numbers(Function& function) {
  run_on_blocks_with<BlockMasks>(function, [](const Inst& inst) { return inst.op == Op::bits_mask; });
}

}  // namespace eum::jit
