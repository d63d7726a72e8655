// Loops in which each lane stores along a row of its own leave what the reference engine's leave: wherever
// rows are and end, whether they overlap, whichever channels are active, and however many turns there are.
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

/// Places in the register file: r2 holds the counter and the limit, and then their high halves; or, of each
/// lane, r4 and r6; r8 where the rows begin that are stored, r10 those that are loaded, r12 a number.
constexpr unsigned counter_place = 64, limit_place = 68, high_place = 72, high_limit_place = 76,
                   counters_place = 128, limits_place = 192, stored_place = 256, loaded_place = 320,
                   number_place = 384;

class LoopText : RandomText {
 public:
  LoopText(std::uint64_t seed, unsigned lanes) : RandomText(seed), lanes_(lanes) {}

  std::string text() {
    const bool leaves = chance(30);  // each lane has a counter and a limit
    bytes_ = 1u << below(3);
    components_ = chance(70) ? 1 : 2 + below(3);
    loads_rows_only_ = chance(25);
    leaves_early_ = chance(20);
    goes_down_ = !leaves && components_ == 1 && chance(20);
    step_ = !goes_down_ && components_ == 1 && chance(30) ? 2u << below(3) : 1;
    is_wide_ = !leaves && !goes_down_ && chance(20);
    line("kernel @k simd {} family gen9 file 1024 slot 32 masks 2", lanes_);
    line("b0: ip 0x0 count 1\n  jump b1");
    line("b1: ip 0x10 count 3 safepoint");
    line("  %e = mask_get.mx{} mask0", lanes_);
    if (leaves) {
      line("  %cs = reg_read.u32x{} r4<1;1,0> ? %e", lanes_);
    } else {
      line("  %c = reg_read.u32x1 r2<1;1,0>\n  %cs = splat.u32x{} %c", lanes_);
    }
    line("  %size = constant.u32x{0} {1}\n  %distance = mul.u32x{0} %cs, %size", lanes_, bytes());
    for (const auto& [name, place] : {std::pair{"p", 8}, std::pair{"q", 10}}) {
      const bool by_register = chance(10);
      line("  %{0}0 = reg_read.u32x{1} r{2}<1;1,0> ? %e\n  %{0}{3} = add.u32x{1} %{0}0, %distance", name,
           lanes_, place, by_register ? "1r" : "");
      if (by_register)
        line("  reg_write.u32x{0} r24<1;1,0>, %{1}1r ? %e\n  %{1} = reg_read.u32x{0} r24<1;1,0> ? %e", lanes_,
             name);
    }
    line("  %n0 = reg_read.u32x{} r12<1;1,0> ? %e", lanes_);
    line("  %v0 = add.u32x{} %n0, %cs", lanes_);
    // Loops with several stores a turn, or none, have little else.
    const bool only_sums = step_ == 1 && chance(15), is_plain = only_sums || (step_ > 1 && chance(80));
    const unsigned ops = is_plain ? 0 : 1 + below(5);
    for (unsigned k = 0; k < ops; ++k) next_value();
    if (!is_plain && chance(20)) {
      // Something from the turn before, of which it may be a sum.
      const unsigned before = values_;
      line("  %old = reg_read.u32x{} r16<1;1,0> ? %e", lanes_);
      combine("old");
      line("  reg_write.u32x{} r16<1;1,0>, %v{} ? %e", lanes_, chance(70) ? before : values_);
    }
    if (only_sums) load(chance(50) ? "p" : "q", World::disjoint_surface, 0);
    const bool sums = only_sums || chance(25);
    for (unsigned k = 0; sums && k < 1 + below(2); ++k) sum_up(26 + 4 * k);
    const bool keeps = !is_plain && chance(30);
    if (keeps) line("  reg_write.u32x{} r18<1;1,0>, %v{} ? %e", lanes_, values_);
    if (!is_plain && chance(25)) {
      // Where the next turn loads from.
      line("  %q1 = {}.u32x{} %q0, %size", chance(70) ? "add" : "xor", lanes_);
      line("  reg_write.u32x{} r10<1;1,0>, %q1 ? %e", lanes_);
      if (chance(30))
        line("  %q2 = add.u32x{0} %q1, %size\n  reg_write.u32x{0} r10<1;1,0>, %q2 ? %e", lanes_);
    }
    if (only_sums || (sums && chance(20))) {
      // Nothing is stored.
    } else if (step_ > 1) {
      store_unrolled();
    } else if (components_ > 1 || chance(15)) {
      store_components();
    } else if (chance(15)) {
      line("  %few0 = cmp_gt.u32x{0} %v0, %n0\n  %few = and.mx{0} %e, %few0", lanes_);
      store("p", World::surface, "few");
    } else {
      store("p", World::surface);
    }
    if (!is_plain && chance(20)) store("q", World::surface);
    if (!is_plain && chance(loads_rows_only_ ? 60 : 20)) {
      if (chance(50)) load("p", World::surface, 0);
      store("p", World::disjoint_surface);
    }
    const bool by_copy = leaves && chance(50);
    leaves ? end_by_lane(by_copy) : end();
    line("b{}: ip 0x40 count 1", by_copy ? 4 : 2);
    if (leaves) line("  %all = mask_get.mx{0} mask1\n  mask_set.mx{0} mask0, %all", lanes_);
    for (const unsigned reg : {26u, 30u})
      if (sums && chance(90)) {
        line("  %sum{0} = reg_read.u32x{1} r{0}<1;1,0>\n  %at{0} = reg_read.u32x{1} r12<1;1,0>", reg, lanes_);
        line("  %to{0} = constant.u32x{1} 252\n  %in{0} = and.u32x{1} %at{0}, %to{0}", reg, lanes_);
        line("  store.u32x{1} slm[%in{0}], %sum{0}", reg, lanes_);
      }
    if (chance(keeps ? 80 : 20)) {
      line("  %left = reg_read.u32x8 {}<1;1,0>", keeps ? "r18" : "r2");
      line("  %places = vconst.u32x8 {{0, 4, 8, 12, 16, 20, 24, 28}}");
      line("  store.u32x8 slm[%places], %left");
    }
    line("  exit");
    return std::move(text_);
  }

