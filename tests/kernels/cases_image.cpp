// The matrix of image reads and writes: dimension, format, filter, address mode, kind of coordinate, kind of
// result. Formats rotate from case to case, so that each is combined with several values of the others.
#include <cmath>

#include "tests/kernels/image_parts.hpp"

namespace eum::kernels {
namespace {

constexpr uint32_t kReads = 72;

constexpr FormatName kFloatFormats[] = {{"rgba_unorm8", order::RGBA, channel::UNORM8},
                                        {"bgra_unorm8", order::BGRA, channel::UNORM8},
                                        {"r_float", order::R, channel::FLOAT},
                                        {"rgba_half", order::RGBA, channel::HALF},
                                        {"rgba_snorm8", order::RGBA, channel::SNORM8},
                                        {"argb_unorm8", order::ARGB, channel::UNORM8},
                                        {"rg_unorm8", order::RG, channel::UNORM8},
                                        {"rgba_unorm16", order::RGBA, channel::UNORM16},
                                        {"r_unorm8", order::R, channel::UNORM8},
                                        {"rgba_float", order::RGBA, channel::FLOAT},
                                        {"a_unorm8", order::A, channel::UNORM8},
                                        {"luminance_unorm8", order::LUMINANCE, channel::UNORM8},
                                        {"intensity_half", order::INTENSITY, channel::HALF},
                                        {"rgba_snorm16", order::RGBA, channel::SNORM16},
                                        {"rgb_unorm_565", order::RGB, channel::UNORM_565},
                                        {"r_half", order::R, channel::HALF},
                                        {"rgb_unorm_555", order::RGB, channel::UNORM_555},
                                        {"rg_float", order::RG, channel::FLOAT},
                                        {"rgb_unorm_101010", order::RGB, channel::UNORM_101010},
                                        {"r_unorm16", order::R, channel::UNORM16},
                                        {"rgba_unorm_101010_2", order::RGBA, channel::UNORM_101010_2},
                                        {"rx_unorm8", order::Rx, channel::UNORM8},
                                        {"ra_half", order::RA, channel::HALF},
                                        {"a_float", order::A, channel::FLOAT},
                                        {"rg_snorm16", order::RG, channel::SNORM16},
                                        {"abgr_unorm8", order::ABGR, channel::UNORM8},
                                        {"srgba_unorm8", order::sRGBA, channel::UNORM8}};
constexpr FormatName kUnsignedFormats[] = {
    {"rgba_uint8", order::RGBA, channel::UINT8},   {"rgba_uint16", order::RGBA, channel::UINT16},
    {"rgba_uint32", order::RGBA, channel::UINT32}, {"r_uint8", order::R, channel::UINT8},
    {"rg_uint16", order::RG, channel::UINT16},     {"r_uint32", order::R, channel::UINT32},
    {"bgra_uint8", order::BGRA, channel::UINT8}};
constexpr FormatName kSignedFormats[] = {
    {"rgba_sint8", order::RGBA, channel::SINT8}, {"rgba_sint16", order::RGBA, channel::SINT16},
    {"r_sint32", order::R, channel::SINT32},     {"rgba_sint32", order::RGBA, channel::SINT32},
    {"rg_sint8", order::RG, channel::SINT8},     {"r_sint16", order::R, channel::SINT16},
    {"argb_sint8", order::ARGB, channel::SINT8}};

struct DimensionName {
  const char* name;
  ImageDimension dimension;
  uint32_t width, height, depth;
  int axes;  // without the array axis
  bool array;
};
constexpr DimensionName kDimensions[] = {{"1d", ImageDimension::D1, 23, 1, 1, 1, false},
                                         {"2d", ImageDimension::D2, 21, 13, 1, 2, false},
                                         {"3d", ImageDimension::D3, 11, 7, 5, 3, false},
                                         {"1d_array", ImageDimension::Array1D, 19, 1, 6, 1, true},
                                         {"2d_array", ImageDimension::Array2D, 13, 9, 4, 2, true},
                                         {"1d_buffer", ImageDimension::Buffer, 37, 1, 1, 1, false}};

const char* name_of(Address address) {
  switch (address) {
    case Address::None:
      return "none";
    case Address::ClampToEdge:
      return "clamp_to_edge";
    case Address::Clamp:
      return "clamp";
    case Address::Repeat:
      return "repeat";
    case Address::MirroredRepeat:
      return "mirrored_repeat";
  }
  return "";
}

uint32_t axis_size(const DimensionName& d, int axis) {
  if (axis == d.axes && d.array) return d.depth;
  return axis == 0 ? d.width : axis == 1 ? d.height : d.depth;
}

/// Coordinates of kReads reads: beyond the edges where the address mode defines the result, and never where
/// the nearest texel changes.
std::vector<float> float_places(const DimensionName& d, const Sampler& sampler, uint64_t seed) {
  Random random(seed);
  std::vector<float> at(kReads * 4);
  for (size_t i = 0; i < kReads; i++)
    for (int axis = 0; axis < 4; axis++) {
      float& to = at[i * 4 + static_cast<size_t>(axis)];
      if (axis == d.axes && d.array) {
        to = static_cast<float>(static_cast<double>(random.integer(-1, d.depth)) + random.real(-0.4, 0.4));
      } else if (axis < d.axes) {
        const auto size = static_cast<int64_t>(axis_size(d, axis));
        const bool inside = sampler.address == Address::None;
        const int64_t beyond = inside ? 0 : sampler.normalized ? size + 2 : 3;
        double u = static_cast<double>(random.integer(-beyond, size - 1 + beyond)) + random.real(0.06, 0.94);
        if (inside && sampler.linear) u = std::clamp(u, 0.5, static_cast<double>(size) - 0.5);
        to = static_cast<float>(sampler.normalized ? u / static_cast<double>(size) : u);
      }
    }
  return at;
}

std::vector<int32_t> texel_places(const DimensionName& d, const Sampler& sampler, uint64_t seed) {
  Random random(seed);
  std::vector<int32_t> at(kReads * 4);
  const int64_t beyond = sampler.address == Address::None ? 0 : 3;
  for (size_t i = 0; i < kReads; i++)
    for (int axis = 0; axis < d.axes + (d.array ? 1 : 0); axis++)
      at[i * 4 + static_cast<size_t>(axis)] =
          static_cast<int32_t>(random.integer(-beyond, axis_size(d, axis) - 1 + beyond));
  return at;
}

/// Arguments: image, sampler, coordinates, results.
template <class T, bool texels>
void reference_read(const KernelCase& c, std::vector<Bytes>& buffers) {
  const ImageModel model = model_of(c, buffers, 0);
  const auto& sampler = std::get<Sampler>(c.args[1]);
  const auto out = elements<T>(buffers, 3);
  for (size_t i = 0; i < c.global[0]; i++) {
    if constexpr (texels) {
      const auto at = elements<int32_t>(buffers, 2);
      put_color(out, i, model.fetch(sampler, {at[i * 4], at[i * 4 + 1], at[i * 4 + 2]}));
    } else {
      const auto at = elements<float>(buffers, 2);
      const auto place = [&](size_t axis) { return static_cast<double>(at[i * 4 + axis]); };
      put_color(out, i, model.sample(sampler, {place(0), place(1), place(2)}));
    }
  }
}

/// Arguments: image, coordinates, results.
template <class T>
void reference_plain(const KernelCase& c, std::vector<Bytes>& buffers) {
  const ImageModel model = model_of(c, buffers, 0);
  const auto at = elements<int32_t>(buffers, 1);
  const auto out = elements<T>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++)
    put_color(out, i, model.fetch({}, {at[i * 4], at[i * 4 + 1], at[i * 4 + 2]}));
}

/// Arguments: image, values.
template <class T>
void reference_write(const KernelCase& c, std::vector<Bytes>& buffers) {
  const ImageModel model = model_of(c, buffers, 0);
  const auto values = elements<T>(buffers, 1);
  size_t i = 0;
  for (uint32_t z = 0; z < c.global[2]; z++)
    for (uint32_t y = 0; y < c.global[1]; y++)
      for (uint32_t x = 0; x < c.global[0]; x++, i++)
        model.write(x, y, z,
                    {static_cast<double>(values[i * 4]), static_cast<double>(values[i * 4 + 1]),
                     static_cast<double>(values[i * 4 + 2]), static_cast<double>(values[i * 4 + 3])});
}

/// Numbers from -1 to 1.25 that are never near the midpoint between two values of a channel.
std::vector<float> unambiguous(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    bool again = true;
    while (again) {
      value = static_cast<float>(random.real(-1, 1.25));
      again = false;
      for (const double most : {3.0, 31.0, 63.0, 127.0, 255.0, 1023.0, 32767.0, 65535.0}) {
        const double scaled = static_cast<double>(value) * most;
        again = again || std::fabs(scaled - std::floor(scaled) - 0.5) < 0.02;
      }
    }
  }
  return values;
}

