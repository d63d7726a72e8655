// Every error results in one line that says what was expected and what was found, and in the documented exit
// code.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

#include "runtime/loader/loader.hpp"
#include "tests/cli/program.hpp"

using Catch::Contains;
using cli_test::bad_input;
using cli_test::corpus;
using cli_test::eumulate;
using cli_test::Finished;
using cli_test::guest_fault;
using cli_test::is_one_line;
using cli_test::mismatch;
using cli_test::usage;
using cli_test::Words;

namespace {

/// Whether it ended with one line on stderr, apart from warnings, and nothing on stdout except the report of
/// a kernel that faulted.
bool says_one_line(Finished done) {
  while (done.err.starts_with("eumulate: warning: ")) done.err.erase(0, done.err.find('\n') + 1);
  if (done.code == guest_fault) done.out.clear();
  return is_one_line(done);
}

/// The error message, if the program ended with `code` and one line; otherwise a text that no test expects.
std::string complaint(const Words& words, int code) {
  const Finished done = eumulate(words);
  INFO("stdout: " << done.out << "\nstderr: " << done.err);
  CHECK(done.code == code);
  CHECK(says_one_line(done));
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

namespace {

std::uint64_t next(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 20;
}

/// Flips a bit, or truncates.
std::vector<std::byte> damaged(std::vector<std::byte> whole, std::uint64_t& state) {
  const std::size_t bit = next(state) % (8 * whole.size());
  if (next(state) % 8 == 0)
    whole.resize(bit / 8);
  else
    whole[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
  return whole;
}

/// Arguments of the kinds that the kernel takes.
Words arguments_for(const eum::rt::Kernel& kernel) {
  Words words;
  for (const eum::rt::Argument& a : kernel.arguments) {
    words.push_back("--arg");
    if (a.kind == eum::rt::ArgumentKind::Value)
      words.push_back("hex:01" + std::string(2 * a.size - 2, '0'));
    else
      words.push_back(a.kind == eum::rt::ArgumentKind::LocalPointer ? "local:256" : "iota:u32:256");
  }
  return words;
}

}  // namespace

TEST_CASE("damage never crashes, whatever the command and binary", "[cli]") {
  std::uint64_t state = 1;
  std::size_t ran = 0, refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(EUMULATE_SOURCE_DIR "/tests/kernels/bin")) {
    const auto whole = cli_test::read(entry.path());
    const auto program = eum::rt::load_program(whole);
    REQUIRE(program);
    const eum::rt::Kernel& kernel = program->kernels[next(state) % program->kernels.size()];
    for (int i = 0; i < 4; ++i) {
      const std::string path = cli_test::file("damaged.bin", damaged(whole, state));
      Words words{"run",  path,       "--kernel", kernel.name, "--global",
                  "33,2", "--budget", "3000",     "--engine",  i == 0 ? "reference" : "avx2"};
      for (const std::string& word : arguments_for(kernel)) words.push_back(word);
      if (i == 3)
        words = std::vector<Words>{{"info", path, "--json"},
                                   {"disasm", path},
                                   {"ir", path, "--kernel", kernel.name},
                                   {"asm", path, "--kernel", kernel.name}}[next(state) % 4];
      const Finished done = eumulate(words);
      INFO(entry.path().filename() << ", " << words[0] << ", stderr: " << done.err);
      CHECK(done.code <= guest_fault);
      CHECK(done.code != usage);
      // For a damaged kernel, the part that decodes is printed on stdout.
      if (done.code != 0)
        CHECK((words[0] == "disasm" ? done.err.find('\n') == done.err.size() - 1 : says_one_line(done)));
      ++(done.code == 0 ? ran : refused);
    }
  }
  CHECK(ran > 50);
  CHECK(refused > 100);
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
  CHECK_THAT(complaint({"fly"}, usage), Contains("no command fly: expected run, bench, info, disasm"));
  CHECK_THAT(complaint({"run", binary()}, usage), Contains("--kernel is required") || Contains("required"));
  CHECK_THAT(complaint(saxpy(binary(), good, {"--engine", "fast"}), usage),
             Contains("expected one of avx2, avx512, reference, auto, found 'fast'"));
  CHECK_THAT(complaint(saxpy(binary(), good, {"--threads", "0"}), usage), Contains("--threads"));
  CHECK_THAT(complaint(saxpy(binary(), good, {"--local", "8,8"}), usage), Contains("expected 1 numbers"));
  CHECK_THAT(complaint(saxpy(binary(), good, {"--print", "0"}), usage), Contains("buffer argument"));
  CHECK_THAT(complaint(saxpy(binary(), good, {"--print", "9:1"}), usage), Contains("found 9"));
  CHECK_THAT(complaint(saxpy(binary(), good, {"--dump", "2"}), usage), Contains("INDEX=FILE"));
  CHECK_THAT(complaint({"disasm", binary(), "--raw"}, usage), Contains("--family"));
  CHECK_THAT(complaint({"disasm", binary(), "--raw", "--family", "gen6"}, usage),
             Contains("expected one of gen7, gen7.5, gen8, gen9, gen11, found 'gen6'"));
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

/// saxpy with its code at `offset` replaced by `bytes`.
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
  // The first instruction gets the undefined opcode 0x7f.
  CHECK_THAT(complaint(saxpy(changed_code(0, {0x7f}), good), guest_fault),
             Contains("saxpy: ") && Contains("0x7f") && Contains("thread 0 of group 0,0,0"));
  // wait n0.1: the only notifications that other threads send are those of the thread group's barrier (n0.0).
  CHECK_THAT(
      complaint(saxpy(changed_code(0, {0x30, 0, 0, 0, 4, 0, 4, 0x32, 4, 0x12, 0, 0x38, 0, 0, 0x8d, 0}), good),
                guest_fault),
      Contains("saxpy: waits for a notification that nobody sends: (W) wait n0.1<0;1,0>:ud") &&
          Contains("thread 0 of group 0,0,0, instruction at 0x0\n"));
  // The untyped read at byte 0xd8 becomes a transpose read: bits 18:14 of its descriptor.
  CHECK_THAT(complaint(saxpy(changed_code(0xd8 + 12, {0, 0x1e, 0x20, 4}), good), guest_fault),
             Contains("saxpy: unsupported: send (16|M0)") && Contains("transpose read") &&
                 Contains("instruction at 0xd8\n"));
}

TEST_CASE("kernels that need what is not supported", "[cli]") {
  const auto run = [](const std::string& file, const std::string& kernel) {
    return complaint(
        {"run", EUMULATE_SOURCE_DIR "/tests/runtime/bin/" + file, "--kernel", kernel, "--global", "32"},
        guest_fault);
  };
  for (const char* container : {".patch.bin", ".zebin.bin"}) {
    CHECK_THAT(run("external" + std::string(container), "external"), Contains("it refers to helper"));
  }
  for (const char* container : {".patch", ".zebin"}) {
    CHECK_THAT(
        complaint({"info", EUMULATE_SOURCE_DIR "/tests/runtime/bin/pvc" + std::string(container) + ".bin"},
                  bad_input),
        Contains("supported are: ") && Contains("Gen7, Gen7.5, Gen8, Gen9, Gen11"));
  }
}

TEST_CASE("memory that is not there", "[cli]") {
  // Compiled for stateless accesses, saxpy reads x at the given address. The rest of the buffer's page is
  // zero, as with a driver; with --strict it is inaccessible.
  const Words short_x{"f32:2", "iota:f32:32", "zeros:256", "i32:64"};
  CHECK(eumulate(saxpy(corpus("saxpy_a64.patch"), short_x)).code == 0);
  CHECK_THAT(complaint(saxpy(corpus("saxpy_a64.patch"), short_x, {"--strict"}), guest_fault),
             Contains("saxpy: stateless access outside the memory that is mapped for it: 4 bytes at 0x") &&
                 Contains("lane 0; thread 1 of group 0,0,0, instruction at 0x"));
}

TEST_CASE("a kernel that never ends is stopped by its budget", "[cli]") {
  // Starting at 0, the sequence stays at 0 until the limit.
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

TEST_CASE("what is wrong with bytes and configurations of user MSRs", "[cli]") {
  const std::string bad = cli_test::file("bad.toml", std::as_bytes(std::span(std::string_view("[[msr]\n"))));
  CHECK_THAT(complaint({"msr", "exec", "xyz"}, usage),
             Contains("expected hexadecimal digits, found \"xyz\""));
  CHECK_THAT(complaint({"msr", "exec", "--cpl", "9", "90"}, usage), Contains("from 0 to 3, found 9"));
  CHECK_THAT(complaint({"msr", "exec", "--set", "rcx", "90"}, usage), Contains("expected REGISTER=NUMBER"));
  CHECK_THAT(complaint({"msr", "exec", "--config", bad, "90"}, bad_input), Contains("bad.toml:1:"));
  CHECK_THAT(complaint({"msr", "run", "--config", bad, "--", "true"}, 127), Contains("bad.toml:1:"));
  CHECK_THAT(complaint({"msr", "run", "--config", "/no/such/file", "--", "true"}, usage),
             Contains("/no/such/file"));
  // The instruction faults, which the printed state shows.
  const Finished fault = eumulate({"msr", "exec", "f2", "0f", "38", "f8", "c8"});
  CHECK(fault.code == guest_fault);
  CHECK(fault.err.empty());
  CHECK_THAT(fault.out, Contains("urdmsr rax, rcx") && Contains("#GP(0)"));
}
