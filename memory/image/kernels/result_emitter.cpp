// Results of sampler messages in kernels: channels as a shader gets them, selected, masked, in 32 or 16 bits.
#include <bit>
#include <cstddef>

#include "memory/image/kernels/sample_emitter.hpp"
#include "memory/image/texel_fetch.hpp"

namespace eum::mem::image::kernels {

namespace {
constexpr std::uint8_t unordered = 3;  // vcmpps
}

void SampleEmitter::finish(const std::array<Slot, 4>& values) {
  const std::uint32_t one = format_.integer ? 1 : std::bit_cast<std::uint32_t>(1.0f);
  if (plan_.compare) {
    vmovaps(ymm8, at(values[0]));
    zero(ymm9);
    zero(ymm10);
    vmovaps(ymm11, splat(1.0f));
    return write_results(true);
  }
  const Slot inside = plan_.texels || filters_ ? Slot{} : corner_inside_[0];
  for (unsigned c = 0; c < 4; ++c) {
    if ((needed_ >> c & 1) == 0) continue;
    const Ymm y(static_cast<int>(8 + c));
    const ChannelLayout& channel = format_.channels[c];
    if (channel.bits == 0) {
      vmovaps(y, splat(c == 3 ? one : 0u));
      if (plan_.texels) vandps(y, y, at(inside_));  // outside the surface alpha is 0 too
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
  write_results(true);
}

/// Result channel c is chosen by Shader Channel Select if `selected`, else it is channel c.
void SampleEmitter::write_results(bool selected) {
  const std::uint32_t one = format_.integer ? 1 : std::bit_cast<std::uint32_t>(1.0f);
  unsigned k = 0;
  for (unsigned c = 0; c < 4 && k < message_.results; ++c) {
    if ((control_.masked_channels() >> c & 1) != 0) continue;
    const ChannelSelect select = state_.select[c];
    const unsigned channel =
        selected ? static_cast<unsigned>(select) - static_cast<unsigned>(ChannelSelect::RED) : c;
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
  if (group_ != 0 || mask_result >= message_.results) return;
  if (!control_.null_mask() && message_.op != SampleOp::sample_killpix) return;
  mov(dword[rsi + std::size_t{4} * (mask_result * message_.lanes)], pixel_mask(message_.op, message_.lanes));
}

}  // namespace eum::mem::image::kernels
