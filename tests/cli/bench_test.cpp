// eumulate bench: what it reports and what it refuses. Tests assert no times, only their consistency.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runtime/cli/bench/statistics.hpp"
#include "tests/cli/program.hpp"

using Catch::Contains;
using cli_test::corpus;
using cli_test::eumulate;
using cli_test::Words;
using nlohmann::json;

namespace {

Words bench(const Words& more) {
  Words words{"bench",     corpus("saxpy.zebin"),
              "--kernel",  "saxpy",
              "--global",  "64",
              "--arg",     "f32:2",
              "--arg",     "iota:f32:64",
              "--arg",     "zeros:256",
              "--arg",     "i32:64",
              "--samples", "7",
              "--seconds", "0"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("bench reports every sample, and intervals that hold the median", "[cli]") {
  const auto done = eumulate(bench({"--threads", "1", "--json"}));
  REQUIRE(done.code == 0);
  const json report = json::parse(done.out);
  CHECK(report["kernel"] == "saxpy");
  CHECK(report["global"] == json({64, 1, 1}));
  CHECK(report["threads"] == 2);
  CHECK(report["guest_instructions"] == 58);
  REQUIRE(report["engines"].size() == 1);
  const json& engine = report["engines"][0];
  CHECK(engine["engine"] == "avx2");
  CHECK(engine["workers"] == 1);
  CHECK(engine["launches_a_sample"] == 1);
  CHECK(engine["code_bytes"] > 0);
  for (const char* clock : {"wall_seconds", "cpu_seconds"}) {
    const json& times = engine[clock];
    CHECK(times["samples"].size() == 7);
    CHECK(times["least"] > 0.0);
    CHECK(times["least"] <= times["interval"][0]);
    CHECK(times["interval"][0] <= times["median"]);
    CHECK(times["median"] <= times["interval"][1]);
    CHECK(times["confidence"].get<double>() == Approx(1 - 2.0 / 128));
  }
}

TEST_CASE("bench runs both engines, which leave the same in every buffer", "[cli]") {
  const auto done = eumulate(bench({"--engine", "both", "--json"}));
  REQUIRE(done.code == 0);
  const json report = json::parse(done.out);
  REQUIRE(report["engines"].size() == 2);
  CHECK(report["engines"][1]["engine"] == "reference");
  CHECK(report["engines_agree"] == true);
  const auto text = eumulate(bench({"--engine", "both"}));
  REQUIRE(text.code == 0);
  CHECK_THAT(text.out,
             Contains("saxpy: SIMD32, local size 64,1,1, 1 groups, 2 threads, 58 guest instructions"));
  CHECK_THAT(text.out, Contains("7 samples of 1 launches"));
  CHECK_THAT(text.out, Contains("buffers after the first launch are the same"));
}

TEST_CASE("bench refuses what run refuses", "[cli]") {
  CHECK(eumulate(bench({"--engine", "fast"})).code == 1);
  CHECK(eumulate(bench({"--samples", "0"})).code == 1);
  CHECK(eumulate({"bench", "nowhere.bin", "--kernel", "k", "--global", "1"}).code == 2);
  CHECK(eumulate({"bench", corpus("saxpy.zebin"), "--kernel", "k", "--global", "1"}).code == 3);
  const std::string faults = EUMULATE_SOURCE_DIR "/tests/runtime/bin/faults.zebin.bin";
  const auto fault = eumulate(
      {"bench", faults, "--kernel", "overrun", "--global", "64", "--arg", "zeros:256", "--arg", "i64:4096"});
  CHECK(fault.code == 4);
  CHECK(cli_test::is_one_line(fault));
}

TEST_CASE("the median of a distribution lies between order statistics with a known chance", "[cli]") {
  using eum::cli::median_interval;
  const std::vector<double> few{3, 1, 2};
  CHECK(median_interval(few).low == 1);
  CHECK(median_interval(few).high == 3);
  CHECK(median_interval(few).confidence == Approx(0.75));
  // Ten values: the confidence from the second to the ninth is 1 - 2 (1 + 10) / 1024.
  const std::vector<double> ten{10, 1, 9, 2, 8, 3, 7, 4, 6, 5};
  CHECK(median_interval(ten).low == 2);
  CHECK(median_interval(ten).high == 9);
  CHECK(median_interval(ten).confidence == Approx(1 - 22.0 / 1024));
  CHECK(median_interval(ten, 0.5).low == 4);
  CHECK(eum::cli::median(ten) == 5.5);
  CHECK(eum::cli::median(few) == 2);
  CHECK(eum::cli::smallest(ten) == 1);
  const std::vector<double> one{7};
  CHECK(median_interval(one).low == 7);
  CHECK(median_interval(one).high == 7);
  CHECK(median_interval(one).confidence == 0);
}
