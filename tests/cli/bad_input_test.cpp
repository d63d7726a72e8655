// Whatever is wrong gives one line that says what was expected and what was found, and the documented exit
// code.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "runtime/loader/loader.hpp"
#include "tests/cli/program.hpp"

using Catch::Contains;
using cli_test::corpus;
using cli_test::eumulate;
using cli_test::Finished;
using cli_test::is_one_line;
using Words = std::vector<std::string>;

namespace {

constexpr int usage = 1, bad_input = 2, mismatch = 3, guest_fault = 4;

/// What was wrong, if the program ended with `code` and one line; else a text that no test expects.
std::string complaint(const Words& words, int code) {
  const Finished done = eumulate(words);
  INFO("stdout: " << done.out << "\nstderr: " << done.err);
  CHECK(done.code == code);
  CHECK(is_one_line(done));
  return done.err;
}

Words saxpy(const std::string& path, const Words& arguments, const Words& more = {}) {
  Words words{"run", path, "--kernel", "saxpy", "--global", "64"};
  for (const std::string& argument : arguments) {
    words.push_back("--arg");
    words.push_back(argument);
  }
  words.insert(words.end(), more.begin(), more.end());
  return words;
}
const Words good{"f32:2", "iota:f32:64", "zeros:256", "i32:64"};
std::string binary() { return corpus("saxpy.patch"); }

}  // namespace

TEST_CASE("damaged binaries", "[cli]") {
  const auto whole = cli_test::read(binary());
  CHECK_THAT(complaint({"info", cli_test::file("empty.bin", {})}, bad_input),
             Contains("expected an Intel GPU binary") && Contains("found nothing"));
  CHECK_THAT(complaint({"info", "/no/such/file"}, bad_input), Contains("No such file"));
  CHECK_THAT(complaint({"info", "/"}, bad_input), Contains("directory"));
  CHECK_THAT(complaint(saxpy(EUMULATE_SOURCE_DIR "/README.md", good), bad_input), Contains("found text"));
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{4}, std::size_t{64}, whole.size() / 2, whole.size() - 40}) {
    CAPTURE(size);
    const std::string path = cli_test::file("cut.bin", std::span(whole).first(size));
    for (const char* command : {"info", "disasm"}) complaint({command, path}, bad_input);
    complaint(saxpy(path, good), bad_input);
  }
}

