// Loops in whose turns channels part, and reconverge, and store along rows of their own, leave what the
// reference engine's leave, and count as many instructions: whatever is loaded, computed and stored in either
// branch, wherever rows are, whichever channels are active.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "tests/jit/random_text.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// Places in the register file: r2 holds the counter and the limit, r4 where the rows begin that are stored,
/// r6 those that are loaded, r8 a number. Branches write r10, and r12, which is summed up.
constexpr unsigned counter_place = 64, limit_place = 68, stored_place = 128, loaded_place = 192,
                   number_place = 256, id_place = 448;

class LoopText : RandomText {
 public:
  LoopText(std::uint64_t seed, unsigned lanes) : RandomText(seed), lanes_(lanes) {}

  std::string text() {
    bytes_ = 1u << below(4);
    stores_halves_ = lanes_ == 16 && chance(40);
    line("kernel @k simd {} family gen9 file 1024 slot 32 masks 5", lanes_);
    line("b0: ip 0x0 count 1\n  jump b1");
    begin(1, 3, " safepoint");
    load("q", World::disjoint_surface);
    if (chance(50)) line("  reg_write.u32x{} r10<1;1,0>, %v0 ? %e", lanes_);
    const unsigned exit = 1 + branch(1, chance(40) ? 2 : 1, chance(65));
    body(true);
    if (chance(60)) {
      line("  %back = reg_read.u32x{} r10<1;1,0> ? %e", lanes_);
      store("p", World::surface, "back", "e");
    }
    line("  %one = constant.u32x1 1\n  %next = add.u32x1 %c, %one\n  reg_write.u32x1 r2<1;1,0>, %next");
    line("  %limit = reg_read.u32x1 r2.1<1;1,0>\n  %go = cmp_lt.u32x1 %next, %limit");
    line("  branch_any.mx1 %go, b1, b{0}\nb{0}: ip 0x90 count 1", exit);
    if (chance(70)) {
      line("  %sum = reg_read.u32x{0} r12<1;1,0>\n  %at0 = reg_read.u32x{0} r8<1;1,0>", lanes_);
      line("  %to = constant.u32x{0} 252\n  %at = and.u32x{0} %at0, %to\n  store.u32x{0} slm[%at], %sum",
           lanes_);
    }
    line("  exit");
    return std::move(text_);
  }
  unsigned bytes() const { return bytes_; }

 private:
  /// A block, and what its instructions have in common. Values of blocks have their own names.
  void begin(unsigned block, unsigned count, const char* safepoint = "", unsigned from = 0) {
    line("b{0}: ip 0x{0}0 count {1}{2}", block, count, safepoint);
    values_ = 0;
    if (from == 0) {
      line("  %e = mask_get.mx{} mask0", lanes_);
    } else {
      // As channels reconverge.
      line("  %x = mask_get.mx{0} mask0\n  %k = mask_get.mx{0} mask{1}\n  %e = or.mx{0} %x, %k", lanes_,
           from);
      line("  mask_set.mx{} mask0, %e", lanes_);
      line("  %z = constant.mx{0} 0\n  mask_set.mx{0} mask{1}, %z", lanes_, from);
    }
    line("  %c = reg_read.u32x1 r2<1;1,0>\n  %cs = splat.u32x{} %c", lanes_);
    line("  %size = constant.u32x{0} {1}\n  %distance = mul.u32x{0} %cs, %size", lanes_, bytes_);
    for (const auto& [name, place] : {std::pair{"p", 4}, std::pair{"q", 6}})
      line("  %{0}0 = reg_read.u32x{1} r{2}<1;1,0> ? %e\n  %{0} = add.u32x{1} %{0}0, %distance", name, lanes_,
           place);
    line("  %v0 = reg_read.u32x{} r8<1;1,0> ? %e", lanes_);
  }

