// Quotients of numbers of 16 bits by constants. Compilers multiply dwords by a constant and shift the high
// half of the product, with corrections for some divisors and for negative numbers:
//   mul_wide.u32 %x, 0x24924925 -> %high;  shr (add (shr (sub %x, %high), 1), %high), 2
// Whatever they compute, it is a function of %x alone. If %x has few enough values to try them all, and each
// result is %x / d, then it is computed by a product of words:
//   convert.u32.u16 (mul_high.u16 (convert.u16.u32 %x), 0x2493)
// GEN multiplies eight dwords at a time, so that the products stand between slices and concats.
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <vector>

#include "jit/passes/division/number_functions.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"
#include "jit/passes/value_ranges.hpp"

namespace eum::jit {
namespace {

using namespace ir;

class SmallQuotients {
 public:
  explicit SmallQuotients(Function& function)
      : function_(function),
        least_lanes_(function.simd < 16 ? 8 : 16),
        out_(function),
        ranges_(function, out_) {}

  void run(Block& block) {
    out_.clear();
    quotients_.clear();
    bool changed = false;
    for (Inst inst : block.insts) {
      same_.resolve(function_, inst);
      out_.keep(inst);
      ranges_.find(inst);
      const auto found = function_of(inst);
      if (!found) continue;
      const ValueId value = inst.op == Op::mul_wide ? inst.result + 1 : inst.result;
      const bool is_mask_of_it = info(inst.op).shape == Shape::Compare;
      const auto by =
          inst.lanes >= least_lanes_ && !is_mask_of_it ? numbers_.divisor(found->function) : std::nullopt;
      const ValueId quotient = by ? quotient_of(*found, *by, inst) : no_value;
      functions_.emplace(quotient == no_value ? value : quotient, *found);
      if (quotient == no_value) continue;
      same_.add(value, quotient);
      changed = true;
    }
    if (changed) out_.replace(block);
  }

  static bool may_change(const Inst& inst) {
    return inst.op == Op::mul_wide && inst.mask == no_value && inst.lanes >= 8;
  }

 private:
  /// Lanes from `first` on of a value, which has few enough numbers.
  struct Lanes {
    ValueId value;
    unsigned first;
    bool operator==(const Lanes&) const = default;
  };
  struct NumberFunction {
    Lanes of;
    NumberFunctions::Id function;
  };

  ValueId arg(const Inst& inst, unsigned k) const { return function_.arg(inst, k); }
  ValueInfo info_of(ValueId value) const { return function_.values[value]; }
  static bool is_dword(Type type) { return is_int(type) && size_of(type) == 4; }

  /// Where the value's lanes come from; its 32 bits are theirs.
  Lanes origin(ValueId value) const {
    Lanes lanes{value, 0};
    for (;;) {
      const Inst* inst = out_.definition(lanes.value);
      const bool is_slice = inst && inst->op == Op::slice;
      if (!is_slice && !(inst && inst->op == Op::bitcast && is_dword(inst->from))) return lanes;
      if (is_slice) lanes.first += static_cast<unsigned>(inst->imm);
      lanes.value = arg(*inst, 0);
    }
  }
  std::optional<NumberFunction> known(ValueId value) const {
    const auto found = functions_.find(value);
    return found == functions_.end() ? std::nullopt : std::optional(found->second);
  }

