// Float ops against the host's own instructions, in every rounding and denormal mode, and integer ops against
// 128-bit arithmetic.
#include "frontend/ir/semantics/lane_function.hpp"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "frontend/ir/semantics/lane.hpp"

using namespace eum::ir;

namespace {

/// Runs `body` in all 4 rounding modes x denormals kept or flushed, and restores the mode.
template <class Body>
void in_every_mode(Body body) {
  const unsigned before = _mm_getcsr();
  for (unsigned rounding = 0; rounding < 4; ++rounding) {
    for (unsigned flush : {0u, 0x8040u}) {
      _mm_setcsr(0x1f80 | rounding << 13 | flush);
      body();
    }
  }
  _mm_setcsr(before);
}

std::vector<std::uint32_t> edge_floats() {
  std::vector<std::uint32_t> bits;
  for (std::uint32_t magnitude :
       {0u,          1u,          2u,          0x7fffffu,   0x800000u,   0x800001u,   0x33000000u,
        0x33000001u, 0x33800000u, 0x387fc000u, 0x387fe000u, 0x387fffffu, 0x38800000u, 0x3effffffu,
        0x3f000000u, 0x3f000001u, 0x3f7fffffu, 0x3f800000u, 0x3f800001u, 0x3fc00000u, 0x40000000u,
        0x477fefffu, 0x477ff000u, 0x47800000u, 0x4b000000u, 0x4b000001u, 0x4effffffu, 0x4f000000u,
        0x5f000000u, 0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fa12345u, 0x7fc00000u, 0x7fffffffu}) {
    bits.push_back(magnitude);
    bits.push_back(magnitude | 0x80000000u);
  }
  return bits;
}

template <class T>
T run(Op op, Type type, std::initializer_list<T> operands) {
  std::vector<const void*> args;
  for (const T& operand : operands) args.push_back(&operand);
  T result{};
  const LaneFunction function = lane_function(op, type);
  REQUIRE(function != nullptr);
  function(&result, args.data(), 1);
  return result;
}

template <class To, class From>
To run_convert(Op op, Type to, Type from, From x) {
  const void* args[] = {&x};
  To result{};
  const LaneFunction function = lane_function(op, to, from);
  REQUIRE(function != nullptr);
  function(&result, args, 1);
  return result;
}

/// Fails with the operands in hexadecimal if the results differ.
template <class T>
void check_same(const char* what, T got, T wanted, Bits<T> a, Bits<T> b = 0, Bits<T> c = 0) {
  const auto g = std::bit_cast<Bits<T>>(got), w = std::bit_cast<Bits<T>>(wanted);
  if (g == w) return;
  INFO(what << " of " << std::hex << +a << ", " << +b << ", " << +c << " in mode " << _mm_getcsr());
  CHECK(+g == +w);
}

// The host's instructions themselves: the compiler can neither fold nor commute these.
#define TWO(name, type, text)               \
  type name(type a, type b) {               \
    asm(text " %1, %0" : "+x"(a) : "x"(b)); \
    return a;                               \
  }
TWO(host_add, float, "addss")
TWO(host_sub, float, "subss")
TWO(host_mul, float, "mulss")
TWO(host_div, float, "divss")
TWO(host_min, float, "minss")
TWO(host_max, float, "maxss")
TWO(host_add, double, "addsd")
TWO(host_sub, double, "subsd")
TWO(host_mul, double, "mulsd")
TWO(host_div, double, "divsd")
#undef TWO

float host_sqrt(float a) {
  asm("sqrtss %0, %0" : "+x"(a));
  return a;
}
template <int mode>
float host_round(float a) {
  asm("roundss %1, %0, %0" : "+x"(a) : "i"(mode));
  return a;
}
float host_fma(float a, float b, float c) {
  asm("vfmadd213ss %2, %1, %0" : "+x"(a) : "x"(b), "x"(c));
  return a;
}
Half host_to_half(float a) {
  std::uint32_t bits;
  asm("vcvtps2ph $4, %1, %1\n vmovd %1, %0" : "=r"(bits), "+x"(a));
  return {static_cast<std::uint16_t>(bits)};
}
float host_to_float(Half a) {
  float result;
  asm("vmovd %1, %0\n vcvtph2ps %0, %0" : "=x"(result) : "r"(std::uint32_t{a.bits}));
  return result;
}

std::uint32_t random_float_bits(std::mt19937& random) {
  // Half of them are near 1, so that operands interact.
  const auto bits = static_cast<std::uint32_t>(random());
  return (random() & 1) != 0 ? bits : (bits & 0x83ffffffu) + 0x3d800000u;
}

}  // namespace

