// Fuzzes the reader of PNG files: any bytes are a picture that can be written and read again, or an error
// that gives the reason. Seeds: tests/fuzz/corpus/picture.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "runtime/png/image_picture.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eum;
  const auto picture = png::read(std::as_bytes(std::span(data, size)));
  if (!picture) {
    if (picture.error().message.empty()) std::abort();
    return 0;
  }
  const auto description = png::description_of(*picture);
  if (!description || picture->texels.size() != picture->row_bytes() * picture->height) std::abort();
  const auto same = png::picture_of(*description, picture->texels);
  if (!same || same->texels != picture->texels) std::abort();
  if (picture->texels.size() > 100'000) return 0;
  const auto file = png::write(*same);
  if (!file) std::abort();
  const auto again = png::read(*file);
  if (!again || again->texels != picture->texels) std::abort();
  return 0;
}
