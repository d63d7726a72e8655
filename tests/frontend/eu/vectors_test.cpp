// Every word of the Gen7 vectors on the engines, each in the middle of its own kernel: a word that can be
// lowered leaves the same registers, flags, masks and surfaces on each engine; any other is a fault with the
// text of the instruction. What instructions mean is tested elsewhere (cases/gen7.gen, model_test.cpp).
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <random>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/verifier.hpp"
#include "tests/frontend/eu/case_thread.hpp"

namespace eum::test {
namespace {

using gen::Family;

constexpr std::size_t word_bytes = 16, padding = 64;  // words on each side; no vector branches farther
constexpr unsigned surface_count = 16, surface_words = 1024;

std::vector<std::byte> bytes_of(std::string_view hex) {
  std::vector<std::byte> out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return out;
}

/// A jump to the word, which is surrounded by messages that end the thread.
std::vector<std::byte> kernel_of(std::span<const std::byte> word, Family family) {
  const std::vector<std::byte> end = bytes_of("31026007200c0020e00f000010000082");
  std::vector<std::byte> jump = bytes_of("20020000001c00340014000000000000");
  const auto distance =
      static_cast<std::uint32_t>((padding - 1) * word_bytes / (family == Family::Gen7 ? 8 : 1));
  std::memcpy(jump.data() + 12, &distance, sizeof distance);
  std::vector<std::byte> code = jump;
  const auto append = [&](std::span<const std::byte> what) {
    code.insert(code.end(), what.begin(), what.end());
  };
  for (std::size_t i = 1; i < padding; ++i) append(end);
  append(word);
  for (std::size_t i = 0; i < padding; ++i) append(end);
  return code;
}

struct Compiled {
  std::string engine;
  std::unique_ptr<jit::Executable> executable;
  std::vector<std::string> texts;  ///< of traps
};

Compiled compile(jit::Engine& engine, std::span<const std::byte> code, Family family, unsigned simd) {
  Result<ir::Function> function = gen::lower_kernel(code, family, simd, "vector");
  if (!function) FAIL(function.error().message);
  if (const Result<void> good = ir::verify(*function); !good) FAIL(good.error().message);
  Compiled compiled{std::string(engine.name()), nullptr, function->strings};
  auto executable = engine.compile(*function, {});
  if (!executable) FAIL(executable.error().message);
  compiled.executable = std::move(*executable);
  return compiled;
}

/// The result of a run.
struct Outcome {
  jit::Status status = jit::Status::Exited;
  std::string fault;
  bool unsupported = false;
  std::vector<std::byte> state;
  bool operator==(const Outcome&) const = default;
};

/// Runs with addresses, texels and numbers in registers, under the execution mask `mask`.
Outcome run(const Compiled& compiled, std::uint32_t seed, std::uint32_t mask) {
  CaseThread thread(compiled.executable->layout());
  thread.set_sampler_count(16);
  std::mt19937 random(seed);
  Contents words;
  words.place = Contents::Place::Surface;
  for (words.offset = 0; words.offset < surface_count; ++words.offset) {
    words.elements.assign(surface_words, {});
    for (Contents::Element& element : words.elements)
      element.bits = __builtin_bit_cast(std::uint32_t, static_cast<float>(random() % 64));
    thread.set(words);
    thread.set_image({words.offset, 32, 32, seed % 2 != 0 ? "R32_FLOAT" : "R32_UINT"});
  }
  const eu::Target target = gen::target(Family::Gen7);
  for (unsigned at = 0; at < target.grf_file_bytes(); at += 4) {
    const std::uint32_t small = random() % 32;
    const std::uint32_t value =
        seed % 2 != 0 ? 4 * small : __builtin_bit_cast(std::uint32_t, static_cast<float>(small) / 4 - 2);
    std::memcpy(thread.file() + at, &value, 4);
  }
  for (unsigned at = 0; at < 8; ++at)
    thread.layout().flags_of(thread.state())[at] = static_cast<std::byte>(random());
  thread.masks()[0] = mask;
  Outcome outcome;
  outcome.status = compiled.executable->run(thread.state());
  const jit::Fault& fault = thread.state().fault;
  if (outcome.status == jit::Status::Faulted)
    outcome.fault = fault.kind == jit::FaultKind::Image ? fault.reason
                    : jit::has_text(fault.kind)
                        ? compiled.texts.at(fault.address)
                        : fmt::format("fault {} at {:#x}", static_cast<unsigned>(fault.kind), fault.address);
  outcome.unsupported =
      outcome.status == jit::Status::Faulted &&
      (fault.kind == jit::FaultKind::Unsupported || fault.kind == jit::FaultKind::RegisterMessage);
  const auto keep = [&](const std::byte* from, std::size_t bytes) {
    outcome.state.insert(outcome.state.end(), from, from + bytes);
  };
  keep(thread.file(), target.file_bytes());
  keep(thread.layout().flags_of(thread.state()), target.flag_bits / 8);
  for (words.offset = 0; words.offset < surface_count; ++words.offset)
    keep(thread.place(words), 4 * surface_words);
  return outcome;
}

/// What is not modelled, by the text of the fault, and the number of such words on Gen7 and Gen7.5.
struct Refusal {
  std::string_view text;
  std::array<unsigned, 2> words;
};
constexpr Refusal refusals[] = {
    {"render target write", {49, 49}},   {"(hdc.urb)", {51, 0}},
    {"the descriptor is in a0", {2, 2}}, {"waits for a notification that nobody sends", {2, 0}},
    {"not defined on Gen7.5", {0, 112}},
};

}  // namespace

TEST_CASE(
    "every word of the Gen7 vectors leaves the same state on each engine, or is a fault with its text") {
  std::vector<std::unique_ptr<jit::Engine>> engines;
  for (const jit::EngineInfo& row : jit::engines())
    if (auto made = row.make()) engines.push_back(std::move(*made));
  REQUIRE(engines.size() > 1);
  constexpr Family families[] = {Family::Gen7, Family::Gen7_5};
  for (std::size_t f = 0; f < std::size(families); ++f) {
    const Family family = families[f];
    std::ifstream file(fmt::format("{}/tests/frontend/gen/data/vectors_gen{}.txt", EUMULATE_SOURCE_DIR,
                                   gen::info(family).iga64));
    std::array<unsigned, std::size(refusals)> refused{};
    unsigned total = 0;
    for (std::string line; std::getline(file, line); ++total) {
      if (total % EUMULATE_STEP != 0) continue;
      INFO(gen::info(family).name << " " << line);
      const std::string_view hex = std::string_view(line).substr(0, line.find(' '));
      const std::vector<std::byte> code = kernel_of(bytes_of(hex), family);
      const auto decoded = gen::decode(code, padding * word_bytes, family);
      REQUIRE(decoded);
      const unsigned simd = decoded->exec_size + decoded->channel_offset > 8 ? 16 : 8;
      std::vector<Compiled> all;
      for (const std::unique_ptr<jit::Engine>& engine : engines)
        all.push_back(compile(*engine, code, family, simd));
      for (const std::uint32_t seed : {1u, 2u})
        for (const std::uint32_t mask : {0xffffu >> (16 - simd), 0x5au}) {
          const Outcome expected = run(all.front(), seed, mask);
          for (const Compiled& other : all) {
            INFO(all.front().engine << " and " << other.engine << ", seed " << seed << ", mask " << mask);
            const Outcome found = run(other, seed, mask);
            CHECK(found.fault == expected.fault);
            CHECK((found == expected));
          }
          if (!expected.unsupported || seed != 1 || mask == 0x5au) continue;
          CHECK_THAT(expected.fault, Catch::Contains(gen::print(*decoded, family)));
          bool known = false;
          for (std::size_t i = 0; i < std::size(refusals); ++i) {
            const bool here = expected.fault.find(refusals[i].text) != std::string::npos;
            refused[i] += here;
            known |= here;
          }
          if (!known) FAIL_CHECK(expected.fault);
        }
    }
    INFO(gen::info(family).name);
    CHECK(total > 1000);
    for (std::size_t i = 0; i < std::size(refusals); ++i) {
      INFO(refusals[i].text);
      if (EUMULATE_STEP == 1)
        CHECK(refused[i] == refusals[i].words[f]);
      else
        CHECK(refused[i] <= refusals[i].words[f]);
    }
  }
}

}  // namespace eum::test
