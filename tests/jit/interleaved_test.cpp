// Several components per lane are loaded, computed with and stored. Where all are treated alike they may stay
// in memory order (interleaved); every engine leaves what the reference engine leaves, whatever is done to
// them.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/jit/text_cases.hpp"
#include "tests/jit/two_places.hpp"
#include "tests/jit/world.hpp"
#include "tests/optimisations.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// The components of a lane.
struct Components {
  unsigned count = 4, bits = 32;  ///< bits of each
  unsigned stride = 16;           ///< bytes from lane to lane, a power of two
  bool is_spread = false;         ///< the first ones are loaded from addresses in registers
};

using Names = std::vector<std::string_view>;

/// Loads the components of `lanes` lanes at %p and at %q, as %x, %y, ... and %a, %b, ..., runs `body`, and
/// stores the components `stored` at %q in `to`.
Function build(unsigned lanes, const Components& of, std::string_view memory, std::string_view to,
               std::string_view body, const Names& stored) {
  const auto loaded = [&](std::string_view names, char address) {
    std::string results, components, casts;
    for (unsigned k = 0; k < of.count; ++k) {
      results += fmt::format("{}%l{}", k == 0 ? "" : ", ", names[k]);
      components += fmt::format("{}{}", k == 0 ? "" : ", ", k);
      casts += fmt::format("  %{2} = bitcast.f{1}.u{1}x{0} %l{2}\n", lanes, of.bits, names[k]);
    }
    return fmt::format("  {} = load.u{}x{} {}[%{}] {{{}}} ? %e\n{}", results, of.bits, lanes, memory, address,
                       components, casts);
  };
  std::string casts, data, components;
  for (unsigned k = 0; k < of.count; ++k) {
    casts += fmt::format("  %s{2} = bitcast.u{1}.f{1}x{0} %{3}\n", lanes, of.bits, k, stored[k]);
    data += fmt::format(", %s{}", k);
    components += fmt::format("{}{}", k == 0 ? "" : ", ", k);
  }
  return function_of_text(two_places(lanes, of.stride) +
                          fmt::format(R"(
  %e = mask_get.mx{0} mask0
  %o = reg_read.u32x{0} r8<1;1,0>
  %sc = reg_read.f{1}x1 r5<1;1,0>
  %s = splat.f{1}x{0} %sc
  %vector = reg_read.f{1}x{0} r6<1;1,0>
  %c = constant.f{1}x{0} {2:#x}
{3}{4}
{5}
{6}
  store.u{1}x{0} {7}[%q] {{{8}}}{9} ? %e
  exit
)",
                                      lanes, of.bits, of.bits == 32 ? 0x3fc00000 : 0x3ff8000000000000,
                                      loaded("xyzw", of.is_spread ? 'o' : 'p'), loaded("abgh", 'q'), body,
                                      casts, to, components, data));
}

void check(const Components& of, std::string_view memory, std::string_view to, std::string_view body,
           const Names& stored) {
  for (const unsigned lanes : {8u, 16u}) {
    std::string own(body);
    for (std::size_t at; (at = own.find("32xN")) != std::string::npos;)
      own.replace(at, 4, fmt::format("{}x{}", of.bits, lanes));
    for (std::size_t at; (at = own.find("x2N")) != std::string::npos;)
      own.replace(at, 3, fmt::format("x{}", 2 * lanes));
    for (std::size_t at; (at = own.find(".mxN")) != std::string::npos;)
      own.replace(at, 4, fmt::format(".mx{}", lanes));
    const Function function = build(lanes, of, memory, to, own, stored);
    CompileOptions options{.exact_registers = false};
    const auto reference = compiled(*make_reference_engine(), function, options);
    options.launch.ids = {id_place, lanes, lanes};
    options.launch.beyond_caches = to != memory;
    for (const auto& engine : other_engines()) {
      const auto other = compiled(*engine, function, options);
      static World expected, found;
      static SiteSample sample(EUMULATE_STEP);
      constexpr std::uint32_t all = World::surface_bytes;
      for (const std::uint32_t base :
           {0u, 16u, 96u, all - 256, all - 240, all - 128, all - 100, all - 16, ~0u - 31})
        for (const std::uint32_t end : {0u, 40u, 256u, all - 256, all - 128, all - 124})
          for (const std::uint32_t on : {0xffffu, 0x7fffu, 0x00f1u}) {
            if (!sample.takes_next()) continue;
            for (World* world : {&expected, &found}) {
              world->reset(function, base + end);
              world->masks()[0] = on & lane_mask(lanes);
              world->put_ids(id_place, static_cast<std::uint16_t>(lanes));
              std::memcpy(world->file() + base_place, &base, sizeof base);
              std::memcpy(world->file() + end_place, &end, sizeof end);
              for (std::uint32_t lane = 0; lane < lanes; ++lane) {
                // In order, all at one place, or backwards but for one.
                const std::uint32_t row = end == 0 ? lane : end == 40 ? 2 : lane == 5 ? 1 : lanes - 1 - lane;
                const std::uint32_t address = base + row * of.stride;
                std::memcpy(world->file() + address_place + 4 * lane, &address, sizeof address);
              }
            }
            INFO(lanes << " lanes of " << of.count << " x " << of.bits << ", " << of.stride
                       << " bytes apart, " << memory << ", base " << base << ", end " << end << ", channels "
                       << on << '\n'
                       << body);
            REQUIRE(difference(expected.run(*reference), found.run(*other), false).empty());
          }
    }
  }
}

