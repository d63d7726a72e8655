// What is derived from measured times: ratios, regressions, JSON in both directions, the page. The times are
// made up.
#include <catch2/catch.hpp>

#include "perf/report.hpp"

using Catch::Contains;
using namespace eum;
using namespace eum::perf;

namespace {

ContenderRecord contender(std::string_view name, std::vector<double> times) {
  ContenderRecord c;
  c.name = name;
  c.wall = times;
  c.cpu = std::move(times);
  return c;
}

/// A record in which PoCL takes about 1 second and Eumulate `factor` times as long.
KernelRecord kernel(const std::string& name, double factor) {
  std::vector<double> pocl{1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06}, ours;
  for (const double time : pocl) ours.push_back(factor * time);
  ours.front() *= 1.02;
  ours.back() *= 0.98;
  return {
      name, "file", "kernel", 1, {64, 1, 1}, {8, 1, 1}, {contender(kPocl, pocl), contender(kEumulate, ours)}};
}

Record record(std::vector<KernelRecord> kernels) { return {"a processor", 1, std::move(kernels)}; }

}  // namespace

TEST_CASE("a ratio is that of times of one turn, with an interval", "[perf]") {
  const Record r = record({kernel("k", 0.5)});
  const auto found = ratio(r, r.kernels[0], kEumulate, kPocl);
  REQUIRE(found);
  CHECK(found->median == Approx(0.5));
  CHECK(found->interval.low == Approx(0.49));
  CHECK(found->interval.high == Approx(0.51));
  CHECK(found->least == Approx(0.505));  // of the smallest times: the second of one, the first of the other
  CHECK_FALSE(ratio(r, r.kernels[0], kEumulate, kNative));
  CHECK(geometric_mean(record({kernel("a", 0.5), kernel("b", 2)}), kEumulate, kPocl) == Approx(1));
  CHECK(geometric_mean(r, kEumulate, kNative) == 0);
}

TEST_CASE("with one worker CPU time counts, with more the wall", "[perf]") {
  Record r = record({kernel("k", 0.5)});
  for (double& time : r.kernels[0].contenders[1].wall) time *= 3;
  CHECK(ratio(r, r.kernels[0], kEumulate, kPocl)->median == Approx(0.5));
  r.workers = 2;
  CHECK(ratio(r, r.kernels[0], kEumulate, kPocl)->median == Approx(1.5));
}

TEST_CASE("who failed has no ratio", "[perf]") {
  Record r = record({kernel("k", 0.5)});
  r.kernels[0].contenders[1].failure = "element 3 is wrong";
  CHECK_FALSE(ratio(r, r.kernels[0], kEumulate, kPocl));
  CHECK_THAT(markdown(r), Contains("k: Eumulate FAILED: element 3 is wrong"));
}

TEST_CASE("a regression is one beyond noise", "[perf]") {
  const Record old = record({kernel("k", 0.5)});
  CHECK(regressions(old, old).empty());
  CHECK(regressions(old, record({kernel("k", 0.515)})).empty());  // the intervals overlap
  CHECK(regressions(old, record({kernel("k", 0.3)})).empty());
  CHECK(regressions(old, record({kernel("another", 9)})).empty());
  const auto lines = regressions(old, record({kernel("k", 0.6)}));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == "k: 0.600 of PoCL (0.588 to 0.612), was 0.500 (0.490 to 0.510)");
}

TEST_CASE("a record comes back from its JSON", "[perf]") {
  Record r = record({kernel("k", 0.5), kernel("l", 2)});
  r.kernels[0].contenders[0].code = {7, {1, 2, 3}};
  r.kernels[0].contenders[0].build = 0.25;
  r.kernels[1].contenders[0].absent = "no such type";
  const auto back = record_from_json(to_json(r));
  REQUIRE(back);
  CHECK(to_json(*back) == to_json(r));
  CHECK(back->kernels[0].contenders[0].code.packed[2] == 3);
  CHECK(back->kernels[0].contenders[0].build == 0.25);
  CHECK(back->kernels[1].contenders[0].absent == "no such type");
}

TEST_CASE("what is no record is refused", "[perf]") {
  for (const char* text : {"", "{", "[]", "3", R"({"host": 1, "workers": 1, "kernels": []})",
                           R"({"host": "h", "workers": 1, "kernels": [{}]})"}) {
    INFO(text);
    const auto found = record_from_json(text);
    REQUIRE_FALSE(found);
    CHECK_THAT(found.error().message, Contains("expected a record of perf_compare"));
  }
}

TEST_CASE("the page has a bar for each ratio and needs nothing else", "[perf]") {
  Record r = record({kernel("a<b", 0.5), kernel("l", 2)});
  const std::string page = html(std::span(&r, 1));
  CHECK_THAT(page, Contains("<svg") && Contains("</html>") && Contains("a&lt;b"));
  CHECK_THAT(page, !Contains("http") && !Contains("src=") && !Contains("<script") && !Contains("a<b"));
  std::size_t bars = 0;
  for (std::size_t at = page.find("<rect"); at != std::string::npos; at = page.find("<rect", at + 1)) ++bars;
  CHECK(bars == 2);
}

TEST_CASE("a table has the worst first", "[perf]") {
  const std::string table = markdown(record({kernel("good", 0.5), kernel("bad", 2)}));
  CHECK(table.find("| bad |") < table.find("| good |"));
  CHECK_THAT(table, Contains("| geometric mean | | | | 1.000 |"));
}
