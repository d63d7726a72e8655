// Random, damaged and systematically varied words: acceptance and text are compared with iga64's; each
// difference must belong to a class that disagreements.hpp names and justifies.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/message.hpp"
#include "tests/frontend/gen/disagreements.hpp"
#include "tests/frontend/gen/iga64.hpp"
#include "tests/frontend/gen/words.hpp"

namespace eum::gen::test {
namespace {

/// The families that iga64 can decode too.
constexpr Family families[] = {Family::Gen7_5, Family::Gen8, Family::Gen9, Family::Gen11};

struct Tally {
  std::size_t equal = 0, both_reject = 0;
  std::map<std::string_view, std::size_t> classes;
};

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* given = std::getenv(name);
  return given ? std::stoull(given) : otherwise;
}

void compare(const std::vector<TestWord>& words, Family family, Tally& tally) {
  std::vector<std::byte> code;
  for (const TestWord& w : words) code.insert(code.end(), w.begin(), w.end());
  const auto iga = run_iga64(code, family);
  if (!iga) return;
  const auto disagree = [&](Verdict verdict, const std::string& ours, const std::string& theirs) {
    if (const Disagreement* known = find_disagreement(verdict, family, ours, theirs))
      ++tally.classes[known->name];
    else
      FAIL_CHECK("  ours:  " << ours << "\n  iga64: " << theirs);
  };
  for (const auto& [offset, line] : *iga) {
    const Result<Instruction> ours = decode(code, offset, family);
    const bool accepted = !line.rejected();
    if (!ours && !accepted) {
      ++tally.both_reject;
    } else if (!ours) {
      disagree(Verdict::Stricter, ours.error().message, line.text);
    } else if (!accepted) {
      disagree(Verdict::Looser, squeeze(print(*ours, family, LabelStyle::Numeric)), all_of(line.errors));
    } else if (const std::string text = squeeze(print(*ours, family, LabelStyle::Numeric));
               text == line.text) {
      ++tally.equal;
    } else {
      disagree(Verdict::Text, text, line.text);
    }
  }
}

/// Compares EUMULATE_WORDS words of `kind` for each family, or `count` if that is not set.
void check(Kind kind, std::size_t count, double least_equal) {
  const std::uint64_t seed = from_environment("EUMULATE_SEED", 20260101);
  count = from_environment("EUMULATE_WORDS", count);
  for (Family family : families) {
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(kind) * 8 + static_cast<std::uint64_t>(family));
    INFO("EUMULATE_SEED=" << seed << " family " << info(family).name);
    Tally tally;
    std::size_t done = 0;
    constexpr std::size_t batch = 20000;
    WordSource source(kind, family, random);
    while (done < count) {
      const std::vector<TestWord> words = source.next(std::min(batch, count - done));
      if (words.empty()) break;
      done += words.size();
      compare(words, family, tally);
    }
    if (tally.equal + tally.both_reject == 0) {
      std::puts("iga64 is not installed: words were not compared");
      return;
    }
    std::printf("%s: %zu words, %zu equal, %zu rejected by both", std::string(info(family).name).c_str(),
                done, tally.equal, tally.both_reject);
    for (const auto& [name, times] : tally.classes) std::printf("; %zu %s", times, std::string(name).c_str());
    std::puts("");
    CHECK(static_cast<double>(tally.equal) >= least_equal * static_cast<double>(done));
  }
}

}  // namespace

TEST_CASE("damaged words agree with iga64") { check(Kind::Flip, 8000, 0.5); }
TEST_CASE("words with another opcode agree with iga64") { check(Kind::OtherOpcode, 8000, 0.5); }
TEST_CASE("random compacted words expand as iga64 expands them") { check(Kind::Compacted, 8000, 0.1); }
TEST_CASE("random words agree with iga64") { check(Kind::Random, 8000, 0.03); }
TEST_CASE("words that vary one field of a base word agree with iga64") { check(Kind::Field, 8000, 0.45); }

}  // namespace eum::gen::test
