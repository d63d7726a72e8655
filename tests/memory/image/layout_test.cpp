// Layouts: tiles against the address bits that they consist of, mip levels against offsets worked out by
// hand, every texel of small surfaces has its own place, and check() names the wrong field.
#include "memory/image/layout.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "memory/image/format.hpp"

using namespace eum::mem::image;
using Catch::Matchers::Contains;

namespace {

FormatCode format(const char* name) {
  const FormatInfo* info = find_format(name);
  REQUIRE(info != nullptr);
  return info->code;
}

SurfaceState surface(SurfaceType type, TileMode tiling, const char* name, std::uint32_t width,
                     std::uint32_t height, std::uint32_t depth, std::uint8_t levels) {
  SurfaceState s;
  s.type = type;
  s.tiling = tiling;
  s.format = format(name);
  s.width = width;
  s.height = height;
  s.depth = depth;
  s.mip_count = levels;
  s.array = type != SurfaceType::SURFTYPE_3D && depth > 1;
  choose_layout(s);
  return s;
}

/// The address within a tile as a list of coordinate bits, lowest first: "x0" is bit 0 of the byte's offset
/// in its row.
std::uint64_t interleave(const std::vector<std::string>& bits, std::uint32_t x, std::uint32_t y) {
  std::uint64_t address = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::uint32_t coordinate = bits[i][0] == 'x' ? x : y;
    address |= std::uint64_t{coordinate >> std::stoul(bits[i].substr(1)) & 1} << i;
  }
  return address;
}

}  // namespace

TEST_CASE("image layout: tiles are made of the address bits that the manual shows") {
  struct Tiling {
    TileMode mode;
    std::uint32_t width, height, pitch;
    std::vector<std::string> bits;
  };
  const std::vector<Tiling> tilings = {
      {TileMode::XMAJOR,
       512,
       8,
       512,
       {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "y0", "y1", "y2"}},
      {TileMode::YMAJOR,
       128,
       32,
       128,
       {"x0", "x1", "x2", "x3", "y0", "y1", "y2", "y3", "y4", "x4", "x5", "x6"}},
      {TileMode::WMAJOR,
       64,
       64,
       128,
       {"x0", "y0", "x1", "y1", "x2", "y2", "y3", "y4", "y5", "x3", "x4", "x5"}},
  };
  for (const Tiling& t : tilings) {
    constexpr std::uint32_t across = 3;
    for (std::uint32_t y = 0; y < 2 * t.height; ++y)
      for (std::uint32_t x = 0; x < across * t.width; ++x) {
        const std::uint64_t tile = y / t.height * across + x / t.width;
        if (byte_offset(t.mode, across * t.pitch, x, y) !=
            tile * 4096 + interleave(t.bits, x % t.width, y % t.height))
          FAIL("mode " << int(t.mode) << " x " << x << " y " << y);
      }
  }
  CHECK(byte_offset(TileMode::LINEAR, 100, 7, 3) == 307);
}

TEST_CASE("image layout: levels lie where the manual places them") {
  const SurfaceState s = surface(SurfaceType::SURFTYPE_2D, TileMode::LINEAR, "R8_UNORM", 100, 50, 1, 5);
  // 100x50, 50x25 below it, 25x12 to the right of that, 12x6 and 6x3 below; alignment 4.
  const auto at = [&](unsigned level) { return texel_offset(s, level, 0, 0, 0); };
  CHECK(at(0) == 0);
  CHECK(at(1) == 52 * s.pitch);
  CHECK(at(2) == 52 * s.pitch + 52);
  CHECK(at(3) == (52 + 12) * s.pitch + 52);
  CHECK(at(4) == (52 + 12 + 8) * s.pitch + 52);
  CHECK(s.qpitch == 52 + 28);

  const SurfaceState volume =
      surface(SurfaceType::SURFTYPE_3D, TileMode::YMAJOR, "R8G8B8A8_UNORM", 32, 32, 4, 3);
  CHECK(level_size(volume, 1) == std::array<std::uint32_t, 3>{16, 16, 2});
  CHECK(level_size(volume, 2) == std::array<std::uint32_t, 3>{8, 8, 1});
  CHECK(texel_offset(volume, 1, 0, 0, 1) ==
        byte_offset(TileMode::YMAJOR, volume.pitch, 0, 32 + volume.qpitch));

  const SurfaceState line = surface(SurfaceType::SURFTYPE_1D, TileMode::LINEAR, "R16_UNORM", 100, 1, 3, 3);
  CHECK(texel_offset(line, 1, 3, 0, 0) == (128 + 3) * 2);
  CHECK(texel_offset(line, 2, 0, 0, 2) == (2 * line.qpitch + 128 + 64) * 2);

  SurfaceState shifted = surface(SurfaceType::SURFTYPE_2D, TileMode::LINEAR, "R8_UNORM", 40, 8, 1, 1);
  shifted.x_offset = 8;
  shifted.y_offset = 4;
  CHECK(texel_offset(shifted, 0, 1, 1, 0) == 5 * shifted.pitch + 9);
}

