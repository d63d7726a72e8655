// eumulate run --profile: where samples are attributed. The shares depend on the host, but the loop must have
// most of them.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using Catch::Contains;
using cli_test::corpus;
using cli_test::eumulate;
using cli_test::Words;
using nlohmann::json;

namespace {

Words mads(const Words& more) {  // four multiply-adds per repetition, 4000 repetitions
  Words words{"run",      corpus("micro.zebin"),
              "--kernel", "mad32",
              "--global", "8192",
              "--arg",    "zeros:32768",
              "--arg",    "u32:4000",
              "--arg",    "f32:0.5",
              "--arg",    "f32:0.25"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("a profile finds the loop", "[cli]") {
  const auto done = eumulate(mads({"--profile", "--repeat", "20", "--json"}));
  INFO(done.err);
  REQUIRE(done.code == 0);
  const json report = json::parse(done.out);
  CHECK(report["workers"] == 1);
  const json& profile = report["profile"];
  CHECK(profile["samples"] > 10);
  std::uint64_t sum = profile["outside"].get<std::uint64_t>() +
                      profile["beside_instructions"].get<std::uint64_t>(),
                mad = 0, most = 0;
  std::uint32_t before = 0;
  for (const json& instruction : profile["instructions"]) {
    const auto own = instruction["samples"].get<std::uint64_t>();
    sum += own + instruction["samples_in_calls"].get<std::uint64_t>();
    const auto ip = instruction["ip"].get<std::uint32_t>();
    CHECK((ip == 0 || ip > before));
    before = ip;
    if (instruction["text"].get<std::string>().find("mad ") != std::string::npos) mad += own;
    most = std::max(most, own);
  }
  CHECK(sum == profile["samples"]);
  CHECK(2 * mad > sum);
  CHECK(most > 0);
}

TEST_CASE("time in functions counts for the message that calls them", "[cli]") {
  const auto done = eumulate({"run", corpus("image_filter.zebin"), "--kernel", "to_ycbcr", "--global",
                              "256,256", "--arg", "image2d:256x256:rgba:unorm8:random:1", "--arg",
                              "image2d:256x256:rgba:unorm8:zeros", "--profile", "--repeat", "20", "--json"});
  INFO(done.err);
  REQUIRE(done.code == 0);
  const json profile = json::parse(done.out)["profile"];
  std::uint64_t messages = 0, others = 0;
  for (const json& instruction : profile["instructions"])
    (instruction["text"].get<std::string>().find("send") != std::string::npos ? messages : others) +=
        instruction["samples_in_calls"].get<std::uint64_t>();
  CHECK(messages > 0);
  CHECK(others == 0);
}

TEST_CASE("a profile as text has every instruction, and says when samples are few", "[cli]") {
  const auto done =
      eumulate({"run", corpus("saxpy.zebin"), "--kernel", "saxpy", "--global", "8", "--arg", "f32:2", "--arg",
                "iota:f32:8", "--arg", "zeros:32", "--arg", "i32:8", "--profile"});
  REQUIRE(done.code == 0);
  CHECK_THAT(done.out, Contains("profile: ") && Contains("few samples: --repeat runs the kernel more often"));
  CHECK_THAT(done.out, Contains("0x00010  (W)     or (1|M0)") || Contains("0x00010  (W) or (1|M0)"));
}

TEST_CASE("a profile is of one thread on the fast engine", "[cli]") {
  CHECK(eumulate(mads({"--profile", "--threads", "2"})).code == 1);
  CHECK(eumulate(mads({"--profile", "--engine", "reference"})).code == 1);
}
