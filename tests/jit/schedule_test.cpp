// In which order the two halves of a block's channels are computed.
#include "jit/codegen/schedule.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "jit/avx2/registers.hpp"
#include "jit/passes/linear.hpp"
#include "tests/jit/text_cases.hpp"

using namespace eum;
using namespace eum::jit;

namespace {

/// Six numbers for each half of the channels (24 vectors in all) and products of them, alternating between
/// the halves. Each product depends on the one `apart` products before it in its half.
std::string products(unsigned count, unsigned apart) {
  std::string text;
  for (unsigned half = 0; half < 2; ++half)
    for (unsigned i = 0; i < 6; ++i)
      text += fmt::format(
          "  %v{0}_{1} = reg_read.f32x16 r{2}<1;1,0>\n  %p{0}_{1} = add.f32x16 %v{0}_{1}, %v{0}_{1}\n", half,
          i, 2 + 2 * (6 * half + i));
  for (unsigned i = 6; i < count; ++i)
    for (unsigned half = 0; half < 2; ++half)
      text += fmt::format("  %p{0}_{1} = mul.f32x16 %p{0}_{2}, %v{0}_{3}\n", half, i, i - apart, i % 6);
  for (unsigned half = 0; half < 2; ++half)
    for (unsigned i = 0; i < apart; ++i)
      text += fmt::format("  reg_write.f32x16 r{}<1;1,0>, %p{}_{}\n", 30 + 2 * (6 * half + i), half,
                          count - 1 - i);
  return "kernel @k simd 16 family gen9 file 4096 slot 32 masks 1\nb0: ip 0 count 1\n" + text + "  exit\n";
}

/// How often a product belongs to a different half than the product before it.
unsigned turns(const std::string& text) {
  ir::Function function = test::function_of_text(text);
  Liveness liveness(function, 32, true);
  const LinearUses linear(function, liveness, ConsecutiveIds{}, false);
  const ScalarRuns runs(function, liveness, linear, Optimisations());
  codegen::Scheduler scheduler(function, avx2::target);
  codegen::BlockCode code(function, liveness, runs, {.scheduler = &scheduler});
  code.build(0, true);
  unsigned turns = 0;
  ir::ValueId last = ir::no_value;
  for (const codegen::CodeInst& inst : code.insts()) {
    if (inst.op != ir::Op::mul) continue;
    turns += last != ir::no_value && (inst.result ^ last) % 2 != 0;
    last = inst.result;
  }
  return turns;
}

}  // namespace

TEST_CASE("halves whose values are more than the registers are computed one after the other") {
  CHECK(turns(products(100, 6)) == 1);
  CHECK(turns(products(20, 1)) == 1);
}

TEST_CASE("halves that are long chains stay beside each other") {
  CHECK(turns(products(100, 1)) == 2 * 94 - 1);
}