TEST_CASE("image layout: every texel has a place of its own inside the surface") {
  unsigned surfaces = 0;
  for (const SurfaceType type : {SurfaceType::SURFTYPE_1D, SurfaceType::SURFTYPE_2D, SurfaceType::SURFTYPE_3D,
                                 SurfaceType::SURFTYPE_CUBE})
    for (const TileMode tiling : {TileMode::LINEAR, TileMode::XMAJOR, TileMode::YMAJOR, TileMode::WMAJOR})
      for (const char* name : {"R8_UNORM", "R16_UNORM", "R8G8B8A8_UNORM", "R32G32B32A32_FLOAT"})
        for (const std::uint32_t width : {1u, 5u, 37u, 64u})
          for (const std::uint32_t depth : {1u, 3u}) {
            if (tiling == TileMode::WMAJOR && std::string(name) != "R8_UNORM") continue;
            const std::uint32_t height = type == SurfaceType::SURFTYPE_1D     ? 1
                                         : type == SurfaceType::SURFTYPE_CUBE ? width
                                                                              : 19;
            const std::uint8_t levels = width >= 37 ? 4 : 1;
            SurfaceState s = surface(type, tiling, name, width, height, depth, levels);
            if (type != SurfaceType::SURFTYPE_3D) s.min_array_element = width == 5 ? 2 : 0;
            if (s.min_array_element != 0) s.min_lod = 0;
            CAPTURE(int(type), int(tiling), name, width, depth);
            const auto valid = check(s);
            if (!valid) FAIL(valid.error().message);
            const unsigned bytes = find_format(s.format)->bytes;
            std::vector<bool> taken(surface_bytes(s));
            bool good = true;
            std::uint64_t last = 0;
            for (unsigned level = 0; level < level_count(s); ++level) {
              const auto size = level_size(s, level);
              const std::uint32_t slices = type == SurfaceType::SURFTYPE_3D ? size[2] : slice_count(s);
              for (std::uint32_t slice = 0; slice < slices; ++slice)
                for (std::uint32_t y = 0; y < size[1]; ++y)
                  for (std::uint32_t x = 0; x < size[0]; ++x) {
                    const std::uint64_t offset = texel_offset(s, level, x, y, slice);
                    for (unsigned b = 0; b < bytes; ++b) {
                      good = good && offset + b < taken.size() && !taken[offset + b];
                      if (offset + b < taken.size()) taken[offset + b] = true;
                    }
                    last = std::max(last, offset + bytes);
                  }
            }
            CHECK(good);
            if (tiling == TileMode::LINEAR)
              CHECK(last == taken.size());
            else
              CHECK(taken.size() % 4096 == 0);
            ++surfaces;
          }
  CHECK(surfaces > 300);
}

TEST_CASE("image layout: check names the field that does not fit") {
  const SurfaceState good =
      surface(SurfaceType::SURFTYPE_2D, TileMode::YMAJOR, "R8G8B8A8_UNORM", 64, 64, 4, 3);
  CHECK(bool(check(good)));
  const auto complaint = [&](auto change) {
    SurfaceState s = good;
    change(s);
    const auto result = check(s);
    return result ? std::string("none") : result.error().message;
  };
  CHECK_THAT(complaint([](auto& s) { s.width = 0; }), Contains("Width: expected 1 to 16384, found 0"));
  CHECK_THAT(complaint([](auto& s) { s.height = 16385; }), Contains("Height"));
  CHECK_THAT(complaint([](auto& s) { s.depth = 3000; }), Contains("Depth"));
  CHECK_THAT(complaint([](auto& s) { s.pitch -= 128; }), Contains("Surface Pitch"));
  CHECK_THAT(complaint([](auto& s) { s.pitch += 64; }), Contains("a multiple of 128"));
  CHECK_THAT(complaint([](auto& s) { s.qpitch = 64; }), Contains("QPitch"));
  CHECK_THAT(complaint([](auto& s) { s.qpitch += 2; }), Contains("QPitch"));
  CHECK_THAT(complaint([](auto& s) { s.mip_count = 9; }), Contains("MIP Count"));
  CHECK_THAT(complaint([](auto& s) { s.min_lod = 5; }), Contains("MIP Count"));
  CHECK_THAT(complaint([](auto& s) { s.halign = 5; }), Contains("Horizontal Alignment"));
  CHECK_THAT(complaint([](auto& s) { s.format = 0x1fe; }), Contains("Surface Format"));
  CHECK_THAT(complaint([](auto& s) { s.samples_log2 = 2; }), Contains("Multisamples"));
  CHECK_THAT(complaint([](auto& s) { s.tiling = TileMode::WMAJOR; }), Contains("one byte"));
  CHECK_THAT(complaint([](auto& s) {
               s.type = SurfaceType::SURFTYPE_CUBE;
               s.height = 32;
             }),
             Contains("square"));
}
