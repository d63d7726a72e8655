#pragma once
// Image: an image in a device's memory: its surface state, its contents from and to rows as OpenCL has them,
// and the argument that it is. It must not know kernels or files.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "memory/base/result.hpp"
#include "runtime/device.hpp"
#include "runtime/image/image_format.hpp"
#include "runtime/payload.hpp"

namespace eum::rt {

/// Sizes that a type does not have stay 1.
struct ImageDescription {
  ImageType type = ImageType::image2d;
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  std::uint32_t depth = 1;       ///< slices of a 3D image
  std::uint32_t array_size = 1;  ///< elements of an array
  std::uint32_t mip_levels = 1;
  ChannelOrder order = ChannelOrder::rgba;
  ChannelType data_type = ChannelType::unorm8;
  /// How it lies in memory, which no kernel can tell. 1D images and those of buffers are always linear.
  mem::image::TileMode tiling = mem::image::TileMode::LINEAR;

  bool operator==(const ImageDescription&) const = default;
};

/// Memory is the device's: release(memory) gives it back.
struct Image {
  ImageDescription description;
  const ImageFormat* format = nullptr;
  mem::image::SurfaceState state;
  Buffer memory;

  /// Texels of a level: width, height, slices or elements.
  std::array<std::uint32_t, 3> level_size(unsigned level) const;
  /// Bytes of the contents as OpenCL has them: texel after texel, row after row, slice after slice, level
  /// after level, nothing between.
  std::uint64_t packed_bytes() const;
  /// Takes contents of packed_bytes().
  void upload(std::span<const std::byte> packed) const;
  void download(std::span<std::byte> packed) const;
  /// What a kernel gets for it.
  ImageValue value() const;
};

/// Whether there is such an image: sizes within the limits of the hardware, a format that some surface holds.
/// The state that it would have; the error names what does not fit.
Result<mem::image::SurfaceState> image_state(const ImageDescription& description);

/// A transparent black image on `device`, whose address is one of 48 bits; `name` is for reports.
Result<Image> make_image(Device& device, const ImageDescription& description, std::string_view name);

}  // namespace eum::rt
