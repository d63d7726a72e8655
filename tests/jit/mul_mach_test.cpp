// mul and mach, which the pass fuse_mul_mach makes one product, in both signs each, against the reference
// engine: low and high halves.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

namespace eum::jit::test {

TEST_CASE("products in two steps, signed and unsigned, by constants and by registers") {
  constexpr unsigned seeds = 8;
  for (const char first : {'s', 'u'})
    for (const char second : {'s', 'u'})
      for (const std::string_view factor : {"0xf22528f5", "0x7f4a7c15", "0x80000000", "0xffffffff", "r3"}) {
        const bool of_register = factor == "r3";
        const std::string whole = of_register ? fmt::format("%b = reg_read.{}32x8 r3<1;1,0>", second)
                                              : fmt::format("%b = constant.{}32x8 {}", second, factor);
        const std::string low =
            of_register ? fmt::format("%n = reg_read.u16x8 r3<2;1,0>\n  %low = convert.{}32.u16x8 %n", first)
                        : fmt::format("%low = constant.{}32x8 {}", first,
                                      std::stoul(std::string(factor), nullptr, 16) & 0xffff);
        const std::string text = fmt::format(R"(kernel @product simd 8 family gen9 file 2048 slot 32 masks 1
b0: ip 0 count 1
  %a = reg_read.{0}32x8 r2<1;1,0>
  {2}
  %l, %h = mul_wide.{0}32x8 %a, %low
  %x = reg_read.{1}32x8 r2<1;1,0>
  {3}
  %cl = bitcast.{1}32.{0}32x8 %l
  %ch = bitcast.{1}32.{0}32x8 %h
  %r, %s = mach.{1}32x8 %x, %b, %cl, %ch
  reg_write.{1}32x8 r4<1;1,0>, %r
  reg_write.{1}32x8 r5<1;1,0>, %s
  exit
)",
                                             first, second, low, whole);
        INFO(text);
        expect_agreement(function_of_text(text), 1, seeds);
      }
}

}  // namespace eum::jit::test
