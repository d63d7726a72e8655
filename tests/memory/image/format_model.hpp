#pragma once
// The value of a texel by the definition of its format, in double arithmetic: the independent side of
// format_test.cpp. Shares nothing with memory/ but the order of the four channels; its facts are those of
// format_facts.def.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace format_model {

using Texel = std::array<std::uint32_t, 4>;
using Bytes = std::array<unsigned char, 16>;

inline std::uint32_t f32_bits(double d) { return std::bit_cast<std::uint32_t>(static_cast<float>(d)); }
inline double f32_value(std::uint32_t bits) { return std::bit_cast<float>(bits); }

inline bool is_nan(std::uint32_t f32) { return (f32 & 0x7fffffff) > 0x7f800000; }

struct Channel {
  char letter = 'x';  // r g b a l i x
  std::string kind;
  unsigned first = 0, bits = 0;
  bool srgb = false;

  bool number() const { return kind[0] == 'u' || kind[0] == 's'; }
  bool integer() const { return kind == "ui" || kind == "si"; }
};

struct Format {
  std::string_view name;
  unsigned code = 0, bits = 0;
  std::vector<Channel> channels;

  bool integer() const {
    return std::any_of(channels.begin(), channels.end(), [](const Channel& c) { return c.integer(); });
  }
  bool shared_exponent() const { return channels[0].kind == "se"; }
};

inline std::vector<Channel> parse_channels(std::string_view text, bool srgb) {
  std::vector<Channel> channels;
  unsigned first = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    Channel c;
    c.letter = word[0];
    const std::size_t digits = word.find_first_of("0123456789");
    c.kind = word.substr(2, digits - 2);
    c.bits = static_cast<unsigned>(std::stoul(std::string(word.substr(digits))));
    c.first = first;
    c.srgb = srgb && c.letter != 'a';
    first += c.bits;
    channels.push_back(c);
  }
  return channels;
}

inline const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
#define FACT(name, code, bits, channels, srgb) {#name, code, bits, parse_channels(channels, srgb)},
#include "tests/memory/image/format_facts.def"
#undef FACT
  };
  return all;
}

// Texels as bit arrays.

inline std::uint32_t get_bits(const Bytes& bytes, unsigned first, unsigned count) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < count; ++i) value |= (bytes[(first + i) / 8] >> (first + i) % 8 & 1u) << i;
  return value;
}

inline void set_bits(Bytes& bytes, unsigned first, unsigned count, std::uint32_t value) {
  for (unsigned i = 0; i < count; ++i) {
    unsigned char& byte = bytes[(first + i) / 8];
    const unsigned bit = (first + i) % 8;
    byte = static_cast<unsigned char>((byte & ~(1u << bit)) | (value >> i & 1u) << bit);
  }
}

// Single channels.

inline double most(const Channel& c) {
  return std::ldexp(1.0, static_cast<int>(c.bits) - (c.kind == "sn" ? 1 : 0)) - 1;
}

inline std::int64_t signed_value(const Channel& c, std::uint32_t x) {
  const std::int64_t range = std::int64_t{1} << c.bits;
  return x >= range / 2 ? x - range : x;
}

inline long double linear_of_srgb(long double c) {
  return c <= 0.04045L ? c / 12.92L : std::pow((c + 0.055L) / 1.055L, 2.4L);
}
inline long double srgb_of_linear(long double l) {
  return l <= 0.0031308L ? l * 12.92L : 1.055L * std::pow(l, 1 / 2.4L) - 0.055L;
}

/// Mantissa bits of a float with five exponent bits and, for kind "sf", a sign above them.
inline unsigned mantissa_bits(const Channel& c) { return c.bits - 5 - (c.kind == "sf" ? 1 : 0); }

inline std::uint32_t decode(const Channel& c, std::uint32_t x) {
  if (c.kind == "un") {
    const double value = x / most(c);
    return c.srgb ? f32_bits(static_cast<double>(linear_of_srgb(x / static_cast<long double>(most(c)))))
                  : f32_bits(value);
  }
  if (c.kind == "sn") return f32_bits(std::max(static_cast<double>(signed_value(c, x)) / most(c), -1.0));
  if (c.kind == "si") return static_cast<std::uint32_t>(signed_value(c, x));
  if (c.kind == "ui" || c.bits == 32) return x;
  const unsigned mantissa = mantissa_bits(c);
  const std::uint32_t fraction = x % (1u << mantissa), exponent = x >> mantissa & 31;
  const double sign = c.kind == "sf" && x >> (c.bits - 1) != 0 ? -1 : 1;
  if (exponent == 31 && fraction != 0)  // the payload is kept, the NaN becomes quiet
    return (sign < 0 ? 0xff800000 : 0x7f800000) | 0x400000 | fraction << (23 - mantissa);
  if (exponent == 31) return f32_bits(sign * std::numeric_limits<double>::infinity());
  const double significand = std::ldexp(fraction, -static_cast<int>(mantissa));
  if (exponent == 0) return f32_bits(sign * std::ldexp(significand, -14));
  return f32_bits(sign * std::ldexp(1 + significand, static_cast<int>(exponent) - 15));
}

