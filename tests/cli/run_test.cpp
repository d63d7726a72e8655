// What a run accepts and produces beyond one kernel that succeeds: faults, stops, comparisons, sequences,
// files.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cli/program.hpp"

using Catch::Contains;
using cli_test::bad_input;
using cli_test::corpus;
using cli_test::different;
using cli_test::eumulate;
using cli_test::guest_fault;
using cli_test::mismatch;
using cli_test::stopped;
using cli_test::Words;
using nlohmann::json;

namespace {

std::string own(const std::string& name) { return EUMULATE_SOURCE_DIR "/tests/runtime/bin/" + name + ".bin"; }

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// y = 2 * x + y over 8 elements, with x and y as given.
Words saxpy(const std::string& x, const std::string& y, const Words& more = {}) {
  return with({"run", corpus("saxpy.zebin"), "--kernel", "saxpy", "--global", "8", "--arg", "f32:2", "--arg",
               x, "--arg", y, "--arg", "i32:8"},
              more);
}

Words faulty(const std::string& kernel, const Words& more) {
  return with({"run", own("faults.zebin"), "--kernel", kernel, "--global", "64", "--arg", "zeros:1024"},
              more);
}

/// Processor time of a process, in ticks of 10 ms.
long ticks(pid_t process) {
  std::ifstream stream("/proc/" + std::to_string(process) + "/stat");
  std::string word;
  long user = 0, system = 0;
  for (int field = 1; field < 14; ++field) stream >> word;
  stream >> user >> system;
  return user + system;
}

std::string text_of(const std::filesystem::path& path) {
  const auto bytes = cli_test::read(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The program's exit code and its stderr, with stdout redirected to `path`.
std::pair<int, std::string> with_output(const Words& words, const std::string& path) {
  std::string command = EUMULATE_PROGRAM;
  for (const std::string& word : words) command += " '" + word + "'";
  const auto done = cli_test::run("sh", {"-c", command + " >" + path});
  return {done.code, done.err};
}

}  // namespace

TEST_CASE("output that the standard output does not take ends with 2", "[cli]") {
  const std::vector<Words> commands{
      {"info", corpus("saxpy.zebin")},
      {"info", corpus("saxpy.zebin"), "--json"},
      {"disasm", corpus("saxpy.zebin")},
      {"ir", corpus("saxpy.zebin"), "--kernel", "saxpy"},
      {"asm", corpus("saxpy.zebin"), "--kernel", "saxpy"},
      {"msr", "exec", "--config", EUMULATE_SOURCE_DIR "/tests/user_msr/programs/msrs.toml", "--set",
       "rcx=0x10", "f2", "0f", "38", "f8", "c8"},
      {"--help"},
      {"--version"},
      saxpy("iota:f32:8", "zeros:32", {"--json"}),
      saxpy("iota:f32:8", "zeros:32")};
  for (const Words& words : commands) {
    CAPTURE(words);
    const auto [code, err] = with_output(words, "/dev/full");
    CHECK(code == bad_input);
    CHECK(err == "eumulate: standard output: No space left on device\n");
  }
  CHECK(with_output({"info", corpus("saxpy.zebin")}, "&-").first == bad_input);
}

TEST_CASE("control bytes of names in a binary do not reach the terminal", "[cli]") {
  // saxpy gets a name with an incomplete escape sequence and a byte that is not UTF-8.
  auto binary = cli_test::read(corpus("saxpy.patch"));
  const std::string_view name = "saxpy", evil = "s\x1b[2\xff";
  for (auto at = binary.begin();;) {
    at = std::search(at, binary.end(), reinterpret_cast<const std::byte*>(name.data()),
                     reinterpret_cast<const std::byte*>(name.data() + name.size()));
    if (at == binary.end()) break;
    std::memcpy(&*at, evil.data(), evil.size());
  }
  const std::string path = cli_test::file("evil.bin", binary);
  const std::string seen = "s\\x1b[2\\xff";
  CHECK_THAT(eumulate({"info", path}).out, Contains("kernel " + seen + "\n"));
  CHECK_THAT(eumulate({"disasm", path}).out, Contains("// kernel " + seen + ","));
  CHECK_THAT(eumulate({"ir", path, "--kernel", std::string(evil)}).out, Contains("@\"" + seen));
  CHECK_THAT(eumulate({"asm", path, "--kernel", std::string(evil)}).out, Contains("; " + seen + ":"));
  CHECK_THAT(eumulate({"ir", path, "--kernel", "x"}).err, Contains("expected one of " + seen));
  CHECK_THAT(eumulate({"info", path, "--json"}).out, Contains("s\\u001b[2\\ufffd"));
  for (const Words& words : {Words{"info", path}, Words{"disasm", path}, Words{"info", path, "--json"}}) {
    const std::string out = eumulate(words).out;
    CHECK(std::none_of(out.begin(), out.end(),
                       [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c < 0; }));
  }
}

TEST_CASE("what a kernel prints comes before the report, in JSON as a field", "[cli]") {
  for (const char* container : {"printing.patch", "printing.zebin"}) {
    const Words words{"run", own(container), "--kernel", "many", "--global", "2", "--arg", "i32:2"};
    const std::string text = "0 0,0,0,0\n1 0,0,0,0\n0 1,1,1,1\n1 1,1,1,1\n";
    CHECK_THAT(eumulate(words).out, Catch::StartsWith(text + "many: SIMD32"));
    CHECK(json::parse(eumulate(with(words, {"--json"})).out)["printf"] == text);
    Words full = with(words, {"--threads", "1"});
    full[5] = "1024";
    full[7] = "i32:128";
    CHECK_THAT(eumulate(full).err,
               Contains("eumulate: warning: printf of kernel many: the buffer of 4194304 bytes is full"));
  }
}

TEST_CASE("a fault keeps counts, buffers and files, and JSON has it as an object", "[cli]") {
  const Words words = faulty(
      "overrun", {"--arg", "i64:0x100000", "--threads", "1", "--print", "0:4", "--dump", "0=left.bin"});
  const auto text = eumulate(words);
  CHECK(text.code == guest_fault);
  CHECK_THAT(text.out, Contains("overrun: SIMD32") && Contains("argument 0 (i32), 4 of 256:\n0 1 2 3\n"));
  CHECK_THAT(text.err, Contains("4 bytes at 0x1000a0 (before argument 0 [0x"));
  CHECK(cli_test::read(cli_test::scratch() / "left.bin").size() == 1024);

  const auto done = eumulate(with(words, {"--json"}));
  CHECK(done.code == guest_fault);
  const json report = json::parse(done.out);
  CHECK(report["ended"] == "fault");
  CHECK(report["guest_instructions"] > 0);
  CHECK(report["printed"][0]["values"] == json({0, 1, 2, 3}));
  const json& fault = report["fault"];
  CHECK(fault["kind"] == "out_of_bounds");
  CHECK(fault["thread"] == 1);
  CHECK(fault["group"] == json({0, 0, 0}));
  CHECK(fault["lane"] == 8);
  CHECK(fault["address"] == 0x1000a0);
  CHECK(fault["bytes"] == 4);
  CHECK(fault["nearest_region"]["name"] == "argument 0");
  CHECK(fault["ip"].get<unsigned>() % 8 == 0);
  CHECK_THAT(fault["instruction"].get<std::string>(), Contains("send"));
  CHECK_THAT(fault["message"].get<std::string>(), Contains("overrun: stateless access"));

  const json deadlock = json::parse(eumulate(faulty("deadlock", {"--json"})).out)["fault"];
  CHECK(deadlock["kind"] == "deadlock");
  CHECK(deadlock["waiting"][0]["thread"] == 1);
  CHECK_THAT(deadlock["waiting"][0]["instruction"].get<std::string>(), Contains("wait"));
  CHECK_THAT(
      eumulate(faulty("endless", {"--budget", "1000"})).err,
      Contains("has used up its budget of 1000 instructions, at 0x") && Contains("--budget allows more"));
}

TEST_CASE("option --timeout ends a kernel with the same report", "[cli]") {
  const auto done = eumulate(faulty("endless", {"--timeout", "0.2", "--json", "--print", "0:2"}));
  CHECK(done.code == stopped);
  const json report = json::parse(done.out);
  CHECK(report["ended"] == "timeout");
  CHECK(report["groups"] == 0);
  CHECK(report["printed"][0]["values"].size() == 2);
  CHECK_THAT(done.err, Contains("endless: stopped after --timeout 0.2 seconds, 0 groups of it were done"));
  // Enough time.
  CHECK(eumulate(saxpy("iota:f32:8", "zeros:32", {"--timeout", "1000"})).code == 0);
}

TEST_CASE("Ctrl-C ends a kernel with the same report", "[cli]") {
  const std::string out = cli_test::scratch() / "interrupted";
  Words words = faulty("endless", {"--json", "--dump", "0=" + (cli_test::scratch() / "begun.bin").string()});
  words.insert(words.begin(), EUMULATE_PROGRAM);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen(out.c_str(), "w", stdout) == nullptr) _exit(126);
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(126);
    execv(argv[0], argv.data());
    _exit(127);
  }
  // Dump files are opened last before the kernel runs: any processor time after that is the kernel's.
  int status = 0;
  long begun = 0;
  bool sent = false;
  while (waitpid(child, &status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (begun == 0 && std::filesystem::exists(cli_test::scratch() / "begun.bin")) begun = 1 + ticks(child);
    if (!sent && begun != 0 && ticks(child) > begun + 20) sent = kill(child, SIGINT) == 0;
  }
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == stopped);
  CHECK(json::parse(text_of(out))["ended"] == "signal");
}

