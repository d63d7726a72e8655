// Which channels of an instruction take part: execution mask, predicate, flag bits.
#include "frontend/eu/lowering.hpp"

namespace eum::eu {
namespace {

constexpr unsigned round_up(unsigned n, unsigned step) { return (n + step - 1) / step * step; }

}  // namespace

ir::ValueId Lowering::execution_mask() {
  if (execution_mask_ == ir::no_value) execution_mask_ = builder_.mask_get(0);
  return execution_mask_;
}

void Lowering::set_execution_mask(ir::ValueId mask) {
  builder_.mask_set(0, mask);
  execution_mask_ = mask;
  slice_count_ = 0;
}

ir::ValueId Lowering::channel_mask(unsigned first, unsigned lanes) {
  unsigned simd = builder_.function().simd;
  if (first == 0 && lanes == simd) return execution_mask();
  for (unsigned i = 0; i < slice_count_; ++i)
    if (slices_[i].first == first && slices_[i].lanes == lanes) return slices_[i].value;
  ir::ValueId value;
  if (first >= simd) {
    value = none_of(lanes);
  } else if (first + lanes <= simd) {
    value = builder_.slice(execution_mask(), first, lanes);
  } else {
    unsigned inside = simd - first;
    value = builder_.concat(builder_.slice(execution_mask(), first, inside), none_of(lanes - inside));
  }
  if (slice_count_ < slices_.size()) slices_[slice_count_++] = {first, lanes, value};
  return value;
}

ir::ValueId Lowering::of_lanes(ir::ValueId channels) {
  if (!inst_->paired) return channels;
  constexpr std::array<std::uint32_t, 5> kept{0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
  const auto number = [&](std::uint32_t n) { return builder_.constant(ir::Type::u32, 1, n); };
  ir::ValueId bits = builder_.mask_bits(ir::Type::u32, channels);
  for (unsigned step = 0; 1u << step <= lanes(); ++step) {
    if (step != 0)
      bits = builder_.lanewise(ir::Op::or_,
                               {bits, builder_.lanewise(ir::Op::shr, {bits, number(1u << (step - 1))})});
    bits = builder_.lanewise(ir::Op::and_, {bits, number(kept[step])});
  }
  return builder_.bits_mask(bits, lanes());
}

ir::ValueId Lowering::of_channels(ir::ValueId mask) {
  if (!inst_->paired || mask == ir::no_value) return mask;
  constexpr std::array<std::uint32_t, 4> kept{0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff};
  const auto number = [&](std::uint32_t n) { return builder_.constant(ir::Type::u32, 1, n); };
  const auto with_copy = [&](ir::ValueId bits, unsigned distance) {
    return builder_.lanewise(ir::Op::or_, {bits, builder_.lanewise(ir::Op::shl, {bits, number(distance)})});
  };
  ir::ValueId bits = builder_.mask_bits(ir::Type::u32, mask);
  for (unsigned step = static_cast<unsigned>(kept.size()); step-- > 0;)
    if (1u << step < lanes())
      bits = builder_.lanewise(ir::Op::and_, {with_copy(bits, 1u << step), number(kept[step])});
  return builder_.bits_mask(with_copy(bits, 1), channels());
}

ir::ValueId Lowering::lane_mask() {
  if (lane_mask_read_) return lane_mask_;
  lane_mask_read_ = true;
  lane_mask_ = inst_->no_mask ? ir::no_value : of_lanes(channel_mask(inst_->channel_offset, channels()));
  // Channels outside the destination's mask stay inactive without execution mask too (manual, example in
  // 3.2.2).
  if ((~inst_->enabled & ir::lane_mask(lanes())) != 0)
    lane_mask_ = both(lane_mask_, builder_.constant(ir::Type::m, lanes(), inst_->enabled));
  return lane_mask_;
}

const char* Lowering::check_flags() const {
  const Instruction& in = *inst_;
  if (!in.predicated() && in.condition == Condition::None && !in.uses_flag) return nullptr;
  const unsigned end =
      in.flag % flag_register_bits + round_up(in.channel_offset + channels(), in.predicate.group);
  return end > flag_register_bits || in.flag >= target_.flag_bits ? "flags beyond the flag register"
                                                                  : nullptr;
}

ir::ValueId Lowering::predicate() {
  using enum Predicate::Control;
  if (predicate_read_) return predicate_;
  predicate_read_ = true;
  const Predicate& how = inst_->predicate;
  ir::ValueId value = ir::no_value;
  switch (how.control) {
    case None:
      return predicate_ = ir::no_value;
    case Channel:
      value = builder_.flag_read(channels(), flag_bit());
      break;
    case Component: {
      // Every flag of a group becomes that of the component.
      const unsigned skip = inst_->channel_offset % how.group;
      const unsigned count = round_up(skip + channels(), how.group);
      const ir::ValueId flags = builder_.flag_read(count, flag_bit() - skip);
      const ir::ValueId kept = builder_.constant(ir::Type::m, count, 0x11111111ull << how.component);
      value = builder_.mask_group(ir::Op::group_any, both(flags, kept), how.group);
      value = builder_.slice(value, skip, channels());
      break;
    }
    case First: {
      // All ones or all zeros from the lowest bit, so that lanes need not be examined one by one.
      const ir::ValueId bit = builder_.mask_bits(ir::Type::u32, builder_.flag_read(1, flag_bit()));
      value = builder_.bits_mask(builder_.lanewise(ir::Op::neg, {bit}), channels());
      break;
    }
    case AnyV:
    case AllV: {
      const unsigned bit = flag_bit() % flag_register_bits;
      value = builder_.lanewise(
          how.control == AnyV ? ir::Op::or_ : ir::Op::and_,
          {builder_.flag_read(channels(), bit), builder_.flag_read(channels(), flag_register_bits + bit)});
      break;
    }
    case AnyH:
    case AllH: {
      // Groups begin at channel 0, so an instruction uses the flags of whole groups.
      const unsigned skip = inst_->channel_offset % how.group;
      const unsigned count = round_up(skip + channels(), how.group);
      const ir::ValueId flags = builder_.flag_read(count, flag_bit() - skip);
      const ir::Op op = how.control == AnyH ? ir::Op::group_any : ir::Op::group_all;
      value = builder_.slice(builder_.mask_group(op, flags, how.group), skip, channels());
      break;
    }
  }
  value = of_lanes(value);
  if (how.inverse) value = builder_.lanewise(ir::Op::not_, {value});
  return predicate_ = value;
}

ir::ValueId Lowering::both(ir::ValueId a, ir::ValueId b) {
  if (a == ir::no_value) return b;
  if (b == ir::no_value) return a;
  return builder_.lanewise(ir::Op::and_, {a, b});
}

ir::ValueId Lowering::write_mask() { return both(both(lane_mask(), predicate()), only_); }

ir::ValueId Lowering::spread(ir::ValueId mask) {
  unsigned simd = builder_.function().simd;
  unsigned first = inst_->channel_offset, count = builder_.lanes_of(mask);
  if (first >= simd) return none_of(simd);
  if (first + count > simd) {
    count = simd - first;
    mask = builder_.slice(mask, 0, count);
  }
  if (first != 0) mask = builder_.concat(none_of(first), mask);
  if (first + count < simd) mask = builder_.concat(mask, none_of(simd - first - count));
  return mask;
}

void Lowering::write_flag_mask(ir::ValueId value) {
  builder_.flag_write(flag_bit(), of_channels(value), of_channels(write_mask()));
}

void Lowering::write_flags(ir::ValueId seen, ir::ValueId computed, ir::ValueId overflow) {
  using enum Condition;
  static constexpr std::array<ir::Op, 7> ops{ir::Op::cmp_eq, ir::Op::cmp_eq, ir::Op::cmp_ne, ir::Op::cmp_gt,
                                             ir::Op::cmp_ge, ir::Op::cmp_lt, ir::Op::cmp_le};
  if (inst_->condition == un) {
    // Only NaN is unordered with itself.
    return write_flag_mask(ir::is_float(builder_.type_of(computed))
                               ? builder_.compare(ir::Op::cmp_un, computed, computed)
                               : none_of(lanes()));
  }
  if (inst_->condition == ov) return write_flag_mask(overflow);
  ir::ValueId zero = builder_.constant(builder_.type_of(seen), lanes(), 0);
  write_flag_mask(builder_.compare(ops[static_cast<unsigned>(inst_->condition)], seen, zero));
}

namespace {

/// The bounds of integer type `type`.
std::int64_t lowest(ir::Type type) {
  return ir::is_signed(type) ? std::int64_t{-1} << (8 * ir::size_of(type) - 1) : 0;
}
std::uint64_t highest(ir::Type type) {
  return ~0ull >> (64 - 8 * ir::size_of(type) + (ir::is_signed(type) ? 1 : 0));
}

/// Bits of 2^exponent in a float type; for f16, infinity if it exceeds the type.
std::uint64_t power_of_two(ir::Type type, unsigned exponent) {
  if (type == ir::Type::f64) return std::uint64_t{1023 + exponent} << 52;
  if (type == ir::Type::f32) return std::uint64_t{127 + exponent} << 23;
  return exponent > 15 ? 0x7c00 : std::uint64_t{15 + exponent} << 10;
}

}  // namespace

ir::ValueId Lowering::overflow(ir::ValueId result) {
  using enum ir::Op;
  const ir::Type type = builder_.type_of(result), to = inst_->dst.type;
  const auto bound_of = [&](std::uint64_t bits) { return builder_.constant(type, lanes(), bits); };
  const auto either = [&](ir::ValueId a, ir::ValueId b) { return builder_.lanewise(or_, {a, b}); };
  if (ir::is_int(type) && ir::is_int(to)) {
    const ir::ValueId below =
        lowest(to) > lowest(type)
            ? builder_.compare(cmp_lt, result, bound_of(static_cast<std::uint64_t>(lowest(to))))
            : none_of(lanes());
    if (highest(to) >= highest(type)) return below;
    return either(below, builder_.compare(cmp_gt, result, bound_of(highest(to))));
  }
  if (ir::is_int(to)) {
    // The values that truncate to an integer beyond the type.
    const unsigned bits = 8 * ir::size_of(to);
    const ir::ValueId beyond =
        builder_.compare(cmp_ge, result, bound_of(power_of_two(type, ir::is_signed(to) ? bits - 1 : bits)));
    const ir::ValueId bound = bound_of(power_of_two(type, ir::is_signed(to) ? bits - 1 : 0));
    const ir::ValueId least = builder_.lanewise(neg, {bound});
    if (!ir::is_signed(to)) return either(beyond, builder_.compare(cmp_le, result, least));
    if (type == ir::Type::f16 && bits > 16)  // all finite f16 are in range
      return either(beyond, builder_.compare(cmp_le, result, least));
    // -2^n fits; the next integer below does not.
    const ir::ValueId whole = builder_.lanewise(rndz, {result});
    return either(beyond, builder_.compare(cmp_lt, whole, least));
  }
  // Overflow: the result is infinite though no operand is infinite or NaN.
  const auto finite = [&](ir::ValueId value) {
    const ir::Type own = builder_.type_of(value);
    const ir::ValueId infinity = builder_.constant(own, lanes(),
                                                   power_of_two(own, own == ir::Type::f64   ? 1024
                                                                     : own == ir::Type::f32 ? 128
                                                                                            : 16));
    return builder_.compare(cmp_lt, builder_.lanewise(abs, {value}), infinity);
  };
  const ir::ValueId final = converted(to, result);
  const ir::ValueId nan = builder_.compare(cmp_un, final, final);
  ir::ValueId mask = builder_.lanewise(not_, {either(nan, finite(final))});
  if (!ir::is_float(type)) return mask;
  for (unsigned i = 0; i < inst_->source_count; ++i)
    mask = builder_.lanewise(and_, {mask, finite(source(i, type))});
  return mask;
}

}  // namespace eum::eu
