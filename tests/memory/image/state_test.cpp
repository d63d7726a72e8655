// Surface and sampler state: bit positions against genxml's, which states are refused and how, and that bytes
// and structs are equivalent.
#include <catch2/catch.hpp>

#include <cstring>
#include <random>

#include "memory/image/format.hpp"
#include "memory/image/state.hpp"

using namespace eum;
using namespace eum::mem::image;

namespace {

template <std::size_t size>
using Bytes = std::array<std::byte, size>;

void set(std::span<std::byte> bytes, unsigned first, unsigned last, std::uint32_t value) {
  for (unsigned bit = first; bit <= last; ++bit) {
    std::byte& b = bytes[bit / 8];
    b = (b & ~(std::byte{1} << bit % 8)) | std::byte(value >> (bit - first) & 1) << bit % 8;
  }
}

/// A 2D surface of 1 x 1 texels.
Bytes<surface_state_bytes> small_surface() {
  Bytes<surface_state_bytes> bytes{};
  set(bytes, 29, 31, 1);     // SURFTYPE_2D
  set(bytes, 18, 27, 0xc7);  // R8G8B8A8_UNORM
  set(bytes, 14, 15, 1);     // HALIGN_4
  set(bytes, 16, 17, 1);     // VALIGN_4
  set(bytes, 249, 251, 4);   // red
  set(bytes, 246, 248, 5);   // green
  set(bytes, 243, 245, 6);   // blue
  set(bytes, 240, 242, 7);   // alpha
  return bytes;
}

/// The decoded state of small_surface() with one field changed.
SurfaceState with(unsigned first, unsigned last, std::uint32_t value) {
  auto bytes = small_surface();
  set(bytes, first, last, value);
  const auto state = decode_surface_state(bytes);
  INFO((state ? "" : state.error().message));
  REQUIRE(state);
  return *state;
}

std::string surface_error(unsigned first, unsigned last, std::uint32_t value) {
  auto bytes = small_surface();
  set(bytes, first, last, value);
  const auto state = decode_surface_state(bytes);
  return state ? "decoded" : state.error().message;
}

SamplerState sampler_with(unsigned first, unsigned last, std::uint32_t value) {
  Bytes<sampler_state_bytes> bytes{};
  set(bytes, first, last, value);
  const auto state = decode_sampler_state(bytes);
  REQUIRE(state);
  return *state;
}

std::string sampler_error(unsigned first, unsigned last, std::uint32_t value) {
  Bytes<sampler_state_bytes> bytes{};
  set(bytes, first, last, value);
  const auto state = decode_sampler_state(bytes);
  return state ? "decoded" : state.error().message;
}

/// A random number from 0 to `most`.
template <class T>
T draw(std::mt19937& random, unsigned most) {
  return static_cast<T>(random() % (most + 1));
}

template <class E>
E pick(std::mt19937& random, std::initializer_list<E> values) {
  return values.begin()[random() % values.size()];
}

}  // namespace

