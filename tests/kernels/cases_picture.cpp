// Pictures and what programs do with them; mip levels, blocks, queries, samplers declared in the program.
#include <cmath>

#include "tests/kernels/given_kernels.hpp"
#include "tests/kernels/image_parts.hpp"

namespace eum::kernels {
namespace {

constexpr Sampler kNearestEdge{false, Address::ClampToEdge, false};
constexpr std::array<double, 4> kLuma{0.2126, 0.7152, 0.0722, 0};

/// A picture with smooth shades, edges and a hole, of a size that suits no hardware.
Image picture(uint32_t width, uint32_t height, uint32_t type = channel::UNORM8) {
  Image image = blank_image(ImageDimension::D2, width, height, 1, order::RGBA, type, Role::In);
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++) {
      const double u = x / static_cast<double>(width), v = y / static_cast<double>(height);
      const double ring = std::hypot(u - 0.5, v - 0.45);
      const bool inside = ring < 0.3 && ring > 0.12;
      const bool checker = (x / 8 + y / 8) % 2 == 0;
      const std::array<double, 4> color{inside ? 0.95 : u, checker ? v : 1 - v,
                                        inside ? 0.15 : 0.5 + 0.5 * std::sin(9 * u), 1.0};
      for (size_t i = 0; i < 4; i++)
        image.bytes[(size_t{y} * width + x) * 4 + i] = static_cast<std::byte>(std::lround(color[i] * 255));
    }
  return image;
}

Image canvas(uint32_t width, uint32_t height) {
  Image image = blank_image(ImageDimension::D2, width, height, 1, order::RGBA, channel::UNORM8, Role::Out);
  std::fill(image.bytes.begin(), image.bytes.end(), std::byte{0xa5});
  image.unit = 1.0 / 255;
  return image;
}

/// Tolerance for rounding to an 8-bit channel, and with a filter's weights in addition.
constexpr double kRounding = 1.001 / 255, kFiltered = kRounding + 2.0 / 256;

/// Calls shade(x, y) for each texel of image `index` and writes the result there.
template <class Shade>
void paint(const KernelCase& c, std::vector<Bytes>& buffers, size_t index, Shade shade) {
  const ImageModel out = model_of(c, buffers, index);
  for (uint32_t y = 0; y < c.global[1]; y++)
    for (uint32_t x = 0; x < c.global[0]; x++) out.write(x, y, 0, shade(x, y));
}

void reference_blur(const KernelCase& c, std::vector<Bytes>& buffers) {
  const ImageModel in = model_of(c, buffers, 0);
  paint(c, buffers, 1, [&](int64_t px, int64_t py) {
    constexpr std::array<double, 5> weight{0.0625, 0.25, 0.375, 0.25, 0.0625};
    Color sum{};
    for (int y = -2; y <= 2; y++)
      for (int x = -2; x <= 2; x++) {
        const Color color = in.fetch(kNearestEdge, {px + x, py + y, 0});
        for (size_t i = 0; i < 4; i++)
          sum[i] += color[i] * weight[static_cast<size_t>(x + 2)] * weight[static_cast<size_t>(y + 2)];
      }
    return sum;
  });
}

void reference_sobel(const KernelCase& c, std::vector<Bytes>& buffers) {
  const ImageModel in = model_of(c, buffers, 0);
  paint(c, buffers, 1, [&](int64_t px, int64_t py) {
    const auto light = [&](int x, int y) {
      const Color color = in.fetch(kNearestEdge, {px + x, py + y, 0});
      return color[0] * kLuma[0] + color[1] * kLuma[1] + color[2] * kLuma[2];
    };
    const double across =
        light(1, -1) + 2 * light(1, 0) + light(1, 1) - light(-1, -1) - 2 * light(-1, 0) - light(-1, 1);
    const double down =
        light(-1, 1) + 2 * light(0, 1) + light(1, 1) - light(-1, -1) - 2 * light(0, -1) - light(1, -1);
    const double edge = std::clamp(std::hypot(across, down), 0.0, 1.0);
    return Color{edge, edge, edge, 1};
  });
}

void reference_resize(const KernelCase& c, std::vector<Bytes>& buffers) {
  const ImageModel in = model_of(c, buffers, 0);
  const Image& out = image_of(c, 1);
  paint(c, buffers, 1, [&](uint32_t x, uint32_t y) {
    return in.sample({true, Address::ClampToEdge, true}, {(x + 0.5) / out.width, (y + 0.5) / out.height, 0});
  });
}

void reference_rotate(const KernelCase& c, std::vector<Bytes>& buffers) {
  const ImageModel in = model_of(c, buffers, 0);
  const Image& image = image_of(c, 0);
  const auto cosine = static_cast<double>(value_of<float>(c, 2)),
             sine = static_cast<double>(value_of<float>(c, 3));
  paint(c, buffers, 1, [&](uint32_t x, uint32_t y) {
    const double cx = image.width * 0.5, cy = image.height * 0.5, dx = x + 0.5 - cx, dy = y + 0.5 - cy;
    return in.sample({true, Address::Clamp, false},
                     {cx + cosine * dx + sine * dy, cy + cosine * dy - sine * dx, 0});
  });
}

void reference_ycbcr(const KernelCase& c, std::vector<Bytes>& buffers) {
  const ImageModel in = model_of(c, buffers, 0);
  paint(c, buffers, 1, [&](int64_t x, int64_t y) {
    const Color color = in.texel(x, y, 0);
    const double light = color[0] * kLuma[0] + color[1] * kLuma[1] + color[2] * kLuma[2];
    return Color{light, (color[2] - light) / 1.8556 + 0.5, (color[0] - light) / 1.5748 + 0.5, color[3]};
  });
}

void reference_histogram(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto texels = elements<uint8_t>(buffers, 0);
  const auto counts = elements<uint32_t>(buffers, 1);
  for (size_t i = 0; i < size_t{c.global[0]} * c.global[1]; i++)
    for (size_t k = 0; k < 3; k++) counts[k * 16 + (texels[i * 4 + k] >> 4)]++;
}

void reference_level_of_detail(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto at = elements<float>(buffers, 2), out = elements<float>(buffers, 3);
  const auto& sampler = std::get<Sampler>(c.args[1]);
  for (size_t i = 0; i < c.global[0]; i++) {
    const auto place = [&](size_t axis) { return static_cast<double>(at[i * 4 + axis]); };
    const double most = image_of(c, 0).levels - 1;
    const auto level = static_cast<uint32_t>(std::clamp(std::floor(place(2) + 0.5), 0.0, most));
    put_color(out, i, model_of(c, buffers, 0, level).sample(sampler, {place(0), place(1), 0}));
  }
}

/// Gradients of n texels give a level of detail of log2(n).
void reference_gradients(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto at = elements<float>(buffers, 2), out = elements<float>(buffers, 3);
  const Image& image = image_of(c, 0);
  for (size_t i = 0; i < c.global[0]; i++) {
    const auto place = [&](size_t axis) { return static_cast<double>(at[i * 4 + axis]); };
    const double lod = std::log2(std::max(place(2), place(3)) * image.width);
    const auto level = static_cast<uint32_t>(std::clamp(std::floor(lod + 0.5), 0.0, image.levels - 1.0));
    put_color(out, i,
              model_of(c, buffers, 0, level).sample(std::get<Sampler>(c.args[1]), {place(0), place(1), 0}));
  }
}

void reference_level_count(const KernelCase& c, std::vector<Bytes>& buffers) {
  for (size_t i = 0; i < c.global[0]; i++)
    elements<int32_t>(buffers, 1)[i] = static_cast<int32_t>(image_of(c, 0).levels);
}

void reference_darken(const KernelCase& c, std::vector<Bytes>& buffers) {
  const ImageModel in = model_of(c, buffers, 0);
  paint(c, buffers, 2, [&](uint32_t x, uint32_t y) {
    Color color = in.sample(std::get<Sampler>(c.args[1]), {x + 0.5, y + 0.5, 0});
    for (double& value : color) value = from_half(to_half(value)) * 0.5;
    return color;
  });
}

void reference_levels(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto& sampler = std::get<Sampler>(c.args[1]);
  const auto size = static_cast<uint32_t>(value_of<int32_t>(c, 3));
  paint(c, buffers, 2, [&](uint32_t x, uint32_t y) {
    return model_of(c, buffers, 0, x / size).sample(sampler, {(x % size + 0.5) / size, (y + 0.5) / size, 0});
  });
}

void reference_query(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto out = elements<int32_t>(buffers, 6);
  size_t at = 0;
  const auto put = [&](uint32_t value) { out[at++] = static_cast<int32_t>(value); };
  const auto format = [&](size_t i) { put(image_of(c, i).type | image_of(c, i).order << 16); };
  const auto image = [&](size_t i) -> const Image& { return image_of(c, i); };
  put(image(0).width);
  format(0);
  put(image(1).width);
  put(image(1).height);
  put(image(1).width * 1000 + image(1).height);
  format(1);
  put(image(2).width);
  put(image(2).height);
  put(image(2).depth);
  put((image(2).width * 100 + image(2).height) * 100 + image(2).depth);
  format(2);
  put(image(3).width);
  put(image(3).depth);
  format(3);
  put(image(4).width);
  put(image(4).height);
  put(image(4).depth);
  format(4);
  put(image(5).width);
  format(5);
}

void reference_declared(const KernelCase& c, std::vector<Bytes>& buffers) {
  const ImageModel model = model_of(c, buffers, 0);
  const auto at = elements<float>(buffers, 2), out = elements<float>(buffers, 3);
  for (size_t i = 0; i < c.global[0]; i++) {
    const auto place = [&](size_t axis) { return static_cast<double>(at[i * 4 + axis]); };
    const std::array<double, 3> p{place(0), place(1), 0}, n{place(2), place(3), 0};
    put_color(out, i * 6, model.sample({true, Address::Repeat, true}, n));
    put_color(out, i * 6 + 1, model.sample({false, Address::MirroredRepeat, true}, n));
    put_color(out, i * 6 + 2, model.sample({false, Address::Clamp, false}, p));
    put_color(out, i * 6 + 3, model.sample({true, Address::Clamp, false}, p));
    put_color(out, i * 6 + 4, model.sample({true, Address::ClampToEdge, false}, p));
    put_color(out, i * 6 + 5, model.sample(std::get<Sampler>(c.args[1]), n));
  }
}

void reference_invert(const KernelCase& c, std::vector<Bytes>& buffers) {
  const ImageModel image = model_of(c, buffers, 0);
  paint(c, buffers, 0, [&](int64_t x, int64_t y) {
    const Color v = image.texel(x, y, 0);
    return Color{255 - v[0], v[2], v[1], static_cast<double>(static_cast<uint32_t>(v[3]) ^ 0x55u)};
  });
}

void reference_shadow(const KernelCase& c, std::vector<Bytes>& buffers) {
  const ImageModel image = model_of(c, buffers, 0);
  const auto at = elements<float>(buffers, 2), out = elements<float>(buffers, 3);
  for (size_t i = 0; i < c.global[0]; i++)
    out[i] = static_cast<float>(
        image.sample(std::get<Sampler>(c.args[1]),
                     {static_cast<double>(at[i * 4]), static_cast<double>(at[i * 4 + 1]), 0})[0]);
}

void reference_copy(const KernelCase&, std::vector<Bytes>& buffers) { buffers[1] = buffers[0]; }

/// A block of 4 rows of 16 dwords; beyond the edges of the image the edge texel is repeated (SKL PRM volume
/// 7, "Media Block Read": for 4-byte formats the last dword).
void reference_edges(const KernelCase& c, std::vector<Bytes>& buffers) {
  const Image& image = image_of(c, 0);
  const auto texels = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 1);
  const int32_t x = value_of<int32_t>(c, 2) / 4, y = value_of<int32_t>(c, 3);
  for (int32_t row = 0; row < 4; row++)
    for (int32_t lane = 0; lane < 16; lane++) {
      const auto from_x =
          static_cast<size_t>(std::clamp<int32_t>(x + lane, 0, static_cast<int32_t>(image.width) - 1));
      const auto from_y =
          static_cast<size_t>(std::clamp<int32_t>(y + row, 0, static_cast<int32_t>(image.height) - 1));
      out[static_cast<size_t>(row * 16 + lane)] = texels[from_y * image.width + from_x];
    }
}

