// Images of a device: the table of formats, their layout in memory, transfers in both directions, and
// descriptions that fit no image.
#include "runtime/image/image.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <set>

#include "binaries.hpp"
#include "runtime/launch.hpp"
#include "runtime/loader/loader.hpp"
#include "runtime/module.hpp"

using namespace eum;
using namespace eum::rt;
using Catch::Contains;
using mem::image::ChannelSelect;

namespace {

std::unique_ptr<Device> device() {
  auto made = Device::create({.workers = 1});
  if (!made) FAIL(made.error().message);
  return std::move(*made);
}

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 131 + (i >> 8) * 7 + 1);
  return bytes;
}

Image make(Device& on, const ImageDescription& description) {
  auto image = make_image(on, description, "image");
  if (!image) FAIL(image.error().message);
  return *image;
}

std::vector<std::byte> download(const Image& image) {
  std::vector<std::byte> bytes(image.packed_bytes());
  image.download(bytes);
  return bytes;
}

std::string refused(const ImageDescription& description) {
  const auto state = image_state(description);
  REQUIRE_FALSE(state);
  return state.error().message;
}

ImageDescription sized(ImageType type, std::uint32_t width, std::uint32_t height, std::uint32_t slices) {
  ImageDescription d;
  d.type = type;
  d.width = width;
  if (info(type).array) {
    if (info(type).axes == 3) d.height = height;
    d.array_size = slices;
  } else {
    if (info(type).axes >= 2) d.height = height;
    if (info(type).axes == 3) d.depth = slices;
  }
  return d;
}

/// A channel of a surface's texel as the number that OpenCL reads.
double number(std::uint32_t bits, const mem::image::FormatInfo& format) {
  if (format.integer)
    return format.kind == mem::image::ChannelKind::SINT ? static_cast<double>(static_cast<std::int32_t>(bits))
                                                        : static_cast<double>(bits);
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

/// The texel at 0, 0 as a kernel reads it.
std::array<double, 4> first_texel(const Image& image) {
  const mem::image::FormatInfo& format = image.format->surface_format();
  const mem::image::Texel texel = format.decode(image.memory.host, 0, 0);
  std::array<double, 4> seen{};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto select = image.state.select[i];
    if (select == ChannelSelect::ONE) seen[i] = 1;
    if (select >= ChannelSelect::RED)
      seen[i] = number(texel[static_cast<std::size_t>(select) - static_cast<std::size_t>(ChannelSelect::RED)],
                       format);
  }
  return seen;
}

}  // namespace

TEST_CASE("each image format has a surface format that holds what its names say") {
  std::set<std::pair<ChannelOrder, ChannelType>> seen;
  for (const ImageFormat& row : image_formats()) {
    CAPTURE(info(row.order).name, info(row.type).name, row.surface);
    CHECK(seen.emplace(row.order, row.type).second);
    CHECK(find_image_format(row.order, row.type) == &row);
    const mem::image::FormatInfo* surface = mem::image::find_format(row.surface);
    REQUIRE(surface != nullptr);
    const ChannelTypeInfo& type = info(row.type);
    const bool srgb = info(row.order).name.starts_with('s');
    CHECK(surface->kind == (srgb ? mem::image::ChannelKind::SRGB : type.kind));
    if (row.packing == TexelPacking::Same || type.packed) CHECK(surface->bytes == row.texel_bytes());
    if (row.packing == TexelPacking::Channels) CHECK(surface->bytes == 4 * type.bits / 8);
    if (!type.packed)
      for (const mem::image::ChannelLayout& channel : surface->channels)
        CHECK((channel.bits == 0 || channel.bits == type.bits));
  }
}

