// The filter in kernels: fetches the corner texels and combines them axis by axis.
#include <algorithm>
#include <bit>

#include "memory/image/coordinate.hpp"
#include "memory/image/kernels/sample_emitter.hpp"

namespace eum::mem::image::kernels {

namespace {
constexpr std::uint8_t equal = 0;  // vcmpps
}

void SampleEmitter::combine(const Ymm& to, const Ymm& next, const Address& weight) {
  if (plan_.combine == Combine::Weighted) {
    vsubps(next, next, to);
    vfmadd231ps(to, next, weight);
    return;
  }
  // min and max return their second operand if both are equal or one is NaN, as the definition does.
  if (plan_.combine == Combine::Minimum)
    vminps(ymm14, next, to);
  else
    vmaxps(ymm14, next, to);
  vmovaps(ymm15, weight);
  vcmpps(ymm15, ymm15, splat(1.0f), equal);
  vblendvps(next, ymm14, next, ymm15);  // weight 1: the second value
  zero(ymm15);
  vcmpps(ymm15, ymm15, weight, equal);
  vblendvps(to, next, to, ymm15);
}

bool SampleEmitter::filters_pairs() const {
  if (format_.bytes != 16 || !plan_.linear || plan_.compare || plan_.combine != Combine::Weighted)
    return false;
  for (unsigned k = 0; k < axes_; ++k)
    if (is_border(mode(k))) return false;
  return std::all_of(format_.channels.begin(), format_.channels.end(), [](const ChannelLayout& c) {
    return c.bits == 0 || (c.bits == 32 && c.kind == ChannelKind::FLOAT);
  });
}

void SampleEmitter::filter_pairs(const Level& level, const std::array<Taps, 3>& taps,
                                 const std::array<Slot, 4>& values) {
  for (unsigned lane = 0; lane < 4; ++lane) {
    pair_tree(level, axes_, 0, 8, lane, taps);
    vmovaps(Ymm(static_cast<int>(lane)), ymm8);
  }
  transpose();
  for (unsigned c = 0; c < 4; ++c)
    if ((needed_ >> c & 1) != 0 && format_.channels[c].bits != 0)
      vmovaps(at(values[c]), Ymm(format_.channels[c].bit / 32));
}

void SampleEmitter::pair_tree(const Level& level, unsigned axis, unsigned corner, unsigned depth,
                              unsigned lane, const std::array<Taps, 3>& taps) {
  const Ymm to(static_cast<int>(depth));
  if (axis == 0) return load_pair(to, level, offset_[corner], lane);
  const Ymm next(static_cast<int>(depth + 1));
  pair_tree(level, axis - 1, corner, depth, lane, taps);
  pair_tree(level, axis - 1, corner + (1u << (axis - 1)), depth + 1, lane, taps);
  vsubps(next, next, to);
  vpermilps(ymm14, at(taps[axis - 1].weight), static_cast<std::uint8_t>(0b01010101 * lane));
  vfmadd231ps(to, next, ymm14);
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
    filter_tree(plan_.linear ? axes_ : 0, 0, 8, c, taps);
    vmovaps(at(values[c]), ymm8);
  }
}

/// Computes the value of `corner` combined with its neighbours along the axes below `axis`, in register
/// `depth`.
void SampleEmitter::filter_tree(unsigned axis, unsigned corner, unsigned depth, unsigned channel,
                                const std::array<Taps, 3>& taps) {
  const Ymm to(static_cast<int>(depth));
  if (axis == 0) {
    decode(to, Ymm(static_cast<int>(corner)), format_.channels[channel], ymm14);
    if (plan_.compare) {
      divide(to, format_.channels[channel]);
      border(to, corner, border_texel_[channel]);
      compare(to);
    } else if (filters_) {
      border(to, corner, std::bit_cast<std::uint32_t>(border_value_[channel]));
    }
    return;
  }
  const Ymm next(static_cast<int>(depth + 1));
  filter_tree(axis - 1, corner, depth, channel, taps);
  filter_tree(axis - 1, corner + (1u << (axis - 1)), depth + 1, channel, taps);
  combine(to, next, at(taps[axis - 1].weight));
}

}  // namespace eum::mem::image::kernels
