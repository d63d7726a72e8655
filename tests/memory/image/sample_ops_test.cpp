// Individual sampler messages: levels of detail, loads, gathers, comparison, cubes, queries, results and
// faults, against values worked out by hand.
#include <cmath>

#include "memory/address_space.hpp"
#include "tests/memory/image/image.hpp"

using namespace test_image;

namespace {

/// An image with mip levels, of which level k is filled with k + 1.
Image levels(unsigned count, std::uint32_t size = 64) {
  Image image(SurfaceType::SURFTYPE_2D, "R32_FLOAT", size, size, 1, TileMode::LINEAR, count);
  for (unsigned k = 0; k < count; ++k) image.fill(k, 0, {bits(float(k + 1)), 0, 0, 0});
  return image;
}

Message mip(SampleOp op, MipFilter filter) {
  Message m(op);
  m.sampler.mip_filter = filter;
  m.sampler.max_lod = 14 << 8;
  return m;
}

}  // namespace

TEST_CASE("image sample: a given level of detail") {
  Image image = levels(5);
  const auto at = [&](MipFilter filter, float lod) {
    Message m = mip(SampleOp::sample_l, filter);
    m.set(Parameter::lod, lod);
    return number(m.texel(image)[0]);
  };
  CHECK(at(MipFilter::NONE, 3) == 1);
  CHECK(at(MipFilter::NEAREST, 2.4f) == 3);
  CHECK(at(MipFilter::NEAREST, 2.5f) == 4);
  CHECK(at(MipFilter::LINEAR, 2.25f) == 3.25f);
  CHECK(at(MipFilter::LINEAR, 100) == 5);
  CHECK(at(MipFilter::LINEAR, -100) == 1);
  CHECK(at(MipFilter::LINEAR, std::nanf("")) == 1);
  image.state.min_lod = 1;
  image.state.mip_count = 3;
  CHECK(at(MipFilter::NEAREST, 0) == 2);
  CHECK(at(MipFilter::NEAREST, 9) == 4);
}

TEST_CASE("image sample: clamps and bias of the level of detail") {
  Image image = levels(6);
  Message m = mip(SampleOp::sample_b, MipFilter::LINEAR);
  const auto lod = [&](float bias) {
    Message copy = m;
    copy.set(Parameter::bias, bias);
    for (unsigned lane = 0; lane < 8; ++lane) {  // lanes are two texels apart: level 1
      copy.at(Parameter::u, lane) = bits(float(lane % 2) / 32);
      copy.at(Parameter::v, lane) = bits(float(lane / 2 % 2) / 64);
    }
    return number(copy.texel(image)[0]) - 1;
  };
  CHECK(lod(0) == 1);
  CHECK(lod(1.5f) == 2.5f);
  m.sampler.lod_bias = 0x80;
  CHECK(lod(0) == 1.5f);
  m.sampler.min_lod = 2 << 8;
  CHECK(lod(0) == 2);
  m.sampler.max_lod = 3 << 8;
  CHECK(lod(9) == 3);
  image.state.resource_min_lod = 0x280;
  CHECK(lod(-9) == 0);  // the mag filter ignores the limits, unless it is told otherwise
  m.sampler.lod_clamp_magnification = true;
  CHECK(lod(-9) == 2.5f);
  m.set(Parameter::mlod, 2.75f);
  CHECK(lod(-9) == 2.75f);
}

TEST_CASE("image sample: the level of detail of derivatives") {
  Image image = levels(7);
  const auto lod = [&](float dudx, float dvdx, float dudy, float dvdy) {
    Message m = mip(SampleOp::sample_d, MipFilter::LINEAR);
    m.set(Parameter::dudx, dudx / 64).set(Parameter::dvdx, dvdx / 64);
    m.set(Parameter::dudy, dudy / 64).set(Parameter::dvdy, dvdy / 64);
    return number(m.texel(image)[0]) - 1;
  };
  for (int k = 0; k < 7; ++k) {
    CHECK(lod(std::ldexp(1.0f, k), 0, 0, 0) == float(k));
    CHECK(lod(0, 0, 0, std::ldexp(1.0f, k)) == float(k));
  }
  for (float length = 1; length < 60; length *= 1.01f) {
    const float angle = length;
    const float got = lod(length * std::cos(angle), length * std::sin(angle), 0, 0);
    CHECK(std::fabs(got - std::log2(length)) <= 1.0f / 256);
  }
}

