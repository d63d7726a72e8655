// Compressed formats: blocks whose texels are worked out by hand, BC1 to BC5 against a model in double
// arithmetic, the others against Mesa's results (compressed_vectors.txt).
#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include "memory/image/format.hpp"

using namespace eum::mem::image;

namespace {

using Block = std::vector<std::byte>;

Block bytes(std::initializer_list<unsigned> values) {
  Block block;
  for (unsigned v : values) block.push_back(static_cast<std::byte>(v));
  return block;
}

/// Eight bytes, the highest first, as ETC's specification writes them.
Block big_endian(std::uint64_t value) {
  Block block;
  for (int shift = 56; shift >= 0; shift -= 8) block.push_back(static_cast<std::byte>(value >> shift));
  return block;
}

std::uint32_t f32(double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); }

/// A texel of numbers; of bytes as fractions of 255.
Texel of(double r, double g, double b, double a) { return {f32(r), f32(g), f32(b), f32(a)}; }
Texel of_bytes(double r, double g, double b, double a = 255) {
  return of(r / 255, g / 255, b / 255, a / 255);
}

Texel decode(std::string_view format, const Block& block, unsigned x, unsigned y) {
  const FormatInfo* info = find_format(format);
  REQUIRE(info != nullptr);
  REQUIRE(info->bytes == block.size());
  return info->decode(block.data(), x, y);
}

double linear_of_srgb(double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); }

unsigned byte_at(const Block& block, std::size_t i) { return std::to_integer<unsigned>(block[i]); }

/// The model: bits of a block, by position.
unsigned bits_at(const Block& block, unsigned first, unsigned count) {
  unsigned value = 0;
  for (unsigned i = 0; i < count; ++i) value |= (byte_at(block, (first + i) / 8) >> (first + i) % 8 & 1) << i;
  return value;
}

/// The model of BC1's colours: `four` if there are four colours whatever their order.
std::array<double, 4> s3tc(const Block& block, unsigned base, unsigned texel, bool four, double last_alpha) {
  const unsigned index = bits_at(block, base + 32 + 2 * texel, 2);
  four = four || bits_at(block, base, 16) > bits_at(block, base + 16, 16);
  if (!four && index == 3) return {0, 0, 0, last_alpha};
  const double weights[2][4] = {{1, 0, 1.0 / 2, 0}, {1, 0, 2.0 / 3, 1.0 / 3}};
  std::array<double, 4> result = {0, 0, 0, 1};
  const unsigned first[3] = {11, 5, 0}, bits[3] = {5, 6, 5};
  for (unsigned c = 0; c < 3; ++c) {
    const double most = (1u << bits[c]) - 1, w = weights[four][index];
    result[c] = (bits_at(block, base + first[c], bits[c]) * w +
                 bits_at(block, base + 16 + first[c], bits[c]) * (1 - w)) /
                most;
  }
  return result;
}

/// The model of BC4's channel.
double rgtc(const Block& block, unsigned base, unsigned texel, bool is_signed) {
  const auto value = [&](unsigned first) {
    const int v = static_cast<int>(bits_at(block, first, 8));
    return is_signed && v > 127 ? v - 256 : v;
  };
  const int first = value(base), second = value(base + 8);
  const double most = is_signed ? 127 : 255, a = std::max(first / most, -1.0),
               b = std::max(second / most, -1.0);
  const unsigned index = bits_at(block, base + 16 + 3 * texel, 3);
  if (index < 2) return index == 0 ? a : b;
  if (first > second) return ((8.0 - index) * a + (index - 1.0) * b) / 7;
  if (index >= 6) return index == 7 ? 1 : is_signed ? -1 : 0;
  return ((6.0 - index) * a + (index - 1.0) * b) / 5;
}

