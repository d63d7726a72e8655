// Integers of which only some bits are looked at, or can be set. What is cut to 8 or 16 bits does not depend
// on what happens above them: a byte that was put between other bytes of a dword, and is taken out again, is
// the byte from before. What is widened again after a cut need not be packed between. And a mask that takes
// away what cannot be there is none.
#include <optional>

#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

using Bits = std::uint64_t;

constexpr Bits low_bits_of(unsigned count) { return ~Bits{0} >> (64 - count); }

class LowBits {
 public:
  explicit LowBits(Function& function)
      : function_(function),
        alias_(function.values.size(), no_value),
        possible_(function.values.size(), ~Bits{0}),
        out_(function) {}

  void run(Block& block) {
    out_.clear();
    changed_ = false;
    for (const Inst& inst : block.insts) {
      for (ValueId& arg : function_.args(inst)) arg = resolve(arg);
      Inst own = inst;
      own.mask = resolve(own.mask);
      if (own.result_count == 1) {
        if (const ValueId known = simplified(own); known != no_value) {
          alias_[own.result] = known;
          changed_ = true;
          continue;
        }
        possible_[own.result] = possible_of(own);
      }
      out_.keep(own);
    }
    if (changed_) out_.replace(block);
  }

 private:
  static unsigned bits_of(Type type) { return 8 * size_of(type); }
  ValueId resolve(ValueId value) const {
    return value < alias_.size() && alias_[value] != no_value ? alias_[value] : value;
  }
  Type type_of(ValueId value) const { return function_.values[value].type; }
  Bits possible(ValueId value) const {
    const Type type = type_of(value);
    if (!is_int(type)) return ~Bits{0};
    return (value < possible_.size() ? possible_[value] : ~Bits{0}) & low_bits_of(bits_of(type));
  }
  std::optional<Bits> constant(ValueId value) const {
    const Inst* inst = out_.definition(value);
    if (!inst || inst->op != Op::constant || !is_int(inst->type)) return std::nullopt;
    return inst->imm & low_bits_of(bits_of(inst->type));
  }
  /// The definition, if it is this op on integers.
  const Inst* as(ValueId value, Op op) const {
    const Inst* inst = out_.definition(value);
    return inst && inst->op == op && inst->mask == no_value && is_int(inst->type) ? inst : nullptr;
  }
  static bool is_same_size(const Inst& inst) {
    return inst.op == Op::bitcast && is_int(inst.type) && is_int(inst.from);
  }
  static bool converts(const Inst& inst) {
    return inst.op == Op::convert && is_int(inst.type) && is_int(inst.from) && inst.mask == no_value;
  }

  Bits possible_of(const Inst& inst) const {
    if (!is_int(inst.type)) return ~Bits{0};
    const Bits all = low_bits_of(bits_of(inst.type));
    const auto arg = [&](unsigned k) { return function_.arg(inst, k); };
    switch (inst.op) {
      case Op::constant:
        return inst.imm & all;
      case Op::and_:
        return possible(arg(0)) & possible(arg(1));
      case Op::or_:
      case Op::xor_:
        return possible(arg(0)) | possible(arg(1));
      case Op::select:
        return possible(arg(1)) | possible(arg(2));
      case Op::bitcast:
        return is_int(inst.from) ? possible(arg(0)) : all;
      case Op::convert:
        if (!is_int(inst.from) || (is_signed(inst.from) && bits_of(inst.from) < bits_of(inst.type)))
          return all;
        return possible(arg(0)) & all;
      case Op::shr:
      case Op::shl: {
        const auto by = constant(arg(1));
        if (!by || *by >= bits_of(inst.type) || (inst.op == Op::shr && is_signed(inst.type))) return all;
        return (inst.op == Op::shr ? possible(arg(0)) >> *by : possible(arg(0)) << *by) & all;
      }
      default:
        return all;
    }
  }

  /// A value that has the same bits as `value` where `wanted` has any.
  ValueId seek(ValueId value, Bits wanted) const {
    for (;;) {
      const Inst* inst = out_.definition(value);
      if (!inst || inst->mask != no_value) return value;
      ValueId next = no_value;
      if (is_same_size(*inst)) next = function_.arg(*inst, 0);
      if (inst->op == Op::and_ && is_int(inst->type)) next = unmasked(*inst, wanted);
      if (inst->op == Op::xor_ && is_int(inst->type)) next = unmerged(*inst, wanted);
      if (next == no_value) return value;
      value = next;
    }
  }
  ValueId unmasked(const Inst& inst, Bits wanted) const {
    for (const unsigned k : {0u, 1u})
      if (const auto mask = constant(function_.arg(inst, k)); mask && (wanted & ~*mask) == 0)
        return function_.arg(inst, 1 - k);
    return no_value;
  }
  /// Of a ^ ((b ^ a) & mask), which is b where the mask has bits and else a.
  ValueId unmerged(const Inst& inst, Bits wanted) const {
    for (const unsigned k : {0u, 1u}) {
      const ValueId a = function_.arg(inst, k);
      const Inst* change = as(function_.arg(inst, 1 - k), Op::and_);
      if (!change) continue;
      for (const unsigned m : {0u, 1u}) {
        const auto mask = constant(function_.arg(*change, m));
        const Inst* different = as(function_.arg(*change, 1 - m), Op::xor_);
        if (!mask || !different) continue;
        for (const unsigned o : {0u, 1u}) {
          if (function_.arg(*different, o) != a) continue;
          if ((wanted & ~*mask) == 0) return function_.arg(*different, 1 - o);
          if ((wanted & *mask) == 0) return a;
        }
      }
    }
    return no_value;
  }