TEST_CASE("dump files are opened before the run, and left alone if there is none", "[cli]") {
  const auto refused = eumulate(faulty("endless", {"--dump", "0=/no/such/folder/file"}));
  CHECK(refused.code == bad_input);
  CHECK_THAT(refused.err, Contains("/no/such/folder/file: No such file"));
  const std::string kept = cli_test::file("kept.bin", std::as_bytes(std::span("old")));
  // The third dump cannot be opened: the first file is unchanged, and the second is not created.
  CHECK(eumulate(faulty("deadlock", {"--dump", "0=" + kept, "--dump", "0=new.bin", "--dump", "0=/"})).code ==
        bad_input);
  CHECK(cli_test::read(kept).size() == 4);
  CHECK_FALSE(std::filesystem::exists(cli_test::scratch() / "new.bin"));
  CHECK(eumulate(saxpy("iota:f32:8", "zeros:32", {"--dump", "2=" + kept})).code == 0);
  CHECK(cli_test::read(kept).size() == 32);
}

TEST_CASE("option --expect compares, with an exit code of its own and the first differences", "[cli]") {
  REQUIRE(eumulate(saxpy("iota:f32:8", "zeros:32", {"--dump", "2=want.bin"})).code == 0);
  const std::string want = cli_test::scratch() / "want.bin";
  CHECK(eumulate(saxpy("iota:f32:8", "zeros:32", {"--expect", "2=" + want})).code == 0);
  const auto off = eumulate(saxpy("iota:f32:8", "fill:f32:8:0.001", {"--expect", "2=" + want, "--json"}));
  CHECK(off.code == different);
  CHECK_THAT(off.err,
             Contains("argument 2 (f32) differs from ") && Contains(" in 8 of 8 elements: [0] is 0.001, "
                                                                    "expected 0; [1] is 2.001, expected 2;"));
  const json expected = json::parse(off.out)["expected"][0];
  CHECK(expected["different"] == 8);
  CHECK(expected["first_differences"].size() == 5);
  for (const char* good : {"abs=0.0011", "ulp=1e9"}) {
    const Words words = saxpy("iota:f32:8", "fill:f32:8:0.001", {"--expect", "2=" + want + ":" + good});
    CHECK(eumulate(words).code == 0);
  }
  CHECK(eumulate(saxpy("iota:f32:8", "fill:f32:8:0.001", {"--expect", "2=" + want + ":abs=1e-4"})).code ==
        different);
  CHECK(eumulate(saxpy("iota:f32:8", "fill:f32:8:0.001", {"--expect", "2=" + want + ":rel=1e-3"})).code ==
        different);  // 0.001 for 0
  CHECK(eumulate(saxpy("iota:f32:8", "zeros:36", {"--expect", "2=" + want})).code == mismatch);
  CHECK(eumulate(saxpy("iota:f32:8", "zeros:32", {"--expect", "2=/no/file"})).code == bad_input);
  CHECK_THAT(eumulate(saxpy("iota:f32:8", "zeros:32", {"--expect", "2=f:ulp=x"})).err,
             Contains("expected a number that is not negative, found 'x'"));
}

