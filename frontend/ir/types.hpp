#pragma once
// The types of micro-op values: an element type times 1 to 32 lanes.
// `m` is a mask: one bit a lane.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace eum::ir {

enum class Type : std::uint8_t { u8, s8, u16, s16, u32, s32, u64, s64, f16, f32, f64, m };

struct TypeInfo {
  std::string_view name;
  std::uint8_t bytes;  ///< of one lane; 0 for masks
  bool is_signed;
  bool is_float;
};

inline constexpr std::array<TypeInfo, 12> type_table{{
    {"u8", 1, false, false},
    {"s8", 1, true, false},
    {"u16", 2, false, false},
    {"s16", 2, true, false},
    {"u32", 4, false, false},
    {"s32", 4, true, false},
    {"u64", 8, false, false},
    {"s64", 8, true, false},
    {"f16", 2, true, true},
    {"f32", 4, true, true},
    {"f64", 8, true, true},
    {"m", 0, false, false},
}};
inline constexpr std::size_t type_count = type_table.size();

constexpr const TypeInfo& info(Type type) { return type_table[static_cast<std::size_t>(type)]; }
constexpr unsigned size_of(Type type) { return info(type).bytes; }
constexpr bool is_float(Type type) { return info(type).is_float; }
constexpr bool is_mask(Type type) { return type == Type::m; }
constexpr bool is_int(Type type) { return !is_float(type) && !is_mask(type); }
constexpr bool is_signed(Type type) { return info(type).is_signed; }

/// The integer type of `bytes` (1, 2, 4, 8) bytes.
constexpr Type int_type(unsigned bytes, bool is_signed) {
  unsigned log = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
  return static_cast<Type>(2 * log + (is_signed ? 1 : 0));
}

constexpr std::optional<Type> parse_type(std::string_view name) {
  for (std::size_t i = 0; i < type_count; ++i)
    if (type_table[i].name == name) return static_cast<Type>(i);
  return std::nullopt;
}

inline constexpr unsigned max_lanes = 32;

}  // namespace eum::ir
