#pragma once
// Which bits of a block's integers may be set.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "jit/passes/rewrite.hpp"

namespace eum::jit {

class PossibleBits {
 public:
  using Bits = std::uint64_t;

  /// Looks at the definitions in `out`.
  PossibleBits(const ir::Function& function, const NewBlock& out)
      : function_(function), out_(out), possible_(function.values.size(), ~Bits{0}) {}

  static constexpr Bits low_bits(unsigned count) { return ~Bits{0} >> (64 - count); }

  /// Finds those of an op's result, from those of its operands.
  void find(const ir::Inst& inst) {
    if (inst.result >= possible_.size()) possible_.resize(function_.values.size(), ~Bits{0});
    possible_[inst.result] = result_of(inst);
  }
  /// All for values that are no integers, and where nothing is known.
  Bits of(ir::ValueId value) const {
    const ir::Type type = function_.values[value].type;
    if (!ir::is_int(type)) return ~Bits{0};
    return (value < possible_.size() ? possible_[value] : ~Bits{0}) & low_bits(bits_of(type));
  }
  std::optional<Bits> constant(ir::ValueId value) const {
    const ir::Inst* inst = out_.definition(value);
    if (!inst || inst->op != ir::Op::constant || !ir::is_int(inst->type)) return std::nullopt;
    return inst->imm & low_bits(bits_of(inst->type));
  }
  /// The operand of an `and` whose other operand is a constant that keeps the bits of `wanted`; none:
  /// no_value.
  ir::ValueId unmasked(const ir::Inst& masks, Bits wanted) const {
    for (const unsigned k : {0u, 1u})
      if (const auto mask = constant(function_.arg(masks, k)); mask && (wanted & ~*mask) == 0)
        return function_.arg(masks, 1 - k);
    return ir::no_value;
  }

 private:
  static unsigned bits_of(ir::Type type) { return 8 * ir::size_of(type); }

  Bits result_of(const ir::Inst& inst) const {
    using ir::Op;
    if (!ir::is_int(inst.type)) return ~Bits{0};
    const Bits all = low_bits(bits_of(inst.type));
    const auto arg = [&](unsigned k) { return function_.arg(inst, k); };
    switch (inst.op) {
      case Op::constant:
        return inst.imm & all;
      case Op::and_:
        return of(arg(0)) & of(arg(1));
      case Op::or_:
      case Op::xor_:
        return of(arg(0)) | of(arg(1));
      case Op::bfi2: {
        const auto mask = constant(arg(0));
        return mask ? (of(arg(1)) & *mask) | (of(arg(2)) & ~*mask) : all;
      }
      case Op::select:
        return of(arg(1)) | of(arg(2));
      case Op::min:
      case Op::max:
        return of(arg(0)) | of(arg(1));
      case Op::add:
        return low_bits_or_none(width_of(arg(0), arg(1)) + 1) & all;
      case Op::mul:
        return low_bits_or_none(width_of(arg(0)) + width_of(arg(1))) & all;
      case Op::bitcast:
        return ir::is_int(inst.from) ? of(arg(0)) : all;
      case Op::convert:
        if (!ir::is_int(inst.from) || (ir::is_signed(inst.from) && bits_of(inst.from) < bits_of(inst.type)))
          return all;
        return of(arg(0)) & all;
      case Op::shr:
      case Op::shl: {
        const auto by = constant(arg(1));
        if (!by || *by >= bits_of(inst.type) || (inst.op == Op::shr && ir::is_signed(inst.type))) return all;
        return (inst.op == Op::shr ? of(arg(0)) >> *by : of(arg(0)) << *by) & all;
      }
      default:
        return all;
    }
  }

  /// The bits up to the highest one that may be set in any of the values.
  template <class... Value>
  unsigned width_of(Value... values) const {
    return static_cast<unsigned>(std::bit_width((of(values) | ...)));
  }
  static constexpr Bits low_bits_or_none(unsigned count) {
    return count == 0 ? 0 : low_bits(std::min(count, 64u));
  }

  const ir::Function& function_;
  const NewBlock& out_;
  std::vector<Bits> possible_;
};

}  // namespace eum::jit
