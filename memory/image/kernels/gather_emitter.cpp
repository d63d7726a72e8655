// Kernels of gathers, and the comparison of a texel with the reference.
#include <array>
#include <bit>

#include "memory/image/kernels/sample_emitter.hpp"

namespace eum::mem::image::kernels {

namespace {

/// Predicate for vcmpps with the texel on the left; false for a NaN, except for NOTEQUAL.
std::uint8_t predicate(Prefilter shadow) {
  switch (shadow) {
    case Prefilter::ALWAYS:
      return 15;
    case Prefilter::NEVER:
      return 11;
    case Prefilter::LESS:
      return 17;
    case Prefilter::EQUAL:
      return 0;
    case Prefilter::LEQUAL:
      return 18;
    case Prefilter::GREATER:
      return 30;
    case Prefilter::NOTEQUAL:
      return 4;
    case Prefilter::GEQUAL:
      return 29;
  }
  throw Xbyak::Error(Xbyak::ERR_INTERNAL);
}

}  // namespace

void SampleEmitter::border(const Ymm& to, unsigned corner, std::uint32_t color) {
  if (!corner_inside_[corner].has()) return;
  vmovaps(ymm14, splat(color));
  vmovdqa(ymm15, at(corner_inside_[corner]));
  vblendvps(to, ymm14, to, ymm15);
}

void SampleEmitter::load_reference() {
  load_parameter(ymm0, Parameter::ref);
  if (format_.kind == ChannelKind::UNORM) {
    zero(ymm1);
    vmaxps(ymm0, ymm0, ymm1);  // a NaN becomes 0
    vminps(ymm0, ymm0, splat(1.0f));
  }
  reference_ = new_slot();
  vmovaps(at(reference_), ymm0);
}

void SampleEmitter::compare(const Ymm& to) {
  vcmpps(to, to, at(reference_), predicate(sampler_.shadow));
  vandnps(to, to, splat(1.0f));
}

/// Puts four texels of one channel into ymm8 to ymm11.
void SampleEmitter::gather_texels(const std::array<Slot, 4>& values) {
  const unsigned before = mark();
  const unsigned select = control_.gather_channel();
  const std::uint32_t one = format_.integer ? 1 : std::bit_cast<std::uint32_t>(1.0f);
  const unsigned channel = plan_.compare ? 0
                                         : static_cast<unsigned>(state_.select[select]) -
                                               static_cast<unsigned>(ChannelSelect::RED);
  if (channel >= 4) {  // ZERO or ONE
    for (int c = 8; c < 12; ++c)
      vmovaps(Ymm(c), splat(state_.select[select] == ChannelSelect::ONE ? one : 0u));
    return;
  }
  const ChannelLayout& layout = format_.channels[channel];
  const Level level = constant_level(plan_.level);
  std::array<Taps, 3> taps;
  for (unsigned k = 0; k < axes_; ++k) taps[k] = axis_taps(level, k);
  corner_offsets(level, taps);
  constexpr std::array<unsigned, 4> corner = {2, 3, 1, 0};  // for red to alpha; bit 0: i + 1, bit 1: j + 1
  for (unsigned c = 0; c < 4; ++c) {
    if (layout.bits == 0) {
      vmovaps(ymm8, splat(channel == 3 ? one : 0u));
    } else {
      if (is_wide()) {
        load_corner(level, corner[c]);
        vmovaps(ymm0, at(texel_[corner[c]][layout.bit / 32u]));
      } else {
        zero(ymm0);
        ones(ymm9);
        vmovdqa(ymm8, at(offset_[corner[c]]));
        gather(ymm0, level, ymm8, ymm9, ymm10, layout.bit / 32u);
      }
      decode(ymm8, ymm0, layout, ymm14);
      divide(ymm8, layout);
      border(ymm8, corner[c], border_texel_[channel]);
      if (plan_.compare) compare(ymm8);
    }
    vmovaps(at(values[c]), ymm8);
  }
  for (int c = 0; c < 4; ++c) vmovaps(Ymm(8 + c), at(values[static_cast<std::size_t>(c)]));
  release(before);
}

}  // namespace eum::mem::image::kernels
