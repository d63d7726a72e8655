// Loops over rows that are done for one half of the channels after the other leave what the reference engine
// leaves, whatever the rows are, however often the loop is entered and wherever the thread has to pause.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"
#include "tests/optimisations.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// r2, r3: where rows begin; r4: turns of the inner loop, turns of the outer one. Each channel has a sum of
/// its row, which is stored behind every turn of the outer loop.
std::string rows(unsigned rounds, std::string_view step, std::string_view more) {
  return fmt::format(R"(kernel @k simd 16 family gen9 file 2048 slot 32 masks 1
b0: ip 0x0 count 2
  %zero = constant.f32x8 0
  reg_write.f32x8 r5<1;1,0>, %zero
  reg_write.f32x8 r6<1;1,0>, %zero
  %k = constant.s32x1 0
  reg_write.s32x1 r4.2<1;1,0>, %k
  jump b1
b1: ip 0x10 count 2 safepoint
  %first = constant.s32x1 3
  reg_write.s32x1 r4<1;1,0>, %first
  jump b2
b2: ip 0x20 count 5 safepoint
  %e = mask_get.mx16 mask0
  %e0 = slice.mx8 %e, 0
  %e1 = slice.mx8 %e, 8
  %a = reg_read.u32x8 r2<1;1,0> ? %e0
  %b = reg_read.u32x8 r3<1;1,0> ? %e1
  %x = load.u32x8 surface3[%a] ? %e0
  %y = load.u32x8 surface3[%b] ? %e1
  %i = reg_read.s32x1 r4<1;1,0>
  %ii = splat.s32x8 %i
  %ix = convert.f32.s32x8 %ii
  %s = reg_read.f32x8 r5<1;1,0> ? %e0
  %xf = convert.f32.u32x8 %x
  %s1 = fma.f32x8 %xf, %ix, %s
  reg_write.f32x8 r5<1;1,0>, %s1 ? %e0
  %t = reg_read.f32x8 r6<1;1,0> ? %e1
  %yf = convert.f32.u32x8 %y
  %t1 = fma.f32x8 %yf, %ix, %t
  reg_write.f32x8 r6<1;1,0>, %t1 ? %e1
  %four = constant.u32x8 {1}
  %a1 = add.u32x8 %a, %four
  reg_write.u32x8 r2<1;1,0>, %a1 ? %e0
  %b1 = add.u32x8 %b, %four
  reg_write.u32x8 r3<1;1,0>, %b1 ? %e1
{2}
  %one = constant.s32x1 1
  %i1 = add.s32x1 %i, %one
  reg_write.s32x1 r4<1;1,0>, %i1
  %n = constant.s32x1 {0}
  %m = cmp_lt.s32x1 %i1, %n
  branch_any.mx1 %m, b2, b3
b3: ip 0x30 count 3
  %f = mask_get.mx16 mask0
  %f0 = slice.mx8 %f, 0
  %f1 = slice.mx8 %f, 8
  %o = reg_read.u32x8 r7<1;1,0>
  %sum = reg_read.u32x8 r5<1;1,0> ? %f0
  store.u32x8 slm[%o], %sum ? %f0
  %thirty = constant.u32x8 32
  %o1 = add.u32x8 %o, %thirty
  %tsum = reg_read.u32x8 r6<1;1,0> ? %f1
  store.u32x8 slm[%o1], %tsum ? %f1
  %count = reg_read.u32x1 r4<1;1,0>
  %place = constant.u32x1 64
  store.u32x1 slm[%place], %count
  %k0 = reg_read.s32x1 r4.2<1;1,0>
  %ones = constant.s32x1 1
  %k1 = add.s32x1 %k0, %ones
  reg_write.s32x1 r4.2<1;1,0>, %k1
  %outer = constant.s32x1 3
  %again = cmp_lt.s32x1 %k1, %outer
  branch_any.mx1 %again, b1, b4
b4: ip 0x40 count 1
  exit
)",
                     rounds, step, more);
}

}  // namespace

TEST_CASE("loops over rows of memory, in bounds and beyond, all channels and some, with pauses") {
  const CompileOptions options{.exact_registers = false};
  std::size_t cases = 0;
  for (const std::string_view more :
       {"", "  %u = load.u32x1 surface3[%p]\n  %p = constant.u32x1 8\n",
        "  %g = splat.s32x16 %i\n  %h = constant.s32x16 5\n  %l = cmp_lt.s32x16 %g, %h\n"
        "  flag_write.mx16 f0.0, %l\n"}) {
    std::string ordered(more);
    if (const auto at = ordered.find("  %p = "); at != std::string::npos)
      ordered = ordered.substr(at) + ordered.substr(0, at);
    for (const unsigned rounds : {4u, 9u, 40u})
      for (const std::string_view step : {"4", "0xfffffffc", "20"}) {
        const Function function = function_of_text(rows(rounds, step, ordered));
        const auto reference = compiled(*make_reference_engine(), function, options);
        for (const auto& engine : other_engines()) {
          const auto other = compiled(*engine, function, options);
          for (const std::uint32_t channels : {0xffffu, 0x00ffu, 0xff00u, 0x1234u})
            for (const std::uint32_t distance : {4u, 60u, 0u})
              for (const std::int64_t budget : {std::int64_t{1} << 40, std::int64_t{37}}) {
                World x, y;
                for (World* world : {&x, &y}) {
                  world->reset(function, rounds + distance);
                  world->masks()[0] = channels;
                  for (std::uint32_t lane = 0; lane < 16; ++lane) {
                    const std::uint32_t row = lane * distance, to = 4 * lane;
                    std::memcpy(world->file() + 2 * 32 + std::size_t{4} * lane, &row, 4);
                    if (lane < 8) std::memcpy(world->file() + 7 * 32 + std::size_t{4} * lane, &to, 4);
                  }
                }
                const auto run = [&](World& world, const Executable& executable) {
                  std::int64_t executed = 0;
                  for (;;) {
                    world.state().budget = budget;
                    FinalState end = world.run(executable);
                    executed += budget - end.state.budget;
                    end.state.budget = executed;
                    if (end.status != Status::Paused) return end;
                  }
                };
                INFO(engine->name() << ", " << rounds << " rounds, step " << step << ", channels " << channels
                                    << ", distance " << distance << ", budget " << budget << '\n'
                                    << more);
                REQUIRE(difference(run(x, *reference), run(y, *other), false).empty());
                ++cases;
              }
        }
      }
  }
  CHECK(cases == 27 * other_engines().size() * 24);
}
