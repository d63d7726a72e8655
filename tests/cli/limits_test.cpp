// A shortage of host resources ends with exit code 5 and one line; exceeding a limit names the limit.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "tests/cli/program.hpp"

using Catch::Contains;
using cli_test::corpus;
using cli_test::eumulate;
using cli_test::Finished;
using cli_test::guest_fault;
using cli_test::host_failed;
using cli_test::is_one_line;
using cli_test::usage;
using cli_test::Words;

namespace {

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer)
constexpr bool sanitized = true;  // a sanitizer reserves more address space than any limit leaves
#else
constexpr bool sanitized = false;
#endif

Words saxpy(const std::string& x, const Words& more = {}) {
  Words words{
      "run",   corpus("saxpy.zebin"), "--kernel", "saxpy", "--global", "64", "--arg", "f32:2", "--arg", x,
      "--arg", "zeros:256",           "--arg",    "i32:64"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Runs with at most `kib` KiB of address space.
Finished within(unsigned kib, const Words& words) {
  Words all{"-c", "ulimit -v " + std::to_string(kib) + "; exec \"$0\" \"$@\"", EUMULATE_PROGRAM};
  all.insert(all.end(), words.begin(), words.end());
  return cli_test::run("bash", all);
}

}  // namespace

TEST_CASE("no memory of the host ends with exit code 5, one line and no file", "[cli]") {
  if (sanitized) return;
  const std::string big = cli_test::file("big.raw", {});
  std::filesystem::resize_file(big, std::uint64_t{1} << 30);
  for (const std::string& x : {std::string("@/dev/zero"), "@" + big, std::string("zeros:9000000000"),
                               std::string("iota:f32:300000000")}) {
    CAPTURE(x);
    const Finished done = within(250'000, saxpy(x, {"--dump", "2=never.raw"}));
    INFO(done.err);
    CHECK(done.code == host_failed);
    CHECK(is_one_line(done));
    CHECK_THAT(done.err, Contains("the host has no"));
    CHECK_FALSE(std::filesystem::exists(cli_test::scratch() / "never.raw"));
  }
  std::filesystem::remove(big);
}

TEST_CASE("wherever the host's memory ends there is a result or one line", "[cli]") {
  if (sanitized) return;
  // Some of these fail in each of loading, translation and thread creation.
  unsigned failed = 0;
  for (unsigned kib = 48'000; kib <= 160'000; kib += 4'000) {
    CAPTURE(kib);
    const Finished done = within(kib, saxpy("zeros:20000000", {"--threads", "2"}));
    INFO(done.err);
    CHECK((done.code == 0 || done.code == host_failed));
    CHECK((done.code == 0 || is_one_line(done)));
    failed += done.code != 0;
  }
  CHECK(failed > 0);
}

TEST_CASE("a buffer of 1 TiB costs what is touched of it", "[cli]") {
  if (sanitized) return;
  const Finished done = eumulate(saxpy("zeros:1099511627776", {"--print", "2:1"}));
  INFO(done.err);
  CHECK(done.code == 0);
}

TEST_CASE("a limit that is met is named", "[cli]") {
  const auto complaint = [](const std::string& limit, int code) {
    const Finished done = eumulate(saxpy("zeros:256", {"--limit", limit}));
    CAPTURE(limit, done.err);
    CHECK(done.code == code);
    CHECK(is_one_line(done));
    return done.err;
  };
  CHECK_THAT(complaint("code=16", guest_fault), Contains("saxpy: limit code: expected at most 16 bytes"));
  CHECK_THAT(complaint("blocks=1", guest_fault),
             Contains("saxpy: limit blocks: expected at most 1 basic blocks"));
  CHECK_THAT(complaint("memory=1000", guest_fault),
             Contains("saxpy: limit memory: expected at most 1000 bytes"));
  CHECK_THAT(complaint("speed=1", usage),
             Contains("expected NAME=NUMBER, NAME one of segment, code, blocks, memory"));
  CHECK_THAT(complaint("code", usage), Contains("expected NAME=NUMBER"));
  CHECK_THAT(complaint("code=x", usage), Contains("found 'x'"));
  CHECK(eumulate(saxpy("zeros:256", {"--limit", "code=100000", "--limit", "segment=0"})).code == 0);
}
