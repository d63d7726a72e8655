// Shared by the case files of images: images with contents, formats by name. Only the corpus itself includes
// it.
#pragma once
#include <string>

#include "tests/kernels/case_parts.hpp"
#include "tests/kernels/image_model.hpp"

namespace eum::kernels {

struct FormatName {
  const char* name;
  uint32_t order, type;
};

/// An image whose texels are zero.
inline Image blank_image(ImageDimension dimension, uint32_t width, uint32_t height, uint32_t depth,
                         uint32_t order, uint32_t type, Role role) {
  Image image;
  image.dimension = dimension;
  image.width = width;
  image.height = height;
  image.depth = depth;
  image.order = order;
  image.type = type;
  image.role = role;
  image.element = element_of_channel(type);
  image.bytes.resize(size_t{width} * height * depth * texel_size(order, type));
  return image;
}

/// Random texels; floats are multiples of 1/64 from -1 to 1.
inline void fill_image(Image& image, uint64_t seed) {
  Random random(seed);
  if (image.element == Element::F16 || image.element == Element::F32) {
    const size_t size = element_size(image.element);
    for (size_t at = 0; at < image.bytes.size(); at += size) {
      const double value = static_cast<double>(random.integer(-64, 64)) / 64;
      const uint16_t half = to_half(value);
      const auto number = static_cast<float>(value);
      std::memcpy(image.bytes.data() + at, size == 2 ? static_cast<const void*>(&half) : &number, size);
    }
    return;
  }
  for (std::byte& byte : image.bytes) byte = static_cast<std::byte>(random.next() >> 24);
  if (image.type == channel::UNORM_101010)  // two bits of a texel are unused
    for (size_t at = 3; at < image.bytes.size(); at += 4) image.bytes[at] &= std::byte{0x3f};
}

/// Writes color `i` of a buffer of float4, int4 or uint4.
template <class T>
void put_color(std::span<T> out, size_t i, const Color& color) {
  for (size_t k = 0; k < 4; k++) {
    if constexpr (std::is_signed_v<T> || std::is_floating_point_v<T>)
      out[i * 4 + k] = static_cast<T>(color[k]);
    else
      out[i * 4 + k] = static_cast<T>(static_cast<int64_t>(color[k]));
  }
}

inline Image& image_of(KernelCase& kernel_case, size_t index) {
  return std::get<Image>(kernel_case.args[index]);
}
inline const Image& image_of(const KernelCase& kernel_case, size_t index) {
  return std::get<Image>(kernel_case.args[index]);
}
inline ImageModel model_of(const KernelCase& kernel_case, std::vector<Bytes>& buffers, size_t index,
                           uint32_t level = 0) {
  return ImageModel(image_of(kernel_case, index), buffers[index], level);
}

}  // namespace eum::kernels
