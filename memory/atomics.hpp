#pragma once
// GPU atomic operations on host memory, 16, 32 and 64 bits wide. Each operation's effect is one pure function
// here; atomics.def has the rows, and a row without its function does not compile. This file must not know
// messages or their encodings.
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "memory/image/channel.hpp"

namespace eum::mem {

enum class AtomicOp : std::uint8_t {
#define ATOMIC_OP(name, operands, kind, returns) name,
#include "memory/atomics.def"
#undef ATOMIC_OP
};

enum class AtomicKind : std::uint8_t { Integer, Float };
enum class AtomicReturn : std::uint8_t { Old, New };

struct AtomicInfo {
  std::string_view name;  // without the underscore that keeps and, or, xor from being C++ keywords
  unsigned operands;      // sources that the message carries, 0 to 2
  AtomicKind kind;
  AtomicReturn returns;
};

namespace detail {
constexpr std::string_view strip_underscore(std::string_view name) {
  return name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
}
}  // namespace detail

inline constexpr auto atomic_table = [] {
  using enum AtomicKind;
  using enum AtomicReturn;
  return std::to_array<AtomicInfo>({
#define ATOMIC_OP(name, operands, kind, returns) {detail::strip_underscore(#name), operands, kind, returns},
#include "memory/atomics.def"
#undef ATOMIC_OP
  });
}();

constexpr const AtomicInfo& info(AtomicOp op) { return atomic_table[static_cast<std::size_t>(op)]; }

constexpr std::optional<AtomicOp> parse_atomic(std::string_view name) {
  for (std::size_t i = 0; i < atomic_table.size(); ++i) {
    if (atomic_table[i].name == name) return static_cast<AtomicOp>(i);
  }
  return std::nullopt;
}

/// new = f(old, src0, src1). T is unsigned for Integer rows and a float type for Float rows.
namespace atomic_meaning {
template <class T>
constexpr T and_(T old, T a, T) {
  return static_cast<T>(old & a);
}
template <class T>
constexpr T or_(T old, T a, T) {
  return static_cast<T>(old | a);
}
template <class T>
constexpr T xor_(T old, T a, T) {
  return static_cast<T>(old ^ a);
}
template <class T>
constexpr T mov(T, T a, T) {
  return a;
}
template <class T>
constexpr T inc(T old, T, T) {
  return static_cast<T>(old + 1);
}
template <class T>
constexpr T dec(T old, T, T) {
  return static_cast<T>(old - 1);
}
template <class T>
constexpr T add(T old, T a, T) {
  return static_cast<T>(old + a);
}
template <class T>
constexpr T sub(T old, T a, T) {
  return static_cast<T>(old - a);
}
template <class T>
constexpr T revsub(T old, T a, T) {
  return static_cast<T>(a - old);
}
template <class T>
constexpr bool signed_less(T a, T b) {
  return static_cast<std::make_signed_t<T>>(a) < static_cast<std::make_signed_t<T>>(b);
}
template <class T>
constexpr T imax(T old, T a, T) {
  return signed_less(old, a) ? a : old;
}
template <class T>
constexpr T imin(T old, T a, T) {
  return signed_less(a, old) ? a : old;
}
template <class T>
constexpr T umax(T old, T a, T) {
  return old < a ? a : old;
}
template <class T>
constexpr T umin(T old, T a, T) {
  return a < old ? a : old;
}
template <class T>
constexpr T cmpwr(T old, T compare, T value) {
  return old == compare ? value : old;
}
template <class T>
constexpr T predec(T old, T, T) {
  return static_cast<T>(old - 1);
}
template <class T>
constexpr T load(T old, T, T) {
  return old;
}

/// IEEE 754-2008 minNum and maxNum: a number wins over a NaN; -0 is below +0.
template <class T>
constexpr bool float_less(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  return a < b || (a == b && std::bit_cast<Bits>(a) < 0 && std::bit_cast<Bits>(b) >= 0);
}
template <class T>
constexpr T fmax(T old, T a, T) {
  return old != old || float_less(old, a) ? a : old;
}
template <class T>
constexpr T fmin(T old, T a, T) {
  return old != old || float_less(a, old) ? a : old;
}
template <class T>
constexpr T fcmpwr(T old, T compare, T value) {
  return old == compare ? value : old;
}
/// With the NaN of the first operand, if it is one, as vector additions have it: compilers exchange operands.
template <class T>
constexpr T float_sum(T first, T second) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits quiet = Bits{1} << (std::numeric_limits<T>::digits - 2);
  if (first != first) return std::bit_cast<T>(std::bit_cast<Bits>(first) | quiet);
  if (second != second) return std::bit_cast<T>(std::bit_cast<Bits>(second) | quiet);
  return first + second;
}
template <class T>
constexpr T fadd(T old, T a, T) {
  return float_sum(old, a);
}
template <class T>
constexpr T frevadd(T old, T a, T) {
  return float_sum(a, old);
}
template <class T>
constexpr T fsub(T old, T a, T) {
  return old - a;
}
}  // namespace atomic_meaning