TEST_CASE("each field of RENDER_SURFACE_STATE is where genxml has it") {
  const SurfaceState plain = *decode_surface_state(small_surface());
  SurfaceState expected;
  expected.type = SurfaceType::SURFTYPE_2D;
  expected.format = 0xc7;
  expected.width = expected.height = expected.depth = expected.pitch = expected.view_extent = 1;
  CHECK((plain == expected));

  const auto check = [&](unsigned first, unsigned last, std::uint32_t value, auto change) {
    CAPTURE(first, last, value);
    SurfaceState changed = plain;
    change(changed);
    CHECK((with(first, last, value) == changed));
    CHECK_FALSE((changed == plain));
  };
  check(10, 10, 1, [](auto& s) { s.vertical_line_stride_offset = true; });
  check(11, 11, 1, [](auto& s) { s.vertical_line_stride = true; });
  check(12, 13, 3, [](auto& s) { s.tiling = TileMode::YMAJOR; });
  check(12, 13, 2, [](auto& s) { s.tiling = TileMode::XMAJOR; });
  check(12, 13, 1, [](auto& s) { s.tiling = TileMode::WMAJOR; });
  check(14, 15, 2, [](auto& s) { s.halign = 8; });
  check(14, 15, 3, [](auto& s) { s.halign = 16; });
  check(16, 17, 2, [](auto& s) { s.valign = 8; });
  check(16, 17, 3, [](auto& s) { s.valign = 16; });
  check(18, 27, 0x140, [](auto& s) { s.format = 0x140; });
  check(28, 28, 1, [](auto& s) { s.array = true; });
  check(29, 31, 0, [](auto& s) { s.type = SurfaceType::SURFTYPE_1D; });
  check(29, 31, 2, [](auto& s) { s.type = SurfaceType::SURFTYPE_3D; });
  check(29, 31, 3, [](auto& s) { s.type = SurfaceType::SURFTYPE_CUBE; });
  check(29, 31, 4, [](auto& s) { s.type = SurfaceType::SURFTYPE_BUFFER; });
  check(29, 31, 5, [](auto& s) { s.type = SurfaceType::SURFTYPE_STRBUF; });
  check(32, 46, 0x7fff, [](auto& s) { s.qpitch = 0x7fff * 4; });
  check(51, 55, 31, [](auto& s) { s.base_mip = 31; });
  check(64, 77, 0x3fff, [](auto& s) { s.width = 0x4000; });
  check(80, 93, 0x3fff, [](auto& s) { s.height = 0x4000; });
  check(96, 113, 0x3ffff, [](auto& s) { s.pitch = 0x40000; });
  check(117, 127, 0x7ff, [](auto& s) { s.depth = 0x800; });
  check(131, 133, 4, [](auto& s) { s.samples_log2 = 4; });
  check(135, 145, 0x7ff, [](auto& s) { s.view_extent = 0x800; });
  check(146, 156, 0x7ff, [](auto& s) { s.min_array_element = 0x7ff; });
  check(160, 163, 14, [](auto& s) { s.mip_count = 15, s.mip_lod = 14; });
  check(164, 167, 15, [](auto& s) { s.min_lod = 15; });
  check(181, 183, 7, [](auto& s) { s.y_offset = 28; });
  check(185, 191, 127, [](auto& s) { s.x_offset = 508; });
  check(192, 194, 2, [](auto& s) { s.auxiliary = Auxiliary::APPEND; });
  check(224, 235, 0xfff, [](auto& s) { s.resource_min_lod = 0xfff; });
  check(249, 251, 0, [](auto& s) { s.select[0] = ChannelSelect::ZERO; });
  check(246, 248, 1, [](auto& s) { s.select[1] = ChannelSelect::ONE; });
  check(243, 245, 4, [](auto& s) { s.select[2] = ChannelSelect::RED; });
  check(240, 242, 6, [](auto& s) { s.select[3] = ChannelSelect::BLUE; });
  for (unsigned face = 0; face < 6; ++face) {
    auto bytes = small_surface();
    set(bytes, 29, 31, 3);
    set(bytes, face, face, 1);
    CHECK(decode_surface_state(bytes)->cube_faces == 1 << face);
  }
  CHECK(with(0, 5, 63).cube_faces == 0);  // ignored if not a cube
}

TEST_CASE("a buffer's entries are spread over width, height and depth") {
  const auto entries = [](std::uint32_t count) {
    auto bytes = small_surface();
    set(bytes, 29, 31, 4);
    set(bytes, 64, 70, (count - 1) & 0x7f);
    set(bytes, 80, 93, (count - 1) >> 7);
    set(bytes, 117, 127, (count - 1) >> 21);
    return *decode_surface_state(bytes);
  };
  for (std::uint32_t count : {1u, 128u, 129u, 1u << 21, (1u << 21) + 1, 0x12345678u, 0xffffffffu}) {
    const SurfaceState state = entries(count);
    CHECK(state.width == count);
    CHECK(state.height == 1);
    CHECK(state.depth == 1);
    CHECK((*decode_surface_state(encode(state, 0)) == state));
  }
  auto bytes = small_surface();
  set(bytes, 29, 31, 4);
  set(bytes, 64, 77, 0x80);
  CHECK(decode_surface_state(bytes).error().message ==
        "RENDER_SURFACE_STATE: Width of a buffer, bits 13:7: expected 0, found 1");
  set(bytes, 64, 77, 0x7f);
  set(bytes, 80, 93, ~0u);
  set(bytes, 117, 127, ~0u);
  CHECK(decode_surface_state(bytes).error().message ==
        "RENDER_SURFACE_STATE: Depth: expected fewer than 2^32 entries, in Depth, Height and Width, found "
        "2047");
  // A buffer ignores alignments.
  set(bytes, 117, 127, 0);
  set(bytes, 14, 17, 0);
  CHECK(decode_surface_state(bytes));
}

