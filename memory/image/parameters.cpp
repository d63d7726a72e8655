#include "memory/image/parameters.hpp"

#include "memory/image/channel.hpp"

namespace eum::mem::image {

void Results::write(unsigned lane, const Texel& channels) const {
  unsigned place = 0;
  for (unsigned c = 0; c < 4 && place < message_.results; ++c) {
    if ((call_.control.masked_channels() >> c & 1) != 0) continue;
    std::uint32_t value = channels[c];
    if (message_.half) value = integer_ ? value & 0xffff : channel::f32_to_small_float<10, true>(value);
    call_.data[place++ * message_.lanes + lane] = value;
  }
  for (; place < message_.results; ++place) call_.data[place * message_.lanes + lane] = 0;
}

void Results::clear(unsigned lane) const {
  for (unsigned place = 0; place < message_.results; ++place) call_.data[place * message_.lanes + lane] = 0;
}

void Results::write_mask() const {
  if (!call_.control.null_mask() && message_.op != SampleOp::sample_killpix) return;
  const unsigned place = channel_results();
  if (place >= message_.results) return;
  call_.data[place * message_.lanes] = pixel_mask(message_.op, message_.lanes);
}

}  // namespace eum::mem::image