TEST_CASE("f16 conversions are those of the host in every mode") {
  if (!__builtin_cpu_supports("avx2")) {
    WARN("the host has no AVX2: not compared");
    return;
  }
  in_every_mode([] {
    for (std::uint32_t i = 0; i < 0x10000; ++i) {
      const Half half{static_cast<std::uint16_t>(i)};
      check_same("to_float", to_float(half), host_to_float(half), i);
      // Values between two neighbours in f16: the tie and numbers next to it.
      for (std::uint32_t offset : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x1fffu}) {
        const auto x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(to_float(half)) + offset);
        check_same("to_half", to_half(x), host_to_half(x), static_cast<std::uint16_t>(i));
      }
    }
    for (std::uint32_t bits : edge_floats()) {
      const auto x = std::bit_cast<float>(bits);
      const Half wanted = host_to_half(x);
      INFO(std::hex << bits);
      CHECK(to_half(x).bits == wanted.bits);
    }
    for (std::uint32_t bits = 0; bits < 0x40000000; bits += 40961) {  // f32 denormals and those of f16
      const auto x = std::bit_cast<float>(bits);
      if (to_half(x).bits != host_to_half(x).bits) FAIL("to_half of " << std::hex << bits);
    }
  });
}

TEST_CASE("f32 and f64 arithmetic is that of the host's instructions in every mode") {
  std::mt19937 random(1);
  std::vector<std::uint32_t> values = edge_floats();
  for (int i = 0; i < 60; ++i) values.push_back(random_float_bits(random));
  in_every_mode([&] {
    for (std::uint32_t abits : values) {
      const auto a = std::bit_cast<float>(abits);
      check_same("sqrt", run(Op::sqrt, Type::f32, {a}), host_sqrt(a), abits);
      check_same("rcp", run(Op::rcp, Type::f32, {a}), host_div(1.0f, a), abits);
      check_same("rsqrt", run(Op::rsqrt, Type::f32, {a}), host_div(1.0f, host_sqrt(a)), abits);
      check_same("rnde", run(Op::rnde, Type::f32, {a}), host_round<8>(a), abits);
      check_same("rndd", run(Op::rndd, Type::f32, {a}), host_round<9>(a), abits);
      check_same("rndu", run(Op::rndu, Type::f32, {a}), host_round<10>(a), abits);
      check_same("rndz", run(Op::rndz, Type::f32, {a}), host_round<11>(a), abits);
      check_same("frc", run(Op::frc, Type::f32, {a}), host_min(0x1.fffffep-1f, host_sub(a, host_round<9>(a))),
                 abits);
      check_same("sat", run(Op::sat, Type::f32, {a}), host_min(host_max(a, 0.0f), 1.0f), abits);
      for (std::uint32_t bbits : values) {
        const auto b = std::bit_cast<float>(bbits);
        check_same("add", run(Op::add, Type::f32, {a, b}), host_add(a, b), abits, bbits);
        check_same("sub", run(Op::sub, Type::f32, {a, b}), host_sub(a, b), abits, bbits);
        check_same("mul", run(Op::mul, Type::f32, {a, b}), host_mul(a, b), abits, bbits);
        check_same("div", run(Op::div, Type::f32, {a, b}), host_div(a, b), abits, bbits);
        check_same("min", run(Op::min, Type::f32, {a, b}), b != b ? a : host_min(a, b), abits, bbits);
        check_same("max", run(Op::max, Type::f32, {a, b}), a != a ? b : host_max(b, a), abits, bbits);
        const double x = double{a} * 0x1.123456789p-3, y = double{b} * 0x1.fedcba987p+1;
        check_same("add", run(Op::add, Type::f64, {x, y}), host_add(x, y), abits, bbits);
        check_same("sub", run(Op::sub, Type::f64, {x, y}), host_sub(x, y), abits, bbits);
        check_same("mul", run(Op::mul, Type::f64, {x, y}), host_mul(x, y), abits, bbits);
        check_same("div", run(Op::div, Type::f64, {x, y}), host_div(x, y), abits, bbits);
      }
    }
  });
}

