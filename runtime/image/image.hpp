#pragma once
// Image: an image in a device's memory: its surface state, conversion of its contents to and from OpenCL's
// rows, and its value as an argument. It must not know kernels or files.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "memory/base/result.hpp"
#include "runtime/device.hpp"
#include "runtime/image/image_format.hpp"
#include "runtime/payload.hpp"

namespace eum::rt {

/// Sizes that the type does not have stay 1.
struct ImageDescription {
  ImageType type = ImageType::image2d;
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  std::uint32_t depth = 1;       ///< slices of a 3D image
  std::uint32_t array_size = 1;  ///< elements of an array
  std::uint32_t mip_levels = 1;
  ChannelOrder order = ChannelOrder::rgba;
  ChannelType data_type = ChannelType::unorm8;
  /// Layout in memory, which kernels cannot observe. 1D images and images of buffers are always linear.
  mem::image::TileMode tiling = mem::image::TileMode::LINEAR;

  bool operator==(const ImageDescription&) const = default;
};

/// The memory belongs to the device; release(memory) frees it.
struct Image {
  ImageDescription description;
  const ImageFormat* format = nullptr;
  mem::image::SurfaceState state;
  Buffer memory;

  /// Size of a level in texels: width, height, slices or elements.
  std::array<std::uint32_t, 3> level_size(unsigned level) const;
  /// Size in bytes of the contents in OpenCL's form: texel after texel, row after row, slice after slice,
  /// level after level, without gaps.
  std::uint64_t packed_bytes() const;
  /// `packed` has packed_bytes() bytes.
  void upload(std::span<const std::byte> packed) const;
  void download(std::span<std::byte> packed) const;
  /// The image as an argument of a kernel.
  ImageValue value() const;
};

/// The state that an image with this description has. Sizes must be within the hardware's limits and some
/// surface format must hold its texels; otherwise the error names what does not fit.
Result<mem::image::SurfaceState> image_state(const ImageDescription& description);

/// A transparent black image on `device`, with a 48-bit address; `name` is for reports.
Result<Image> make_image(Device& device, const ImageDescription& description, std::string_view name);

}  // namespace eum::rt
