// Powers of two of numbers without a fraction, NaN and infinity among them, in all modes, against the
// reference engine, which computes them as of other numbers.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "jit/passes/passes.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

namespace eum::jit::test {

TEST_CASE("powers of two of rounded numbers, and of integers from -256 to 255, are those of any number") {
  constexpr unsigned seeds = 200;
  constexpr std::string_view numbers[]{
      "%x = rnde.f32x{0} %a",
      "%x = rndd.f32x{0} %a",
      "%y = rndz.f32x{0} %a\n  %x = add.f32x{0} %y, %zero",
      "%y = rndu.f32x{0} %a\n  %x = neg.f32x{0} %y",
      "%x = convert.f32.s32x{0} %i",
      "%y = convert.f32.s32x{0} %i\n  %z = rnde.f32x{0} %a\n  %f = cmp_lt.f32x{0} %y, %a\n"
      "  %x = select.f32x{0} %f, %y, %z",
  };
  for (const std::string_view number : numbers)
    for (const unsigned lanes : {1u, 8u, 16u}) {
      const std::string body = fmt::format(
          "b0: ip 0 count 1\n  %a = reg_read.f32x{0} r0<1;1,0>\n  %b = reg_read.s32x{0} r2<1;1,0>\n"
          "  %zero = constant.f32x{0} 0\n  %k = constant.s32x{0} 23\n  %l = shl.s32x{0} %b, %k\n"
          "  %i = asr.s32x{0} %l, %k\n  {1}\n  %e = exp2.f32x{0} %x\n  reg_write.f32x{0} r4<1;1,0>, %e\n",
          lanes, fmt::format(fmt::runtime(number), lanes));
      const std::string text =
          "kernel @powers simd 16 family gen9 file 512 slot 32 masks 1\n" + body + "  exit\n";
      ir::Function simplified = function_of_text(text);
      expand_math(simplified);
      forward_state(simplified);
      const auto count = [&] { return simplified.blocks[0].insts.size(); };
      const std::size_t before = count();
      integral_powers(simplified);
      CHECK(count() == before);  // one more, one less
      expect_agreement(function_of_text(text), lanes, seeds);
    }
}

}  // namespace eum::jit::test
