#pragma once
// Integer, bit and float arithmetic and comparisons for one lane: Semantics<op>::eval(operands). It must not
// know functions, blocks or engines.
#include <emmintrin.h>
#include <math.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "frontend/ir/semantics/lane.hpp"

namespace eum::ir {

// One operand.

template <>
struct Semantics<Op::not_> {
  template <Integer T>
  static T eval(T a) {
    return static_cast<T>(~a);
  }
};
template <>
struct Semantics<Op::neg> {
  template <Integer T>
  static T eval(T a) {
    return static_cast<T>(0 - static_cast<Wrapping<T>>(a));
  }
  template <class T>
  requires(!Integer<T>) static T eval(T a) {
    return std::bit_cast<T>(static_cast<Bits<T>>(std::bit_cast<Bits<T>>(a) ^ sign_bit<T>));
  }
};
template <>
struct Semantics<Op::abs> {
  template <Integer T>
  static T eval(T a) {
    if constexpr (std::signed_integral<T>)
      return a < 0 ? eval_lane<Op::neg>(a) : a;
    else
      return a;
  }
  template <class T>
  requires(!Integer<T>) static T eval(T a) {
    return std::bit_cast<T>(static_cast<Bits<T>>(std::bit_cast<Bits<T>>(a) & ~sign_bit<T>));
  }
};
template <>
struct Semantics<Op::lzd> {
  template <Integer32 T>
  static T eval(T a) {
    return static_cast<T>(std::countl_zero(static_cast<std::uint32_t>(a)));
  }
};
template <>
struct Semantics<Op::fbh> {
  template <Integer32 T>
  static T eval(T a) {
    // With the sign folded into zeros, leading sign bits are leading zeros.
    const auto folded = static_cast<std::uint32_t>(std::signed_integral<T> && std::cmp_less(a, 0) ? ~a : a);
    return folded == 0 ? static_cast<T>(-1) : static_cast<T>(std::countl_zero(folded));
  }
};
template <>
struct Semantics<Op::fbl> {
  template <Integer32 T>
  static T eval(T a) {
    return a == 0 ? static_cast<T>(-1) : static_cast<T>(std::countr_zero(static_cast<std::uint32_t>(a)));
  }
};
template <>
struct Semantics<Op::cbit> {
  template <Integer T>
  static T eval(T a) {
    return static_cast<T>(std::popcount(static_cast<Bits<T>>(a)));
  }
};
template <>
struct Semantics<Op::bfrev> {
  template <Integer32 T>
  static T eval(T a) {
    std::uint32_t result = 0;
    for (unsigned i = 0; i < 32; ++i) result |= ((static_cast<std::uint32_t>(a) >> i) & 1) << (31 - i);
    return static_cast<T>(result);
  }
};
template <>
struct Semantics<Op::sat> {
  template <HostFloat T>
  static T eval(T a) {
    return a > 0 ? (a < 1 ? a : T{1}) : T{0};
  }
};
/// x - floor(x), at most `below_one`.
template <HostFloat T>
T fraction(T a, T below_one) {
  return nan_or(a, [=] {
    const T x = a - std::floor(a);
    return below_one < x ? below_one : x;
  });
}
template <>
struct Semantics<Op::frc> {
  template <HostFloat T>
  static T eval(T a) {
    return fraction(a, 1 - std::numeric_limits<T>::epsilon() / 2);
  }
  static Half eval(Half a) { return to_half(fraction(to_float(a), 1 - 0x1p-11f)); }
};
template <>
struct Semantics<Op::rndd> {
  template <HostFloat T>
  static T eval(T a) {
    return nan_or(a, [=] { return std::floor(a); });
  }
};
template <>
struct Semantics<Op::rndu> {
  template <HostFloat T>
  static T eval(T a) {
    return nan_or(a, [=] { return std::ceil(a); });
  }
};
template <>
struct Semantics<Op::rnde> {
  static float eval(float a) {
    return nan_or(a, [=] { return ::roundevenf(a); });
  }
  static double eval(double a) {
    return nan_or(a, [=] { return ::roundeven(a); });
  }
};
template <>
struct Semantics<Op::rndz> {
  template <HostFloat T>
  static T eval(T a) {
    return nan_or(a, [=] { return std::trunc(a); });
  }
};
template <>
struct Semantics<Op::sqrt> {
  static float eval(float a) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a))); }
  static double eval(double a) { return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(a))); }
};
template <>
struct Semantics<Op::rcp> {
  template <HostFloat T>
  static T eval(T a) {
    return nan_or(a, [=] { return T{1} / a; });
  }
};
template <>
struct Semantics<Op::rsqrt> {
  template <HostFloat T>
  static T eval(T a) {
    return eval_lane<Op::rcp>(eval_lane<Op::sqrt>(a));
  }
};

// Two operands.

