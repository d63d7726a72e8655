// Loads that advance along rows in a loop return what the reference engine's return, whatever the rows, the
// active channels and the writes in between are, however often the loop is entered and wherever the thread
// has to pause.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

struct Rows {
  std::string_view type, space;  ///< of an element
  std::string_view step;         ///< bytes from one turn to the next
  std::string_view store;        ///< stores in the loop
  std::string_view who;          ///< code that defines %on, the channels that load
  unsigned rounds = 0;
};

/// r2, r3: start of each channel's row; r8, r9: in how many turns each channel is active; r4: turn counters
/// of the inner and the outer loop. Each channel sums its row in r5, r6, which are stored after every turn of
/// the outer loop.
std::string program(const Rows& rows) {
  // By signed or unsigned distances.
  const bool is_signed = rows.space == "signed", wide = rows.space == "a64" || is_signed;
  const std::string_view address = wide ? "%w" : "%a";
  return fmt::format(
      R"(kernel @k simd 16 family gen9 file 2048 slot 32 masks 1
b0: ip 0x0 count 2
  %zero = constant.u32x16 0
  reg_write.u32x16 r5<1;1,0>, %zero
  %k = constant.s32x1 0
  reg_write.s32x1 r4.2<1;1,0>, %k
  jump b1
b1: ip 0x10 count 2 safepoint
  %first = constant.s32x1 0
  reg_write.s32x1 r4<1;1,0>, %first
  jump b2
b2: ip 0x20 count 5 safepoint
  %e = mask_get.mx16 mask0
  %i = reg_read.s32x1 r4<1;1,0>
  %ii = splat.s32x16 %i
  %a = reg_read.u32x16 r2<1;1,0>
{who}  %m = and.mx16 %e, %on
{wide}  %x = load.{type}x16 {space}[{address}] ? %m
  %xx = convert.u32.{type}x16 %x
  %s = reg_read.u32x16 r5<1;1,0> ? %m
  %f = constant.u32x16 31
  %s1 = mad.u32x16 %s, %f, %xx
  reg_write.u32x16 r5<1;1,0>, %s1 ? %m
{store}  %step = constant.u32x16 {step}
  %a1 = add.u32x16 %a, %step
  reg_write.u32x16 r2<1;1,0>, %a1 ? %e
  %one = constant.s32x1 1
  %i1 = add.s32x1 %i, %one
  reg_write.s32x1 r4<1;1,0>, %i1
  %n = constant.s32x1 {rounds}
  %again = cmp_lt.s32x1 %i1, %n
  branch_any.mx1 %again, b2, b3
b3: ip 0x30 count 3
  %g = mask_get.mx16 mask0
  %o = reg_read.u32x16 r10<1;1,0>
  %sum = reg_read.u32x16 r5<1;1,0>
  store.u32x16 surface3[%o], %sum ? %g
  %k0 = reg_read.s32x1 r4.2<1;1,0>
  %ones = constant.s32x1 1
  %k1 = add.s32x1 %k0, %ones
  reg_write.s32x1 r4.2<1;1,0>, %k1
  %outer = constant.s32x1 3
  %more = cmp_lt.s32x1 %k1, %outer
  branch_any.mx1 %more, b1, b4
b4: ip 0x40 count 1
  exit
)",
      fmt::arg("who", rows.who), fmt::arg("type", rows.type),
      fmt::arg("space", is_signed ? "a64" : rows.space), fmt::arg("address", address),
      fmt::arg("store", rows.store), fmt::arg("step", rows.step), fmt::arg("rounds", rows.rounds),
      fmt::arg("wide", wide ? fmt::format("  %as = bitcast.s32.u32x16 %a\n  %u = convert.u64.{}x16 {}\n"
                                          "  %b = constant.u64x16 {:#x}\n  %w = add.u64x16 %u, %b\n",
                                          is_signed ? "s32" : "u32", is_signed ? "%as" : "%a", World::region)
                            : ""));
}

/// Runs to the end; whenever the thread pauses, memory is changed as by other threads.
FinalState run_to_end(World& world, const Executable& executable, std::int64_t budget) {
  std::int64_t executed = 0;
  for (;;) {
    world.state().budget = budget;
    FinalState end = world.run(executable);
    executed += budget - end.state.budget;
    end.state.budget = executed;
    if (end.status != Status::Paused) return end;
    for (std::byte& byte : world.surface_memory()) byte ^= std::byte{0x5a};
  }
}