  /// From one number that the counter takes to the next.
  unsigned bytes() const { return bytes_ * components_; }
  /// By which it increases.
  unsigned step() const { return step_; }
  bool goes_down() const { return goes_down_; }

 private:
  /// The next value: the one before and another one.
  void combine(std::string_view other) {
    constexpr std::array ops{"add", "sub", "xor", "mul", "min"};
    line("  %v{} = {}.u32x{} %v{}, %{}", values_ + 1, ops[below(ops.size())], lanes_, values_, other);
    ++values_;
  }

  void next_value() {
    const unsigned id = values_;
    switch (loads_rows_only_ ? 5 * below(2) : below(7)) {
      case 0:  // of the row that is stored
        if (loads_rows_only_ || chance(50)) return load("p", World::surface, 0);
        return load("p", World::disjoint_surface, 0);
      case 1:
      case 2:  // of another row, or of neighbours in it
        return load("q", chance(90) ? World::disjoint_surface : World::surface, bytes_ * below(3));
      case 6:  // of every other place
        line("  %f{0} = add.u32x{1} %q, %distance", id, lanes_);
        return load(fmt::format("f{}", id), World::disjoint_surface, 0);
      case 3: {  // of a table
        line("  %m{0} = constant.u32x{1} 252\n  %t{0} = and.u32x{1} %v{0}, %m{0}", id, lanes_);
        line("  %l{0} = load.u32x{1} surface{2}[%t{0}] ? %e", id, lanes_, World::disjoint_surface);
        return combine(fmt::format("l{}", id));
      }
      case 4:  // chosen by a comparison
        line("  %k{0} = constant.u32x{1} 0x80000000\n  %d{0} = cmp_gt.u32x{1} %v{0}, %k{0}", id, lanes_);
        line("  %l{0} = select.u32x{1} %d{0}, %n0, %k{0}", id, lanes_);
        return combine(fmt::format("l{}", id));
      default:
        line("  %l{} = constant.u32x{} {}", id, lanes_, 1 + below(1000));
        return combine(fmt::format("l{}", id));
    }
  }

