#pragma once
// Operand types of the GEN EU and sets of them.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace eum::gen {

/// As spelled in the manual; uv, v, vf are packed vectors and occur as immediates only. nf is the format in
/// which an accumulator holds a float; its regions are those of f.
enum class Type : std::uint8_t { ub, b, uw, w, ud, d, uq, q, hf, f, df, uv, v, vf, nf, none };

struct TypeInfo {
  std::string_view name;
  std::uint8_t bytes;  ///< of one element; of the whole vector for uv, v, vf
  bool is_signed;
  bool is_float;
};

inline constexpr std::array<TypeInfo, 16> type_table{{
    {"ub", 1, false, false},
    {"b", 1, true, false},
    {"uw", 2, false, false},
    {"w", 2, true, false},
    {"ud", 4, false, false},
    {"d", 4, true, false},
    {"uq", 8, false, false},
    {"q", 8, true, false},
    {"hf", 2, true, true},
    {"f", 4, true, true},
    {"df", 8, true, true},
    {"uv", 4, false, false},
    {"v", 4, true, false},
    {"vf", 4, true, true},
    {"nf", 4, true, true},
    {"", 1, false, false},
}};

constexpr const TypeInfo& info(Type type) { return type_table[static_cast<std::size_t>(type)]; }
/// Bytes of one element.
constexpr unsigned size_of(Type type) { return info(type).bytes; }
constexpr bool is_float(Type type) { return info(type).is_float; }
constexpr bool is_signed(Type type) { return info(type).is_signed; }

/// A set of types, one bit each.
using TypeSet = std::uint16_t;

template <class... T>
constexpr TypeSet types(T... type) {
  return static_cast<TypeSet>((0u | ... | (1u << static_cast<unsigned>(type))));
}
constexpr bool contains(TypeSet set, Type type) { return (set & types(type)) != 0; }

/// The sets that instructions.def names.
namespace type_set {
using enum Type;
inline constexpr TypeSet None = types(none);
inline constexpr TypeSet Byte = types(ub, b);
inline constexpr TypeSet Word = types(uw, w);
inline constexpr TypeSet Dword = types(ud, d);
inline constexpr TypeSet Ud = types(ud);
inline constexpr TypeSet Unsigned = types(ub, uw, ud);
inline constexpr TypeSet IntNoWide = Byte | Word | Dword;
inline constexpr TypeSet Int = IntNoWide | types(uq, q);
inline constexpr TypeSet IntOrVec = Int | types(uv, v);
inline constexpr TypeSet F = types(f);
inline constexpr TypeSet FOrVec = types(f, vf);
inline constexpr TypeSet Df = types(df);
inline constexpr TypeSet FOrDf = types(f, df);
inline constexpr TypeSet Float = types(hf, f, df);
inline constexpr TypeSet WordDword = Word | Dword;
inline constexpr TypeSet MadTypes = Float | Dword;
inline constexpr TypeSet MadNative = Float | IntNoWide | types(nf);
inline constexpr TypeSet CselNative = types(hf, f) | WordDword;
inline constexpr TypeSet MathTypes = types(f, hf, d, ud, df, vf);
inline constexpr TypeSet Any = Int | Float;
inline constexpr TypeSet AnyOrVec = Any | types(uv, v, vf);
inline constexpr TypeSet AnyOrNone = Any | None;
/// Accumulator channels hold no 64-bit integers (IVB 3.3.3.5, Accumulator Channel Precision).
inline constexpr TypeSet AccTypes = IntNoWide | Float;
inline constexpr TypeSet AccOrVec = AccTypes | types(uv, v, vf);
inline constexpr TypeSet NoByte = Any & static_cast<TypeSet>(~Byte);
inline constexpr TypeSet NoWide = IntNoWide | F;
}  // namespace type_set

}  // namespace eum::gen
