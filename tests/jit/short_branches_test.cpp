// Random functions of nested ifs, loops and breaks, as frontend/eu lowers them. Engines that execute the code
// skipped by a branch under a mask instead leave what the reference engine leaves, count the same
// instructions, and have the same channels active and parked when an access faults.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>

#include "frontend/ir/builder.hpp"
#include "frontend/ir/printer.hpp"
#include "jit/passes/passes.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

class StructuredFunction {
 public:
  StructuredFunction(Random& random, unsigned simd) : random_(random), b_(function_) {
    function_.name = "structured";
    function_.family = "gen9";
    function_.simd = simd;
    function_.file_bytes = 16 * register_bytes();
    begin_block();
  }

  Function make() {
    statements(3);
    // The final register contents of each channel.
    const ValueId on = b_.mask_get(0);
    for (unsigned r = 0; r < registers; ++r) {
      const ValueId value = read(r, on);
      b_.store({.surface = World::surface, .offset = r * 4 * function_.simd}, lane_bytes(), {&value, 1}, on);
    }
    b_.exit();
    return std::move(function_);
  }
  Function make_ifs(unsigned count) {
    const unsigned at_end = new_variable();
    for (unsigned i = 0; i < count; ++i) {
      const ValueId staying = part(at_end);
      const BlockId inner = later_block(), end = later_block();
      b_.branch_any(staying, inner, end);
      begin(inner);
      compute();
      b_.jump(end);
      begin(end);
      reconverge(at_end);
    }
    b_.exit();
    return std::move(function_);
  }

 private:
  static constexpr unsigned registers = 6;
  static constexpr std::array flag_places{0u, 32u};

  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  bool chance(unsigned percent) { return below(100) < percent; }
  unsigned register_bytes() const { return std::max(32u, 4 * function_.simd); }
  Region place(unsigned r) const { return Region::packed(r * register_bytes()); }
  unsigned flag() { return flag_places[below(flag_places.size())]; }
  ValueId number(std::uint64_t bits) { return b_.constant(Type::u32, function_.simd, bits); }
  ValueId lane_bytes() {
    PoolEntry lanes{};
    for (unsigned i = 0; i < max_lanes; ++i) lanes[i] = 4 * i;
    return b_.vconst(Type::u32, function_.simd, lanes);
  }
  ValueId read(unsigned r, ValueId mask = no_value) {
    return b_.reg_read(Type::u32, function_.simd, place(r), mask);
  }

  void begin_block() { begin(function_.add_block(ip_ += 8)); }
  void begin(BlockId block) {
    b_.set_block(block);
    function_.blocks[block].guest_ip = ip_;
    function_.blocks[block].guest_instructions = 1 + below(4);
    b_.set_guest_ip(ip_);
  }
  BlockId later_block() { return function_.add_block(ip_ += 8); }
  unsigned new_variable() { return function_.mask_variables++; }

