// The tables, and the texels that a surface stores in another form than OpenCL.
#include "runtime/image/image_format.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace eum::rt {
namespace {

using mem::image::ChannelSelect;

constexpr std::string_view without_underscore(std::string_view name) {
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

constexpr auto types = [] {
  using enum mem::image::SurfaceType;
  return std::to_array<ImageTypeInfo>({
#define IMAGE_TYPE(name, text, surface, array, axes) {#name, text, surface, array, axes},
#include "runtime/image/image_types.def"
#undef IMAGE_TYPE
  });
}();

constexpr auto orders = std::to_array<ChannelOrderInfo>({
#define CHANNEL_ORDER(name, number, channels) {#name, number, channels},
#include "runtime/image/channel_orders.def"
#undef CHANNEL_ORDER
});

constexpr auto channel_types = [] {
  using enum mem::image::ChannelKind;
  return std::to_array<ChannelTypeInfo>({
#define CHANNEL_TYPE(name, number, kind, bits, packed) \
  {without_underscore(#name), number, kind, bits, packed},
#include "runtime/image/channel_types.def"
#undef CHANNEL_TYPE
  });
}();

constexpr ChannelSelect select_of(char letter) {
  switch (letter) {
    case '0':
      return ChannelSelect::ZERO;
    case '1':
      return ChannelSelect::ONE;
    case 'R':
      return ChannelSelect::RED;
    case 'G':
      return ChannelSelect::GREEN;
    case 'B':
      return ChannelSelect::BLUE;
    case 'A':
      return ChannelSelect::ALPHA;
    default:
      throw "a letter that selects no channel";
  }
}

constexpr std::array<ChannelSelect, 4> selects(std::string_view letters) {
  return {select_of(letters[0]), select_of(letters[1]), select_of(letters[2]), select_of(letters[3])};
}

/// Does not compile if a row names a surface format that has no row in memory/image/formats.def.
enum class KnownSurface : std::uint8_t {
#define FORMAT(name, ...) name,
#define BLOCK_FORMAT(...)
#include "memory/image/formats.def"
#undef FORMAT
#undef BLOCK_FORMAT
};

constexpr std::string_view known(std::string_view name, KnownSurface) { return name; }

constexpr auto formats = [] {
  using enum TexelPacking;
  return std::to_array<ImageFormat>({
#define IMAGE_FORMAT(order, type, surface, select, packing) \
  {ChannelOrder::order, ChannelType::type, known(#surface, KnownSurface::surface), selects(select), packing},
#include "runtime/image/image_formats.def"
#undef IMAGE_FORMAT
  });
}();

template <class Table>
auto position(const Table& table, std::string_view name) -> std::optional<std::size_t> {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (table[i].name == name) return i;
  return std::nullopt;
}

template <class Table>
std::string names(const Table& table) {
  std::string text;
  for (const auto& row : table) {
    if (!text.empty()) text += ", ";
    text += row.name;
  }
  return text;
}

/// Converts between OpenCL's alpha 1:0, blue 11:2, green 21:12, red 31:22 and the surface's red 9:0, green
/// 19:10, blue 29:20, alpha 31:30.
std::uint32_t turned(std::uint32_t texel, bool to_surface) {
  constexpr std::uint32_t mask = 0x3ff;
  if (to_surface)
    return texel >> 22 | (texel >> 12 & mask) << 10 | (texel >> 2 & mask) << 20 | (texel & 3) << 30;
  return (texel & mask) << 22 | (texel >> 10 & mask) << 12 | (texel >> 20 & mask) << 2 | texel >> 30;
}

/// The bits of a packed texel that OpenCL leaves undefined.
std::uint32_t top_bits(ChannelType type) { return type == ChannelType::unorm_555 ? 0x8000 : 0xc0000000; }

/// Index of one of OpenCL's channels among red, green, blue, alpha.
std::size_t place(char channel) { return std::string_view("rgba").find(channel); }

}  // namespace

const ImageTypeInfo& info(ImageType type) { return types[static_cast<std::size_t>(type)]; }
const ChannelOrderInfo& info(ChannelOrder order) { return orders[static_cast<std::size_t>(order)]; }
const ChannelTypeInfo& info(ChannelType type) { return channel_types[static_cast<std::size_t>(type)]; }
std::span<const ImageTypeInfo> image_type_table() { return types; }

std::optional<ImageType> parse_image_type(std::string_view name) {
  const auto found = position(types, name);
  return found ? std::optional(static_cast<ImageType>(*found)) : std::nullopt;
}

std::optional<ChannelOrder> parse_channel_order(std::string_view name) {
  const auto found = position(orders, name);
  return found ? std::optional(static_cast<ChannelOrder>(*found)) : std::nullopt;
}

std::optional<ChannelType> parse_channel_type(std::string_view name) {
  const auto found = position(channel_types, name);
  return found ? std::optional(static_cast<ChannelType>(*found)) : std::nullopt;
}

std::string channel_order_names() { return names(orders); }
std::string channel_type_names() { return names(channel_types); }

std::optional<ImageType> image_type_of(const mem::image::SurfaceState& state) {
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i].surface == state.type && types[i].array == state.array) return static_cast<ImageType>(i);
  return std::nullopt;
}

const mem::image::FormatInfo& ImageFormat::surface_format() const {
  return *mem::image::find_format(surface);
}

unsigned ImageFormat::texel_bytes() const {
  const ChannelTypeInfo& channel = info(type);
  const auto count = channel.packed ? 1u : static_cast<unsigned>(info(order).channels.size());
  return count * channel.bits / 8;
}

bool ImageFormat::writable() const {
  const ChannelOrder x[] = {ChannelOrder::rx, ChannelOrder::rgx, ChannelOrder::rgbx};
  return surface_format().writable && std::find(std::begin(x), std::end(x), order) == std::end(x);
}

void ImageFormat::pack(std::span<const std::byte> packed, std::byte* to) const {
  if (packing == TexelPacking::Same) {
    std::memcpy(to, packed.data(), packed.size());
    return;
  }
  const std::size_t from_bytes = texel_bytes(), to_bytes = surface_format().bytes;
  const std::size_t channel = to_bytes / 4;
  const std::string_view channels = info(order).channels;
  // Contents of channels that the surface has and OpenCL's texel lacks.
  std::array<std::byte, 16> blank{};
  if (packing == TexelPacking::Opaque)
    surface_format().encode({0, 0, 0, std::bit_cast<std::uint32_t>(1.0f)}, blank.data());
  for (std::size_t at = 0; at < packed.size(); at += from_bytes, to += to_bytes) {
    if (info(type).packed) {
      std::uint32_t texel = 0;
      std::memcpy(&texel, packed.data() + at, from_bytes);
      texel = packing == TexelPacking::AlphaFirst ? turned(texel, true) : texel | top_bits(type);
      std::memcpy(to, &texel, to_bytes);
      continue;
    }
    std::memcpy(to, blank.data(), to_bytes);
    for (std::size_t i = 0; i < channels.size(); ++i)
      std::memcpy(to + place(channels[i]) * channel, packed.data() + at + i * channel, channel);
  }
}

void ImageFormat::unpack(const std::byte* from, std::span<std::byte> packed) const {
  if (packing == TexelPacking::Same) {
    std::memcpy(packed.data(), from, packed.size());
    return;
  }
  const std::size_t to_bytes = texel_bytes(), from_bytes = surface_format().bytes;
  const std::size_t channel = from_bytes / 4;
  const std::string_view channels = info(order).channels;
  for (std::size_t at = 0; at < packed.size(); at += to_bytes, from += from_bytes) {
    if (info(type).packed) {
      std::uint32_t texel = 0;
      std::memcpy(&texel, from, from_bytes);
      texel = packing == TexelPacking::AlphaFirst ? turned(texel, false) : texel & ~top_bits(type);
      std::memcpy(packed.data() + at, &texel, to_bytes);
      continue;
    }
    for (std::size_t i = 0; i < channels.size(); ++i)
      std::memcpy(packed.data() + at + i * channel, from + place(channels[i]) * channel, channel);
  }
}

std::span<const ImageFormat> image_formats() { return formats; }

const ImageFormat* find_image_format(ChannelOrder order, ChannelType type) {
  const auto found = std::find_if(formats.begin(), formats.end(), [&](const ImageFormat& format) {
    return format.order == order && format.type == type;
  });
  return found == formats.end() ? nullptr : &*found;
}

}  // namespace eum::rt
