#include "memory/image/sampler.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "memory/image/resource_info.hpp"

namespace eum::mem::image {

namespace {
using enum Parameter;
constexpr Texel nothing = {0, 0, 0, 0};
}  // namespace

Combine reduction(SampleOp op, const SamplerState& sampler) {
  if (op == SampleOp::sample_min) return Combine::Minimum;
  if (op == SampleOp::sample_max) return Combine::Maximum;
  if (!sampler.reduction_enable) return Combine::Weighted;
  if (sampler.reduction == Reduction::MINIMUM) return Combine::Minimum;
  if (sampler.reduction == Reduction::MAXIMUM) return Combine::Maximum;
  return Combine::Weighted;
}

Position Sampler::position(unsigned lane) const {
  Position at;
  const std::uint32_t elements = surface_.array ? surface_.depth : 1;
  float element = 0;
  at.coordinate = direction(lane);
  if (is_cube()) {
    element = parameters_.number(ai, lane);
    for (float& c : at.coordinate)
      if (std::isnan(c)) c = 0;
    const CubePosition cube = cube_position(at.coordinate);
    at.face = cube.face;
    at.coordinate = {cube.s, cube.t, 0};
  } else if (axes_ < 3) {
    element = at.coordinate[axes_];
  }
  if (axes_ == 3) return at;
  at.slice = surface_.min_array_element +
             (surface_.array ? array_index(element, elements) * (is_cube() ? 6 : 1) : 0);
  return at;
}

std::array<Vector, 2> Sampler::gradients(unsigned lane, const Position& at) const {
  std::array<Vector, 2> d{};
  if (has(sample_flag::Derivatives)) {
    d[0] = {parameters_.number(dudx, lane), parameters_.number(dvdx, lane), parameters_.number(drdx, lane)};
    d[1] = {parameters_.number(dudy, lane), parameters_.number(dvdy, lane), parameters_.number(drdy, lane)};
  } else {
    const unsigned first = lane & ~3u;
    const Vector origin = direction(first);
    for (unsigned k = 0; k < 2; ++k) {
      const Vector neighbour = direction(first + 1 + k);
      for (unsigned a = 0; a < 3; ++a) d[k][a] = neighbour[a] - origin[a];
    }
  }
  if (is_cube()) {
    for (Vector& v : d) {
      const auto [ds, dt] = cube_gradient(at.face, direction(lane), v);
      v = {ds, dt, 0};
    }
  }
  for (Vector& v : d)
    for (unsigned a = axes_; a < 3; ++a) v[a] = 0;
  return d;
}

Vector Sampler::in_texels(const Vector& gradient) const {
  if (sampler_.non_normalized) return gradient;
  const auto size = sizes(0);
  Vector result{};
  for (unsigned a = 0; a < axes_; ++a) result[a] = gradient[a] * static_cast<float>(size[a]);
  return result;
}

int Sampler::lod_without_clamps(unsigned lane, int computed) const {
  int lod = op_.lod == LodSource::Computed ? computed
            : op_.lod == LodSource::Given  ? lod_fixed(parameters_.number(Parameter::lod, lane))
                                           : 0;
  lod += sampler_.lod_bias;
  if (parameters_.has(bias)) lod += lod_fixed(parameters_.number(bias, lane));
  return lod;
}

Axis Sampler::axis(unsigned k, unsigned level, unsigned lane) const {
  Axis axis;
  axis.mode = mode(k);
  axis.normalized = !sampler_.non_normalized;
  axis.size = sizes(level)[k];
  if (has(sample_flag::Offsets) && k < 2) {  // six bits of two's complement
    const std::uint32_t offset = parameters_.bits(k == 0 ? offu : offv, lane);
    axis.offset = static_cast<std::int32_t>(offset << 26) >> 26;
  } else {
    axis.offset = call_.control.offset(k);
  }
  return axis;
}

std::optional<Sampler::Place> Sampler::place(const std::array<std::int32_t, 3>& index, bool linear,
                                             unsigned level, const Position& at) const {
  const auto size = sizes(level);
  if (is_cube()) {
    CubeTexel texel{at.face, index[0], index[1]};
    if (mode(0) == AddressControl::CUBE && mode(1) == AddressControl::CUBE) {
      const auto n = static_cast<std::int32_t>(size[0]);
      texel.x = std::clamp(texel.x, -1, n);
      texel.y = std::clamp(texel.y, -1, n);
      if (linear) texel = cross_edge(texel, n);
    }
    const std::int32_t x = wrap_index(linear ? mode(0) : nearest_mode(mode(0)), texel.x, size[0]);
    const std::int32_t y = wrap_index(linear ? mode(1) : nearest_mode(mode(1)), texel.y, size[1]);
    if (x == border_index || y == border_index) return std::nullopt;
    return Place{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), at.slice + texel.face};
  }
  std::array<std::uint32_t, 3> wrapped{};
  for (unsigned k = 0; k < axes_; ++k) {
    const std::int32_t i = wrap_index(linear ? mode(k) : nearest_mode(mode(k)), index[k], size[k]);
    if (i == border_index) return std::nullopt;
    wrapped[k] = static_cast<std::uint32_t>(i);
  }
  return Place{wrapped[0], wrapped[1], axes_ == 3 ? wrapped[2] : at.slice};
}

