// Levels of detail in kernels: lod.cpp for eight lanes.
#include <bit>

#include "memory/image/kernels/sample_emitter.hpp"
#include "memory/image/layout.hpp"

namespace eum::mem::image::kernels {

namespace {
constexpr std::uint8_t ordered = 7, greater_or_equal = 29;  // vcmpps
constexpr std::uint32_t as_bits(int value) { return static_cast<std::uint32_t>(value); }
}  // namespace

/// The square of the gradient to the right (0) or down (1), in texels.
void SampleEmitter::gradient_square(const Ymm& to, unsigned direction) {
  constexpr std::array<std::array<Parameter, 3>, 2> given = {
      {{Parameter::dudx, Parameter::dvdx, Parameter::drdx},
       {Parameter::dudy, Parameter::dvdy, Parameter::drdy}}};
  const Level level = constant_level(0);
  for (unsigned k = 0; k < axes_; ++k) {
    if (info(message_.op).has(sample_flag::Derivatives)) {
      load_parameter(ymm3, given[direction][k]);
    } else {  // a quad is half a register
      load_parameter(ymm3, static_cast<Parameter>(k));
      vpermilps(ymm4, ymm3, 0);
      vpermilps(ymm3, ymm3, direction == 0 ? 0b01010101 : 0b10101010);
      vsubps(ymm3, ymm3, ymm4);
    }
    if (!sampler_.non_normalized) vmulps(ymm3, ymm3, number_of(level, k));
    if (k == 0)
      vmulps(to, ymm3, ymm3);
    else
      vfmadd231ps(to, ymm3, ymm3);
  }
}

void SampleEmitter::log2_fixed(const Ymm& y) {
  vcmpps(ymm5, y, splat(0x00800000u), greater_or_equal);  // the least normal number
  vpand(ymm3, y, splat(0x7fffffu));
  vpor(ymm3, ymm3, splat(0x3f800000u));
  vsubps(ymm3, ymm3, splat(1.0f));
  vmovaps(ymm4, splat(log2_coefficients[0]));
  for (std::size_t i = 1; i < log2_coefficients.size(); ++i)
    vfmadd213ps(ymm4, ymm3, splat(log2_coefficients[i]));
  vmulps(ymm4, ymm3, ymm4);
  vmulps(ymm4, ymm4, splat(128.0f));
  vcvtps2dq(ymm4, ymm4);
  vpsrld(y, y, 23);
  vpsubd(y, y, splat(127u));
  vpslld(y, y, 7);
  vpaddd(y, y, ymm4);
  vmovdqa(ymm3, splat(as_bits(smallest_lod)));
  vblendvps(y, ymm3, y, ymm5);
}

void SampleEmitter::lod_fixed(const Ymm& y, const Ymm& t) {
  vcmpps(t, y, y, ordered);
  vandps(y, y, t);
  vmaxps(y, y, splat(-64.0f));
  vminps(y, y, splat(64.0f));
  vmulps(y, y, splat(256.0f));
  vcvtps2dq(y, y);
}

/// Includes the biases, before all clamps.
void SampleEmitter::level_of_detail(const Ymm& lod) {
  if (info(message_.op).lod == LodSource::Computed) {
    gradient_square(ymm1, 0);
    gradient_square(ymm2, 1);
    vmaxps(lod, ymm1, ymm2);  // ymm2 if either is NaN
    log2_fixed(lod);
  } else {
    load_parameter(lod, Parameter::lod);
    lod_fixed(lod, ymm3);
  }
  if (sampler_.lod_bias != 0) vpaddd(lod, lod, splat(as_bits(sampler_.lod_bias)));
  if (place(Parameter::bias)) {
    load_parameter(ymm1, Parameter::bias);
    lod_fixed(ymm1, ymm3);
    vpaddd(lod, lod, ymm1);
  }
}

void SampleEmitter::filter_levels(const std::array<Slot, 4>& values) {
  const int last = (state_.mip_count - 1) * 256;
  const int resource_least = state_.resource_min_lod - state_.min_lod * 256;
  const int most = std::min<int>(sampler_.max_lod, last);
  level_of_detail(ymm0);
  // ymm6: the lower limit from sampler and message
  vmovdqa(ymm6, splat(std::uint32_t{sampler_.min_lod}));
  if (place(Parameter::mlod)) {
    load_parameter(ymm1, Parameter::mlod);
    lod_fixed(ymm1, ymm3);
    vpmaxsd(ymm6, ymm6, ymm1);
  }
  if (sampler_.lod_preclamp) {
    vpminsd(ymm0, ymm0, splat(std::uint32_t{sampler_.max_lod}));
    vpmaxsd(ymm0, ymm0, ymm6);
  }
  vpcmpgtd(ymm7, ymm0, splat(state_.base_mip * 128u));  // minified
  vpminsd(ymm0, ymm0, splat(as_bits(most)));
  vpmaxsd(ymm6, ymm6, splat(as_bits(resource_least)));
  vpminsd(ymm6, ymm6, splat(as_bits(last)));
  vpmaxsd(ymm0, ymm0, ymm6);
  if (!sampler_.lod_clamp_magnification) vpand(ymm0, ymm0, ymm7);  // level 0, no weight
  const bool mixes = sampler_.mip_filter == MipFilter::LINEAR && !format_.integer;
  Slot weight, where, level = new_slot(), next_level;
  if (sampler_.mip_filter == MipFilter::NEAREST) vpaddd(ymm0, ymm0, splat(128u));
  vpsrld(ymm1, ymm0, 8);
  vmovdqa(at(level), ymm1);
  if (mixes) {
    weight = new_slot();
    where = new_slot();
    next_level = new_slot();
    vpand(ymm0, ymm0, splat(255u));
    zero(ymm2);
    vpcmpgtd(ymm2, ymm0, ymm2);
    vmovdqa(at(where), ymm2);
    vpsubd(ymm1, ymm1, ymm2);  // never beyond the last level: its weight is 0
    vmovdqa(at(next_level), ymm1);
    vcvtdq2ps(ymm0, ymm0);
    vmulps(ymm0, ymm0, splat(1.0f / 256));
    vmovaps(at(weight), ymm0);
  }
  const std::uint32_t first = axes_ == 3 ? 0 : state_.min_array_element;
  const auto filter = [&](Slot number, const std::array<Slot, 4>& to) {
    const unsigned before = mark();
    filter_level(levels_of(number, state_.min_lod, state_.mip_count, first), to);
    release(before);
  };
  filter(level, values);
  if (!mixes) return;
  std::array<Slot, 4> next;
  for (Slot& value : next) value = new_slot();
  Xbyak::Label done;
  vmovdqa(ymm0, at(where));
  vptest(ymm0, at(lanes_));
  jz(done, T_NEAR);
  filter(next_level, next);
  mix_levels(values, next, at(weight), where);
  L(done);
}

}  // namespace eum::mem::image::kernels
