// `eumulate check`: no kernel made by the vendor's compiler violates a rule, and what is reported for one
// that does.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "frontend/gen/check/check.hpp"
#include "runtime/loader/loader.hpp"
#include "tests/cli/program.hpp"

using Catch::Contains;
using cli_test::bad_input;
using cli_test::eumulate;
using cli_test::guest_fault;
using cli_test::mismatch;
using cli_test::usage;
using namespace eum;
using nlohmann::json;

namespace {

/// mov (8|M0) r10.0<1>:f r20.0<16;8,1>:f: the vertical stride is not width times horizontal stride; then nop.
std::string bad_words() {
  const std::array<std::uint32_t, 8> words{0x00600001, 0x21403ae8, 0x00ad0280, 0, 0x0000007e, 0, 0, 0};
  return cli_test::file("bad.dat", std::as_bytes(std::span(words)));
}

}  // namespace

TEST_CASE("check finds nothing in what the vendor's compiler makes", "[cli]") {
  std::size_t kernels = 0;
  for (const char* folder : {"/tests/kernels/bin", "/tests/kernels/devices", "/tests/runtime/bin"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(EUMULATE_SOURCE_DIR + std::string(folder))) {
      if (entry.path().extension() != ".bin") continue;
      // The folders of tests/kernels/devices are named after devices other than Broxton.
      const auto core =
          entry.path().parent_path().filename() == "bin" ? gen::check::Core::Lp : gen::check::Core::Any;
      const auto program = rt::load_program(cli_test::read(entry.path()));
      if (!program) continue;
      for (const rt::Kernel& kernel : program->kernels) {
        INFO(entry.path().filename() << ": " << kernel.name);
        const auto findings = gen::check::check(kernel.code, {program->family, core});
        REQUIRE(findings);
        ++kernels;
        for (const gen::check::Finding& finding : *findings)
          FAIL_CHECK(gen::check::info(finding.rule).name << " at " << finding.offset);
      }
    }
  CHECK(kernels > 600);
}

TEST_CASE("check says that a program is clean", "[cli]") {
  const auto done = eumulate({"check", cli_test::corpus("saxpy.zebin")});
  CHECK(done.code == 0);
  CHECK(done.err == "");
  CHECK(done.out == "1 kernel, 0 findings of 0 rules\n");
  const auto one =
      eumulate({"check", cli_test::corpus("primes.patch"), "--kernel", "primes_trial", "--json"});
  CHECK(one.code == 0);
  const json report = json::parse(one.out);
  REQUIRE(report["kernels"].size() == 1);
  CHECK(report["kernels"][0]["kernel"] == "primes_trial");
  CHECK(report["kernels"][0]["findings"] == json::array());
}

TEST_CASE("check names rule, place and operand", "[cli]") {
  const auto done = eumulate({"check", bad_words(), "--raw", "--family", "gen9"});
  CHECK(done.code == guest_fault);
  CHECK(done.out ==
        "0x0: src_vertical_stride, src0: a source of one row has a vertical stride of width times horizontal "
        "stride (BXT 2.2)\n  mov (8|M0) r10.0<1>:f r20.0<16;8,1>:f\n1 kernel, 1 finding of 1 rule\n");
  CHECK_THAT(done.err, Contains("bad.dat: the manuals forbid what it does, in 1 place\n"));
  const auto in_json = eumulate({"check", bad_words(), "--raw", "--family", "gen9", "--json"});
  CHECK(in_json.code == guest_fault);
  const json finding = json::parse(in_json.out)["kernels"][0]["findings"][0];
  CHECK(finding["rule"] == "src_vertical_stride");
  CHECK(finding["operand"] == "src0");
  CHECK(finding["offset"] == 0);
  CHECK(finding["source"] == "BXT 2.2");
}

TEST_CASE("check lists its rules", "[cli]") {
  const auto done = eumulate({"check", "--rules"});
  CHECK(done.code == 0);
  for (const gen::check::RuleInfo& rule : gen::check::rule_table)
    CHECK_THAT(done.out, Contains("\n" + std::string(rule.name) + " ") ||
                             Catch::StartsWith(std::string(rule.name) + " "));
}

TEST_CASE("check of what is no code is an error in one line", "[cli]") {
  const std::vector<std::byte> nothing, half(12, std::byte{0x01}), no_opcode(16, std::byte{0x7f});
  struct Bad {
    std::vector<std::string> words;
    int code;
    const char* text;
  };
  const Bad all[] = {
      {{"check"}, usage, "FILE: expected one"},
      {{"check", "missing.bin"}, bad_input, "missing.bin"},
      {{"check", cli_test::file("empty.dat", nothing), "--raw", "--family", "gen9"},
       bad_input,
       "found nothing"},
      {{"check", cli_test::file("half.dat", half), "--raw", "--family", "gen9"}, bad_input, "half.dat"},
      {{"check", cli_test::file("none.dat", no_opcode), "--raw", "--family", "gen9"}, bad_input, "none.dat"},
      {{"check", bad_words(), "--raw"}, usage, "--family"},
      {{"check", bad_words(), "--raw", "--family", "gen1"}, usage, "found 'gen1'"},
      {{"check", cli_test::corpus("saxpy.zebin"), "--kernel", "nosuch"}, mismatch, "no kernel nosuch"},
  };
  for (const Bad& bad : all) {
    INFO(bad.text);
    const auto done = eumulate(bad.words);
    CHECK(done.code == bad.code);
    CHECK(cli_test::is_one_line(done));
    CHECK_THAT(done.err, Contains(bad.text));
  }
}
