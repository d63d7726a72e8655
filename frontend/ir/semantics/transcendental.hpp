#pragma once
// The transcendental functions (and the few other ops defined by formulas), written once, without branches,
// as templates over the builder `B` that computes them. Instantiated with ScalarMath
// (frontend/ir/semantics/convert.hpp) they define the meaning of the ops, with an IR builder
// (jit/passes/expand_math.cpp) their expansion; both give the same bits.
//
// `B b` has, for values of f32, f64, s32 and u32 and masks:
//   b.constant(v)                                      a value of the C++ type of v in every lane
//   b.constant_like(x, double)                         a value of the float type of x in every lane
//   b.add sub mul fma min max rnde rndz abs and_ shl asr xor_  the ops of those names
//   b.cmp_eq cmp_ne cmp_lt cmp_gt cmp_un (x, y)        masks
//   b.select(mask, x, y)
//   b.template convert<T>(x), b.template bitcast<T>(x)
//   b.quot, b.integer_like(x, value), b.is_signed(x)   IR builders only: for rem, whose Semantics is separate
// At most one argument of a call makes an op or a constant: C++ leaves the order of arguments to the
// compiler, and with it the order of the ops would be. All functions but lrp and rem are of f32. Errors were
// measured in round to nearest even with denormals kept, against libm in double; other modes change the last
// places. All are deterministic.
#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "frontend/ir/ops.hpp"

