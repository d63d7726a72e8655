#pragma once
// The C++ types of lanes, and eval_lane<op>(operands of one lane), which calls the Semantics of an op. The
// specialisations are in arithmetic.hpp and convert.hpp. It must not know functions, blocks or engines.
//
// Floats follow MXCSR (rounding, DAZ, FTZ) as plain SSE arithmetic does, so AVX2 code in the same mode gives
// the same bits. NaN results: the first NaN operand, quiet; without a NaN operand the default NaN (sign set).
// Every op on f16, except those that only move bits, converts its operands to f32, computes there and rounds
// the result to f16; fma computes fma_odd, so that both roundings are one.
#include <bit>
#include <concepts>
#include <limits>
#include <type_traits>
#include <utility>

#include "frontend/ir/ops.hpp"
#include "frontend/ir/semantics/half.hpp"

namespace eum::ir {

/// The C++ type of a lane.
template <Type type>
struct LaneOf;
template <>
struct LaneOf<Type::u8> {
  using type = std::uint8_t;
};
template <>
struct LaneOf<Type::s8> {
  using type = std::int8_t;
};
template <>
struct LaneOf<Type::u16> {
  using type = std::uint16_t;
};
template <>
struct LaneOf<Type::s16> {
  using type = std::int16_t;
};
template <>
struct LaneOf<Type::u32> {
  using type = std::uint32_t;
};
template <>
struct LaneOf<Type::s32> {
  using type = std::int32_t;
};
template <>
struct LaneOf<Type::u64> {
  using type = std::uint64_t;
};
template <>
struct LaneOf<Type::s64> {
  using type = std::int64_t;
};
template <>
struct LaneOf<Type::f16> {
  using type = Half;
};
template <>
struct LaneOf<Type::f32> {
  using type = float;
};
template <>
struct LaneOf<Type::f64> {
  using type = double;
};
template <Type type>
using Lane = typename LaneOf<type>::type;

/// The type whose lanes are T.
template <class T>
inline constexpr Type type_of_lane = [] {
  Type found = Type::m;
  [&]<std::size_t... t>(std::index_sequence<t...>) {
    ((std::is_same_v<T, Lane<static_cast<Type>(t)>> ? void(found = static_cast<Type>(t)) : void()), ...);
  }
  (std::make_index_sequence<type_count - 1>());
  return found;
}();

/// f32 or f64, on which the host computes.
template <class T>
concept HostFloat = std::same_as<T, float> || std::same_as<T, double>;
template <class T>
concept Integer = std::integral<T>;
template <class T>
concept Integer32 = Integer<T> && sizeof(T) == 4;
template <class T>
concept Integer16 = Integer<T> && sizeof(T) == 2;
template <class T>
concept IntegerUpTo16 = Integer<T> && sizeof(T) <= 2;

/// The unsigned integer of T's size; arithmetic on it is promoted to at least 32 bits, which C++ would do
/// signed.
template <class T>
using Bits =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
template <Integer T>
using Wrapping = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
template <class T>
inline constexpr unsigned width_of = 8 * sizeof(T);
template <class T>
inline constexpr Bits<T> sign_bit = static_cast<Bits<T>>(Bits<T>{1} << (width_of<T> - 1));

template <HostFloat T>
bool is_nan(T a) {
  return a != a;
}
template <HostFloat T>
T quiet(T nan) {
  constexpr Bits<T> quiet_bit = Bits<T>{1} << (std::numeric_limits<T>::digits - 2);
  return std::bit_cast<T>(std::bit_cast<Bits<T>>(nan) | quiet_bit);
}

/// The first NaN of the operands, quiet, else compute().
template <HostFloat T, class Compute>
T nan_or(T a, Compute compute) {
  return is_nan(a) ? quiet(a) : compute();
}
template <HostFloat T, class Compute>
T nan_or(T a, T b, Compute compute) {
  return is_nan(a) ? quiet(a) : is_nan(b) ? quiet(b) : compute();
}

template <Op op>
struct Semantics;

template <class T>
struct Two {
  T first, second;
};

/// One lane of `op`. T is a Lane type.
template <Op op, class T, class... Rest>
auto eval_lane(T a, Rest... rest) {
  if constexpr (requires { Semantics<op>::eval(a, rest...); }) {
    return Semantics<op>::eval(a, rest...);
  } else {
    static_assert(std::same_as<T, Half>, "a row of ops.def takes a type that its Semantics does not");
    auto result = Semantics<op>::eval(to_float(a), to_float(rest)...);
    if constexpr (std::same_as<decltype(result), float>)
      return to_half(result);
    else
      return result;
  }
}

}  // namespace eum::ir