KernelCase filter(const char* kernel, Image out, double tolerance,
                  void (*reference)(const KernelCase&, std::vector<Bytes>&), std::vector<Arg> more = {}) {
  KernelCase c{.name = std::string("image_filter.") + kernel,
               .file = "image_filter",
               .kernel = kernel,
               .dimensions = 2,
               .global = {out.width, out.height, 1},
               .args = {picture(160, 120), out},
               .tolerance = {.absolute = tolerance},
               .reference = reference};
  for (Arg& arg : more) c.args.push_back(std::move(arg));
  return c;
}

/// A picture with `levels` mip levels; those after the first have other colours, so that a wrong level is
/// detected.
Image levels_of(uint32_t size, uint32_t levels) {
  Image image = picture(size, size);
  image.levels = levels;
  Random random(9501);
  for (uint32_t level = 1; level < levels; level++) {
    const uint32_t edge = std::max(size >> level, 1u);
    for (uint32_t y = 0; y < edge; y++)
      for (uint32_t x = 0; x < edge; x++)
        for (uint32_t i = 0; i < 4; i++) {
          const uint32_t value = i == 3 ? 255 : (x * 200 / edge + y * 40 / edge * i + level * 60 * i) & 255;
          image.bytes.push_back(static_cast<std::byte>(value));
        }
  }
  return image;
}