  /// The instruction's result, or the high half of its product, as a function that has a product in it.
  std::optional<NumberFunction> function_of(const Inst& inst) {
    if (inst.mask != no_value || !is_dword(inst.type) || inst.arg_count == 0 || inst.lanes < 8)
      return std::nullopt;
    switch (inst.op) {
      case Op::bitcast:
        return is_dword(inst.from) ? known(arg(inst, 0)) : std::nullopt;
      case Op::slice: {
        auto whole = known(arg(inst, 0));
        if (whole) whole->of.first += static_cast<unsigned>(inst.imm);
        return whole;
      }
      case Op::concat: {
        const auto low = known(arg(inst, 0)), high = known(arg(inst, 1));
        if (!low || !high || low->function != high->function) return std::nullopt;
        const Lanes next{low->of.value, low->of.first + info_of(arg(inst, 0)).lanes};
        return high->of == next ? low : std::nullopt;
      }
      default:
        return inst.arg_count == 2 || inst.op == Op::select ? computed(inst) : std::nullopt;
    }
  }
  std::optional<NumberFunction> computed(const Inst& inst) {
    std::array<std::optional<NumberFunction>, 3> known_args;
    std::optional<Lanes> of;
    for (unsigned k = 0; k < inst.arg_count; ++k) {
      known_args[k] = known(arg(inst, k));
      if (known_args[k]) of = known_args[k]->of;
      // A function begins with a product.
      if (inst.op == Op::mul_wide && !of && ranges_.constant(arg(inst, k))) of = origin(arg(inst, 1 - k));
    }
    const auto range = of ? ranges_.of(of->value) : std::nullopt;
    if (!range || !is_dword(info_of(of->value).type) || !NumberFunctions::can_try(*range))
      return std::nullopt;
    std::array<NumberFunctions::Id, 3> parts{};
    for (unsigned k = 0; k < inst.arg_count; ++k) {
      if (known_args[k]) {
        if (known_args[k]->of != *of) return std::nullopt;
        parts[k] = known_args[k]->function;
      } else if (const auto number = ranges_.constant(arg(inst, k))) {
        parts[k] = numbers_.constant(static_cast<std::uint32_t>(*number));
      } else {
        if (origin(arg(inst, k)) != *of) return std::nullopt;
        parts[k] = numbers_.identity(*range);
      }
    }
    const auto function =
        numbers_.apply(inst.op, is_signed(inst.type), std::span(parts).first(inst.arg_count));
    return function == NumberFunctions::none ? std::nullopt : std::optional(NumberFunction{*of, function});
  }

  // ---- Building

  ValueId append(Op op, ValueId a, ValueId b) {
    return remembered(out_.append(make_op(op, type_, lanes_, guest_ip_), {a, b}));
  }
  ValueId with_number(Op op, ValueId a, std::uint64_t number) {
    return append(op, a, remembered(out_.constant(type_, lanes_, number, guest_ip_)));
  }
  ValueId converted(Op op, ValueId value, Type to) {
    return info_of(value).type == to ? value : remembered(out_.converted(op, to, value, guest_ip_));
  }
  ValueId remembered(ValueId value) {
    ranges_.find(out_.insts().back());
    return value;
  }

  /// The lanes of `inst` that the function is of, divided by `by`, in the type of `inst`.
  ValueId quotient_of(const NumberFunction& found, std::uint32_t by, const Inst& inst) {
    const Range range = *ranges_.of(found.of.value);
    lanes_ = inst.lanes;
    guest_ip_ = inst.guest_ip;
    type_ = range.low < 0 ? Type::s16 : Type::u16;
    auto& quotient = quotients_[{found.of.value, found.of.first, lanes_, by}];
    if (!quotient) {
      const ValueId words = dividend(found.of);
      quotient = range.low < 0 ? signed_quotient(words, by) : unsigned_quotient(words, by, range.high);
    }
    const ValueId wide = converted(Op::convert, *quotient, range.low < 0 ? Type::s32 : Type::u32);
    return converted(Op::bitcast, wide, inst.type);
  }
  ValueId dividend(const Lanes& of) {
    ValueId value = of.value;
    if (info_of(value).lanes != lanes_) {
      Inst slice = make_op(Op::slice, info_of(value).type, lanes_, guest_ip_);
      slice.imm = of.first;
      return converted(Op::convert, remembered(out_.append(slice, {value})), type_);
    }
    // What has been widened is not cut.
    const Inst* widens = out_.definition(value);
    if (widens && widens->op == Op::convert && widens->mask == no_value && is_int(widens->from) &&
        size_of(widens->from) <= 2)
      value = arg(*widens, 0);
    const bool is_word = is_int(info_of(value).type) && size_of(info_of(value).type) == 2;
    return converted(is_word ? Op::bitcast : Op::convert, value, type_);
  }

