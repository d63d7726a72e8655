// What is known of small functions, as text: <analysis>.txt holds functions and what holds in them.
// After a change that is meant to change the output:
//   EUMULATE_UPDATE=1 build/release/tests/test_jit "text:*"     and read the difference
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "frontend/ir/printer.hpp"
#include "jit/analysis/linear.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/analysis/outer_masks.hpp"
#include "jit/analysis/parked.hpp"
#include "jit/analysis/region_numbers.hpp"
#include "jit/analysis/row_walks.hpp"
#include "jit/analysis/uncleared_loads.hpp"
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
std::string linear_text(ir::Function function) {
  function.ids = {function.slot_bytes, 8, 8};
  const Liveness liveness(function, function.slot_bytes, false);
  const LinearUses linear(function, liveness, true);
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

TEST_CASE("text: liveness") {
  std::size_t cases = 0;
  check_text_file(
      "analysis/liveness.txt",
      [](const TextCase& one) { return liveness_text(function_of_text(one.input), one.has("exact")); },
      cases);
  CHECK(cases >= 10);
}

TEST_CASE("text: accesses whose addresses are known to go up") {
  std::size_t cases = 0;
  check_text_file(
      "analysis/linear.txt", [](const TextCase& one) { return linear_text(function_of_text(one.input)); },
      cases);
  CHECK(cases >= 8);
}

TEST_CASE("text: loads along rows") {
  std::size_t cases = 0;
  check_text_file(
      "analysis/row_walks.txt",
      [](const TextCase& one) {
        ir::Function function = function_of_text(one.input);
        function.ids = {function.slot_bytes, 8, 8};
        const Liveness liveness(function, function.slot_bytes, false);
        const RowWalks walks(function, LinearUses(function, liveness, true));
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
      "analysis/parked.txt",
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
      "analysis/outer_masks.txt",
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
      "analysis/uncleared_loads.txt",
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

TEST_CASE("text: which regions accesses look into") {
  std::size_t cases = 0;
  check_text_file(
      "analysis/region_numbers.txt",
      [](const TextCase& one) { return region_numbers_text(function_of_text(one.input)); }, cases);
  CHECK(cases >= 6);
}
