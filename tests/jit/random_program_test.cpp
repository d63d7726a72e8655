// Random programs: every engine ends each run in the same state as the reference engine.
//   EUMULATE_PROGRAMS=n   how many programs (default 1500, fewer under sanitizers)
//   EUMULATE_SEED=n       the first seed
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "frontend/ir/parser.hpp"
#include "frontend/ir/printer.hpp"
#include "frontend/ir/verifier.hpp"
#include "jit/passes/few_channels.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"
#include "tests/jit/random_formula.hpp"
#include "tests/jit/random_program.hpp"
#include "tests/jit/shrink.hpp"
#include "tests/optimisations.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

/// The program with each value of a mask variable restricted to the channels active when it is set.
ir::Function below_execution_mask(const ir::Function& function) {
  ir::Function below = copy(function);
  NewBlock out(below);
  for (ir::Block& block : below.blocks) {
    out.clear();
    for (ir::Inst inst : block.insts) {
      if (inst.op == ir::Op::mask_set) {
        const auto op = [&](ir::Op op) { return make_op(op, ir::Type::m, inst.lanes, inst.guest_ip); };
        const ir::ValueId on = out.append(op(ir::Op::mask_get), {});
        const ir::ValueId both = out.append(op(ir::Op::and_), {on, below.arg(inst, 0)});
        below.set_args(inst, {both});
      }
      out.keep(inst);
    }
    out.replace(block);
  }
  return below;
}

/// Runs `function` on the reference engine and on `engine` from the same start, continuing after waits and
/// pauses. Returns the first difference as text, or nothing. For one in three state seeds, registers that
/// nobody reads are not compared. With `channels`, the thread begins with that many, and the engines are told
/// so.
std::string compare(const ir::Function& function, Engine& engine, std::uint64_t state_seed,
                    unsigned channels = 0) {
  CompileOptions options;
  options.exact_registers = state_seed % 3 != 0 && channels == 0;
  options.safepoints =
      state_seed % 5 == 0 && channels == 0 ? Safepoints::Instructions : Safepoints::BackEdges;
  options.launch.channels = channels;
  ir::Function for_reference = copy(function), for_engine = copy(function);
  auto reference = make_reference_engine()->compile(for_reference, options);
  if (!reference) return "the reference engine: " + reference.error().message;
  auto other = engine.compile(for_engine, options);
  if (!other) return fmt::format("{}: {}", engine.name(), other.error().message);
  const bool at_end = state_seed % 4 != 0;
  World expected(at_end), found(at_end);
  for (World* world : {&expected, &found}) {
    world->reset(function, state_seed);
    world->state().budget = static_cast<std::int64_t>(state_seed % 60);
    if (channels == 0) continue;
    for (std::uint32_t& mask : std::span(world->masks(), function.mask_variables))
      mask &= ir::lane_mask(channels);
    *world->masks() = ir::lane_mask(channels);
  }
  for (int run = 0; run < 6; ++run) {
    const FinalState a = expected.run(**reference), b = found.run(**other);
    const std::string problem = difference(a, b, options.exact_registers);
    if (!problem.empty())
      return fmt::format("run {} (status {}): {}", run, static_cast<unsigned>(a.status), problem);
    if (a.status == Status::Exited || a.status == Status::Faulted) return {};
    for (World* world : {&expected, &found}) world->state().budget = 25;
  }
  return {};
}

void report(const ir::Function& function, Engine& engine, std::uint64_t seed, std::uint64_t state_seed) {
  const ir::Function small = shrink(function, [&](const ir::Function& candidate) {
    return !compare(candidate, engine, state_seed).empty();
  });
  FAIL_CHECK("seed " << seed << " state seed " << state_seed << ": reference and " << engine.name() << ", "
                     << compare(small, engine, state_seed) << "\n"
                     << ir::print(small));
}

