// Accuracy and special values of the transcendental ops, compared with libm in double precision.
#include <xmmintrin.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

#include "frontend/ir/semantics/lane.hpp"
#include "frontend/ir/semantics/lane_function.hpp"

using namespace eum::ir;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

float one(Op op, float x) {
  const void* args[] = {&x};
  float result;
  lane_function(op, Type::f32)(&result, args, 1);
  return result;
}
float two(Op op, float x, float y) {
  const void* args[] = {&x, &y};
  float result;
  lane_function(op, Type::f32)(&result, args, 1);
  return result;
}

/// Distance in units of the last place of the f32 nearest to `wanted`.
double ulps(float got, double wanted) {
  if (std::isnan(got) || std::isnan(wanted)) return std::isnan(got) == std::isnan(wanted) ? 0 : 1e9;
  if (std::isinf(got) || std::fabs(wanted) >= 0x1.ffffffp127)
    return double{got} == wanted || (std::isinf(got) && std::fabs(wanted) >= 0x1.fffffep127) ? 0 : 1e9;
  int exponent;
  std::frexp(wanted, &exponent);
  return std::fabs(double{got} - wanted) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

struct Worst {
  double error = 0;
  float x = 0, y = 0;
  void add(double e, float at, float at2 = 0) {
    if (e > error) *this = {e, at, at2};
  }
};

}  // namespace

TEST_CASE("exp2 is within 2 ulp, denormal results included") {
  Worst worst;
  for (std::uint32_t bits = 0; bits <= 0x43200000; bits += 997) {  // to 160
    for (std::uint32_t sign : {0u, 0x80000000u}) {
      const auto x = std::bit_cast<float>(bits | sign);
      worst.add(ulps(one(Op::exp2, x), std::exp2(double{x})), x);
    }
  }
  std::printf("exp2: %.3f ulp at %a\n", worst.error, double{worst.x});
  CHECK(worst.error <= 2);
  for (int n = -149; n <= 127; ++n) CHECK(one(Op::exp2, static_cast<float>(n)) == std::ldexp(1.0f, n));
  CHECK(one(Op::exp2, 128.0f) == inf);
  CHECK(one(Op::exp2, 1e30f) == inf);
  CHECK(one(Op::exp2, inf) == inf);
  CHECK(one(Op::exp2, -151.0f) == 0);
  CHECK(one(Op::exp2, -inf) == 0);
  CHECK(std::isnan(one(Op::exp2, NAN)));
  const unsigned mode = _mm_getcsr();
  _mm_setcsr(mode | 0x8040);
  const float flushed = one(Op::exp2, -127.0f);
  _mm_setcsr(mode);
  CHECK(flushed == 0);
}

TEST_CASE("log2 is within 2 ulp") {
  Worst worst;
  const auto check = [&](std::uint32_t bits) {
    const auto x = std::bit_cast<float>(bits);
    worst.add(ulps(one(Op::log2, x), std::log2(double{x})), x);
  };
  for (std::uint32_t bits = 1; bits < 0x7f800000; bits += 1009) check(bits);
  for (std::uint32_t bits = 0x3f000000; bits < 0x40000000; bits += 13) check(bits);
  std::printf("log2: %.3f ulp at %a\n", worst.error, double{worst.x});
  CHECK(worst.error <= 2);
  for (int n = -149; n <= 127; ++n) CHECK(one(Op::log2, std::ldexp(1.0f, n)) == static_cast<float>(n));
  CHECK(one(Op::log2, 0.0f) == -inf);
  CHECK(one(Op::log2, -0.0f) == -inf);
  CHECK(one(Op::log2, inf) == inf);
  for (float x : {-1.0f, -1e-40f, -inf, NAN}) CHECK(std::isnan(one(Op::log2, x)));
}