  /// Ends the block: channels for which a condition holds go to the next, others to the one behind it, or to
  /// the else; in it the same may be done once more. The block where all are together again begins: its
  /// number.
  unsigned branch(unsigned block, unsigned depth, bool has_else) {
    const bool inner_has_else = chance(65);
    const unsigned parked = depth == 2 ? 3 : 1, done = parked + 1, then = block + 1,
                   inner = depth == 1       ? 0
                           : inner_has_else ? 3
                                            : 2,
                   other = then + 1 + inner, end = has_else ? other + 1 : other;
    constexpr std::array compares{"cmp_gt", "cmp_lt", "cmp_eq", "cmp_le"};
    const char* compare = compares[below(compares.size())];
    line("  %bound = constant.u32x{} {}", lanes_,
         bytes_ == 1 ? below(256) : below(2) * 0x7fffffff + below(9));
    if (chance(40)) {
      // In few lanes, or in none.
      line("  %few = constant.u32x{0} 15\n  %bits = and.u32x{0} %v{1}, %few", lanes_, values_);
      line("  %number = constant.u32x{0} {1}\n  %cond = cmp_eq.u32x{0} %bits, %number", lanes_, below(16));
    } else {
      line("  %cond = {}.u32x{} %v{}, %{}", compare, lanes_, values_, chance(70) ? "bound" : "cs");
    }
    line("  %on = and.mx{0} %cond, %e\n  %off = andn.mx{0} %cond, %e", lanes_);
    line("  %was = mask_get.mx{0} mask{1}\n  %now = or.mx{0} %was, %off\n  mask_set.mx{0} mask{1}, %now",
         lanes_, parked);
    line("  mask_set.mx{0} mask0, %on\n  branch_any.mx{0} %on, b{1}, b{2}", lanes_, then, other);
    begin(then, 1 + below(4));
    body(false);
    if (inner != 0) {
      branch(then, 1, inner_has_else);
      body(false);
    }
    if (has_else) {
      line("  %d = mask_get.mx{0} mask{1}\n  %dn = or.mx{0} %d, %e\n  mask_set.mx{0} mask{1}, %dn", lanes_,
           done);
      line("  %gone = constant.mx{0} 0\n  mask_set.mx{0} mask0, %gone", lanes_);
      line("  %rest = mask_get.mx{0} mask{1}\n  branch_any.mx{0} %rest, b{2}, b{3}", lanes_, parked, other,
           end);
      begin(other, 1 + below(4), "", parked);
      body(false);
    }
    line("  jump b{}", end);
    begin(end, 1 + below(3), "", has_else ? done : parked);
    return end;
  }

  /// What a branch, or what follows, does.
  void body(bool is_rare) {
    for (unsigned k = 0; k < below(3); ++k) chance(50) ? load_some() : compute();
    if (!is_rare && chance(40)) line("  reg_write.u32x{} r10<1;1,0>, %v{} ? %e", lanes_, values_);
    if (!is_rare && chance(25)) {
      constexpr std::array ops{"add", "sub", "xor", "or", "and"};
      const char* op = ops[below(ops.size())];
      line("  %sold = reg_read.u32x{} r12<1;1,0> ? %e", lanes_);
      line("  %sone = {}.u32x{} %sold, %v{}", op, lanes_, values_);
      const bool is_more = chance(25);
      if (is_more) line("  %smore = {}.u32x{} %sone, %v0", op, lanes_);
      line("  reg_write.u32x{} r12<1;1,0>, %{} ? %e", lanes_, is_more ? "smore" : "sone");
    }
    if (!chance(is_rare ? 10 : 70)) return;
    store(chance(95) ? "p" : "q", World::surface, fmt::format("v{}", values_), "e");
    if (chance(20)) store("p", World::disjoint_surface, fmt::format("v{}", values_), "e");
  }
  void compute() {
    constexpr std::array ops{"add", "sub", "xor", "mul", "min", "quot"};
    const char* op = ops[below(ops.size())];
    line("  %n{0} = constant.u32x{1} {2}\n  %v{3} = {4}.u32x{1} %v{0}, %n{0}", values_, lanes_, 1 + below(99),
         values_ + 1, op);
    ++values_;
  }
  void load_some() {
    if (chance(70)) return load("q", World::disjoint_surface);
    load("p", World::surface);
  }
  void load(const char* row, unsigned surface) {
    const unsigned id = values_;
    const auto type = fmt::format("u{}x{}", 8 * bytes_, lanes_);
    line("  %l{} = load.{} surface{}[%{}] ? %e", id, type, surface, row);
    line("  %w{0} = convert.u32.{1} %l{0}\n  %v{2} = add.u32x{3} %v{0}, %w{0}", id, type, id + 1, lanes_);
    if (bytes_ == 4) text_.replace(text_.rfind("convert.u32.u32"), 15, "bitcast.u32.u32");
    ++values_;
  }
  void store(const char* row, unsigned surface, std::string_view value, const char* mask) {
    const unsigned id = stores_++;
    const auto type = fmt::format("u{}x{}", 8 * bytes_, lanes_);
    line("  %s{} = {}.{}.u32x{} %{}", id, bytes_ == 4 ? "bitcast" : "convert", fmt::format("u{}", 8 * bytes_),
         lanes_, value);
    if (!stores_halves_) {
      line("  store.{} surface{}[%{}], %s{} ? %{}", type, surface, row, id, mask);
      return;
    }
    for (const unsigned first : {0u, lanes_ / 2}) {
      line("  %sp{0}n{1} = slice.u32x{2} %{3}, {1}\n  %sm{0}n{1} = slice.mx{2} %{4}, {1}", id, first,
           lanes_ / 2, row, mask);
      line("  %sd{0}n{1} = slice.u{2}x{3} %s{0}, {1}", id, first, 8 * bytes_, lanes_ / 2);
      line("  store.u{0}x{1} surface{2}[%sp{3}n{4}], %sd{3}n{4} ? %sm{3}n{4}", 8 * bytes_, lanes_ / 2,
           surface, id, first);
    }
  }