  void compute() {
    constexpr std::array ops{Op::add, Op::sub, Op::xor_, Op::mul, Op::and_, Op::max};
    b_.set_guest_ip(ip_ += 8);
    const ValueId on = b_.mask_get(0), a = read(below(registers), on), c = read(below(registers), on);
    b_.reg_write(place(below(registers)), b_.lanewise(ops[below(ops.size())], {a, c}), on);
  }
  /// A scalar op, done whatever channels are active; its result is not always used afterwards.
  void compute_scalar() {
    b_.set_guest_ip(ip_ += 8);
    const Region at = Region::packed((registers + below(2)) * register_bytes());
    const ValueId one = b_.reg_read(Type::u32, 1, at);
    if (chance(50)) b_.reg_write(at, b_.lanewise(Op::add, {one, b_.constant(Type::u32, 1, 3)}));
    const ValueId on = b_.mask_get(0);
    b_.reg_write(place(below(registers)), b_.splat(one, function_.simd), on);
  }
  /// Whole registers or flags, done whatever channels are active.
  void compute_in_all() {
    b_.set_guest_ip(ip_ += 8);
    const ValueId value = read(below(registers));
    if (chance(50)) return b_.reg_write(place(below(registers)), b_.lanewise(Op::xor_, {value, number(5)}));
    const unsigned lanes = std::max(function_.simd, 8u << below(3));
    b_.flag_write(flag(), chance(50) ? b_.constant(Type::m, lanes, below(2) * lane_mask(lanes))
                                     : b_.lanewise(Op::not_, {b_.flag_read(lanes, flag())}));
  }
  void compare() {
    constexpr std::array ops{Op::cmp_lt, Op::cmp_eq, Op::cmp_gt, Op::cmp_ne};
    b_.set_guest_ip(ip_ += 8);
    const ValueId on = b_.mask_get(0), bits = number(chance(50) ? 1 : 7);
    const ValueId a = b_.lanewise(Op::and_, {read(below(registers), on), bits});
    const ValueId c = b_.lanewise(Op::and_, {read(below(registers), on), bits});
    const unsigned f = flag();
    ValueId mask = on;
    if (chance(40)) {
      const ValueId before = b_.flag_read(function_.simd, chance(70) ? f : flag());
      mask = b_.lanewise(chance(50) ? Op::and_ : Op::andn, {before, on});
    }
    b_.flag_write(f, b_.compare(ops[below(ops.size())], a, c), mask);
  }
  void access(bool stores) {
    b_.set_guest_ip(ip_ += 8);
    const ValueId on = b_.mask_get(0);
    // Mostly within the surface, which never faults, or within the region, which seldom does.
    const ValueId address = b_.lanewise(Op::and_, {read(below(registers), on), number(0x3fc)});
    const bool faults = chance(20);
    const MemoryAccess where = faults
                                   ? MemoryAccess{.space = MemSpace::A32, .offset = World::low_region - 0x40}
                                   : MemoryAccess{.surface = World::surface};
    if (!stores) return b_.reg_write(place(below(registers)), b_.load(Type::u32, where, address, on), on);
    const ValueId value = read(below(registers), on);
    b_.store({.surface = World::surface}, address, {&value, 1}, on);
  }

  void statements(unsigned depth) {
    const unsigned count = 1 + below(3);
    for (unsigned i = 0; i < count; ++i) {
      const unsigned what = below(100);
      if (what < 30) compute();
      if (what < 40) compare();
      if (what >= 40 && what < 50) access(chance(15));
      if (what >= 50 && what < 55) compute_scalar();
      if (what >= 55 && what < 57) compute_in_all();
      if (what >= 57 && what < 87 && depth > 0) branch(depth - 1);
      if (what >= 87 && what < 93 && depth > 1) loop(depth - 1);
      if (what >= 93 && loop_exit_ != 0) leave_loop();
    }
  }

  void park(unsigned variable, ValueId channels) {
    b_.mask_set(variable, b_.lanewise(Op::or_, {b_.mask_get(variable), channels}));
  }
  ValueId none() { return b_.constant(Type::m, function_.simd, 0); }
  ValueId reconverge(unsigned variable) {
    const ValueId parked = b_.mask_get(variable), on = b_.mask_get(0);
    const ValueId all = b_.lanewise(Op::or_, {on, parked});
    b_.mask_set(0, all);
    b_.mask_set(variable, none());
    return all;
  }
  /// Splits the active channels: returns those that continue; the others are parked.
  ValueId part(unsigned variable) {
    const ValueId on = b_.mask_get(0);
    ValueId condition = b_.flag_read(function_.simd, flag());
    if (chance(30)) condition = b_.lanewise(Op::not_, {condition});
    const ValueId staying = b_.lanewise(Op::and_, {on, condition});
    park(variable, b_.lanewise(Op::andn, {staying, on}));
    b_.mask_set(0, staying);
    return staying;
  }

  void branch(unsigned depth) {
    if (chance(70)) compare();
    const unsigned at_end = new_variable(), at_other = chance(50) ? new_variable() : 0;
    const ValueId staying = part(at_other != 0 ? at_other : at_end);
    const BlockId inner = later_block(), other = at_other != 0 ? later_block() : no_block,
                  end = later_block();
    b_.branch_any(staying, inner, at_other != 0 ? other : end);
    begin(inner);
    statements(depth);
    if (at_other != 0) {
      park(at_end, b_.mask_get(0));
      b_.mask_set(0, none());
      b_.branch_any(b_.mask_get(at_other), other, end);
      begin(other);
      reconverge(at_other);
      statements(depth);
    }
    b_.jump(end);
    begin(end);
    const ValueId all = reconverge(at_end);
    // Sometimes a branch follows that is taken if no channel is active.
    if (loop_end_ == no_block || chance(50)) return;
    const BlockId next = later_block();
    b_.branch_any(all, next, loop_end_);
    begin(next);
  }

