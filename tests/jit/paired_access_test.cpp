// Two accesses, one for each half of the channels, where the second continues where the first ends: they may
// be done as one, and every engine leaves what the reference engine leaves.
#include <fmt/format.h>

#include <algorithm>
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

constexpr unsigned id_place = 32, base_place = 96;
constexpr std::string_view by_distances = "from_unsigned[%bb]";

struct Case {
  std::string_view from, to;  ///< memory spaces to load from and store to
  int distance;               ///< bytes from the first half's addresses to the second half's
  unsigned offset;            ///< bytes from the load address to the store address
  std::string_view between_loads = "", between_stores = "";

  /// Each lane stores, `offset` bytes above its address, the value at that address plus one.
  unsigned element = 4;  ///< bytes

  /// Half of the channels: a vector, but of bytes half of one.
  unsigned lanes() const { return std::min(16u, 32 / element); }

  Function build() const {
    std::string text = R"(kernel @k simd {simd} family gen9 file 512 slot 32 masks 3
b0: ip 0x0 count 1
  %i = reg_read.u16x{n} r1<1;1,0>
  %w = convert.u32.u16x{n} %i
  %c = constant.u32x{n} {element}
  %a = mul.u32x{n} %w, %c
  %x = reg_read.u32x1 r3<1;1,0>
  %s = splat.u32x{n} %x
  %p = add.u32x{n} %a, %s
  %d = constant.u32x{n} {distance}
  %q = add.u32x{n} %p, %d
  reg_write.u32x{n} r4<1;1,0>, %p
  reg_write.u32x{n} r6<1;1,0>, %q
  jump b1
b1: ip 0x10 count 1
  %e = mask_get.mx{simd} mask0
  %l = slice.mx{n} %e, 0
  %h = slice.mx{n} %e, {n}
  %z = constant.u32x1 128
  %k = constant.{type}x{n} 1
  %bb = constant.u64x1 {base}
  %p = reg_read.u32x{n} r4<1;1,0> ? %l
  %q = reg_read.u32x{n} r6<1;1,0> ? %h
  %u = load.{type}x{n} {from}[%p] ? %l
  reg_write.{type}x{n} r10<1;1,0>, %u ? %l
{between_loads}
  %v = load.{type}x{n} {from}[%q] ? %h
  reg_write.{type}x{n} r11<1;1,0>, %v ? %h
  %m = add.{type}x{n} %u, %k
  %o = add.{type}x{n} %v, %k
  store.{type}x{n} {to}[%p + {offset}], %m ? %l
{between_stores}
  store.{type}x{n} {to}[%q + {offset}], %o ? %h
  exit
)";
    return function_of_text(
        fmt::format(fmt::runtime(text), fmt::arg("simd", 2 * lanes()), fmt::arg("n", lanes()),
                    fmt::arg("element", element), fmt::arg("type", fmt::format("u{}", 8 * element)),
                    fmt::arg("from", from), fmt::arg("to", to),
                    fmt::arg("distance", static_cast<std::uint32_t>(distance)), fmt::arg("offset", offset),
                    fmt::arg("between_loads", between_loads), fmt::arg("between_stores", between_stores),
                    fmt::arg("base", std::uint64_t{World::region})));
  }
};

/// Runs the kernel with the addresses inside memory and around each end of it.
void check(const Case& one) {
  const Function function = one.build();
  CompileOptions options{.exact_registers = false};
  const auto reference = compiled(*make_reference_engine(), function, options);
  options.launch.ids = {id_place, one.lanes(), one.lanes()};
  for (const auto& engine : other_engines()) {
    const auto other = compiled(*engine, function, options);
    static World expected, found;
    for (const std::uint32_t base : {0u, 4u, 60u, 128u, 192u, 196u, 224u, 932u, 936u, 940u, 964u, 976u, 980u,
                                     996u, 1000u, 0x7fffffe0u, 0xffffffc0u, 0xffffffe0u, 0xfffffffcu})
      for (std::uint32_t on : {0xffffu, 0x7fffu, 0xff00u, 0x0f0fu}) {
        if (one.element <= 2) on |= on << 16;
        for (World* world : {&expected, &found}) {
          world->reset(function, base);
          world->masks()[0] = on;
          world->put_ids(id_place, static_cast<std::uint16_t>(one.lanes()));
          std::memcpy(world->file() + base_place, &base, sizeof base);
        }
        INFO(one.from << " to " << one.to << ", base " << base << ", distance " << one.distance << ", offset "
                      << one.offset << ", channels " << on << one.between_loads << one.between_stores);
        REQUIRE(difference(expected.run(*reference), found.run(*other), false).empty());
      }
  }
}

}  // namespace

TEST_CASE("pairs of accesses: in bounds, beyond them, around the end of 32 bits") {
  for (const std::string_view memory : std::initializer_list<std::string_view>{
           "surface3", "slm", "surface4", "surface7", "scratch", "a32", by_distances})
    for (const unsigned element : {4u, 2u, 1u})
      for (const int half = element == 1 ? 16 : 32; const int distance : {half, half - 4, half + 4, 0, -half})
        check({.from = memory, .to = memory, .distance = distance, .offset = 64, .element = element});
}

TEST_CASE("pairs of accesses that overlap, or whose memory something else writes or reads between them") {
  for (const std::string_view memory :
       {std::string_view("surface3"), std::string_view("slm"), by_distances}) {
    for (const unsigned offset : {0u, 4u, 16u, 32u, 48u})
      for (const unsigned element : {4u, 2u, 1u})
        check({.from = memory,
               .to = memory,
               .distance = element == 1 ? 16 : 32,
               .offset = offset,
               .element = element});
    const std::string store = fmt::format("  store.u32x8 {}[%q], %k", memory);
    const std::string load =
        fmt::format("  %b = load.u32x8 {}[%q + 32]\n  store.u32x8 slm[%q + 64], %b", memory);
    const std::string set = "  %g = flag_read.mx16 f0.0\n  %j = and.mx16 %g, %e\n  mask_set.mx16 mask0, %j";
    constexpr std::string_view faulting = "  %b = load.u32x8 from_unsigned[%bb][%q + 64]";
    for (const std::string_view between : {std::string_view(store), std::string_view(load), faulting,
                                           std::string_view("  fence"), std::string_view(set)}) {
      check({memory, memory, 32, 64, between, ""});
      check({memory, memory, 32, 64, "", between});
    }
  }
}