TEST_CASE("fma is that of the host's instruction in every mode") {
  if (!__builtin_cpu_supports("avx2")) {
    WARN("the host has no AVX2: not compared");
    return;
  }
  std::mt19937 random(2);
  std::vector<std::uint32_t> values = edge_floats();
  for (int i = 0; i < 10; ++i) values.push_back(random_float_bits(random));
  in_every_mode([&] {
    for (std::uint32_t a : values)
      for (std::uint32_t b : values)
        for (std::uint32_t c : values) {
          const auto x = std::bit_cast<float>(a), y = std::bit_cast<float>(b), z = std::bit_cast<float>(c);
          const float got = run(Op::fma, Type::f32, {x, y, z});
          // Which of several NaN operands an fma propagates is up to the emitter: first a, then b, then c.
          const float wanted = x != x   ? host_add(x, x)
                               : y != y ? host_add(y, y)
                               : z != z ? host_add(z, z)
                                        : host_fma(x, y, z);
          check_same("fma", got, wanted, a, b, c);
        }
  });
}

TEST_CASE("f16 arithmetic is that of f32, rounded once more") {
  std::mt19937 random(3);
  in_every_mode([&] {
    for (int i = 0; i < 20000; ++i) {
      const Half a{static_cast<std::uint16_t>(random())}, b{static_cast<std::uint16_t>(random())};
      const float x = to_float(a), y = to_float(b);
      check_same("add", run(Op::add, Type::f16, {a, b}), to_half(host_add(x, y)), a.bits, b.bits);
      check_same("mul", run(Op::mul, Type::f16, {a, b}), to_half(host_mul(x, y)), a.bits, b.bits);
      check_same("div", run(Op::div, Type::f16, {a, b}), to_half(host_div(x, y)), a.bits, b.bits);
      check_same("neg", run(Op::neg, Type::f16, {a}), Half{static_cast<std::uint16_t>(a.bits ^ 0x8000)},
                 a.bits);
      check_same("abs", run(Op::abs, Type::f16, {a}), Half{static_cast<std::uint16_t>(a.bits & 0x7fff)},
                 a.bits);
    }
  });
  CHECK(run(Op::frc, Type::f16, {Half{0x8001}}).bits == 0x3bff);  // -2^-24: the largest value below 1
}

TEST_CASE("float to integer conversion truncates and saturates, NaN gives 0") {
  const auto check = [](auto low, Type to) {
    using To = decltype(low);
    for (std::uint32_t bits : edge_floats()) {
      const auto x = std::bit_cast<float>(bits);
      To wanted = 0;
      if (x == x) {
        const long double whole = truncl(x);
        constexpr long double lowest = std::numeric_limits<To>::min(),
                              highest = std::numeric_limits<To>::max();
        wanted = whole < lowest    ? std::numeric_limits<To>::min()
                 : whole > highest ? std::numeric_limits<To>::max()
                                   : static_cast<To>(whole);
      }
      INFO(info(to).name << " of " << x);
      CHECK(run_convert<To>(Op::convert, to, Type::f32, x) == wanted);
      CHECK(run_convert<To>(Op::convert, to, Type::f64, double{x}) == wanted);
      CHECK(run_convert<To>(Op::convert_sat, to, Type::f32, x) == wanted);
    }
  };
  check(std::uint8_t{}, Type::u8);
  check(std::int8_t{}, Type::s8);
  check(std::uint16_t{}, Type::u16);
  check(std::int16_t{}, Type::s16);
  check(std::uint32_t{}, Type::u32);
  check(std::int32_t{}, Type::s32);
  check(std::uint64_t{}, Type::u64);
  check(std::int64_t{}, Type::s64);
}