TEST_CASE("arrays of NumPy go in and out", "[cli]") {
  REQUIRE(eumulate(saxpy("iota:f32:8", "zeros:32", {"--dump", "2=y.npy"})).code == 0);
  const std::string file = text_of(cli_test::scratch() / "y.npy");
  CHECK(file.size() == 128 + 32);
  CHECK_THAT(file, Contains("{'descr': '<f4', 'fortran_order': False, 'shape': (8,), }"));
  const auto again = eumulate(saxpy("@y.npy", "zeros:32", {"--print", "2", "--expect", "1=y.npy"}));
  CHECK(again.code == 0);
  CHECK_THAT(again.out, Contains("argument 2 (f32), 8 of 8:\n0 4 8 12 16 20 24 28\n"));
  const auto wrong = [&](std::string from, const std::string& to) {
    std::string changed = file;
    changed.replace(changed.find(from), from.size(), to);
    const auto bytes = std::as_bytes(std::span(changed));
    return eumulate(saxpy("@" + cli_test::file("wrong.npy", {bytes.begin(), bytes.end()}), "zeros:32")).err;
  };
  CHECK_THAT(wrong("<f4", ">f4"), Contains("byte order, found '>f4'"));
  CHECK_THAT(wrong("False", "True "), Contains("expected a .npy array in C order"));
  CHECK_THAT(wrong("(8,)", "(9,)"), Contains("expected 9 .npy numbers of 4 bytes, found 32 bytes"));
  CHECK_THAT(wrong("(8,)", "(x,)"), Contains("expected a .npy shape"));
  CHECK_THAT(wrong("descr", "decsr"), Contains("expected descr"));
}