bool Sampler::texel_at(const std::array<std::int32_t, 3>& index, bool linear, unsigned level,
                       const Position& at, Texel& texel) {
  const std::optional<Place> p = place(index, linear, level, at);
  if (p) return fetch_.texel(surface_.min_lod + level, p->x, p->y, p->slice, texel);
  texel = border_texel_;
  return true;
}

/// 1 or 0 according to Shadow Function. It names the comparison of texel and reference that gives 0, so
/// ALWAYS always gives 0. (Drivers translate "reference LESS texel" to LEQUAL.) UNORM clamps the reference to
/// 0 and 1.
bool Sampler::compared(const std::array<std::int32_t, 3>& index, bool linear, unsigned level,
                       const Position& at, unsigned lane, float& result) {
  Texel texel;
  if (!texel_at(index, linear, level, at, texel)) return false;
  float reference = parameters_.number(ref, lane);
  if (fetch_.format().kind == ChannelKind::UNORM)
    reference = std::isnan(reference) ? 0 : std::clamp(reference, 0.0f, 1.0f);
  const float value = std::bit_cast<float>(texel[0]);
  const auto holds = [&] {
    switch (sampler_.shadow) {
      case Prefilter::ALWAYS:
        return true;
      case Prefilter::NEVER:
        return false;
      case Prefilter::LESS:
        return value < reference;
      case Prefilter::EQUAL:
        return value == reference;
      case Prefilter::LEQUAL:
        return value <= reference;
      case Prefilter::GREATER:
        return value > reference;
      case Prefilter::NOTEQUAL:
        return value != reference;
      case Prefilter::GEQUAL:
        return value >= reference;
    }
    return false;
  };
  result = holds() ? 0.0f : 1.0f;
  return true;
}

bool Sampler::nearest(const Position& at, unsigned level, unsigned lane, Texel& result) {
  std::array<std::int32_t, 3> index{};
  for (unsigned k = 0; k < axes_; ++k)
    index[k] = nearest_tap(texel_position(at.coordinate[k], axis(k, level, lane))).index;
  return texel_at(index, false, level, at, result);
}

bool Sampler::one_level(const Position& at, unsigned level, bool linear, unsigned lane, FilterValue& value) {
  std::array<Tap, 3> taps{};
  for (unsigned k = 0; k < axes_; ++k) {
    const float position = texel_position(at.coordinate[k], axis(k, level, lane));
    taps[k] = linear ? linear_tap(position) : nearest_tap(position);
  }
  const auto fetch = [&](const std::array<std::int32_t, 3>& index, FilterValue& to) {
    if (has(sample_flag::Compare)) {
      to = {};
      return compared(index, linear, level, at, lane, to[0]);
    }
    const std::optional<Place> p = place(index, linear, level, at);
    if (p) return fetch_.filter_value(surface_.min_lod + level, p->x, p->y, p->slice, to);
    to = border_value_;
    return true;
  };
  std::array<std::int32_t, 3> index{};
  return filter_axes(axes_, taps, reduction(), index, fetch, value);
}

bool Sampler::filtered(unsigned lane, Texel& result) {
  const Position at = position(lane);
  Anisotropy footprint;
  Vector step{};
  if (op_.lod == LodSource::Computed) {
    const auto d = gradients(lane, at);
    const float x = length_squared(in_texels(d[0])), y = length_squared(in_texels(d[1]));
    footprint.lod = log2_fixed(x > y ? x : y);
    if (sampler_.min_filter == MapFilter::ANISOTROPIC) {
      footprint = anisotropy(x, y, sampler_.max_anisotropy);
      step = d[footprint.along_y ? 1 : 0];
    }
  }
  const int least = parameters_.has(mlod) ? lod_fixed(parameters_.number(mlod, lane)) : 0;
  const LevelChoice levels =
      choose_levels(lod_without_clamps(lane, footprint.lod), least, surface_, sampler_);
  const MapFilter filter = levels.magnified ? sampler_.mag_filter : sampler_.min_filter;
  const bool linear = filter != MapFilter::NEAREST && !fetch_.format().integer;
  const unsigned count =
      filter == MapFilter::ANISOTROPIC && !levels.magnified && linear ? footprint.count : 1;
  const bool compare = has(sample_flag::Compare);
  const bool mixed = levels.weight != 0 && !fetch_.format().integer;
  if (!linear && !mixed && !compare) return nearest(at, levels.level, lane, result);

  FilterValue sum{};
  for (unsigned k = 0; k < count; ++k) {
    Position here = at;
    if (count > 1)
      for (unsigned a = 0; a < axes_; ++a)
        here.coordinate[a] = std::fma(anisotropic_step(k, count), step[a], at.coordinate[a]);
    FilterValue value, next;
    if (!one_level(here, levels.level, linear, lane, value)) return false;
    if (mixed) {
      if (!one_level(here, levels.level + 1, linear, lane, next)) return false;
      value = combine(reduction(), value, next, levels.weight);
    }
    for (unsigned c = 0; c < 4; ++c) {
      if (k == 0)
        sum[c] = value[c];
      else if (reduction() == Combine::Weighted)
        sum[c] += value[c];
      else
        sum[c] = combine(reduction(), sum, value, 128)[c];
    }
  }
  if (count > 1 && reduction() == Combine::Weighted)
    for (float& c : sum) c /= static_cast<float>(count);
  if (compare)
    result = {std::bit_cast<std::uint32_t>(sum[0]), 0, 0, std::bit_cast<std::uint32_t>(1.0f)};
  else
    result = fetch_.divide(sum);
  return true;
}

