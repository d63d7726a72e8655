// vISA text and OpenCL C source on the command line.
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tests/cli/program.hpp"

using Catch::Contains;
using Catch::StartsWith;
using cli_test::bad_input;
using cli_test::eumulate;
using cli_test::mismatch;
using cli_test::usage;
using cli_test::Words;
using nlohmann::json;

namespace {

std::string corpus_text(const std::string& name) { return EUMULATE_SOURCE_DIR "/tests/kernels/visa/" + name; }

std::string file_of(const std::string& name, std::string_view text) {
  return cli_test::file(name, std::as_bytes(std::span(text)));
}

const std::string pvc_text = corpus_text("saxpy.saxpy.pvc.visaasm"),
                  pvc_map = corpus_text("saxpy.pvc.ze_info");

/// y = 2 * x + y over eight work items.
Words saxpy(Words words, const std::string& n = "i32:8") {
  words.insert(words.begin(), "run");
  for (const std::string word : {"--kernel", "saxpy", "--global", "8", "--arg", "f32:2", "--arg",
                                 "iota:f32:8", "--arg", "fill:f32:8:1", "--arg"})
    words.push_back(word);
  words.insert(words.end(), {n, "--print", "2:8"});
  return words;
}
constexpr std::string_view saxpy_result = "argument 2 (f32), 8 of 8:\n1 3 5 7 9 11 13 15\n";

/// Sets an environment variable for the duration of a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_.empty() ? ::unsetenv(name_) : ::setenv(name_, before_.c_str(), 1); }

 private:
  const char* name_;
  std::string before_;
};

}  // namespace

TEST_CASE("run takes vISA text with .ze_info, a zebin or a map of arguments", "[cli]") {
  CHECK_THAT(eumulate(saxpy({pvc_text, "--ze-info", pvc_map})).out, Contains(std::string(saxpy_result)));
  CHECK_THAT(eumulate(saxpy({pvc_text, "--ze-info", pvc_map, "--engine", "reference"})).out,
             Contains(std::string(saxpy_result)));
  CHECK_THAT(
      eumulate(saxpy({corpus_text("saxpy.saxpy.bxt.visaasm"), "--ze-info", cli_test::corpus("saxpy.zebin")}))
          .out,
      Contains(std::string(saxpy_result)));
  const std::string map = EUMULATE_SOURCE_DIR "/tests/cli/saxpy.pvc.yaml";
  CHECK_THAT(eumulate(saxpy({pvc_text, "--arguments", map})).out, Contains(std::string(saxpy_result)));
}

TEST_CASE("bad vISA text and what does not fit it are one line", "[cli]") {
  const auto check = [](const Words& words, int code, const std::string& says) {
    const auto done = eumulate(words);
    INFO(done.err);
    CHECK(done.code == code);
    CHECK(cli_test::is_one_line(done));
    CHECK_THAT(done.err, Contains(says));
  };
  check(saxpy({pvc_text}), usage,
        "expected --ze-info FILE, a zebin of the same compile or its .ze_info, or --arguments");
  check(saxpy({pvc_text, "--ze-info", "/nowhere"}), bad_input, "/nowhere: No such file");
  check(saxpy({cli_test::corpus("saxpy.zebin"), "--ze-info", pvc_map}), usage, "are of vISA text");
  check(saxpy({pvc_text, "--ze-info", corpus_text("arx.pvc.ze_info")}), bad_input,
        "kernel saxpy: expected one of those that");
  check({"run", pvc_text, "--ze-info", pvc_map, "--kernel", "daxpy", "--global", "8"}, mismatch,
        "no kernel daxpy: expected one of saxpy");
  check({"run", pvc_text, "--ze-info", pvc_map, "--kernel", "saxpy", "--global", "8", "--arg", "f32:2"},
        mismatch, "takes 4 arguments");
  check(saxpy({pvc_text, "--ze-info", pvc_map, "--grf", "48"}), usage, "--grf");
  const std::string damaged =
      file_of("damaged.visaasm", ".version 4.1\n.kernel \"saxpy\"\n.decl V0032 v_type=X\n");
  for (const std::string command : {"info", "disasm"})
    check({command, damaged}, bad_input, "damaged.visaasm:3:");
  check({"ir", damaged, "--kernel", "saxpy"}, bad_input, "damaged.visaasm:3:");
  check(saxpy({damaged, "--ze-info", pvc_map}), bad_input, "damaged.visaasm:3:");
  const std::string yaml = file_of("bad.yaml", "kernels:\n  - name: saxpy\n    local_idz: 3\n");
  check(saxpy({pvc_text, "--arguments", yaml}), bad_input,
        "bad.yaml: line 3: kernel: expected one of name, local_ids");
}

