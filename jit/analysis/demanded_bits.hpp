#pragma once
// Which bits of a block's integers are used.
#include <bit>
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"

namespace eum::jit {

class DemandedBits {
 public:
  using Bits = std::uint64_t;

  void find(const ir::Function& function, const ir::Block& block) {
    using ir::Op;
    constants_.resize(function.values.size(), ~Bits{0});
    for (const ir::Inst& inst : block.insts)
      if (inst.op == Op::constant) constants_[inst.result] = inst.imm;
    for (auto i = block.insts.rbegin(); i != block.insts.rend(); ++i) {
      const ir::Inst& inst = *i;
      const auto args = function.args(inst);
      const auto demand = [&](unsigned k, Bits bits) { at(args[k]) |= bits; };
      const auto demand_of_all = [&](Bits bits) {
        for (const ir::ValueId arg : args) at(arg) |= bits;
      };
      if (inst.result_count != 1 || !ir::is_int(inst.type) || inst.mask != ir::no_value) {
        demand_of_all(~Bits{0});
        continue;
      }
      const Bits wanted = of(inst.result) & all_of(inst.type);
      // Carries only go up.
      const Bits below = wanted == 0 ? 0 : ~Bits{0} >> std::countl_zero(wanted);
      switch (inst.op) {
        case Op::add:
        case Op::sub:
        case Op::mul:
        case Op::mad:
        case Op::neg:
          demand_of_all(below);
          break;
        case Op::shl:
          demand(0, below);
          demand(1, ~Bits{0});
          break;
        case Op::and_:
          for (const unsigned k : {0u, 1u}) demand(k, wanted & constants_[args[1 - k]]);
          break;
        case Op::or_:
        case Op::xor_:
        case Op::not_:
        case Op::slice:
        case Op::concat:
        case Op::splat:
          demand_of_all(wanted);
          break;
        case Op::bfi2:
          demand(0, ~Bits{0});
          demand(1, wanted & constants_[args[0]]);
          demand(2, constants_[args[0]] == ~Bits{0} ? wanted : wanted & ~constants_[args[0]]);
          break;
        case Op::select:
          demand(0, ~Bits{0});
          for (const unsigned k : {1u, 2u}) demand(k, wanted);
          break;
        case Op::bitcast:
          demand(0, ir::is_int(inst.from) ? wanted : ~Bits{0});
          break;
        case Op::convert:
          if (!ir::is_int(inst.from)) {
            demand(0, ~Bits{0});
          } else {
            const Bits all = all_of(inst.from), sign = all ^ (all >> 1);
            demand(0, (wanted & all) | ((wanted & ~all) != 0 ? sign : 0));
          }
          break;
        default:
          demand_of_all(~Bits{0});
      }
    }
  }
  /// The bits used of a value of the block that find() has seen.
  Bits of(ir::ValueId value) const { return value < demanded_.size() ? demanded_[value] : 0; }

 private:
  static Bits all_of(ir::Type type) { return ~Bits{0} >> (64 - 8 * ir::size_of(type)); }
  Bits& at(ir::ValueId value) {
    if (value >= demanded_.size()) demanded_.resize(value + 1);
    return demanded_[value];
  }
  std::vector<Bits> demanded_;
  std::vector<Bits> constants_;  // of each value: the constant that it is, or all bits
};

}  // namespace eum::jit
