#pragma once
// The 128 bits of an instruction, ranges of bits in them, and functions to read and write these. It must not
// know which fields an instruction has (layout.hpp).
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace eum::gen {

/// The 128 bits of an instruction.
struct InstructionWord {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  constexpr bool operator==(const InstructionWord&) const = default;
};

/// Up to five ranges of bits, most significant first; both ends are included. Empty if an encoding lacks the
/// field.
struct Bits {
  struct Range {
    std::uint8_t hi = 0;
    std::uint8_t lo = 0;
    constexpr bool operator==(const Range&) const = default;
  };
  Range ranges[5] = {};
  std::uint8_t count = 0;

  constexpr bool present() const { return count != 0; }
  constexpr unsigned width() const {
    unsigned sum = 0;
    for (unsigned i = 0; i < count; ++i) sum += ranges[i].hi - ranges[i].lo + 1u;
    return sum;
  }
};

inline constexpr Bits absent{};

/// bits(hi, lo, ...): pairs of inclusive ends, most significant pair first.
template <class... Ends>
requires(sizeof...(Ends) % 2 == 0 && sizeof...(Ends) <= 10) constexpr Bits bits(Ends... ends) {
  const std::uint8_t list[] = {static_cast<std::uint8_t>(ends)...};
  Bits out;
  out.count = sizeof...(Ends) / 2;
  for (unsigned i = 0; i < out.count; ++i) out.ranges[i] = {list[2 * i], list[2 * i + 1]};
  return out;
}

/// "88:85" or "95,72:64".
std::string to_string(const Bits& field);

constexpr std::uint64_t low_mask(unsigned width) { return width >= 64 ? ~0ull : (1ull << width) - 1; }

/// The value of field `B`; each range is within one 64-bit half.
template <Bits B>
constexpr std::uint64_t get(const InstructionWord& word) {
  static_assert(B.present(), "this encoding lacks the field");
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    std::uint64_t value = 0;
    (
        [&] {
          constexpr Bits::Range range = B.ranges[I];
          constexpr unsigned width = range.hi - range.lo + 1u;
          const std::uint64_t part =
              ((range.lo >= 64 ? word.high : word.low) >> (range.lo % 64)) & low_mask(width);
          if constexpr (I == 0)
            value = part;
          else
            value = value << width | part;
        }(),
        ...);
    return value;
  }
  (std::make_index_sequence<B.count>{});
}
template <Bits B>
constexpr std::uint8_t u8(const InstructionWord& word) {
  static_assert(B.width() <= 8);
  return static_cast<std::uint8_t>(get<B>(word));
}
template <Bits B>
constexpr bool flag(const InstructionWord& word) {
  static_assert(B.width() == 1);
  return get<B>(word) != 0;
}

/// Sets field `B`, whose bits are zero in `word`, to `value`.
template <Bits B>
constexpr void put(InstructionWord& word, std::uint64_t value) {
  static_assert(B.present(), "this encoding lacks the field");
  for (unsigned i = B.count; i-- > 0;) {
    const unsigned width = B.ranges[i].hi - B.ranges[i].lo + 1u;
    std::uint64_t& half = B.ranges[i].lo >= 64 ? word.high : word.low;
    half |= (value & low_mask(width)) << (B.ranges[i].lo % 64);
    value = width >= 64 ? 0 : value >> width;
  }
}

/// Two's complement of a `width` bit value.
constexpr std::int64_t sign_extend(std::uint64_t value, unsigned width) {
  const std::uint64_t sign = 1ull << (width - 1);
  return static_cast<std::int64_t>((value ^ sign) - sign);
}
/// The value of field `B` in two's complement.
template <Bits B>
constexpr std::int64_t signed_value(const InstructionWord& word) {
  return sign_extend(get<B>(word), B.width());
}

}  // namespace eum::gen
