// Both halves of the channels store at their places under masks, some of which are those of branches. Joined
// or not, every engine leaves what the reference engine leaves.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "tests/jit/random_text.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/two_places.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

constexpr unsigned lanes = 16, half = 8, number_place = 384;

class StoreSequence : RandomText {
 public:
  explicit StoreSequence(std::uint64_t seed) : RandomText(seed) {}

  std::string text() {
    bytes_ = 1u << below(3);
    text_ = two_places(lanes, chance(70) ? bytes_ : bytes_ * 2 * below(3) / 2);
    line("  %e = mask_get.mx{} mask0", lanes);
    line("  %n = reg_read.u32x{} r12<1;1,0>", lanes);
    line("  %sum0 = constant.u32x{} 0", half);
    line("  %unlike = add.u32x{} %p, %n", lanes);
    for (unsigned k = 0; k < conditions; ++k) {
      line("  %limit{} = constant.u32x{} {}", k, lanes, 40 + 60 * k);
      const bool is_complement = chance(50);
      line("  %{3}{0} = cmp_{1}.u32x{2} %n, %limit{0}", k, chance(50) ? "lt" : "ge", lanes,
           is_complement ? "b" : "c");
      if (is_complement) line("  %c{0} = not.mx{1} %b{0}", k, lanes);
    }
    masks_ = {"e"};
    while (masks_.size() < 7) part(masks_[below(static_cast<unsigned>(masks_.size()))]);
    for (unsigned k = 4 + below(12); k-- > 0;) {
      if (chance(10)) load();
      if (chance(70)) store_both();
      if (chance(30)) store(below(2), "pq"[below(2)], masks_[below(static_cast<unsigned>(masks_.size()))]);
    }
    line("  %two = constant.u32x{} 2", half);
    line("  %first = slice.u32x{} %ids, 0", half);
    line("  %place = shl.u32x{} %first, %two", half);
    line("  store.u32x{} slm[%place], %sum{}\n  exit", half, sums_);
    return std::move(text_);
  }

 private:
  static constexpr unsigned conditions = 3;

  /// The channels of a mask that fulfil a condition, and those that do not.
  void part(const std::string& of) {
    const unsigned id = names_++, condition = below(conditions);
    line("  %m{} = and.mx{} %c{}, %{}", id, lanes, condition, of);
    line("  %o{} = andn.mx{} %c{}, %{}", id, lanes, condition, of);
    masks_.push_back(fmt::format("m{}", id));
    masks_.push_back(fmt::format("o{}", id));
  }

  /// Mostly what an `if` and its else do, one after the other.
  void store_both() {
    const char place = "pppppu"[below(6)];
    const auto of = static_cast<std::size_t>(1 + 2 * below(static_cast<unsigned>(masks_.size() - 1) / 2));
    const unsigned last = chance(90) ? 1 : 0;
    for (unsigned branch = 0; branch <= last; ++branch)
      for (const unsigned part : {0u, 1u})
        if (chance(95)) store(part, place, masks_[of + branch]);
  }

  std::string address(unsigned part, char place) {
    const unsigned id = names_++, offset = chance(80) ? 0 : bytes_ * below(5);
    const std::string from = place == 'u' ? "unlike" : std::string(1, place);
    line("  %s{} = slice.u32x{} %{}, {}", id, half, from, half * part);
    line("  %k{} = constant.u32x{} {}", id, half, offset);
    line("  %a{0} = add.u32x{1} %s{0}, %k{0}", id, half);
    return fmt::format("%a{}", id);
  }
  void store(unsigned part, char place, const std::string& mask) {
    const std::string to = address(part, place);
    const unsigned id = names_++;
    if (chance(50)) {
      line("  %w{} = constant.u32x{} {}", id, half, below(256));
    } else {
      line("  %g{} = slice.u32x{} %n, {}", id, half, half * part);
      line("  %h{} = constant.u32x{} {}", id, half, below(256));
      line("  %w{0} = xor.u32x{1} %g{0}, %h{0}", id, half);
    }
    std::string data = fmt::format("%w{}", id);
    if (bytes_ < 4) {
      line("  %d{0} = convert.u{1}.u32x{2} %w{0}", id, 8 * bytes_, half);
      data = fmt::format("%d{}", id);
    }
    line("  %t{} = slice.mx{} %{}, {}", id, half, mask, half * part);
    line("  store.u{}x{} surface{}[{}], {} ? %t{}", 8 * bytes_, half,
         chance(85) ? World::surface : World::disjoint_surface, to, data, id);
  }
  /// What has been stored is seen in between.
  void load() {
    const std::string from = address(below(2), "pq"[below(2)]);
    const unsigned before = sums_++;
    line("  %l{} = load.u{}x{} surface{}[{}]", sums_, 8 * bytes_, half,
         chance(70) ? World::surface : World::disjoint_surface, from);
    if (bytes_ < 4) line("  %v{0} = convert.u32.u{1}x{2} %l{0}", sums_, 8 * bytes_, half);
    line("  %sum{0} = add.u32x{1} %sum{2}, %{3}{0}", sums_, half, before, bytes_ < 4 ? "v" : "l");
  }

  unsigned bytes_ = 4, names_ = 0, sums_ = 0;
  std::vector<std::string> masks_;  // then pairs of both branches
};

}  // namespace

TEST_CASE("stores of branches to the same places") {
  constexpr std::uint64_t sequences = 600 / EUMULATE_STEP;
  static World expected, found;
  constexpr std::uint32_t all = World::surface_bytes;
  for (std::uint64_t seed = 1; seed <= sequences; ++seed) {
    const Function function = function_of_text(StoreSequence(seed).text());
    CompileOptions options{.exact_registers = false};
    const auto reference = compiled(*make_reference_engine(), function, options);
    // Ids go on through all lanes, or through eight each.
    const unsigned run = seed % 3 == 0 ? half : lanes;
    options.launch.ids = {id_place, lanes, run};
    options.launch.disjoint_surfaces = true;
    for (const auto& engine : other_engines()) {
      const auto other = compiled(*engine, function, options);
      for (const std::uint32_t base : {0u, 97u, all - 33, all - 5, ~0u - 30})
        for (const std::uint32_t on : {0xffffu, 0x71f1u}) {
          for (World* world : {&expected, &found}) {
            world->reset(function, base + seed);
            world->masks()[0] = on;
            const std::uint32_t end = base + static_cast<std::uint32_t>(seed % 5);
            std::memcpy(world->file() + base_place, &base, sizeof base);
            std::memcpy(world->file() + end_place, &end, sizeof end);
            for (std::uint32_t lane = 0; lane < lanes; ++lane) {
              const auto id = static_cast<std::uint16_t>(lane ^ (seed % 2 == 0 ? lanes - run : 0));
              std::memcpy(world->file() + id_place + std::size_t{2} * lane, &id, sizeof id);
              const std::uint32_t number = (lane * 37 + base) % 200;
              std::memcpy(world->file() + number_place + std::size_t{4} * lane, &number, sizeof number);
            }
          }
          INFO("seed " << seed << ", base " << base << ", channels " << on);
          REQUIRE(difference(expected.run(*reference), found.run(*other), false).empty());
        }
    }
  }
}
