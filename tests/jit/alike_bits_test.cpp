// How many low bits are known to be equal in all lanes.
#include "jit/analysis/alike_bits.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/jit/text_cases.hpp"

using namespace eum;
using namespace eum::jit;

namespace {

/// The result for the value %r that `body` defines. Nothing is known about %x and %y, %u is the same in all
/// lanes, %four is 4.
unsigned bits_of(std::string_view body) {
  const ir::Function function = test::function_of_text(
      fmt::format("b0: ip 0 count 1\n"
                  "  %x = reg_read.u32x16 r1<1;1,0>\n  %y = reg_read.u32x16 r3<1;1,0>\n"
                  "  %u = reg_read.u32x16 r5<0;1,0>\n  %four = constant.u32x16 4\n  {}\n"
                  "  reg_write.u32x16 r7<1;1,0>, %r\n  exit\n",
                  body));
  const ir::Block& block = function.blocks[0];
  return AlikeBits(function).of(function.arg(block.insts[block.insts.size() - 2], 0));
}

}  // namespace

TEST_CASE("what is shifted or multiplied differs above the bits that come in") {
  CHECK(bits_of("%r = shl.u32x16 %x, %four") == 4);
  CHECK(bits_of("%t = shl.u32x16 %x, %four\n  %r = shl.u32x16 %t, %four") == 8);
  CHECK(bits_of("%c = constant.u32x16 24\n  %r = mul.u32x16 %x, %c") == 3);
  CHECK(bits_of("%c = constant.u32x16 24\n  %r = mul.u32x16 %c, %x") == 3);
  CHECK(bits_of("%c = constant.u32x16 0xfffffff0\n  %r = and.u32x16 %x, %c") == 4);
  CHECK(bits_of("%r = shl.u32x16 %x, %y") == 0);
  CHECK(bits_of("%c = constant.u32x16 33\n  %r = shl.u32x16 %x, %c") == 0);  // counts are modulo 32
  CHECK(bits_of("%r = mul.u32x16 %x, %y") == 0);
}

TEST_CASE("sums have the low bits that both terms have") {
  constexpr std::string_view shifted = "%t = shl.u32x16 %x, %four\n  ";
  for (const std::string_view op : {"add", "sub", "or", "xor", "andn"}) {
    INFO(op);
    CHECK(bits_of(fmt::format("{}%r = {}.u32x16 %t, %u", shifted, op)) == 4);
    CHECK(bits_of(fmt::format("{}%r = {}.u32x16 %t, %four", shifted, op)) == 4);
    CHECK(bits_of(fmt::format("{}%r = {}.u32x16 %t, %y", shifted, op)) == 0);
  }
  CHECK(bits_of(fmt::format("{}%s = neg.u32x16 %t\n  %r = not.u32x16 %s", shifted)) == 4);
}

TEST_CASE("lanes that are the same have all bits alike") {
  CHECK(bits_of("%r = add.u32x16 %u, %four") == AlikeBits::all);
  CHECK(bits_of("%c = constant.u32x16 28\n  %t = shl.u32x16 %x, %c\n  %r = shl.u32x16 %t, %four") ==
        AlikeBits::all);
  CHECK(bits_of("%o = reg_read.u32x1 r9<0;1,0>\n  %r = splat.u32x16 %o") == AlikeBits::all);
  CHECK(AlikeBits().of(0) == 0);
}

TEST_CASE("conversions between integers keep low bits, others none") {
  constexpr std::string_view shifted = "%t = shl.u32x16 %x, %four\n  ";
  CHECK(bits_of(fmt::format("{}%s = bitcast.s32.u32x16 %t\n  %r = bitcast.u32.s32x16 %s", shifted)) == 4);
  CHECK(bits_of(fmt::format("{}%s = convert.u64.u32x16 %t\n  %r = convert.u32.u64x16 %s", shifted)) == 4);
  CHECK(bits_of(fmt::format("{}%s = convert.f32.u32x16 %t\n  %r = convert.u32.f32x16 %s", shifted)) == 0);
}