/// Whether channels equal the model's numbers, rounded to f32. The model's error in double is below 2^-50,
/// which can change the rounding only if the exact value is that close to a midpoint.
bool close(const Texel& found, const std::array<double, 4>& expected) {
  for (std::size_t c = 0; c < 4; ++c) {
    const double value = std::bit_cast<float>(found[c]);
    if (!(std::abs(value - expected[c]) <= std::ldexp(std::abs(expected[c]), -24) + 0x1p-45)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("BC1 by hand") {
  // Red and blue, indices 0 1 2 3 in each row.
  const Block four = bytes({0x00, 0xf8, 0x1f, 0x00, 0xe4, 0xe4, 0xe4, 0xe4});
  const Block three = bytes({0x1f, 0x00, 0x00, 0xf8, 0xe4, 0xe4, 0xe4, 0x00});
  for (unsigned y = 0; y < 4; ++y) {
    CHECK((decode("BC1_UNORM", four, 0, y) == of(1, 0, 0, 1)));
    CHECK((decode("BC1_UNORM", four, 1, y) == of(0, 0, 1, 1)));
    CHECK((decode("BC1_UNORM", four, 2, y) == of(2.0 / 3, 0, 1.0 / 3, 1)));
    CHECK((decode("DXT1_RGB", four, 3, y) == of(1.0 / 3, 0, 2.0 / 3, 1)));
  }
  CHECK((decode("BC1_UNORM", three, 0, 0) == of(0, 0, 1, 1)));
  CHECK((decode("BC1_UNORM", three, 2, 1) == of(0.5, 0, 0.5, 1)));
  CHECK((decode("BC1_UNORM", three, 3, 2) == of(0, 0, 0, 0)));
  CHECK((decode("DXT1_RGB", three, 3, 2) == of(0, 0, 0, 1)));
  CHECK((decode("BC1_UNORM", three, 3, 3) == of(0, 0, 1, 1)));
  CHECK((decode("BC1_UNORM_SRGB", four, 2, 0) == of(linear_of_srgb(2.0 / 3), 0, linear_of_srgb(1.0 / 3), 1)));
  CHECK((decode("DXT1_RGB_SRGB", three, 2, 0) == of(linear_of_srgb(0.5), 0, linear_of_srgb(0.5), 1)));
}

TEST_CASE("BC2 and BC3 by hand") {
  // The colours of `three` above, where four colours are used.
  Block bc2 =
      bytes({0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 0x1f, 0x00, 0x00, 0xf8, 0xe4, 0xe4, 0xe4, 0xe4});
  CHECK((decode("BC2_UNORM", bc2, 3, 0) == of(2.0 / 3, 0, 1.0 / 3, 3.0 / 15)));
  CHECK((decode("BC2_UNORM", bc2, 1, 3) == of(1, 0, 0, 13.0 / 15)));
  CHECK((decode("BC2_UNORM_SRGB", bc2, 2, 1) ==
         of(linear_of_srgb(1.0 / 3), 0, linear_of_srgb(2.0 / 3), 6.0 / 15)));
  // Alpha 240 and 16, indices 0 1 2 3 4 5 6 7 from texel 0 on.
  Block bc3 =
      bytes({0xf0, 0x10, 0x88, 0xc6, 0xfa, 0x88, 0xc6, 0xfa, 0x1f, 0x00, 0x00, 0xf8, 0xe4, 0xe4, 0xe4, 0xe4});
  CHECK((decode("BC3_UNORM", bc3, 0, 0) == of(0, 0, 1, 240.0 / 255)));
  CHECK((decode("BC3_UNORM", bc3, 1, 2) == of(1, 0, 0, 16.0 / 255)));
  CHECK((decode("BC3_UNORM", bc3, 2, 0) == of(1.0 / 3, 0, 2.0 / 3, 208.0 / 255)));
  CHECK((decode("BC3_UNORM_SRGB", bc3, 3, 1) ==
         of(linear_of_srgb(2.0 / 3), 0, linear_of_srgb(1.0 / 3), 48.0 / 255)));
  std::swap(bc3[0], bc3[1]);  // 16 and 240: six values, 0 and 255
  CHECK(decode("BC3_UNORM", bc3, 2, 0)[3] == f32((4 * 16 + 240) / (5 * 255.0)));
  CHECK(decode("BC3_UNORM", bc3, 2, 1)[3] == f32(0));
  CHECK(decode("BC3_UNORM", bc3, 3, 1)[3] == f32(1));
}

TEST_CASE("BC4 and BC5 by hand") {
  const Block high = bytes({0x7f, 0x80, 0x88, 0xc6, 0xfa, 0x88, 0xc6, 0xfa});  // 127, -128
  CHECK((decode("BC4_SNORM", high, 0, 0) == of(1, 0, 0, 1)));
  CHECK((decode("BC4_SNORM", high, 1, 0) == of(-1, 0, 0, 1)));
  CHECK((decode("BC4_SNORM", high, 2, 0) == of(5.0 / 7, 0, 0, 1)));
  CHECK((decode("BC4_UNORM", high, 3, 1) == of(1, 0, 0, 1)));
  // -127 is larger than -128, though both decode to -1: eight values.
  CHECK((decode("BC4_SNORM", bytes({0x81, 0x80, 0x88, 0xc6, 0xfa, 0x88, 0xc6, 0xfa}), 3, 1) ==
         of(-1, 0, 0, 1)));
  CHECK(
      (decode("BC4_SNORM", bytes({0x80, 0x81, 0x88, 0xc6, 0xfa, 0x88, 0xc6, 0xfa}), 3, 1) == of(1, 0, 0, 1)));
  Block both = high;
  both.insert(both.end(), {std::byte{0x00}, std::byte{0xff}, std::byte{0x49}, std::byte{0x92},
                           std::byte{0x24}, std::byte{0x49}, std::byte{0x92}, std::byte{0x24}});
  CHECK((decode("BC5_UNORM", both, 2, 0) == of((4 * 127 + 128) / (5 * 255.0), 1, 0, 1)));
  CHECK((decode("BC5_SNORM", both, 1, 0) == of(-1, -1 / 127.0, 0, 1)));
}

TEST_CASE("BC1 to BC5 against the model") {
  std::mt19937 random(5);
  std::size_t wrong = 0;
  for (int i = 0; i < 4000; i += EUMULATE_STEP) {
    Block block(16);
    for (std::byte& b : block) b = static_cast<std::byte>(random());
    const Block half(block.begin(), block.begin() + 8);
    for (unsigned texel = 0; texel < 16; ++texel) {
      const unsigned x = texel % 4, y = texel / 4;
      const auto check = [&](std::string_view format, const Block& b, std::array<double, 4> expected) {
        wrong += close(find_format(format)->decode(b.data(), x, y), expected) ? 0 : 1;
      };
      auto expected = s3tc(half, 0, texel, false, 0);
      check("BC1_UNORM", half, expected);
      for (unsigned c = 0; c < 3; ++c) expected[c] = linear_of_srgb(expected[c]);
      check("BC1_UNORM_SRGB", half, expected);
      check("DXT1_RGB", half, s3tc(half, 0, texel, false, 1));
      expected = s3tc(block, 64, texel, true, 1);
      expected[3] = bits_at(block, 4 * texel, 4) / 15.0;
      check("BC2_UNORM", block, expected);
      expected[3] = rgtc(block, 0, texel, false);
      check("BC3_UNORM", block, expected);
      check("BC4_UNORM", half, {rgtc(half, 0, texel, false), 0, 0, 1});
      check("BC4_SNORM", half, {rgtc(half, 0, texel, true), 0, 0, 1});
      check("BC5_UNORM", block, {rgtc(block, 0, texel, false), rgtc(block, 64, texel, false), 0, 1});
      check("BC5_SNORM", block, {rgtc(block, 0, texel, true), rgtc(block, 64, texel, true), 0, 1});
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("BC7 by hand") {
  // Mode 6: the mode's bit 6; red, green, blue, alpha of both endpoints, 7 bits each; p bits; indices.
  Block block(16);
  const auto set = [&](unsigned first, unsigned count, unsigned value) {
    for (unsigned i = 0; i < count; ++i)
      block[(first + i) / 8] |= static_cast<std::byte>((value >> i & 1) << (first + i) % 8);
  };
  set(6, 1, 1);
  set(7, 7, 127);  // red of the first: 127 and p 1 is 255; of the second: 0
  set(14, 7, 0);
  set(28, 7, 64);   // green of the second: 128
  set(35, 7, 1);    // blue of the first: 1 and p
  set(49, 7, 127);  // alpha
  set(56, 7, 127);
  set(63, 1, 1);   // p of the first endpoint only
  set(65, 3, 0);   // texel 0: the first endpoint
  set(68, 4, 15);  // texel 1: the second
  set(72, 4, 8);   // texel 2: 34 of 64
  CHECK((decode("BC7_UNORM", block, 0, 0) == of_bytes(255, 1, 3, 255)));
  CHECK((decode("BC7_UNORM", block, 1, 0) == of_bytes(0, 128, 0, 254)));
  CHECK((decode("BC7_UNORM", block, 2, 0) == of_bytes(120, 68, 1, 254)));  // (30 a + 34 b + 32) / 64
  CHECK((decode("BC7_UNORM_SRGB", block, 1, 0) == of(0, linear_of_srgb(128 / 255.0), 0, 254 / 255.0)));
  block[0] = std::byte{0};  // invalid mode
  CHECK((decode("BC7_UNORM", block, 1, 1) == of(0, 0, 0, 0)));
}

TEST_CASE("BC6H by hand") {
  // Mode 3: 5 bits of mode, ten bits each for red, green, blue of two endpoints; four bits of index.
  Block block(16);
  const auto set = [&](unsigned first, unsigned count, unsigned value) {
    for (unsigned i = 0; i < count; ++i)
      block[(first + i) / 8] |= static_cast<std::byte>((value >> i & 1) << (first + i) % 8);
  };
  set(0, 5, 3);
  set(5, 10, 1023);  // red: the maximum, 0xffff of the scale, which is 0x7bff in f16
  set(15, 10, 480);  // green: (480 * 64 + 32) * 31 / 64 is 0x3a2f
  CHECK((decode("BC6H_UF16", block, 0, 0) == of(65504, 0.5 * (1 + 559 / 1024.0), 0, 1)));
  // Signed, the ten-bit red is -1: -((1 << 15) + 0x4000 >> 9) = -96, times 31 / 32 is -93: f16 0x805d.
  CHECK((decode("BC6H_SF16", block, 0, 0)[0] == f32(std::ldexp(-93, -24))));
  // Mode 15 has 16-bit endpoints, with the upper six bits of red at bits 39 to 44, the highest first: -0x8000
  // and, since the difference is 0, the same again.
  Block lowest(16);
  lowest[0] = std::byte{0x0f};
  lowest[39 / 8] = static_cast<std::byte>(1u << 39 % 8);
  CHECK((decode("BC6H_SF16", lowest, 2, 2) == of(-HUGE_VAL, 0, 0, 1)));
  for (unsigned reserved : {0x13u, 0x17u, 0x1bu, 0x1fu}) {
    block[0] = static_cast<std::byte>(reserved);
    CHECK((decode("BC6H_UF16", block, 1, 1) == of(0, 0, 0, 1)));
    CHECK((decode("BC6H_SF16", block, 1, 1) == of(0, 0, 0, 1)));
  }
}

TEST_CASE("ETC by hand") {
  // Individual mode, side by side: (17, 34, 51) with table 0 and (136, 153, 170) with table 7; all indices
  // are 0: + 2, + 47.
  const Block individual = big_endian(0x18'29'3a'1c'00000000);
  CHECK((decode("ETC1_RGB8", individual, 1, 3) == of_bytes(19, 36, 53)));
  CHECK((decode("ETC2_RGB8", individual, 2, 0) == of_bytes(183, 200, 217)));
  CHECK((decode("ETC2_SRGB8", individual, 0, 0) ==
         of(linear_of_srgb(19 / 255.0), linear_of_srgb(36 / 255.0), linear_of_srgb(53 / 255.0), 1)));
  // The same, one above the other, and index 3 for texel (1, 2): - 183.
  const Block flipped = big_endian(0x18'29'3a'1d'00400040);
  CHECK((decode("ETC1_RGB8", flipped, 3, 1) == of_bytes(19, 36, 53)));
  CHECK((decode("ETC1_RGB8", flipped, 1, 2) == of_bytes(0, 0, 0)));
  // Planar mode, because blue 31 + 3 overflows: blue of the origin is 30 of 6 bits, all else is 0.
  const Block planar = big_endian(0x00'00'fb'02'00000000);
  CHECK((decode("ETC2_RGB8", planar, 0, 0) == of_bytes(0, 0, 121)));
  CHECK((decode("ETC2_RGB8", planar, 1, 0) == of_bytes(0, 0, 91)));
  CHECK((decode("ETC2_RGB8", planar, 1, 1) == of_bytes(0, 0, 61)));
  CHECK((decode("ETC2_RGB8_PTA", planar, 3, 3) == of_bytes(0, 0, 0)));
  // Punch-through with the opaque bit clear: index 2 is transparent, index 0 the base colour.
  const Block punch = big_endian(0x08'08'08'00'00010000);
  CHECK((decode("ETC2_RGB8_PTA", punch, 0, 0) == of(0, 0, 0, 0)));
  CHECK((decode("ETC2_RGB8_PTA", punch, 0, 1) == of_bytes(8, 8, 8)));
  CHECK((decode("ETC2_SRGB8_PTA", punch, 0, 0) == of(0, 0, 0, 0)));
  // EAC: base 100, multiplier 2, table 0; all indices are 0 (-3) except the last, 7 (14).
  Block eac = big_endian(0x64'20'000000000007);
  CHECK((decode("EAC_R11", eac, 0, 0) == of((804 - 48) / 2047.0, 0, 0, 1)));
  CHECK((decode("EAC_R11", eac, 3, 3) == of((804 + 224) / 2047.0, 0, 0, 1)));
  CHECK((decode("EAC_SIGNED_R11", eac, 0, 0) == of((800 - 48) / 1023.0, 0, 0, 1)));
  CHECK((decode("EAC_SIGNED_R11", eac, 3, 3) == of(1, 0, 0, 1)));
  // With multiplier 0 the steps are those of the 11-bit values; -128 is treated as -127.
  CHECK((decode("EAC_R11", big_endian(0x64'00'000000000000), 0, 0) == of(801 / 2047.0, 0, 0, 1)));
  CHECK((decode("EAC_SIGNED_R11", big_endian(0x80'00'000000000007), 3, 3) == of(-1002 / 1023.0, 0, 0, 1)));
  Block two = eac;
  for (std::byte b : big_endian(0x64'00'000000000000)) two.push_back(b);
  CHECK((decode("EAC_RG11", two, 0, 0) == of((804 - 48) / 2047.0, 801 / 2047.0, 0, 1)));
  CHECK((decode("EAC_SIGNED_RG11", two, 0, 0) == of((800 - 48) / 1023.0, 797 / 1023.0, 0, 1)));
  for (std::byte b : individual) eac.push_back(b);
  CHECK((decode("ETC2_EAC_RGBA8", eac, 1, 3) == of_bytes(19, 36, 53, 94)));
  CHECK(
      (decode("ETC2_EAC_SRGB8_A8", eac, 3, 3) == of(linear_of_srgb(183 / 255.0), linear_of_srgb(200 / 255.0),
                                                    linear_of_srgb(217 / 255.0), 128 / 255.0)));
}

TEST_CASE("compressed formats against Mesa") {
  std::ifstream file(EUMULATE_SOURCE_DIR "/tests/memory/image/compressed_vectors.txt");
  REQUIRE(file);
  std::string line;
  int vectors = 0;
  while (std::getline(file, line)) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string format, block_text, texels;
    words >> format >> block_text >> texels;
    CAPTURE(line);
    const auto number = [](const std::string& text, std::size_t first, std::size_t count) {
      return static_cast<unsigned>(std::stoul(text.substr(first, count), nullptr, 16));
    };
    Block block;
    for (std::size_t i = 0; i < block_text.size(); i += 2)
      block.push_back(static_cast<std::byte>(number(block_text, i, 2)));
    const bool half = format.starts_with("BC6H"), eac = format.starts_with("EAC");
    const std::size_t digits = half || eac ? 4 : 2, channels = half ? 3 : eac ? 1 : 4;
    REQUIRE(texels.size() == 16 * digits * channels);
    for (std::size_t i = 0; i < 16 * channels; ++i) {
      const auto texel = static_cast<unsigned>(i / channels);
      const unsigned value = number(texels, i * digits, digits);
      std::uint32_t expected = 0;
      if (half) {
        const Block bits = bytes({value & 255, value >> 8});
        expected = find_format("R16_FLOAT")->decode(bits.data(), 0, 0)[0];
      } else if (format.starts_with("EAC_SIGNED")) {
        expected = f32(static_cast<std::int16_t>(value) / 1023.0);
      } else {
        expected = f32(value / (eac ? 2047.0 : 255.0));
      }
      CAPTURE(texel, i % channels);
      REQUIRE(decode(format, block, texel % 4, texel / 4)[i % channels] == expected);
    }
    ++vectors;
  }
  CHECK(vectors == 84);
}

TEST_CASE("compressed formats have the codes and blocks of the manual") {
  const struct {
    std::string_view name;
    FormatCode code;
    unsigned bytes;
  } facts[] = {{"DXT1_RGB_SRGB", 384, 8},    {"BC1_UNORM", 390, 8},       {"BC2_UNORM", 391, 16},
               {"BC3_UNORM", 392, 16},       {"BC4_UNORM", 393, 8},       {"BC5_UNORM", 394, 16},
               {"BC1_UNORM_SRGB", 395, 8},   {"BC2_UNORM_SRGB", 396, 16}, {"BC3_UNORM_SRGB", 397, 16},
               {"DXT1_RGB", 401, 8},         {"BC4_SNORM", 409, 8},       {"BC5_SNORM", 410, 16},
               {"BC6H_SF16", 417, 16},       {"BC7_UNORM", 418, 16},      {"BC7_UNORM_SRGB", 419, 16},
               {"BC6H_UF16", 420, 16},       {"ETC1_RGB8", 425, 8},       {"ETC2_RGB8", 426, 8},
               {"EAC_R11", 427, 8},          {"EAC_RG11", 428, 16},       {"EAC_SIGNED_R11", 429, 8},
               {"EAC_SIGNED_RG11", 430, 16}, {"ETC2_SRGB8", 431, 8},      {"ETC2_RGB8_PTA", 448, 8},
               {"ETC2_SRGB8_PTA", 449, 8},   {"ETC2_EAC_RGBA8", 450, 16}, {"ETC2_EAC_SRGB8_A8", 451, 16}};
  for (const auto& fact : facts) {
    CAPTURE(fact.name);
    const FormatInfo* info = find_format(fact.name);
    REQUIRE(info != nullptr);
    CHECK(info->code == fact.code);
    CHECK(find_format(fact.code) == info);
    CHECK(info->bytes == fact.bytes);
    CHECK(info->block_width == 4);
    CHECK(info->block_height == 4);
    CHECK(info->encode == nullptr);
    CHECK_FALSE(info->writable);
    CHECK_FALSE(info->integer);
  }
  std::size_t blocks = 0;
  for (const FormatInfo& info : formats()) blocks += info.block_width == 4 ? 1 : 0;
  CHECK(blocks == std::size(facts));
}