TEST_CASE("reserved and unsupported values of RENDER_SURFACE_STATE are named") {
  CHECK(surface_error(29, 31, 6) ==
        "RENDER_SURFACE_STATE: Surface Type: expected one of 0, 1, 2, 3, 4, 5, 7, found 6");
  CHECK(surface_error(14, 15, 0) ==
        "RENDER_SURFACE_STATE: Surface Horizontal Alignment: expected one of 1, 2, 3, found 0");
  CHECK(surface_error(16, 17, 0) ==
        "RENDER_SURFACE_STATE: Surface Vertical Alignment: expected one of 1, 2, 3, found 0");
  CHECK(surface_error(18, 27, 0x1fe) ==
        "RENDER_SURFACE_STATE: Surface Format: expected a format of the sampler or the data port, found 510");
  CHECK(surface_error(6, 7, 2) == "RENDER_SURFACE_STATE: Media Boundary Pixel Mode: expected 0, found 2");
  CHECK(surface_error(131, 133, 5) ==
        "RENDER_SURFACE_STATE: Number of Multisamples: expected one of 0, 1, 2, 3, 4, found 5");
  CHECK(surface_error(178, 179, 1) == "RENDER_SURFACE_STATE: Tiled Resource Mode: expected 0, found 1");
  CHECK(surface_error(192, 194, 5) ==
        "RENDER_SURFACE_STATE: Auxiliary Surface Mode: expected one of 0, 2, found 5");
  CHECK(surface_error(254, 254, 1) == "RENDER_SURFACE_STATE: Memory Compression Enable: expected 0, found 1");
  for (unsigned first : {249u, 246u, 243u, 240u})
    for (std::uint32_t value : {2u, 3u})
      CHECK_THAT(
          surface_error(first, first + 2, value),
          Catch::Contains("Shader Channel Select") && Catch::Contains("expected one of 0, 1, 4, 5, 6, 7"));
  CHECK_THAT(surface_error(160, 163, 15), Catch::Contains("MIP Count / LOD"));
  CHECK_FALSE(decode_surface_state(Bytes<surface_state_bytes>{}));
}

TEST_CASE("a null surface is its sizes") {
  auto bytes = Bytes<surface_state_bytes>{};
  set(bytes, 29, 31, 7);
  set(bytes, 64, 77, 9);
  set(bytes, 240, 251, ~0u);
  set(bytes, 178, 179, 3);
  const auto state = decode_surface_state(bytes);
  REQUIRE(state);
  CHECK(state->type == SurfaceType::SURFTYPE_NULL);
  CHECK(state->width == 10);
  CHECK(state->format == format_raw);
  CHECK((*decode_surface_state(encode(*state, 0)) == *state));
}

TEST_CASE("surface states survive their bytes") {
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    SurfaceState s;
    s.type = pick(random,
                  {SurfaceType::SURFTYPE_1D, SurfaceType::SURFTYPE_2D, SurfaceType::SURFTYPE_3D,
                   SurfaceType::SURFTYPE_CUBE, SurfaceType::SURFTYPE_BUFFER, SurfaceType::SURFTYPE_STRBUF});
    const bool buffer = s.type == SurfaceType::SURFTYPE_BUFFER || s.type == SurfaceType::SURFTYPE_STRBUF;
    s.tiling = draw<TileMode>(random, 3);
    s.format = formats()[random() % formats().size()].code;
    s.array = draw<bool>(random, 1);
    if (!buffer) s.halign = pick<std::uint8_t>(random, {4, 8, 16});
    if (!buffer) s.valign = pick<std::uint8_t>(random, {4, 8, 16});
    if (s.type == SurfaceType::SURFTYPE_CUBE) s.cube_faces = draw<std::uint8_t>(random, 63);
    s.samples_log2 = draw<std::uint8_t>(random, 4);
    s.mip_lod = draw<std::uint8_t>(random, 14);
    s.mip_count = static_cast<std::uint8_t>(s.mip_lod + 1);
    s.min_lod = draw<std::uint8_t>(random, 15);
    s.base_mip = draw<std::uint8_t>(random, 31);
    s.resource_min_lod = draw<std::uint16_t>(random, 0xfff);
    for (ChannelSelect& select : s.select)
      select = pick(random, {ChannelSelect::ZERO, ChannelSelect::ONE, ChannelSelect::RED,
                             ChannelSelect::GREEN, ChannelSelect::BLUE, ChannelSelect::ALPHA});
    s.width = buffer ? static_cast<std::uint32_t>(std::max<std::uint_fast32_t>(random(), 1))
                     : 1 + draw<std::uint32_t>(random, 0x3fff);
    s.height = buffer ? 1 : 1 + draw<std::uint32_t>(random, 0x3fff);
    s.depth = buffer ? 1 : 1 + draw<std::uint32_t>(random, 0x7ff);
    s.pitch = 1 + draw<std::uint32_t>(random, 0x3ffff);
    s.qpitch = 4 * draw<std::uint32_t>(random, 0x7fff);
    s.min_array_element = draw<std::uint32_t>(random, 0x7ff);
    s.view_extent = 1 + draw<std::uint32_t>(random, 0x7ff);
    s.x_offset = static_cast<std::uint16_t>(4 * draw<std::uint32_t>(random, 127));
    s.y_offset = static_cast<std::uint16_t>(4 * draw<std::uint32_t>(random, 7));
    s.vertical_line_stride = draw<bool>(random, 1);
    s.vertical_line_stride_offset = draw<bool>(random, 1);
    s.auxiliary = pick(random, {Auxiliary::NONE, Auxiliary::APPEND});
    const std::uint64_t address = random() * std::uint64_t{0x1234567};
    const std::uint64_t counter = random() * std::uint64_t{0x7654321} << 12;
    const auto bytes = encode(s, address, counter);
    const auto back = decode_surface_state(bytes);
    INFO((back ? "" : back.error().message));
    REQUIRE(back);
    REQUIRE((*back == s));
    REQUIRE(surface_base_address(bytes) == address);
    REQUIRE(append_counter_address(bytes) == counter);
  }
}

