// `eumulate disasm` against iga64, instruction by instruction.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <span>
#include <sstream>

#include "runtime/loader/loader.hpp"
#include "tests/cli/program.hpp"

using cli_test::eumulate;

namespace {

/// The instructions without labels and comments, with blanks squeezed.
std::vector<std::string> instructions(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    line = line.substr(0, line.find("//"));
    std::istringstream words(line);
    std::string plain;
    for (std::string word; words >> word;) plain += (plain.empty() ? "" : " ") + word;
    if (!plain.empty()) lines.push_back(plain);
  }
  return lines;
}

}  // namespace

TEST_CASE("disasm of each kernel of the corpus equals iga64", "[cli]") {
  INFO("iga64 must be installed (Debian: libigc-tools)");
  REQUIRE(cli_test::run("iga64", {"-h"}).code != 127);
  std::size_t kernels = 0;
  for (const auto& entry : std::filesystem::directory_iterator(EUMULATE_SOURCE_DIR "/tests/kernels/bin")) {
    const auto program = eum::rt::load_program(cli_test::read(entry.path()));
    REQUIRE(program);
    for (const eum::rt::Kernel& kernel : program->kernels) {
      if (++kernels % EUMULATE_STEP != 0) continue;
      INFO(entry.path().filename() << ": " << kernel.name);
      const std::string words = cli_test::file("words.dat", kernel.code);
      const auto expected = cli_test::run("iga64", {"-d", "-p", "9", words});
      const auto got = eumulate({"disasm", entry.path(), "--kernel", kernel.name});
      CHECK(got.code == 0);
      CHECK(instructions(got.out) == instructions(expected.out));
      const auto raw = eumulate({"disasm", words, "--raw", "--family", "gen9"});
      CHECK(raw.code == 0);
      CHECK(raw.out == got.out);
    }
  }
  CHECK(kernels > 100);
}

TEST_CASE("disasm of bare words takes every family in every spelling", "[cli]") {
  // add (8|M0) r4.0<1>:f r2.0<8;8,1>:f r3.0<8;8,1>:f and endif (8|M0) 16 as encoded by iga64 -a -p 7p5, 9 and
  // 11.
  struct Case {
    std::vector<const char*> families;
    std::vector<unsigned char> words;
  };
  const Case cases[] = {
      {{"gen7.5", "gen7_5", "7p5", "Gen7.5", "gen7"},
       {0x40, 0x00, 0x60, 0x00, 0xbd, 0x77, 0x80, 0x20, 0x40, 0x00, 0x8d, 0x00, 0x60, 0x00, 0x8d, 0x00,
        0x25, 0x00, 0x60, 0x00, 0x00, 0x1c, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00}},
      {{"gen9", "9", "gen8"},
       {0x40, 0x00, 0x60, 0x00, 0xe8, 0x3a, 0x80, 0x20, 0x40, 0x00, 0x8d, 0x3a, 0x60, 0x00, 0x8d, 0x00,
        0x25, 0x00, 0x60, 0x00, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x0e, 0x10, 0x00, 0x00, 0x00}},
      {{"gen11", "11"},
       {0x40, 0x00, 0x60, 0x00, 0x28, 0x4b, 0x80, 0x20, 0x40, 0x00, 0x8d, 0x4a, 0x60, 0x00, 0x8d, 0x00,
        0x25, 0x00, 0x60, 0x00, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x0e, 0x10, 0x00, 0x00, 0x00}},
  };
  for (const Case& c : cases) {
    const auto bytes = std::as_bytes(std::span(c.words));
    const std::string file = cli_test::file("words.dat", {bytes.begin(), bytes.end()});
    for (const char* family : c.families) {
      INFO(family);
      const auto done = eumulate({"disasm", file, "--raw", "--family", family});
      CHECK(done.code == 0);
      CHECK(instructions(done.out) ==
            std::vector<std::string>{"L0:", "add (8|M0) r4.0<1>:f r2.0<8;8,1>:f r3.0<8;8,1>:f",
                                     "endif (8|M0) L32", "L32:"});
    }
  }
}

TEST_CASE("disasm of a whole program names each kernel", "[cli]") {
  const auto done = eumulate({"disasm", cli_test::corpus("primes.patch")});
  CHECK(done.code == 0);
  CHECK_THAT(done.out, Catch::Contains("// kernel primes_sieve, SIMD16\n") &&
                           Catch::Contains("// kernel primes_trial, SIMD16\n"));
}

TEST_CASE("disasm prints what decodes, then says what does not", "[cli]") {
  std::vector<std::byte> words(32, std::byte{0});
  words[0] = std::byte{0x7e};   // nop
  words[16] = std::byte{0x7f};  // undefined opcode
  const auto done = eumulate({"disasm", cli_test::file("bad.dat", words), "--raw", "--family", "gen9"});
  CHECK(done.code == 2);
  CHECK_THAT(done.out, Catch::Contains("nop"));
  CHECK_THAT(done.err, Catch::Contains("bad.dat: ") && Catch::Contains("0x10"));
}

TEST_CASE("disasm of a program says what is wrong with the first of its kernels that is", "[cli]") {
  auto binary = cli_test::read(cli_test::corpus("primes.zebin"));
  const auto program = eum::rt::load_program(binary);
  REQUIRE(program);
  REQUIRE(program->kernels.size() == 2);
  for (const eum::rt::Kernel& kernel : program->kernels) {
    const auto at = std::search(binary.begin(), binary.end(), kernel.code.begin(), kernel.code.end());
    REQUIRE(at != binary.end());
    *at = std::byte{0x7f};  // undefined opcode
  }
  const auto done = eumulate({"disasm", cli_test::file("bad.bin", binary)});
  CHECK(done.code == 2);
  CHECK(done.err.find('\n') == done.err.size() - 1);
  CHECK_THAT(done.out,
             Catch::Contains("// kernel primes_sieve") && Catch::Contains("// kernel primes_trial"));
}