Image contents(const DimensionName& d, const FormatName& format, uint64_t seed) {
  Image image = blank_image(d.dimension, d.width, d.height, d.depth, format.order, format.type, Role::In);
  fill_image(image, seed);
  return image;
}

/// The filter's weights have eight fraction bits; values are in [0, 1] or [-1, 1].
Tolerance read_tolerance(const DimensionName& d, const FormatName& format, const Sampler& sampler) {
  const bool two = format.type != channel::UNORM8 && format.type != channel::UNORM16;
  Tolerance tolerance;
  if (format.order == order::sRGBA) tolerance.absolute = 1e-6;
  if (sampler.linear) tolerance.absolute = d.axes * (two ? 2.0 : 1.0) / 256;
  return tolerance;
}

std::string_view pocl_reason(const DimensionName& d, const FormatName& format, const Sampler& sampler,
                             bool reads) {
  if (format.order == order::R && format.type == channel::HALF) return "wrong texels of one half";
  if (reads && format.order == order::R) return "alpha of an image without it is 0, not 1";
  if (d.array && sampler.normalized) return "the index of an array's element is scaled with the coordinates";
  return {};
}

constexpr Address kUnnormalized[] = {Address::None, Address::ClampToEdge, Address::Clamp};
constexpr Address kNormalized[] = {Address::None, Address::ClampToEdge, Address::Clamp, Address::Repeat,
                                   Address::MirroredRepeat};