KernelCase copy(const char* kernel, uint32_t lanes, uint32_t bytes, uint32_t rows) {
  const uint32_t groups = 3;
  Image in = blank_image(ImageDimension::D2, groups * lanes * bytes / 4, 16, 1, order::RGBA, channel::UINT8,
                         Role::In);
  fill_image(in, 9600 + lanes * 100 + bytes * 10 + rows);
  Image out = in;
  out.role = Role::Out;
  std::fill(out.bytes.begin(), out.bytes.end(), std::byte{0xa5});
  return {.name = std::string("image_block.") + kernel,
          .file = "image_block",
          .kernel = kernel,
          .dimensions = 2,
          .global = {groups * lanes, 16 / rows, 1},
          .local = {lanes, 1, 1},
          .args = {in, out},
          .reference = reference_copy};
}

KernelCase edges(const char* variant, int32_t x, int32_t y) {
  Image in = blank_image(ImageDimension::D2, 21, 9, 1, order::R, channel::UINT32, Role::In);
  fill_image(in, 9700);
  return {.name = std::string("image_block.edges.") + variant,
          .file = "image_block",
          .kernel = "edges",
          .global = {16, 1, 1},
          .local = {16, 1, 1},
          .args = {in, output<uint32_t>(64), scalar(x), scalar(y)},
          .reference = reference_edges};
}