TEST_CASE("image sample: min and mag filters part at the base level") {
  Image image(SurfaceType::SURFTYPE_2D, "R32_FLOAT", 2, 1);
  image.set(0, 1, 0, 0, {bits(1), 0, 0, 0});
  const auto at = [&](float lod) {
    Message m(SampleOp::sample_l);
    m.sampler.mag_filter = MapFilter::LINEAR;
    m.set(Parameter::lod, lod).set(Parameter::u, 0.5f);
    return number(m.texel(image)[0]);
  };
  CHECK(at(0) == 0.5f);
  CHECK(at(0.5f) == 1);  // nearest
}

TEST_CASE("image sample: anisotropic filters average along the longer gradient") {
  Image image(SurfaceType::SURFTYPE_2D, "R32_FLOAT", 64, 64, 1, TileMode::LINEAR, 7);
  for (unsigned level = 0; level < 7; ++level)
    for (unsigned x = 0; x < 64u >> level; ++x)
      for (unsigned y = 0; y < 64u >> level; ++y)
        image.set(level, x, y, 0,
                  {bits((float(x) + 0.5f) / float(64u >> level) * 64 + 100 * float(level)), 0, 0, 0});
  Message m = mip(SampleOp::sample_d, MipFilter::LINEAR);
  m.sampler.min_filter = MapFilter::ANISOTROPIC;
  m.sampler.max_anisotropy = 4;
  m.set(Parameter::u, 0.5f).set(Parameter::v, 0.5f);
  m.set(Parameter::dudx, 8.0f / 64).set(Parameter::dvdy, 2.0f / 64);
  // Four samples of level 1, two texels apart: their mean is the centre.
  CHECK(number(Message(m).texel(image)[0]) == Approx(32 + 100));
  m.set(Parameter::dudx, 16.0f / 64);  // beyond the maximum: level 2
  CHECK(number(m.texel(image)[0]) == Approx(32 + 200));
}

TEST_CASE("image ld: integer coordinates, zero outside") {
  Image image(SurfaceType::SURFTYPE_2D, "R8_UINT", 5, 3, 2, TileMode::XMAJOR, 2, true);
  image.set(1, 1, 0, 1, {77, 0, 0, 0});
  image.set(0, 4, 2, 1, {78, 0, 0, 0});
  const auto at = [&](int x, int y, int element, int lod) {
    Message m(SampleOp::ld);
    m.set(Parameter::u, x).set(Parameter::v, y).set(Parameter::r, element).set(Parameter::lod, lod);
    return m.texel(image);
  };
  CHECK(at(1, 0, 1, 1) == Texel{77, 0, 0, 1});
  CHECK(at(4, 2, 1, 0) == Texel{78, 0, 0, 1});
  for (const auto& [x, y, element, lod] :
       {std::array{5, 2, 1, 0}, std::array{-1, 0, 0, 0}, std::array{0, 3, 0, 0}, std::array{0, 0, 2, 0},
        std::array{0, 0, 0, 2}, std::array{0, 0, 0, -1}, std::array{2, 0, 0, 1}})
    CHECK(at(x, y, element, lod) == Texel{0, 0, 0, 0});

  Image buffer(SurfaceType::SURFTYPE_BUFFER, "R16_SINT", 10);
  buffer.set(0, 9, 0, 0, {static_cast<std::uint32_t>(-3), 0, 0, 0});
  Message m(SampleOp::ld_lz);
  CHECK(m.set(Parameter::u, 9).texel(buffer)[0] == static_cast<std::uint32_t>(-3));
  CHECK(m.set(Parameter::u, 10).texel(buffer) == Texel{0, 0, 0, 0});

  Image single(SurfaceType::SURFTYPE_2D, "R8_UINT", 5, 3);
  single.set(0, 2, 1, 0, {5, 0, 0, 0});
  for (const SampleOp op : {SampleOp::ld2dms, SampleOp::ld2dms_w, SampleOp::ld2dss}) {
    Message ms(op);
    ms.set(Parameter::u, 2).set(Parameter::v, 1);
    CHECK(ms.texel(single)[0] == 5);
    CHECK(ms.set(Parameter::u, 2).set(Parameter::v, 1).set(Parameter::si, 1).texel(single)[0] == 0);
  }
  CHECK(Message(SampleOp::ld_mcs).texel(single) == Texel{0, 0, 0, 0});
}

