// Images on the command line: reading and writing pictures, raw texels, samplers, and what is refused. What
// kernels do with images is tested by tests/kernels.
#include <catch2/catch.hpp>
#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime/png/png.hpp"
#include "tests/cli/program.hpp"

using namespace eum;
using Catch::Contains;
using cli_test::bad_input;
using cli_test::different;
using cli_test::eumulate;
using cli_test::mismatch;
using cli_test::usage;
using cli_test::Words;
using nlohmann::json;

namespace {

std::string own(const std::string& name) { return EUMULATE_SOURCE_DIR "/tests/runtime/bin/" + name + ".bin"; }

/// Kernel `queries` writes width, height, channel type and order of image 0 to buffer 1.
Words queries(const std::string& image, const Words& more = {}) {
  Words words{
      "run",     own("image_queries.zebin"), "--kernel", "queries", "--global", "1", "--arg", image, "--arg",
      "zeros:16"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string complaint(const Words& words, int code) {
  const cli_test::Finished done = eumulate(words);
  INFO(done.err);
  CHECK(done.code == code);
  CHECK(cli_test::is_one_line(done));
  return done.err;
}

std::vector<std::byte> bytes(std::initializer_list<unsigned> values) {
  std::vector<std::byte> result;
  for (const unsigned value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

std::vector<std::byte> png_file(std::uint32_t width, std::uint32_t height, unsigned channels, unsigned bits) {
  png::Picture picture{width, height, channels, bits, {}};
  picture.texels.resize(picture.row_bytes() * height);
  for (std::size_t i = 0; i < picture.texels.size(); ++i)
    picture.texels[i] = static_cast<std::byte>(i * 37 + 5);
  auto file = png::write(picture);
  REQUIRE(file);
  return *file;
}

json values(const json& report, std::size_t printed) { return report["printed"][printed]["values"]; }

json ran(const Words& words) {
  Words all = words;
  all.insert(all.begin() + 2, "--json");
  const auto done = eumulate(all);
  INFO(done.err);
  REQUIRE(done.code == 0);
  return json::parse(done.out);
}

}  // namespace

TEST_CASE("pictures of 8 and 16 bits are images, and come back as they were", "[cli]") {
  for (const unsigned bits : {8u, 16u})
    for (const unsigned channels : {1u, 2u, 3u, 4u}) {
      CAPTURE(bits, channels);
      const auto file = png_file(5, 3, channels, bits);
      const std::string in = cli_test::file("in.png", file);
      const json report =
          ran(queries("image2d:" + in, {"--print", "1", "--dump", "0=out.png", "--dump", "0=out.raw"}));
      const unsigned type = bits == 8 ? 0x10d2 : 0x10d3, order = channels == 1 ? 0x10b9 : 0x10b5;
      CHECK(values(report, 0) == json({5, 3, type, order}));
      const auto before = png::read(file), after = png::read(cli_test::read(cli_test::scratch() / "out.png"));
      REQUIRE(before);
      REQUIRE(after);
      CHECK(before->channels == (channels == 1 ? 1u : 4u));
      CHECK(before->bits == bits);
      CHECK(before->texels == after->texels);
      CHECK(cli_test::read(cli_test::scratch() / "out.raw") == before->texels);
      if (channels == 4) CHECK(std::memcmp(before->texels.data() + 1, "*Ot", 3) == 0);  // 5 + 37, ...
    }
}

TEST_CASE("images of raw texels, random ones and those with names", "[cli]") {
  const std::string file = cli_test::file("texels.raw", bytes({1, 2, 3, 4, 5, 6, 7, 8}));
  json report = ran(queries("image2d:2x1:bgra:unorm8:@" + file, {"--print", "0", "--print", "1"}));
  CHECK(values(report, 0) == json({{1, 2, 3, 4}, {5, 6, 7, 8}}));
  CHECK(report["printed"][0]["elements"] == 2);
  CHECK(values(report, 1) == json({2, 1, 0x10d2, 0x10b6}));
  const auto text = eumulate(queries("image2d:2x2:r:float:zeros", {"--print", "0:3"}));
  CHECK_THAT(text.out, Contains("argument 0 (r float), 3 of 4 texels:\n0 0 0\n"));
  report = ran(queries("image2d:4x4:rgba:half:random:5", {"--print", "0:1", "--dump", "0=half.raw"}));
  CHECK(values(report, 0)[0].size() == 4);
  CHECK(cli_test::read(cli_test::scratch() / "half.raw").size() == 128);
  CHECK(eumulate(queries("image2d:4x4:rgba:half:random:5", {"--expect", "0=half.raw"})).code == 0);
  const auto other = eumulate(queries("image2d:4x4:rgba:half:random:6", {"--expect", "0=half.raw"}));
  CHECK(other.code == different);
  CHECK_THAT(other.err, Contains("argument 0 (rgba half) differs from half.raw in 64 of 64 elements"));
  report = ran(queries("picture=image2d:7x5:rg:uint16:zeros",
                       {"--then", "queries", "--global", "1", "--arg", "picture", "--arg", "zeros:16",
                        "--print", "1", "--print", "picture:1"}));
  CHECK(values(report, 0) == json({7, 5, 0x10db, 0x10b2}));
  CHECK(values(report, 1) == json::array({{0, 0}}));
  CHECK(eumulate(queries("image2d:9x9/4:rgba:unorm8:random:1", {"--dump", "0=levels.raw"})).code == 0);
  CHECK(cli_test::read(cli_test::scratch() / "levels.raw").size() == 4 * (81 + 16 + 4 + 1));
}

TEST_CASE("images that do not fit are refused in one line", "[cli]") {
  const auto refused = [](const std::string& image) { return complaint(queries(image), usage); };
  CHECK_THAT(refused("image2d:"), Contains("expected image2d:FILE.png or image2d:WxH:ORDER:TYPE:SOURCE"));
  CHECK_THAT(refused("image2d:4x4"), Contains("image2d:WxH:ORDER:TYPE:SOURCE"));
  CHECK_THAT(refused("image3d:4x4:r:float:zeros"), Contains("expected a size WxHxD, found '4x4'"));
  CHECK_THAT(refused("image2d:4x4x:r:float:zeros"), Contains("expected a size WxH, found '4x4x'"));
  CHECK_THAT(refused("image2d:4x4/:r:float:zeros"), Contains("expected a number of levels"));
  CHECK_THAT(refused("image1d:99999999999:r:float:zeros"), Contains("expected a size W, found"));
  CHECK_THAT(refused("image2d:0x4:r:float:zeros"), Contains("at least one texel"));
  CHECK_THAT(refused("image2d:20000x4:r:float:zeros"), Contains("Width: expected 1 to 16384, found 20000"));
  CHECK_THAT(refused("image2d:4x4:q:float:zeros"), Contains("expected an order of channels of r, a, rg"));
  CHECK_THAT(refused("image2d:4x4:r:f32:zeros"), Contains("expected a type of channels of snorm8"));
  CHECK_THAT(refused("image2d:4x4:rgb:float:zeros"),
             Contains("expected for rgb a channel type of unorm_565"));
  CHECK_THAT(refused("image2d:4x4:r:float:ones"),
             Contains("expected contents of @FILE, zeros or random:SEED"));
  CHECK_THAT(refused("image2d:4x4:r:float:@"), Contains("the name of a file"));
  CHECK_THAT(refused("image2d:4x4:r:float:random"), Contains("random:SEED"));
  CHECK_THAT(refused("image3d:x.png"), Contains("expected image3d:WxHxD:ORDER:TYPE:SOURCE"));
  CHECK_THAT(refused("sampler:"), Contains("sampler:FILTER,ADDRESS,COORDINATES"));
  CHECK_THAT(refused("sampler:linear,nearest"), Contains("each property once"));
  CHECK_THAT(refused("sampler:cubic"), Contains("expected nearest or linear") && Contains("found 'cubic'"));
  CHECK_THAT(refused("sampler:repeat"), Contains("need normalized coordinates"));

  CHECK_THAT(complaint(queries("image3d:4x4x4:r:float:zeros"), mismatch),
             Contains("argument 0 (a: global image2d_t) takes a 2D image, a 3D image given"));
  CHECK_THAT(complaint(queries("zeros:64"), mismatch), Contains("takes a 2D image, a buffer given"));
  CHECK_THAT(complaint(queries("sampler:linear"), mismatch), Contains("takes a 2D image, a sampler given"));
  CHECK_THAT(complaint(queries("image2d:4x4:r:float:zeros", {"--dump", "0=x.png"}), mismatch),
             Contains("a PNG file has channels of unorm8, unorm16, uint8 or uint16, the image has float"));
  CHECK_THAT(complaint(queries("image2d:4x4:r:unorm8:zeros", {"--dump", "1=x.png"}), mismatch),
             Contains("expected an image for a PNG file, argument 1 is a buffer"));
  const std::string few = cli_test::file("few.raw", bytes({1, 2, 3}));
  CHECK_THAT(complaint(queries("image2d:2x1:r:unorm16:@" + few), bad_input), Contains("expected 4 bytes"));
}

TEST_CASE("pictures of every kind are grey or RGBA", "[cli]") {
  struct Kind {
    std::string file;
    std::uint32_t width, height;
    unsigned channels, bits;
    std::vector<std::byte> texels;
  };
  const std::vector<Kind> kinds{
      {"grey1", 5, 2, 1, 8, bytes({255, 0, 255, 255, 0, 0, 255, 0, 0, 255})},
      {"grey8", 3, 2, 1, 8, bytes({1, 2, 3, 4, 5, 6})},
      {"grey16", 2, 1, 1, 16, bytes({2, 1, 4, 3})},
      {"grey_alpha", 2, 1, 4, 8, bytes({10, 10, 10, 20, 30, 30, 30, 40})},
      {"rgb8", 2, 1, 4, 8, bytes({1, 2, 3, 255, 4, 5, 6, 255})},
      {"rgb16", 1, 1, 4, 16, bytes({2, 1, 4, 3, 6, 5, 255, 255})},
      {"rgba16", 1, 1, 4, 16, bytes({2, 1, 4, 3, 6, 5, 8, 7})},
      {"palette2", 4, 1, 4, 8, bytes({9, 8, 7, 255, 6, 5, 4, 255, 3, 2, 1, 255, 0, 1, 2, 255})},
      {"palette_alpha", 2, 1, 4, 8, bytes({6, 5, 4, 255, 9, 8, 7, 77})},
      {"interlaced", 2, 2, 1, 8, bytes({1, 2, 3, 4})},
  };
  for (const Kind& kind : kinds) {
    CAPTURE(kind.file);
    const auto file = cli_test::read(EUMULATE_SOURCE_DIR "/tests/fuzz/corpus/picture/" + kind.file + ".png");
    const auto picture = png::read(file);
    if (!picture) FAIL(picture.error().message);
    CHECK(picture->width == kind.width);
    CHECK(picture->height == kind.height);
    CHECK(picture->channels == kind.channels);
    CHECK(picture->bits == kind.bits);
    CHECK(picture->texels == kind.texels);
  }
}

TEST_CASE("files that are no pictures are refused in one line", "[cli]") {
  const auto refused = [](const std::vector<std::byte>& contents) {
    return complaint(queries("image2d:" + cli_test::file("bad.png", contents)), bad_input);
  };
  const std::vector<std::byte> good = png_file(40, 30, 4, 8);
  CHECK_THAT(refused({}), Contains("bad.png"));
  CHECK_THAT(refused(bytes({1, 2, 3})), Contains("bad.png: expected a PNG file, found 3 bytes"));
  for (const std::size_t size :
       {std::size_t{8}, std::size_t{20}, std::size_t{33}, std::size_t{60}, good.size() - 13}) {
    CAPTURE(size, good.size());
    refused({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
  }
  // Bytes 16 to 23 are width and height, 24 the depth; the wrong CRC is detected first.
  for (const std::size_t at : {std::size_t{18}, std::size_t{24}, std::size_t{25}, std::size_t{45}}) {
    std::vector<std::byte> changed = good;
    changed[at] ^= std::byte{0x43};
    refused(changed);
  }
  CHECK_THAT(complaint(queries("image2d:nowhere.png"), bad_input), Contains("nowhere.png"));
  // A header of 16384 x 16384 pixels, with its CRC, and no data.
  auto huge = bytes({0x89, 'P', 'N', 'G',  13, 10, 26, 10,   0, 0, 0, 13, 'I', 'H', 'D',
                     'R',  0,   0,   0x40, 0,  0,  0,  0x40, 0, 8, 6, 0,  0,   0});
  std::uint32_t crc = ~0u;
  for (std::size_t i = 12; i < huge.size(); ++i) {
    crc ^= std::to_integer<std::uint32_t>(huge[i]);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
  }
  for (int shift = 24; shift >= 0; shift -= 8) huge.push_back(static_cast<std::byte>(~crc >> shift));
  refused(huge);
  const auto data = bytes({0, 0, 0, 0, 'I', 'D', 'A', 'T', 0x35, 0xaf, 0x06, 0x1e});
  huge.insert(huge.end(), data.begin(), data.end());
  CHECK_THAT(refused(huge), Contains("bytes cannot hold 16384x16384 pixels"));
}
