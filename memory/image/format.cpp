// The table of formats, and each format's decode and encode functions, derived from its layout.
#include "memory/image/format.hpp"

#include <algorithm>
#include <cstring>

#include "memory/image/channel.hpp"
#include "memory/image/compressed/block.hpp"
#include "memory/image/format_name.hpp"

namespace eum::mem::image {
namespace {

enum class Access : std::uint8_t { sampled, written, typed };

struct UncompressedRow {
  std::string_view name;
  FormatCode code;
  Access access;
  TexelLayout layout;
};

constexpr auto rows = std::to_array<UncompressedRow>({
#define FORMAT(name, code, access) {#name, code, Access::access, parse_format_name(#name)},
#define BLOCK_FORMAT(...)
#include "memory/image/formats.def"
#undef FORMAT
#undef BLOCK_FORMAT
});

/// Calls `f` with each output channel as a constant.
template <class F>
void for_each_channel(F f) {
  [&]<std::size_t... k>(std::index_sequence<k...>) { (f(std::integral_constant<std::size_t, k>()), ...); }
  (std::make_index_sequence<4>());
}

template <ChannelLayout channel>
std::uint32_t load(const std::byte* texel) {
  constexpr unsigned first = channel.bit / 8, end = (channel.bit + channel.bits + 7) / 8;
  std::uint64_t bits = 0;
  std::memcpy(&bits, texel + first, end - first);
  return static_cast<std::uint32_t>(bits >> (channel.bit % 8)) & channel::max_of(channel.bits);
}

template <ChannelLayout channel>
void store(std::uint32_t value, std::byte* texel) {
  constexpr unsigned first = channel.bit / 8, end = (channel.bit + channel.bits + 7) / 8;
  std::uint64_t bits = 0;
  std::memcpy(&bits, texel + first, end - first);
  bits |= std::uint64_t{value} << (channel.bit % 8);
  std::memcpy(texel + first, &bits, end - first);
}

template <std::size_t row>
Texel decode_texel(const std::byte* texel, unsigned, unsigned) {
  constexpr auto& channels = rows[row].layout.channels;
  constexpr bool integer = first_channel(rows[row].layout).kind == ChannelKind::UINT ||
                           first_channel(rows[row].layout).kind == ChannelKind::SINT;
  Texel result = {0, 0, 0, integer ? 1 : channel::f32_one};
  for_each_channel([&](auto k) {
    constexpr ChannelLayout channel = channels[k];
    if constexpr (channel.bits != 0)
      result[k] = channel::decode<channel.kind, channel.bits>(load<channel>(texel));
  });
  return result;
}

template <std::size_t row>
void encode_texel(const Texel& value, std::byte* texel) {
  constexpr auto& channels = rows[row].layout.channels;
  std::memset(texel, 0, rows[row].layout.bytes());
  for_each_channel([&](auto k) {
    constexpr ChannelLayout channel = channels[k];
    constexpr auto same = std::find(channels.begin(), channels.end(), channel);
    if constexpr (channel.bits != 0 && same == channels.begin() + k)  // not the bits of an earlier channel
      store<channel>(channel::encode<channel.kind, channel.bits>(value[k]), texel);
  });
}

// R9G9B9E5_SHAREDEXP (OpenGL 4.6, 8.25 and 8.5.2): a channel is mantissa * 2^(exponent - 24).

constexpr int shared_bias = 24;

Texel decode_shared_exponent(const std::byte* texel, unsigned, unsigned) {
  std::uint32_t bits;
  std::memcpy(&bits, texel, sizeof bits);
  const int exponent = static_cast<int>(bits >> 27) - shared_bias;
  return {channel::exact_float(bits & 511, exponent), channel::exact_float(bits >> 9 & 511, exponent),
          channel::exact_float(bits >> 18 & 511, exponent), channel::f32_one};
}

void encode_shared_exponent(const Texel& value, std::byte* texel) {
  constexpr std::uint32_t most = 0x477f8000;  // 511 * 2^7
  std::array<std::uint32_t, 3> clamped{};     // clamped to 0 and `most`; a NaN becomes 0
  for (std::size_t k = 0; k < 3; ++k)
    clamped[k] = value[k] > channel::f32_infinity ? 0 : std::min(value[k], most);
  // floor(c / 2^(exponent - 24) + 0.5)
  const auto mantissa = [](std::uint32_t c, std::uint32_t exponent) -> std::uint32_t {
    const std::uint32_t shift = exponent + 126 - (c >> 23);
    if (c >> 23 == 0 || shift > 25) return 0;
    return ((((c & 0x7fffff) | 0x800000) >> (shift - 1)) + 1) >> 1;
  };
  const std::uint32_t largest = *std::max_element(clamped.begin(), clamped.end());
  std::uint32_t exponent = std::max(largest >> 23, 111u) - 111;  // floor(log2) + 16, at least 0
  if (mantissa(largest, exponent) == 512) ++exponent;
  const std::uint32_t bits = mantissa(clamped[0], exponent) | mantissa(clamped[1], exponent) << 9 |
                             mantissa(clamped[2], exponent) << 18 | exponent << 27;
  std::memcpy(texel, &bits, sizeof bits);
}

template <std::size_t row>
constexpr FormatInfo make_info() {
  constexpr UncompressedRow r = rows[row];
  constexpr ChannelKind kind = first_channel(r.layout).kind;
  FormatInfo info;
  info.name = r.name;
  info.code = r.code;
  info.bytes = static_cast<std::uint8_t>(r.layout.bytes());
  info.kind = kind;
  info.integer = kind == ChannelKind::UINT || kind == ChannelKind::SINT;
  info.writable = r.access != Access::sampled;
  info.readable = r.access == Access::typed;
  info.channels = r.layout.channels;
  if constexpr (kind == ChannelKind::SHAREDEXP) {
    info.decode = decode_shared_exponent;
    info.encode = encode_shared_exponent;
  } else {
    info.decode = decode_texel<row>;
    if constexpr (kind != ChannelKind::None) info.encode = encode_texel<row>;
  }
  return info;
}

constexpr FormatInfo block_info(std::string_view name, FormatCode code, std::uint8_t bytes, ChannelKind kind,
                                decltype(FormatInfo::decode) decode) {
  FormatInfo info;
  info.name = name;
  info.code = code;
  info.bytes = bytes;
  info.block_width = info.block_height = 4;
  info.kind = kind;
  info.decode = decode;
  return info;
}

constexpr auto block_rows = [] {
  using enum ChannelKind;
  using namespace compressed;
  return std::to_array<FormatInfo>({
#define FORMAT(...)
#define BLOCK_FORMAT(name, code, bytes, kind, decode) block_info(#name, code, bytes, kind, decode),
#include "memory/image/formats.def"
#undef FORMAT
#undef BLOCK_FORMAT
  });
}();

constexpr auto table = [] {
  std::array<FormatInfo, rows.size() + block_rows.size()> result;
  const auto uncompressed = []<std::size_t... row>(std::index_sequence<row...>) {
    return std::array{make_info<row>()...};
  }
  (std::make_index_sequence<rows.size()>());
  std::copy(block_rows.begin(), block_rows.end(),
            std::copy(uncompressed.begin(), uncompressed.end(), result.begin()));
  return result;
}();

constexpr FormatCode codes = 512;
constexpr std::uint8_t no_row = 255;
static_assert(table.size() < no_row);

constexpr auto row_of_code = [] {
  std::array<std::uint8_t, codes> result{};
  result.fill(no_row);
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (result.at(table[i].code) != no_row) throw "two formats have one code";
    result[table[i].code] = static_cast<std::uint8_t>(i);
  }
  return result;
}();

}  // namespace

const FormatInfo* find_format(FormatCode code) {
  if (code >= codes || row_of_code[code] == no_row) return nullptr;
  return &table[row_of_code[code]];
}

const FormatInfo* find_format(std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const FormatInfo& f) { return f.name == name; });
  return found == table.end() ? nullptr : &*found;
}

std::span<const FormatInfo> formats() { return table; }

}  // namespace eum::mem::image