/// The channel that the message names, from texels (i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j) of the
/// linear filter, into red, green, blue, alpha.
bool Sampler::gather(unsigned lane, Texel& result) {
  const Position at = position(lane);
  const unsigned level = choose_levels(lod_without_clamps(lane, 0), 0, surface_, sampler_).level;
  std::array<std::int32_t, 3> first{};
  for (unsigned k = 0; k < axes_; ++k)
    first[k] = linear_tap(texel_position(at.coordinate[k], axis(k, level, lane))).index;
  const ChannelSelect select = surface_.select[call_.control.gather_channel()];
  constexpr std::array<std::array<int, 2>, 4> corners = {{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
  for (unsigned c = 0; c < 4; ++c) {
    const std::array<std::int32_t, 3> index = {first[0] + corners[c][0], first[1] + corners[c][1], first[2]};
    if (has(sample_flag::Compare)) {
      float passed;
      if (!compared(index, true, level, at, lane, passed)) return false;
      result[c] = std::bit_cast<std::uint32_t>(passed);
      continue;
    }
    Texel texel;
    if (!texel_at(index, true, level, at, texel)) return false;
    result[c] = select_channel(select, texel, fetch_.format().integer);
  }
  return true;
}

/// Integer coordinates. Outside the surface all channels are 0, alpha too.
bool Sampler::load(unsigned lane, Texel& result) {
  result = nothing;
  if (message_.op == SampleOp::ld_mcs) return true;                         // one sample: no control data
  if (parameters_.has(si) && parameters_.bits(si, lane) != 0) return true;  // no such sample
  const auto lod =
      static_cast<std::uint32_t>(op_.lod == LodSource::Given ? parameters_.integer(Parameter::lod, lane) : 0);
  const bool buffer = surface_.type == SurfaceType::SURFTYPE_BUFFER;
  if (!buffer && lod >= surface_.mip_count) return true;
  const unsigned level = buffer ? 0 : surface_.min_lod + lod;
  const auto size = level_size(surface_, level);
  std::array<std::uint32_t, 3> coordinate = {parameters_.bits(u, lane), parameters_.bits(v, lane),
                                             parameters_.bits(r, lane)};
  // The coordinate after the spatial ones is the array element.
  const std::uint32_t element = surface_.array && axes_ < 3 ? coordinate[axes_] : 0;
  for (unsigned k = 0; k < axes_; ++k) {
    coordinate[k] += static_cast<std::uint32_t>(call_.control.offset(k));
    if (coordinate[k] >= size[k]) return true;
  }
  if (axes_ < 3 && element >= size[2]) return true;
  return fetch_.texel(level, coordinate[0], axes_ > 1 ? coordinate[1] : 0,
                      axes_ == 3 ? coordinate[2] : surface_.min_array_element + element, result);
}

/// Red: the level of detail that the sampler would use; green: the level of detail before all clamps.
Texel Sampler::level_of_detail(unsigned lane) const {
  const Position at = position(lane);
  const auto d = gradients(lane, at);
  const float x = length_squared(in_texels(d[0])), y = length_squared(in_texels(d[1]));
  const int lod = lod_without_clamps(lane, log2_fixed(x > y ? x : y));
  const int clamped = choose_levels(lod, 0, surface_, sampler_).clamped;
  const auto number = [](int fixed) { return std::bit_cast<std::uint32_t>(static_cast<float>(fixed) / 256); };
  return {number(clamped), number(lod), 0, 0};
}

bool Sampler::run(unsigned lane, Texel& result) {
  switch (message_.op) {
    case SampleOp::resinfo:
      result = resource_info(surface_, parameters_.bits(Parameter::lod, lane));
      return true;
    case SampleOp::sampleinfo:
      result = sample_info(surface_);
      return true;
    case SampleOp::cache_flush:
      result = nothing;
      return true;
    default:
      break;
  }
  if (surface_.type == SurfaceType::SURFTYPE_NULL || (sampler_.disable && !has(sample_flag::Texel))) {
    result = nothing;
    return true;
  }
  if (message_.op == SampleOp::lod) {
    result = level_of_detail(lane);
    return true;
  }
  if (has(sample_flag::Gather)) return gather(lane, result);
  Texel texel;
  if (has(sample_flag::Texel) ? !load(lane, texel) : !filtered(lane, texel)) return false;
  for (unsigned c = 0; c < 4; ++c) {
    result[c] = select_channel(surface_.select[c], texel, fetch_.format().integer);
  }
  return true;
}

}  // namespace eum::mem::image