/// The number of runs that agreed.
std::size_t check_rows(const Rows& rows) {
  const CompileOptions options{.exact_registers = false};
  const Function function = function_of_text(program(rows));
  const auto reference = compiled(*make_reference_engine(), function, options);
  std::size_t runs = 0;
  for (const auto& engine : other_engines()) {
    const auto other = compiled(*engine, function, options);
    for (const std::uint32_t channels : {0xffffu, 0x00ffu, 0xff00u, 0x1234u})
      for (const std::uint32_t distance : {4u, 61u, 0u})
        for (const std::int64_t budget : {std::int64_t{1} << 40, std::int64_t{37}}) {
          World x, y;
          for (World* world : {&x, &y}) {
            world->reset(function, rows.rounds + distance);
            world->masks()[0] = channels;
            for (std::uint32_t lane = 0; lane < 16; ++lane) {
              const auto put = [&](unsigned reg, std::uint32_t bits) {
                std::memcpy(world->file() + std::size_t{32} * reg + std::size_t{4} * lane, &bits, 4);
              };
              put(2, lane * distance);
              put(8, lane * 5 % 23);
              put(10, 900 + 4 * lane);
            }
          }
          INFO(engine->name() << ", channels " << channels << ", distance " << distance << ", budget "
                              << budget << '\n'
                              << program(rows));
          REQUIRE(
              difference(run_to_end(x, *reference, budget), run_to_end(y, *other, budget), false).empty());
          ++runs;
        }
  }
  return runs;
}

constexpr std::string_view all_on = "  %z = constant.s32x16 -1\n  %on = cmp_ne.s32x16 %ii, %z\n";

}  // namespace

TEST_CASE("loads along rows, in bounds and beyond, all channels and some, with pauses") {
  constexpr std::string_view
      leaving = "  %l = reg_read.s32x16 r8<1;1,0>\n  %on = cmp_lt.s32x16 %ii, %l\n",
      coming_back =
          "  %l = reg_read.s32x16 r8<1;1,0>\n  %y = add.s32x16 %l, %ii\n  %four = "
          "constant.s32x16 4\n  %p = and.s32x16 %y, %four\n  %on = cmp_eq.s32x16 %p, %four\n";
  SiteSample sample(EUMULATE_STEP);
  std::size_t runs = 0, programs = 0;
  for (const std::string_view type : {"u32", "u16", "u8"})
    for (const std::string_view space : {"surface3", "slm", "a64", "signed"})
      for (const std::string_view step : {"4", "0xfffffffc", "2", "1", "0xffffffff", "8", "20"})
        for (const std::string_view who : {all_on, leaving, coming_back})
          for (const unsigned rounds : {3u, 19u}) {
            if (!sample.takes_next()) continue;
            runs += check_rows({type, space, step, "", who, rounds});
            ++programs;
          }
  CHECK(runs == programs * other_engines().size() * 24);
}

// Each turn of the loop writes into the rows that the next turns read: through the same surface, through one
// over the same memory, and through one that has no host memory; or it writes to unrelated memory.
TEST_CASE("loads along rows that are written meanwhile") {
  std::size_t runs = 0, programs = 0;
  for (const std::string_view to : {"surface3", "surface8", "surface9", "surface4", "surface7", "slm", "a64"})
    for (const std::string_view space : {"surface3", "slm", "a64"})
      for (const std::string_view step : {"4", "0xfffffffc"})
        for (const bool atomic : {false, true}) {
          const bool wide = to == "a64";
          std::string store = "  %tw = constant.u32x16 12\n  %at = add.u32x16 %a, %tw\n";
          if (wide)
            store += fmt::format(
                "  %ua = convert.u64.u32x16 %at\n  %ba = constant.u64x16 {:#x}\n  %wa = add.u64x16 %ua, "
                "%ba\n",
                World::region);
          const std::string_view address = wide ? "%wa" : "%at";
          store += atomic ? fmt::format("  atomic.u32x16 add {}[{}], %s1 ? %m\n", to, address)
                          : fmt::format("  store.u32x16 {}[{}], %s1 ? %m\n", to, address);
          runs += check_rows({"u32", space, step, store, all_on, 11});
          ++programs;
        }
  CHECK(runs == programs * other_engines().size() * 24);
}
