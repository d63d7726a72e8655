#pragma once
// The kinds of images: dimensions, channel orders, channel types, and the surface format of each pair, from
// tables. It must not know memory, devices or kernels.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "memory/image/format.hpp"
#include "memory/image/state.hpp"

namespace eum::rt {

enum class ImageType : std::uint8_t {
#define IMAGE_TYPE(name, ...) name,
#include "runtime/image/image_types.def"
#undef IMAGE_TYPE
};

struct ImageTypeInfo {
  std::string_view name;  ///< "image2d"
  std::string_view text;  ///< "2D image"
  mem::image::SurfaceType surface;
  bool array;
  unsigned axes;  ///< number of sizes that describe it
};

enum class ChannelOrder : std::uint8_t {
#define CHANNEL_ORDER(name, ...) name,
#include "runtime/image/channel_orders.def"
#undef CHANNEL_ORDER
};

struct ChannelOrderInfo {
  std::string_view name;      ///< "rgba"
  std::uint32_t number;       ///< cl_channel_order
  std::string_view channels;  ///< of a texel in OpenCL's memory layout
};

enum class ChannelType : std::uint8_t {
#define CHANNEL_TYPE(name, ...) name,
#include "runtime/image/channel_types.def"
#undef CHANNEL_TYPE
};

struct ChannelTypeInfo {
  std::string_view name;  ///< "unorm8"
  std::uint32_t number;   ///< cl_channel_type
  mem::image::ChannelKind kind;
  unsigned bits;
  bool packed;  ///< `bits` are those of a texel instead of a channel
};

const ImageTypeInfo& info(ImageType type);
const ChannelOrderInfo& info(ChannelOrder order);
const ChannelTypeInfo& info(ChannelType type);
std::span<const ImageTypeInfo> image_type_table();
std::optional<ImageType> parse_image_type(std::string_view name);
std::optional<ChannelOrder> parse_channel_order(std::string_view name);
std::optional<ChannelType> parse_channel_type(std::string_view name);
/// "r, a, rg, ..."
std::string channel_order_names();
std::string channel_type_names();

/// The type of image that a surface holds, or nothing if OpenCL has none.
std::optional<ImageType> image_type_of(const mem::image::SurfaceState& state);

/// How the surface's texel differs from OpenCL's.
enum class TexelPacking : std::uint8_t { Same, Channels, AlphaFirst, Opaque, TopBits };

/// A row of image_formats.def.
struct ImageFormat {
  ChannelOrder order;
  ChannelType type;
  std::string_view surface;  ///< name of the surface format
  std::array<mem::image::ChannelSelect, 4> select;
  TexelPacking packing;

  const mem::image::FormatInfo& surface_format() const;
  /// Whether a kernel may write it; false if the surface's alpha must stay 1.
  bool writable() const;
  /// Bytes of a texel in OpenCL's memory layout.
  unsigned texel_bytes() const;
  /// Convert texels from OpenCL's form to the surface's, and back; as many as `packed` holds.
  void pack(std::span<const std::byte> packed, std::byte* surface_texels) const;
  void unpack(const std::byte* surface_texels, std::span<std::byte> packed) const;
};

std::span<const ImageFormat> image_formats();
/// Null if no surface can hold such texels.
const ImageFormat* find_image_format(ChannelOrder order, ChannelType type);

}  // namespace eum::rt
