// Random programs of GEN words: every engine ends each run in the same state as the reference engine.
//   EUMULATE_PROGRAMS=n   how many programs (default a few hundred)
//   EUMULATE_SEED=n       the first seed
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>

#include "frontend/gen/lower/lower.hpp"
#include "frontend/gen/message_table.hpp"
#include "tests/frontend/eu/random/bed.hpp"
#include "tests/frontend/gen/encode.hpp"

namespace eum::test {
namespace {

std::uint64_t environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

std::vector<gen::Family> executed_families() {
  std::vector<gen::Family> out;
  for (std::size_t n = 0; n < gen::family_count; ++n) {
    const auto family = static_cast<gen::Family>(n);
    gen::Instruction nop;
    nop.opcode = gen::Opcode::nop;
    if (gen::lower_kernel(gen::test::encode(nop, family), family, 8, "nop")) out.push_back(family);
  }
  return out;
}

struct Counts {
  std::uint64_t programs = 0, instructions = 0, faulted = 0, differing = 0;
};

void report(const Program& program, const Run& how, const std::string& difference) {
  // Shrinking keeps programs with the same difference, apart from its numbers.
  const auto kind = [](std::string text) {
    std::erase_if(text, [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
    return text;
  };
  const auto fails = [&](const Program& candidate) {
    return kind(run(candidate, how).difference).substr(0, 40) == kind(difference).substr(0, 40);
  };
  const Program small = shrink(program, fails);
  fmt::print(stderr, "seed {}, {}, SIMD{}: {}\n  shrunk: {}\n{}\n", how.seed, gen::info(program.family).name,
             program.simd, difference, run(small, how).difference, small.listing());
}

template <class Make>
Counts run_all(std::uint64_t otherwise, Make&& make) {
  const std::uint64_t first = environment("EUMULATE_SEED", 1);
  const std::uint64_t count = environment("EUMULATE_PROGRAMS", otherwise);
  const std::vector<gen::Family> families = executed_families();
  Counts counts;
  for (std::uint64_t seed = first; seed < first + count && counts.differing < 5; ++seed) {
    Choice choice(seed);
    const gen::Family family = families[choice.below(families.size())];
    const unsigned simd = choice.any_of({8u, 16u, 16u, 32u, 1u});
    const auto [program, how] = make(family, simd, seed, choice);
    const Outcome outcome = run(program, how);
    ++counts.programs;
    counts.instructions += outcome.instructions;
    counts.faulted += !outcome.fault.empty();
    if (std::getenv("EUMULATE_VERBOSE") != nullptr && !outcome.fault.empty())
      fmt::print("{}: {}\n", seed, outcome.fault);
    if (outcome.difference.empty()) continue;
    ++counts.differing;
    report(program, how, outcome.difference);
  }
  fmt::print("seeds {} to {}: {} guest instructions, {} of {} programs ended in a fault\n", first,
             first + count - 1, counts.instructions, counts.faulted, counts.programs);
  return counts;
}

}  // namespace

TEST_CASE("random programs of GEN words end in the same state on every engine") {
  const Counts counts =
      run_all(240 / EUMULATE_STEP, [](gen::Family family, unsigned simd, std::uint64_t seed, Choice& choice) {
        ProgramShape shape;
        shape.length = choice.any_of({8u, 20u, 40u});
        shape.repetitions = choice.one_in(3) ? 1 : 200;
        shape.messages = !choice.one_in(3);
        shape.flow = !choice.one_in(4);
        shape.astray = choice.one_in(10);
        const Run how{seed, 6000, choice.one_in(8)};
        return std::pair(random_program(family, simd, shape, seed), how);
      });
  CHECK(counts.differing == 0);
}

TEST_CASE("random words end in the same fault on every engine") {
  const Counts counts =
      run_all(400 / EUMULATE_STEP, [](gen::Family family, unsigned simd, std::uint64_t seed, Choice& choice) {
        return std::pair(random_words(family, simd, seed), Run{seed, 500, choice.one_in(8)});
      });
  CHECK(counts.differing == 0);
}

TEST_CASE("damaged kernels of compilers end in the same state on every engine") {
  const Counts counts =
      run_all(120 / EUMULATE_STEP, [](gen::Family family, unsigned simd, std::uint64_t seed, Choice& choice) {
        // Half of the runs continue behind their faults.
        const std::uint64_t start = choice.one_in(2) ? 4 * seed : seed;
        return std::pair(damaged_kernel(family, simd, seed), Run{start, 3000, choice.one_in(8)});
      });
  CHECK(counts.differing == 0);
}

TEST_CASE("every instruction and message that executes can be in a random program") {
  for (const gen::Family family : executed_families()) {
    Choice choice(1);
    InstructionSource source(family, choice);
    for (std::size_t n = 0; n < gen::opcode_count; ++n) {
      const auto opcode = static_cast<gen::Opcode>(n);
      if (!computes(opcode, family)) continue;
      INFO(gen::info(family).name << " " << gen::info(opcode).name);
      CHECK(source.of(opcode));
    }
    MessageSource messages(family, choice);
    for (unsigned n = 0; n < gen::message_table::max_rows; ++n) {
      const gen::message_table::Row& row = gen::message_table::rows[n];
      if (row.layout == gen::message_table::DescriptorLayout::Unsupported) continue;
      if (!row.info.families.contains(family)) continue;
      INFO(gen::info(family).name << " " << row.info.name);
      CHECK_FALSE(messages.of(static_cast<gen::MessageKind>(n)).empty());
    }
  }
}

}  // namespace eum::test
