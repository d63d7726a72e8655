#include "memory/image/kernels/sample_emitter.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "memory/image/coordinate.hpp"
#include "memory/image/layout.hpp"
#include "memory/image/sampler.hpp"
#include "memory/image/texel_fetch.hpp"
#include "memory/surface.hpp"

namespace eum::mem::image::kernels {

namespace {

// vroundps: the mode, and no inexact exception.
constexpr std::uint8_t round_nearest = 8, round_down = 9;
constexpr std::uint8_t ordered = 7, unordered = 3;  // vcmpps
constexpr float farthest = 16777216;                // texel_position()

bool is_border(AddressControl mode) {
  return mode == AddressControl::CLAMP_BORDER || mode == AddressControl::HALF_BORDER;
}

/// Modes of an axis that indices need one correction for at most.
bool can_wrap(AddressControl mode, bool normalized, int offset, std::uint32_t size) {
  const bool periodic = mode == AddressControl::WRAP || mode == AddressControl::MIRROR;
  if (mode == AddressControl::CUBE) return false;
  return !periodic || (normalized && (offset == 0 || size > 16));
}

}  // namespace

std::optional<SamplePlan> plan_sample(const SampleMessage& message, const SurfaceState& surface,
                                      const SamplerState& sampler, SampleControl control) {
  const SampleOpInfo& op = info(message.op);
  const FormatInfo* format = find_format(surface.format);
  if (format == nullptr || !can_read(surface, *format)) return std::nullopt;
  if (message.lanes != 8 && message.lanes != 16 && message.lanes != 32) return std::nullopt;
  if (refuse(message, surface, &sampler, format) != nullptr) return std::nullopt;
  SamplePlan plan;
  if (op.has(sample_flag::Texel)) {
    plan.texels = true;
    if (message.op == SampleOp::ld_lz || surface.type == SurfaceType::SURFTYPE_BUFFER) return plan;
    if (message.op == SampleOp::ld && surface.mip_count <= 16) return plan;
    return std::nullopt;
  }
  if (op.flags != 0 && op.flags != sample_flag::Derivatives) return std::nullopt;
  if (sampler.disable || reduction(message.op, sampler) != Combine::Weighted) return std::nullopt;
  const auto is_linear = [](MapFilter filter) { return filter != MapFilter::NEAREST; };
  if (op.lod == LodSource::Zero) {
    const LevelChoice choice = choose_levels(sampler.lod_bias, 0, surface, sampler);
    plan.linear = is_linear(choice.magnified ? sampler.mag_filter : sampler.min_filter);
    plan.level = choice.level;
    plan.weight = choice.weight;
  } else {
    // One filter, and one level if there is no choice, whatever the level of detail.
    plan.varies = sampler.mip_filter != MipFilter::NONE && surface.mip_count != 1;
    if (is_linear(sampler.min_filter) != is_linear(sampler.mag_filter)) return std::nullopt;
    if (op.lod == LodSource::Computed && sampler.min_filter == MapFilter::ANISOTROPIC) return std::nullopt;
    plan.linear = is_linear(sampler.min_filter);
  }
  if (format->integer) {
    plan.linear = false;
    plan.weight = 0;
  } else if (plan.varies && !plan.linear && sampler.mip_filter == MipFilter::LINEAR) {
    return std::nullopt;  // lanes that mix levels and lanes that give a texel as it is
  }
  if (plan.varies) {
    for (unsigned k = 0; k < dimensions(surface.type); ++k)
      if (!can_wrap(sampler.address[k], !sampler.non_normalized, control.offset(k), 1)) return std::nullopt;
    return surface.mip_count <= 16 ? std::optional(plan) : std::nullopt;
  }
  for (unsigned level = plan.level; level <= plan.level + (plan.weight != 0 ? 1 : 0); ++level)
    for (unsigned k = 0; k < dimensions(surface.type); ++k)
      if (!can_wrap(sampler.address[k], !sampler.non_normalized, control.offset(k),
                    level_size(surface, surface.min_lod + level)[k]))
        return std::nullopt;
  return plan;
}

SampleEmitter::SampleEmitter(std::byte* pages, std::size_t size, const SampleMessage& message,
                             const SurfaceState& surface, const SamplerState& sampler, SampleControl control,
                             const SamplePlan& plan)
    : Emitter(pages, size, surface, *find_format(surface.format)),
      message_(message),
      sampler_(sampler),
      control_(control),
      plan_(plan),
      axes_(dimensions(surface.type)),
      filters_(plan.linear || plan.weight != 0) {
  Surface none;
  none.image = surface;
  const TexelFetch fetch(none, format_, nullptr);
  border_texel_ = fetch.border_texel(sampler.border);
  border_value_ = fetch.border_value(sampler.border);
  unsigned results = 0;
  for (unsigned c = 0; c < 4; ++c) {
    if ((control.masked_channels() >> c & 1) != 0 || results++ >= message.results) continue;
    const unsigned channel =
        static_cast<unsigned>(surface.select[c]) - static_cast<unsigned>(ChannelSelect::RED);
    if (channel < 4) needed_ |= 1u << channel;
  }

  enter();
  mov(rsi, ptr[rdi + offsetof(SampleCall, data)]);
  mov(rax, ptr[rdi + offsetof(SampleCall, surface)]);
  mov(r8, ptr[rax + offsetof(Surface, base)]);
  for (group_ = 0; group_ < message.lanes / 8u; ++group_) {
    const unsigned before = mark();
    group();
    release(before);
  }
  leave();
}

Xbyak::Address SampleEmitter::parameter(unsigned k) const {
  return yword[rsi + std::size_t{4} * (k * message_.lanes + 8 * group_)];
}
Xbyak::Address SampleEmitter::result(unsigned k) const { return parameter(k); }

std::optional<unsigned> SampleEmitter::place(Parameter which) const {
  const auto k = info(message_.op).parameters.find(which);
  return k && *k < message_.parameters ? k : std::nullopt;
}

void SampleEmitter::load_parameter(const Ymm& to, Parameter which) {
  if (const auto k = place(which))
    vmovups(to, parameter(*k));
  else
    zero(to);
}

void SampleEmitter::group() {
  lanes_ = new_slot();
  lane_mask(ymm0, dword[rdi + offsetof(SampleCall, mask)], group_);
  vmovdqa(at(lanes_), ymm0);
  std::array<Slot, 4> values;
  for (Slot& value : values) value = new_slot();
  if (plan_.texels) {
    load_texels(values);
  } else if (plan_.varies) {
    filter_levels(values);
  } else {
    filter_level(constant_level(plan_.level), values);
    if (plan_.weight != 0) {
      std::array<Slot, 4> next;
      for (Slot& value : next) value = new_slot();
      filter_level(constant_level(plan_.level + 1), next);
      mix_levels(values, next, splat(static_cast<float>(plan_.weight) / 256), {});
    }
  }
  finish(values);
}

/// In the lanes of `where`, or in all.
void SampleEmitter::mix_levels(const std::array<Slot, 4>& values, const std::array<Slot, 4>& next,
                               const Address& weight, Slot where) {
  vmovaps(ymm2, weight);
  if (where.has()) vmovdqa(ymm3, at(where));
  for (unsigned c = 0; c < 4; ++c) {
    if ((needed_ >> c & 1) == 0 || format_.channels[c].bits == 0) continue;
    vmovaps(ymm0, at(values[c]));
    vmovaps(ymm1, at(next[c]));
    vsubps(ymm1, ymm1, ymm0);
    vfmadd213ps(ymm1, ymm2, ymm0);
    if (where.has()) vblendvps(ymm1, ymm0, ymm1, ymm3);
    vmovaps(at(values[c]), ymm1);
  }
}

Level SampleEmitter::constant_level(unsigned number) const {
  return level_of(state_.min_lod + number, axes_ == 3 ? 0 : state_.min_array_element);
}

void SampleEmitter::position(const Ymm& u, const Ymm& t, const Level& level, unsigned axis) {
  const AddressControl mode = sampler_.address[axis];
  const bool normalized = !sampler_.non_normalized;
  bool reduced = false;
  if (normalized && mode == AddressControl::WRAP) {
    vroundps(t, u, round_down);
    vsubps(u, u, t);
    reduced = true;
  } else if (normalized && mode == AddressControl::MIRROR) {
    vmulps(t, u, splat(0.5f));
    vroundps(t, t, round_nearest);
    vaddps(t, t, t);
    vsubps(u, u, t);
    reduced = true;
  }
  if (normalized && (mode == AddressControl::MIRROR || mode == AddressControl::MIRROR_ONCE))
    vandps(u, u, splat(0x7fffffffu));
  vcmpps(t, u, u, ordered);
  vandps(u, u, t);
  if (normalized) vmulps(u, u, number_of(level, axis));
  if (const int offset = control_.offset(axis); offset != 0) vaddps(u, u, splat(static_cast<float>(offset)));
  if (mode == AddressControl::HALF_BORDER) {
    zero(t);
    vmaxps(u, u, t);
    vminps(u, u, number_of(level, axis));
  } else if (!reduced) {
    vmaxps(u, u, splat(-farthest));
    vminps(u, u, splat(farthest));
  }
}

void SampleEmitter::wrap(const Ymm& index, const Ymm& t, const Level& level, unsigned axis, unsigned tap,
                         Taps& taps) {
  const Address size = size_of(level, axis), last = last_of(level, axis);
  AddressControl mode = sampler_.address[axis];
  if (!plan_.linear) mode = nearest_mode(mode);
  const bool offset = control_.offset(axis) != 0;
  if (mode == AddressControl::WRAP) {
    if (offset || (plan_.linear && tap == 0)) {  // may be below 0
      vpsrad(t, index, 31);
      vpand(t, t, size);
      vpaddd(index, index, t);
    }
    if (offset || !plan_.linear || tap == 1) {  // may be the size or more
      vpcmpgtd(t, index, last);
      vpand(t, t, size);
      vpsubd(index, index, t);
    }
    return;
  }
  if (mode == AddressControl::MIRROR_ONCE || (mode == AddressControl::MIRROR && offset)) {
    vpsrad(t, index, 31);
    vpxor(index, index, t);
  }
  if (mode == AddressControl::MIRROR && offset) {  // the lesser of i and 2n - 1 - i
    vmovdqa(t, splat(2 * level.size[axis] - 1));   // levels that vary have no offset
    vpsubd(t, t, index);
    vpminsd(index, index, t);
    return;
  }
  if (is_border(mode)) {
    vmovdqa(t, index);
    zero(ymm15);
    vpmaxsd(index, index, ymm15);
    vpminsd(index, index, last);
    vpcmpeqd(t, t, index);
    taps.inside[tap] = new_slot();
    vmovdqa(at(taps.inside[tap]), t);
    return;
  }
  zero(t);
  vpmaxsd(index, index, t);
  vpminsd(index, index, last);
}

SampleEmitter::Taps SampleEmitter::axis_taps(const Level& level, unsigned axis) {
  Taps result;
  load_parameter(ymm0, static_cast<Parameter>(axis));
  position(ymm0, ymm2, level, axis);
  if (plan_.linear) {
    vsubps(ymm0, ymm0, splat(0.5f));
    vroundps(ymm1, ymm0, round_down);
    vsubps(ymm0, ymm0, ymm1);
    vmulps(ymm0, ymm0, splat(256.0f));
    vroundps(ymm0, ymm0, round_nearest);
    vmulps(ymm0, ymm0, splat(1.0f / 256));
    result.weight = new_slot();
    vmovaps(at(result.weight), ymm0);
    vcvttps2dq(ymm0, ymm1);
    vpsubd(ymm1, ymm0, splat(~0u));
  } else {
    vroundps(ymm0, ymm0, round_down);
    vcvttps2dq(ymm0, ymm0);
  }
  for (unsigned tap = 0; tap < taps(); ++tap) {
    const Ymm index = tap == 0 ? ymm0 : ymm1;
    wrap(index, ymm2, level, axis, tap, result);
    if (axis == 0) column_offset(level, index, ymm2);
    if (axis == 2) multiply(index, rows_per_slice());
    result.index[tap] = new_slot();
    vmovdqa(at(result.index[tap]), index);
  }
  return result;
}

void SampleEmitter::array_slice(const Ymm& to, Parameter which, std::uint32_t count) {
  load_parameter(to, which);
  zero(ymm2);
  vmaxps(to, to, ymm2);  // a NaN is 0
  vroundps(to, to, round_nearest);
  vminps(to, to, splat(static_cast<float>(count - 1)));
  vcvttps2dq(to, to);
  multiply(to, rows_per_slice());
}

void SampleEmitter::corner_offsets(const Level& level, const std::array<Taps, 3>& taps) {
  const Taps& u = taps[0];
  const bool sliced = axes_ < 3 && state_.array;
  Slot slice;
  if (sliced) {
    array_slice(ymm0, static_cast<Parameter>(axes_), state_.depth);
    slice = new_slot();
    vmovdqa(at(slice), ymm0);
  }
  const unsigned n = this->taps();
  const unsigned ys = axes_ > 1 ? n : 1, zs = axes_ > 2 ? n : 1;
  for (unsigned z = 0; z < zs; ++z)
    for (unsigned y = 0; y < ys; ++y) {
      const bool rows = axes_ > 1 || sliced || moves_rows(level);
      if (rows) {
        if (axes_ > 1)
          vmovdqa(ymm0, at(taps[1].index[y]));
        else
          zero(ymm0);
        if (axes_ > 2) vpaddd(ymm0, ymm0, at(taps[2].index[z]));
        if (sliced) vpaddd(ymm0, ymm0, at(slice));
        row_offset(level, ymm0, ymm1);
      }
      for (unsigned x = 0; x < n; ++x) {
        const unsigned corner = x + 2 * y + 4 * z;
        if (rows)
          vpaddd(ymm1, ymm0, at(u.index[x]));
        else
          vmovdqa(ymm1, at(u.index[x]));
        offset_[corner] = new_slot();
        vmovdqa(at(offset_[corner]), ymm1);
        corner_inside_[corner] = {};
        const std::array<unsigned, 3> tap = {x, y, z};
        for (unsigned k = 0; k < axes_; ++k) {
          const Slot inside = taps[k].inside[tap[k]];
          if (!inside.has()) continue;
          if (corner_inside_[corner].has()) {
            vpand(ymm1, ymm1, at(inside));
          } else {
            vmovdqa(ymm1, at(inside));
            corner_inside_[corner] = new_slot();
          }
        }
        if (corner_inside_[corner].has()) vmovdqa(at(corner_inside_[corner]), ymm1);
      }
    }
}

void SampleEmitter::filter_level(const Level& level, const std::array<Slot, 4>& values) {
  const unsigned before = mark();
  std::array<Taps, 3> taps;
  for (unsigned k = 0; k < axes_; ++k) taps[k] = axis_taps(level, k);
  corner_offsets(level, taps);
  if (is_wide())
    for (unsigned corner = 0; corner < corners(); ++corner) load_corner(level, corner);
  for (unsigned plane = 0; plane < planes(); ++plane) plane_channels(level, plane, taps, values);
  release(before);
}

unsigned SampleEmitter::channels_of(unsigned plane) const {
  unsigned channels = 0;
  for (unsigned c = 0; c < 4; ++c)
    if ((needed_ >> c & 1) != 0 && format_.channels[c].bits != 0 && format_.channels[c].bit / 32u == plane)
      channels |= 1u << c;
  return channels;
}

void SampleEmitter::load_corner(const Level& level, unsigned corner) {
  if (needed_ == 0) return;
  load_lanes(level, offset_[corner]);
  for (unsigned plane = 0; plane < planes(); ++plane) {
    if (channels_of(plane) == 0) continue;
    texel_[corner][plane] = new_slot();
    vmovaps(at(texel_[corner][plane]), Ymm(static_cast<int>(plane)));
  }
}

void SampleEmitter::plane_channels(const Level& level, unsigned plane, const std::array<Taps, 3>& taps,
                                   const std::array<Slot, 4>& values) {
  const unsigned channels = channels_of(plane);
  if (channels == 0) return;
  for (unsigned corner = 0; corner < corners(); ++corner) {
    const Ymm texel(static_cast<int>(corner));
    if (is_wide()) {
      vmovaps(texel, at(texel_[corner][plane]));
      continue;
    }
    zero(texel);
    ones(ymm9);
    vmovdqa(ymm8, at(offset_[corner]));
    gather(texel, level, ymm8, ymm9, ymm10, plane);
  }
  for (unsigned c = 0; c < 4; ++c) {
    if ((channels >> c & 1) == 0) continue;
    lerp_tree(plan_.linear ? axes_ : 0, 0, 8, c, taps);
    vmovaps(at(values[c]), ymm8);
  }
}

/// The value of `corner` and its neighbours along the axes below `axis`, in the register `depth`.
void SampleEmitter::lerp_tree(unsigned axis, unsigned corner, unsigned depth, unsigned channel,
                              const std::array<Taps, 3>& taps) {
  const Ymm to(static_cast<int>(depth));
  if (axis == 0) {
    decode(to, Ymm(static_cast<int>(corner)), format_.channels[channel], ymm14);
    if (corner_inside_[corner].has() && filters_) {
      vmovaps(ymm14, splat(border_value_[channel]));
      vmovdqa(ymm15, at(corner_inside_[corner]));
      vblendvps(to, ymm14, to, ymm15);
    }
    return;
  }
  const Ymm next(static_cast<int>(depth + 1));
  lerp_tree(axis - 1, corner, depth, channel, taps);
  lerp_tree(axis - 1, corner + (1u << (axis - 1)), depth + 1, channel, taps);
  vsubps(next, next, to);
  vfmadd231ps(to, next, at(taps[axis - 1].weight));
}

void SampleEmitter::load_texels(const std::array<Slot, 4>& values) {
  const bool three = axes_ == 3, sliced = !three && state_.array;
  const bool buffer = state_.type == SurfaceType::SURFTYPE_BUFFER;
  const std::uint32_t first = three ? 0 : state_.min_array_element;
  Level level = level_of(buffer ? 0 : state_.min_lod, first);
  inside_ = new_slot();
  vmovdqa(ymm3, at(lanes_));
  if (message_.op == SampleOp::ld && !buffer && place(Parameter::lod)) {
    load_parameter(ymm0, Parameter::lod);
    vpminud(ymm1, ymm0, splat(state_.mip_count - 1u));
    vpcmpeqd(ymm0, ymm0, ymm1);
    vpand(ymm3, ymm3, ymm0);
    vmovdqa(at(inside_), ymm3);
    if (state_.mip_count > 1) {
      const Slot number = new_slot();
      vmovdqa(at(number), ymm1);
      level = levels_of(number, state_.min_lod, state_.mip_count, first);
      vmovdqa(ymm3, at(inside_));
    }
  }
  // ymm0: u, ymm1: the row
  const auto load = [&](const Ymm& to, unsigned axis, const Address& last, bool offset) {
    load_parameter(to, static_cast<Parameter>(axis));
    if (offset && control_.offset(axis) != 0)
      vpaddd(to, to, splat(static_cast<std::uint32_t>(control_.offset(axis))));
    vpminud(ymm2, to, last);
    vpcmpeqd(ymm2, ymm2, to);
    vpand(ymm3, ymm3, ymm2);
  };
  load(ymm0, 0, last_of(level, 0), true);
  bool rows = false;
  if (axes_ > 1) {
    load(ymm1, 1, last_of(level, 1), true);
    rows = true;
  }
  if (three || sliced) {
    const Ymm slice = rows ? ymm4 : ymm1;
    load(slice, axes_ - (three ? 1 : 0), last_of(level, 2), three);
    multiply(slice, rows_per_slice());
    if (rows) vpaddd(ymm1, ymm1, ymm4);
    rows = true;
  } else if (!rows && moves_rows(level)) {
    zero(ymm1);
    rows = true;
  }
  vmovdqa(at(inside_), ymm3);
  column_offset(level, ymm0, ymm2);
  if (rows) {
    row_offset(level, ymm1, ymm2);
    vpaddd(ymm0, ymm0, ymm1);
  }
  if (is_wide()) vpand(ymm0, ymm0, ymm3);  // lanes that are outside read the first texel
  offset_[0] = new_slot();
  vmovdqa(at(offset_[0]), ymm0);
  if (is_wide()) load_corner(level, 0);
  for (unsigned plane = 0; plane < planes(); ++plane) {
    const unsigned channels = channels_of(plane);
    if (channels == 0) continue;
    if (is_wide()) {
      vmovaps(ymm0, at(texel_[0][plane]));
    } else {
      zero(ymm0);
      vmovdqa(ymm8, at(offset_[0]));
      vmovdqa(ymm9, at(inside_));
      gather(ymm0, level, ymm8, ymm9, ymm10, plane);
    }
    for (unsigned c = 0; c < 4; ++c) {
      if ((channels >> c & 1) == 0) continue;
      decode(ymm8, ymm0, format_.channels[c], ymm14);
      vmovaps(at(values[c]), ymm8);
    }
  }
}

void SampleEmitter::finish(const std::array<Slot, 4>& values) {
  const std::uint32_t one = format_.integer ? 1 : std::bit_cast<std::uint32_t>(1.0f);
  const Slot inside = plan_.texels || filters_ ? Slot{} : corner_inside_[0];
  // Each channel of the texel once, in ymm8 to ymm11.
  for (unsigned c = 0; c < 4; ++c) {
    if ((needed_ >> c & 1) == 0) continue;
    const Ymm y(static_cast<int>(8 + c));
    const ChannelLayout& channel = format_.channels[c];
    if (channel.bits == 0) {
      vmovaps(y, splat(c == 3 ? one : 0u));
      if (plan_.texels) vandps(y, y, at(inside_));  // outside of the surface alpha is 0
      continue;
    }
    vmovaps(y, at(values[c]));
    divide(y, channel);
    if (filters_ && channel.kind == ChannelKind::FLOAT) {
      vmovaps(ymm1, splat(canonical_nan));
      vcmpps(ymm0, y, y, unordered);
      vblendvps(y, y, ymm1, ymm0);
    }
    if (plan_.texels) vandps(y, y, at(inside_));
    if (inside.has()) {
      vmovaps(ymm1, splat(border_texel_[c]));
      vmovdqa(ymm0, at(inside));
      vblendvps(y, ymm1, y, ymm0);
    }
  }
  unsigned k = 0;
  for (unsigned c = 0; c < 4 && k < message_.results; ++c) {
    if ((control_.masked_channels() >> c & 1) != 0) continue;
    const ChannelSelect select = state_.select[c];
    const unsigned channel = static_cast<unsigned>(select) - static_cast<unsigned>(ChannelSelect::RED);
    if (channel < 4)
      vmovaps(ymm0, Ymm(static_cast<int>(8 + channel)));
    else
      vmovaps(ymm0, splat(select == ChannelSelect::ONE ? one : 0u));
    if (message_.half && format_.integer) vpand(ymm0, ymm0, splat(0xffffu));
    if (message_.half && !format_.integer) to_half(ymm0);
    vandps(ymm0, ymm0, at(lanes_));
    vmovups(result(k++), ymm0);
  }
  const unsigned mask_result = k;
  if (k < message_.results) zero(ymm0);
  while (k < message_.results) vmovups(result(k++), ymm0);
  const bool kill = message_.op == SampleOp::sample_killpix;
  if (group_ != 0 || mask_result >= message_.results || (!control_.null_mask() && !kill)) return;
  const std::uint32_t all = message_.lanes >= 32 ? ~0u : (1u << message_.lanes) - 1;
  mov(eax, all);
  if (kill) and_(eax, dword[rdi + offsetof(SampleCall, mask)]);
  mov(dword[rsi + std::size_t{4} * (mask_result * message_.lanes)], eax);
}

}  // namespace eum::mem::image::kernels
