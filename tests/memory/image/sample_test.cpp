// Filters and address modes against an independent model: the formulas of the OpenCL specification (and of
// OpenGL for modes that OpenCL lacks) in double, with texels as numbers. Nearest is exact; linear is within
// the rounding of the weights to 1/256.
#include <cmath>
#include <functional>

#include "tests/memory/image/image.hpp"

using namespace test_image;

namespace {

struct Model {
  AddressControl mode;
  bool normalized;
  double size;

  /// OpenCL 3.0 8.2: converts a coordinate to u.
  double scaled(double s) const {
    if (!normalized) return s;
    if (mode == AddressControl::WRAP) return (s - std::floor(s)) * size;
    if (mode == AddressControl::MIRROR) return std::fabs(s - 2 * std::round(0.5 * s)) * size;
    if (mode == AddressControl::MIRROR_ONCE) return std::fabs(s) * size;
    return s * size;
  }
  /// The texel for an index, or -1 for the border.
  int texel(double i) const {
    switch (mode) {
      case AddressControl::WRAP:
        return static_cast<int>(i - size * std::floor(i / size));
      case AddressControl::MIRROR:
      case AddressControl::MIRROR_ONCE:
        return static_cast<int>(i < 0       ? -1 - i
                                : i >= size ? (mode == AddressControl::MIRROR ? 2 * size - 1 - i : size - 1)
                                            : i);
      case AddressControl::CLAMP_BORDER:
      case AddressControl::HALF_BORDER:
        return i < 0 || i >= size ? -1 : static_cast<int>(i);
      default:
        return static_cast<int>(std::min(std::max(i, 0.0), size - 1));
    }
  }
};

constexpr AddressControl modes[] = {AddressControl::WRAP,        AddressControl::MIRROR,
                                    AddressControl::CLAMP,       AddressControl::CLAMP_BORDER,
                                    AddressControl::MIRROR_ONCE, AddressControl::HALF_BORDER};

struct Shape {
  SurfaceType type;
  std::uint32_t width, height, depth;
  unsigned axes;
  bool array;
};
constexpr Shape shapes[] = {{SurfaceType::SURFTYPE_1D, 13, 1, 1, 1, false},
                            {SurfaceType::SURFTYPE_1D, 7, 1, 3, 1, true},
                            {SurfaceType::SURFTYPE_2D, 13, 9, 1, 2, false},
                            {SurfaceType::SURFTYPE_2D, 1, 5, 4, 2, true},
                            {SurfaceType::SURFTYPE_3D, 6, 5, 4, 3, false}};

using Value = std::array<double, 4>;

}  // namespace

