// Every pass and liveness on small functions, as text: <pass>.txt holds the input and the output of the pass.
// After a change that is meant to change the output:
//   EUMULATE_UPDATE=1 build/release/tests/test_jit "text:*"     and read the difference
#include "jit/passes/passes.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "frontend/ir/printer.hpp"
#include "frontend/ir/verifier.hpp"
#include "jit/passes/few_channels.hpp"
#include "jit/passes/linear.hpp"
#include "jit/passes/liveness.hpp"
#include "jit/passes/outer_masks.hpp"
#include "jit/passes/parked.hpp"
#include "jit/passes/region_numbers.hpp"
#include "jit/passes/row_walks.hpp"
#include "jit/passes/scalar_runs.hpp"
#include "jit/passes/uncleared_loads.hpp"
#include "tests/jit/text_cases.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// "r1 r3-r5", or "-".
std::string slots_text(const BitSet& set, unsigned count, std::string_view prefix) {
  std::string text;
  for (unsigned first = 0; first < count; ++first) {
    if (!set[first]) continue;
    unsigned last = first;
    while (last + 1 < count && set[last + 1]) ++last;
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", prefix, first);
    if (last > first) text += fmt::format("-{}{}", prefix, last);
    first = last;
  }
  return text.empty() ? "-" : text;
}

std::string_view role_text(MaskRole role) {
  switch (role) {
    case MaskRole::Execution:
      return "execution";
    case MaskRole::Subset:
      return "subset";
    case MaskRole::Superset:
      return "superset";
    default:
      return "other";
  }
}

/// What is live at the beginning and the end of each block, and the roles of masks.
std::string liveness_text(const ir::Function& function, bool exact) {
  const Liveness liveness(function, function.slot_bytes, exact);
  std::string text;
  const auto state = [&](const LiveState& live) {
    return fmt::format("active {} inactive {} flags {} inactive {}",
                       slots_text(live.active, liveness.slots(), "r"),
                       slots_text(live.inactive, liveness.slots(), "r"),
                       slots_text(live.active_flags, function.flag_bits, ""),
                       slots_text(live.inactive_flags, function.flag_bits, ""));
  };
  for (ir::BlockId b = 0; b < function.blocks.size(); ++b) {
    text += fmt::format("b{} in: {}\n", b, state(liveness.live_in(b)));
    const auto& insts = function.blocks[b].insts;
    for (std::size_t i = 0; i < insts.size(); ++i) {
      const bool masked = (insts[i].op == ir::Op::reg_read || insts[i].op == ir::Op::reg_write) &&
                          insts[i].mask != ir::no_value;
      if (masked || (insts[i].op == ir::Op::mask_set && insts[i].imm == 0))
        text += fmt::format("  {}: {}\n", ir::print_inst(function, insts[i]), role_text(liveness.role(b, i)));
    }
    text += fmt::format("b{} out: {}\n", b, state(liveness.live_out(b)));
  }
  return text;
}

std::string_view comparison_text(LinearUse::Kind kind) {
  return kind == LinearUse::FirstGoesUp    ? "operand 0 goes up by one"
         : kind == LinearUse::SecondGoesUp ? "operand 1 goes up by one"
                                           : "both are the same";
}

/// What is known about each access and comparison, with ids in r1.
std::string linear_text(const ir::Function& function) {
  const Liveness liveness(function, function.slot_bytes, false);
  const LinearUses linear(function, liveness, {function.slot_bytes, 8, 8}, true);
  std::string text;
  for (ir::BlockId b = 0; b < function.blocks.size(); ++b) {
    const auto& insts = function.blocks[b].insts;
    for (std::size_t i = 0; i < insts.size(); ++i) {
      const bool compares = ir::info(insts[i].op).shape == ir::Shape::Compare;
      if (!compares && !ir::shape_of(insts[i].op).has_memory()) continue;
      const auto known = [&](bool full) -> std::string {
        const auto use = std::ranges::find(linear.of(b, full), i, &LinearUse::index);
        if (use == linear.of(b, full).end()) return "unknown";
        return compares ? fmt::format("{} in runs of {}", comparison_text(use->kind), use->run.run)
                        : fmt::format("runs of {}, {} apart", use->run.run, use->run.stride);
      };
      text += fmt::format("b{} {}: {}\n", b, ir::print_inst(function, insts[i]), known(true));
      if (known(false) != "unknown") text += fmt::format("    with some channels off: {}\n", known(false));
    }
  }
  return text;
}