template <>
struct Semantics<Op::add> {
  template <Integer T>
  static T eval(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
  template <HostFloat T>
  static T eval(T a, T b) {
    return nan_or(a, b, [=] { return a + b; });
  }
};
template <>
struct Semantics<Op::sub> {
  template <Integer T>
  static T eval(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
  template <HostFloat T>
  static T eval(T a, T b) {
    return nan_or(a, b, [=] { return a - b; });
  }
};
template <>
struct Semantics<Op::mul> {
  template <Integer T>
  static T eval(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
  template <HostFloat T>
  static T eval(T a, T b) {
    return nan_or(a, b, [=] { return a * b; });
  }
};
template <>
struct Semantics<Op::mul_high> {
  template <Integer16 T>
  static T eval(T a, T b) {
    return static_cast<T>(std::int64_t{a} * b >> 16);
  }
};
/// The nearest number of type T.
template <IntegerUpTo16 T>
T clamped(int x) {
  return static_cast<T>(std::clamp<int>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
template <>
struct Semantics<Op::add_sat> {
  template <IntegerUpTo16 T>
  static T eval(T a, T b) {
    return clamped<T>(a + b);
  }
};
template <>
struct Semantics<Op::sub_sat> {
  template <IntegerUpTo16 T>
  static T eval(T a, T b) {
    return clamped<T>(a - b);
  }
};
template <>
struct Semantics<Op::div> {
  template <HostFloat T>
  static T eval(T a, T b) {
    return nan_or(a, b, [=] { return a / b; });
  }
};
template <>
struct Semantics<Op::quot> {
  template <Integer T>
  static T eval(T a, T b) {
    using Limits = std::numeric_limits<T>;
    if (b == 0) return std::cmp_less(a, 0) ? Limits::min() : Limits::max();
    if (std::cmp_equal(b, -1)) return eval_lane<Op::neg>(a);  // the lowest integer stays
    return static_cast<T>(a / b);
  }
};
template <>
struct Semantics<Op::rem> {
  template <Integer T>
  static T eval(T a, T b) {
    if (b == 0) return std::signed_integral<T> ? a : std::numeric_limits<T>::max();
    if (std::cmp_equal(b, -1)) return 0;
    return static_cast<T>(a % b);
  }
};
template <>
struct Semantics<Op::min> {
  static float eval(float a, float b) {
    return is_nan(b) ? a : _mm_cvtss_f32(_mm_min_ss(_mm_set_ss(a), _mm_set_ss(b)));
  }
  static double eval(double a, double b) {
    return is_nan(b) ? a : _mm_cvtsd_f64(_mm_min_sd(_mm_set_sd(a), _mm_set_sd(b)));
  }
  template <Integer T>
  static T eval(T a, T b) {
    return a < b ? a : b;
  }
};
template <>
struct Semantics<Op::max> {
  static float eval(float a, float b) {
    return is_nan(a) ? b : _mm_cvtss_f32(_mm_max_ss(_mm_set_ss(b), _mm_set_ss(a)));
  }
  static double eval(double a, double b) {
    return is_nan(a) ? b : _mm_cvtsd_f64(_mm_max_sd(_mm_set_sd(b), _mm_set_sd(a)));
  }
  template <Integer T>
  static T eval(T a, T b) {
    return a > b ? a : b;
  }
};
template <>
struct Semantics<Op::and_> {
  template <Integer T>
  static T eval(T a, T b) {
    return static_cast<T>(a & b);
  }
};
template <>
struct Semantics<Op::or_> {
  template <Integer T>
  static T eval(T a, T b) {
    return static_cast<T>(a | b);
  }
};
template <>
struct Semantics<Op::xor_> {
  template <Integer T>
  static T eval(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
template <>
struct Semantics<Op::andn> {
  template <Integer T>
  static T eval(T a, T b) {
    return static_cast<T>(~a & b);
  }
};
/// A shift count: the low bits of b.
template <Integer T>
unsigned shift_count(T b) {
  return static_cast<unsigned>(b) & (width_of<T> - 1);
}
template <>
struct Semantics<Op::shl> {
  template <Integer T>
  static T eval(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) << shift_count(b));
  }
};
template <>
struct Semantics<Op::shr> {
  template <Integer T>
  static T eval(T a, T b) {
    return static_cast<T>(static_cast<Bits<T>>(a) >> shift_count(b));
  }
};
template <>
struct Semantics<Op::asr> {
  template <Integer T>
  static T eval(T a, T b) {
    return static_cast<T>(static_cast<std::make_signed_t<T>>(a) >> shift_count(b));
  }
};
template <>
struct Semantics<Op::rotl> {
  template <Integer32 T>
  static T eval(T a, T b) {
    return static_cast<T>(std::rotl(static_cast<Bits<T>>(a), static_cast<int>(shift_count(b))));
  }
};
template <>
struct Semantics<Op::avg> {
  // (a + b + 1) >> 1 = (a | b) - ((a ^ b) >> 1), which cannot overflow.
  template <Integer T>
  static T eval(T a, T b) {
    return static_cast<T>((a | b) - ((a ^ b) >> 1));
  }
};
template <>
struct Semantics<Op::bfi1> {
  template <Integer32 T>
  static T eval(T a, T b) {
    return static_cast<T>(((1u << shift_count(a)) - 1) << shift_count(b));
  }
};

// Three operands.

template <>
struct Semantics<Op::fma> {
  template <HostFloat T>
  static T eval(T a, T b, T c) {
    return nan_or(a, b, [=] { return nan_or(c, [=] { return std::fma(a, b, c); }); });
  }
  template <std::same_as<Half> T>
  static T eval(T a, T b, T c) {
    return eval_lane<Op::fma_odd>(a, b, c);
  }
};
/// Whether an f32 may lie midway between two f16: at an odd multiple of half their distance, which is 2^-24
/// below 2^-14.
inline bool may_be_midway(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  return (bits & 0x1fff) == 0x1000 || ((bits & 0xfff) == 0 && magnitude != 0 && magnitude < 0x38800000);
}
// Rounding twice differs from rounding once only when rounding to nearest, and only at such a midpoint.
// Rounding a sum of an f16 and a product of two f16 to f64 does not lead to one; elsewhere the step away
// changes no f16.
template <>
struct Semantics<Op::fma_odd> {
  static float eval(float a, float b, float c) {
    const float sum = eval_lane<Op::fma>(a, b, c);
    if (!may_be_midway(sum)) return sum;
    const double rest = std::fma(double{a}, double{b}, double{c}) - double{sum};
    if (!(rest < 0 || rest > 0)) return sum;
    const auto bits = std::bit_cast<std::uint32_t>(sum);
    const bool away = std::signbit(rest) == std::signbit(sum);
    return std::bit_cast<float>(away ? bits + 1 : bits - 1);
  }
};
template <>
struct Semantics<Op::mad> {
  template <Integer T>
  static T eval(T a, T b, T c) {
    return eval_lane<Op::add>(eval_lane<Op::mul>(a, b), c);
  }
};
template <>
struct Semantics<Op::bfe> {
  template <Integer32 T>
  static T eval(T a, T b, T c) {
    const unsigned bits = shift_count(a), first = shift_count(b);
    if (bits == 0) return 0;
    if (bits + first >= 32) return static_cast<T>(c >> first);
    return static_cast<T>(eval_lane<Op::shl>(c, static_cast<T>(32 - bits - first)) >> (32 - bits));
  }
};
template <>
struct Semantics<Op::bfi2> {
  template <Integer T>
  static T eval(T a, T b, T c) {
    return static_cast<T>((a & b) | (~a & c));
  }
};

// Comparisons.

template <class T>
concept HostNumber = Integer<T> || HostFloat<T>;
template <>
struct Semantics<Op::cmp_eq> {
  template <HostNumber T>
  static bool eval(T a, T b) {
    return a == b;
  }
};
template <>
struct Semantics<Op::cmp_ne> {
  template <HostNumber T>
  static bool eval(T a, T b) {
    return a != b;
  }
};
template <>
struct Semantics<Op::cmp_lt> {
  template <HostNumber T>
  static bool eval(T a, T b) {
    return a < b;
  }
};
template <>
struct Semantics<Op::cmp_le> {
  template <HostNumber T>
  static bool eval(T a, T b) {
    return a <= b;
  }
};
template <>
struct Semantics<Op::cmp_gt> {
  template <HostNumber T>
  static bool eval(T a, T b) {
    return a > b;
  }
};
template <>
struct Semantics<Op::cmp_ge> {
  template <HostNumber T>
  static bool eval(T a, T b) {
    return a >= b;
  }
};
template <>
struct Semantics<Op::cmp_un> {
  template <HostFloat T>
  static bool eval(T a, T b) {
    return is_nan(a) || is_nan(b);
  }
};

// Two results.

/// A 64-bit number as its low and high half.
template <Integer32 T>
Two<T> halves(std::uint64_t x) {
  return {static_cast<T>(x), static_cast<T>(x >> 32)};
}
template <Integer32 T>
using Wide = std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t>;

template <>
struct Semantics<Op::mul_wide> {
  template <Integer32 T>
  static Two<T> eval(T a, T b) {
    return halves<T>(static_cast<std::uint64_t>(Wide<T>{a} * Wide<T>{b}));
  }
};
template <>
struct Semantics<Op::addc> {
  template <Integer32 T>
  static Two<T> eval(T a, T b) {
    return halves<T>(std::uint64_t{static_cast<std::uint32_t>(a)} + static_cast<std::uint32_t>(b));
  }
};
template <>
struct Semantics<Op::subb> {
  template <Integer32 T>
  static Two<T> eval(T a, T b) {
    const bool borrow = static_cast<std::uint32_t>(a) < static_cast<std::uint32_t>(b);
    return {eval_lane<Op::sub>(a, b), static_cast<T>(borrow)};
  }
};
template <>
struct Semantics<Op::mach> {
  template <Integer32 T>
  static Two<T> eval(T a, T b, T low, T high) {
    const auto product = static_cast<std::uint64_t>(Wide<T>{a} * Wide<T>{b >> 16});
    const auto accumulator =
        std::uint64_t{static_cast<std::uint32_t>(high)} << 32 | static_cast<std::uint32_t>(low);
    return halves<T>((product << 16) + accumulator);
  }
};

}  // namespace eum::ir