/// Whether a surface of the format can be written.
bool is_writable(const FormatName& format) {
  return format.order != order::sRGBA && format.order != order::Rx;
}

class Matrix {
 public:
  explicit Matrix(std::vector<KernelCase>& cases) : cases_(cases) {}

  void read(const std::string& file, const DimensionName& d, const Sampler& sampler, bool texels, char kind,
            const FormatName& format) {
    const uint64_t seed = 9000 + ++count_ * 3;
    const std::string kernel =
        std::string("read") + d.name + "_" + suffix(kind) + (texels ? "_texel" : "_at");
    KernelCase c{.name = file + "." + kernel + "." + format.name +
                         (sampler.linear ? ".linear." : ".nearest.") + name_of(sampler.address) +
                         (sampler.normalized ? ".normalized" : ""),
                 .file = file,
                 .kernel = kernel,
                 .global = {kReads, 1, 1},
                 .args = {contents(d, format, seed), sampler,
                          texels ? input(texel_places(d, sampler, seed + 1))
                                 : input(float_places(d, sampler, seed + 1)),
                          kind == 'f'   ? output<float>(kReads * 4)
                          : kind == 'u' ? output<uint32_t>(kReads * 4)
                                        : output<int32_t>(kReads * 4)},
                 .tolerance = read_tolerance(d, format, sampler),
                 .pocl_reason = pocl_reason(d, format, sampler, true)};
    if (kind == 'f') c.reference = texels ? reference_read<float, true> : reference_read<float, false>;
    if (kind == 'u') c.reference = texels ? reference_read<uint32_t, true> : reference_read<uint32_t, false>;
    if (kind == 'i') c.reference = texels ? reference_read<int32_t, true> : reference_read<int32_t, false>;
    cases_.push_back(std::move(c));
  }

  void plain(const DimensionName& d, char kind, const FormatName& format) {
    const uint64_t seed = 19000 + ++count_ * 3;
    const std::string kernel = std::string("plain") + d.name + "_" + suffix(kind);
    cases_.push_back({.name = "image_read." + kernel + "." + format.name,
                      .file = "image_read",
                      .kernel = kernel,
                      .global = {kReads, 1, 1},
                      .args = {contents(d, format, seed), input(texel_places(d, {}, seed + 1)),
                               kind == 'f'   ? output<float>(kReads * 4)
                               : kind == 'u' ? output<uint32_t>(kReads * 4)
                                             : output<int32_t>(kReads * 4)},
                      .tolerance = read_tolerance(d, format, {}),
                      .pocl_reason = pocl_reason(d, format, {}, true),
                      .reference = kind == 'f'   ? reference_plain<float>
                                   : kind == 'u' ? reference_plain<uint32_t>
                                                 : reference_plain<int32_t>});
  }

  void write(const DimensionName& d, char kind, const FormatName& format) {
    const uint64_t seed = 29000 + ++count_ * 3;
    const std::string kernel = std::string("write") + d.name + "_" + suffix(kind);
    const bool rows_are_elements = d.dimension == ImageDimension::Array1D;
    const std::array<uint32_t, 3> global{d.width, rows_are_elements ? d.depth : d.height,
                                         rows_are_elements ? 1 : d.depth};
    const size_t values = size_t{d.width} * d.height * d.depth * 4;
    Image image = blank_image(d.dimension, d.width, d.height, d.depth, format.order, format.type, Role::Out);
    fill_image(image, seed);
    const bool is_float = image.element == Element::F16 || image.element == Element::F32;
    const std::vector<float> numbers =
        is_float ? random_steps(seed + 1, values, -1.25, 1.25, 0x1p-6) : unambiguous(seed + 1, values);
    const bool wide = texel_size(format.order, format.type) == 4 * channels_of(format.order).size();
    const int64_t most = wide ? 0x7fffffff : element_size(image.element) == 1 ? 127 : 32767;
    cases_.push_back(
        {.name = "image_write." + kernel + "." + format.name,
         .file = "image_write",
         .kernel = kernel,
         .dimensions = static_cast<uint32_t>(d.axes + (d.array ? 1 : 0)),
         .global = global,
         .args = {image, kind == 'f'   ? input(numbers)
                         : kind == 'u' ? input(random_integers<uint32_t>(seed + 1, values, 0, most))
                                       : input(random_integers<int32_t>(seed + 1, values, -most, most))},
         .pocl_reason = pocl_reason(d, format, {}, false),
         .reference = kind == 'f'   ? reference_write<float>
                      : kind == 'u' ? reference_write<uint32_t>
                                    : reference_write<int32_t>});
  }

