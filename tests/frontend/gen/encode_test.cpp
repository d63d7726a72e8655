// The encoder of the tests is the inverse of the decoder.
#include <catch2/catch.hpp>
#include <random>

#include "tests/frontend/gen/encode.hpp"
#include "tests/frontend/gen/words.hpp"

using namespace eum;
using namespace eum::gen;
using namespace eum::gen::test;

TEST_CASE("what has been decoded is encoded to the same instruction") {
  std::mt19937_64 random(1);
  for (std::size_t f = 0; f < family_count; ++f) {
    const auto family = static_cast<Family>(f);
    std::vector<TestWord> words = corpus(family);
    WordSource damaged(Kind::Flip, family, random), others(Kind::OtherOpcode, family, random);
    for (WordSource* source : {&damaged, &others})
      for (TestWord& word : source->next(20'000 / EUMULATE_STEP)) words.push_back(std::move(word));
    std::size_t encoded = 0;
    for (const TestWord& word : words) {
      Result<Instruction> first = decode(word, 0, family);
      if (!first) continue;
      first->length = 16;
      if (info(first->opcode).shape.format == Format::Jump && first->jip.present)
        first->jip.offset = 16 + first->jip.raw;
      const auto bytes = encode(*first, family);
      const Result<Instruction> second = decode(bytes, 0, family);
      INFO(info(family).name << " " << print(*first, family));
      if (!second) FAIL(second.error().message);
      REQUIRE(print(*second, family) == print(*first, family));
      ++encoded;
    }
    CHECK(encoded > words.size() / 4);
  }
}
