// Which blocks may use the longer code for loads: those of loops and of functions with few loads.
#include "jit/codegen/small_loops.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/jit/text_cases.hpp"

using namespace eum;
using namespace eum::jit;

namespace {

/// `count` loads of 16 dwords, two vectors each, from addresses about which nothing is known.
std::string loads(unsigned count) {
  std::string text = "  %a = reg_read.u32x16 r1<1;1,0>\n";
  for (unsigned i = 0; i < count; ++i) text += fmt::format("  %{} = load.u32x16 surface3[%a]\n", i);
  return text;
}

std::string bits_of(const ir::Function& function) {
  const Liveness liveness(function, 32, true);
  const codegen::SmallLoops small(function, codegen::LoopSlots(function, liveness));
  std::string bits;
  for (ir::BlockId b = 0; b < function.blocks.size(); ++b) bits += small.contain(b) ? '1' : '0';
  return bits;
}

/// Two nested loops, whose blocks have the given numbers of loads, followed by blocks without loads.
std::string bits_of(unsigned outer, unsigned inner) {
  return bits_of(test::function_of_text(
      fmt::format("b0: ip 0 count 1\n{}  jump b1\n"
                  "b1: ip 16 count 1\n{}  %m = flag_read.mx16 f0.0\n  branch_any.mx16 %m, b1, b2\n"
                  "b2: ip 32 count 1\n  %m = flag_read.mx16 f1.0\n  branch_any.mx16 %m, b0, b3\n"
                  "b3: ip 48 count 1\n  exit\n",
                  loads(outer), loads(inner))));
}

}  // namespace

TEST_CASE("loops of few loads, and functions, are small ones") {
  CHECK(bits_of(12, 12) == "1111");
  CHECK(bits_of(13, 12) == "0100");  // 50 vectors in the outer loop
  CHECK(bits_of(1, 24) == "0100");
  CHECK(bits_of(1, 25) == "0000");
  CHECK(codegen::SmallLoops().contain(0) == false);
}