TEST_CASE("integer to float conversion rounds once, by the mode") {
  std::mt19937_64 random(4);
  in_every_mode([&] {
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t u = i < 64    ? ~std::uint64_t{0} >> i
                              : i < 128 ? std::uint64_t{1} << (i - 64)
                                        : random() >> (i % 64);
      const auto s = static_cast<std::int64_t>(u);
      // A long double holds every u64, but its conversion to f32 and f64 uses the x87, which ignores MXCSR;
      // so convert two exact halves, whose sum is rounded once.
      const auto two_halves = [](auto high, std::uint32_t low) {
        return host_add(double(high) * 0x1p32, double(low));
      };
      check_same("u64 to f64", run_convert<double>(Op::convert, Type::f64, Type::u64, u),
                 two_halves(static_cast<std::uint32_t>(u >> 32), static_cast<std::uint32_t>(u)), u);
      check_same("s64 to f64", run_convert<double>(Op::convert, Type::f64, Type::s64, s),
                 two_halves(static_cast<std::int32_t>(s >> 32), static_cast<std::uint32_t>(u)), u);
      float from_s64;
      asm("pxor %0, %0\n cvtsi2ssq %1, %0" : "=&x"(from_s64) : "r"(s));
      check_same("s64 to f32", run_convert<float>(Op::convert, Type::f32, Type::s64, s), from_s64,
                 static_cast<std::uint32_t>(u));
      const auto low = static_cast<std::uint32_t>(u);
      double exact = double(low);
      float from_u32;
      asm("pxor %0, %0\n cvtsd2ss %1, %0" : "=&x"(from_u32) : "x"(exact));
      check_same("u32 to f32", run_convert<float>(Op::convert, Type::f32, Type::u32, low), from_u32, low);
    }
  });
}

namespace {

/// Operands of an integer type: edge values and random ones.
template <class T>
std::vector<T> integers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{
      0, 1, 2, 3, 7, Limits::max(), Limits::max() - 1, Limits::min(), T(Limits::min() + 1), T(-1), T(-2)};
  std::mt19937_64 random(5);
  for (int i = 0; i < 24; ++i) values.push_back(static_cast<T>(random() >> (random() % 64)));
  return values;
}

/// Every two-operand op of an integer type against 128-bit arithmetic.
template <class T>
void check_integer(Type type) {
  using Wide = __int128;
  constexpr Wide lowest = std::numeric_limits<T>::min(), highest = std::numeric_limits<T>::max();
  constexpr unsigned width = 8 * sizeof(T);
  const auto ones = (Wide{1} << width) - 1;
  for (T a : integers<T>()) {
    const Wide x = a;
    const auto check = [&](Op op, T got, Wide wanted, T b) {
      INFO(op_name(op) << '.' << info(type).name << ' ' << +a << ", " << +b);
      CHECK(+got == +static_cast<T>(wanted));
    };
    check(Op::neg, run(Op::neg, type, {a}), -x, a);
    check(Op::abs, run(Op::abs, type, {a}), x < 0 ? -x : x, a);
    check(Op::not_, run(Op::not_, type, {a}), -1 - x, a);
    int ones_count = 0;
    for (unsigned i = 0; i < width; ++i) ones_count += int((x >> i) & 1);
    check(Op::cbit, run(Op::cbit, type, {a}), ones_count, a);
    for (T b : integers<T>()) {
      const Wide y = b;
      const auto count = static_cast<unsigned>(y & (width - 1));
      check(Op::add, run(Op::add, type, {a, b}), x + y, b);
      check(Op::sub, run(Op::sub, type, {a, b}), x - y, b);
      check(Op::mul, run(Op::mul, type, {a, b}),
            static_cast<Wide>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y)), b);
      check(Op::mad, run(Op::mad, type, {a, b, a}),
            static_cast<Wide>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y) +
                              static_cast<unsigned __int128>(x)),
            b);
      check(Op::quot, run(Op::quot, type, {a, b}), y != 0 ? x / y : x < 0 ? lowest : highest, b);
      check(Op::rem, run(Op::rem, type, {a, b}), y != 0 ? x % y : lowest < 0 ? x : highest, b);
      check(Op::min, run(Op::min, type, {a, b}), x < y ? x : y, b);
      check(Op::max, run(Op::max, type, {a, b}), x < y ? y : x, b);
      check(Op::and_, run(Op::and_, type, {a, b}), x & y, b);
      check(Op::or_, run(Op::or_, type, {a, b}), x | y, b);
      check(Op::xor_, run(Op::xor_, type, {a, b}), x ^ y, b);
      check(Op::andn, run(Op::andn, type, {a, b}), ~x & y, b);
      check(Op::shl, run(Op::shl, type, {a, b}), (x & ones) << count, b);
      check(Op::shr, run(Op::shr, type, {a, b}), (x & ones) >> count, b);
      const Wide sign_extended = static_cast<std::make_signed_t<T>>(a);
      check(Op::asr, run(Op::asr, type, {a, b}), sign_extended >> count, b);
      check(Op::avg, run(Op::avg, type, {a, b}), (x + y + 1) >> 1, b);
      if constexpr (width == 16) check(Op::mul_high, run(Op::mul_high, type, {a, b}), (x * y) >> 16, b);
      if constexpr (width <= 16) {
        check(Op::add_sat, run(Op::add_sat, type, {a, b}), std::clamp(x + y, lowest, highest), b);
        check(Op::sub_sat, run(Op::sub_sat, type, {a, b}), std::clamp(x - y, lowest, highest), b);
      }
      if constexpr (width == 32)
        check(Op::rotl, run(Op::rotl, type, {a, b}),
              (x & ones) << count | (x & ones) >> (count == 0 ? 32 : 32 - count), b);
    }
  }
}

}  // namespace