namespace eum::ir::math {

inline constexpr float infinity = std::numeric_limits<float>::infinity();

/// coefficients[0] + x * (coefficients[1] + x * ...). The sum is the second factor: hosts that overwrite it
/// then take the coefficient from memory.
template <class B, class V, class T>
auto polynomial(B& b, V x, std::span<const T> coefficients) {
  auto sum = b.constant(coefficients.back());
  for (std::size_t i = coefficients.size() - 1; i-- > 0;) sum = b.fma(x, sum, b.constant(coefficients[i]));
  return sum;
}

/// `x` where it lies in [low, high], else the nearer bound; `high` for NaN.
template <class B, class V, class T>
auto clamp(B& b, V x, T low, T high) {
  auto bounded = b.min(x, b.constant(high));
  return b.max(bounded, b.constant(low));
}

/// x where it is infinity or NaN, else 0: to be added to results that are finite, or infinity, without it.
template <class B, class V>
auto unless_below_infinity(B& b, V x) {
  auto is_below = b.cmp_lt(x, b.constant(infinity));
  return b.select(is_below, b.constant(0.0f), x);
}

/// 1.5 * 2^23: added to an integral |n| < 2^22 it leaves n in the low bits of the sum.
inline constexpr float integer_bias = 12582912.0f;

/// The float whose exponent field is the low bits of `field`: 2^(field - 127), and 0 for 0.
template <class B, class V>
auto with_exponent(B& b, V field) {
  return b.template bitcast<float>(b.shl(field, b.constant(std::uint32_t{23})));
}

/// Bounds to which exponents are clamped. At the lower one 2^(n + f) is 0 in every rounding mode, because
/// a factor is; at the upper one it overflows as the rounding mode says, so infinity is handled
/// separately.
inline constexpr float least_exponent = -254.0f, most_exponent = 200.0f;

/// 2^(n + f) for integral n within these bounds and |f| <= 0.5. Where the result is not 0, only the last
/// multiplication may overflow or underflow, so denormal results are rounded once.
template <class B, class V>
auto exp2_parts(B& b, V n, V f) {
  // Minimax, relative error 2^-29.0.
  static constexpr std::array<float, 7> c{1.0f,           0.693147206f,   0.240226469f,   0.0555032878f,
                                          0.00961848889f, 0.00133999309f, 0.000153458274f};
  auto p = polynomial(b, f, std::span<const float>(c));
  // 2^n is two factors: n / 2, rounded as the mode says, and the rest are the exponents.
  auto bias = b.constant(integer_bias + 127);
  auto half = b.template bitcast<std::uint32_t>(b.fma(n, b.constant(0.5f), bias));
  p = b.mul(p, with_exponent(b, half));
  auto sum = b.template bitcast<std::uint32_t>(b.add(n, b.constant(integer_bias + 254)));
  return b.mul(p, with_exponent(b, b.sub(sum, half)));
}

/// 2 to the power x. Error at most 0.92 ulp; gradual underflow.
template <class B, class V>
auto exp2(B& b, V x) {
  auto clamped = clamp(b, x, least_exponent, most_exponent);
  auto n = b.rnde(clamped);
  auto power = exp2_parts(b, n, b.sub(clamped, n));
  return b.add(power, unless_below_infinity(b, x));
}

/// x = 2^exponent * (1 + r) for finite x > 0; exponent is integral, sqrt(1/2) <= 1 + r < sqrt(2), r exact.
template <class V>
struct Split {
  V exponent, r;
};
template <class B, class V>
Split<V> split(B& b, V x) {
  auto tiny = b.cmp_lt(x, b.constant(0x1p-126f));
  auto scaled = b.select(tiny, b.mul(x, b.constant(0x1p23f)), x);
  auto bits = b.template bitcast<std::int32_t>(scaled);
  auto root_half = b.constant(std::int32_t{0x3f3504f3});  // sqrt(1/2) as f32
  auto above = b.sub(bits, root_half);
  auto exponent = b.template convert<float>(b.asr(above, b.constant(std::int32_t{23})));
  auto fraction = b.and_(above, b.constant(std::int32_t{0x7fffff}));
  auto one_plus_r = b.template bitcast<float>(b.add(fraction, root_half));
  auto of_scaling = b.constant(-23.0f);
  auto adjustment = b.select(tiny, of_scaling, b.constant(0.0f));
  return {b.add(exponent, adjustment), b.sub(one_plus_r, b.constant(1.0f))};
}

/// Base-2 logarithm. Error at most 1.21 ulp. Zero gives -inf, below zero the default NaN.
template <class B, class V>
auto log2(B& b, V x) {
  // log2(1 + r) = r * P(r), minimax, relative error 2^-27.3. The leading coefficient is 1 + c[0].
  static constexpr std::array<float, 10> c{0.442695042f, -0.721347352f, 0.480897901f, -0.360696422f,
                                           0.288585275f, -0.239636653f, 0.204295980f, -0.190612015f,
                                           0.187826759f, -0.112976568f};
  auto [exponent, r] = split(b, x);
  auto p = b.mul(r, polynomial(b, r, std::span<const float>(c)));
  auto result = b.add(exponent, b.add(r, p));
  // Whatever x is, this is finite, and what is added is 0 but where x has no finite logarithm.
  result = b.add(result, unless_below_infinity(b, x));
  auto zero = b.constant(0.0f);
  auto is_negative = b.cmp_lt(x, zero);
  auto of_negative = b.select(is_negative, b.constant(std::numeric_limits<float>::quiet_NaN()), zero);
  auto is_zero = b.cmp_eq(x, zero);
  auto of_zero = b.select(is_zero, b.constant(-infinity), zero);
  result = b.add(result, of_negative);
  return b.add(result, of_zero);
}

/// sin(x + quadrant * pi/2). Absolute error at most 2^-23.4 for |x| <= 2^15, 2^-18.5 for |x| < 2^22.
template <class B, class V>
auto sin_quadrant(B& b, V x, std::int32_t quadrant) {
  // Beyond 2^22 an argument has no useful bits below pi/2: it is replaced by a zero of its sign. Infinity
  // becomes NaN here, NaN stays.
  auto magnitude = b.abs(x);
  auto in_range = b.cmp_lt(magnitude, b.constant(0x1p22f));
  x = b.select(in_range, x, b.mul(x, b.constant(0.0f)));
  auto k = b.rnde(b.mul(x, b.constant(0.636619772f)));
  auto biased = b.add(k, b.constant(integer_bias));
  k = b.sub(biased, b.constant(integer_bias));
  // pi/2 in three parts of 24 bits each, none negative, so that the sign of x = -0 survives.
  auto r = b.fma(k, b.constant(-1.57079625f), x);
  r = b.fma(k, b.constant(-7.54978942e-8f), r);
  r = b.fma(k, b.constant(-5.39030253e-15f), r);
  auto z = b.mul(r, r);
  // Minimax on |r| <= 1.02 * pi/4, absolute errors 2^-28.8 and 2^-33.
  static constexpr std::array<float, 3> s{-0.166666487f, 0.00833186765f, -0.000194817915f};
  static constexpr std::array<float, 3> c{0.0416666444f, -0.00138872427f, 0.0000244238889f};
  auto one = b.constant(1.0f);
  auto sine = b.mul(r, b.fma(z, polynomial(b, z, std::span<const float>(s)), one));
  auto first_terms = b.fma(z, b.constant(-0.5f), one);
  auto other_terms = polynomial(b, z, std::span<const float>(c));
  auto cosine = b.fma(b.mul(z, z), other_terms, first_terms);
  auto q = b.template bitcast<std::uint32_t>(biased);
  if (quadrant != 0) q = b.add(q, b.constant(static_cast<std::uint32_t>(quadrant)));
  auto low_bit = b.and_(q, b.constant(1u));
  auto odd = b.cmp_ne(low_bit, b.constant(0u));
  auto sign = b.and_(q, b.constant(2u));
  sign = b.shl(sign, b.constant(30u));
  auto without_sign = b.template bitcast<std::uint32_t>(b.select(odd, cosine, sine));
  return b.template bitcast<float>(b.xor_(without_sign, sign));
}

/// Sine of x radians. |x| >= 2^22: as of 0; infinity: NaN.
template <class B, class V>
auto sin(B& b, V x) {
  return sin_quadrant(b, x, 0);
}

/// Cosine of x radians. |x| >= 2^22: as of 0; infinity: NaN.
template <class B, class V>
auto cos(B& b, V x) {
  return sin_quadrant(b, x, 1);
}

/// |x| to the power y. Error at most 1.1 ulp. 1 where y = 0 or |x| = 1; NaN where x or y is NaN. The
/// logarithm and its product with y are computed in f64, because an error of y * log2|x| counts up to 150
/// times in the result.
template <class B, class V>
auto pow(B& b, V x, V y) {
  // log2(1 + r) = r * P(r), minimax, relative error 2^-32.6.
  static constexpr std::array<double, 12> c{
      1.442695040915248606,   -0.72134752546739875633, 0.48089833280665795263, -0.36067276461105084274,
      0.28853965082869384896, -0.24050514083859773481, 0.20612561452032407014, -0.1790517503462547406,
      0.15863812545804980507, -0.15664043037364813467, 0.15646414685765289177, -0.088756260847521596158};
  auto magnitude = b.abs(x);
  auto parts = split(b, magnitude);
  auto r = b.template convert<double>(parts.r);
  auto log = polynomial(b, r, std::span<const double>(c));
  log = b.fma(r, log, b.template convert<double>(parts.exponent));
  auto is_zero = b.cmp_eq(magnitude, b.constant(0.0f));
  log = b.select(is_zero, b.constant(double{-infinity}), log);
  auto is_infinite = b.cmp_eq(magnitude, b.constant(infinity));
  log = b.select(is_infinite, b.constant(double{infinity}), log);
  auto exponent = b.mul(log, b.template convert<double>(y));
  // 0 * infinity: the result is 1. NaN operands are handled last.
  auto overflows = b.cmp_eq(exponent, b.constant(double{infinity}));
  auto clamped = clamp(b, exponent, double{least_exponent}, double{most_exponent});
  auto undefined = b.cmp_un(exponent, exponent);
  exponent = b.select(undefined, b.constant(0.0), clamped);
  auto n = b.rnde(exponent);
  auto f = b.template convert<float>(b.sub(exponent, n));
  auto result = exp2_parts(b, b.template convert<float>(n), f);
  result = b.select(overflows, b.constant(infinity), result);
  auto special = b.add(x, y);
  return b.select(b.cmp_un(x, y), special, result);
}

/// x*y + (1 - x)*z, of f32 or f64.
template <class B, class V>
auto lrp(B& b, V x, V y, V z) {
  return b.fma(x, y, b.mul(b.sub(b.constant_like(x, 1.0), x), z));
}

/// x - (x / y) * y for integers, so that a quotient that is also needed is computed once. x rem 0 is x for s,
/// and all ones for u.
template <class B, class V>
auto rem(B& b, V x, V y) {
  auto quotient = b.quot(x, y);
  auto rest = b.sub(x, b.mul(quotient, y));
  if (b.is_signed(x)) return rest;
  auto by_zero = b.cmp_eq(y, b.integer_like(y, 0));
  return b.select(by_zero, b.integer_like(y, -1), rest);
}

/// The formula of an op whose row says Expand.
template <Op op>
struct Formula;
template <>
struct Formula<Op::exp2> {
  static auto build(auto& b, auto x) { return math::exp2(b, x); }
};
template <>
struct Formula<Op::log2> {
  static auto build(auto& b, auto x) { return math::log2(b, x); }
};
template <>
struct Formula<Op::sin> {
  static auto build(auto& b, auto x) { return math::sin(b, x); }
};
template <>
struct Formula<Op::cos> {
  static auto build(auto& b, auto x) { return math::cos(b, x); }
};
template <>
struct Formula<Op::pow> {
  static auto build(auto& b, auto x, auto y) { return math::pow(b, x, y); }
};
template <>
struct Formula<Op::rem> {
  static auto build(auto& b, auto x, auto y) { return math::rem(b, x, y); }
};
template <>
struct Formula<Op::lrp> {
  static auto build(auto& b, auto x, auto y, auto z) { return math::lrp(b, x, y, z); }
};

}  // namespace eum::ir::math
