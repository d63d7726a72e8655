// Each subcommand with valid input.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <nlohmann/json.hpp>

#include "jit/optimisations.hpp"
#include "tests/cli/program.hpp"

using Catch::Contains;
using Catch::EndsWith;
using cli_test::corpus;
using cli_test::eumulate;
using cli_test::Words;
using nlohmann::json;

namespace {

/// saxpy over 100 elements: y = 2.5 * x + y with x = 0, 1, 2, ... and y = 0.
Words saxpy(const Words& more = {}) {
  Words words{
      "run",   corpus("saxpy.patch"), "--kernel", "saxpy",     "--global", "128",    "--arg", "f32:2.5",
      "--arg", "iota:f32:100",        "--arg",    "zeros:400", "--arg",    "i32:100"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("run prints what it did and the buffers that are asked for", "[cli]") {
  const auto done = eumulate(saxpy({"--print", "2:10", "--print", "1:3"}));
  CHECK(done.err == "");
  CHECK(done.code == 0);
  CHECK_THAT(done.out, Contains("saxpy: SIMD32, local size 128,1,1, 1 groups, 4 threads, 116 guest"));
  CHECK_THAT(done.out, Contains("argument 2 (f32), 10 of 100:\n0 2.5 5 7.5 10 12.5 15 17.5\n20 22.5\n"));
  CHECK_THAT(done.out, EndsWith("argument 1 (f32), 3 of 100:\n0 1 2\n"));
}

TEST_CASE("run gives the same on both engines and any number of threads", "[cli]") {
  for (const char* engine : {"avx2", "reference"})
    for (const char* threads : {"1", "2"}) {
      const auto done = eumulate(saxpy({"--engine", engine, "--threads", threads, "--dump", "2=y.bin"}));
      CHECK(done.code == 0);
      const auto bytes = cli_test::read(cli_test::scratch() / "y.bin");
      REQUIRE(bytes.size() == 400);
      for (int i = 0; i < 100; ++i) {
        float value = 0;
        std::memcpy(&value, bytes.data() + 4 * i, 4);
        CHECK(value == 2.5f * static_cast<float>(i));
      }
    }
}

TEST_CASE("run reports in JSON", "[cli]") {
  const auto done = eumulate(saxpy({"--json", "--print", "2:3", "--local", "64", "--threads", "1"}));
  CHECK(done.code == 0);
  const json report = json::parse(done.out);
  CHECK(report["kernel"] == "saxpy");
  CHECK(report["simd"] == 32);
  CHECK(report["groups"] == 2);
  CHECK(report["threads"] == 4);
  CHECK(report["workers"] == 1);
  CHECK(report["engine"] == "avx2");
  CHECK(report["local"] == json({64, 1, 1}));
  CHECK(report["guest_instructions"] == 116);
  CHECK(report["run_seconds"].get<double>() > 0);
  CHECK(report["translation_seconds"].get<double>() > 0);
  CHECK(report["printed"][0]["values"] == json({0, 2.5, 5}));
}

TEST_CASE("run takes buffers from files and local memory", "[cli]") {
  std::vector<std::byte> input(4 * 64);
  for (std::uint32_t i = 0; i < 64; ++i) std::memcpy(input.data() + 4 * i, &i, 4);
  const auto done = eumulate({"run",      corpus("reduce.patch"),
                              "--kernel", "reduce",
                              "--global", "32",
                              "--local",  "16",
                              "--arg",    "@" + cli_test::file("in.bin", input),
                              "--arg",    "zeros:8",
                              "--arg",    "local:64",
                              "--arg",    "u32:64",
                              "--print",  "1",
                              "--print",  "0:2"});
  CHECK(done.err == "");
  CHECK(done.code == 0);
  // Work item i adds i and i + 32: the two groups of 16 sum 0..15 and 32..47, and 16..31 and 48..63.
  CHECK_THAT(done.out, Contains("argument 1 (i32), 2 of 2:\n752 1264\n"));
  CHECK_THAT(done.out, EndsWith("argument 0 (i32), 2 of 64:\n0 1\n"));
}

TEST_CASE("a range may have three dimensions and begin anywhere", "[cli]") {
  const auto done =
      eumulate({"run", corpus("ids.zebin"), "--kernel", "ids", "--global", "4,3,2", "--local", "2,3,1",
                "--offset", "10,20,30", "--arg", "zeros:1536", "--print", "0:384", "--json"});
  REQUIRE(done.code == 0);
  const json values = json::parse(done.out)["printed"][0]["values"];
  for (int z = 0, at = 0; z < 2; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x, at += 16) {
        CAPTURE(x, y, z);
        const json row(std::vector<json>(values.begin() + at, values.begin() + at + 16));
        CHECK(row == json({10 + x, 20 + y, 30 + z, x % 2, y, 0, x / 2, 0, z, 2, 1, 2, 2, 3, 1, 3}));
      }
}

TEST_CASE("run takes vectors and structures as bytes", "[cli]") {
  const std::string params(2 * 48, '0');  // Params of structarg.cl: 48 bytes
  const auto done = eumulate({"run",      corpus("structarg.patch"),
                              "--kernel", "structarg",
                              "--global", "4",
                              "--arg",    "hex:" + params,
                              "--arg",    "zeros:16",
                              "--arg",    "hex:0000803f000000400000404000008040",
                              "--arg",    "hex:02000000030000000100000000000000",
                              "--arg",    "i8:5",
                              "--arg",    "zeros:64",
                              "--arg",    "u16:7",
                              "--arg",    "u64:16",
                              "--arg",    "hex:0102030405060708",
                              "--print",  "1:4",
                              "--print",  "5:4"});
  CHECK(done.err == "");
  CHECK(done.code == 0);
  // out[i] = i since p is 0; whole[0] = 2 * 3 - 1 + 0, then 0 * 5 + 0 + 7, 16 >> 0, 0 + 1 - 8 * 4.
  CHECK_THAT(done.out, Contains("argument 1 (f32), 4 of 4:\n0 1 2 3\n"));
  CHECK_THAT(done.out, EndsWith("argument 5 (i32), 4 of 16:\n5 7 16 -31\n"));
}

TEST_CASE("info shows kernels and arguments of both containers", "[cli]") {
  const auto patch = eumulate({"info", corpus("reduce.patch")});
  CHECK(patch.code == 0);
  CHECK_THAT(patch.out, Contains("reduce.patch.bin: patch tokens in ELF, Gen9, 1 kernel\n"));
  CHECK_THAT(patch.out, Contains("kernel reduce\n  SIMD32, 128 registers"));
  CHECK_THAT(patch.out, Contains("barriers 1"));
  const auto zebin = eumulate({"info", corpus("reduce.zebin")});
  CHECK(zebin.code == 0);
  CHECK_THAT(zebin.out, Contains(": zebin, Gen9, 1 kernel"));

  const json report = json::parse(eumulate({"info", corpus("saxpy.zebin"), "--json"}).out);
  const json& kernel = report["kernels"][0];
  CHECK(kernel["name"] == "saxpy");
  CHECK(kernel["simd"] == 32);
  CHECK(kernel["slm_bytes"] == 0);
  CHECK(kernel["arguments"].size() == 4);
  CHECK(kernel["arguments"][0]["type"] == "float");
  CHECK(kernel["arguments"][0]["bytes"] == 4);
  CHECK(kernel["arguments"][2]["kind"] == "pointer");
}

TEST_CASE("ir prints micro-ops, asm prints host code with the guest's instructions", "[cli]") {
  const auto ir = eumulate({"ir", corpus("saxpy.patch"), "--kernel", "saxpy"});
  CHECK(ir.code == 0);
  CHECK_THAT(ir.out,
             Contains("kernel @saxpy simd 32 family gen9") && Contains("store.u32x") && Contains("  exit "));
  const auto host = eumulate({"asm", corpus("saxpy.patch"), "--kernel", "saxpy"});
  CHECK(host.code == 0);
  CHECK_THAT(host.out, Contains("bytes of host code") && Contains("vmovups") &&
                           Contains("; @0x10  (W) or (1|M0) cr0.0<1>:ud"));
}

TEST_CASE("commands that translate leave out what --disable names", "[cli]") {
  const auto lines = [](std::vector<std::string> words) {
    words.insert(words.begin() + 1, {corpus("saxpy.patch"), "--kernel", "saxpy"});
    const auto done = eumulate(words);
    INFO(done.err);
    REQUIRE(done.code == 0);
    return std::count(done.out.begin(), done.out.end(), '\n');
  };
  CHECK(lines({"asm", "--disable", "memory_in_line"}) < lines({"asm"}));
  CHECK(lines({"asm", "--id-run", "32"}) < lines({"asm"}));
  CHECK(lines({"asm", "--id-run", "32", "--disable", "linear"}) == lines({"asm", "--disable", "linear"}));
  CHECK(lines({"asm", "--disable", "all"}) == lines({"asm", "--disable", "all,linear"}));
  CHECK(lines({"ir", "--passes"}) < lines({"ir", "--passes", "--disable", "linear,forward_state"}));
  CHECK(lines({"ir", "--passes", "--disable", "forward_state"}) ==
        lines({"ir", "--passes", "--disable", "linear", "--disable", "forward_state"}));
  const auto ran = eumulate({"run", corpus("saxpy.patch"), "--kernel", "saxpy", "--global", "64", "--arg",
                             "f32:2", "--arg", "iota:f32:64", "--arg", "zeros:256", "--arg", "i32:64",
                             "--print", "2:4", "--disable", "all"});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Contains("0 2 4 6"));
}

TEST_CASE("to disable what cannot be disabled is an error that lists what can", "[cli]") {
  const std::vector<std::string> kernel{corpus("saxpy.patch"), "--kernel", "saxpy"};
  for (const std::vector<std::string>& command : {std::vector<std::string>{"asm"},
                                                  {"ir", "--passes"},
                                                  {"run", "--global", "64"},
                                                  {"bench", "--global", "64"}})
    for (const char* name : {"speed", "expand_math"}) {
      std::vector<std::string> words = command;
      words.insert(words.end(), kernel.begin(), kernel.end());
      words.insert(words.end(), {"--disable", std::string("linear,") + name});
      const auto done = eumulate(words);
      INFO(done.err);
      CHECK(done.code == 1);
      CHECK(cli_test::is_one_line(done));
      CHECK_THAT(done.err, Contains("--disable: expected all or one of " + eum::jit::optimisation_names()));
      CHECK_THAT(done.err, Contains(std::string("found ") + (*name == 's' ? "'speed'" : "expand_math")));
    }
  CHECK(eumulate({"ir", corpus("saxpy.patch"), "--kernel", "saxpy", "--disable", "linear"}).code == 1);
}

TEST_CASE("help names every command, exit code and, for each command, an example", "[cli]") {
  const auto help = eumulate({"--help"});
  CHECK(help.code == 0);
  for (const char* word : {"run", "info", "disasm", "ir", "asm", "msr", "Exit codes:"})
    CHECK_THAT(help.out, Contains(word));
  for (const char* command : {"run", "info", "disasm", "ir", "asm"}) {
    const auto one = eumulate({command, "--help"});
    CHECK(one.code == 0);
    CHECK_THAT(one.out, Contains("Example") && Contains(std::string("eumulate ") + command));
  }
  for (const char* command : {"run", "trace", "exec"}) {
    const auto one = eumulate({"msr", command, "--help"});
    CHECK(one.code == 0);
    CHECK_THAT(one.out, Contains("Example") && Contains(std::string("eumulate msr ") + command));
  }
  CHECK_THAT(eumulate({"run", "--help"}).out, Contains("random:TYPE:COUNT:SEED") && Contains("local:BYTES"));
}