TEST_CASE("integer ops are those of 128-bit arithmetic") {
  check_integer<std::uint8_t>(Type::u8);
  check_integer<std::int8_t>(Type::s8);
  check_integer<std::uint16_t>(Type::u16);
  check_integer<std::int16_t>(Type::s16);
  check_integer<std::uint32_t>(Type::u32);
  check_integer<std::int32_t>(Type::s32);
  check_integer<std::uint64_t>(Type::u64);
  check_integer<std::int64_t>(Type::s64);
}

TEST_CASE("bit field and bit search ops") {
  CHECK(run(Op::lzd, Type::u32, {0u}) == 32);
  CHECK(run(Op::lzd, Type::u32, {0x00010000u}) == 15);
  CHECK(run(Op::fbh, Type::u32, {0u}) == 0xffffffff);
  CHECK(run(Op::fbh, Type::u32, {0x80000000u}) == 0);
  CHECK(run(Op::fbh, Type::s32, {0}) == -1);
  CHECK(run(Op::fbh, Type::s32, {-1}) == -1);
  CHECK(run(Op::fbh, Type::s32, {1}) == 31);
  CHECK(run(Op::fbh, Type::s32, {-2}) == 31);
  CHECK(run(Op::fbh, Type::s32, {std::numeric_limits<std::int32_t>::min()}) == 1);
  CHECK(run(Op::fbl, Type::u32, {0u}) == 0xffffffff);
  CHECK(run(Op::fbl, Type::u32, {8u}) == 3);
  CHECK(run(Op::bfrev, Type::u32, {0x80000001u}) == 0x80000001u);
  CHECK(run(Op::bfrev, Type::u32, {0x00000016u}) == 0x68000000u);
  CHECK(run(Op::bfi1, Type::u32, {8u, 4u}) == 0xff0u);
  CHECK(run(Op::bfi1, Type::u32, {36u, 28u}) == 0xf0000000u);
  CHECK(run(Op::bfi2, Type::u32, {0xff00u, 0x1234u, 0xabcdu}) == 0x12cdu);
  CHECK(run(Op::bfe, Type::u32, {8u, 4u, 0xabcdu}) == 0xbcu);
  CHECK(run(Op::bfe, Type::s32, {8, 4, 0xabcd}) == static_cast<std::int32_t>(0xffffffbc));
  CHECK(run(Op::bfe, Type::u32, {0u, 4u, 0xabcdu}) == 0);
  CHECK(run(Op::bfe, Type::s32, {16, 24, static_cast<std::int32_t>(0x80000000)}) ==
        static_cast<std::int32_t>(0xffffff80));
}