TEST_CASE("lists, fill, null and names as arguments", "[cli]") {
  CHECK_THAT(eumulate(saxpy("f32:1,2,3,4,5,6,7,8.5", "fill:f32:8:1", {"--print", "2"})).out,
             Contains("argument 2 (f32), 8 of 8:\n3 5 7 9 11 13 15 18\n"));
  // Vectors by value: three elements occupy the space of four.
  const Words printing{"run", own("printing.patch"), "--kernel", "vectors", "--global", "1"};
  const auto vectors = eumulate(
      with(printing, {"--arg", "f32:1,2,3,4", "--arg", "i32:1,2,3,4", "--arg", "i64:1,2", "--arg", "f64:1,2",
                      "--arg", "i16:1,2,3,4,5,6,7,8", "--arg", "u8:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"}));
  CHECK(vectors.code == 0);
  CHECK_THAT(vectors.out, Contains("1,2,3,4|1,2,3,4|1,2,3,4|"));
  CHECK_THAT(eumulate(with(printing, {"--arg", "f32:1,2,3"})).err,
             Contains("takes f32:4 values, f32:1,2,3 given"));
  // A null pointer: nothing is stored through its surface.
  CHECK(eumulate(saxpy("null", "null")).code == 0);
  CHECK_THAT(
      eumulate(saxpy("iota:f64:8", "zeros:32")).err,
      Contains("eumulate: warning: kernel saxpy: argument 1 (x: global const float*) points to f32, the "
               "buffer is of f64"));
  CHECK_THAT(eumulate(saxpy("x", "zeros:32")).err, Contains("no buffer has this name yet"));
  CHECK_THAT(eumulate(saxpy("x=zeros:32", "x=zeros:32")).err, Contains("a buffer has this name already"));
  CHECK_THAT(eumulate(saxpy("x=f32:1", "zeros:32")).err, Contains("expected NAME=BUFFER"));
}