std::vector<float> random_places(uint64_t seed, size_t count, std::array<double, 4> low,
                                 std::array<double, 4> high) {
  Random random(seed);
  std::vector<float> places(count * 4);
  for (size_t i = 0; i < places.size(); i++)
    places[i] = static_cast<float>(random.real(low[i % 4], high[i % 4]));
  return places;
}

KernelCase query() {
  const auto image = [](ImageDimension dimension, uint32_t width, uint32_t height, uint32_t depth,
                        uint32_t order_number, uint32_t type) {
    return blank_image(dimension, width, height, depth, order_number, type, Role::In);
  };
  return {
      .name = "image_query.query",
      .file = "image_query",
      .kernel = "query",
      .global = {1, 1, 1},
      .args = {image(ImageDimension::D1, 33, 1, 1, order::R, channel::FLOAT),
               image(ImageDimension::D2, 21, 17, 1, order::BGRA, channel::UNORM8),
               image(ImageDimension::D3, 5, 6, 7, order::RGBA, channel::HALF),
               image(ImageDimension::Array1D, 11, 1, 3, order::R, channel::UINT16),
               image(ImageDimension::Array2D, 4, 8, 2, order::RGBA, channel::SINT32),
               image(ImageDimension::Buffer, 100, 1, 1, order::RGBA, channel::UINT8), output<int32_t>(20)},
      .reference = reference_query};
}

}  // namespace

