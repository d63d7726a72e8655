// Quotients and remainders of edge values and of numbers near multiples of the divisor, in every
// rounding mode, on every engine against C++: with a divisor per channel, and with one for all channels.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "frontend/ir/parser.hpp"
#include "frontend/ir/semantics/arithmetic.hpp"
#include "jit/fpmode.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

constexpr std::array<std::uint32_t, 28> edges{
    0,          1,          2,          3,          7,          10,         255,
    1000,       0x7ffffe,   0x7fffff,   0x800000,   0x800001,   0xffffff,   0x1000001,
    0x3fffffff, 0x40000001, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0x80800000,
    0xff800000, 0xff7fffff, 0xff000000, 0xfffffff9, 0xfffffffd, 0xfffffffe, 0xffffffff};

/// Dividends: edge values, multiples of the divisor, and numbers just below and above those.
std::uint32_t dividend(std::uint32_t divisor, Random& random) {
  const auto bits = static_cast<std::uint32_t>(random() >> (32 + random() % 32));
  if (divisor == 0 || random() % 4 == 0) return random() % 2 == 0 ? bits : edges[random() % edges.size()];
  return bits / divisor * divisor + static_cast<std::uint32_t>(random() % 3) - 1;
}

template <class T>
using Lanes = std::array<std::make_unsigned_t<T>, 8>;

struct Form {
  std::string_view type;
  unsigned lanes = 8;
  bool one_divisor = false;
  bool rest_alone = false;

  ir::Function function() const {
    const std::string text = fmt::format(
        "kernel @k simd 8 family gen9 file 512 slot 32 masks 1\nb0: ip 0 count 1\n"
        "  %a = reg_read.{0}x{1} r1<1;1,0>\n{2}{3}"
        "  %r = rem.{0}x{1} %a, %b\n  reg_write.{0}x{1} r7<1;1,0>, %r\n  exit\n",
        type, lanes,
        one_divisor ? fmt::format("  %s = reg_read.{0}x1 r3<1;1,0>\n  %b = splat.{0}x{1} %s\n", type, lanes)
                    : fmt::format("  %b = reg_read.{0}x{1} r3<1;1,0>\n", type, lanes),
        rest_alone
            ? ""
            : fmt::format("  %q = quot.{0}x{1} %a, %b\n  reg_write.{0}x{1} r5<1;1,0>, %q\n", type, lanes));
    auto parsed = ir::parse(text);
    REQUIRE(parsed);
    return std::move(*parsed);
  }
};

/// choose(random, round, a, b) sets dividends and divisors.
template <class T, class Choose>
void check(const Form& form, unsigned rounds, Choose choose) {
  const ir::Function function = form.function();
  World world;
  for (const auto& engine : other_engines()) {
    const auto executable = compiled(*engine, function);
    Random random(7);
    for (unsigned round = 0; round < rounds / EUMULATE_STEP; ++round) {
      world.reset(function, 1);
      world.masks()[0] = 0xff;
      world.state().fp_mode = round % 4 << cr0_bit::Rounding;
      Lanes<T> a{}, b{};
      choose(random, round, a, b);
      std::memcpy(world.file() + 32, a.data(), sizeof a);
      std::memcpy(world.file() + 96, b.data(), sizeof b);
      REQUIRE(world.run(*executable).status == Status::Exited);
      std::array<T, 8> quotients, rests;
      std::memcpy(quotients.data(), world.file() + 160, sizeof quotients);
      std::memcpy(rests.data(), world.file() + 224, sizeof rests);
      for (unsigned i = 0; i < form.lanes; ++i) {
        const T x = static_cast<T>(a[i]), y = static_cast<T>(b[i]);
        const bool is_right = form.rest_alone || quotients[i] == ir::eval_lane<ir::Op::quot>(x, y);
        if (is_right && rests[i] == ir::eval_lane<ir::Op::rem>(x, y)) continue;
        FAIL(engine->name() << " " << x << " / " << y << " is " << quotients[i] << " rest " << rests[i]
                            << ", rounding mode " << round % 4);
      }
    }
  }
}

template <class T>
void check_short(const Form& form) {
  check<T>(form, 4000, [&](Random& random, unsigned round, Lanes<T>& a, Lanes<T>& b) {
    for (unsigned i = 0; i < 8; ++i) {
      const bool edge = random() % 3 == 0;
      b[i] = edge ? edges[random() % edges.size()]
                  : static_cast<std::uint32_t>(random() >> (32 + random() % 32));
      if (form.one_divisor) b[i] = b[0];
      a[i] = dividend(b[i], random);
      // Every third round has small numbers only, so that the short path is taken.
      if (round % 3 == 0) a[i] &= 0x7fffff;
    }
    if (round % 3 == 0)
      for (std::uint32_t& divisor : b) divisor &= 0x7fffff;
  });
}

/// Quotients of every magnitude, among them those above 2^48, and divisors of 0.
template <class T>
void check_long(const Form& form) {
  check<T>(form, 6000, [&](Random& random, unsigned, Lanes<T>& a, Lanes<T>& b) {
    const auto number = [&] {
      return random() % 6 == 0 ? interesting_bits(random) : random() >> random() % 64;
    };
    for (unsigned i = 0; i < form.lanes; ++i) {
      b[i] = number() * (random() % 4 == 0 ? ~std::uint64_t{0} : 1);
      const std::uint64_t product = b[i] == 0 ? 0 : number() / b[i] * b[i];
      a[i] = random() % 3 == 0 ? number() : product + random() % 3 - 1;
      if (random() % 4 == 0) a[i] = -a[i];
    }
  });
}

}  // namespace

TEST_CASE("division of 32-bit integers is exact in every rounding mode") {
  for (const bool one_divisor : {false, true})
    for (const bool rest_alone : {false, true}) {
      check_short<std::uint32_t>({"u32", 8, one_divisor, rest_alone});
      check_short<std::int32_t>({"s32", 8, one_divisor, rest_alone});
    }
}

TEST_CASE("division of 64-bit integers is exact in every rounding mode") {
  for (const unsigned lanes : {1u, 2u, 8u})
    for (const bool rest_alone : {false, true}) {
      check_long<std::uint64_t>({"u64", lanes, false, rest_alone});
      check_long<std::int64_t>({"s64", lanes, false, rest_alone});
    }
}