  ValueId append(Op op, Type type, Type from, ValueId value, const Inst& at) {
    Inst inst = make_op(op, type, function_.values[value].lanes, at.guest_ip);
    inst.from = from;
    return remembered(out_.append(inst, {value}));
  }
  ValueId cast(ValueId value, Type type, const Inst& at) {
    return type_of(value) == type ? value : append(Op::bitcast, type, type_of(value), value, at);
  }
  ValueId with_constant(Op op, ValueId value, Bits bits, const Inst& at) {
    const ValueInfo info = function_.values[value];
    Inst constant = make_op(Op::constant, info.type, info.lanes, at.guest_ip);
    constant.imm = bits;
    const ValueId operand = remembered(out_.append(constant, {}));
    return remembered(out_.append(make_op(op, info.type, info.lanes, at.guest_ip), {value, operand}));
  }
  ValueId remembered(ValueId value) {
    const Bits bits = possible_of(out_.insts().back());
    alias_.resize(function_.values.size(), no_value);
    possible_.resize(function_.values.size(), ~Bits{0});
    possible_[value] = bits;
    return value;
  }

  /// What the instruction, which may change, gives; or no value: itself.
  ValueId simplified(Inst& inst) {
    if (inst.op == Op::and_ && is_int(inst.type) && inst.mask == no_value) {
      for (const unsigned k : {0u, 1u})
        if (const auto mask = constant(function_.arg(inst, k));
            mask && (possible(function_.arg(inst, 1 - k)) & ~*mask) == 0)
          return function_.arg(inst, 1 - k);
      return no_value;
    }
    if (inst.op != Op::convert || inst.mask != no_value || !is_int(inst.from)) return no_value;
    if (is_int(inst.type) && bits_of(inst.type) < bits_of(inst.from)) return cut(inst);
    return widened(inst);
  }

  ValueId cut(Inst& inst) {
    const unsigned bits = bits_of(inst.type);
    const ValueId source = seek(function_.arg(inst, 0), low_bits_of(bits));
    const Inst* inner = out_.definition(source);
    // What has been widened before.
    if (inner && converts(*inner) && bits_of(inner->from) < bits_of(inner->type)) {
      const ValueId narrow = function_.arg(*inner, 0);
      const Inst at = inst;
      if (bits_of(inner->from) == bits) return cast(narrow, inst.type, at);
      return append(Op::convert, inst.type, type_of(narrow), narrow, at);
    }
    if (const Inst* shift = as(source, Op::shr); shift && !is_signed(shift->type)) {
      const auto by = constant(function_.arg(*shift, 1));
      const ValueId whole = function_.arg(*shift, 0);
      if (by && *by + bits <= bits_of(shift->type)) {
        const ValueId sought = seek(whole, low_bits_of(bits) << *by);
        const Type type = shift->type;
        if (sought != whole) {
          const Inst at = inst;
          const ValueId shifted = with_constant(Op::shr, cast(sought, type, at), *by, at);
          return append(Op::convert, at.type, type, shifted, at);
        }
      }
    }
    if (source == function_.arg(inst, 0)) return no_value;
    function_.set_args(inst, {source});
    inst.from = type_of(source);
    changed_ = true;
    return no_value;
  }

  /// Of what was cut from 32 bits: these, masked or with the sign spread.
  ValueId widened(Inst& inst) {
    const bool to_words = is_int(inst.type) && size_of(inst.type) == 2 && !is_signed(inst.from);
    if (inst.lanes < 8 || (size_of(inst.type) != 4 && !to_words) || size_of(inst.from) > 2) return no_value;
    ValueId narrow = function_.arg(inst, 0);
    while (const Inst* same = as(narrow, Op::bitcast)) {
      if (!is_int(same->from)) return no_value;
      narrow = function_.arg(*same, 0);
    }
    const Inst* source = out_.definition(narrow);
    if (!source || !converts(*source) || size_of(source->from) != 4) return no_value;
    const Inst at = inst;
    const unsigned bits = bits_of(at.from), above = 32 - bits;
    ValueId value = function_.arg(*source, 0);
    if (to_words) {
      const bool fits = (possible(value) & ~low_bits_of(bits)) == 0;
      value = append(Op::convert, Type::u16, type_of(value), value, at);
      return cast(fits ? value : with_constant(Op::and_, value, low_bits_of(bits), at), at.type, at);
    }
    if (is_signed(at.from)) {
      value = cast(value, Type::s32, at);
      value = with_constant(Op::asr, with_constant(Op::shl, value, above, at), above, at);
    } else if ((possible(value) & ~low_bits_of(bits)) != 0) {
      value = with_constant(Op::and_, cast(value, Type::u32, at), low_bits_of(bits), at);
    }
    if (is_int(at.type)) return cast(value, at.type, at);
    return append(Op::convert, at.type, Type::s32, cast(value, Type::s32, at), at);
  }

  Function& function_;
  std::vector<ValueId> alias_;
  std::vector<Bits> possible_;  // bits of each value that may be set
  NewBlock out_;
  bool changed_ = false;
};

}  // namespace

void low_bits(Function& function) {
  LowBits bits(function);
  for (Block& block : function.blocks) bits.run(block);
}

}  // namespace eum::jit
