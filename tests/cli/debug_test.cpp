// Scripted sessions of `eumulate debug` and their output.
#include <catch2/catch.hpp>
#include <span>

#include "tests/cli/program.hpp"

using Catch::Contains;
using Catch::EndsWith;
using cli_test::corpus;
using cli_test::different;
using cli_test::eumulate;
using cli_test::Finished;
using cli_test::guest_fault;
using cli_test::mismatch;
using cli_test::usage;
using cli_test::Words;

namespace {

std::string own(const std::string& name) { return EUMULATE_SOURCE_DIR "/tests/runtime/bin/" + name + ".bin"; }

Finished debug(Words words, const std::string& script) {
  words.insert(words.begin(), "debug");
  words.push_back("--script");
  words.push_back(cli_test::file("script.txt", std::as_bytes(std::span(script))));
  return eumulate(words);
}

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// y = 2 * x + y over 64 elements, in two threads.
Words saxpy(const Words& more = {}) {
  return with({corpus("saxpy.zebin"), "--kernel", "saxpy", "--global", "64", "--arg", "f32:2", "--arg",
               "iota:f32:64", "--arg", "zeros:256", "--arg", "i32:64"},
              more);
}

/// Sums over two groups of two threads each, with barriers.
Words reduce(const Words& more = {}) {
  return with({corpus("reduce.zebin"), "--kernel", "reduce", "--global", "128", "--local", "64", "--arg",
               "iota:i32:128", "--arg", "zeros:8", "--arg", "local:256", "--arg", "u32:128"},
              more);
}

Words subroutine(const Words& more = {}) {
  return with({corpus("subroutine.zebin"), "--kernel", "subroutine", "--global", "64", "--arg",
               "random:u32:64:1", "--arg", "zeros:256"},
              more);
}

Words lines(const Words& more = {}) {
  return with({own("lines.zebin"), "--kernel", "lines", "--global", "32", "--arg", "iota:i32:32", "--arg",
               "zeros:128", "--arg", "i32:3"},
              more);
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

constexpr const char* engines[] = {"avx2", "reference"};

}  // namespace

TEST_CASE("debug steps, stops at breakpoints and shows registers", "[cli]") {
  for (const char* engine : engines) {
    INFO(engine);
    const auto done =
        debug(saxpy({"--engine", engine}),
              "# a comment\n\nstep\ns 2\nprint cr0.0\np r9:ud\nbreak 0x48\nb saxpy+0x60\ncontinue\n"
              "p r4:d 2\np r1.3:uw\np ce\np ip\ndelete 0\nbreakpoints\nc\np f0\nquit\n");
    CHECK(done.code == 0);
    CHECK(done.err == "");
    CHECK(
        done.out ==
        "group 0,0,0 thread 0 at saxpy+0x0\n"
        "=> 0x0: (W) mov (8|M0) r3.0<1>:ud r0.0<1;1,0>:ud\n"
        "group 0,0,0 thread 0 at saxpy+0x10\n"
        "=> 0x10: (W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x4C0:uw {Switch}\n"
        "group 0,0,0 thread 0 at saxpy+0x28\n"
        "=> 0x28: add (16|M0) r4.0<1>:d r126.0<0;1,0>:d r1.0<16;16,1>:uw\n"
        "cr0.0:ud: 0x4c0\n"
        "r9:ud: 64 1 1 0 0 0 0 0\n"
        "breakpoint at saxpy+0x48: add (16|M0) r10.0<1>:d r4.0<8;8,1>:d r7.0<0;1,0>:d {Compacted}\n"
        "breakpoint at saxpy+0x60: cmp (16|M0) (lt)f0.0 null<1>:d r10.0<8;8,1>:d r8.5<0;1,0>:d {Compacted}\n"
        "breakpoint 0\n"
        "group 0,0,0 thread 0 at saxpy+0x48\n"
        "=> 0x48: add (16|M0) r10.0<1>:d r4.0<8;8,1>:d r7.0<0;1,0>:d {Compacted}\n"
        "r4:d: 0 1 2 3 4 5 6 7\n"
        "r5:d: 8 9 10 11 12 13 14 15\n"
        "r1.3:uw: 3\n"
        "ce:ud: 0xffffffff\n"
        "ip:ud: 0x48\n"
        "0: saxpy+0x60: cmp (16|M0) (lt)f0.0 null<1>:d r10.0<8;8,1>:d r8.5<0;1,0>:d {Compacted}\n"
        "breakpoint 0\n"
        "group 0,0,0 thread 0 at saxpy+0x60\n"
        "=> 0x60: cmp (16|M0) (lt)f0.0 null<1>:d r10.0<8;8,1>:d r8.5<0;1,0>:d {Compacted}\n"
        "f0:uw: 0x0 0x0\n");
  }
}

TEST_CASE("debug shows the same registers after each instruction on both engines", "[cli]") {
  const std::string script =
      repeated("step\nregisters\nprint r0:ud 128\nprint acc0:ud\nprint f0:uw 2\nthreads\n", 200) +
      "continue\n";
  for (const Words& kernel : {saxpy(), reduce(), subroutine(), lines()}) {
    INFO(kernel[0]);
    const auto fast = debug(with(kernel, {"--engine", "avx2"}), script);
    const auto slow = debug(with(kernel, {"--engine", "reference"}), script);
    CHECK(fast.code == 0);
    CHECK(fast.out.size() > 100'000);
    CHECK((fast.out == slow.out));
  }
}

TEST_CASE("a kernel that was stepped through leaves what one that ran leaves", "[cli]") {
  for (const Words& kernel : {saxpy(), reduce(), subroutine(), lines()}) {
    INFO(kernel[0]);
    const std::string buffer = kernel[2] == "saxpy" ? "2" : "1";
    REQUIRE(eumulate(with(with({"run"}, kernel), {"--dump", buffer + "=expected.bin"})).code == 0);
    const std::string steps = repeated("step 100000\n", 40);
    for (const std::string& script :
         {std::string("continue\n"), steps,
          std::string("break 0x20\ncontinue\nthread 1\nstep 5\nthread 0\nstep 7\ndelete\ncontinue\n")}) {
      if (kernel[2] == "lines" && script.find("thread 1") != std::string::npos) continue;  // it has only one
      INFO(script);
      const auto done = debug(with(kernel, {"--expect", buffer + "=expected.bin"}), script);
      CHECK(done.err == "");
      CHECK(done.code == 0);
      CHECK_THAT(done.out, Contains("the kernel has ended: "));
    }
  }
}

TEST_CASE("debug tells buffers that are not what --expect says", "[cli]") {
  const std::vector<std::byte> zeros(256);
  cli_test::file("zeros.bin", zeros);
  const auto done = debug(saxpy({"--expect", "2=zeros.bin", "--print", "2:4"}), "c\n");
  CHECK(done.code == different);
  CHECK_THAT(done.out, EndsWith("argument 2 (f32), 4 of 64:\n0 2 4 6\n"));
}

TEST_CASE("debug follows calls", "[cli]") {
  for (const char* engine : engines) {
    const auto done =
        debug(subroutine({"--engine", engine}),
              "break 0x88\ncontinue\nstep\nbacktrace\nbreak 0x378\nc\nbt\ndelete\nfinish\nbt\nfinish\n"
              "bt\nfinish\nbreak 0x230\nc\nnext\nbt\nquit\n");
    CHECK(done.code == 0);
    CHECK_THAT(done.out,
               Contains("=> 0x290: ") &&
                   Contains("0  subroutine+0x290\n1  subroutine+0x88 called it, returns to 0x98\n"));
    CHECK_THAT(done.out, Contains("0  subroutine+0x378\n1  subroutine+0x2d0 called it, returns to 0x2e0\n"
                                  "2  subroutine+0x88 called it, returns to 0x98\n") ||
                             Contains("0  subroutine+0x378\n1  subroutine+0x328 called it, returns to 0x338\n"
                                      "2  subroutine+0x88 called it, returns to 0x98\n"));
    CHECK_THAT(done.out, Contains("0  subroutine+0x98\nerror: the thread is in no call\n"));
    CHECK_THAT(done.out, EndsWith("0  subroutine+0x240\n"));
  }
}

TEST_CASE("debug knows source lines", "[cli]") {
  const auto done = debug(lines(),
                          "break lines.cl:6\nb :10\nc\nwhere\ndelete\nline\nline\nbreak lines.cl:99\n"
                          "break other.cl:6\ndisassemble 1\n");
  CHECK(done.code == 0);
  CHECK(done.out ==
        "group 0,0,0 thread 0 at lines+0x0, lines.cl:2\n"
        "=> 0x0: (W) mov (8|M0) r3.0<1>:ud r0.0<1;1,0>:ud\n"
        "breakpoint at lines+0x148, lines.cl:6: (W) mul (8|M0) acc0.0<1>:d r24.0<8;8,1>:d r4.2<0;1,0>:uw\n"
        "breakpoint at lines+0x350, lines.cl:10: shl (16|M0) r40.0<1>:d r12.0<8;8,1>:d 2:w\n"
        "breakpoint 0\n"
        "group 0,0,0 thread 0 at lines+0x148, lines.cl:6\n"
        "=> 0x148: (W) mul (8|M0) acc0.0<1>:d r24.0<8;8,1>:d r4.2<0;1,0>:uw\n"
        "group 0,0,0 thread 0 at lines+0x148, lines.cl:6\n"
        "=> 0x148: (W) mul (8|M0) acc0.0<1>:d r24.0<8;8,1>:d r4.2<0;1,0>:uw\n"
        "group 0,0,0 thread 0 at lines+0x350, lines.cl:10\n"
        "=> 0x350: shl (16|M0) r40.0<1>:d r12.0<8;8,1>:d 2:w\n"
        "group 0,0,0 thread 0 at lines+0x370, lines.cl:11\n"
        "=> 0x370: (W) mov (8|M0) r127.0<1>:ud r3.0<8;8,1>:ud {Compacted}\n"
        "error: no instruction of lines comes from lines.cl:99\n"
        "error: no instruction of lines comes from other.cl:6\n"
        "lines.cl:10\n"
        "    0x360: shl (16|M16) r42.0<1>:d r14.0<8;8,1>:d 2:w\n"
        "lines.cl:11\n"
        "=>  0x370: (W) mov (8|M0) r127.0<1>:ud r3.0<8;8,1>:ud {Compacted}\n"
        "lines.cl:10\n"
        "    0x378: add (16|M0) r40.0<1>:d r40.0<8;8,1>:d r8.6<0;1,0>:d {Compacted}\n");
  const auto without = debug(saxpy(), "b :3\n");
  CHECK_THAT(without.out,
             EndsWith("error: the binary has no line table: compile with -options -g --format zebin\n"));
}

TEST_CASE("debug goes from thread to thread, and through barriers", "[cli]") {
  const auto done =
      debug(reduce({"--print", "1:2"}),
            "threads\nbreak 0x238\ncontinue\nthreads\nx slm+0:d 4\nthread 1\nthread 7\ncontinue\n"
            "where\ndelete\ncontinue\nthreads\n");
  CHECK(done.code == 0);
  CHECK_THAT(done.out, Contains("group 0,0,0 of 2\n=> 0: not begun\n   1: not begun\n"));
  // Both have signalled the barrier and wait; the first has passed it.
  CHECK_THAT(done.out, Contains("breakpoint 0\ngroup 0,0,0 thread "));
  CHECK_THAT(done.out, Contains(" at reduce+0x238"));
  CHECK_THAT(done.out, Contains("0x0: 0 1 2 3\n"));
  CHECK_THAT(done.out, Contains("error: expected one of the group's 2 threads, found 7\n"));
  CHECK_THAT(done.out, EndsWith("the kernel has ended: 2 groups, 4 threads, 660 guest instructions\n"
                                "error: the kernel is over\nargument 1 (i32), 2 of 2:\n2016 6112\n"));
}

TEST_CASE("debug shows memory by surface and by address", "[cli]") {
  const auto done = debug(saxpy(),
                          "surfaces\nx s0:f 3\nmemory s0+0x10:ud 1\nx s1+256 1\nx s9\nx 0x10\nx slm+0\nc\n"
                          "x s1:f 9\n");
  CHECK(done.code == 0);
  CHECK_THAT(done.out, Contains("s0: 256 bytes at 0x") && Contains("\ns1: 256 bytes at 0x"));
  CHECK_THAT(done.out, Contains("0x0: 0 1 2\n0x10: 1082130432\n"));
  CHECK_THAT(done.out, Contains("error: surface 1 has 256 bytes, found 4 at 0x100\n"));
  CHECK_THAT(done.out, Contains("error: surface 9 has 0 bytes"));
  CHECK_THAT(done.out, Contains("error: read of 32 bytes at 0x10 faults"));
  CHECK_THAT(done.out, Contains("of the 0 bytes of shared local memory"));
  CHECK_THAT(done.out, EndsWith("0x0: 0 2 4 6 8 10 12 14\n0x20: 16\n"));
}

TEST_CASE("debug stops where the kernel faults", "[cli]") {
  for (const char* script :
       {"continue\nwhere\nprint r1:uw\nstep\n", "break 0\nc\nc\nwhere\nprint r1:uw\nstep\n"}) {
    INFO(script);
    const auto done = debug({own("faults.zebin"), "--kernel", "overrun", "--global", "64", "--arg",
                             "zeros:256", "--arg", "i64:4096"},
                            script);
    CHECK(done.code == guest_fault);
    CHECK_THAT(done.out, Contains("fault: overrun: stateless access outside the memory"));
    CHECK_THAT(done.out, Contains("thread 1 at overrun+0x1c8\n=> 0x1c8: sends"));
    CHECK_THAT(done.out, EndsWith("r1:uw: 32 33 34 35 36 37 38 39\n  40 41 42 43 44 45 46 47\n"
                                  "error: the kernel is over\n"));
    CHECK_THAT(done.err, Contains("eumulate: overrun: stateless access"));
  }
}

TEST_CASE("debug says what is wrong with a command and goes on", "[cli]") {
  struct Wrong {
    const char* line;
    const char* text;
  };
  const Wrong all[] = {
      {"fly", "no command 'fly': help lists them"},
      {"br", "'br' may mean break, breakpoints"},
      {"step two", "step: expected a number up to"},
      {"step 1 2", "step: found '2' behind what it takes"},
      {"step 99999999999999999999", "step: expected a number"},
      {"break", "break: expected more"},
      {"break here", "expected 0x40, KERNEL+0x40, FILE:LINE or :LINE, found 'here'"},
      {"break 0x14", "no instruction begins at 0x14: the nearest before it at 0x10"},
      {"break 0xfffffff0", "no instruction begins at 0xfffffff0"},
      {"break other+0x10", "expected the kernel saxpy, found other"},
      {"break +0x10", "expected 0x40"},
      {"delete 3", "expected one of 0 breakpoints, found 3"},
      {"print", "print: expected more"},
      {"print x5", "expected a register such as r12:f"},
      {"print r", "expected a register such as r12:f"},
      {"print r128", "expected registers r0 to r127, found r128"},
      {"print r120 9", "expected registers r0 to r127, found r128"},
      {"print r1:vf", "expected one of the types ub, b"},
      {"print r1.8:ud", "expected a sub-register of 0 to 7, found 8"},
      {"print f0:uq", "expected elements of at most 4 bytes in f, found 8"},
      {"print f2", "expected registers f0 to f1, found f2"},
      {"print ip.1", "expected a register"},
      {"memory s", "expected 0xADDRESS, sN+OFFSET"},
      {"memory 0x10+4", "expected 0xADDRESS, sN+OFFSET"},
      {"memory s300", "expected a surface below 256, found 300"},
      {"memory s1+0xffffffffffffffff", "surface 1 has 256 bytes"},
      {"memory s1 0", "expected 1 to 65536 elements, found 0"},
      {"memory s1 4000000000", "expected 1 to 65536 elements"},
      {"thread", "thread: expected a number"},
      {"thread 2", "expected one of the group's 2 threads, found 2"},
      {"finish", "the thread is in no call"},
      {"\x1b[31m", "no command '\\x1b[31m'"},
  };
  std::string script;
  for (const Wrong& wrong : all) script += std::string(wrong.line) + "\n";
  const auto done = debug(saxpy(), script + "where\n");
  CHECK(done.code == 0);
  for (const Wrong& wrong : all) {
    INFO(wrong.line);
    CHECK_THAT(done.out, Contains("error: " + std::string(wrong.text)));
  }
  CHECK_THAT(
      done.out,
      EndsWith("group 0,0,0 thread 0 at saxpy+0x0\n=> 0x0: (W) mov (8|M0) r3.0<1>:ud r0.0<1;1,0>:ud\n"));
  CHECK_THAT(debug(saxpy(), "help\n").out, Contains("step, s [COUNT]") && Contains("breakpoints"));
}

TEST_CASE("debug of what cannot be debugged is an error in one line", "[cli]") {
  const auto missing = eumulate(with(with({"debug"}, saxpy()), {"--script", "nowhere.txt"}));
  CHECK(missing.code == 2);
  CHECK_THAT(missing.err, Contains("nowhere.txt: cannot be read"));
  const auto kernel = eumulate({"debug", corpus("saxpy.zebin"), "--kernel", "nosuch", "--global", "1"});
  CHECK(kernel.code == mismatch);
  CHECK(cli_test::is_one_line(kernel));
  const auto engine = debug(saxpy({"--engine", "fast"}), "");
  CHECK(engine.code == usage);
  CHECK(cli_test::is_one_line(engine));
}
