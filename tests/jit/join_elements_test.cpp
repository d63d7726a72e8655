// Elements of two surfaces that share no memory are loaded and stored in any order, at addresses that are
// constants apart or not. Joined or not, every engine leaves what the reference engine leaves.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "tests/jit/text_cases.hpp"
#include "tests/jit/two_places.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

constexpr unsigned other_ids_place = 256;

class AccessSequence {
 public:
  AccessSequence(std::uint64_t seed, unsigned lanes) : random_(seed), lanes_(lanes) {}

  /// Some accesses of elements of one size. What has been loaded is added up and stored in shared local
  /// memory.
  std::string text() {
    const unsigned element = 1u << below(3), count = 2 + below(7);
    stride_ = element * (chance(70) ? std::bit_ceil(count) : count);
    text_ =
        two_places(lanes_, stride_) + fmt::format(R"(
  %other = reg_read.u32x{0} r8<1;1,0>
  %words = convert.u16.u32x{0} %other
  %limited = convert.u32.u16x{0} %words
  %step = constant.u32x{0} {2}
  %far = mul.u32x{0} %{3}, %step
  %r = add.u32x{0} %far, %bases
  %e = mask_get.mx{0} mask0
  %v0 = reg_read.u{1}x{0} r12<1;1,0>
  %sum0 = constant.u32x{0} 0
)",
                                                  lanes_, 8 * element, chance(70) ? stride_ : element * count,
                                                  chance(50) ? "other" : "limited");
    if (chance(50)) {
      const char place = "ppqr"[below(4)];
      for (unsigned k = 0; k < count; ++k) {
        load(place, World::surface, element * k, element);
        store(place, World::disjoint_surface, element * k, element);
      }
    } else {
      for (unsigned k = 0; k < 3 * count; ++k) {
        const char place = "pppprrrq"[below(8)];
        const unsigned surface = chance(50) ? World::surface : World::disjoint_surface;
        const unsigned offset = element * below(chance(90) ? count : 2 * count);
        chance(40) ? load(place, surface, offset, element) : store(place, surface, offset, element);
      }
    }
    text_ += fmt::format(R"(  %two = constant.u32x{0} 2
  %place = shl.u32x{0} %ids, %two
  store.u32x{0} slm[%place], %sum{1}
  exit
)",
                         lanes_, values_);
    return std::move(text_);
  }

 private:
  unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
  bool chance(unsigned percent) { return below(100) < percent; }

  std::string address(char place, unsigned offset) {
    const unsigned id = addresses_++;
    text_ += fmt::format("  %o{0} = constant.u32x{1} {2}\n  %a{0} = add.u32x{1} %{3}, %o{0}\n", id, lanes_,
                         offset, place);
    return fmt::format("%a{}", id);
  }
  void load(char place, unsigned surface, unsigned offset, unsigned element) {
    const std::string from = address(place, offset);
    const unsigned before = values_++;
    text_ += fmt::format(
        "  %v{0} = load.u{1}x{2} surface{3}[{4}]{5}\n  %w{0} = convert.u32.u{1}x{2} %v{0}\n"
        "  %sum{0} = add.u32x{2} %sum{6}, %w{0}\n",
        values_, 8 * element, lanes_, surface, from, mask(), before);
  }
  void store(char place, unsigned surface, unsigned offset, unsigned element) {
    const std::string to = address(place, offset);
    text_ += fmt::format("  %n{0} = not.u{1}x{2} %v{3}\n  store.u{1}x{2} surface{4}[{5}], %n{0}{6}\n",
                         addresses_, 8 * element, lanes_, values_, surface, to, mask());
  }
  const char* mask() { return chance(80) ? " ? %e" : ""; }

  Random random_;
  unsigned lanes_, stride_ = 0, addresses_ = 0, values_ = 0;
  std::string text_;
};

}  // namespace

TEST_CASE("elements side by side are loaded and stored in any order") {
  constexpr std::uint64_t sequences = 400 / EUMULATE_STEP;
  static World expected, found;
  constexpr std::uint32_t all = World::surface_bytes;
  for (std::uint64_t seed = 1; seed <= sequences; ++seed) {
    const unsigned lanes = seed % 2 != 0 ? 16 : 8;
    const Function function = function_of_text(AccessSequence(seed, lanes).text());
    CompileOptions options{.exact_registers = false};
    const auto reference = compiled(*make_reference_engine(), function, options);
    // Ids go on through all lanes, or through eight each.
    const unsigned run = seed % 3 == 0 ? 8 : lanes;
    options.launch.ids = {id_place, lanes, run};
    options.launch.disjoint_surfaces = true;
    for (const auto& engine : other_engines()) {
      const auto other = compiled(*engine, function, options);
      for (const std::uint32_t base : {0u, 64u, 97u, all - 128, all - 66, all - 5, ~0u - 30, ~0u - 3})
        for (const std::uint32_t on : {0xffffu, 0x00f1u}) {
          for (World* world : {&expected, &found}) {
            world->reset(function, base + seed);
            world->masks()[0] = on & lane_mask(lanes);
            for (std::uint32_t lane = 0; lane < lanes; ++lane) {
              const auto id = static_cast<std::uint16_t>(lane ^ (lanes - run));
              std::memcpy(world->file() + id_place + std::size_t{2} * lane, &id, sizeof id);
            }
            const std::uint32_t end = base + 4 * static_cast<std::uint32_t>(seed % 3);
            std::memcpy(world->file() + base_place, &base, sizeof base);
            std::memcpy(world->file() + end_place, &end, sizeof end);
            for (std::uint32_t lane = 0; lane < lanes; ++lane) {
              const std::uint32_t id = lane * 5 % 7;
              std::memcpy(world->file() + other_ids_place + 4 * lane, &id, sizeof id);
            }
          }
          INFO("seed " << seed << ", base " << base << ", channels " << on);
          REQUIRE(difference(expected.run(*reference), found.run(*other), false).empty());
        }
    }
  }
}