void check(std::string_view memory, std::string_view body, const Names& stored) {
  check(Components{}, memory, memory, body, stored);
}

constexpr std::string_view sums = R"(
  %j = fma.f32xN %x, %s, %a
  %k = fma.f32xN %y, %s, %b
  %l = fma.f32xN %z, %s, %g
  %m = fma.f32xN %w, %s, %h)";

}  // namespace

TEST_CASE("components that are treated alike, in bounds and beyond them") {
  for (const std::string_view memory : {"surface3", "slm", "a32"}) {
    check(memory, "", {"x", "y", "z", "w"});
    check(memory, sums, {"j", "k", "l", "m"});
  }
  check("surface3",
        fmt::format(R"({}
  %j1 = bitcast.u32.f32xN %j
  %k1 = bitcast.u32.f32xN %k
  %l1 = bitcast.u32.f32xN %l
  %m1 = bitcast.u32.f32xN %m
  %j2 = add.u32xN %j1, %j1
  %k2 = add.u32xN %k1, %k1
  %l2 = add.u32xN %l1, %l1
  %m2 = add.u32xN %m1, %m1
  %j3 = bitcast.f32.u32xN %j2
  %k3 = bitcast.f32.u32xN %k2
  %l3 = bitcast.f32.u32xN %l2
  %m3 = bitcast.f32.u32xN %m2
  %j4 = max.f32xN %j3, %c
  %k4 = max.f32xN %k3, %c
  %l4 = max.f32xN %l3, %c
  %m4 = max.f32xN %m3, %c)",
                    sums),
        {"j4", "k4", "l4", "m4"});
}

TEST_CASE("components that are treated alike, and written past the caches") {
  check(Components{}, "a32", "surface3", sums, {"j", "k", "l", "m"});
  check(Components{}, "surface3", "a32", sums, {"j", "k", "l", "m"});
}

TEST_CASE("two or four components that are treated alike, with gaps between lanes or without") {
  constexpr std::string_view of_two = R"(
  %j = fma.f32xN %x, %s, %a
  %k = fma.f32xN %y, %s, %b
  %m = max.f32xN %j, %c
  %n = max.f32xN %k, %c)";
  for (const std::string_view memory : {"surface3", "slm", "a32"}) {
    for (const Components of :
         {Components{2, 32, 8}, Components{2, 32, 16}, Components{2, 64, 16}, Components{2, 64, 32}}) {
      check(of, memory, memory, of_two, {"m", "n"});
      check(of, memory, memory, of_two, {"n", "m"});
    }
    for (const unsigned stride : {32u, 64u})
      check({4, 32, stride}, memory, memory, sums, {"j", "k", "l", "m"});
  }
  for (const Components of : {Components{2, 32, 8}, Components{2, 64, 16}, Components{2, 64, 32}})
    check(of, "a32", "surface3", of_two, {"m", "n"});
}

TEST_CASE("components of lanes at arbitrary addresses that are treated alike") {
  constexpr std::string_view of_two = R"(
  %j = fma.f32xN %x, %s, %a
  %k = fma.f32xN %y, %s, %b)";
  for (const std::string_view memory : {"surface3", "slm", "a32"}) {
    for (const Components of : {Components{2, 32, 8, true}, Components{2, 64, 16, true}})
      check(of, memory, memory, of_two, {"j", "k"});
    check({4, 32, 16, true}, memory, memory, sums, {"j", "k", "l", "m"});
  }
}

TEST_CASE("components of which something looks at one, or at one of another") {
  check("surface3", sums, {"k", "j", "l", "m"});
  check("surface3", sums, {"j", "j", "l", "m"});
  check("surface3", sums, {"x", "k", "l", "m"});
  check("surface3", sums, {"j", "k", "l", "vector"});
  for (const std::string_view more : {"  reg_write.f32xN r20<1;1,0>, %k", "  reg_write.f32xN r20<1;1,0>, %w",
                                      "  %n = add.f32xN %j, %k\n"
                                      "  reg_write.f32xN r20<1;1,0>, %n",
                                      "  %n = bitcast.u32.f32xN %m\n  store.u32xN surface3[%p], %n ? %e"})
    check("surface3", fmt::format("{}\n{}", sums, more), {"j", "k", "l", "m"});
  // One of the components is treated differently.
  for (const std::string_view other :
       {"mul.f32xN %w, %s", "fma.f32xN %w, %c, %h", "fma.f32xN %w, %vector, %h", "fma.f32xN %h, %s, %w",
        "fma.f32xN %w, %s, %g", "fma.f32xN %w, %w, %h"})
    check("surface3", fmt::format("{}\n  %n = {}", sums, other), {"j", "k", "l", "n"});
}