TEST_CASE("image gather4: four texels in the order of the manual") {
  Image image(SurfaceType::SURFTYPE_2D, "R8G8_UINT", 4, 4);
  for (unsigned y = 0; y < 4; ++y)
    for (unsigned x = 0; x < 4; ++x) image.set(0, x, y, 0, {10 * y + x, 100 + 10 * y + x, 0, 0});
  Message m(SampleOp::gather4);
  m.set(Parameter::u, 0.5f).set(Parameter::v, 0.5f);  // between texels 1 and 2
  CHECK(Message(m).texel(image) == Texel{21, 22, 12, 11});
  m.control.bits = 1 << 16;
  CHECK(Message(m).texel(image) == Texel{121, 122, 112, 111});
  image.state.select[1] = ChannelSelect::RED;
  CHECK(Message(m).texel(image) == Texel{21, 22, 12, 11});

  Message po(SampleOp::gather4_po);
  po.set(Parameter::u, 0.5f).set(Parameter::v, 0.5f).set(Parameter::offu, 1).set(Parameter::offv, -64 + 63);
  CHECK(po.texel(image) == Texel{12, 13, 3, 2});
}

TEST_CASE("image sample_c: compared texels are filtered") {
  Image image(SurfaceType::SURFTYPE_2D, "R32_FLOAT", 2, 1);
  image.set(0, 0, 0, 0, {bits(0.25f), 0, 0, 0});
  image.set(0, 1, 0, 0, {bits(0.75f), 0, 0, 0});
  const auto at = [&](Prefilter shadow, float ref, float u, MapFilter filter) {
    Message m(SampleOp::sample_c_lz);
    m.sampler.shadow = shadow;
    m.sampler.min_filter = m.sampler.mag_filter = filter;
    m.set(Parameter::ref, ref).set(Parameter::u, u);
    const Texel t = m.texel(image);
    CHECK(t == Texel{t[0], 0, 0, bits(1)});
    return number(t[0]);
  };
  // Drivers write LEQUAL for "reference LESS texel".
  CHECK(at(Prefilter::LEQUAL, 0.5f, 0.1f, MapFilter::NEAREST) == 0);
  CHECK(at(Prefilter::LEQUAL, 0.5f, 0.9f, MapFilter::NEAREST) == 1);
  CHECK(at(Prefilter::LEQUAL, 0.75f, 0.9f, MapFilter::NEAREST) == 0);
  CHECK(at(Prefilter::LESS, 0.75f, 0.9f, MapFilter::NEAREST) == 1);
  CHECK(at(Prefilter::LEQUAL, 0.5f, 0.5f, MapFilter::LINEAR) == 0.5f);
  CHECK(at(Prefilter::NEVER, 0.5f, 0.3f, MapFilter::LINEAR) == 1);
  CHECK(at(Prefilter::ALWAYS, 0.5f, 0.3f, MapFilter::LINEAR) == 0);
  CHECK(at(Prefilter::EQUAL, 0.25f, 0.375f, MapFilter::LINEAR) == 0.25f);
}

TEST_CASE("image sample_min and sample_max: of texels that have a weight") {
  Image image(SurfaceType::SURFTYPE_2D, "R8_UNORM", 2, 2);
  const float values[] = {0, 0.2f, 0.4f, 1};
  for (unsigned i = 0; i < 4; ++i) image.set(0, i % 2, i / 2, 0, {bits(values[i]), 0, 0, 0});
  const auto at = [&](SampleOp op, float u, float v) {
    Message m(op);
    m.sampler.min_filter = m.sampler.mag_filter = MapFilter::LINEAR;
    m.set(Parameter::u, u).set(Parameter::v, v);
    return number(m.texel(image)[0]);
  };
  CHECK(at(SampleOp::sample_min, 0.6f, 0.6f) == 0);
  CHECK(at(SampleOp::sample_max, 0.6f, 0.6f) == 1);
  CHECK(at(SampleOp::sample_min, 0.75f, 0.6f) == 0.2f);
  CHECK(at(SampleOp::sample_max, 0.25f, 0.6f) == 0.4f);
}

