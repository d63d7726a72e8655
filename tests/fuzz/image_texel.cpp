// Any bytes as a texel or block of any format: sixteen texels whose numbers are in the range of the format,
// and which, if the format can be encoded, survive a round trip.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "memory/image/format.hpp"

namespace {

void require(bool condition, const char* what, const eum::mem::image::FormatInfo& format) {
  if (condition) return;
  std::fprintf(stderr, "image_texel: %s: %s\n", format.name.data(), what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eum::mem::image;
  if (size == 0) return 0;
  const FormatInfo& format = formats()[data[0] % formats().size()];
  std::vector<std::byte> bytes(format.bytes);  // the exact size, so that reads beyond it are detected
  std::memcpy(bytes.data(), data + 1, std::min<std::size_t>(size - 1, bytes.size()));
  for (unsigned texel = 0; texel < 16; ++texel) {
    const Texel decoded = format.decode(bytes.data(), texel % 4, texel / 4);
    const bool is_signed = format.kind == ChannelKind::SNORM;
    if (format.kind == ChannelKind::UNORM || format.kind == ChannelKind::SRGB || is_signed) {
      for (std::uint32_t channel : decoded) {
        const float value = std::bit_cast<float>(channel);
        require(value >= (is_signed ? -1.f : 0.f) && value <= 1.f, "a number out of range", format);
      }
    } else if (format.block_width > 1) {
      for (std::uint32_t channel : decoded)
        require(!std::isnan(std::bit_cast<float>(channel)), "no number", format);
    }
    if (format.encode == nullptr) continue;
    std::vector<std::byte> encoded(format.bytes);
    format.encode(decoded, encoded.data());
    require(format.decode(encoded.data(), 0, 0) == decoded, "a texel that its bytes change", format);
  }
  return 0;
}