KernelCase given::blur(uint32_t width, uint32_t height) {
  KernelCase c = filter("gaussian_blur", canvas(width, height), kRounding, reference_blur);
  c.args[0] = picture(width, height);
  return c;
}

KernelCase given::resize(uint32_t width, uint32_t height) {
  KernelCase c = filter("resize", canvas(width, height), kFiltered, reference_resize);
  c.args[0] = picture(width / 2, height / 2);
  return c;
}

void add_picture_cases(std::vector<KernelCase>& cases) {
  cases.push_back(filter("gaussian_blur", canvas(160, 120), kRounding, reference_blur));
  cases.push_back(filter("sobel", canvas(160, 120), kRounding, reference_sobel));
  cases.push_back(filter("resize", canvas(240, 90), kFiltered, reference_resize));
  cases.push_back(filter("rotate_picture", canvas(160, 120), kFiltered, reference_rotate,
                         {scalar(0.8660254f), scalar(0.5f)}));
  cases.push_back(filter("to_ycbcr", canvas(160, 120), kRounding, reference_ycbcr));
  cases.push_back({.name = "image_filter.image_histogram",
                   .file = "image_filter",
                   .kernel = "image_histogram",
                   .dimensions = 2,
                   .global = {160, 120, 1},
                   .args = {picture(160, 120, channel::UINT8), in_out(std::vector<uint32_t>(48))},
                   .reference = reference_histogram});
  const Image mips = levels_of(32, 6);
  const auto places = random_places(9801, 64, {-0.4, -0.4, -0.5, 0}, {1.4, 1.4, 6.4, 0});
  for (const bool linear : {false, true})
    cases.push_back(
        {.name = std::string("image_mip.level_of_detail.") + (linear ? "linear" : "nearest"),
         .file = "image_mip",
         .kernel = "level_of_detail",
         .global = {64, 1, 1},
         .args = {mips, Sampler{linear, Address::ClampToEdge, true}, input(places), output<float>(256)},
         .tolerance = {.absolute = linear ? 2.0 / 256 : 0},
         .reference = reference_level_of_detail});
  cases.push_back({.name = "image_mip.levels",
                   .file = "image_mip",
                   .kernel = "levels",
                   .dimensions = 2,
                   .global = {160, 32, 1},
                   .args = {levels_of(32, 5), Sampler{false, Address::ClampToEdge, true}, canvas(160, 32),
                            scalar(int32_t{32})},
                   .reference = reference_levels});
  // 0.8 to 1.25 times a power of two of texels, so that no gradient is near the boundary of two levels.
  auto steep = random_places(9806, 64, {0.02, 0.02, 0, 0}, {0.98, 0.98, 0, 0});
  Random random(9807);
  for (size_t i = 0; i < 64; i++) {
    const double texels = std::ldexp(random.real(0.8, 1.25), static_cast<int>(random.integer(-1, 6)));
    steep[i * 4 + 2 + i % 2] = static_cast<float>(texels / 32);
    steep[i * 4 + 3 - i % 2] = static_cast<float>(texels / 32 * random.real(0.1, 0.9));
  }
  cases.push_back(
      {.name = "image_mip.gradients",
       .file = "image_mip",
       .kernel = "gradients",
       .global = {64, 1, 1},
       .args = {mips, Sampler{false, Address::ClampToEdge, true}, input(steep), output<float>(256)},
       .reference = reference_gradients});
  cases.push_back({.name = "image_mip.level_count",
                   .file = "image_mip",
                   .kernel = "level_count",
                   .global = {5, 1, 1},
                   .args = {mips, output<int32_t>(5)},
                   .reference = reference_level_count});
  cases.push_back({.name = "image_half.darken",
                   .file = "image_half",
                   .kernel = "darken",
                   .dimensions = 2,
                   .global = {52, 39, 1},
                   .args = {picture(52, 39), Sampler{true, Address::ClampToEdge, false}, canvas(52, 39)},
                   .tolerance = {.absolute = kRounding},
                   .reference = reference_darken});
  cases.push_back(query());
  Image declared = picture(24, 18);
  cases.push_back({.name = "image_sampler.declared",
                   .file = "image_sampler",
                   .kernel = "declared",
                   .global = {48, 1, 1},
                   .args = {declared, Sampler{true, Address::Clamp, true},
                            input(random_places(9802, 48, {-2, -2, -1.3, -1.3}, {26, 20, 2.3, 2.3})),
                            output<float>(48 * 24)},
                   .tolerance = {.absolute = 2.0 / 256},
                   .reference = reference_declared});
  Image inverted = blank_image(ImageDimension::D2, 37, 11, 1, order::RGBA, channel::UINT8, Role::InOut);
  fill_image(inverted, 9803);
  cases.push_back({.name = "image_inout.invert",
                   .file = "image_inout",
                   .kernel = "invert",
                   .dimensions = 2,
                   .global = {37, 11, 1},
                   .args = {inverted},
                   .reference = reference_invert});
  Image shadow = blank_image(ImageDimension::D2, 19, 14, 1, order::DEPTH, channel::FLOAT, Role::In);
  fill_image(shadow, 9804);
  for (const bool linear : {false, true})
    cases.push_back(
        {.name = std::string("image_inout.shadow.") + (linear ? "linear" : "nearest"),
         .file = "image_inout",
         .kernel = "shadow",
         .global = {64, 1, 1},
         .args = {shadow, Sampler{linear, Address::ClampToEdge, true},
                  input(random_places(9805, 64, {-0.3, -0.3, 0, 0}, {1.3, 1.3, 0, 0})), output<float>(64)},
         .tolerance = {.absolute = linear ? 4.0 / 256 : 0},
         .reference = reference_shadow});
  cases.push_back(copy("copy_16", 16, 4, 1));
  cases.push_back(copy("copy2_16", 16, 4, 2));
  cases.push_back(copy("copy4_16", 16, 4, 4));
  cases.push_back(copy("copy8_16", 16, 4, 8));
  cases.push_back(copy("copy_8", 8, 4, 1));
  cases.push_back(copy("copy8_8", 8, 4, 8));
  cases.push_back(copy("copy_us_16", 16, 2, 1));
  cases.push_back(copy("copy_us4_16", 16, 2, 4));
  cases.push_back(copy("copy_us8_8", 8, 2, 8));
  cases.push_back(edges("inside", 8, 2));
  cases.push_back(edges("right", 40, 3));
  cases.push_back(edges("corner", 60, 7));
  cases.push_back(edges("left_top", -16, -2));
}

}  // namespace eum::kernels
