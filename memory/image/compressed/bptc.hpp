#pragma once
// Parts shared by BC6H and BC7: partitions of a block into subsets, anchors, weights, and access to the bits
// of a block. The numbers are those of the format's definition (Khronos Data Format Specification 1.3, 20
// "BPTC").
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace eum::mem::image::compressed::bptc {

/// 128 bits, numbered from the lowest.
class BlockBits {
 public:
  explicit BlockBits(const std::byte* block) { std::memcpy(words_.data(), block, sizeof words_); }

  std::uint32_t at(unsigned first, unsigned count) const {  // up to 16 bits
    const unsigned shift = first % 64;
    std::uint64_t bits = words_[first / 64] >> shift;
    if (shift + count > 64) bits |= words_[1] << (64 - shift);
    return static_cast<std::uint32_t>(bits) & ((1u << count) - 1);
  }
  std::uint32_t take(unsigned count) {
    position_ += count;
    return at(position_ - count, count);
  }
  unsigned position() const { return position_; }

 private:
  std::array<std::uint64_t, 2> words_;
  unsigned position_ = 0;
};

/// Bit t is the subset of texel t = 4 * y + x.
inline constexpr std::array<std::uint16_t, 64> two_subsets = {
    0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80, 0xc800, 0xffec, 0xfe80, 0xe800, 0xffe8,
    0xff00, 0xfff0, 0xf000, 0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310, 0x3100, 0x8cce, 0x088c, 0x3110,
    0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c, 0xaaaa, 0xf0f0, 0x5a5a, 0x33cc, 0x3c3c, 0x55aa, 0x9696,
    0xa55a, 0x73ce, 0x13c8, 0x324c, 0x3bdc, 0x6996, 0xc33c, 0x9966, 0x0660, 0x0272, 0x04e4, 0x4e40, 0x2720,
    0xc936, 0x936c, 0x39c6, 0x639c, 0x9336, 0x9cc6, 0x817e, 0xe718, 0xccf0, 0x0fcc, 0x7744, 0xee22};

/// Bits 2t and 2t + 1 are the subset of texel t.
inline constexpr std::array<std::uint32_t, 64> three_subsets = {
    0xaa685050, 0x6a5a5040, 0x5a5a4200, 0x5450a0a8, 0xa5a50000, 0xa0a05050, 0x5555a0a0, 0x5a5a5050,
    0xaa550000, 0xaa555500, 0xaaaa5500, 0x90909090, 0x94949494, 0xa4a4a4a4, 0xa9a59450, 0x2a0a4250,
    0xa5945040, 0x0a425054, 0xa5a5a500, 0x55a0a0a0, 0xa8a85454, 0x6a6a4040, 0xa4a45000, 0x1a1a0500,
    0x0050a4a4, 0xaaa59090, 0x14696914, 0x69691400, 0xa08585a0, 0xaa821414, 0x50a4a450, 0x6a5a0200,
    0xa9a58000, 0x5090a0a8, 0xa8a09050, 0x24242424, 0x00aa5500, 0x24924924, 0x24499224, 0x50a50a50,
    0x500aa550, 0xaaaa4444, 0x66660000, 0xa5a0a5a0, 0x50a050a0, 0x69286928, 0x44aaaa44, 0x66666600,
    0xaa444444, 0x54a854a8, 0x95809580, 0x96969600, 0xa85454a8, 0x80959580, 0xaa141414, 0x96960000,
    0xaaaa1414, 0xa05050a0, 0xa0a5a5a0, 0x96000000, 0x40804080, 0xa9a8a9a8, 0xaaaaaa44, 0x2a4a5254};

/// Anchors, the texels whose index has one bit less; one hexadecimal digit per partition. In order: the
/// second subset of two, the second of three, the third of three. The first subset's anchor is texel 0.
inline constexpr std::string_view anchor_of_two =
    "fffffffffffffffff282288f28228822ff6828ff28222ff66268ff22fffff22f";
inline constexpr std::string_view second_anchor_of_three =
    "33ff83ff88666533338f336a588685ff8f356a8ff3f5ffff3f55585a5a8dfc33";
inline constexpr std::string_view third_anchor_of_three =
    "f883ff38fffffff8f8f3f8f83f6affa8f3faa89a6f8f3668f3ffffffffff3ff8";
static_assert(anchor_of_two.size() == 64 && second_anchor_of_three.size() == 64 &&
              third_anchor_of_three.size() == 64);

constexpr unsigned anchor(std::string_view anchors, unsigned partition) {
  const char digit = anchors[partition];
  return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

constexpr unsigned subset_of(unsigned subsets, unsigned partition, unsigned texel) {
  if (subsets == 1) return 0;
  return subsets == 2 ? two_subsets[partition] >> texel & 1u : three_subsets[partition] >> 2 * texel & 3u;
}

/// Index of a texel. The indices follow each other from bit `first` on, `bits` bits each, and one bit less
/// for each subset's anchor.
inline unsigned index_of(const BlockBits& block, unsigned first, unsigned bits, unsigned subsets,
                         unsigned partition, unsigned texel) {
  unsigned before = texel > 0 ? 1 : 0;  // anchors before it
  bool is_anchor = texel == 0;
  const auto see = [&](unsigned anchor_texel) {
    before += texel > anchor_texel ? 1 : 0;
    is_anchor |= texel == anchor_texel;
  };
  if (subsets == 2) see(anchor(anchor_of_two, partition));
  if (subsets == 3) {
    see(anchor(second_anchor_of_three, partition));
    see(anchor(third_anchor_of_three, partition));
  }
  return block.at(first + texel * bits - before, bits - (is_anchor ? 1 : 0));
}

/// Weight of the second endpoint, in 64ths, for indices of 2 to 4 bits.
constexpr int weight(unsigned bits, unsigned index) {
  constexpr std::array<std::uint8_t, 4> two = {0, 21, 43, 64};
  constexpr std::array<std::uint8_t, 8> three = {0, 9, 18, 27, 37, 46, 55, 64};
  constexpr std::array<std::uint8_t, 16> four = {0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64};
  return bits == 2 ? two[index] : bits == 3 ? three[index] : four[index];
}

constexpr int interpolate(int a, int b, int weight) { return (a * (64 - weight) + b * weight + 32) >> 6; }

}  // namespace eum::mem::image::compressed::bptc