TEST_CASE("image sample: faces of a cube") {
  Image image(SurfaceType::SURFTYPE_CUBE, "R32_FLOAT", 8, 8, 2, TileMode::LINEAR, 1, true);
  for (unsigned face = 0; face < 12; ++face)
    for (unsigned y = 0; y < 8; ++y)
      for (unsigned x = 0; x < 8; ++x)
        image.set(0, x, y, face, {bits(float(100 * face + 10 * y + x)), 0, 0, 0});
  const auto at = [&](float x, float y, float z, float ai) {
    Message m(SampleOp::sample_lz);
    m.set(Parameter::u, x).set(Parameter::v, y).set(Parameter::r, z).set(Parameter::ai, ai);
    return number(m.texel(image)[0]);
  };
  CHECK(at(1, 0.1f, 0.1f, 0) == 0 + 33);
  CHECK(at(-2, 0.1f, 0.1f, 0) == 100 + 34);
  CHECK(at(0.1f, 1, 0.1f, 0) == 200 + 44);
  CHECK(at(0.1f, -1, 0.1f, 1) == 900 + 34);
  CHECK(at(0.1f, 0.1f, 3, 0) == 400 + 34);
  CHECK(at(0.1f, 0.1f, -3, 9) == 1100 + 33);
  CHECK(at(1, 1, 1, 0) == 400 + 7);  // +Z first
}

TEST_CASE("image sample: the linear filter of a cube crosses its edges") {
  // Texels hold their direction, which is continuous across edges.
  constexpr unsigned n = 16;
  Image image(SurfaceType::SURFTYPE_CUBE, "R32G32B32A32_FLOAT", n, n);
  constexpr int major[] = {1, -1, 2, -2, 3, -3}, s_axis[] = {-3, 3, 1, 1, 1, -1},
                t_axis[] = {-2, -2, 3, -3, -2, -2};
  for (unsigned face = 0; face < 6; ++face)
    for (unsigned y = 0; y < n; ++y)
      for (unsigned x = 0; x < n; ++x) {
        std::array<float, 3> d{};
        const auto put = [&](int axis, float value) {
          d[unsigned(std::abs(axis)) - 1] = axis < 0 ? -value : value;
        };
        put(major[face], 1);
        put(s_axis[face], (2 * float(x) + 1) / n - 1);
        put(t_axis[face], (2 * float(y) + 1) / n - 1);
        image.set(0, x, y, face, {bits(d[0]), bits(d[1]), bits(d[2]), 0});
      }
  std::mt19937 random(5);
  for (unsigned k = 0; k < 2000; ++k) {
    Message m(SampleOp::sample_lz);
    m.sampler.min_filter = m.sampler.mag_filter = MapFilter::LINEAR;
    m.sampler.address.fill(AddressControl::CUBE);
    std::array<float, 3> d;
    for (float& c : d) c = std::uniform_real_distribution<float>(-1, 1)(random);
    const float longest = std::max({std::fabs(d[0]), std::fabs(d[1]), std::fabs(d[2])});
    if (longest < 0.1f) continue;
    for (unsigned a = 0; a < 3; ++a) m.set(static_cast<Parameter>(a), d[a]);
    const Texel t = m.texel(image);
    for (unsigned a = 0; a < 3; ++a) CHECK(std::fabs(number(t[a]) - d[a] / longest) < 0.08);
  }
}