TEST_CASE("a texel's channels are where OpenCL has them, and those that it lacks read as OpenCL says") {
  const auto on = device();
  const auto read = [&](ChannelOrder order, ChannelType type, std::vector<std::uint8_t> bytes) {
    ImageDescription description;
    description.order = order;
    description.data_type = type;
    const Image image = make(*on, description);
    REQUIRE(image.packed_bytes() == bytes.size());
    image.upload(std::as_bytes(std::span(bytes)));
    return first_texel(image);
  };
  using Seen = std::array<double, 4>;
  using enum ChannelOrder;
  using enum ChannelType;
  CHECK(read(r, uint8, {7}) == Seen{7, 0, 0, 1});
  CHECK(read(a, uint8, {7}) == Seen{0, 0, 0, 7});
  CHECK(read(a, unorm8, {255}) == Seen{0, 0, 0, 1});
  CHECK(read(rg, sint8, {7, 0xfe}) == Seen{7, -2, 0, 1});
  CHECK(read(ra, uint16, {7, 1, 9, 0}) == Seen{263, 0, 0, 9});
  CHECK(read(rgba, uint8, {1, 2, 3, 4}) == Seen{1, 2, 3, 4});
  CHECK(read(bgra, uint8, {1, 2, 3, 4}) == Seen{3, 2, 1, 4});
  CHECK(read(bgra, unorm8, {0, 255, 0, 255}) == Seen{0, 1, 0, 1});
  CHECK(read(argb, uint8, {1, 2, 3, 4}) == Seen{2, 3, 4, 1});
  CHECK(read(abgr, sint8, {1, 2, 3, 4}) == Seen{4, 3, 2, 1});
  CHECK(read(luminance, unorm8, {255}) == Seen{1, 1, 1, 1});
  CHECK(read(luminance, unorm8, {0}) == Seen{0, 0, 0, 1});
  CHECK(read(intensity, unorm8, {0}) == Seen{0, 0, 0, 0});
  CHECK(read(intensity, half, {0, 0x40}) == Seen{2, 2, 2, 2});
  CHECK(read(depth, float_, {0, 0, 0, 0x3f}) == Seen{0.5, 0, 0, 1});
  // 565: red 15:11, green 10:5, blue 4:0; 555: red 14:10; 101010: red 29:20; 101010_2: red 31:22, alpha 1:0.
  CHECK(read(rgb, unorm_565, {0x00, 0xf8}) == Seen{1, 0, 0, 1});
  CHECK(read(rgb, unorm_565, {0xe0, 0x07}) == Seen{0, 1, 0, 1});
  CHECK(read(rgb, unorm_555, {0x1f, 0x00}) == Seen{0, 0, 1, 1});
  CHECK(read(rgbx, unorm_555, {0x00, 0x7c}) == Seen{1, 0, 0, 1});
  CHECK(read(rgb, unorm_101010, {0x00, 0x00, 0xf0, 0x3f}) == Seen{1, 0, 0, 1});
  CHECK(read(rgb, unorm_101010, {0xff, 0x03, 0x00, 0x00}) == Seen{0, 0, 1, 1});
  CHECK(read(rx, snorm16, {0xff, 0x7f}) == Seen{1, 0, 0, 1});
  CHECK(read(rgx, half, {0, 0x40, 0, 0x3c}) == Seen{2, 1, 0, 1});
  CHECK(read(rgbx, unorm_101010, {0xff, 0x03, 0x00, 0x00}) == Seen{0, 0, 1, 1});
  CHECK(read(rgba, unorm_101010_2, {0x00, 0x00, 0xc0, 0xff}) == Seen{1, 0, 0, 0});
  CHECK(read(rgba, unorm_101010_2, {0x03, 0xf0, 0x3f, 0x00}) == Seen{0, 1, 0, 1});
}

TEST_CASE("contents come back as they were given, whatever the format, the dimensions and the tiles") {
  const auto on = device();
  using mem::image::TileMode;
  for (const ImageFormat& row : image_formats())
    for (const ImageType type :
         {ImageType::image1d, ImageType::image2d, ImageType::image3d, ImageType::image1d_array,
          ImageType::image2d_array, ImageType::image1d_buffer})
      for (const TileMode tiling : {TileMode::LINEAR, TileMode::XMAJOR, TileMode::YMAJOR}) {
        if (row.type != ChannelType::unorm8 && row.packing == TexelPacking::Same &&
            tiling == TileMode::XMAJOR)
          continue;
        CAPTURE(info(row.order).name, info(row.type).name, info(type).name, static_cast<int>(tiling));
        ImageDescription description = sized(type, 37, 11, 3);
        description.order = row.order;
        description.data_type = row.type;
        description.tiling = tiling;
        const Image image = make(*on, description);
        std::vector<std::byte> contents = pattern(image.packed_bytes());
        if (row.packing == TexelPacking::TopBits)  // bits that OpenCL leaves undefined are read back as 0
          for (std::size_t at = row.texel_bytes() - 1; at < contents.size(); at += row.texel_bytes())
            contents[at] &= row.texel_bytes() == 2 ? std::byte{0x7f} : std::byte{0x3f};
        image.upload(contents);
        REQUIRE(download(image) == contents);
        on->release(image.memory);
      }
}

TEST_CASE("mip levels follow each other, each a texel or half as large") {
  const auto on = device();
  ImageDescription description = sized(ImageType::image2d_array, 37, 9, 2);
  description.mip_levels = 6;
  CHECK(make(*on, description).packed_bytes() == 4u * 2 * (37 * 9 + 18 * 4 + 9 * 2 + 4 * 1 + 2 * 1 + 1));
  description = sized(ImageType::image3d, 9, 6, 5);
  description.mip_levels = 3;
  description.tiling = mem::image::TileMode::YMAJOR;
  const Image image = make(*on, description);
  CHECK(image.packed_bytes() == 4u * (9 * 6 * 5 + 4 * 3 * 2 + 2 * 1 * 1));
  const std::vector<std::byte> contents = pattern(image.packed_bytes());
  image.upload(contents);
  CHECK(download(image) == contents);
}