  void leave_loop() {
    compare();
    const ValueId on = b_.mask_get(0),
                  taken = b_.lanewise(Op::and_, {on, b_.flag_read(function_.simd, flag())});
    const ValueId staying = b_.lanewise(Op::andn, {taken, on});
    park(loop_exit_, taken);
    b_.mask_set(0, staying);
    const BlockId next = later_block();
    b_.branch_any(staying, next, loop_end_);
    begin(next);
  }

  void loop(unsigned depth) {
    const unsigned counter = registers + 2 + depth, exit_before = loop_exit_;
    const BlockId end_before = loop_end_;
    b_.reg_write(Region::packed(counter * register_bytes()), b_.constant(Type::u32, 1, 1 + below(3)));
    const BlockId head = later_block(), exit = later_block();
    loop_exit_ = new_variable();
    loop_end_ = later_block();
    b_.jump(head);
    begin(head);
    statements(depth);
    b_.jump(loop_end_);
    begin(loop_end_);
    const Region at = Region::packed(counter * register_bytes());
    const ValueId left = b_.lanewise(Op::sub, {b_.reg_read(Type::u32, 1, at), b_.constant(Type::u32, 1, 1)});
    b_.reg_write(at, left);
    const ValueId goes_on = b_.compare(Op::cmp_ne, b_.splat(left, function_.simd), number(0));
    const ValueId on = b_.mask_get(0), staying = b_.lanewise(Op::and_, {on, goes_on});
    park(loop_exit_, b_.lanewise(Op::andn, {staying, on}));
    b_.mask_set(0, staying);
    b_.branch_any(staying, head, exit);
    begin(exit);
    reconverge(loop_exit_);
    loop_exit_ = exit_before;
    loop_end_ = end_before;
  }

  Random& random_;
  Function function_;
  Builder b_;
  std::uint32_t ip_ = 0;
  unsigned loop_exit_ = 0;  // mask variable in which channels that have left the loop are parked
  BlockId loop_end_ = no_block;
};

}  // namespace

TEST_CASE("structured control flow on every engine leaves what the reference engine leaves") {
  constexpr unsigned functions = 1500;
  unsigned joined = 0, faults = 0, runs = 0;
  for (unsigned seed = 0; seed < functions; seed += EUMULATE_STEP) {
    Random random(seed);
    const unsigned simd = std::array{8u, 16u, 32u}[seed % 3];
    const Function function = StructuredFunction(random, simd).make();
    Function passed = copy(function);
    short_branches(passed);
    joined += passed.blocks.size() < function.blocks.size();
    const auto reference = compiled(*make_reference_engine(), function);
    for (const auto& engine : other_engines()) {
      const auto other = compiled(*engine, function, {.exact_registers = false});
      static World expected, found;
      for (unsigned run = 0; run < 6; ++run) {
        const std::uint32_t all = lane_mask(simd);
        const std::uint32_t on = run < 3 ? all : run == 5 ? 0 : static_cast<std::uint32_t>(random()) & all;
        for (World* world : {&expected, &found}) {
          world->reset(function, seed * 8 + run);
          std::fill_n(world->masks(), function.mask_variables, 0);
          world->masks()[0] = on;
        }
        INFO(fmt::format("seed {}, {} channels, on {:#x}, engine {}\n{}", seed, simd, on, engine->name(),
                         print(function)));
        const FinalState wanted = expected.run(*reference);
        faults += wanted.status == Status::Faulted;
        ++runs;
        REQUIRE(difference(wanted, found.run(*other), false) == "");
      }
    }
  }
  // The functions exercise what they are meant to: many branches are joined, and some runs fault.
  CHECK(joined * EUMULATE_STEP > functions / 3);
  CHECK(faults > runs / 50);
  CHECK(faults < runs / 2);
}

TEST_CASE("ifs one after the other become one block, however many they are") {
  constexpr unsigned ifs = 3000;
  Random random(1);
  Function function = StructuredFunction(random, 8).make_ifs(ifs);
  REQUIRE(function.blocks.size() == 2 * ifs + 1);
  short_branches(function);
  CHECK(function.blocks.size() == 1);
}