TEST_CASE("the levels of a sampler and the level of typed messages are one field") {
  SurfaceState s = *decode_surface_state(small_surface());
  s.mip_count = 5;
  CHECK(decode_surface_state(encode(s, 0))->mip_count == 5);
  CHECK(decode_surface_state(encode(s, 0))->mip_lod == 4);
  s.mip_count = 1;
  s.mip_lod = 3;
  CHECK(decode_surface_state(encode(s, 0))->mip_lod == 3);
}

TEST_CASE("the base address has 64 bits") {
  auto bytes = small_surface();
  set(bytes, 256, 287, 0x89abcdef);
  set(bytes, 288, 319, 0x00001234);
  CHECK(surface_base_address(bytes) == 0x0000123489abcdef);
}

TEST_CASE("each field of SAMPLER_STATE is where genxml has it") {
  SamplerState plain = *decode_sampler_state(Bytes<sampler_state_bytes>{});
  SamplerState expected;
  expected.address = {AddressControl::WRAP, AddressControl::WRAP, AddressControl::WRAP};
  CHECK((plain == expected));
  const auto check = [&](unsigned first, unsigned last, std::uint32_t value, auto change) {
    CAPTURE(first, last, value);
    SamplerState changed = plain;
    change(changed);
    CHECK((sampler_with(first, last, value) == changed));
    CHECK_FALSE((changed == plain));
  };
  check(1, 13, 0x0fff, [](auto& s) { s.lod_bias = 0x0fff; });
  check(1, 13, 0x1fff, [](auto& s) { s.lod_bias = -1; });
  check(1, 13, 0x1000, [](auto& s) { s.lod_bias = -0x1000; });
  check(14, 16, 1, [](auto& s) { s.min_filter = MapFilter::LINEAR; });
  check(14, 16, 6, [](auto& s) { s.min_filter = MapFilter::MONO; });
  check(17, 19, 2, [](auto& s) { s.mag_filter = MapFilter::ANISOTROPIC; });
  check(20, 21, 1, [](auto& s) { s.mip_filter = MipFilter::NEAREST; });
  check(20, 21, 3, [](auto& s) { s.mip_filter = MipFilter::LINEAR; });
  check(27, 28, 2, [](auto& s) { s.lod_preclamp = true; });
  check(31, 31, 1, [](auto& s) { s.disable = true; });
  check(32, 32, 1, [](auto& s) { s.cube_override = true; });
  check(33, 35, 7, [](auto& s) { s.shadow = Prefilter::GEQUAL; });
  check(40, 51, 0xfff, [](auto& s) { s.max_lod = 0xfff; });
  check(52, 63, 0xfff, [](auto& s) { s.min_lod = 0xfff; });
  check(64, 64, 1, [](auto& s) { s.lod_clamp_magnification = true; });
  check(96, 98, 5, [](auto& s) { s.address[2] = AddressControl::MIRROR_ONCE; });
  check(99, 101, 4, [](auto& s) { s.address[1] = AddressControl::CLAMP_BORDER; });
  check(102, 104, 6, [](auto& s) { s.address[0] = AddressControl::HALF_BORDER; });
  check(105, 105, 1, [](auto& s) { s.reduction_enable = true; });
  check(106, 106, 1, [](auto& s) { s.non_normalized = true; });
  check(109, 109, 1, [](auto& s) { s.rounding = 32; });  // R min
  check(110, 110, 1, [](auto& s) { s.rounding = 16; });  // R mag
  check(111, 111, 1, [](auto& s) { s.rounding = 8; });   // V min
  check(112, 112, 1, [](auto& s) { s.rounding = 4; });   // V mag
  check(113, 113, 1, [](auto& s) { s.rounding = 2; });   // U min
  check(114, 114, 1, [](auto& s) { s.rounding = 1; });   // U mag
  check(115, 117, 7, [](auto& s) { s.max_anisotropy = 16; });
  check(118, 119, 3, [](auto& s) { s.reduction = Reduction::MAXIMUM; });
}