TEST_CASE("flipped bits never crash", "[cli]") {
  for (const char* container : {"saxpy.patch", "saxpy.zebin"}) {
    const auto whole = cli_test::read(corpus(container));
    std::uint64_t state = 1;
    for (int i = 0; i < 150; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      auto damaged = whole;
      const std::size_t bit = (state >> 20) % (8 * whole.size());
      damaged[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      CAPTURE(container, bit);
      const Finished done =
          eumulate(saxpy(cli_test::file("flipped.bin", damaged), good, {"--budget", "100000"}));
      CAPTURE(done.err);
      CHECK(done.code <= guest_fault);
      CHECK(done.code != usage);
      if (done.code != 0) CHECK(is_one_line(done));
    }
  }
}

TEST_CASE("kernels and arguments that do not fit", "[cli]") {
  Words other = saxpy(binary(), good);
  other[3] = "saxpi";
  CHECK_THAT(complaint(other, mismatch), Contains("no kernel saxpi: expected one of saxpy"));
  CHECK_THAT(complaint({"disasm", binary(), "--kernel", "x"}, mismatch), Contains("expected one of saxpy"));
  CHECK_THAT(complaint({"ir", binary(), "--kernel", "x"}, mismatch), Contains("expected one of saxpy"));
  CHECK_THAT(complaint({"asm", binary(), "--kernel", "x"}, mismatch), Contains("expected one of saxpy"));
  CHECK_THAT(complaint(saxpy(binary(), {"f32:2", "iota:f32:64", "zeros:256"}), mismatch),
             Contains("takes 4 arguments (a: float, x: global const float*") && Contains("3 given"));
  CHECK_THAT(complaint(saxpy(binary(), {"f32:2", "f32:3", "zeros:256", "i32:64"}), mismatch),
             Contains("argument 1 (x: global const float*)"));
  CHECK_THAT(complaint(saxpy(binary(), {"zeros:4", "zeros:256", "zeros:256", "i32:64"}), mismatch),
             Contains("argument 0 (a: float)"));
  CHECK_THAT(complaint(saxpy(binary(), {"i32:2", "zeros:256", "zeros:256", "i32:64"}), mismatch),
             Contains("argument 0 (a: float) takes f32, i32:2 given"));
  CHECK_THAT(complaint(saxpy(binary(), {"f32:2", "zeros:256", "zeros:256", "i64:64"}), mismatch),
             Contains("argument 3 (n: int) takes i32, i64:64 given"));
  CHECK_THAT(complaint(saxpy(binary(), {"hex:0011", "zeros:256", "zeros:256", "i32:64"}), mismatch),
             Contains("argument 0 (a: float)") && Contains("2 bytes"));
  CHECK_THAT(complaint(saxpy(binary(), {"f32:2", "local:256", "zeros:256", "i32:64"}), mismatch),
             Contains("argument 1"));
  CHECK_THAT(complaint(saxpy(binary(), {"f32:2", "@/no/such/file", "zeros:256", "i32:64"}), bad_input),
             Contains("/no/such/file: No such file"));
}

TEST_CASE("local sizes that do not fit", "[cli]") {
  CHECK_THAT(complaint(saxpy(binary(), good, {"--local", "48"}), mismatch),
             Contains("local size 48 does not divide global size 64 in dimension 0"));
  Words large = saxpy(binary(), good, {"--local", "512"});
  large[5] = "512";
  CHECK_THAT(complaint(large, mismatch), Contains("512x1x1") && Contains("more than 256 work-items"));
  CHECK_THAT(complaint(saxpy(binary(), good, {"--local", "0"}), mismatch), Contains("local size"));
}

TEST_CASE("command lines that are wrong", "[cli]") {
  CHECK_THAT(complaint({}, usage), Contains("subcommand is required"));
  CHECK_THAT(complaint({"fly"}, usage), Contains("no command fly: expected run, info, disasm"));
  CHECK_THAT(complaint({"run", binary()}, usage), Contains("--kernel is required") || Contains("required"));
  CHECK_THAT(complaint(saxpy(binary(), good, {"--engine", "fast"}), usage),
             Contains("expected avx2 or reference, found 'fast'"));
  CHECK_THAT(complaint(saxpy(binary(), good, {"--threads", "0"}), usage), Contains("--threads"));
  CHECK_THAT(complaint(saxpy(binary(), good, {"--local", "8,8"}), usage), Contains("expected 1 numbers"));
  CHECK_THAT(complaint(saxpy(binary(), good, {"--print", "0"}), usage), Contains("buffer argument"));
  CHECK_THAT(complaint(saxpy(binary(), good, {"--print", "9:1"}), usage), Contains("found 9"));
  CHECK_THAT(complaint(saxpy(binary(), good, {"--dump", "2"}), usage), Contains("INDEX=FILE"));
  CHECK_THAT(complaint({"disasm", binary(), "--raw"}, usage), Contains("--family"));
  CHECK_THAT(complaint({"disasm", binary(), "--raw", "--family", "gen7"}, usage),
             Contains("expected gen8 or gen9, found 'gen7'"));
  Words wide = saxpy(binary(), good);
  wide[5] = "1,2,3,4";
  CHECK_THAT(complaint(wide, usage), Contains("expected X, X,Y or X,Y,Z"));
  wide[5] = "x";
  CHECK_THAT(complaint(wide, usage), Contains("found 'x'"));
  wide[5] = "0";
  CHECK_THAT(complaint(wide, mismatch), Contains("global size of dimension 0 is 0"));
}

TEST_CASE("a wrong --arg says what of its syntax was expected", "[cli]") {
  const auto wrong = [](const std::string& argument) {
    return complaint(saxpy(binary(), {argument, "zeros:256", "zeros:256", "i32:64"}), usage);
  };
  CHECK_THAT(wrong("2.5"), Contains("--arg 2.5: expected TYPE:VALUE"));
  CHECK_THAT(wrong("f99:1"), Contains("expected a type of i8, u8") && Contains("found 'f99'"));
  CHECK_THAT(wrong("f32:x"), Contains("expected a number for f32, found 'x'"));
  CHECK_THAT(wrong("i8:128"), Contains("expected i8 from -128 to 127, found '128'"));
  CHECK_THAT(wrong("u32:-1"), Contains("expected u32 from 0 to 4294967295, found '-1'"));
  CHECK_THAT(wrong("hex:123"), Contains("two hexadecimal digits a byte, found 3"));
  CHECK_THAT(wrong("hex:zz"), Contains("expected hexadecimal digits, found 'zz'"));
  CHECK_THAT(wrong("iota:f32"), Contains("expected iota:TYPE:COUNT"));
  CHECK_THAT(wrong("random:f32:4"), Contains("expected random:TYPE:COUNT:SEED"));
  CHECK_THAT(wrong("zeros:lots"), Contains("expected a number of bytes, found 'lots'"));
  CHECK_THAT(wrong("@"), Contains("name of a file"));
}

TEST_CASE("sizes that no host has", "[cli]") {
  CHECK_THAT(
      complaint(saxpy(binary(), {"f32:2", "zeros:18446744073709551615", "zeros:256", "i32:64"}), bad_input),
      Contains("argument 1"));
  CHECK_THAT(
      complaint(saxpy(binary(), {"f32:2", "iota:u64:4611686018427387904", "zeros:256", "i32:64"}), bad_input),
      Contains("too many"));
  CHECK_THAT(complaint(saxpy(binary(), {"f32:2", "zeros:0", "zeros:256", "i32:64"}), bad_input),
             Contains("at least 1 byte"));
}

namespace {

/// saxpy with `bytes` over its code at `offset`.
std::string changed_code(std::size_t offset, const std::vector<unsigned>& bytes) {
  auto binary = cli_test::read(corpus("saxpy.zebin"));
  const auto program = eum::rt::load_program(binary);
  const auto& code = program->kernels.at(0).code;
  const auto at = std::search(binary.begin(), binary.end(), code.begin(), code.end());
  REQUIRE(at != binary.end());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    at[static_cast<std::ptrdiff_t>(offset + i)] = static_cast<std::byte>(bytes[i]);
  return cli_test::file("changed.bin", binary);
}

}  // namespace

TEST_CASE("instructions that are undefined or not supported", "[cli]") {
  // The first instruction becomes opcode 0x7f, which is none.
  CHECK_THAT(complaint(saxpy(changed_code(0, {0x7f}), good), guest_fault),
             Contains("saxpy: ") && Contains("0x7f") && Contains("thread 0 of group 0,0,0"));
  // wait n0.1: defined, but only the thread group's barrier (n0.0) is modelled.
  CHECK_THAT(
      complaint(saxpy(changed_code(0, {0x30, 0, 0, 0, 4, 0, 4, 0x32, 4, 0x12, 0, 0x38, 0, 0, 0x8d, 0}), good),
                guest_fault),
      Contains("saxpy: unsupported: (W) wait n0.1<0;1,0>:ud (wait for another notification") &&
          Contains("thread 0 of group 0,0,0, instruction at 0x0\n"));
  // The untyped read at byte 0xd8 becomes a transpose read: bits 18:14 of its descriptor.
  CHECK_THAT(complaint(saxpy(changed_code(0xd8 + 12, {0, 0x1e, 0x20, 4}), good), guest_fault),
             Contains("saxpy: unsupported: send (16|M0)") && Contains("transpose read") &&
                 Contains("instruction at 0xd8\n"));
}

TEST_CASE("memory that is not there", "[cli]") {
  // Compiled for stateless accesses, saxpy reads x at the address that it is given.
  CHECK_THAT(complaint(saxpy(corpus("saxpy_a64.patch"), {"f32:2", "iota:f32:32", "zeros:256", "i32:64"}),
                       guest_fault),
             Contains("saxpy: stateless access outside the memory that is mapped for it: 4 bytes at 0x") &&
                 Contains("lane 0; thread 1 of group 0,0,0, instruction at 0x"));
}

TEST_CASE("a kernel that never ends is stopped by its budget", "[cli]") {
  // From 0 the sequence stays at 0, up to the limit.
  const Words words{"run",      corpus("collatz.patch"),
                    "--kernel", "collatz",
                    "--global", "64",
                    "--arg",    "u64:0",
                    "--arg",    "zeros:256",
                    "--arg",    "zeros:512",
                    "--arg",    "u32:4000000000",
                    "--budget", "1000"};
  CHECK_THAT(complaint(words, guest_fault),
             Contains("collatz: thread 0 of group 0,0,0 has used up its budget"));
}
