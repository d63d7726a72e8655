#pragma once
// The types of vISA operands and variables: name, size, and the micro-op type with the same values.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "frontend/ir/types.hpp"

namespace eum::visa {

/// In the order of the binary format (vISA document 2, data types).
enum class Type : std::uint8_t { ud, d, uw, w, ub, b, df, f, v, vf, bool_, uq, uv, q, hf, bf };

struct TypeInfo {
  std::string_view name;
  std::uint8_t bytes;  ///< of one element; 4 for packed vectors, 0 for bool
  ir::Type ir;         ///< of one element; for a packed vector, what it unpacks to
  bool executes;       ///< arithmetic on it is supported: all but bool and bf
};

inline constexpr std::array<TypeInfo, 16> type_table{{
    {"ud", 4, ir::Type::u32, true},
    {"d", 4, ir::Type::s32, true},
    {"uw", 2, ir::Type::u16, true},
    {"w", 2, ir::Type::s16, true},
    {"ub", 1, ir::Type::u8, true},
    {"b", 1, ir::Type::s8, true},
    {"df", 8, ir::Type::f64, true},
    {"f", 4, ir::Type::f32, true},
    {"v", 4, ir::Type::s16, true},
    {"vf", 4, ir::Type::f32, true},
    {"bool", 0, ir::Type::m, false},
    {"uq", 8, ir::Type::u64, true},
    {"uv", 4, ir::Type::u16, true},
    {"q", 8, ir::Type::s64, true},
    {"hf", 2, ir::Type::f16, true},
    {"bf", 2, ir::Type::u16, false},
}};

constexpr const TypeInfo& info(Type type) { return type_table[static_cast<std::size_t>(type)]; }

constexpr std::optional<Type> parse_type(std::string_view name) {
  for (std::size_t i = 0; i < type_table.size(); ++i)
    if (type_table[i].name == name) return static_cast<Type>(i);
  return std::nullopt;
}

}  // namespace eum::visa