TEST_CASE("info, disasm, ir and asm take vISA text without more", "[cli]") {
  const auto info = eumulate({"info", pvc_text});
  CHECK_THAT(info.out, Contains("SIMD32, registers of 64 bytes, 19 instructions") &&
                           Contains("input V0035: 8 bytes at 288"));
  const json as_json = json::parse(eumulate({"info", pvc_text, "--json"}).out);
  CHECK(as_json["kernels"][0]["register_bytes"] == 64);
  CHECK_THAT(eumulate({"info", pvc_text, "--ze-info", pvc_map}).out,
             Contains("vISA text, registers of 64 bytes, 1 kernel") && Contains("19 instructions") &&
                 Contains("argument 0: a: float (value, 4 bytes)"));
  const auto printed = eumulate({"disasm", pvc_text});
  CHECK_THAT(printed.out, StartsWith(".version 4.1\n.kernel \"saxpy\"\n"));
  CHECK(eumulate({"disasm", file_of("again.visaasm", printed.out)}).out == printed.out);
  CHECK_THAT(eumulate({"ir", pvc_text, "--kernel", "saxpy"}).out, Contains("visa64"));
  CHECK_THAT(eumulate({"asm", pvc_text, "--kernel", "saxpy"}).out,
             Contains("lsc_store.ugm (M1, 32) flat[V0059]:a64 V0061:d32"));
  CHECK_THAT(eumulate({"ir", pvc_text, "--kernel", "none"}).err,
             Contains("no kernel none: expected one of saxpy"));
}

namespace {

/// A substitute for ocloc that records its calls and writes the corpus's binary and text.
std::string fake_compiler(const std::string& folder) {
  const std::string script = "#!/bin/sh\necho \"$@\" >>" + folder +
                             "/calls\n"
                             "while [ $# -gt 0 ]; do\n"
                             "  case $1 in -out_dir) out=$2 ;; -device) device=$2 ;; -file) file=$2 ;; esac\n"
                             "  shift\n"
                             "done\n"
                             "if grep -q broken \"$file\"; then echo it is broken; exit 3; fi\n"
                             "mkdir -p \"$out\"\n"
                             "if [ $device = bxt ]; then\n"
                             "  cp " +
                             cli_test::corpus("saxpy.zebin") +
                             " \"$out/program_x.bin\"\n"
                             "else\n"
                             "  cp " +
                             corpus_text("saxpy.bxt.ze_info") +
                             " \"$out/program_x.bin\"\n"
                             "  cp " +
                             corpus_text("saxpy.saxpy.bxt.visaasm") +
                             " \"$IGC_DumpToCustomDir/k.visaasm\"\n"
                             "fi\n";
  const std::string path = file_of("ocloc", script);
  ::chmod(path.c_str(), 0755);
  return path;
}

std::size_t lines_of(const std::string& path) {
  std::size_t lines = 0;
  for (const std::byte b : cli_test::read(path)) lines += b == std::byte{'\n'};
  return lines;
}

}  // namespace

TEST_CASE("run compiles OpenCL C source once and keeps what came of it", "[cli]") {
  const std::string folder = cli_test::scratch().string();
  fake_compiler(folder);
  const Variable path("PATH", folder + ":" + std::getenv("PATH")), cache("XDG_CACHE_HOME", folder + "/cache");
  const std::string source = file_of("saxpy.cl", "kernel void saxpy() {}\n"), calls = folder + "/calls";
  CHECK_THAT(eumulate(saxpy({source})).out, Contains(std::string(saxpy_result)));
  CHECK_THAT(eumulate(saxpy({source})).out, Contains(std::string(saxpy_result)));
  CHECK(lines_of(calls) == 1);
  CHECK_THAT(eumulate(saxpy({source, "--device", "pvc"})).out, Contains(std::string(saxpy_result)));
  CHECK(lines_of(calls) == 2);
  CHECK_THAT(eumulate(saxpy({source, "--options", "-DX=1"})).out, Contains(std::string(saxpy_result)));
  CHECK(lines_of(calls) == 3);
  const std::string including = file_of("more.cl", "#include \"x.h\"\n");
  eumulate(saxpy({including}));
  eumulate(saxpy({including}));
  CHECK(lines_of(calls) == 5);
  const auto broken = eumulate(saxpy({file_of("broken.cl", "broken\n")}));
  CHECK(broken.code == bad_input);
  CHECK_THAT(broken.err,
             StartsWith("it is broken\n") && Contains("does not compile it for bxt (exit code 3)"));
}

TEST_CASE("without ocloc run says which package has it", "[cli]") {
  const std::string source = file_of("alone.cl", "kernel void saxpy() {}\n");
  const Variable path("PATH", "/nowhere");
  const auto done = eumulate(saxpy({source}));
  CHECK(done.code == bad_input);
  CHECK_THAT(done.err, Contains("package intel-opencl-icd"));
}
