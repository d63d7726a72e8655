#include "memory/image/kernels/sample_emitter.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>

#include "memory/image/coordinate.hpp"
#include "memory/image/layout.hpp"
#include "memory/image/sampler.hpp"
#include "memory/image/texel_fetch.hpp"
#include "memory/surface.hpp"

namespace eum::mem::image::kernels {

namespace {

// vroundps: the rounding mode, with the inexact exception suppressed.
constexpr std::uint8_t round_nearest = 8, round_down = 9;
constexpr std::uint8_t ordered = 7;   // vcmpps
constexpr float farthest = 16777216;  // texel_position()

/// The largest number of texels by which the message's offset moves an axis.
int reach_of_offset(const SampleOpInfo& op, SampleControl control, unsigned axis) {
  constexpr int parameter = 32;  // six bits, signed
  return op.has(sample_flag::Offsets) && axis < 2 ? parameter : std::abs(control.offset(axis));
}

/// Modes with which an index on this axis needs at most one correction.
bool can_wrap(AddressControl mode, bool normalized, int reach, std::uint32_t size) {
  const bool periodic = mode == AddressControl::WRAP || mode == AddressControl::MIRROR;
  return !periodic || (normalized && (reach == 0 || size > static_cast<std::uint32_t>(reach) + 8));
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
  if (op.has(sample_flag::Info) || sampler.disable) return std::nullopt;
  if (op.has(sample_flag::Offsets) && surface.type == SurfaceType::SURFTYPE_CUBE) return std::nullopt;
  plan.combine = reduction(message.op, sampler);
  plan.compare = op.has(sample_flag::Compare);
  plan.gather = op.has(sample_flag::Gather);
  if (plan.compare && format->channels[0].bits == 0) return std::nullopt;
  const auto is_linear = [](MapFilter filter) { return filter != MapFilter::NEAREST; };
  if (op.lod == LodSource::Zero) {
    const LevelChoice choice = choose_levels(sampler.lod_bias, 0, surface, sampler);
    plan.linear = is_linear(choice.magnified ? sampler.mag_filter : sampler.min_filter);
    plan.level = choice.level;
    plan.weight = choice.weight;
    if (plan.gather) {
      plan.linear = true;  // gather uses the linear filter's texels
      plan.weight = 0;
    }
  } else {
    // The filter must not depend on the level of detail; nor must the level, unless plan.varies.
    plan.varies = sampler.mip_filter != MipFilter::NONE && surface.mip_count != 1;
    if (is_linear(sampler.min_filter) != is_linear(sampler.mag_filter)) return std::nullopt;
    if (op.lod == LodSource::Computed && sampler.min_filter == MapFilter::ANISOTROPIC) return std::nullopt;
    plan.linear = is_linear(sampler.min_filter);
  }
  if (plan.varies && op.lod == LodSource::Computed && surface.type == SurfaceType::SURFTYPE_CUBE)
    return std::nullopt;
  if (format->integer && !plan.gather) {
    plan.linear = false;
    plan.weight = 0;
  } else if (plan.varies && !plan.linear && sampler.mip_filter == MipFilter::LINEAR) {
    return std::nullopt;  // some lanes would mix levels, others return a texel unchanged
  }
  if (plan.varies) {
    for (unsigned k = 0; k < dimensions(surface.type); ++k)
      if (!can_wrap(sampler.address[k], !sampler.non_normalized, reach_of_offset(op, control, k), 1))
        return std::nullopt;
    return surface.mip_count <= 16 ? std::optional(plan) : std::nullopt;
  }
  for (unsigned level = plan.level; level <= plan.level + (plan.weight != 0 ? 1 : 0); ++level)
    for (unsigned k = 0; k < dimensions(surface.type); ++k)
      if (!can_wrap(sampler.address[k], !sampler.non_normalized, reach_of_offset(op, control, k),
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
      filters_((plan.linear || plan.weight != 0) && !plan.gather) {
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
  if (plan.compare) {
    needed_ = 1;
  } else if (plan.gather) {
    const unsigned channel = static_cast<unsigned>(surface.select[control.gather_channel()]) -
                             static_cast<unsigned>(ChannelSelect::RED);
    needed_ = channel < 4 ? 1u << channel : 0;
  }

  enter(denormals_matter());
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

/// Coordinates: -denormal falls on the same texel as 0, except with a border. Texels: sums of a format's
/// integers are never denormal.
bool SampleEmitter::denormals_matter() const {
  if (plan_.texels) return false;
  if (plan_.compare || plan_.varies || is_cube()) return true;
  for (unsigned k = 0; k < axes_; ++k)
    if (is_border(mode(k))) return true;
  if (!filters_) return false;
  return std::any_of(format_.channels.begin(), format_.channels.end(),
                     [](const ChannelLayout& c) { return c.bits > 1 && filter_divisor(c) == 1; });
}

AddressControl SampleEmitter::mode(unsigned axis) const {
  return is_cube() && sampler_.cube_override ? AddressControl::CUBE : sampler_.address[axis];
}

bool SampleEmitter::has_offset_parameter(unsigned axis) const {
  return info(message_.op).has(sample_flag::Offsets) && axis < 2;
}

bool SampleEmitter::crosses_edges() const {
  return is_cube() && plan_.linear && mode(0) == AddressControl::CUBE && mode(1) == AddressControl::CUBE;
}

void SampleEmitter::load_coordinate(const Ymm& to, unsigned axis) {
  if (is_cube())
    vmovaps(to, at(face_coordinate_[axis]));
  else
    load_parameter(to, static_cast<Parameter>(axis));
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
  if (plan_.compare) load_reference();
  if (is_cube() && !plan_.texels) select_face();
  if (plan_.gather) {
    gather_texels(values);
    write_results(false);
    return;
  }
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

/// In the lanes of `where`, or in all if it is empty.
void SampleEmitter::mix_levels(const std::array<Slot, 4>& values, const std::array<Slot, 4>& next,
                               const Address& weight, Slot where) {
  for (unsigned c = 0; c < 4; ++c) {
    if ((needed_ >> c & 1) == 0 || format_.channels[c].bits == 0) continue;
    vmovaps(ymm0, at(values[c]));
    vmovaps(ymm1, at(next[c]));
    combine(ymm0, ymm1, weight);
    if (where.has()) {
      vmovdqa(ymm3, at(where));
      vmovaps(ymm1, at(values[c]));
      vblendvps(ymm0, ymm1, ymm0, ymm3);
    }
    vmovaps(at(values[c]), ymm0);
  }
}

Level SampleEmitter::constant_level(unsigned number) const {
  return level_of(state_.min_lod + number, axes_ == 3 ? 0 : state_.min_array_element);
}

void SampleEmitter::position(const Ymm& u, const Ymm& t, const Level& level, unsigned axis) {
  const AddressControl mode = this->mode(axis);
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
  if (has_offset_parameter(axis)) {
    load_parameter(t, axis == 0 ? Parameter::offu : Parameter::offv);
    vpslld(t, t, 26);
    vpsrad(t, t, 26);
    vcvtdq2ps(t, t);
    vaddps(u, u, t);
  } else if (const int offset = control_.offset(axis); offset != 0) {
    vaddps(u, u, splat(static_cast<float>(offset)));
  }
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
  AddressControl mode = this->mode(axis);
  if (!plan_.linear) mode = nearest_mode(mode);
  const bool offset = has_offset_parameter(axis) || control_.offset(axis) != 0;
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
  if (mode == AddressControl::MIRROR && offset) {  // the smaller of i and 2n - 1 - i
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
  load_coordinate(ymm0, axis);
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
    if (crosses_edges()) {
      result.index[tap] = new_slot();
      vmovdqa(at(result.index[tap]), index);
      continue;
    }
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
  vmaxps(to, to, ymm2);  // a NaN becomes 0
  vroundps(to, to, round_nearest);
  vminps(to, to, splat(static_cast<float>(count - 1)));
  vcvttps2dq(to, to);
  multiply(to, is_cube() ? 6 : rows_per_slice());
}

void SampleEmitter::corner_offsets(const Level& level, const std::array<Taps, 3>& taps) {
  if (crosses_edges()) return cube_corner_offsets(level, taps);
  const Taps& u = taps[0];
  const bool sliced = axes_ < 3 && (state_.array || is_cube());
  Slot slice;
  if (is_cube()) {
    vmovdqa(ymm0, at(face_));
    if (state_.array) vpaddd(ymm0, ymm0, at(element_));
    multiply(ymm0, rows_per_slice());
    slice = new_slot();
    vmovdqa(at(slice), ymm0);
  } else if (sliced) {
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
  if (filters_pairs()) {
    filter_pairs(level, taps, values);
    release(before);
    return;
  }
  if (is_wide())
    for (unsigned corner = 0; corner < corners(); ++corner) load_corner(level, corner);
  for (unsigned plane = 0; plane < planes(); ++plane) plane_channels(level, plane, taps, values);
  release(before);
}

}  // namespace eum::mem::image::kernels
