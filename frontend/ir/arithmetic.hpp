#pragma once
// The meaning of integer, bit and float arithmetic and of comparisons: shapes Lanewise1 to 3, Compare, Wide2,
// Wide4. It must not know functions, blocks or engines.
#include <emmintrin.h>
#include <math.h>

#include <utility>

#include "frontend/ir/lane.hpp"

namespace eum::ir {

// One operand.

template <>
struct Meaning<Op::not_> {
  template <Integer T>
  static T of(T a) {
    return static_cast<T>(~a);
  }
};
template <>
struct Meaning<Op::neg> {
  template <Integer T>
  static T of(T a) {
    return static_cast<T>(0 - static_cast<Wrapping<T>>(a));
  }
  template <class T>
  requires(!Integer<T>) static T of(T a) {
    return std::bit_cast<T>(static_cast<Bits<T>>(std::bit_cast<Bits<T>>(a) ^ sign_bit<T>));
  }
};
template <>
struct Meaning<Op::abs> {
  template <Integer T>
  static T of(T a) {
    if constexpr (std::signed_integral<T>)
      return a < 0 ? eval<Op::neg>(a) : a;
    else
      return a;
  }
  template <class T>
  requires(!Integer<T>) static T of(T a) {
    return std::bit_cast<T>(static_cast<Bits<T>>(std::bit_cast<Bits<T>>(a) & ~sign_bit<T>));
  }
};
template <>
struct Meaning<Op::lzd> {
  template <Integer32 T>
  static T of(T a) {
    return static_cast<T>(std::countl_zero(static_cast<std::uint32_t>(a)));
  }
};
template <>
struct Meaning<Op::fbh> {
  template <Integer32 T>
  static T of(T a) {
    // With the sign folded into zeros, leading sign bits are leading zeros.
    const auto folded = static_cast<std::uint32_t>(std::signed_integral<T> && std::cmp_less(a, 0) ? ~a : a);
    return folded == 0 ? static_cast<T>(-1) : static_cast<T>(std::countl_zero(folded));
  }
};
template <>
struct Meaning<Op::fbl> {
  template <Integer32 T>
  static T of(T a) {
    return a == 0 ? static_cast<T>(-1) : static_cast<T>(std::countr_zero(static_cast<std::uint32_t>(a)));
  }
};
template <>
struct Meaning<Op::cbit> {
  template <Integer T>
  static T of(T a) {
    return static_cast<T>(std::popcount(static_cast<Bits<T>>(a)));
  }
};
template <>
struct Meaning<Op::bfrev> {
  template <Integer32 T>
  static T of(T a) {
    std::uint32_t result = 0;
    for (unsigned i = 0; i < 32; ++i) result |= ((static_cast<std::uint32_t>(a) >> i) & 1) << (31 - i);
    return static_cast<T>(result);
  }
};
template <>
struct Meaning<Op::sat> {
  template <HostFloat T>
  static T of(T a) {
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
struct Meaning<Op::frc> {
  template <HostFloat T>
  static T of(T a) {
    return fraction(a, 1 - std::numeric_limits<T>::epsilon() / 2);
  }
  static Half of(Half a) { return to_half(fraction(to_float(a), 1 - 0x1p-11f)); }
};
template <>
struct Meaning<Op::rndd> {
  template <HostFloat T>
  static T of(T a) {
    return nan_or(a, [=] { return std::floor(a); });
  }
};
template <>
struct Meaning<Op::rndu> {
  template <HostFloat T>
  static T of(T a) {
    return nan_or(a, [=] { return std::ceil(a); });
  }
};
template <>
struct Meaning<Op::rnde> {
  static float of(float a) {
    return nan_or(a, [=] { return ::roundevenf(a); });
  }
  static double of(double a) {
    return nan_or(a, [=] { return ::roundeven(a); });
  }
};
template <>
struct Meaning<Op::rndz> {
  template <HostFloat T>
  static T of(T a) {
    return nan_or(a, [=] { return std::trunc(a); });
  }
};
template <>
struct Meaning<Op::sqrt> {
  static float of(float a) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a))); }
  static double of(double a) { return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(a))); }
};
template <>
struct Meaning<Op::rcp> {
  template <HostFloat T>
  static T of(T a) {
    return nan_or(a, [=] { return T{1} / a; });
  }
};
template <>
struct Meaning<Op::rsqrt> {
  template <HostFloat T>
  static T of(T a) {
    return eval<Op::rcp>(eval<Op::sqrt>(a));
  }
};

// Two operands.