TEST_CASE("image sample: nearest and linear filters agree with the formulas of OpenCL") {
  std::mt19937 random(20240901);
  unsigned long compared = 0;
  for (const Shape& shape : shapes)
    for (const char* format : {"R8G8B8A8_UNORM", "R16G16_SNORM", "R32_FLOAT", "B5G6R5_UNORM"})
      for (const AddressControl mode : modes)
        for (const bool linear : {false, true})
          for (const bool normalized : {true, false}) {
            // The other modes are defined for normalized coordinates only.
            if (!normalized && mode != AddressControl::CLAMP && mode != AddressControl::CLAMP_BORDER)
              continue;
            Image image(shape.type, format, shape.width, shape.height, shape.depth,
                        shape.axes == 2 ? TileMode::YMAJOR : TileMode::LINEAR, 1, shape.array);
            const auto size = level_size(image.state, 0);
            for (std::uint32_t z = 0; z < size[2]; ++z)
              for (std::uint32_t y = 0; y < size[1]; ++y)
                for (std::uint32_t x = 0; x < size[0]; ++x) {
                  Texel t;
                  for (auto& c : t) c = bits(static_cast<float>(random() % 1024) / 1023.0f);
                  image.set(0, x, y, z, t);
                }
            Message m(SampleOp::sample_lz);
            m.sampler.min_filter = m.sampler.mag_filter = linear ? MapFilter::LINEAR : MapFilter::NEAREST;
            m.sampler.address = {mode, mode, mode};
            m.sampler.non_normalized = !normalized;
            m.sampler.border = {bits(0.25f), bits(0.5f), bits(0.75f), bits(1)};
            const auto fetch = [&](std::array<int, 3> at) {
              Value v;
              const bool border = at[0] < 0 || at[1] < 0 || at[2] < 0;
              Texel t =
                  border ? m.sampler.border : image.get(0, unsigned(at[0]), unsigned(at[1]), unsigned(at[2]));
              for (unsigned c = 0; c < 4; ++c) {
                if (border && image.format().channels[c].bits == 0) t[c] = c == 3 ? bits(1) : 0;
                v[c] = number(t[c]);
              }
              return v;
            };
            for (unsigned n = 0; n < 40; ++n) {
              std::array<double, 3> coordinate{};
              for (unsigned k = 0; k < shape.axes; ++k) {
                double c = std::uniform_real_distribution<double>(-2.5, 3.5)(random);
                if (mode == AddressControl::MIRROR_ONCE || n % 4 == 0) c = std::fmod(c, 1.2);
                if (!normalized) c *= size[k];
                coordinate[k] = static_cast<float>(c);
                m.set(static_cast<Parameter>(k), static_cast<float>(c));
              }
              int slice = 0;
              if (shape.array) {
                const auto element = std::uniform_real_distribution<float>(-1, 6)(random);
                m.set(static_cast<Parameter>(shape.axes), element);
                slice = static_cast<int>(
                    std::min(std::max(std::nearbyint(element), 0.0f), static_cast<float>(shape.depth - 1)));
              }
              std::array<double, 3> u{};
              bool near_edge = false;  // where f32 may select the neighbour
              std::array<Model, 3> model;
              for (unsigned k = 0; k < shape.axes; ++k) {
                model[k] = {mode, normalized, double(size[k])};
                u[k] = model[k].scaled(coordinate[k]);
                if (mode == AddressControl::HALF_BORDER)
                  u[k] = std::min(std::max(u[k], 0.0), double(size[k]));
                if (!linear) near_edge = near_edge || std::fabs(u[k] - std::round(u[k])) < 1e-4;
                if (!linear && mode == AddressControl::HALF_BORDER) u[k] = std::min(u[k], size[k] - 0.5);
              }
              if (near_edge) continue;
              Value expected{};
              for (unsigned corner = 0; corner < (linear ? 1u << shape.axes : 1u); ++corner) {
                std::array<int, 3> at = {0, 0, slice};
                double weight = 1;
                for (unsigned k = 0; k < shape.axes; ++k) {
                  const double v = linear ? u[k] - 0.5 : u[k], f = v - std::floor(v);
                  if (linear) weight *= corner >> k & 1 ? f : 1 - f;
                  at[k] = model[k].texel(std::floor(v) + (corner >> k & 1));
                }
                const Value t = fetch(at);
                for (unsigned c = 0; c < 4; ++c) expected[c] += weight * t[c];
              }
              const Texel got = m.texel(image);
              const double tolerance = linear ? shape.axes * 0.55 / 256 : 0;
              for (unsigned c = 0; c < 4; ++c)
                if (!(std::fabs(number(got[c]) - expected[c]) <= tolerance)) {
                  FAIL("format " << format << " mode " << int(mode) << " linear " << linear << " normalized "
                                 << normalized << " type " << int(shape.type) << " at " << coordinate[0]
                                 << ", " << coordinate[1] << ", " << coordinate[2] << " channel " << c << ": "
                                 << number(got[c]) << ", expected " << expected[c]);
                }
              ++compared;
            }
          }
  CHECK(compared > 10000);
}

TEST_CASE("image sample: an image of one colour gives that colour, exactly, whatever the weights") {
  std::mt19937 random(7);
  for (const char* format : {"R8G8B8A8_UNORM", "R8G8B8A8_SNORM", "R16G16B16A16_UNORM", "R10G10B10A2_UNORM",
                             "R32G32B32A32_FLOAT", "R16G16B16A16_FLOAT", "R8G8B8A8_UNORM_SRGB"}) {
    Image image(SurfaceType::SURFTYPE_2D, format, 8, 8);
    for (unsigned n = 0; n < 300; ++n) {
      Texel t;
      for (auto& c : t) c = bits(std::uniform_real_distribution<float>(0, 1)(random));
      image.fill(0, 0, t);
      Message m(SampleOp::sample_lz);
      m.sampler.mag_filter = m.sampler.min_filter = MapFilter::LINEAR;
      m.set(Parameter::u, std::uniform_real_distribution<float>(0, 1)(random));
      m.set(Parameter::v, std::uniform_real_distribution<float>(0, 1)(random));
      CAPTURE(format, n);
      CHECK(m.texel(image) == image.get(0, 0, 0, 0));
    }
  }
}

