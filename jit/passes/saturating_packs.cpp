// Integers that get 8 or 16 bits. Cutting dwords to bytes takes hosts an instruction more for each register
// than packing those that fit, because packing saturates; and numbers that are clamped to the range of the
// result just before are clamped once more for nothing. Floats that become bytes are clamped before they are
// converted, since whatever does not fit a dword then needs no care:
//   min (max (convert.s32.f32 %x), 0), 255   ->   convert_indefinite.s32.f32 (min (max %x, 0.0), 255.0)
#include <bit>
#include <optional>
#include <set>

#include "jit/passes/passes.hpp"
#include "jit/passes/possible_bits.hpp"
#include "jit/passes/rewrite.hpp"
#include "jit/passes/value_ranges.hpp"

namespace eum::jit {
namespace {

using namespace ir;

class SaturatingPacks {
 public:
  explicit SaturatingPacks(Function& function)
      : function_(function), out_(function), possible_(function, out_), ranges_(function, out_) {}

  void run(Block& block) {
    out_.clear();
    bool changed = false;
    for (const Inst& inst : block.insts) {
      if (may_pack(inst) ? pack(inst) : clamps(inst) && clamp_float(inst)) {
        out_.let_last_define(inst.result);
        changed = true;
      } else {
        out_.keep(inst);
      }
      if (inst.result_count == 1) possible_.find(out_.insts().back());
      if (!floats_.contains(inst.result)) ranges_.find(out_.insts().back());
    }
    if (changed) out_.replace(block);
  }

  static bool may_change(const Inst& inst) { return may_pack(inst) || clamps(inst); }

 private:
  static bool may_pack(const Inst& inst) {
    return inst.op == Op::convert && inst.mask == no_value && inst.lanes >= 8 && is_int(inst.type) &&
           is_int(inst.from) && size_of(inst.type) < size_of(inst.from) && size_of(inst.from) <= 4;
  }

  struct Clamp {
    ValueId source;
    Range range;
  };

  static bool clamps(const Inst& inst) {
    return (inst.op == Op::min || inst.op == Op::max) && inst.type == Type::s32 && inst.lanes >= 8 &&
           inst.mask == no_value;
  }
  const Inst* definition(ValueId value) const {
    const Inst* inst = out_.definition(value);
    return inst && inst->mask == no_value && inst->result_count == 1 ? inst : nullptr;
  }
  Type type_of(ValueId value) const { return function_.values[value].type; }

  /// Behind casts to the same number of bits.
  ValueId uncast(ValueId value) const {
    for (;;) {
      const Inst* inst = definition(value);
      if (!inst || inst->op != Op::bitcast || !is_int(inst->from)) return value;
      value = function_.arg(*inst, 0);
    }
  }
  /// What has the same bits among `wanted`.
  ValueId unmasked(ValueId value, PossibleBits::Bits wanted) const {
    const Inst* inst = definition(value);
    const ValueId other = inst && inst->op == Op::and_ ? possible_.unmasked(*inst, wanted) : no_value;
    return other == no_value ? value : uncast(other);
  }
  /// The operand that is a constant, as a number, and the other one.
  struct Bound {
    std::int64_t number;
    ValueId source;
  };
  std::optional<Bound> bound_of(const Inst& inst) const {
    for (const unsigned k : {0u, 1u})
      if (const auto number = ranges_.constant(function_.arg(inst, k)))
        return Bound{*number, function_.arg(inst, 1 - k)};
    return std::nullopt;
  }
  /// What a minimum of a maximum, or the reverse, of signed numbers and constants clamps.
  std::optional<Clamp> clamp_of(const Inst& outer) const {
    if ((outer.op != Op::min && outer.op != Op::max) || !is_int(outer.type) || !is_signed(outer.type))
      return std::nullopt;
    const auto last = bound_of(outer);
    const Inst* inner = last ? definition(last->source) : nullptr;
    if (!inner || inner->op != (outer.op == Op::min ? Op::max : Op::min)) return std::nullopt;
    const auto first = bound_of(*inner);
    if (!first) return std::nullopt;
    const Range range =
        outer.op == Op::min ? Range{first->number, last->number} : Range{last->number, first->number};
    if (range.low > range.high) return std::nullopt;
    return Clamp{first->source, range};
  }

  /// In which the number lies, read as a signed one.
  std::optional<Range> known_range(ValueId value) const {
    const auto bits = static_cast<std::int64_t>(possible_.of(value));
    if (bits < std::int64_t{1} << (8 * size_of(type_of(value)) - 1)) return Range{0, bits};
    const auto range = ranges_.of(value);
    return range && range_of(int_type(size_of(type_of(value)), true)).holds(*range) ? range : std::nullopt;
  }

  bool pack(const Inst& inst) {
    const ValueId whole = uncast(function_.arg(inst, 0));
    const ValueId value = unmasked(whole, PossibleBits::low_bits(8 * size_of(inst.type)));
    return pack(inst, value) || (value != whole && pack(inst, whole));
  }
  bool pack(const Inst& inst, ValueId value) {
    const Inst* defined = definition(value);
    const auto clamp = defined ? clamp_of(*defined) : std::nullopt;
    // Addresses are computed from words: what tells of them looks for plain conversions.
    const bool by_range = size_of(inst.type) == 1 || floats_.contains(value);
    const auto range = by_range ? known_range(value) : std::nullopt;
    for (const bool has_sign : {false, true}) {
      const Type type = int_type(size_of(inst.type), has_sign);
      if (clamp && clamp->range == range_of(type)) return append_pack(inst, type, clamp->source);
      if (range && range_of(type).holds(*range)) return append_pack(inst, type, value);
    }
    return false;
  }
  bool append_pack(const Inst& inst, Type type, ValueId value) {
    value = out_.converted(Op::bitcast, int_type(size_of(inst.from), true), value, inst.guest_ip);
    value = out_.converted(Op::convert_sat, type, value, inst.guest_ip);
    out_.converted(Op::bitcast, inst.type, value, inst.guest_ip);
    return true;
  }

  /// NaN becomes 0 as max takes the other operand: only where that is the lower bound.
  bool clamp_float(const Inst& inst) {
    constexpr std::int64_t most = 1 << 24;  // all integers up to here are floats
    const auto clamp = clamp_of(inst);
    const Inst* source = clamp ? definition(clamp->source) : nullptr;
    if (!source || source->op != Op::convert || source->type != Type::s32 || source->from != Type::f32 ||
        clamp->range.low != 0 || clamp->range.high > most)
      return false;
    const auto bound = [&](Op op, ValueId value, std::int64_t number) {
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
      const ValueId constant = out_.constant(Type::f32, inst.lanes, bits, inst.guest_ip);
      return out_.append(make_op(op, Type::f32, inst.lanes, inst.guest_ip), {constant, value});
    };
    const ValueId x = bound(Op::max, function_.arg(*source, 0), clamp->range.low);
    const ValueId bounded = bound(Op::min, x, clamp->range.high);
    out_.converted(Op::convert_indefinite, Type::s32, bounded, inst.guest_ip);
    floats_.insert(inst.result);
    ranges_.set(inst.result, clamp->range);
    return true;
  }

  Function& function_;
  NewBlock out_;
  PossibleBits possible_;
  ValueRanges ranges_;
  std::set<ValueId> floats_;  ///< numbers that were clamped before they were converted
};

}  // namespace

void saturating_packs(Function& function) {
  run_on_blocks_with<SaturatingPacks>(function, SaturatingPacks::may_change);
}

}  // namespace eum::jit