TEST_CASE("kernels in sequence share buffers with names", "[cli]") {
  // y = 2 * x + 0, then x = 3 * y + x.
  const auto done = eumulate(saxpy("x=iota:f32:8", "y=zeros:32",
                                   {"--print", "y:3", "--then", "saxpy", "--global", "8", "--arg", "f32:3",
                                    "--arg", "y", "--arg", "x", "--arg", "i32:8", "--print", "x:3"}));
  CHECK(done.code == 0);
  CHECK_THAT(done.out, Contains("argument 2 (f32), 3 of 8:\n0 2 4\nargument 2 (f32), 3 of 8:\n0 7 14\n"));
  const auto in_json = eumulate(saxpy("x=iota:f32:8", "y=zeros:32",
                                      {"--json", "--then", "saxpy", "--global", "4", "--arg", "f32:3",
                                       "--arg", "y", "--arg", "x", "--arg", "i32:8"}));
  const json steps = json::parse(in_json.out)["steps"];
  REQUIRE(steps.size() == 2);
  CHECK(steps[1]["global"] == json({4, 1, 1}));
  CHECK_THAT(eumulate(saxpy("zeros:32", "zeros:32", {"--then", "saxpy"})).err,
             Contains("--then: --global is required"));
}

TEST_CASE("option --repeat runs again with the buffers as they are", "[cli]") {
  const auto done = eumulate(saxpy("fill:f32:8:1", "zeros:32", {"--repeat", "10", "--print", "2:2"}));
  CHECK_THAT(done.out, Contains("ran 10 times, in ") && Contains(" ms at best and ") &&
                           Contains("argument 2 (f32), 2 of 8:\n20 20\n"));
  const json report = json::parse(eumulate(saxpy("iota:f32:8", "zeros:32", {"--repeat", "3", "--json"})).out);
  CHECK(report["run_seconds_each"].size() == 3);
}

TEST_CASE("info says which kernels cannot run, sizes of values, and address spaces", "[cli]") {
  CHECK_THAT(eumulate({"info", own("external.zebin")}).out, Contains("cannot run: it refers to helper"));
  CHECK_THAT(eumulate({"info", own("arguments.zebin")}).out,
             Contains("(image, read: image2d:FILE.png or image2d:WxH:ORDER:TYPE:SOURCE)") &&
                 Contains("(image, written: image2d:") && Contains("(image, read: image3d:WxHxD:ORDER") &&
                 Contains("(sampler: sampler:FILTER,ADDRESS,COORDINATES)"));
  CHECK_THAT(eumulate({"info", corpus("saxpy.zebin")}).out,
             Contains("argument 0: a: float (value, 4 bytes)"));
  const json kernel = json::parse(eumulate({"info", corpus("saxpy.zebin"), "--json"}).out)["kernels"][0];
  CHECK(kernel["runs"] == true);
  CHECK(kernel["arguments"][1]["address_space"] == "global");
}

TEST_CASE("disasm --offsets says where instructions begin as faults do", "[cli]") {
  const auto done = eumulate({"disasm", corpus("collatz.patch"), "--offsets"});
  CHECK(done.code == 0);
  CHECK_THAT(done.out, Contains("L0x0:") && Contains("L0xd8:") && Contains("L0xf8  L0x2c0") &&
                           Contains(" // 0x10\n") && !Contains("L216"));
}

TEST_CASE("option --version names the program and its version", "[cli]") {
  const auto done = eumulate({"--version"});
  CHECK(done.code == 0);
  CHECK_THAT(done.out, Catch::Matches("eumulate [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_CASE("option --bounds reports accesses beyond surfaces", "[cli]") {
  const auto text = eumulate(saxpy("iota:f32:5", "zeros:32", {"--bounds"}));
  CHECK(text.code == 0);
  CHECK_THAT(text.out, Contains("3 reads beyond the 20 bytes of argument 1 (x: global const float*)") &&
                           Contains("send"));
  const json report =
      json::parse(eumulate(saxpy("iota:f32:8", "zeros:12", {"--bounds", "--json"})).out)["out_of_bounds"];
  REQUIRE(report.size() == 2);
  CHECK(report[0]["write"] == false);
  CHECK(report[1]["write"] == true);
  CHECK(report[1]["elements"] == 5);
  CHECK(report[1]["surface_bytes"] == 12);
  CHECK_FALSE(
      json::parse(eumulate(saxpy("iota:f32:8", "zeros:12", {"--json"})).out).contains("out_of_bounds"));
}