  void load(std::string_view row, unsigned surface, unsigned offset) {
    const unsigned id = values_;
    line("  %o{0} = constant.u32x{1} {2}\n  %a{0} = add.u32x{1} %{3}, %o{0}", id, lanes_, offset, row);
    line("  %b{} = load.u{}x{} surface{}[{}] ? %e", id, 8 * bytes_, lanes_, surface,
         offset == 0 ? fmt::format("%{}", row) : fmt::format("%a{}", id));
    line("  %l{0} = convert.u32.u{1}x{2} %b{0}", id, 8 * bytes_, lanes_);
    if (chance(20)) by_register(id);
    combine(fmt::format("l{}", id));
  }
  /// Terms go to a register of each lane, integers of any size.
  void sum_up(unsigned reg) {
    constexpr std::array ops{"add", "add", "sub", "xor", "and", "or", "min", "max"};
    const char* op = ops[below(ops.size())];
    const unsigned bits = chance(60) ? 32 : 8u << below(2), terms = 1 + below(3);
    const auto each = fmt::format("{}{}", chance(50) ? "u" : "s", bits),
               type = fmt::format("{}x{}", each, lanes_);
    line("  %sr{0}n0 = reg_read.{1} r{0}<1;1,0> ? %e", reg, type);
    for (unsigned k = 0; k < terms; ++k) {
      if (chance(60)) next_value();
      line("  %st{}n{} = convert.{}.u32x{} %v{}", reg, k, each, lanes_, values_);
      const bool is_turned = chance(20);
      line("  %sr{0}n{1} = {2}.{3} %{4}{0}n{5}, %{6}{0}n{5}", reg, k + 1, chance(95) ? op : "add", type,
           is_turned ? "st" : "sr", k, is_turned ? "sr" : "st");
      if (chance(10)) line("  reg_write.{1} r{0}<1;1,0>, %sr{0}n{2} ? %e", reg, type, k + 1);
    }
    const bool is_masked = chance(10);
    if (is_masked)
      line("  %sm{0}a = cmp_gt.u32x{1} %v{2}, %n0\n  %sm{0} = and.mx{1} %e, %sm{0}a", reg, lanes_, values_);
    line("  reg_write.{1} r{0}<1;1,0>, %sr{0}n{2} ? %{3}", reg, type, terms,
         is_masked ? fmt::format("sm{}", reg) : "e");
  }

  /// What has been loaded goes to a register, of which a part is read.
  void by_register(unsigned id) {
    const unsigned apart = chance(80) ? 1 : 2;
    line("  %fa{0} = cmp_gt.u32x{1} %l{0}, %n0\n  %fb{0} = and.mx{1} %e, %fa{0}", id, lanes_);
    line("  reg_write.u32x{0} r22<{1};1,0>, %l{2} ? %{3}", lanes_, apart, id,
         chance(80) ? "e" : fmt::format("fb{}", id));
    if (chance(25)) {
      line("  %h{0} = reg_read.u32x1 r22.{1}<1;1,0>\n  %g{0} = splat.u32x{2} %h{0}", id, below(lanes_),
           lanes_);
    } else {
      line("  %h{0} = reg_read.u{1}x{2} r22<{3};1,0> ? %e", id, 8 * bytes_, lanes_, apart * 4 / bytes_);
      line("  %g{0} = convert.u32.u{1}x{2} %h{0}", id, 8 * bytes_, lanes_);
    }
    combine(fmt::format("g{}", id));
  }
  void store(const char* row, unsigned surface, const char* mask = "e") {
    const unsigned id = stores_++;
    line("  %s{} = convert.u{}.u32x{} %v{}", id, 8 * bytes_, lanes_, values_);
    line("  store.u{}x{} surface{}[%{}], %s{} ? %{}", 8 * bytes_, lanes_, surface, row, id, mask);
  }

  /// Of which each is computed like the others, or almost.
  void store_components() {
    const auto type = fmt::format("u{}x{}", 8 * bytes_, lanes_);
    std::string set, loaded, stored;
    for (unsigned k = 0; k < components_; ++k) {
      const char* separator = k == 0 ? "" : ", ";
      set += fmt::format("{}{}", separator, k);
      loaded += fmt::format("{}%x{}", separator, k);
      stored += fmt::format("{}%w{}", separator, k);
    }
    const bool is_own = chance(30);
    line("  {} = load.{} surface{}[%{}] {{{}}} ? %e", loaded, type,
         is_own ? World::surface : World::disjoint_surface, is_own || chance(50) ? "p" : "q", set);
    line("  %each = convert.u{}.u32x{} %n0", 8 * bytes_, lanes_);
    // Elements of dwords are computed, too.
    const unsigned parts = bytes_ == 4 && chance(50) ? 2u << below(lanes_ == 8 ? 2 : 1) : 1;
    const auto part = fmt::format("u{}", 32 / parts);
    const bool are_different = chance(40);
    const unsigned number = 1 + below(100);
    for (unsigned k = 0; k < components_; ++k) {
      line("  %y{0}{2} = add.{1} %x{0}, %each", k, type, parts > 1 ? "d" : "");
      if (parts > 1) {
        line("  %r{0} = recast.{1}.u32x{2} %y{0}d", k, part, parts * lanes_);
        line("  %b{0}p = constant.{1}x{2} {3}\n  %s{0}p = xor.{1}x{2} %r{0}, %b{0}p", k, part, parts * lanes_,
             number + (are_different ? k : 0));
        line("  %y{0} = recast.u32.{1}x{2} %s{0}p", k, part, lanes_);
      }
      line("  %z{} = constant.{} {}", k, type, number + (are_different ? k : 0));
      line("  %d{0}m = cmp_gt.{1} %y{0}, %z{0}\n  %w{0} = select.{1} %d{0}m, %y{0}, %{2}{3}", k, type,
           chance(95) ? "z" : "x", chance(95) ? k : 0);
    }
    line("  store.{} surface{}[%p] {{{}}}, {} ? %e", type, World::surface, set, stored);
  }

