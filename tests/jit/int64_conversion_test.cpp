// 64-bit integers to f32, around the midpoints between two floats, in every rounding mode, on every engine
// against C++: rounded once, even if an engine goes by way of a double.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cfenv>
#include <cstring>

#include "frontend/ir/parser.hpp"
#include "jit/fpmode.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// In the order of cr0's rounding mode.
constexpr std::array<int, 4> modes{FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

/// An integer of 25 to 64 bits and random sign: 25 leading bits, one more than an f32 significand has, then
/// zeros, plus -1, 0 or 1.
std::uint64_t between_floats(Random& random) {
  const auto bits = static_cast<unsigned>(25 + random() % 40);  // of the whole number
  const std::uint64_t upper = (random() >> 39) | 1u << 24 | random() % 2;
  const std::uint64_t near = (upper << (bits - 25)) + random() % 3 - 1;
  return random() % 2 == 0 ? near : 0 - near;
}

template <class T>
void check(std::string_view type) {
  const auto parsed =
      ir::parse(fmt::format("kernel @k simd 8 family gen9 file 512 slot 32 masks 1\nb0: ip 0 count 1\n"
                            "  %a = reg_read.{0}x8 r2<1;1,0>\n  %f = convert.f32.{0}x8 %a\n"
                            "  reg_write.f32x8 r1<1;1,0>, %f\n  exit\n",
                            type));
  REQUIRE(parsed);
  World world;
  for (Engine* engine : every_engine()) {
    const auto executable = compiled(*engine, *parsed);
    Random random(3);
    for (unsigned round = 0; round < 8000 / EUMULATE_STEP; ++round) {
      world.reset(*parsed, 1);
      world.masks()[0] = 0xff;
      world.state().fp_mode = round % 4 << cr0_bit::Rounding;
      std::array<T, 8> whole;
      for (T& x : whole)
        x = static_cast<T>(round % 8 == 0 ? interesting_bits(random) : between_floats(random));
      std::memcpy(world.file() + 64, whole.data(), sizeof whole);
      REQUIRE(world.run(*executable).status == Status::Exited);
      std::array<std::uint32_t, 8> found;
      std::memcpy(found.data(), world.file() + 32, sizeof found);
      std::fesetround(modes[round % 4]);
      std::array<float, 8> floats;
      for (unsigned i = 0; i < 8; ++i) floats[i] = static_cast<float>(whole[i]);
      std::fesetround(FE_TONEAREST);
      std::array<std::uint32_t, 8> expected;
      std::memcpy(expected.data(), floats.data(), sizeof expected);
      INFO(engine->name() << ", rounding mode " << round % 4);
      if (found != expected) CHECK(std::tuple(whole, found) == std::tuple(whole, expected));
    }
  }
}

}  // namespace

TEST_CASE("integers of 64 bits become floats of 32 in one rounding") {
  check<std::int64_t>("s64");
  check<std::uint64_t>("u64");
}