TEST_CASE(
    "components that are chosen by comparisons, and by a constant mask, which is another one in each lane") {
  const auto each = [](std::string_view op) {
    std::string body;
    for (const auto& [to, x, a] :
         {std::tuple{"j", "x", "a"}, {"k", "y", "b"}, {"l", "z", "g"}, {"m", "w", "h"}})
      body += fmt::format(fmt::runtime(op), fmt::arg("to", to), fmt::arg("x", x), fmt::arg("a", a));
    return body;
  };
  check("surface3", each("  %{to}c = cmp_lt.f32xN %{x}, %{a}\n  %{to} = select.f32xN %{to}c, %{x}, %c\n"),
        {"j", "k", "l", "m"});
  check("surface3", each(R"(
  %{to}c = cmp_lt.f32xN %{x}, %{a}
  %{to}d = cmp_gt.f32xN %{x}, %c
  %{to}n = not.mxN %{to}d
  %{to}e = and.mxN %{to}c, %{to}n
  %{to} = select.f32xN %{to}e, %{x}, %c)"),
        {"j", "k", "l", "m"});
  for (const Components of : {Components{2, 32, 8}, Components{2, 64, 16}, Components{2, 64, 32}})
    check(of, "surface3", "surface3", R"(
  %jc = cmp_lt.f32xN %x, %a
  %kc = cmp_lt.f32xN %y, %b
  %jd = cmp_gt.f32xN %x, %c
  %kd = cmp_gt.f32xN %y, %c
  %je = or.mxN %jc, %jd
  %ke = or.mxN %kc, %kd
  %j = select.f32xN %je, %x, %c
  %k = select.f32xN %ke, %y, %c)",
          {"j", "k"});
  check("surface3", "  %some = constant.mxN 0x5ad2\n" + each("  %{to} = select.f32xN %some, %{x}, %{a}\n"),
        {"j", "k", "l", "m"});
}

TEST_CASE("components that are treated alike by numbers that are equal, and that are computed twice") {
  const auto all = [](std::string_view op, std::string_view last) {
    std::string body;
    for (const auto& [to, x] : {std::pair{"j", "x"}, {"k", "y"}, {"l", "z"}, {"m", "w"}})
      body += fmt::format(fmt::runtime(std::string_view(to) == "m" ? last : op), fmt::arg("to", to),
                          fmt::arg("x", x));
    return body;
  };
  constexpr std::string_view scale = R"(
  %{to}c = constant.f32xN 0x40000000
  %{to}d = fma.f32xN %{to}c, %s, %c
  %{to} = mul.f32xN %{x}, %{to}d)";
  check("surface3", all(scale, scale), {"j", "k", "l", "m"});
  constexpr std::string_view of_another = R"(
  %{to}c = constant.f32xN 0x40400000
  %{to}d = fma.f32xN %{to}c, %s, %c
  %{to} = mul.f32xN %{x}, %{to}d)";
  check("surface3", all(scale, of_another), {"j", "k", "l", "m"});
  // Words that are other ones in every second lane become dwords.
  constexpr std::string_view of_words = R"(
  %{to}c = constant.u32xN 0x30002
  %{to}words = recast.u16.u32x2N %{to}c
  %{to}v = convert.f32.u16x2N %{to}words
  %{to}d = slice.f32xN %{to}v, 0
  %{to} = mul.f32xN %{x}, %{to}d)";
  check("surface3", all(of_words, of_words), {"j", "k", "l", "m"});
  constexpr std::string_view twice = R"(
  %{to}1 = mul.f32xN %{x}, %s
  %{to}2 = mul.f32xN %{x}, %s
  %{to} = add.f32xN %{to}1, %{to}2)";
  constexpr std::string_view once = R"(
  %{to}1 = mul.f32xN %{x}, %s
  %{to} = add.f32xN %{to}1, %{to}1)";
  check("surface3", all(twice, twice), {"j", "k", "l", "m"});
  check("surface3", all(twice, once), {"j", "k", "l", "m"});
}

TEST_CASE("components that are multiplied, of which only low halves are stored, or high ones as well") {
  std::string product;
  for (const auto& [to, x, a] :
       {std::tuple{"j", "x", "a"}, {"k", "y", "b"}, {"l", "z", "g"}, {"m", "w", "h"}})
    product += fmt::format(R"(
  %{0}first = bitcast.u32.f32xN %{1}
  %{0}second = bitcast.u32.f32xN %{2}
  %{0}low, %{0}high = mul_wide.u32xN %{0}first, %{0}second
  %{0} = bitcast.f32.u32xN %{0}low
  %{0}2 = bitcast.f32.u32xN %{0}high)",
                           to, x, a);
  check("surface3", product, {"j", "k", "l", "m"});
  check("surface3", product, {"j2", "k2", "l2", "m2"});
  check("surface3", product, {"j", "k", "l2", "m2"});
}
