// Which channels of an instruction count: execution mask, predicate, flag bits.
#include "frontend/gen/lower/lowering.hpp"

namespace eum::gen {
namespace {

struct Group {
  ir::Op op;
  unsigned channels;
};

constexpr unsigned round_up(unsigned n, unsigned step) { return (n + step - 1) / step * step; }

/// Channels that a horizontal predicate control combines.
std::optional<Group> group_of(PredCtrl control) {
  using enum PredCtrl;
  switch (control) {
    case Any2H:
      return Group{ir::Op::group_any, 2};
    case All2H:
      return Group{ir::Op::group_all, 2};
    case Any4H:
      return Group{ir::Op::group_any, 4};
    case All4H:
      return Group{ir::Op::group_all, 4};
    case Any8H:
      return Group{ir::Op::group_any, 8};
    case All8H:
      return Group{ir::Op::group_all, 8};
    case Any16H:
      return Group{ir::Op::group_any, 16};
    case All16H:
      return Group{ir::Op::group_all, 16};
    case Any32H:
      return Group{ir::Op::group_any, 32};
    case All32H:
      return Group{ir::Op::group_all, 32};
    default:
      return std::nullopt;
  }
}

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

ir::ValueId Lowering::lane_mask() {
  return inst_->no_mask ? ir::no_value : channel_mask(inst_->channel_offset, lanes());
}

const char* Lowering::refuse_flags() const {
  const Instruction& in = *inst_;
  if (!in.predicated() && in.cond_mod == CondMod::None && !is_macro(in.math)) return nullptr;
  if (in.pred_ctrl >= PredCtrl::X) return "Align16 predicate control";
  std::optional<Group> group = group_of(in.pred_ctrl);
  unsigned end = round_up(in.channel_offset + lanes(), group ? group->channels : 1);
  return in.flag_reg > 1 || 16u * in.flag_subreg + end > 32 ? "flags beyond the flag register" : nullptr;
}

unsigned Lowering::flag_bit() const {
  return 32u * inst_->flag_reg + 16u * inst_->flag_subreg + inst_->channel_offset;
}

ir::ValueId Lowering::predicate() {
  if (predicate_read_) return predicate_;
  predicate_read_ = true;
  if (!inst_->predicated()) return predicate_ = ir::no_value;
  ir::ValueId value;
  if (std::optional<Group> group = group_of(inst_->pred_ctrl)) {
    // Channels are grouped from channel 0 on, so an instruction sees the flags of whole groups.
    unsigned skip = inst_->channel_offset % group->channels;
    unsigned count = round_up(skip + lanes(), group->channels);
    ir::ValueId flags = builder_.flag_read(count, flag_bit() - skip);
    value = builder_.slice(builder_.mask_group(group->op, flags, group->channels), skip, lanes());
  } else if (inst_->pred_ctrl == PredCtrl::AnyV || inst_->pred_ctrl == PredCtrl::AllV) {
    unsigned bit = flag_bit() % 32;
    value = builder_.lanewise(inst_->pred_ctrl == PredCtrl::AnyV ? ir::Op::or_ : ir::Op::and_,
                              {builder_.flag_read(lanes(), bit), builder_.flag_read(lanes(), 32 + bit)});
  } else {
    value = builder_.flag_read(lanes(), flag_bit());
  }
  // Inversion acts on what the predicate control yields.
  if (inst_->pred_inverse) value = builder_.lanewise(ir::Op::not_, {value});
  return predicate_ = value;
}

ir::ValueId Lowering::both(ir::ValueId a, ir::ValueId b) {
  if (a == ir::no_value) return b;
  if (b == ir::no_value) return a;
  return builder_.lanewise(ir::Op::and_, {a, b});
}

ir::ValueId Lowering::write_mask() { return both(lane_mask(), predicate()); }

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

void Lowering::write_flag_mask(ir::ValueId value) { builder_.flag_write(flag_bit(), value, write_mask()); }

void Lowering::write_flags(ir::ValueId result) {
  using enum CondMod;
  static constexpr std::array<ir::Op, 7> ops{ir::Op::cmp_eq, ir::Op::cmp_eq, ir::Op::cmp_ne, ir::Op::cmp_gt,
                                             ir::Op::cmp_ge, ir::Op::cmp_lt, ir::Op::cmp_le};
  ir::Type type = builder_.type_of(result);
  if (inst_->cond_mod == un) {
    // Only a NaN is unordered with itself.
    write_flag_mask(ir::is_float(type) ? builder_.compare(ir::Op::cmp_un, result, result) : none_of(lanes()));
    return;
  }
  ir::ValueId zero = builder_.constant(type, lanes(), 0);
  write_flag_mask(builder_.compare(ops[static_cast<unsigned>(inst_->cond_mod)], result, zero));
}

}  // namespace eum::gen
