// Maps OpenCL's formats to pictures, with the order of their channels.
#include "runtime/png/image_picture.hpp"

#include <cstring>

namespace eum::png {

std::optional<rt::ImageDescription> description_of(const Picture& picture) {
  if (picture.channels != 1 && picture.channels != 4) return std::nullopt;
  rt::ImageDescription description;
  description.width = picture.width;
  description.height = picture.height;
  description.order = picture.channels == 1 ? rt::ChannelOrder::luminance : rt::ChannelOrder::rgba;
  description.data_type = picture.bits == 8 ? rt::ChannelType::unorm8 : rt::ChannelType::unorm16;
  return description;
}

Result<void> fits_png(const rt::ImageDescription& description) {
  const rt::ChannelTypeInfo& channel = rt::info(description.data_type);
  const bool kind =
      channel.kind == mem::image::ChannelKind::UNORM || channel.kind == mem::image::ChannelKind::UINT;
  if (!kind || channel.packed || channel.bits > 16)
    return error("a PNG file has channels of unorm8, unorm16, uint8 or uint16, the image has {}",
                 channel.name);
  if (description.type != rt::ImageType::image2d && description.type != rt::ImageType::image1d)
    return error("a PNG file holds a 1D image or a 2D image, this is a {}", rt::info(description.type).text);
  if (description.mip_levels != 1)
    return error("a PNG file holds an image of one level, this has {}", description.mip_levels);
  return {};
}

Result<Picture> picture_of(const rt::ImageDescription& description, std::span<const std::byte> packed) {
  if (auto good = fits_png(description); !good) return good.error();
  const std::string_view channels = rt::info(description.order).channels;
  Picture picture;
  picture.width = description.width;
  picture.height = description.height;
  picture.channels = static_cast<unsigned>(channels.size());
  picture.bits = rt::info(description.data_type).bits;
  picture.texels.resize(packed.size());
  const std::size_t size = picture.bits / 8;
  const bool as_it_is = channels != "bgra" && channels != "argb" && channels != "abgr";
  for (std::size_t texel = 0; texel < packed.size(); texel += size * channels.size())
    for (std::size_t i = 0; i < channels.size(); ++i) {
      const std::size_t place = as_it_is ? i : std::string_view("rgba").find(channels[i]);
      std::memcpy(picture.texels.data() + texel + place * size, packed.data() + texel + i * size, size);
    }
  return picture;
}

}  // namespace eum::png
