#pragma once
// Parses the layout of a texel from the name of its format at compile time. It must not know how a channel's
// bits become a number.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "memory/image/format.hpp"

namespace eum::mem::image {

struct TexelLayout {
  std::uint8_t bits = 0;
  std::array<ChannelLayout, 4> channels{};

  constexpr unsigned bytes() const { return bits / 8u; }
};

/// The first channel that has bits, or one without bits if there is none.
constexpr ChannelLayout first_channel(const TexelLayout& layout) {
  for (const ChannelLayout& channel : layout.channels)
    if (channel.bits != 0) return channel;
  return {};
}

namespace format_name {

inline constexpr std::array<std::string_view, 8> kinds = {"TYPELESS", "UNORM", "SNORM", "UINT",
                                                          "SINT",     "FLOAT", "SRGB",  "SHAREDEXP"};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Bit k is set if output channel k takes the channel that `letter` stands for.
constexpr unsigned channels_of(char letter) {
  switch (letter) {
    case 'R':
      return 1;
    case 'G':
      return 2;
    case 'B':
      return 4;
    case 'A':
      return 8;
    case 'L':
      return 7;
    case 'I':
      return 15;
    case 'X':  // bits without meaning
    case 'E':  // the shared exponent
      return 0;
    default:
      throw "a letter that no channel has";
  }
}

}  // namespace format_name

/// The words of a name list channels with their bits, from the lowest bit on ("R8G8"), each followed by their
/// kind ("UNORM"); SRGB at the end applies to the colours before it. A name of any other form does not
/// compile.
consteval TexelLayout parse_format_name(std::string_view name) {
  using namespace format_name;
  TexelLayout layout;
  if (name == "RAW") return {8, {}};  // bytes
  std::array<bool, 4> pending{};      // has bits but no kind yet
  while (!name.empty()) {
    const std::string_view word = name.substr(0, name.find('_'));
    name.remove_prefix(word.size() == name.size() ? word.size() : word.size() + 1);
    if (word.size() > 1 && is_digit(word[1])) {
      for (std::size_t i = 0; i < word.size();) {
        const unsigned channels = channels_of(word[i++]);
        unsigned bits = 0;
        while (i < word.size() && is_digit(word[i]))
          bits = bits * 10 + static_cast<unsigned>(word[i++] - '0');
        for (unsigned k = 0; k < 4; ++k) {
          if ((channels >> k & 1) == 0) continue;
          if (layout.channels[k].bits != 0) throw "a channel twice";
          layout.channels[k] = {layout.bits, static_cast<std::uint8_t>(bits), ChannelKind::None};
          pending[k] = true;
        }
        layout.bits = static_cast<std::uint8_t>(layout.bits + bits);
      }
      continue;
    }
    std::size_t kind = 0;
    while (kinds.at(kind) != word) ++kind;  // beyond the end: not a constant expression
    for (unsigned k = 0; k < 4; ++k) {
      const bool colour_of_srgb = static_cast<ChannelKind>(kind) == ChannelKind::SRGB && k < 3 &&
                                  layout.channels[k].kind == ChannelKind::UNORM;
      if (pending[k] || colour_of_srgb) layout.channels[k].kind = static_cast<ChannelKind>(kind);
      pending[k] = false;
    }
  }
  for (const ChannelLayout& channel : layout.channels)
    if ((channel.bits != 0) != (channel.kind != ChannelKind::None)) throw "a channel without a kind";
  if (layout.bits == 0 || layout.bits % 8 != 0) throw "not whole bytes";
  return layout;
}

}  // namespace eum::mem::image