template <>
struct Meaning<Op::add> {
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
  template <HostFloat T>
  static T of(T a, T b) {
    return nan_or(a, b, [=] { return a + b; });
  }
};
template <>
struct Meaning<Op::sub> {
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
  template <HostFloat T>
  static T of(T a, T b) {
    return nan_or(a, b, [=] { return a - b; });
  }
};
template <>
struct Meaning<Op::mul> {
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
  template <HostFloat T>
  static T of(T a, T b) {
    return nan_or(a, b, [=] { return a * b; });
  }
};
template <>
struct Meaning<Op::div> {
  template <HostFloat T>
  static T of(T a, T b) {
    return nan_or(a, b, [=] { return a / b; });
  }
};
template <>
struct Meaning<Op::quot> {
  template <Integer T>
  static T of(T a, T b) {
    using Limits = std::numeric_limits<T>;
    if (b == 0) return std::cmp_less(a, 0) ? Limits::min() : Limits::max();
    if (std::cmp_equal(b, -1)) return eval<Op::neg>(a);  // the lowest integer stays
    return static_cast<T>(a / b);
  }
};
template <>
struct Meaning<Op::rem> {
  template <Integer T>
  static T of(T a, T b) {
    if (b == 0) return std::signed_integral<T> ? a : std::numeric_limits<T>::max();
    if (std::cmp_equal(b, -1)) return 0;
    return static_cast<T>(a % b);
  }
};
template <>
struct Meaning<Op::min> {
  static float of(float a, float b) {
    return is_nan(b) ? a : _mm_cvtss_f32(_mm_min_ss(_mm_set_ss(a), _mm_set_ss(b)));
  }
  static double of(double a, double b) {
    return is_nan(b) ? a : _mm_cvtsd_f64(_mm_min_sd(_mm_set_sd(a), _mm_set_sd(b)));
  }
  template <Integer T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
};
template <>
struct Meaning<Op::max> {
  static float of(float a, float b) {
    return is_nan(a) ? b : _mm_cvtss_f32(_mm_max_ss(_mm_set_ss(b), _mm_set_ss(a)));
  }
  static double of(double a, double b) {
    return is_nan(a) ? b : _mm_cvtsd_f64(_mm_max_sd(_mm_set_sd(b), _mm_set_sd(a)));
  }
  template <Integer T>
  static T of(T a, T b) {
    return a > b ? a : b;
  }
};
template <>
struct Meaning<Op::and_> {
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
template <>
struct Meaning<Op::or_> {
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
template <>
struct Meaning<Op::xor_> {
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
template <>
struct Meaning<Op::andn> {
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>(~a & b);
  }
};
/// A shift count: the low bits of b.
template <Integer T>
unsigned shift_count(T b) {
  return static_cast<unsigned>(b) & (width_of<T> - 1);
}
template <>
struct Meaning<Op::shl> {
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) << shift_count(b));
  }
};
template <>
struct Meaning<Op::shr> {
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Bits<T>>(a) >> shift_count(b));
  }
};
template <>
struct Meaning<Op::asr> {
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<std::make_signed_t<T>>(a) >> shift_count(b));
  }
};
template <>
struct Meaning<Op::avg> {
  // (a + b + 1) >> 1 = (a | b) - ((a ^ b) >> 1), which cannot overflow.
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>((a | b) - ((a ^ b) >> 1));
  }
};
template <>
struct Meaning<Op::bfi1> {
  template <Integer32 T>
  static T of(T a, T b) {
    return static_cast<T>(((1u << shift_count(a)) - 1) << shift_count(b));
  }
};

// Three operands.

template <>
struct Meaning<Op::fma> {
  template <HostFloat T>
  static T of(T a, T b, T c) {
    return nan_or(a, b, [=] { return nan_or(c, [=] { return std::fma(a, b, c); }); });
  }
};
template <>
struct Meaning<Op::mad> {
  template <Integer T>
  static T of(T a, T b, T c) {
    return eval<Op::add>(eval<Op::mul>(a, b), c);
  }
};
template <>
struct Meaning<Op::bfe> {
  template <Integer32 T>
  static T of(T a, T b, T c) {
    const unsigned bits = shift_count(a), first = shift_count(b);
    if (bits == 0) return 0;
    if (bits + first >= 32) return static_cast<T>(c >> first);
    return static_cast<T>(eval<Op::shl>(c, static_cast<T>(32 - bits - first)) >> (32 - bits));
  }
};
template <>
struct Meaning<Op::bfi2> {
  template <Integer32 T>
  static T of(T a, T b, T c) {
    return static_cast<T>((a & b) | (~a & c));
  }
};

// Comparisons.

template <class T>
concept HostNumber = Integer<T> || HostFloat<T>;
template <>
struct Meaning<Op::cmp_eq> {
  template <HostNumber T>
  static bool of(T a, T b) {
    return a == b;
  }
};
template <>
struct Meaning<Op::cmp_ne> {
  template <HostNumber T>
  static bool of(T a, T b) {
    return a != b;
  }
};
template <>
struct Meaning<Op::cmp_lt> {
  template <HostNumber T>
  static bool of(T a, T b) {
    return a < b;
  }
};
template <>
struct Meaning<Op::cmp_le> {
  template <HostNumber T>
  static bool of(T a, T b) {
    return a <= b;
  }
};
template <>
struct Meaning<Op::cmp_gt> {
  template <HostNumber T>
  static bool of(T a, T b) {
    return a > b;
  }
};
template <>
struct Meaning<Op::cmp_ge> {
  template <HostNumber T>
  static bool of(T a, T b) {
    return a >= b;
  }
};
template <>
struct Meaning<Op::cmp_un> {
  template <HostFloat T>
  static bool of(T a, T b) {
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
struct Meaning<Op::mul_wide> {
  template <Integer32 T>
  static Two<T> of(T a, T b) {
    return halves<T>(static_cast<std::uint64_t>(Wide<T>{a} * Wide<T>{b}));
  }
};
template <>
struct Meaning<Op::addc> {
  template <Integer32 T>
  static Two<T> of(T a, T b) {
    return halves<T>(std::uint64_t{static_cast<std::uint32_t>(a)} + static_cast<std::uint32_t>(b));
  }
};
template <>
struct Meaning<Op::subb> {
  template <Integer32 T>
  static Two<T> of(T a, T b) {
    const bool borrow = static_cast<std::uint32_t>(a) < static_cast<std::uint32_t>(b);
    return {eval<Op::sub>(a, b), static_cast<T>(borrow)};
  }
};
template <>
struct Meaning<Op::mach> {
  template <Integer32 T>
  static Two<T> of(T a, T b, T low, T high) {
    const auto product = static_cast<std::uint64_t>(Wide<T>{a} * Wide<T>{b >> 16});
    const auto accumulator =
        std::uint64_t{static_cast<std::uint32_t>(high)} << 32 | static_cast<std::uint32_t>(low);
    return halves<T>((product << 16) + accumulator);
  }
};

}  // namespace eum::ir