TEST_CASE("sin and cos are within 2^-20") {
  Worst sine, cosine, far;
  for (std::uint32_t bits = 0; bits < 0x47000000; bits += 499) {  // to 2^15
    const auto x = std::bit_cast<float>(bits);
    sine.add(std::fabs(one(Op::sin, x) - std::sin(double{x})), x);
    cosine.add(std::fabs(one(Op::cos, -x) - std::cos(double{x})), x);
  }
  for (std::uint32_t bits = 0x47000000; bits < 0x4a800000; bits += 97) {  // to 2^22
    const auto x = std::bit_cast<float>(bits);
    far.add(std::fabs(one(Op::sin, x) - std::sin(double{x})), x);
    far.add(std::fabs(one(Op::cos, x) - std::cos(double{x})), x);
  }
  std::printf("sin: 2^%.2f at %a, cos: 2^%.2f at %a, to 2^22: 2^%.2f at %a\n", std::log2(sine.error),
              double{sine.x}, std::log2(cosine.error), double{cosine.x}, std::log2(far.error), double{far.x});
  CHECK(sine.error <= 0x1p-20);
  CHECK(cosine.error <= 0x1p-20);
  CHECK(far.error <= 0x1p-10);
  CHECK(std::bit_cast<std::uint32_t>(one(Op::sin, -0.0f)) == 0x80000000u);
  CHECK(std::bit_cast<std::uint32_t>(one(Op::sin, 0.0f)) == 0);
  CHECK(one(Op::sin, 1e-30f) == 1e-30f);
  CHECK(one(Op::cos, 0.0f) == 1);
  for (float x : {0x1p22f, 1e30f, -1e38f}) {
    CHECK(std::fabs(one(Op::sin, x)) <= 1);
    CHECK(std::fabs(one(Op::cos, x)) <= 1);
  }
  for (float x : {inf, -inf, static_cast<float>(NAN)}) {
    CHECK(std::isnan(one(Op::sin, x)));
    CHECK(std::isnan(one(Op::cos, x)));
  }
}

TEST_CASE("pow is within 16 ulp") {
  Worst worst;
  std::mt19937 random(7);
  for (int i = 0; i < 3000000; ++i) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random() & 0xffffffff));
    // Exponents that keep most results finite.
    const double log = std::log2(std::fabs(double{x}));
    const double wanted_log = (double(random()) / 4294967296.0 - 0.5) * 300;
    const auto y = static_cast<float>((i & 7) == 0 ? wanted_log : wanted_log / log);
    if (std::isnan(x) || std::isnan(y)) continue;
    worst.add(ulps(two(Op::pow, x, y), std::pow(std::fabs(double{x}), double{y})), x, y);
  }
  for (int i = 0; i < 1000000; ++i) {  // near 1, where the logarithm is small and the exponent large
    const float x = 1 + std::ldexp(float(random()) / 4294967296.0f - 0.5f, -static_cast<int>(random() % 20));
    const auto y = static_cast<float>((double(random()) / 4294967296.0 - 0.5) * 250 / std::log2(double{x}));
    if (std::isnan(y)) continue;
    worst.add(ulps(two(Op::pow, x, y), std::pow(double{x}, double{y})), x, y);
  }
  std::printf("pow: %.3f ulp at %a, %a\n", worst.error, double{worst.x}, double{worst.y});
  CHECK(worst.error <= 16);
  for (float x : {0.0f, -0.0f, 0.5f, -0.5f, 1.0f, -1.0f, 2.0f, 1e-40f, 3e38f, inf, -inf})
    for (float y : {0.0f, -0.0f, 0.5f, -0.5f, 1.0f, -1.0f, 2.0f, 1e30f, -1e30f, 1e-40f, inf, -inf}) {
      INFO(x << " ^ " << y);
      CHECK(ulps(two(Op::pow, x, y), std::pow(std::fabs(double{x}), double{y})) <= 2);
    }
  for (float x : {0.0f, 1.0f, inf}) {
    CHECK(std::isnan(two(Op::pow, x, NAN)));
    CHECK(std::isnan(two(Op::pow, NAN, x)));
  }
}

TEST_CASE("lrp is exact at its ends") {
  for (float b : {1.0f, -3.5f, 1e-30f, 0.1f})
    for (float c : {7.0f, -0.3f, 2e20f}) {
      float at_one = 1, at_zero = 0, result;
      const void* to_b[] = {&at_one, &b, &c};
      lane_function(Op::lrp, Type::f32)(&result, to_b, 1);
      CHECK(result == b);
      const void* to_c[] = {&at_zero, &b, &c};
      lane_function(Op::lrp, Type::f32)(&result, to_c, 1);
      CHECK(result == c);
    }
}
