// Integers of which only some bits are used, or can be set. A value truncated to 8 or 16 bits does not depend
// on what is above them: a byte that was inserted into a dword and is extracted again is the original byte.
// What is widened again after a truncation need not be packed in between. And a mask that clears only bits
// that cannot be set is dropped.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "jit/analysis/demanded_bits.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/possible_bits.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

using Bits = PossibleBits::Bits;

constexpr Bits low_bits_of(unsigned count) { return PossibleBits::low_bits(count); }

class LowBits {
 public:
  explicit LowBits(Function& function) : function_(function), out_(function), possible_(function, out_) {}

  void run(Block& block) {
    out_.clear();
    words_.clear();
    changed_ = false;
    const auto widens = [](const Inst& inst) {
      return converts(inst) && size_of(inst.from) < size_of(inst.type) && size_of(inst.from) <= 2;
    };
    finds_demanded_ = std::ranges::any_of(block.insts, widens);
    if (finds_demanded_) demanded_.find(function_, block);
    for (const Inst& inst : block.insts) {
      Inst own = inst;
      same_.resolve(function_, own);
      if (own.result_count == 1) {
        if (const ValueId known = simplified(own); known != no_value) {
          same_.add(own.result, known);
          changed_ = true;
          continue;
        }
        possible_.find(own);
      }
      out_.keep(own);
    }
    if (changed_) out_.replace(block);
  }

  /// Whether simplified() may find something.
  static bool may_simplify(const Inst& inst) {
    return inst.mask == no_value &&
           ((inst.op == Op::convert && is_int(inst.from)) ||
            ((inst.op == Op::and_ || is_shift(inst.op)) && is_int(inst.type)) || inst.op == Op::bfi2);
  }

 private:
  static unsigned bits_of(Type type) { return 8 * size_of(type); }
  Type type_of(ValueId value) const { return function_.values[value].type; }
  Bits possible(ValueId value) const { return possible_.of(value); }
  std::optional<Bits> constant(ValueId value) const { return possible_.constant(value); }
  /// The definition, if it is this op on integers.
  const Inst* as(ValueId value, Op op) const {
    const Inst* inst = out_.definition(value);
    return inst && inst->op == op && inst->mask == no_value && is_int(inst->type) ? inst : nullptr;
  }
  static bool is_same_size(const Inst& inst) {
    return inst.op == Op::bitcast && is_int(inst.type) && is_int(inst.from);
  }
  static bool is_shift(Op op) { return op == Op::shl || op == Op::shr || op == Op::asr; }
  static bool converts(const Inst& inst) {
    return inst.op == Op::convert && is_int(inst.type) && is_int(inst.from) && inst.mask == no_value;
  }

  /// A value that equals `value` in the bits of `wanted`.
  ValueId seek(ValueId value, Bits wanted) const {
    for (;;) {
      const Inst* inst = out_.definition(value);
      if (!inst || inst->mask != no_value) return value;
      ValueId next = no_value;
      if (is_same_size(*inst)) next = function_.arg(*inst, 0);
      if (inst->op == Op::and_ && is_int(inst->type)) next = possible_.unmasked(*inst, wanted);
      if (inst->op == Op::bfi2) next = unmerged(*inst, wanted);
      if (next == no_value) return value;
      value = next;
    }
  }
  /// The same, which is selected from what was merged in; `value`: it is not.
  ValueId seek_chosen(ValueId value, Bits wanted, const Inst& at, unsigned depth = 0) {
    constexpr unsigned deepest = 4;
    const Inst* select = as(value, Op::select);
    if (!select || depth == deepest) return value;
    const Inst from = *select;
    std::array<ValueId, 2> low{};
    for (const unsigned k : {0u, 1u}) {
      const ValueId own = without_casts(function_.arg(from, k + 1));
      low[k] = seek(own, wanted);
      if (low[k] == own) low[k] = seek_chosen(own, wanted, at, depth + 1);
      if (low[k] == own) return value;
    }
    for (ValueId& each : low) each = cast(each, from.type, at);
    return remembered(out_.append(make_op(Op::select, from.type, from.lanes, at.guest_ip),
                                  {function_.arg(from, 0), low[0], low[1]}));
  }
  /// b where the constant mask of a bfi2 has bits, else a.
  struct Merge {
    ValueId a, b;
    Bits mask;
  };
  std::optional<Merge> merge_of(const Inst& inst) const {
    const auto mask = constant(function_.arg(inst, 0));
    if (!mask) return std::nullopt;
    return Merge{function_.arg(inst, 2), function_.arg(inst, 1), *mask};
  }
  ValueId unmerged(const Inst& inst, Bits wanted) const {
    const auto merge = merge_of(inst);
    if (!merge) return no_value;
    if ((wanted & ~merge->mask) == 0) return merge->b;
    return (wanted & merge->mask) == 0 ? merge->a : no_value;
  }