TEST_CASE("image sample: coordinates at their limits") {
  Image image(SurfaceType::SURFTYPE_2D, "R32_FLOAT", 4, 1);
  for (unsigned x = 0; x < 4; ++x) image.set(0, x, 0, 0, {bits(float(x + 1)), 0, 0, 0});
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const auto at = [&](AddressControl mode, float u, bool normalized = true) {
    Message m(SampleOp::sample_lz);
    m.sampler.address = {mode, mode, mode};
    m.sampler.non_normalized = !normalized;
    m.sampler.border = {bits(9), 0, 0, 0};
    m.set(Parameter::u, u);
    return number(m.texel(image)[0]);
  };
  using enum AddressControl;
  for (const AddressControl mode : modes) CHECK(at(mode, nan) == 1);
  CHECK(at(CLAMP, inf) == 4);
  CHECK(at(CLAMP, -inf) == 1);
  CHECK(at(CLAMP, 1e30f, false) == 4);
  CHECK(at(CLAMP_BORDER, 1e30f) == 9);
  CHECK(at(CLAMP_BORDER, -0.0f) == 1);
  CHECK(at(CLAMP_BORDER, 1.0f) == 9);
  CHECK(at(CLAMP_BORDER, -1e-30f) == 9);
  CHECK(at(HALF_BORDER, inf) == 4);
  CHECK(at(WRAP, inf) == 1);
  CHECK(at(WRAP, -1e-30f) == 1);  // the reduced coordinate is 1
  CHECK(at(WRAP, -0.25f) == 4);
  CHECK(at(MIRROR, 1.0f) == 4);
  CHECK(at(MIRROR, -1.0f) == 4);
  CHECK(at(MIRROR, 1.2f) == 4);
  CHECK(at(MIRROR, 2.3f) == 2);
  CHECK(at(MIRROR_ONCE, -0.3f) == 2);
  CHECK(at(MIRROR_ONCE, -7) == 4);
}

TEST_CASE("image sample: texel offsets move the texel before the address mode") {
  Image image(SurfaceType::SURFTYPE_2D, "R32_UINT", 4, 4);
  for (unsigned y = 0; y < 4; ++y)
    for (unsigned x = 0; x < 4; ++x) image.set(0, x, y, 0, {10 * y + x, 0, 0, 0});
  const auto at = [&](AddressControl mode, int x, int y) {
    Message m(SampleOp::sample_lz);
    m.sampler.address = {mode, mode, mode};
    m.control.bits = (unsigned(x) & 15) << 8 | (unsigned(y) & 15) << 4;
    m.set(Parameter::u, 0.3f).set(Parameter::v, 0.6f);  // texel 1, 2
    return m.texel(image)[0];
  };
  CHECK(at(AddressControl::CLAMP, 0, 0) == 21);
  CHECK(at(AddressControl::CLAMP, 1, -1) == 12);
  CHECK(at(AddressControl::CLAMP, -8, 7) == 30);
  CHECK(at(AddressControl::WRAP, -3, 3) == 12);
  CHECK(at(AddressControl::MIRROR, -3, 3) == 21);
}

TEST_CASE("image sample: the border has the channels of the format") {
  const auto border = [](const char* format) {
    Image image(SurfaceType::SURFTYPE_2D, format, 4, 4);
    Message m(SampleOp::sample_lz);
    m.sampler.address.fill(AddressControl::CLAMP_BORDER);
    m.sampler.border = {bits(0.25f), bits(2), bits(-1), bits(0.5f)};
    m.set(Parameter::u, -2.0f);
    return m.texel(image);
  };
  CHECK(border("R32G32B32A32_FLOAT") == Texel{bits(0.25f), bits(2), bits(-1), bits(0.5f)});
  CHECK(border("R8G8B8A8_UNORM") == Texel{bits(0.25f), bits(1), bits(0), bits(0.5f)});
  CHECK(border("R8G8_SNORM") == Texel{bits(0.25f), bits(1), 0, bits(1)});
  CHECK(border("L8_UNORM") == Texel{bits(0.25f), bits(0.25f), bits(0.25f), bits(1)});
  CHECK(border("R32_UINT") == Texel{bits(0.25f), 0, 0, 1});
}

