// The reading, filtering and writing of images as defined by OpenCL C (OpenCL C 3.0, 6.15.15; the OpenCL
// specification, "Image Addressing and Filtering"), in doubles: the corpus' references for images. Shares no
// code with the emulator.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "tests/kernels/corpus.hpp"

namespace eum::kernels {

/// The values of cl_channel_order and cl_channel_type that the corpus uses.
namespace order {
inline constexpr uint32_t R = 0x10b0, A = 0x10b1, RG = 0x10b2, RA = 0x10b3, RGB = 0x10b4, RGBA = 0x10b5,
                          BGRA = 0x10b6, ARGB = 0x10b7, INTENSITY = 0x10b8, LUMINANCE = 0x10b9, Rx = 0x10ba,
                          RGx = 0x10bb, DEPTH = 0x10bd, sRGBA = 0x10c1, ABGR = 0x10c3;
}
namespace channel {
inline constexpr uint32_t SNORM8 = 0x10d0, SNORM16 = 0x10d1, UNORM8 = 0x10d2, UNORM16 = 0x10d3,
                          UNORM_565 = 0x10d4, UNORM_555 = 0x10d5, UNORM_101010 = 0x10d6, SINT8 = 0x10d7,
                          SINT16 = 0x10d8, SINT32 = 0x10d9, UINT8 = 0x10da, UINT16 = 0x10db, UINT32 = 0x10dc,
                          HALF = 0x10dd, FLOAT = 0x10de, UNORM_101010_2 = 0x10e0;
}

/// Red, green, blue, alpha.
using Color = std::array<double, 4>;

/// The channels of a texel in memory, such as "rgba"; for packed types too.
std::string_view channels_of(uint32_t order);
uint32_t texel_size(uint32_t order, uint32_t type);
Element element_of_channel(uint32_t type);

/// An image with its current texels.
class ImageModel {
 public:
  ImageModel(const Image& image, std::span<std::byte> bytes, uint32_t level = 0);

  /// The texel, or the border colour outside the image.
  Color texel(int64_t x, int64_t y, int64_t z) const;
  /// The result of read_image with a float coordinate.
  Color sample(const Sampler& sampler, std::array<double, 3> at) const;
  /// The result of read_image with an integer coordinate.
  Color fetch(const Sampler& sampler, std::array<int64_t, 3> at) const;
  void write(int64_t x, int64_t y, int64_t z, const Color& color) const;

 private:
  const Image& image_;
  std::span<std::byte> bytes_;
  std::array<int64_t, 3> size_{1, 1, 1};
  bool array_ = false;
  int axes_ = 2;  // without the array axis
};

}  // namespace eum::kernels