  /// Joins the parts of several merges that have replaced all bits: nothing is left of the first value.
  ValueId put_together(const Inst& inst) {
    const Bits all = low_bits_of(bits_of(inst.type));
    std::vector<Merge> parts;  // the last one first
    Bits given = 0;
    for (const Inst* at = &inst; at && given != all;) {
      const auto merge = merge_of(*at);
      if (!merge) return no_value;
      if ((merge->mask & ~given) != 0) parts.push_back({merge->a, merge->b, merge->mask & ~given});
      given |= merge->mask;
      at = as(merge->a, Op::bfi2);
    }
    if (given != all || parts.size() < 2) return no_value;
    const Inst at = inst;
    ValueId whole = no_value;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      ValueId bits = part->b;
      if ((possible(bits) & ~part->mask) != 0) bits = with_constant(Op::and_, bits, part->mask, at);
      whole = whole == no_value
                  ? bits
                  : remembered(out_.append(make_op(Op::or_, at.type, at.lanes, at.guest_ip), {whole, bits}));
    }
    return whole;
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
    const ValueId operand = remembered(out_.constant(info.type, info.lanes, bits, at.guest_ip));
    return remembered(out_.append(make_op(op, info.type, info.lanes, at.guest_ip), {value, operand}));
  }
  ValueId remembered(ValueId value) {
    possible_.find(out_.insts().back());
    return value;
  }

  /// A value equal to that of the instruction, which may change; no value: there is none.
  ValueId simplified(Inst& inst) {
    if (!may_simplify(inst)) return no_value;
    if (inst.op == Op::and_) return masked(inst);
    if (is_shift(inst.op)) {
      const ValueId extended = inst.op == Op::asr ? signs_extended(inst) : no_value;
      if (extended == no_value) seek_shifted(inst);
      return extended;
    }
    if (inst.op == Op::bfi2) return put_together(inst);
    if (is_int(inst.type) && bits_of(inst.type) < bits_of(inst.from)) return cut(inst);
    return widened(inst);
  }

  /// What is masked off need not have been merged in, nor the rest be masked before.
  ValueId masked(Inst& inst) {
    for (const unsigned k : {0u, 1u}) {
      const auto mask = constant(function_.arg(inst, k));
      if (!mask) continue;
      const ValueId whole = function_.arg(inst, 1 - k);
      if ((possible(whole) & ~*mask) == 0) return whole;
      const Inst at = inst;
      const ValueId sought = seek_chosen(seek(whole, *mask), *mask, at);
      if (sought == whole) return no_value;
      const ValueId value = cast(sought, at.type, at);
      if ((possible(value) & ~*mask) == 0) return value;
      function_.set_args(inst, {value, function_.arg(at, k)});
      changed_ = true;
      return no_value;
    }
    return no_value;
  }

  /// What is shifted out need not have been merged in, nor be masked before.
  void seek_shifted(Inst& inst) {
    const auto by = constant(function_.arg(inst, 1));
    if (!by || *by >= bits_of(inst.type)) return;
    const Bits all = low_bits_of(bits_of(inst.type));
    const ValueId whole = function_.arg(inst, 0);
    const ValueId sought = seek(whole, inst.op == Op::shl ? all >> *by : all >> *by << *by);
    if (sought == whole || sought == without_casts(whole)) return;
    const Inst at = inst;
    function_.set_args(inst, {cast(sought, at.type, at), function_.arg(at, 1)});
    changed_ = true;
  }

  /// Of a value that has been widened, with its sign brought back by two shifts: the signed value, widened.
  ValueId signs_extended(const Inst& inst) {
    const Inst* shift = as(without_casts(function_.arg(inst, 0)), Op::shl);
    const auto by = constant(function_.arg(inst, 1));
    if (!is_signed(inst.type) || !shift || !by || constant(function_.arg(*shift, 1)) != by) return no_value;
    if (*by >= bits_of(inst.type)) return no_value;
    const Inst at = inst;
    const Bits kept = low_bits_of(bits_of(inst.type) - static_cast<unsigned>(*by));
    const ValueId sought = seek(function_.arg(*shift, 0), kept);
    // A number that was extended already, or of which nothing needs the extension.
    const bool is_low = finds_demanded_ && (demanded_.of(at.result) & ~kept) == 0;
    if (is_low || is_extended(sought, kept)) return cast(sought, at.type, at);
    const Inst* source = out_.definition(sought);
    if (!source || !converts(*source) || bits_of(source->from) + *by != bits_of(inst.type)) {
      if (sought == without_casts(function_.arg(*shift, 0))) return no_value;
      const ValueId shifted = with_constant(Op::shl, cast(sought, at.type, at), *by, at);
      return with_constant(Op::asr, shifted, *by, at);
    }
    const Type narrow = size_of(source->from) == 1 ? Type::s8 : Type::s16;
    if (size_of(narrow) != size_of(source->from)) return no_value;
    return append(Op::convert, at.type, narrow, cast(function_.arg(*source, 0), narrow, at), at);
  }
  /// Whether all bits above those of `kept` are like the highest one of these.
  bool is_extended(ValueId value, Bits kept, unsigned depth = 0) const {
    if ((possible(value) & ~(kept >> 1)) == 0) return true;
    const Inst* inst = out_.definition(without_casts(value));
    constexpr unsigned deepest = 4;
    if (!inst || inst->mask != no_value || !is_int(inst->type) || depth == deepest) return false;
    switch (inst->op) {
      case Op::convert:
        return is_int(inst->from) && is_signed(inst->from) && size_of(inst->from) < size_of(inst->type) &&
               (low_bits_of(bits_of(inst->from)) & ~kept) == 0;
      case Op::and_:
      case Op::or_:
      case Op::xor_:
      case Op::not_:
        return std::ranges::all_of(function_.args(*inst),
                                   [&](ValueId arg) { return is_extended(arg, kept, depth + 1); });
      default:
        return false;
    }
  }
  ValueId without_casts(ValueId value) const {
    for (const Inst* same; (same = as(value, Op::bitcast)) && is_int(same->from);)
      value = function_.arg(*same, 0);
    return value;
  }

  ValueId cut(Inst& inst) {
    const unsigned bits = bits_of(inst.type);
    ValueId source = seek(function_.arg(inst, 0), low_bits_of(bits));
    const Inst* inner = out_.definition(source);
    // A value that has been widened before, perhaps more than once.
    while (inner && converts(*inner) && bits_of(inner->from) < bits_of(inner->type) &&
           bits_of(inner->from) > bits) {
      source = seek(function_.arg(*inner, 0), low_bits_of(bits));
      inner = out_.definition(source);
    }
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
        if (sought != without_casts(whole)) {
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

  /// For a value that was truncated from 16 or 32 bits: the original, unchanged if nothing uses the upper
  /// bits, else masked or with the sign extended.
  ValueId widened(Inst& inst) {
    const bool to_words = is_int(inst.type) && size_of(inst.type) == 2;
    if (inst.lanes < 8 || (size_of(inst.type) != 4 && !to_words) || size_of(inst.from) > 2) return no_value;
    const ValueId narrow = without_casts(function_.arg(inst, 0));
    // A byte that has become a word before comes from the dword around it all the same.
    if (const auto word = words_.find(narrow);
        word != words_.end() && !to_words && (is_signed(inst.from) || !is_signed(word->second.from))) {
      Inst whole = inst;
      whole.from = word->second.from;
      return widened_from(word->second.dword, whole, false);
    }
    const Inst* source = out_.definition(narrow);
    if (!source || !converts(*source) || size_of(source->from) <= size_of(inst.from) ||
        size_of(source->from) > 4)
      return no_value;
    const ValueId value = function_.arg(*source, 0);
    const bool is_dword = size_of(source->from) == 4;
    const Inst at = inst;
    const ValueId result = widened_from(value, at, to_words && is_dword);
    if (to_words && is_dword) words_[without_casts(result)] = {value, at.from};
    return result;
  }
  /// `through_words`: the value, a dword, is cut to a word first.
  ValueId widened_from(ValueId value, const Inst& at, bool through_words) {
    const unsigned bits = bits_of(at.from);
    if (is_int(at.type) && (demanded_.of(at.result) & ~low_bits_of(bits)) == 0)
      return resized(value, at.type, at);
    if (through_words) value = append(Op::convert, Type::u16, type_of(value), value, at);
    const bool of_words = size_of(type_of(value)) == 2;
    if (is_signed(at.from)) {
      const unsigned above = bits_of(type_of(value)) - bits;
      value = cast(value, of_words ? Type::s16 : Type::s32, at);
      value = with_constant(Op::asr, with_constant(Op::shl, value, above, at), above, at);
    } else if ((possible(value) & ~low_bits_of(bits)) != 0) {
      value = cast(value, of_words ? Type::u16 : Type::u32, at);
      value = with_constant(Op::and_, value, low_bits_of(bits), at);
    }
    if (is_int(at.type)) return resized(value, at.type, at);
    if (of_words) return append(Op::convert, at.type, type_of(value), value, at);
    return append(Op::convert, at.type, Type::s32, cast(value, Type::s32, at), at);
  }

  /// The value in this type, by a bitcast if it is as wide.
  ValueId resized(ValueId value, Type type, const Inst& at) {
    if (size_of(type_of(value)) == size_of(type)) return cast(value, type, at);
    return append(Op::convert, type, type_of(value), value, at);
  }

  /// A word that a byte has become, and the dword of which that was the low part.
  struct Word {
    ValueId dword;
    Type from;  ///< of the byte
  };

  Function& function_;
  std::unordered_map<ValueId, Word> words_;
  SameValues same_;
  NewBlock out_;
  PossibleBits possible_;
  DemandedBits demanded_;
  bool finds_demanded_ = false;  ///< for this block
  bool changed_ = false;
};

}  // namespace

void low_bits(Function& function) { run_on_blocks_with<LowBits>(function, LowBits::may_simplify); }

}  // namespace eum::jit