/// Runs each program on each engine, or `in_turns` on one of them.
void check_programs(std::uint64_t first, std::uint64_t programs,
                    const std::vector<std::unique_ptr<Engine>>& engines, bool in_turns) {
  std::printf("random programs: seeds %llu to %llu\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + programs - 1));
  unsigned reported = 0;
  for (std::uint64_t seed = first; seed < first + programs && reported < 5; ++seed) {
    INFO("seed " << seed);
    ProgramOptions options;
    options.memory = seed % 4 != 0;
    options.control = seed % 3 != 0;
    options.max_block_ops = seed % 5 == 0 ? 100 : 24;
    const ir::Function function = seed % 9 == 0 ? random_formula(seed) : random_program(seed, options);
    const std::size_t only = engines.empty() ? 0 : eum::test::in_turn(seed, engines.size());
    for (std::size_t e = 0; e < engines.size(); ++e) {
      if (in_turns && e != only) continue;
      for (std::uint64_t state = 0; state < 3; ++state) {
        const std::uint64_t state_seed = seed * 31 + state * 7;
        if (compare(function, *engines[e], state_seed).empty()) continue;
        report(function, *engines[e], seed, state_seed);
        ++reported;
        break;
      }
    }
  }
}

}  // namespace

TEST_CASE("random programs verify and survive their text form") {
  std::set<ir::Op> used;
  // Seeds give different programs with different compilers (argument evaluation order is unspecified), and so
  // does the number of programs needed to draw every op.
  for (std::uint64_t seed = 1; seed <= 400 || (used.size() < ir::op_count && seed <= 4000); ++seed) {
    const ir::Function function = seed % 9 == 0 ? random_formula(seed) : random_program(seed);
    const auto verified = ir::verify(function);
    INFO(ir::print(function));
    INFO((verified ? "" : verified.error().message));
    REQUIRE(verified);
    auto parsed = ir::parse(ir::print(function));
    INFO((parsed ? "" : parsed.error().message));
    REQUIRE(parsed);
    REQUIRE(ir::difference(function, *parsed) == "");
    for (const ir::Block& block : function.blocks)
      for (const ir::Inst& inst : block.insts) used.insert(inst.op);
  }
  for (unsigned op = 0; op < ir::op_count; ++op) {
    INFO(ir::op_name(static_cast<ir::Op>(op)) << " is in none of the programs");
    CHECK(used.contains(static_cast<ir::Op>(op)));
  }
}

TEST_CASE("random formulas have too many values for a host's registers") {
  unsigned split = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const ir::Function function = random_formula(seed);
    ir::Function parts = copy(function);
    split_lanes(parts);
    split += ir::difference(function, parts) != "";
    REQUIRE(ir::verify(parts));
  }
  CHECK(split >= 50);
}

TEST_CASE("random programs end in the same state on every engine") {
  const std::uint64_t programs = number_from_environment("EUMULATE_PROGRAMS", 1500 / EUMULATE_STEP);
  const std::uint64_t first = number_from_environment("EUMULATE_SEED", 1);
  check_programs(first, programs, other_engines(), false);
}

TEST_CASE("random programs end in the same state where threads begin with fewer channels than they have") {
  const std::uint64_t programs = number_from_environment("EUMULATE_PROGRAMS", 1500 / EUMULATE_STEP);
  const std::uint64_t first = number_from_environment("EUMULATE_SEED", 1);
  unsigned narrowed = 0;
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    ProgramOptions options;
    options.memory = seed % 4 != 0;
    options.control = seed % 3 != 0;
    const ir::Function function = below_execution_mask(random_program(seed, options));
    const unsigned channels = 1 + static_cast<unsigned>(seed / 2 % function.simd);
    ir::Function narrow = copy(function);
    few_channels(narrow, channels);
    REQUIRE(ir::verify(narrow));
    narrowed += narrow.simd < function.simd;
    for (const auto& engine : other_engines()) {
      const std::string problem = compare(function, *engine, seed * 31, channels);
      if (problem.empty()) continue;
      const ir::Function small = shrink(function, [&](const ir::Function& candidate) {
        return candidate.simd == function.simd && !compare(candidate, *engine, seed * 31, channels).empty();
      });
      FAIL("seed " << seed << ", " << channels << " channels: reference and " << engine->name() << ", "
                   << compare(small, *engine, seed * 31, channels) << "\n"
                   << ir::print(small));
    }
  }
  CHECK(narrowed >= programs / 4);
}

TEST_CASE("random programs end in the same state whatever is disabled") {
  const std::uint64_t programs = number_from_environment("EUMULATE_PROGRAMS", 1500 / EUMULATE_STEP);
  const std::uint64_t first = number_from_environment("EUMULATE_SEED", 1);
  check_programs(first, programs, reduced_engines(), true);
}