  /// A turn stores as many elements as it counts, in any order, in places that a sum or an `or` leads to. One
  /// of them may differ from the others.
  void store_unrolled() {
    enum class Odd { Place, Row, Loaded, Added, Nothing };
    const auto odd = chance(40) ? static_cast<Odd>(below(4)) : Odd::Nothing;
    const unsigned odd_one = below(step_), added = below(5), number = below(16);
    const bool is_own = chance(30), turned = chance(30), loads_first = chance(50);
    const auto is_odd = [&](unsigned k, Odd what) { return k == odd_one && odd == what; };
    const char* row = is_own || chance(50) ? "p" : "q";
    const char* sum = chance(50) ? "or" : "add";
    for (unsigned k = 0; k < step_; ++k) {
      const unsigned place = is_odd(k, Odd::Place) ? k + 1 : k;
      line("  %uk{0} = constant.u32x{1} {2}\n  %uc{0} = {3}.u32x{1} %cs, %uk{0}", k, lanes_, place, sum);
      line("  %ud{0} = mul.u32x{1} %uc{0}, %size\n  %up{0} = add.u32x{1} %p0, %ud{0}", k, lanes_);
      line("  %uq{0} = add.u32x{1} %q0, %ud{0}\n  %um{0} = constant.u32x{1} {2}", k, lanes_, number + k);
      line("  %uw{0} = or.u32x{1} %cs, %um{0}", k, lanes_);
    }
    const auto type = fmt::format("u{}x{}", 8 * bytes_, lanes_);
    const auto order = [&](unsigned i) { return turned ? step_ - 1 - i : i; };
    const auto load = [&](unsigned k) {
      const unsigned from = is_odd(k, Odd::Loaded) ? (k + 1) % step_ : k;
      line("  %ux{} = load.{} surface{}[%u{}{}] ? %e", k, type,
           is_own ? World::surface : World::disjoint_surface, is_odd(k, Odd::Row) ? "q" : row, from);
      line("  %ul{0} = convert.u32.u{1}x{2} %ux{0}", k, 8 * bytes_, lanes_);
    };
    const auto value = [&](unsigned k) {
      const unsigned last = values_;
      const std::array others{fmt::format("n{}", 0), fmt::format("uc{}", k), fmt::format("uw{}", k),
                              fmt::format("v{}", last), fmt::format("n{}", 0)};
      const std::string& other = others[is_odd(k, Odd::Added) ? (added + 1) % 4 : added];
      // Nothing is loaded in the last case.
      line("  %us{0} = add.u32x{1} %{2}, %{3}", k, lanes_,
           added == 4 ? fmt::format("uw{}", k) : fmt::format("ul{}", k), other);
      line("  %ut{0} = convert.u{1}.u32x{2} %us{0}", k, 8 * bytes_, lanes_);
    };
    for (unsigned i = 0; loads_first && i < step_; ++i) load(order(i));
    for (unsigned i = 0; i < step_; ++i) {
      const unsigned k = order(i);
      if (!loads_first) load(k);
      value(k);
      line("  store.{} surface{}[%up{}], %ut{} ? %e", type, World::surface, k, k);
    }
  }

