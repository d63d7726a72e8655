#include "jit/passes/narrow_forms.hpp"

#include <algorithm>
#include <array>

namespace eum::jit {

using namespace ir;

ValueId NarrowForms::before(ValueId value) const {
  const auto found = before_.find(value);
  return found == before_.end() ? value : found->second;
}

std::optional<unsigned> NarrowForms::shift_of(const Inst& inst) const {
  const auto by = ranges_.constant(arg(inst, 1));
  return by && *by >= 0 && *by < static_cast<std::int64_t>(width_) ? std::optional(static_cast<unsigned>(*by))
                                                                   : std::nullopt;
}

bool NarrowForms::fits(const Inst& inst, bool is_signed) const {
  return ranges_.lies_in(arg(inst, 0), range_of(type(is_signed)));
}

std::optional<bool> NarrowForms::common_sign(std::span<const ValueId> numbers) const {
  for (const bool is_signed : {false, true}) {
    const Range range = range_of(type(is_signed));
    if (std::ranges::all_of(numbers, [&](ValueId number) { return ranges_.lies_in(number, range); }))
      return is_signed;
  }
  return std::nullopt;
}

ValueId NarrowForms::same_number(ValueId value) const {
  for (;;) {
    const Inst* inst = definition(value);
    const bool converts =
        inst && (inst->op == Op::bitcast || inst->op == Op::convert) && inst->mask == no_value;
    if (!converts || !is_int(inst->type) || size_of(inst->type) < size_of(inst->from)) return value;
    if (bits_of(inst->from) < width_ || !ranges_.lies_in(arg(*inst, 0), range_of(inst->type))) return value;
    value = arg(*inst, 0);
  }
}

ValueId NarrowForms::same_bits(ValueId value) const {
  const Inst* inst = definition(value);
  return inst && inst->op == Op::bitcast && is_int(inst->from) ? arg(*inst, 0) : value;
}

std::optional<NarrowForms::Mean> NarrowForms::mean_of(const Inst& shift) const {
  if (shift_of(shift) != 1u) return std::nullopt;
  const auto mean = mean_of_sum(arg(shift, 0));
  // A sum that fits takes fewer ops.
  if (mean && width_ == 16 && (!mean->is_rounded_up || mean->is_signed) && shifts_number(shift))
    return std::nullopt;
  return mean;
}

std::optional<NarrowForms::Mean> NarrowForms::mean_of_sum(ValueId sum) const {
  std::array<ValueId, 2> terms{no_value, no_value};
  unsigned count = 0;
  std::int64_t constant = 0;
  const auto add = [&](auto self, ValueId value, unsigned depth) -> bool {
    value = same_number(same_bits(value));
    if (const auto number = ranges_.constant(value)) {
      constant += *number;
      return true;
    }
    // Sums of two numbers that fit, and one, have a bit more.
    const Inst* inst = definition(value);
    const bool adds = inst && inst->op == Op::add && inst->mask == no_value && bits_of(inst->type) > width_;
    if (adds && depth < 2 && !is_wide(value))
      return self(self, arg(*inst, 0), depth + 1) && self(self, arg(*inst, 1), depth + 1);
    if (count == 2) return false;
    terms[count++] = value;
    return true;
  };
  if (!add(add, sum, 0) || count != 2 || constant < 0 || constant > 1) return std::nullopt;
  const auto is_signed = common_sign(terms);
  if (!is_signed) return std::nullopt;
  return Mean{terms[0], terms[1], constant == 1, *is_signed};
}

std::optional<NarrowForms::Clamped> NarrowForms::clamped_of(const Inst& limit) const {
  std::optional<std::int64_t> low, high;
  ValueId value = no_value;
  for (const Inst* inst = &limit; inst; inst = definition(value)) {
    if (inst->mask != no_value || (inst->op != Op::min && inst->op != Op::max)) break;
    const bool is_first = ranges_.constant(arg(*inst, 0)).has_value();
    const auto by = ranges_.constant(arg(*inst, is_first ? 0 : 1));
    auto& bound = inst->op == Op::min ? high : low;
    if (!by || bound) return std::nullopt;
    bound = *by;
    value = same_number(arg(*inst, is_first ? 1 : 0));
  }
  const Inst* const inst = value == no_value ? nullptr : definition(value);
  if (!inst || (inst->op != Op::add && inst->op != Op::sub) || inst->mask != no_value ||
      bits_of(inst->type) <= width_ || is_wide(value))
    return std::nullopt;
  const auto range = ranges_.of(value);
  const std::array terms{same_number(arg(*inst, 0)), same_number(arg(*inst, 1))};
  const auto is_signed = common_sign(terms);
  if (!is_signed || !range || *range == range_of(inst->type)) return std::nullopt;
  const Range all = range_of(type(*is_signed));
  const bool limits = low.value_or(range->low) == std::max(all.low, range->low) &&
                      high.value_or(range->high) == std::min(all.high, range->high);
  return limits ? std::optional(Clamped{inst->op == Op::add ? Op::add_sat : Op::sub_sat, terms[0], terms[1],
                                        *is_signed})
                : std::nullopt;
}

std::optional<NarrowForms::Limited> NarrowForms::limited_of(const Inst& compare) const {
  constexpr unsigned word = 16;
  if (width_ != word || bits_of(compare.type) != 2 * word || compare.mask != no_value) return std::nullopt;
  for (const unsigned k : {0u, 1u}) {
    const Inst* const splat = definition(same_bits(arg(compare, k)));
    const auto others = ranges_.of(arg(compare, 1 - k));
    if (!splat || splat->op != Op::splat || !is_int(splat->type) || !others) continue;
    const ValueId number = arg(*splat, 0);
    if (size_of(type_of(number)) != size_of(compare.type)) continue;
    const Range limits{is_signed(compare.type) ? others->low - 1 : 0, others->high + 1};
    if (range_of(type(is_signed(compare.type))).holds(limits)) return Limited{k, number, limits};
  }
  return std::nullopt;
}

ValueId NarrowForms::limited(const Limited& limit, const Inst& compare) {
  const std::tuple key(limit.number, compare.type, limit.limits.low, limit.limits.high);
  if (const auto found = limited_.find(key); found != limited_.end()) return found->second;
  ValueId value = out_.converted(Op::bitcast, compare.type, limit.number, compare.guest_ip);
  const auto bound = [&](Op op, std::int64_t by) {
    const ValueId constant = out_.constant(compare.type, 1, static_cast<std::uint32_t>(by), compare.guest_ip);
    value = out_.append(make_op(op, compare.type, 1, compare.guest_ip), {value, constant});
    ranges_.find(out_.insts().back());
  };
  bound(Op::min, limit.limits.high);
  if (is_signed(compare.type)) bound(Op::max, limit.limits.low);
  limited_.emplace(key, value);
  return value;
}

std::optional<NarrowForms::Field> NarrowForms::field_of(const Inst& shift) const {
  const Inst* const up = definition(same_bits(arg(shift, 0)));
  if (!up || up->op != Op::shl || up->mask != no_value || bits_of(up->type) != bits_of(shift.type))
    return std::nullopt;
  const auto by = ranges_.constant(arg(shift, 1)), before = ranges_.constant(arg(*up, 1));
  const unsigned all = bits_of(shift.type);
  if (!by || by != before || *by <= 0 || *by >= all) return std::nullopt;
  const Field field{arg(*up, 0), all - static_cast<unsigned>(*by)};
  return field.bits < width_ && width_ == 8 ? std::nullopt : std::optional(field);
}

}  // namespace eum::jit
