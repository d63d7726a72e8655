// State of an image, and copies of its texels to and from the positions given by memory/image/layout.hpp.
#include "runtime/image/image.hpp"

#include <algorithm>

#include "memory/image/layout.hpp"

namespace eum::rt {
namespace {

/// Calls move(offset in memory, byte offset in the packed contents, texels) for all texels, in runs that are
/// contiguous in memory.
template <class Move>
void for_each_run(const Image& image, Move move) {
  const unsigned surface_bytes = image.format->surface_format().bytes;
  const unsigned adjacent = mem::image::adjacent_bytes(image.state.tiling);
  std::uint64_t packed = 0;
  for (unsigned level = 0; level < image.description.mip_levels; ++level) {
    const auto [width, height, slices] = image.level_size(level);
    for (std::uint32_t slice = 0; slice < slices; ++slice)
      for (std::uint32_t y = 0; y < height; ++y)
        for (std::uint32_t x = 0; x < width;) {
          const std::uint64_t offset = mem::image::texel_offset(image.state, level, x, y, slice);
          std::uint64_t texels = width - x;
          if (adjacent != 0)
            texels = std::clamp<std::uint64_t>((adjacent - offset % adjacent) / surface_bytes, 1, texels);
          move(offset, packed, texels);
          x += static_cast<std::uint32_t>(texels);
          packed += texels * image.format->texel_bytes();
        }
  }
}

}  // namespace

std::array<std::uint32_t, 3> Image::level_size(unsigned level) const {
  return mem::image::level_size(state, level);
}

std::uint64_t Image::packed_bytes() const {
  std::uint64_t texels = 0;
  for (unsigned level = 0; level < description.mip_levels; ++level) {
    const auto [width, height, slices] = level_size(level);
    texels += std::uint64_t{width} * height * slices;
  }
  return texels * format->texel_bytes();
}

void Image::upload(std::span<const std::byte> packed) const {
  for_each_run(*this, [&](std::uint64_t offset, std::uint64_t at, std::uint64_t texels) {
    format->pack(packed.subspan(at, texels * format->texel_bytes()), memory.host + offset);
  });
}

void Image::download(std::span<std::byte> packed) const {
  for_each_run(*this, [&](std::uint64_t offset, std::uint64_t at, std::uint64_t texels) {
    format->unpack(memory.host + offset, packed.subspan(at, texels * format->texel_bytes()));
  });
}

ImageValue Image::value() const {
  ImageValue value;
  value.surface = mem::buffer_surface(memory.host, memory.size, memory.address);
  value.surface.image = state;
  value.channel_data_type = info(description.data_type).number;
  value.channel_order = info(description.order).number;
  value.array_size = info(description.type).array ? description.array_size : 0;
  value.mip_levels = description.mip_levels;
  value.writable = format->writable();
  return value;
}

Result<mem::image::SurfaceState> image_state(const ImageDescription& description) {
  const ImageFormat* format = find_image_format(description.order, description.data_type);
  if (format == nullptr) {
    std::string types;
    for (const ImageFormat& row : image_formats())
      if (row.order == description.order)
        types += fmt::format("{}{}", types.empty() ? "" : ", ", info(row.type).name);
    return error("expected for {} a channel type of {}, found {}", info(description.order).name, types,
                 info(description.data_type).name);
  }
  const ImageTypeInfo& type = info(description.type);
  for (const std::uint32_t size : {description.width, description.height, description.depth,
                                   description.array_size, description.mip_levels})
    if (size == 0) return error("expected a {} of at least one texel, found a size of 0", type.text);
  mem::image::SurfaceState state;
  state.type = type.surface;
  state.array = type.array;
  state.format = format->surface_format().code;
  state.select = format->select;
  state.width = description.width;
  state.height = description.height;
  state.depth = type.array ? description.array_size : description.depth;
  if (description.mip_levels > 15)
    return error("expected at most 15 levels, found {}", description.mip_levels);
  state.mip_count = static_cast<std::uint8_t>(description.mip_levels);
  state.view_extent = state.depth;
  const bool tiled = type.surface == mem::image::SurfaceType::SURFTYPE_2D ||
                     type.surface == mem::image::SurfaceType::SURFTYPE_3D;
  if (tiled) state.tiling = description.tiling;
  mem::image::choose_layout(state);
  if (auto good = mem::image::check(state); !good) return error("{}: {}", type.text, good.error().message);
  return state;
}

Result<Image> make_image(Device& device, const ImageDescription& description, std::string_view name) {
  const auto state = image_state(description);
  if (!state) return error("{}: {}", name, state.error().message);
  Image image{description, find_image_format(description.order, description.data_type), *state, {}};
  auto memory = device.allocate(mem::image::surface_bytes(*state), name);
  if (!memory) return memory.error();
  image.memory = *memory;
  return image;
}

}  // namespace eum::rt