  /// Counter and limit have 64 bits.
  void end_wide() {
    line("  %one = constant.u32x1 {}\n  %next, %carry = addc.u32x1 %c, %one", step_);
    line("  reg_write.u32x1 r2<1;1,0>, %next\n  %high = reg_read.u32x1 r2.2<1;1,0>");
    line("  %higher = add.u32x1 %carry, %high\n  reg_write.u32x1 r2.2<1;1,0>, %higher");
    line("  %limit = reg_read.u32x1 r2.1<1;1,0>\n  %end = reg_read.u32x1 r2.3<1;1,0>");
    line("  %less = cmp_lt.u32x1 %next, %limit\n  %same = cmp_eq.u32x1 %higher, %end");
    line(
        "  %both = and.mx1 %less, %same\n  %below = cmp_lt.u32x1 %higher, %end\n  %go = or.mx1 %both, "
        "%below");
    line("  branch_any.mx1 %go, b1, b2");
  }

  void end() {
    if (is_wide_) return end_wide();
    line("  %one = constant.u32x1 {}\n  %next = {}.u32x1 %c, %one\n  reg_write.u32x1 r2<1;1,0>, %next", step_,
         goes_down_ ? "sub" : "add");
    line("  %limit = reg_read.u32x1 r2.1<1;1,0>");
    if (goes_down_) {
      constexpr std::array compares{"cmp_gt.u32x1 %next, %limit", "cmp_lt.u32x1 %limit, %next",
                                    "cmp_ne.u32x1 %limit, %next"};
      line("  %go = {}", compares[below(3)]);
    } else if (step_ > 1) {
      constexpr std::array compares{"cmp_lt.u32x1 %next, %limit", "cmp_ge.u32x1 %limit, %next",
                                    "cmp_lt.u32x1 %c, %limit"};
      line("  %go = {}", compares[below(3)]);
    } else {
      end_by_one();
    }
    line("  branch_any.mx1 %go, b1, b2");
  }
  void end_by_one() {
    switch (below(4)) {
      case 0:
        line("  %go = cmp_lt.u32x1 %next, %limit");
        break;
      case 1:
        line("  %go = cmp_gt.u32x1 %limit, %next");
        // It may come nearer.
        if (chance(30)) line("  %nearer = sub.u32x1 %limit, %one\n  reg_write.u32x1 r2.1<1;1,0>, %nearer");
        break;
      case 2:
        line("  %sn = bitcast.s32.u32x1 %next\n  %sl = bitcast.s32.u32x1 %limit");
        line("  %go = cmp_lt.s32x1 %sn, %sl");
        break;
      default:
        line("  %go = cmp_ne.u32x1 %next, %limit");
        break;
    }
  }
  /// Counters are increased at once, or by a copy in a block of its own, which the channels that go on enter.
  void end_by_lane(bool by_copy) {
    line("  %ones = constant.u32x{0} {1}\n  %next = add.u32x{0} %cs, %ones", lanes_, step_);
    line("  reg_write.u32x{} r{}<1;1,0>, %next ? %e", lanes_, by_copy ? 20 : 4);
    line("  %limit = reg_read.u32x{} r6<1;1,0> ? %e", lanes_);
    line("  %less{1} = cmp_lt.u32x{0} %next, %limit", lanes_, leaves_early_ ? "0" : "");
    if (leaves_early_) {
      line("  %rare = constant.u32x{0} 7\n  %bits = and.u32x{0} %v{1}, %rare", lanes_, values_);
      line("  %stay = cmp_lt.u32x{0} %bits, %rare\n  %less = and.mx{0} %less0, %stay", lanes_);
    }
    line("  %go = and.mx{0} %e, %less", lanes_);
    line("  %out = andn.mx{0} %less, %e\n  %were = mask_get.mx{0} mask1\n  %are = or.mx{0} %were, %out",
         lanes_);
    line("  mask_set.mx{0} mask1, %are\n  mask_set.mx{0} mask0, %go", lanes_);
    line("  branch_any.mx{} %go, {}", lanes_, by_copy ? "b2, b3" : "b1, b2");
    if (!by_copy) return;
    line("b2: ip 0x20 count 1\n  %e = mask_get.mx{0} mask0", lanes_);
    line("  %next = reg_read.u32x{0} r20<1;1,0> ? %e\n  reg_write.u32x{0} r4<1;1,0>, %next ? %e\n  jump b3",
         lanes_);
    line("b3: ip 0x30 count 1\n  %e = mask_get.mx{0} mask0\n  branch_any.mx{0} %e, b1, b4", lanes_);
  }