TEST_CASE("image sample: the host's rounding mode does not matter") {
  std::mt19937 random(3);
  Image image(SurfaceType::SURFTYPE_2D, "R16G16B16A16_UNORM", 9, 9);
  image.randomize(random);
  for (unsigned n = 0; n < 50; ++n) {
    Message m(SampleOp::sample_lz);
    m.sampler.mag_filter = m.sampler.min_filter = MapFilter::LINEAR;
    m.set(Parameter::u, std::uniform_real_distribution<float>(0, 1)(random));
    m.set(Parameter::v, std::uniform_real_distribution<float>(0, 1)(random));
    Message other = m;
    const Texel expected = m.texel(image);
    const unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(0xffc0);  // round to zero, denormals are zero
    const ImageFault fault = other.run(image.surface());
    const unsigned after = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before);
    CHECK(!fault);
    CHECK((after & 0xffc0) == 0xffc0);
    CHECK(other.result() == expected);
  }
}

TEST_CASE("image sample: levels are chosen and mixed as OpenGL defines") {
  std::mt19937 random(31);
  const auto real = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  Image image(SurfaceType::SURFTYPE_2D, "R32_FLOAT", 40, 24, 3, TileMode::XMAJOR, 5, true);
  for (unsigned level = 0; level < 5; ++level) {
    const auto size = level_size(image.state, level);
    for (std::uint32_t z = 0; z < size[2]; ++z)
      for (std::uint32_t y = 0; y < size[1]; ++y)
        for (std::uint32_t x = 0; x < size[0]; ++x)
          image.set(level, x, y, z, {bits(static_cast<float>(real(0, 1))), 0, 0, 0});
  }
  unsigned minified = 0;
  for (unsigned n = 0; n < 3000; ++n) {
    const AddressControl mode = modes[n % 3];  // WRAP, MIRROR, CLAMP
    Message m(SampleOp::sample_d);
    m.sampler.min_filter = m.sampler.mag_filter = MapFilter::LINEAR;
    m.sampler.mip_filter = MipFilter::LINEAR;
    m.sampler.max_lod = 14 << 8;
    m.sampler.address.fill(mode);
    const float u = static_cast<float>(real(-1.5, 2.5)), v = static_cast<float>(real(-1.5, 2.5));
    const double scale = std::exp2(real(-3, 5));
    std::array<float, 4> d;  // dudx, dvdx, dudy, dvdy
    for (unsigned k = 0; k < 4; ++k) d[k] = static_cast<float>(scale * real(-1, 1) / (k % 2 == 0 ? 40 : 24));
    const std::uint32_t slice = static_cast<std::uint32_t>(random()) % 3;
    m.set(Parameter::u, u).set(Parameter::v, v).set(Parameter::r, static_cast<float>(slice));
    m.set(Parameter::dudx, d[0])
        .set(Parameter::dvdx, d[1])
        .set(Parameter::dudy, d[2])
        .set(Parameter::dvdy, d[3]);

    const double rho = std::max(std::hypot(d[0] * 40.0, d[1] * 24.0), std::hypot(d[2] * 40.0, d[3] * 24.0));
    const double lambda = std::min(std::max(std::log2(rho), 0.0), 4.0);
    minified += lambda > 0;
    const auto at_level = [&](unsigned level) {
      const auto size = level_size(image.state, level);
      const Model mx{mode, true, double(size[0])}, my{mode, true, double(size[1])};
      const double x = mx.scaled(u) - 0.5, y = my.scaled(v) - 0.5;
      const double fx = x - std::floor(x), fy = y - std::floor(y);
      double sum = 0;
      for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 2; ++i)
          sum += (i != 0 ? fx : 1 - fx) * (j != 0 ? fy : 1 - fy) *
                 number(image.get(level, static_cast<unsigned>(mx.texel(std::floor(x) + i)),
                                  static_cast<unsigned>(my.texel(std::floor(y) + j)), slice)[0]);
      return sum;
    };
    const auto level = static_cast<unsigned>(lambda);
    const double f = lambda - level;
    const double expected = (1 - f) * at_level(level) + (f > 0 ? f * at_level(level + 1) : 0);
    // Two axes and the blend of levels, each rounded to 1/256; the level itself is accurate to 1/256.
    CAPTURE(n, lambda, u, v);
    CHECK(std::fabs(number(m.texel(image)[0]) - expected) <= 4.2 / 512 + 1.0 / 256);
  }
  CHECK(minified > 1000);
}
