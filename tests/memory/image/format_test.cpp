// Formats against the model of format_model.hpp: every value of each channel of up to 16 bits, samples of
// wider ones, and conversion of numbers to each kind of channel. Mismatches are counted and asserted once, so
// that millions of values do not cost an assertion each.
#include <catch2/catch.hpp>

#include <cfenv>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "memory/image/format.hpp"
#include "tests/memory/image/format_model.hpp"

using namespace eum::mem;
using format_model::Bytes;
using format_model::Channel;
using format_model::Format;
using format_model::Texel;

namespace {

const std::byte* data(const Bytes& bytes) { return reinterpret_cast<const std::byte*>(bytes.data()); }

Bytes encoded(const image::FormatInfo& info, const Texel& texel) {
  Bytes bytes{};
  info.encode(texel, reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

const image::FormatInfo& info_of(const Format& format) {
  const image::FormatInfo* info = image::find_format(format.name);
  REQUIRE(info != nullptr);
  return *info;
}

Bytes random_bytes(std::mt19937_64& random) {
  const std::array<std::uint64_t, 2> words = {random(), random()};
  Bytes bytes;
  std::memcpy(bytes.data(), words.data(), sizeof bytes);
  return bytes;
}

/// The result of encode(decode(x)) for a channel: x, except that SNORM has two encodings of -1, and a NaN
/// becomes quiet.
std::uint32_t canonical(const Channel& c, std::uint32_t x) {
  if (c.kind == "sn" && x == 1u << (c.bits - 1)) return x + 1;
  if ((c.kind == "sf" || c.kind == "uf") && c.bits < 32) {
    const unsigned mantissa = format_model::mantissa_bits(c);
    if ((x >> mantissa & 31) == 31 && x % (1u << mantissa) != 0) return x | 1u << (mantissa - 1);
  }
  return x;
}

Bytes canonical(const Format& format, const Bytes& bytes) {
  Bytes result{};
  for (const Channel& c : format.channels)
    if (c.kind != "x")
      format_model::set_bits(result, c.first, c.bits,
                             canonical(c, format_model::get_bits(bytes, c.first, c.bits)));
  return result;
}

/// f32 values that matter to channels: any bits, numbers around 0 to 1, half steps of each width, and the
/// neighbours of all these.
std::uint32_t random_float(std::mt19937_64& random) {
  const std::uint64_t r = random();
  const auto bits = static_cast<std::uint32_t>(r >> 32);
  if ((r & 3) == 0) return bits;
  double value = 0;
  if ((r & 3) == 1) {
    value = std::ldexp(bits, -32) * 2.5 - 1.25;
  } else {
    const double most = std::ldexp(1.0, static_cast<int>(1 + (r >> 2 & 15))) - 1;
    value = (std::floor(std::ldexp(bits, -32) * most) + 0.5 * static_cast<double>(r >> 6 & 1)) / most;
  }
  if ((r >> 7 & 1) != 0) value = std::ldexp(value, static_cast<int>(r >> 8 & 63) - 40);
  if ((r >> 14 & 1) != 0) value = -value;
  return format_model::f32_bits(value) + static_cast<std::uint32_t>(r >> 15 & 3) - 1;
}

}  // namespace

TEST_CASE("every format has the code, the size and the channels of the manual") {
  std::set<std::string_view> known = {"RAW"};
  for (const Format& format : format_model::formats()) {
    CAPTURE(format.name);
    known.insert(format.name);
    const image::FormatInfo& info = info_of(format);
    CHECK(info.code == format.code);
    CHECK(image::find_format(info.code) == &info);
    CHECK(info.bytes * 8u == format.bits);
    CHECK(info.integer == format.integer());
    CHECK(info.block_width == 1);
    CHECK(info.block_height == 1);
    std::array<image::ChannelLayout, 4> expected{};
    for (const Channel& c : format.channels) {
      if (c.kind == "x") continue;
      using enum image::ChannelKind;
      static const std::map<std::string_view, image::ChannelKind> kinds = {
          {"un", UNORM}, {"sn", SNORM}, {"ui", UINT},     {"si", SINT},
          {"sf", FLOAT}, {"uf", FLOAT}, {"se", SHAREDEXP}};
      for (char letter : format_model::outputs(c.letter))
        expected[std::string_view("rgba").find(letter)] = {static_cast<std::uint8_t>(c.first),
                                                           static_cast<std::uint8_t>(c.bits),
                                                           c.srgb ? SRGB : kinds.at(c.kind)};
    }
    CHECK((info.channels == expected));
  }
  for (const image::FormatInfo& info : image::formats())
    if (info.block_width == 1) CHECK(known.count(info.name) == 1);
}

TEST_CASE("what no format is, is none") {
  CHECK(image::find_format(image::FormatCode{0x1fe}) == nullptr);
  CHECK(image::find_format(image::FormatCode{0x200}) == nullptr);
  CHECK(image::find_format(image::FormatCode{0xffff}) == nullptr);
  CHECK(image::find_format("R8G8B8A8_unorm") == nullptr);
  CHECK(image::find_format("") == nullptr);
}

TEST_CASE("typed messages take the formats that the data port of Gen9 takes") {
  const auto access = [](std::string_view name) {
    const image::FormatInfo* info = image::find_format(name);
    return std::pair(info->writable, info->readable);
  };
  CHECK((access("R32_UINT") == std::pair(true, true)));
  CHECK((access("R16G16B16A16_FLOAT") == std::pair(true, true)));
  CHECK((access("R8G8B8A8_UNORM") == std::pair(true, false)));
  CHECK((access("R11G11B10_FLOAT") == std::pair(true, false)));
  CHECK((access("R8G8B8A8_UNORM_SRGB") == std::pair(false, false)));
  CHECK((access("R32G32B32_FLOAT") == std::pair(false, false)));
  CHECK((access("RAW") == std::pair(false, false)));
}

TEST_CASE("a texel is decoded as its format defines, and encoded back") {
  std::mt19937_64 random(9);
  for (const Format& format : format_model::formats()) {
    const image::FormatInfo& info = info_of(format);
    CAPTURE(format.name);
    std::size_t wrong = 0;
    std::string example;
    const auto check = [&](const Bytes& bytes) {
      const Texel decoded = info.decode(data(bytes), 0, 0);
      if (decoded != format_model::decode(format, bytes)) {
        ++wrong;
        example = "decode " + Catch::StringMaker<Texel>::convert(decoded) + " expected " +
                  Catch::StringMaker<Texel>::convert(format_model::decode(format, bytes));
      }
      const Bytes back = encoded(info, decoded);
      // With a shared exponent, several bit patterns encode the same colour.
      const bool same = format.shared_exponent() ? info.decode(data(back), 0, 0) == decoded
                                                 : back == canonical(format, bytes);
      if (!same) {
        ++wrong;
        example = "encode of " + Catch::StringMaker<Texel>::convert(decoded);
      }
    };
    for (const Channel& c : format.channels) {
      const std::uint32_t values = c.bits <= 16 ? 1u << c.bits : 1u << 14;
      for (std::uint32_t i = 0; i < values; i += EUMULATE_STEP) {
        Bytes bytes = random_bytes(random);
        if (c.bits <= 16) format_model::set_bits(bytes, c.first, c.bits, i);
        check(bytes);
      }
    }
    CAPTURE(example);
    CHECK(wrong == 0);
  }
}

TEST_CASE("a number is encoded as its format defines") {
  std::mt19937_64 random(10);
  std::set<std::string> seen;  // kinds of channel that were sampled sufficiently
  for (const Format& format : format_model::formats()) {
    const image::FormatInfo& info = info_of(format);
    CAPTURE(format.name);
    bool is_new = false;
    for (const Channel& c : format.channels)
      is_new |=
          c.kind != "x" && seen.insert(c.kind + std::to_string(c.bits) + (c.srgb ? " sRGB" : "")).second;
    std::size_t wrong = 0;
    std::string example;
    const std::uint32_t count = is_new ? 1u << 16 : 1u << 9;
    for (std::uint32_t i = 0; i < count; i += EUMULATE_STEP) {
      Texel texel;
      for (std::uint32_t& channel : texel) {
        channel = random_float(random);
        if (info.integer && (channel & 8) != 0)
          channel = static_cast<std::uint32_t>(static_cast<std::int32_t>(channel) >> 15);
      }
      if (encoded(info, texel) == format_model::encode(format, texel)) continue;
      ++wrong;
      example = Catch::StringMaker<Texel>::convert(texel);
    }
    CAPTURE(example);
    CHECK(wrong == 0);
  }
}

TEST_CASE("wide channels are decoded exactly") {
  std::mt19937_64 random(11);
  for (std::string_view name :
       {"R24_UNORM_X8_TYPELESS", "R32_FLOAT", "R32_SINT", "R32_UINT", "R9G9B9E5_SHAREDEXP"}) {
    const auto& all = format_model::formats();
    const auto format = std::find_if(all.begin(), all.end(), [&](const Format& f) { return f.name == name; });
    REQUIRE(format != all.end());
    const image::FormatInfo& info = info_of(*format);
    std::size_t wrong = 0;
    constexpr std::uint32_t samples = EUMULATE_STEP == 1 ? 1u << 24 : 1u << 18;
    for (std::uint32_t i = 0; i < samples; ++i) {
      const Bytes bytes = random_bytes(random);
      wrong += info.decode(data(bytes), 0, 0) != format_model::decode(*format, bytes) ? 1 : 0;
    }
    CAPTURE(name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("numbers beyond a channel's range") {
  const auto encode = [](std::string_view name, std::uint32_t red) {
    return format_model::get_bits(encoded(*image::find_format(name), {red, 0, 0, 0}), 0, 32);
  };
  const std::uint32_t nan = 0xffc00000, infinity = 0x7f800000, minus_infinity = 0xff800000;
  CHECK(encode("R8_UNORM", nan) == 0);
  CHECK(encode("R8_UNORM", infinity) == 255);
  CHECK(encode("R8_UNORM", minus_infinity) == 0);
  CHECK(encode("R8_UNORM", 0x7f7fffff) == 255);
  CHECK(encode("R8_SNORM", minus_infinity) == 0x81);
  CHECK(encode("R8_SNORM", nan) == 0);
  CHECK(encode("R8_UINT", 256) == 255);
  CHECK(encode("R8_SINT", 128) == 127);
  CHECK(encode("R8_SINT", 0xffffff00) == 0x80);
  CHECK(encode("R16_FLOAT", 0x477ff000) == 0x7c00);  // 65520: midway between the largest number and 2^16
  CHECK(encode("R16_FLOAT", 0x477fefff) == 0x7bff);  // just below
  CHECK(encode("R16_FLOAT", 0x33000000) == 0);       // 2^-25, a tie between 0 and the least number
  CHECK(encode("R16_FLOAT", 0x33000001) == 1);
  CHECK(encode("R11G11B10_FLOAT", 0x7f7fffff) == 0x7bf);  // the largest number, not infinity
  CHECK(encode("R11G11B10_FLOAT", infinity) == 0x7c0);
  CHECK(encode("R11G11B10_FLOAT", minus_infinity) == 0);
  CHECK(encode("R11G11B10_FLOAT", nan) == 0x7e0);
  CHECK(encode("R8G8B8_UNORM_SRGB", nan) == 0);
}

TEST_CASE("sRGB is right to the last bit on the way in and to half a step on the way out") {
  const image::FormatInfo& srgb = *image::find_format("L8_UNORM_SRGB");
  double worst = 0;
  for (int i = 0; i < 1 << 20; i += EUMULATE_STEP) {
    const float linear = static_cast<float>(i) / (1 << 20);
    const double exact = static_cast<double>(format_model::srgb_of_linear(linear)) * 255;
    const Bytes bytes = encoded(srgb, {std::bit_cast<std::uint32_t>(linear), 0, 0, 0});
    worst = std::max(worst, std::abs(bytes[0] - exact));
  }
  CHECK(worst <= 0.5);
  for (int i = 0; i < 256; ++i) {
    const Bytes bytes = {static_cast<unsigned char>(i)};
    CHECK(srgb.decode(data(bytes), 0, 0)[0] ==
          format_model::f32_bits(static_cast<double>(format_model::linear_of_srgb(i / 255.0L))));
  }
}

TEST_CASE("formats do not follow the rounding mode of the host") {
  const image::FormatInfo& info = *image::find_format("R16_UNORM");
  const image::FormatInfo& srgb = *image::find_format("L8_UNORM_SRGB");
  const std::uint32_t third = format_model::f32_bits(1.0 / 3);
  const auto results = [&] {
    const Bytes bytes = {0x55, 0x51};
    return std::tuple(info.decode(data(bytes), 0, 0), srgb.decode(data(bytes), 0, 0),
                      encoded(info, {third, 0, 0, 0}), encoded(srgb, {third, 0, 0, 0}));
  };
  const auto expected = results();
  for (int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const auto found = results();
    std::fesetround(FE_TONEAREST);
    CHECK((found == expected));
  }
}

TEST_CASE("RAW has no channels") {
  const image::FormatInfo& raw = *image::find_format(image::format_raw);
  CHECK(raw.name == "RAW");
  CHECK(raw.bytes == 1);
  CHECK(raw.encode == nullptr);
  const Bytes bytes = {0xff};
  CHECK((raw.decode(data(bytes), 0, 0) == image::Texel{0, 0, 0, 0x3f800000}));
}
