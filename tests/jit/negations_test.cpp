// Comparisons, minima and maxima of negated dwords against the reference engine, which computes in 64 bits:
// the lowest number, whose negation is no dword, is among the values.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

namespace eum::jit::test {

TEST_CASE("negated dwords are compared and chosen as if with 64 bits") {
  constexpr unsigned seeds = 40;
  for (const std::string_view type : {"s32", "u16", "s8"})
    for (const unsigned lanes : {1u, 8u, 16u}) {
      std::string body = fmt::format(
          "b0: ip 0 count 1\n  %a = reg_read.s32x{1} r0<1;1,0>\n  %b = reg_read.{0}x{1} r2<1;1,0>\n"
          "  %x = convert.s64.s32x{1} %a\n  %y = convert.s64.{0}x{1} %b\n  %n = neg.s64x{1} %y\n",
          type, lanes);
      unsigned results = 0;
      const auto flag = [&](std::string_view op, std::string_view operands) {
        body += fmt::format("  %f{0} = {1}.s64x{2} {3}\n  %g{0} = select.s32x{2} %f{0}, %a, %c\n", results,
                            op, lanes, operands);
        body += fmt::format("  reg_write.s32x{} r{}<1;1,0>, %g{}\n", lanes, 4 + 2 * results, results);
        ++results;
      };
      const auto number = [&](std::string_view op, std::string_view operands) {
        body += fmt::format("  %f{0} = {1}.s64x{2} {3}\n  %g{0} = convert.u32.s64x{2} %f{0}\n", results, op,
                            lanes, operands);
        body += fmt::format("  reg_write.u32x{} r{}<1;1,0>, %g{}\n", lanes, 4 + 2 * results, results);
        ++results;
      };
      body +=
          fmt::format("  %c = constant.s32x{} 7\n  %k = constant.s64x{} 0xffffffff80000000\n", lanes, lanes);
      for (const std::string_view operands : {"%x, %n", "%n, %x", "%k, %n"}) {
        for (const std::string_view op : {"cmp_eq", "cmp_ne", "cmp_lt", "cmp_le", "cmp_gt", "cmp_ge"})
          flag(op, operands);
        for (const std::string_view op : {"min", "max"}) number(op, operands);
      }
      expect_agreement(function_of_text("kernel @negations simd 16 family gen9 file 2048 slot 32 masks 1\n" +
                                        body + "  exit\n"),
                       100 * lanes, seeds);
    }
}

}  // namespace eum::jit::test