TEST_CASE("a kernel gets an image's size, format and place") {
  const auto on = device();
  ImageDescription description = sized(ImageType::image2d_array, 20, 10, 7);
  description.order = ChannelOrder::rg;
  description.data_type = ChannelType::half;
  description.mip_levels = 2;
  const Image image = make(*on, description);
  const ImageValue value = image.value();
  CHECK(value.surface.gpu_address == image.memory.address);
  CHECK(value.surface.gpu_address >> 32 != 0);
  CHECK(value.surface.size == image.memory.size);
  CHECK(value.surface.image == image.state);
  CHECK(value.surface.image.width == 20);
  CHECK(value.surface.image.depth == 7);
  CHECK(value.channel_order == 0x10b2);
  CHECK(value.channel_data_type == 0x10dd);
  CHECK(value.array_size == 7);
  CHECK(value.mip_levels == 2);
  CHECK(image_type_of(value.surface.image) == ImageType::image2d_array);
  CHECK_FALSE(image_type_of(mem::image::SurfaceState{}));
}

TEST_CASE("images whose alpha must stay 1 are not for kernels to write") {
  for (const ImageFormat& row : image_formats()) {
    CAPTURE(info(row.order).name, info(row.type).name);
    const std::string_view order = info(row.order).name;
    CHECK(row.writable() == !(order.ends_with('x') || order.starts_with('s')));
  }
}

TEST_CASE("descriptions that no image fits are refused") {
  ImageDescription d = sized(ImageType::image2d, 4, 4, 1);
  d.order = ChannelOrder::argb;
  d.data_type = ChannelType::half;
  CHECK(refused(d) == "expected for argb a channel type of unorm8, snorm8, uint8, sint8, found half");
  CHECK_THAT(refused(sized(ImageType::image2d, 0, 4, 1)), Contains("2D image of at least one texel"));
  CHECK_THAT(refused(sized(ImageType::image2d, 16385, 4, 1)),
             Contains("2D image: Width") && Contains("16385"));
  CHECK_THAT(refused(sized(ImageType::image3d, 4, 4, 2049)), Contains("2049"));
  CHECK_THAT(refused(sized(ImageType::image1d_array, 4, 1, 2049)), Contains("2049"));
  d = sized(ImageType::image2d, 16, 16, 1);
  d.mip_levels = 16;
  CHECK_THAT(refused(d), Contains("at most 15 levels"));
  d.mip_levels = 0;
  CHECK_THAT(refused(d), Contains("found a size of 0"));
  const auto on = device();
  CHECK_FALSE(make_image(*on, sized(ImageType::image2d, 1, 20000, 1), "picture"));
}

TEST_CASE("kernels are told sizes, array elements and formats") {
  for (const char* container : {"image_queries.patch", "image_queries.zebin"}) {
    CAPTURE(container);
    const auto on = device();
    auto program = load_program(binaries::own(container));
    REQUIRE(program);
    const auto module = Module::create(*on, std::move(*program));
    REQUIRE(module);
    const auto kernel = (*module)->find("more");
    REQUIRE(kernel);
    const auto out = on->allocate(40, "out");
    REQUIRE(out);
    ImageDescription shadow = sized(ImageType::image2d, 12, 13, 1);
    shadow.order = ChannelOrder::depth;
    shadow.data_type = ChannelType::unorm16;
    const std::vector<ArgumentValue> arguments{
        make(*on, sized(ImageType::image1d, 2, 1, 1)).value(),
        make(*on, sized(ImageType::image3d, 3, 4, 5)).value(),
        make(*on, sized(ImageType::image1d_array, 6, 1, 7)).value(),
        make(*on, sized(ImageType::image2d_array, 8, 9, 10)).value(),
        make(*on, sized(ImageType::image1d_buffer, 70000, 1, 1)).value(),
        make(*on, shadow).value(),
        BufferValue{out->surface()}};
    auto launch = Launch::prepare(**module, **kernel, arguments, NdRange{});
    if (!launch) FAIL(launch.error().message);
    const auto report = launch->run();
    REQUIRE(report);
    REQUIRE_FALSE(report->fault);
    std::array<std::int32_t, 10> seen;
    std::memcpy(seen.data(), out->host, sizeof seen);
    CHECK(seen == std::array<std::int32_t, 10>{2, 3, 4, 5, 6, 7, 9, 10, 70000, 0x10bd});
  }
}
