#pragma once
// The GEN families as an enum and what differs between them. The rows are families.def.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace eum::gen {

enum class Family : std::uint8_t {
#define GEN_FAMILY(name, ...) name,
#include "frontend/gen/families.def"
#undef GEN_FAMILY
};

struct FamilyInfo {
  std::string_view name;        ///< as the enum spells it
  std::string_view text;        ///< as iga64 -p spells it
  std::uint8_t grf_bytes;       ///< of one general register
  std::uint16_t grf_count;      ///< of one thread
  bool align16;                 ///< the Align16 access mode exists
  bool split_send;              ///< sends and sendsc exist
  bool send_has_source_region;  ///< send encodes a region of its source 0
  bool send_compacts;           ///< send has a compacted form
};

inline constexpr std::array family_table{
#define GEN_FAMILY(name, text, grf_bytes, grf_count, align16, split_send, send_region, send_compacts) \
  FamilyInfo{#name, text, grf_bytes, grf_count, align16, split_send, send_region, send_compacts},
#include "frontend/gen/families.def"
#undef GEN_FAMILY
};
inline constexpr std::size_t family_count = family_table.size();

constexpr const FamilyInfo& info(Family family) { return family_table[static_cast<std::size_t>(family)]; }

/// The family that `name` ("Gen9") or `name` in iga64's spelling ("9") means.
constexpr std::optional<Family> parse_family(std::string_view name) {
  for (std::size_t i = 0; i < family_count; ++i)
    if (family_table[i].name == name || family_table[i].text == name) return static_cast<Family>(i);
  return std::nullopt;
}

}  // namespace eum::gen