TEST_CASE("ops of two results") {
  std::mt19937_64 random(6);
  for (int i = 0; i < 2000; ++i) {
    const auto a = static_cast<std::uint32_t>(random()),
               b = static_cast<std::uint32_t>(random() >> (random() % 64)),
               c = static_cast<std::uint32_t>(random()), d = static_cast<std::uint32_t>(random());
    const void* args[] = {&a, &b, &c, &d};
    std::uint32_t r[2];
    const auto low = [](__int128 x) { return static_cast<std::uint32_t>(x); };
    const auto high = [](__int128 x) { return static_cast<std::uint32_t>(x >> 32); };
    using Signed = std::int32_t;
    const __int128 ua = a, ub = b, sa = Signed(a), sb = Signed(b), acc = __int128{d} << 32 | c;
    const auto check = [&](Op op, Type type, std::uint32_t first, std::uint32_t second) {
      lane_function(op, type)(r, args, 1);
      INFO(op_name(op) << '.' << info(type).name << ' ' << a << ", " << b << ", " << c << ", " << d);
      CHECK(r[0] == first);
      CHECK(r[1] == second);
    };
    check(Op::mul_wide, Type::u32, low(ua * ub), high(ua * ub));
    check(Op::mul_wide, Type::s32, low(sa * sb), high(sa * sb));
    check(Op::addc, Type::u32, low(ua + ub), high(ua + ub));
    check(Op::addc, Type::s32, low(ua + ub), high(ua + ub));
    check(Op::subb, Type::u32, low(ua - ub), ua < ub ? 1 : 0);
    const __int128 u_mach = ua * (ub >> 16) * 65536 + acc, s_mach = sa * (sb >> 16) * 65536 + acc;
    check(Op::mach, Type::u32, low(u_mach), high(u_mach));
    check(Op::mach, Type::s32, low(s_mach), high(s_mach));
  }
}

TEST_CASE("lane functions exist exactly where the table says") {
  for (std::size_t o = 0; o < op_count; ++o) {
    const Op op = static_cast<Op>(o);
    const Shape shape = info(op).shape;
    const bool lanewise = shape == Shape::Lanewise1 || shape == Shape::Lanewise2 ||
                          shape == Shape::Lanewise3 || shape == Shape::Compare || shape == Shape::Select ||
                          shape == Shape::Wide2 || shape == Shape::Wide4;
    for (std::size_t t = 0; t < type_count; ++t) {
      const Type type = static_cast<Type>(t);
      INFO(op_name(op) << '.' << info(type).name);
      for (std::size_t f = 0; f < type_count; ++f) {
        const Type from = static_cast<Type>(f);
        const bool converts = shape == Shape::Convert && takes(info(op).types, type) &&
                              takes(info(op).types, from) &&
                              (op != Op::bitcast || size_of(type) == size_of(from));
        CHECK((lane_function(op, type, from) != nullptr) ==
              (converts || (lanewise && takes(info(op).types, type))));
      }
    }
  }
}

TEST_CASE("masks are one word, without bits beyond the lanes") {
  const std::uint32_t a = 0xf0f0a5a5, b = 0xff00ff00;
  const void* args[] = {&a, &b};
  std::uint32_t result = 0;
  lane_function(Op::not_, Type::m)(&result, args, 8);
  CHECK(result == 0x5a);
  lane_function(Op::andn, Type::m)(&result, args, 32);
  CHECK(result == (~a & b));
  const float x[4] = {1, 2, 3, NAN}, y[4] = {2, 2, 2, 2};
  const void* floats[] = {x, y};
  lane_function(Op::cmp_lt, Type::f32)(&result, floats, 4);
  CHECK(result == 1);
  lane_function(Op::cmp_ne, Type::f32)(&result, floats, 4);
  CHECK(result == 13);
  lane_function(Op::cmp_un, Type::f32)(&result, floats, 4);
  CHECK(result == 8);
  const std::uint32_t mask = 5;
  const void* select_args[] = {&mask, x, y};
  float selected[4];
  lane_function(Op::select, Type::f32)(selected, select_args, 4);
  CHECK((selected[0] == 1 && selected[1] == 2 && selected[2] == 3 && selected[3] == 2));
}
