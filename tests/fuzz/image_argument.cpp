// Fuzzes the texts of --arg for images and samplers: no text may crash, what is accepted describes a possible
// image, and refusals give a reason. No image is allocated. Seeds: tests/fuzz/corpus/image_argument.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/cli/run/image_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eum;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto image = cli::parse_image(text)) {
    const bool picture = image->source == cli::ImageText::Source::Png;
    if (!picture && !rt::image_state(image->description)) std::abort();
    const bool file = picture || image->source == cli::ImageText::Source::File;
    if (file == image->path.empty()) std::abort();
  } else if (image.error().message.empty()) {
    std::abort();
  }
  if (const auto sampler = cli::parse_sampler(text); !sampler && sampler.error().message.empty())
    std::abort();
  return 0;
}