TEST_CASE("image resinfo, sampleinfo, lod: what they say of a surface") {
  Image image(SurfaceType::SURFTYPE_2D, "R8_UNORM", 20, 12, 3, TileMode::LINEAR, 3, true);
  Message m(SampleOp::resinfo);
  CHECK(m.set(Parameter::lod, 1).texel(image) == Texel{10, 6, 3, 3});
  CHECK(m.set(Parameter::lod, 3).texel(image) == Texel{0, 0, 0, 3});
  CHECK(Message(SampleOp::sampleinfo).texel(image) == Texel{1, 0, 0, 0});
  Image volume(SurfaceType::SURFTYPE_3D, "R8_UNORM", 20, 12, 7, TileMode::LINEAR, 2);
  CHECK(m.set(Parameter::lod, 1).texel(volume) == Texel{10, 6, 3, 2});
  Image buffer(SurfaceType::SURFTYPE_BUFFER, "R8_UNORM", 20000);
  CHECK(m.set(Parameter::lod, 0).texel(buffer)[0] == 20000);
  CHECK(Message(SampleOp::cache_flush).texel(image) == Texel{0, 0, 0, 0});

  Message lod(SampleOp::lod);
  lod.sampler.mip_filter = MipFilter::LINEAR;
  lod.sampler.max_lod = 14 << 8;
  for (unsigned lane = 0; lane < 8; ++lane) lod.at(Parameter::u, lane) = bits(float(lane % 2) * 8 / 20);
  CHECK(lod.texel(image) == Texel{bits(2), bits(3), 0, 0});
}

TEST_CASE("image sample: masks, half results, channel selects, null surfaces") {
  Image image(SurfaceType::SURFTYPE_2D, "R32G32B32A32_FLOAT", 1, 1);
  image.set(0, 0, 0, 0, {bits(1), bits(2), bits(3), bits(4.0001f)});
  Message m(SampleOp::sample_lz);
  m.mask = 0x55;
  m.control.bits = 0b0101 << 12;  // red and blue are masked
  CHECK(Message(m).texel(image) == Texel{bits(2), bits(4.0001f), 0, 0});
  CHECK(Message(m).texel(image, 1) == Texel{0, 0, 0, 0});
  m.control.bits |= 1 << 23;
  CHECK(Message(m).texel(image) == Texel{bits(2), bits(4.0001f), 0xff, 0});
  m.control.bits = 0;
  m.message.half = true;
  CHECK(Message(m).texel(image) == Texel{0x3c00, 0x4000, 0x4200, 0x4400});
  m.message.half = false;
  image.state.select = {ChannelSelect::ALPHA, ChannelSelect::ONE, ChannelSelect::ZERO, ChannelSelect::RED};
  CHECK(Message(m).texel(image) == Texel{bits(4.0001f), bits(1), 0, bits(1)});
  image.state.type = SurfaceType::SURFTYPE_NULL;
  CHECK(Message(m).texel(image) == Texel{0, 0, 0, 0});
}

TEST_CASE("image sample: memory that is not there is a fault, elsewhere memory is asked for") {
  std::mt19937 random(11);
  Image image(SurfaceType::SURFTYPE_2D, "R8G8B8A8_UNORM", 16, 16, 1, TileMode::YMAJOR);
  image.randomize(random);
  AddressSpace space;
  REQUIRE(space.map(0x10000, image.memory.size(), image.memory.data(), Access::Read, "image"));
  Surface away = image.surface();
  away.base = nullptr;
  Message m(SampleOp::sample_lz);
  m.sampler.min_filter = m.sampler.mag_filter = MapFilter::LINEAR;
  for (unsigned lane = 0; lane < 8; ++lane)
    m.at(Parameter::u, lane) = m.at(Parameter::v, lane) = bits(float(lane) / 9);
  Message direct = m;
  CHECK(!direct.run(image.surface()));
  Message indirect = m;
  CHECK(!indirect.run(away, &space));
  CHECK(indirect.data == direct.data);
  CHECK(m.run(away).kind == ImageFault::Kind::Unmapped);

  Surface small = image.surface();
  small.size = small.direct = 700;
  Message cut = m;
  const ImageFault fault = cut.run(small);
  CHECK(fault.kind == ImageFault::Kind::Unmapped);
  CHECK(fault.lane > 0);
  CHECK(fault.address >= 0x10000 + 700 - 3);
  CHECK(cut.result(0) == direct.result(0));

  Message wide(SampleOp::sample_8x8);
  CHECK(wide.run(image.surface()).kind == ImageFault::Kind::Unsupported);
}
