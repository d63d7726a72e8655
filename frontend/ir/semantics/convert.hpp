#pragma once
// Conversions and transcendental functions for one lane: Semantics<op>::eval(operands). The table of
// lane_function.cpp instantiates the Semantics of every lanewise row of ops.def, so a row without one does
// not compile.
#include "frontend/ir/semantics/arithmetic.hpp"
#include "frontend/ir/semantics/transcendental.hpp"

namespace eum::ir {

// Conversions.

/// `x` clamped to the range of To. Integers only.
template <Integer To, Integer From>
To saturate(From x) {
  if (std::cmp_less(x, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (std::cmp_greater(x, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(x);
}

/// Rounds to zero, saturates; NaN gives 0.
template <Integer To, HostFloat From>
To truncate(From x) {
  if (is_nan(x)) return 0;
  constexpr int digits = std::numeric_limits<To>::digits;
  constexpr From limit = 2 * static_cast<From>(std::uint64_t{1} << (digits - 1));
  if (x >= limit) return std::numeric_limits<To>::max();
  if (std::signed_integral<To> ? x < -limit : x <= 0) return std::numeric_limits<To>::min();
  return static_cast<To>(x);
}

/// Rounds by MXCSR.RC in one step.
template <HostFloat To, Integer From>
To round_integer(From x) {
  if constexpr (std::same_as<From, std::uint64_t>) {
    if (x >> 63 != 0) {
      // Halved, the lost bit kept as a sticky bit, so that it rounds the same; doubling is exact.
      const To half = static_cast<To>(static_cast<std::int64_t>((x >> 1) | (x & 1)));
      return half + half;
    }
  }
  return static_cast<To>(static_cast<std::int64_t>(x));
}

template <class To, class From>
To convert(From x) {
  if constexpr (std::same_as<To, From>) {
    return x;
  } else if constexpr (std::same_as<From, Half>) {
    return convert<To>(to_float(x));
  } else if constexpr (std::same_as<To, Half>) {
    return to_half(convert<float>(x));
  } else if constexpr (HostFloat<From> && Integer<To>) {
    return truncate<To>(x);
  } else if constexpr (HostFloat<To> && Integer<From>) {
    return round_integer<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <>
struct Semantics<Op::convert> {
  template <class To, class From>
  static To eval(From x) {
    return convert<To>(x);
  }
};
template <>
struct Semantics<Op::convert_keep> {
  template <class To, class From>
  static To eval(From x) {
    return convert<To>(x);
  }
};
template <>
struct Semantics<Op::convert_indefinite> {
  template <class To, class From>
  static To eval(From x) {
    if constexpr (std::same_as<From, Half>) {
      return eval<To>(to_float(x));
    } else if constexpr (HostFloat<From> && Integer<To>) {
      using Signed = std::make_signed_t<To>;
      constexpr int digits = std::numeric_limits<To>::digits;
      constexpr From limit = 2 * static_cast<From>(std::uint64_t{1} << (digits - 1));
      const From least = std::signed_integral<To> ? -limit : From{0};
      if (x > least - 1 && x < limit) return convert<To>(x);
      return static_cast<To>(std::numeric_limits<Signed>::min());
    } else {
      return convert<To>(x);
    }
  }
};
template <>
struct Semantics<Op::bitcast> {
  template <class To, class From>
  static To eval(From x) requires(sizeof(To) == sizeof(From)) {
    return std::bit_cast<To>(x);
  }
};

// Transcendental functions.

/// The `B` of the templates of transcendental.hpp, one lane at a time.
struct ScalarMath {
  template <class T>
  T constant(T value) const {
    return value;
  }
  template <class T>
  T constant_like(T, double value) const {
    return static_cast<T>(value);
  }
  template <class T>
  T add(T a, T b) const {
    return eval_lane<Op::add>(a, b);
  }
  template <class T>
  T sub(T a, T b) const {
    return eval_lane<Op::sub>(a, b);
  }
  template <class T>
  T mul(T a, T b) const {
    return eval_lane<Op::mul>(a, b);
  }
  template <class T>
  T fma(T a, T b, T c) const {
    return eval_lane<Op::fma>(a, b, c);
  }
  template <class T>
  T min(T a, T b) const {
    return eval_lane<Op::min>(a, b);
  }
  template <class T>
  T max(T a, T b) const {
    return eval_lane<Op::max>(a, b);
  }
  template <class T>
  T rnde(T a) const {
    return eval_lane<Op::rnde>(a);
  }
  template <class T>
  T rndz(T a) const {
    return eval_lane<Op::rndz>(a);
  }
  template <class T>
  T abs(T a) const {
    return eval_lane<Op::abs>(a);
  }
  template <class T>
  T and_(T a, T b) const {
    return eval_lane<Op::and_>(a, b);
  }
  template <class T>
  T xor_(T a, T b) const {
    return eval_lane<Op::xor_>(a, b);
  }
  template <class T>
  T shl(T a, T b) const {
    return eval_lane<Op::shl>(a, b);
  }
  template <class T>
  T asr(T a, T b) const {
    return eval_lane<Op::asr>(a, b);
  }
  template <class T>
  bool cmp_eq(T a, T b) const {
    return eval_lane<Op::cmp_eq>(a, b);
  }
  template <class T>
  bool cmp_ne(T a, T b) const {
    return eval_lane<Op::cmp_ne>(a, b);
  }
  template <class T>
  bool cmp_lt(T a, T b) const {
    return eval_lane<Op::cmp_lt>(a, b);
  }
  template <class T>
  bool cmp_gt(T a, T b) const {
    return eval_lane<Op::cmp_gt>(a, b);
  }
  template <class T>
  bool cmp_un(T a, T b) const {
    return eval_lane<Op::cmp_un>(a, b);
  }
  template <class T>
  T select(bool mask, T a, T b) const {
    return mask ? a : b;
  }
  template <class To, class From>
  To convert(From a) const {
    return Semantics<Op::convert>::eval<To>(a);
  }
  template <class To, class From>
  To bitcast(From a) const {
    return Semantics<Op::bitcast>::eval<To>(a);
  }
};

template <Op op>
requires(info(op).backend == Backend::Expand) struct Semantics<op> {
  template <HostFloat T, std::same_as<T>... Rest>
  static T eval(T a, Rest... rest) {
    ScalarMath b;
    return math::Formula<op>::build(b, a, rest...);
  }
};

template <>
struct Semantics<Op::convert_sat> {
  template <class To, class From>
  static To eval(From x) {
    if constexpr (Integer<To> && Integer<From>)
      return saturate<To>(x);
    else if constexpr (Integer<To>)
      return convert<To>(x);
    else
      return eval_lane<Op::sat>(convert<To>(x));
  }
};

}  // namespace eum::ir
