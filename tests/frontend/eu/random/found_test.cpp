// Words found by random programs that ran differently on two engines, or were lowered to an invalid micro-op
// function; each with what was wrong. The message that ends a thread follows them.
#include <catch2/catch.hpp>
#include <string_view>

#include "tests/frontend/eu/random/bed.hpp"

namespace eum::test {
namespace {

struct Found {
  const char* what;
  gen::Family family;
  unsigned simd;
  std::string_view words;  ///< in the format of Program::listing
};

constexpr Found found[] = {
    {"sad2 read the second channel of a pair only where it was enabled itself", gen::Family::Gen9, 8,
     "50017503 6922a680 0a016a22 a6950302"},
    {"sada2 of an indirect source as sad2", gen::Family::Gen8, 16, "51018006 4c22910d 64890e22 34026e00"},
    {"smov took the mask only where the first channel was enabled", gen::Family::Gen9, 8,
     "0a017100 483b7e00 6a0b6a3a d0856000"},
    {"f32to16 took a flag register for its float", gen::Family::Gen7, 16,
     "13022100 e8020026 00000002 2df2cc3e"},
    {"f32to16 took a flag register for two words", gen::Family::Gen7_5, 32,
     "13000080 e4820026 00000000 8e72770c"},
    {"smov of a swizzled mask", gen::Family::Gen9, 16, "0a018000 4b53420b af0d6f0a 84836e00"},
};

Program program_of(const Found& row) {
  Program out{row.family, row.simd, {}, {}, false};
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + 1 < row.words.size();) {
    if (row.words[at] == ' ') {
      ++at;
      continue;
    }
    bytes.push_back(std::byte(std::stoul(std::string(row.words.substr(at, 2)), nullptr, 16)));
    at += 2;
  }
  Element element{};
  element.word = bytes;
  out.elements.push_back(element);
  Choice choice(1);
  Element end{};
  end.inst = MessageSource(row.family, choice).end();
  out.elements.push_back(end);
  return out;
}

}  // namespace

TEST_CASE("words that once ran differently on two engines run alike") {
  for (const Found& row : found) {
    INFO(row.what);
    const Program program = program_of(row);
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      const Outcome outcome = run(program, {seed, 100, seed % 8 == 0});
      INFO("seed " << seed);
      REQUIRE(outcome.difference == "");
    }
  }
}

}  // namespace eum::test