  bool loads_rows_only_ = false, leaves_early_ = false, goes_down_ = false, is_wide_ = false;
  unsigned lanes_, step_ = 1, bytes_ = 1, components_ = 1, values_ = 0, stores_ = 0;
};

void place_rows(World& world, const Function& function, std::uint64_t seed, unsigned lanes,
                const LoopText& loop, const Rows& rows, std::uint32_t active) {
  world.reset(function, seed);
  world.masks()[0] = active & lane_mask(lanes);
  world.masks()[1] = 0;
  const std::uint32_t bytes = loop.bytes(), step = loop.step();
  put(world, counter_place, loop.goes_down() ? rows.first + rows.turns : rows.first);
  const std::uint32_t more = static_cast<std::uint32_t>(seed / 3) % step;
  const std::uint32_t limit = loop.goes_down() ? rows.first : rows.first + step * rows.turns + more;
  put(world, limit_place, limit);
  // In a few loops the counter is beyond the limit from the beginning on.
  const std::uint32_t high = 1 + static_cast<std::uint32_t>(seed) % 3, beyond = seed % 5 == 0 ? 1 : 0;
  put(world, high_place, high + beyond);
  put(world, high_limit_place, high + (limit < rows.first ? 1 : 0));
  for (unsigned lane = 0; lane < lanes; ++lane) {
    // From the last one on down to the first.
    const std::uint32_t first = rows.first + (loop.goes_down() ? 1 : 0),
                        at = rows.base + lane * rows.apart - first * bytes;
    // If lanes count turns themselves, in every other loop some take fewer.
    const std::uint32_t fewer = seed / 2 % 2 == 0 ? lane % 3 : 0;
    put(world, counters_place + 4 * lane, rows.first);
    put(world, limits_place + 4 * lane, rows.first + step * (rows.turns - std::min(fewer, rows.turns - 1)));
    put(world, stored_place + 4 * lane, at);
    put(world, loaded_place + 4 * lane, at + (seed % 5 == 0 ? 40 : 0));
    put(world, number_place + 4 * lane, 77 * lane + static_cast<std::uint32_t>(seed));
  }
}

}  // namespace

TEST_CASE("rows of lanes are stored in loops, several turns at once") {
  constexpr std::uint64_t loops = 1500 / EUMULATE_STEP;
  static World expected, found;
  for (std::uint64_t seed = 1; seed <= loops; ++seed) {
    const unsigned lanes = seed % 2 != 0 ? 16 : 8;
    LoopText loop(seed, lanes);
    const Function function = function_of_text(loop.text());
    const unsigned bytes = loop.bytes() * loop.step();
    CompileOptions options{.exact_registers = false};
    const auto reference = compiled(*make_reference_engine(), function, options);
    options.launch.disjoint_surfaces = true;
    for (const auto& engine : other_engines()) {
      const auto other = compiled(*engine, function, options);
      const std::uint32_t turns = std::array{1u, 2u, 3u, 16u, 17u, 32u, 33u, 48u, 70u}[seed % 9],
                          row = turns * bytes;
      // No counter passes by the limit at the highest number, as loops would go on.
      constexpr std::uint32_t near_end = ~0u - 99;
      const std::array<Rows, 13> all{{{0, row, 0, turns},
                                      {4, row + 4, 5, turns},
                                      {8, row - 1, 0, turns},
                                      {40, row / 2, 0, turns},
                                      {12, row, loop.step() > 1 ? near_end : ~0u - 3, turns},
                                      {20, row, 0x7fffffff - 3, turns},
                                      {4 - lanes * row, row, 0, turns},
                                      {700, 0u - row, 0, turns},
                                      {0, 0, 0, turns},
                                      {World::surface_bytes - row - 1, row, 3, turns},
                                      {World::surface_bytes - 5 * row, row, 0, turns},
                                      {0u - 3 * row + 4, row, 0, turns},
                                      {0u - row, row, loop.step() > 1 ? near_end : ~0u - 20, turns}}};
      for (const Rows& rows : all)
        for (const std::uint32_t active : {0xffffu, 0x00f1u}) {
          for (World* world : {&expected, &found})
            place_rows(*world, function, seed, lanes, loop, rows, active);
          INFO("seed " << seed << ", base " << rows.base << ", apart " << rows.apart << ", turns " << turns
                       << ", channels " << active);
          const std::string differs = difference(expected.run(*reference), found.run(*other), false);
          INFO(differs);
          REQUIRE(differs.empty());
        }
    }
  }
}
#include "frontend/ir/printer.hpp"