  /// Reads with every applicable sampler: floats with both filters, integers with the nearest texel.
  void reads(const std::string& file, const DimensionName& d, char kind, const FormatName& format) {
    for (const Address address : kUnnormalized) read(file, d, {false, address, false}, true, kind, format);
    for (const bool linear : {false, true}) {
      if (linear && kind != 'f') continue;
      for (const Address address : kUnnormalized)
        read(file, d, {linear, address, false}, false, kind, format);
      for (const Address address : kNormalized) read(file, d, {linear, address, true}, false, kind, format);
    }
  }

  const FormatName& next_float() { return kFloatFormats[float_++ % std::size(kFloatFormats)]; }
  const FormatName& next_integer(char kind) {
    return kind == 'u' ? kUnsignedFormats[unsigned_++ % std::size(kUnsignedFormats)]
                       : kSignedFormats[signed_++ % std::size(kSignedFormats)];
  }

 private:
  static const char* suffix(char kind) { return kind == 'f' ? "f" : kind == 'u' ? "ui" : "i"; }

  std::vector<KernelCase>& cases_;
  uint64_t count_ = 0;
  size_t float_ = 0, unsigned_ = 0, signed_ = 0;
};

void add_reads(Matrix& matrix, const std::string& file, const DimensionName& d) {
  for (const Address address : kUnnormalized)
    matrix.read(file, d, {false, address, false}, true, 'f', matrix.next_float());
  for (const bool linear : {false, true}) {
    for (const Address address : kUnnormalized)
      matrix.read(file, d, {linear, address, false}, false, 'f', matrix.next_float());
    for (const Address address : kNormalized)
      matrix.read(file, d, {linear, address, true}, false, 'f', matrix.next_float());
  }
}

}  // namespace

void add_image_cases(std::vector<KernelCase>& cases) {
  Matrix matrix(cases);
  for (const DimensionName& d : kDimensions) {
    if (d.dimension != ImageDimension::Buffer) {
      add_reads(matrix, "image_read", d);
      size_t mode = 0;
      for (const char kind : {'u', 'i'}) {
        matrix.read("image_read", d, {false, kUnnormalized[mode++ % 3], false}, true, kind,
                    matrix.next_integer(kind));
        matrix.read("image_read", d, {false, kUnnormalized[mode % 3], false}, false, kind,
                    matrix.next_integer(kind));
        matrix.read("image_read", d, {false, kNormalized[mode * 2 % 5], true}, false, kind,
                    matrix.next_integer(kind));
      }
    }
    matrix.plain(d, 'f', matrix.next_float());
    for (const char kind : {'u', 'i'}) matrix.plain(d, kind, matrix.next_integer(kind));
    for (size_t i = 0; i < 4; i++) {
      const FormatName* format = &matrix.next_float();
      while (!is_writable(*format)) format = &matrix.next_float();
      matrix.write(d, 'f', *format);
    }
    for (const char kind : {'u', 'i'})
      for (size_t i = 0; i < 2; i++) matrix.write(d, kind, matrix.next_integer(kind));
  }
  for (const char* file : {"image_read8", "image_read16"})
    for (const DimensionName* d : {&kDimensions[1], &kDimensions[2]}) {
      matrix.read(file, *d, {true, Address::Clamp, false}, false, 'f', matrix.next_float());
      matrix.read(file, *d, {false, Address::Repeat, true}, false, 'f', matrix.next_float());
      matrix.read(file, *d, {false, Address::Clamp, false}, true, 'u', matrix.next_integer('u'));
    }
}

std::vector<KernelCase> image_matrix() {
  std::vector<KernelCase> cases;
  Matrix matrix(cases);
  for (const DimensionName& d : kDimensions) {
    const auto add = [&](char kind, std::span<const FormatName> formats) {
      for (const FormatName& format : formats) {
        if (d.dimension != ImageDimension::Buffer) matrix.reads("image_read", d, kind, format);
        matrix.plain(d, kind, format);
        if (is_writable(format)) matrix.write(d, kind, format);
      }
    };
    add('f', kFloatFormats);
    add('u', kUnsignedFormats);
    add('i', kSignedFormats);
  }
  return cases;
}

}  // namespace eum::kernels