TEST_CASE("reserved and unsupported values of SAMPLER_STATE are named") {
  CHECK(sampler_error(14, 16, 3) == "SAMPLER_STATE: Min Mode Filter: expected one of 0, 1, 2, 6, found 3");
  CHECK(sampler_error(17, 19, 7) == "SAMPLER_STATE: Mag Mode Filter: expected one of 0, 1, 2, 6, found 7");
  CHECK(sampler_error(20, 21, 2) == "SAMPLER_STATE: Mip Mode Filter: expected one of 0, 1, 3, found 2");
  CHECK(sampler_error(27, 28, 1) == "SAMPLER_STATE: LOD PreClamp Mode, bit 0: expected 0, found 1");
  CHECK(sampler_error(29, 29, 1) == "SAMPLER_STATE: Texture Border Color Mode: expected 0, found 1");
  CHECK(sampler_error(39, 39, 1) == "SAMPLER_STATE: ChromaKey Enable: expected 0, found 1");
  for (unsigned first : {96u, 99u, 102u})
    CHECK_THAT(sampler_error(first, first + 2, 7),
               Catch::Contains("Address Control Mode: expected one of 0, 1, 2, 3, 4, 5, 6"));
}

TEST_CASE("a sampler has the border colour that it points to") {
  Bytes<sampler_state_bytes> bytes{};
  set(bytes, 70, 87, 0x3ffff);
  CHECK(border_color_pointer(bytes) == 0xffffc0);
  const std::array<std::uint32_t, 16> colors = {1, 0x3f800000, 0xffffffff, 4, 5};
  CHECK((decode_sampler_state(bytes, std::as_bytes(std::span(colors)))->border ==
         std::array<std::uint32_t, 4>{1, 0x3f800000, 0xffffffff, 4}));
  CHECK((decode_sampler_state(bytes)->border == std::array<std::uint32_t, 4>{}));
  CHECK(decode_sampler_state(bytes, std::as_bytes(std::span(colors)).first(15)).error().message ==
        "SAMPLER_BORDER_COLOR_STATE: expected at least 16 bytes, found 15");
}

TEST_CASE("sampler states survive their bytes") {
  std::mt19937 random(4);
  const auto filters = {MapFilter::NEAREST, MapFilter::LINEAR, MapFilter::ANISOTROPIC, MapFilter::MONO};
  for (int i = 0; i < 20000; ++i) {
    SamplerState s;
    s.min_filter = pick(random, filters);
    s.mag_filter = pick(random, filters);
    s.mip_filter = pick(random, {MipFilter::NONE, MipFilter::NEAREST, MipFilter::LINEAR});
    for (AddressControl& a : s.address) a = draw<AddressControl>(random, 6);
    s.shadow = draw<Prefilter>(random, 7);
    s.reduction = draw<Reduction>(random, 3);
    s.reduction_enable = draw<bool>(random, 1);
    s.non_normalized = draw<bool>(random, 1);
    s.lod_preclamp = draw<bool>(random, 1);
    s.lod_clamp_magnification = draw<bool>(random, 1);
    s.disable = draw<bool>(random, 1);
    s.cube_override = draw<bool>(random, 1);
    s.max_anisotropy = static_cast<std::uint8_t>(2 + 2 * draw<std::uint8_t>(random, 7));
    s.rounding = draw<std::uint8_t>(random, 63);
    s.lod_bias = static_cast<std::int16_t>(draw<int>(random, 0x1fff) - 0x1000);
    s.min_lod = draw<std::uint16_t>(random, 0xfff);
    s.max_lod = draw<std::uint16_t>(random, 0xfff);
    for (std::uint32_t& b : s.border) b = static_cast<std::uint32_t>(random());
    const std::uint32_t pointer = draw<std::uint32_t>(random, 0x3ffff) * 64;
    const auto bytes = encode(s, pointer);
    const auto back = decode_sampler_state(bytes, std::as_bytes(std::span(s.border)));
    REQUIRE(back);
    REQUIRE((*back == s));
    REQUIRE(border_color_pointer(bytes) == pointer);
  }
}
