// Every pass on small functions, as text: <pass>.txt holds the input and the output of the pass.
// After a change that is meant to change the output:
//   EUMULATE_UPDATE=1 build/release/tests/test_jit "text:*"     and read the difference
#include "jit/passes/passes.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "frontend/ir/printer.hpp"
#include "frontend/ir/verifier.hpp"
#include "jit/analysis/linear.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/passes/few_channels.hpp"
#include "jit/passes/scalar_runs.hpp"
#include "tests/jit/text_cases.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// The function with the scalars added beside its vectors, and the instructions that use them, with ids in
/// r1.
std::string scalar_runs_text(ir::Function& function) {
  function.ids = {function.slot_bytes, 8, 8};
  Liveness liveness(function, function.slot_bytes, false);
  const LinearUses linear(function, liveness, true);
  const ScalarRuns runs(function, liveness, linear, {});
  std::string text;
  for (ir::BlockId b = 0; b < function.blocks.size(); ++b)
    for (const ir::Inst& inst : function.blocks[b].insts)
      text += fmt::format("b{} {}\n", b, ir::print_inst(function, inst));
  for (ir::BlockId b = 0; b < function.blocks.size(); ++b)
    for (const ScalarRun& run : runs.of(b, true)) {
      text += fmt::format("{}:", ir::print_inst(function, function.blocks[b].insts[run.index]));
      for (unsigned i = 0; i < run.address_count; ++i) text += fmt::format(" from %{}", run.addresses[i]);
      text += run.mask == ir::no_value ? run.address_count == 0 ? " lane by lane\n" : "\n"
                                       : fmt::format(" is %{}\n", run.mask);
    }
  return text;
}

}  // namespace

TEST_CASE("text: every pass of the pipeline") {
  REQUIRE_FALSE(pipeline().empty());
  for (const Pass& pass : pipeline()) {  // a pass without a file fails here
    std::size_t cases = 0;
    const bool other_order = pass.name == "expand_math" && !orders_formulas;
    check_text_file(
        fmt::format("passes/{}.txt", pass.name),
        [&](const TextCase& one) {
          ir::Function function = function_of_text(one.input);
          if (one.has("pointer")) function.pointers = {{.offset = 2 * function.slot_bytes, .surface = 0}};
          function.disjoint_surfaces = one.has("disjoint");
          if (one.has("ids")) function.ids = {function.slot_bytes, 16, 16};
          pass.run(function);
          return other_order ? one.expected : blocks_text(function);
        },
        cases);
    INFO(pass.name);
    CHECK(cases >= 4);
  }
}

TEST_CASE("text: fewer channels than a function is for") {
  std::size_t cases = 0;
  check_text_file(
      "passes/few_channels.txt",
      [](const TextCase& one) {
        ir::Function function = function_of_text(one.input);
        few_channels(function, one.has("one") ? 1 : 8);
        return fmt::format("simd {}\n{}", function.simd, blocks_text(function));
      },
      cases);
  CHECK(cases >= 8);
  CHECK(channels_needed(32, 1) == 1);
  CHECK(channels_needed(32, 4) == 8);
  CHECK(channels_needed(32, 9) == 16);
  CHECK(channels_needed(32, 17) == 32);
  CHECK(channels_needed(8, 3) == 8);
}

TEST_CASE("text: threads that are groups of their own") {
  std::size_t cases = 0;
  check_text_file(
      "passes/lone_threads.txt",
      [](const TextCase& one) {
        ir::Function function = function_of_text(one.input);
        lone_threads(function);
        return blocks_text(function);
      },
      cases);
  CHECK(cases >= 3);
}

TEST_CASE("text: safepoints") {
  std::size_t cases = 0;
  check_text_file(
      "passes/mark_safepoints.txt",
      [](const TextCase& one) {
        ir::Function function = function_of_text(one.input);
        mark_safepoints(function, one.has("blocks") ? Safepoints::Instructions : Safepoints::BackEdges);
        return blocks_text(function);
      },
      cases);
  CHECK(cases >= 3);
}

TEST_CASE("text: scalars beside what is known to go up") {
  std::size_t cases = 0;
  check_text_file(
      "passes/scalar_runs.txt",
      [](const TextCase& one) {
        ir::Function function = function_of_text(one.input);
        return scalar_runs_text(function);
      },
      cases);
  CHECK(cases >= 4);
}

// Each condition uses the previous one twice: following every path through them would take exponential time.
TEST_CASE("conditions of both halves that are parts of many are put together once") {
  const auto text_of = [](unsigned levels) {
    std::string text = R"(b0: ip 0x0 count 1
  %i = reg_read.u16x8 r1<1;1,0>
  %w = convert.s32.u16x8 %i
  %k = constant.s32x8 8
  %b = add.s32x8 %w, %k
  %h = reg_read.s32x1 r5<1;1,0>
  %l = splat.s32x8 %h
  %m0 = cmp_lt.s32x8 %w, %l
  %n0 = cmp_lt.s32x8 %b, %l
)";
    for (unsigned i = 0; i < levels; ++i)
      for (const char half : {'m', 'n'})
        text += fmt::format("  %{0}{2} = {3}.mx8 %{0}{1}, %{0}{1}\n", half, i, i + 1, i % 2 ? "and" : "or");
    text += fmt::format("  %v = concat.mx16 %m{0}, %n{0}\n  %z = constant.u32x1 0\n", levels);
    text += "  %r = mask_bits.u32x1 %v\n  store.u32x1 slm[%z], %r\n  exit\n";
    ir::Function function = function_of_text(text);
    return scalar_runs_text(function);
  };
  const auto count = [](std::string_view text, std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; ++at) ++found;
    return found;
  };
  constexpr unsigned few = 10, many = 100;
  const std::string joined = text_of(few);
  CHECK(count(joined, ".mx16 ") == few + 2);  // one per level, and the concat twice
  CHECK(count(joined, ": is %") == 3);        // both comparisons and the concat
  // Conditions made of too many parts stay in halves.
  CHECK(count(text_of(many), ": is %") == 2);
}