/// Halves are computed as floats: rounding the sum of two halves to float and then to half equals rounding it
/// once.
inline float half_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(image::channel::small_float_to_f32<10, true>(bits));
}
inline std::uint16_t float_to_half(float value) {
  return static_cast<std::uint16_t>(
      image::channel::f32_to_small_float<10, true>(std::bit_cast<std::uint32_t>(value)));
}

/// The new value as bits, without touching memory. U is std::uint16_t, std::uint32_t or std::uint64_t.
template <AtomicOp op, class U>
constexpr U eval_atomic(U old, U src0, U src1) {
  using Float = std::conditional_t<sizeof(U) <= 4, float, double>;
  const auto call = [&](auto meaning) -> U {
    if constexpr (info(op).kind == AtomicKind::Float && sizeof(U) == 2) {
      const float from = half_to_float(old), to = meaning(from, half_to_float(src0), half_to_float(src1));
      // An unchanged value keeps its bits, even those of a NaN.
      return std::bit_cast<std::uint32_t>(to) == std::bit_cast<std::uint32_t>(from) ? old : float_to_half(to);
    } else if constexpr (info(op).kind == AtomicKind::Float) {
      return std::bit_cast<U>(
          meaning(std::bit_cast<Float>(old), std::bit_cast<Float>(src0), std::bit_cast<Float>(src1)));
    } else {
      return static_cast<U>(meaning(old, src0, src1));
    }
  };
#define ATOMIC_OP(name, operands, kind, returns) \
  if constexpr (op == AtomicOp::name)            \
    return call([](auto o, auto a, auto b) { return atomic_meaning::name(o, a, b); });
#include "memory/atomics.def"
#undef ATOMIC_OP
}

/// Performs the operation, sequentially consistent, and returns what the message returns. `address` must be
/// aligned to sizeof(U): the message lowering checks the GPU address, and AddressSpace keeps host and GPU
/// alignment the same.
template <AtomicOp op, class U>
U perform_atomic(std::byte* address, U src0, U src1) {
  static_assert(std::atomic_ref<U>::is_always_lock_free);
  std::atomic_ref<U> memory(*reinterpret_cast<U*>(address));
  if constexpr (op == AtomicOp::add) return memory.fetch_add(src0);
  if constexpr (op == AtomicOp::sub) return memory.fetch_sub(src0);
  if constexpr (op == AtomicOp::inc) return memory.fetch_add(1);
  if constexpr (op == AtomicOp::dec) return memory.fetch_sub(1);
  if constexpr (op == AtomicOp::predec) return static_cast<U>(memory.fetch_sub(1) - 1);
  if constexpr (op == AtomicOp::mov) return memory.exchange(src0);
  if constexpr (op == AtomicOp::load) return memory.load();
  if constexpr (op == AtomicOp::cmpwr) {
    memory.compare_exchange_strong(src0, src1);
    return src0;
  }
  U old = memory.load(std::memory_order_relaxed);
  U value = eval_atomic<op, U>(old, src0, src1);
  while (!memory.compare_exchange_weak(old, value)) value = eval_atomic<op, U>(old, src0, src1);
  return info(op).returns == AtomicReturn::New ? value : old;
}

/// The signature that translated code calls: (address, src0, src1) -> returned value.
template <class U>
using AtomicFunction = U (*)(std::byte*, U, U);

/// Indexed by AtomicOp: the function that performs it on memory of type U.
template <class U>
inline constexpr auto atomic_functions = std::to_array<AtomicFunction<U>>({
#define ATOMIC_OP(name, operands, kind, returns) &perform_atomic<AtomicOp::name, U>,
#include "memory/atomics.def"
#undef ATOMIC_OP
});

/// The same for an operation chosen at run time.
template <class U>
U perform_atomic(AtomicOp op, std::byte* address, U src0, U src1) {
  return atomic_functions<U>[static_cast<std::size_t>(op)](address, src0, src1);
}

static_assert(atomic_functions<std::uint32_t>.size() == atomic_table.size());
static_assert(eval_atomic<AtomicOp::imax, std::uint32_t>(1, 0xffffffff, 0) == 1);
static_assert(eval_atomic<AtomicOp::umax, std::uint32_t>(1, 0xffffffff, 0) == 0xffffffff);

}  // namespace eum::mem