/// The function with the scalars added beside its vectors, and the instructions that use them, with ids in
/// r1.
std::string scalar_runs_text(ir::Function& function) {
  Liveness liveness(function, function.slot_bytes, false);
  const LinearUses linear(function, liveness, {function.slot_bytes, 8, 8}, true);
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

/// Each access to the address space, and the number of its cached region.
std::string region_numbers_text(const ir::Function& function) {
  const RegionNumbers numbers(function, StateLayout::of(function));
  std::string text;
  for (ir::BlockId b = 0; b < function.blocks.size(); ++b)
    for (const ir::Inst& inst : function.blocks[b].insts)
      if (ir::shape_of(inst.op).has_memory() && ir::info(function.access(inst).space).in_space)
        text += fmt::format("b{} {}: {}\n", b, ir::print_inst(function, inst), numbers.of(inst));
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

TEST_CASE("text: liveness") {
  std::size_t cases = 0;
  check_text_file(
      "passes/liveness.txt",
      [](const TextCase& one) { return liveness_text(function_of_text(one.input), one.has("exact")); },
      cases);
  CHECK(cases >= 10);
}

TEST_CASE("text: accesses whose addresses are known to go up") {
  std::size_t cases = 0;
  check_text_file(
      "passes/linear.txt", [](const TextCase& one) { return linear_text(function_of_text(one.input)); },
      cases);
  CHECK(cases >= 8);
}

TEST_CASE("text: loads along rows") {
  std::size_t cases = 0;
  check_text_file(
      "passes/row_walks.txt",
      [](const TextCase& one) {
        const ir::Function function = function_of_text(one.input);
        const Liveness liveness(function, function.slot_bytes, false);
        const RowWalks walks(function, LinearUses(function, liveness, {function.slot_bytes, 8, 8}, true));
        std::string text;
        for (const RowWalk& walk : walks.found)
          text += fmt::format("%{}: {} lanes, step {}\n", walk.result, walk.lanes, walk.step);
        if (walks.empty()) return std::string("none\n");
        for (const std::uint8_t surface : walks.written) text += fmt::format("writes surface{}\n", surface);
        return text;
      },
      cases);
  CHECK(cases >= 16);
}

TEST_CASE("text: where every channel is on again") {
  std::size_t cases = 0;
  check_text_file(
      "passes/parked.txt",
      [](const TextCase& one) {
        const ir::Function function = function_of_text(one.input);
        const ParkedChannels parked(function);
        std::string text;
        for (ir::BlockId b = 0; b < function.blocks.size(); ++b)
          if (parked.all_are_back(b)) text += fmt::format("b{}\n", b);
        return text;
      },
      cases);
  CHECK(cases >= 7);
}

TEST_CASE("text: masks that a split leaves whole") {
  std::size_t cases = 0;
  check_text_file(
      "passes/outer_masks.txt",
      [](const TextCase& one) {
        const ir::Function function = function_of_text(one.input);
        const OuterMasks outer(function);
        std::string text;
        for (ir::BlockId b = 0; b < function.blocks.size(); ++b)
          if (const OuterMasks::Split* split = outer.split_of(b)) {
            CHECK(outer.joined_by(split->join) == split);
            text += fmt::format("b{} b{} %{}{}\n", b, split->join, split->outer,
                                split->splits_again ? " again" : "");
          }
        return text;
      },
      cases);
  CHECK(cases >= 11);
}

TEST_CASE("text: loads that need not clear lanes") {
  std::size_t cases = 0;
  check_text_file(
      "passes/uncleared_loads.txt",
      [](const TextCase& one) {
        const ir::Function function = function_of_text(one.input);
        const UnclearedLoads uncleared(function);
        std::string text;
        for (const ir::Block& block : function.blocks)
          for (const ir::Inst& inst : block.insts)
            if (inst.op == ir::Op::load && uncleared.has(inst.result))
              text += fmt::format("%{}\n", inst.result);
        return text.empty() ? std::string("none\n") : text;
      },
      cases);
  CHECK(cases >= 7);
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

TEST_CASE("text: which regions accesses look into") {
  std::size_t cases = 0;
  check_text_file(
      "passes/region_numbers.txt",
      [](const TextCase& one) { return region_numbers_text(function_of_text(one.input)); }, cases);
  CHECK(cases >= 6);
}
