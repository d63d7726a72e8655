// What an order of instructions is estimated to move between registers and memory.
#include "jit/codegen/spill_estimate.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <numeric>
#include <string>

#include "jit/avx2/registers.hpp"
#include "tests/jit/analysed_text.hpp"

using namespace eum;
using namespace eum::jit;

namespace {

constexpr unsigned registers = avx2::target.vector_registers - 1;  // one is left to the emission of ops

unsigned moves(const std::string& body, const codegen::Target& target = avx2::target) {
  const test::AnalysedText of(
      "kernel @k simd 16 family gen9 file 4096 slot 32 masks 1\nb0: ip 0 count 1\n" + body + "  exit\n",
      false);
  codegen::BlockCode code(of.function, of.liveness, of.runs, {});
  code.build(0, true);
  codegen::SpillEstimate estimate(of.function, target);
  estimate.begin_block();
  estimate.begin(code.insts());
  std::vector<std::uint32_t> order(code.insts().size());
  std::iota(order.begin(), order.end(), 0);
  return estimate.moves(order);
}

/// Values of one register, all computed and then stored in the same order.
std::string held(unsigned values, const std::string& more = "") {
  std::string text = "  %a = reg_read.u32x8 r1<1;1,0>\n" + more;
  for (unsigned i = 0; i < values; ++i) text += fmt::format("  %v{} = rotl.u32x8 %a, %a\n", i);
  for (unsigned i = 0; i < values; ++i)
    text += fmt::format("  store.u32x8 surface0[%a + {}], %v{}\n", 32 * i, i);
  return text;
}

}  // namespace

TEST_CASE("values that registers hold are not moved") {
  CHECK(moves(held(registers - 1)) == 0);  // and the address
}

TEST_CASE("each value that registers do not hold is stored and loaded") {
  CHECK(moves(held(registers)) == 2);
  CHECK(moves(held(registers + 4)) == 10);
}

TEST_CASE("what was read from the register file is loaded again, not stored") {
  std::string text;
  for (unsigned i = 0; i <= registers; ++i)
    text += fmt::format("  %v{0} = reg_read.u32x8 r{1}<1;1,0>\n", i, 1 + i);
  for (unsigned i = 0; i <= registers; ++i)
    text += fmt::format("  store.u32x8 surface0[%v{0} + {1}], %v{0}\n", i, 32 * i);
  CHECK(moves(text) == 1);
}

TEST_CASE("slices and concats of whole registers, and constants, take none") {
  const std::string text =
      "  %b = reg_read.u32x16 r2<1;1,0>\n  %low = slice.u32x8 %b, 0\n  %high = slice.u32x8 %b, 8\n"
      "  %one = constant.u32x1 1\n  %ones = splat.u32x8 %one\n  %c = concat.u32x16 %high, %low\n"
      "  %x = add.u32x8 %low, %ones\n  %y = add.u32x8 %high, %ones\n  store.u32x8 surface1[%a], %x\n"
      "  store.u32x8 surface1[%a + 32], %y\n  store.u32x16 surface2[%c], %b\n";
  CHECK(moves(held(registers - 1, text)) == 0);
}

TEST_CASE("lanes of a mask take registers, unless there are some for masks") {
  const auto text = [](unsigned values) {
    std::string masks = "  %m = cmp_lt.u32x8 %a, %a\n", end = "  %s = select.u32x8 %m, %a, %v0\n";
    return held(values, masks) + end + "  store.u32x8 surface1[%a], %s\n";
  };
  codegen::Target with_masks = avx2::target;
  with_masks.mask_registers = 0xfe;
  CHECK(moves(text(registers - 1)) > 0);
  CHECK(moves(text(registers - 1), with_masks) == 0);
}