  bool stores_halves_ = false;
  unsigned lanes_, bytes_ = 1, values_ = 0, stores_ = 0;
};

void place_rows(World& world, const Function& function, std::uint64_t seed, unsigned lanes, unsigned bytes,
                const Rows& rows, std::uint32_t active) {
  world.reset(function, seed);
  world.masks()[0] = active & lane_mask(lanes);
  for (unsigned variable = 1; variable < function.mask_variables; ++variable) world.masks()[variable] = 0;
  put(world, counter_place, rows.first);
  put(world, limit_place, rows.first + rows.turns);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const std::uint32_t at = rows.base + lane * rows.apart - rows.first * bytes;
    put(world, stored_place + 4 * lane, at);
    put(world, loaded_place + 4 * lane, at + (seed % 5 == 0 ? 40 : 0));
    put(world, number_place + 4 * lane, 77 * lane + static_cast<std::uint32_t>(seed));
    const auto id = static_cast<std::uint16_t>(lane);
    std::memcpy(world.file() + id_place + std::size_t{2} * lane, &id, sizeof id);
  }
}

}  // namespace

TEST_CASE("rows are stored under conditions in loops") {
  constexpr std::uint64_t loops = 1500 / EUMULATE_STEP;
  static World expected, found;
  for (std::uint64_t seed = 1; seed <= loops; ++seed) {
    const unsigned lanes = seed % 3 != 0 ? 16 : 8;
    LoopText loop(seed, lanes);
    const std::string text = loop.text();
    INFO(text);
    const Function function = function_of_text(text);
    CompileOptions options{.exact_registers = false};
    const auto reference = compiled(*make_reference_engine(), function, options);
    options.launch.disjoint_surfaces = true;
    options.launch.ids = {id_place, lanes, lanes};
    for (const auto& engine : other_engines()) {
      const auto other = compiled(*engine, function, options);
      const std::uint32_t turns = std::array{1u, 2u, 3u, 16u, 17u, 33u, 48u}[seed % 7],
                          row = turns * loop.bytes();
      const std::array<Rows, 8> all{{{0, row, 0, turns},
                                     {8, row + 8, 5, turns},
                                     {8, row - 1, 0, turns},
                                     {40, row / 2, 0, turns},
                                     {16 - lanes * row, row, 0, turns},
                                     {0, 0, 0, turns},
                                     {World::surface_bytes - 5 * row, row, 0, turns},
                                     {0u - 3 * row + 8, row, 0, turns}}};
      for (const Rows& rows : all)
        for (const std::uint32_t active : {0xffffu, 0x00f1u}) {
          for (World* world : {&expected, &found})
            place_rows(*world, function, seed, lanes, loop.bytes(), rows, active);
          INFO("seed " << seed << ", base " << rows.base << ", apart " << rows.apart << ", turns " << turns
                       << ", channels " << active);
          const std::string differs = difference(expected.run(*reference), found.run(*other), false);
          INFO(differs);
          REQUIRE(differs.empty());
        }
    }
  }
}