  /// The product of x and ceil(2^k / d), divided by 2^k, is x / d if x times what the factor is too great by
  /// is less than 2^k; for a negative x, it is the next lower number.
  struct Factor {
    std::uint64_t number;
    unsigned shift;  ///< k - 16
  };
  static std::optional<Factor> factor_of(std::uint32_t by, std::int64_t most, std::uint64_t limit) {
    for (unsigned shift = 0; shift <= 16; ++shift) {
      const std::uint64_t power = std::uint64_t{1} << (16 + shift), number = (power + by - 1) / by;
      if (number >= limit) return std::nullopt;
      if ((number * by - power) * static_cast<std::uint64_t>(most) < power) return Factor{number, shift};
    }
    return std::nullopt;
  }
  ValueId shifted(Op op, ValueId value, unsigned by) { return by == 0 ? value : with_number(op, value, by); }

  ValueId unsigned_quotient(ValueId x, std::uint32_t by, std::int64_t most) {
    if (std::has_single_bit(by)) return with_number(Op::shr, x, static_cast<unsigned>(std::countr_zero(by)));
    if (const auto factor = factor_of(by, most, 1u << 16))
      return shifted(Op::shr, with_number(Op::mul_high, x, factor->number), factor->shift);
    if (by % 2 == 0) {
      const auto twos = static_cast<unsigned>(std::countr_zero(by));
      return unsigned_quotient(with_number(Op::shr, x, twos), by >> twos, most >> twos);
    }
    // The factor has a 17th bit, and x + high may have one: (x + high) >> 1 is ((x - high) >> 1) + high.
    const Factor factor = *factor_of(by, most, 1u << 17);
    const ValueId high = with_number(Op::mul_high, x, factor.number - (1u << 16));
    const ValueId half = with_number(Op::shr, append(Op::sub, x, high), 1);
    return shifted(Op::shr, append(Op::add, half, high), factor.shift - 1);
  }
  ValueId signed_quotient(ValueId x, std::uint32_t by) {
    const ValueId negative = with_number(Op::asr, x, 15);  // -1 where x is
    if (std::has_single_bit(by)) {
      const ValueId up = with_number(Op::and_, negative, by - 1);
      return with_number(Op::asr, append(Op::add, x, up), static_cast<unsigned>(std::countr_zero(by)));
    }
    constexpr std::int64_t most = 1 << 15;
    ValueId high = no_value;
    auto factor = factor_of(by, most, 1u << 15);
    if (factor) {
      high = with_number(Op::mul_high, x, factor->number);
    } else {
      factor = factor_of(by, most, 1u << 16);  // as a signed number, 2^16 too small
      high = append(Op::add, with_number(Op::mul_high, x, factor->number), x);
    }
    return append(Op::sub, shifted(Op::asr, high, factor->shift), negative);
  }

  Function& function_;
  const unsigned least_lanes_;  ///< that fill a register of words, or all
  SameValues same_;
  NewBlock out_;
  ValueRanges ranges_;
  NumberFunctions numbers_;
  std::map<ValueId, NumberFunction> functions_;
  struct Quotient {
    ValueId of;
    unsigned first, lanes;
    std::uint32_t by;
    auto operator<=>(const Quotient&) const = default;
  };
  std::map<Quotient, std::optional<ValueId>> quotients_;  ///< words, of this block
  Type type_ = Type::u16;
  unsigned lanes_ = 0;
  std::uint32_t guest_ip_ = 0;
};

}  // namespace

void small_quotients(Function& function) {
  run_on_blocks_with<SmallQuotients>(function, SmallQuotients::may_change);
}

}  // namespace eum::jit