inline std::uint32_t encode(const Channel& c, std::uint32_t f) {
  if (c.kind == "ui") return static_cast<std::uint32_t>(std::min<double>(f, most(c)));
  if (c.kind == "si") {
    const double half = std::ldexp(1.0, static_cast<int>(c.bits) - 1);
    const auto value =
        static_cast<std::int64_t>(std::clamp<double>(static_cast<std::int32_t>(f), -half, half - 1));
    return static_cast<std::uint32_t>(value & static_cast<std::int64_t>(2 * half - 1));
  }
  if (c.kind == "sf" && c.bits == 32) return f;
  const double x = f32_value(f);
  const std::uint32_t all = static_cast<std::uint32_t>(std::ldexp(1.0, static_cast<int>(c.bits)) - 1);
  if (c.kind == "un" || c.kind == "sn") {
    if (is_nan(f)) return 0;
    const double clamped = std::clamp(x, c.kind == "un" ? 0.0 : -1.0, 1.0);
    if (c.srgb)
      return static_cast<std::uint32_t>(
          std::nearbyint(srgb_of_linear(clamped) * static_cast<long double>(most(c))));
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(std::nearbyint(clamped * most(c)))) & all;
  }
  const unsigned mantissa = mantissa_bits(c);
  const bool has_sign = c.kind == "sf";
  const std::uint32_t sign = has_sign && f >> 31 != 0 ? 1u << (c.bits - 1) : 0, infinity = 31u << mantissa;
  if (is_nan(f))
    return sign | infinity | 1u << (mantissa - 1) | (f >> (23 - mantissa) & ((1u << mantissa) - 1));
  if (!has_sign && x < 0) return 0;
  if (std::isinf(x)) return sign | infinity;
  if (x == 0) return sign;
  // Representable numbers are multiples of the last place of their binade, or of the least number.
  const int binade = std::max(std::ilogb(x), -14);
  const double last_place = std::ldexp(1.0, binade - static_cast<int>(mantissa));
  const double rounded = std::nearbyint(std::abs(x) / last_place) * last_place;
  const double largest = std::ldexp(2 - std::ldexp(1.0, -static_cast<int>(mantissa)), 15);
  if (rounded > largest) return has_sign ? sign | infinity : infinity - 1;
  if (rounded < std::ldexp(1.0, -14))
    return sign | static_cast<std::uint32_t>(std::ldexp(rounded, 14 + static_cast<int>(mantissa)));
  const int exponent = std::ilogb(rounded);
  const double fraction = std::ldexp(rounded, -exponent) - 1;
  return sign | static_cast<std::uint32_t>(exponent + 15) << mantissa |
         static_cast<std::uint32_t>(std::ldexp(fraction, static_cast<int>(mantissa)));
}

// Whole texels.

inline std::string outputs(char letter) {
  return letter == 'l' ? "rgb" : letter == 'i' ? "rgba" : std::string(1, letter);
}

inline Texel decode(const Format& format, const Bytes& bytes) {
  Texel texel = {0, 0, 0, format.integer() ? 1 : f32_bits(1)};
  const double scale = std::ldexp(1.0, static_cast<int>(get_bits(bytes, 27, 5)) - 24);
  for (const Channel& c : format.channels) {
    if (c.kind == "x") continue;
    const std::uint32_t bits = get_bits(bytes, c.first, c.bits);
    for (char letter : outputs(c.letter))
      texel[std::string_view("rgba").find(letter)] =
          c.kind == "se" ? f32_bits(bits * scale) : decode(c, bits);
  }
  return texel;
}

/// OpenGL 4.6, 8.5.2: the exponent is that of the largest channel.
inline Bytes encode_shared_exponent(const Texel& texel) {
  std::array<double, 3> c{};
  for (std::size_t k = 0; k < 3; ++k)
    c[k] = is_nan(texel[k]) ? 0 : std::clamp(f32_value(texel[k]), 0.0, 65408.0);
  const double largest = *std::max_element(c.begin(), c.end());
  int exponent = std::max(-16, largest > 0 ? std::ilogb(largest) : -16) + 16;
  if (std::floor(std::ldexp(largest, 24 - exponent) + 0.5) == 512) ++exponent;
  Bytes bytes{};
  for (unsigned k = 0; k < 3; ++k)
    set_bits(bytes, 9 * k, 9, static_cast<std::uint32_t>(std::floor(std::ldexp(c[k], 24 - exponent) + 0.5)));
  set_bits(bytes, 27, 5, static_cast<std::uint32_t>(exponent));
  return bytes;
}

inline Bytes encode(const Format& format, const Texel& texel) {
  if (format.shared_exponent()) return encode_shared_exponent(texel);
  Bytes bytes{};
  for (const Channel& c : format.channels)
    if (c.kind != "x")
      set_bits(bytes, c.first, c.bits, encode(c, texel[std::string_view("rgba").find(outputs(c.letter)[0])]));
  return bytes;
}

}  // namespace format_model
