#pragma once
// The GEN families as an enum, their differences, and ranges of them. The rows are in families.def. It must
// not know how instruction words are encoded (encoding.hpp).
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace eum::gen {

/// Encodings of instruction words; families share them.
enum class Encoding : std::uint8_t {
#define GEN_ENCODING(name) name,
#include "frontend/gen/encodings.def"
#undef GEN_ENCODING
};

/// In chronological order.
enum class Family : std::uint8_t {
#define GEN_FAMILY(name, ...) name,
#include "frontend/gen/families.def"
#undef GEN_FAMILY
};

/// How instructions and messages of a family differ from those of others, a bit set.
namespace trait {
/// A packed hf destination may receive f.
inline constexpr std::uint16_t PackedHalf = 1;
/// mach without {AccWrEn} gives the low half of the sum (IGC: macl).
inline constexpr std::uint16_t LowMach = 2;
/// goto sends the channels that its predicate selects to UIP, instead of the others.
inline constexpr std::uint16_t GotoNamed = 4;
/// The level of detail of the sampler's ld comes after u, not after v (SKL PRM volume 7, "Parameter Types").
inline constexpr std::uint16_t LodSecond = 8;
/// SIMD mode 0 of the sampler is SIMD4x2 only if a header requests it (Mesa's brw_eu_defines.h).
inline constexpr std::uint16_t Simd8D = 16;
/// mul uses only the low word of a 32-bit source 1 (IVB, 1.3; Mesa's has_integer_dword_mul).
inline constexpr std::uint16_t MulWord = 32;
/// A channel of df is a pair of channels: execution size and regions count their dwords (IVB, 1.3).
inline constexpr std::uint16_t PairedDoubles = 64;
/// Source modifiers of bitwise instructions are arithmetic, not a complement (Mesa's brw_fs_nir.cpp).
inline constexpr std::uint16_t LogicNumbers = 128;
/// There are neither hf nor 64-bit integers (IVB, 2.2).
inline constexpr std::uint16_t FewTypes = 256;
/// Conversions of df to f round to zero in every mode (IVB, 2.4.5).
inline constexpr std::uint16_t DoublesToZero = 512;
}  // namespace trait

struct FamilyInfo {
  std::string_view name;        ///< "Gen7.5"
  std::string_view iga64;       ///< as spelled by iga64 -p: "7p5"
  Encoding encoding;            ///< of its instruction words
  std::uint8_t grf_bytes;       ///< of one general register
  std::uint16_t grf_count;      ///< of one thread
  std::uint8_t flag_registers;  ///< of one thread; each has 32 bits
  std::uint8_t address_words;   ///< of the address register
  std::uint8_t slot_bits;       ///< bits of r0.5 that hold the thread's slot number
  std::uint16_t traits;

  constexpr bool has(std::uint16_t trait) const { return (traits & trait) != 0; }
};

inline constexpr auto family_table = [] {
  using namespace trait;
  return std::array{
#define GEN_FAMILY(name, text, iga64, encoding, grf_bytes, grf_count, flags, a0, slot_bits, traits) \
  FamilyInfo{text, iga64, Encoding::encoding, grf_bytes, grf_count, flags, a0, slot_bits, traits},
#include "frontend/gen/families.def"
#undef GEN_FAMILY
  };
}();
inline constexpr std::size_t family_count = family_table.size();

constexpr const FamilyInfo& info(Family family) { return family_table[static_cast<std::size_t>(family)]; }

/// The family called `name`, with or without "gen" before its number, in upper or lower case: "Gen7.5",
/// "gen7_5", "7p5".
constexpr std::optional<Family> parse_family(std::string_view name) {
  constexpr auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  constexpr auto plain = [lower](char c) { return c == '_' || lower(c) == 'p' ? '.' : lower(c); };
  constexpr std::string_view prefix = "gen";
  const auto starts_with_prefix = [&] {
    if (name.size() < prefix.size()) return false;
    for (std::size_t i = 0; i < prefix.size(); ++i)
      if (lower(name[i]) != prefix[i]) return false;
    return true;
  };
  if (starts_with_prefix()) name.remove_prefix(prefix.size());
  for (std::size_t row = 0; row < family_count; ++row) {
    const std::string_view number = family_table[row].iga64;
    bool equal = number.size() == name.size();
    for (std::size_t i = 0; equal && i < name.size(); ++i) equal = plain(name[i]) == plain(number[i]);
    if (equal) return static_cast<Family>(row);
  }
  return std::nullopt;
}

/// A range of families, both ends included.
struct FamilyRange {
  Family first;
  Family last;
  constexpr bool contains(Family family) const { return first <= family && family <= last; }
  constexpr bool overlaps(const FamilyRange& other) const {
    return first <= other.last && other.first <= last;
  }
};

/// Ranges as the tables write them.
namespace family_range {
using enum Family;
inline constexpr FamilyRange every{Family{}, static_cast<Family>(family_count - 1)};
constexpr FamilyRange since(Family first) { return {first, every.last}; }
constexpr FamilyRange until(Family last) { return {every.first, last}; }
constexpr FamilyRange only(Family family) { return {family, family}; }
}  // namespace family_range

}  // namespace eum::gen
