// What a translation may use of the host: stack, pages, memory.
#include <fmt/format.h>
#include <pthread.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// One block that `rounds` times computes `live` values from the first register and then adds them up.
std::string pressure(unsigned rounds, unsigned live) {
  std::string text = "b0: ip 0 count 1\n  %x = reg_read.f32x8 r0<1;1,0>\n";
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned i = 0; i < live; ++i)
      text += fmt::format("  %c{0}_{1} = constant.f32x8 {2:#x}\n  %v{0}_{1} = add.f32x8 %x, %c{0}_{1}\n",
                          round, i, 0x3f800000 + round * live + i);
    std::string sum = fmt::format("%v{}_0", round);
    for (unsigned i = 1; i < live; ++i) {
      text += fmt::format("  %s{0}_{1} = add.f32x8 {2}, %v{0}_{1}\n", round, i, sum);
      sum = fmt::format("%s{}_{}", round, i);
    }
    text += fmt::format("  reg_write.f32x8 r{}<1;1,0>, {}\n", 1 + round % 15, sum);
  }
  return text + "  exit\n";
}

}  // namespace

TEST_CASE("host: spilled values give their places back, so a long block runs on a small stack") {
  const ir::Function function = function_of_text(pressure(1000, 40));
  for (const auto& engine : other_engines()) {
    const auto executable = compiled(*engine, function);
    struct Run {
      World world;
      const Executable& executable;
      FinalState end{};
    } run{World(), *executable};
    run.world.reset(function, 3);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    pthread_t thread;
    const auto body = [](void* argument) -> void* {
      auto& run = *static_cast<Run*>(argument);
      run.end = run.world.run(run.executable);
      return nullptr;
    };
    REQUIRE(pthread_create(&thread, &attributes, body, &run) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    CHECK(run.end.status == Status::Exited);
  }
}

TEST_CASE("host: more values at once than the stack may hold are an error that says so") {
  const ir::Function function = function_of_text(pressure(1, 9000));
  for (const auto& engine : other_engines()) {
    ir::Function own = copy(function);
    auto executable = engine->compile(own, {});
    REQUIRE_FALSE(executable);
    CHECK(executable.error().message.find("bytes of the host's stack") != std::string::npos);
  }
}

TEST_CASE("host: no page of code is writable and executable at once") {
  for (const auto& engine : other_engines()) {
    ir::Function function = function_of_text(pressure(2, 4));
    auto executable = engine->compile(function, {});
    REQUIRE(executable);
    std::ifstream maps("/proc/self/maps");
    REQUIRE(maps);
    for (std::string line; std::getline(maps, line);) {
      INFO(line);
      CHECK(line.find(" rwx") == std::string::npos);
    }
  }
}
