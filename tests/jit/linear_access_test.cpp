// Accesses whose addresses derive from local ids that were promised to be consecutive: every engine does what
// the reference engine does, wherever the run lies in its memory, including around 2^32.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "frontend/ir/builder.hpp"
#include "frontend/ir/printer.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"
#include "tests/optimisations.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

constexpr unsigned id_place = 32, base_place = 3072, limits_place = 128;

struct Site {
  MemoryAccess mem;
  Type type;
  unsigned lanes, components, stride;
  bool store;
  bool masked = false;     ///< under the execution mask
  std::uint32_t cut = 0;   ///< mask applied to addresses, or 0 for none
  unsigned one_place = 0;  ///< if not 0: this many lanes, of stride 0, share one address
  std::uint64_t from = 0;  ///< base of distances, where `mem` uses distances
  bool far = false;        ///< buffers are larger than the caches, and a second one is read

  /// Address of lane i = base + i-th id * stride; loaded values are written from byte 1024 on.
  Function build() const {
    Function function;
    function.name = "linear";
    function.family = "gen9";
    function.simd = lanes;
    function.file_bytes = 4096;
    function.blocks[function.add_block(0x40)].guest_instructions = 1;
    Builder b(function);
    b.set_guest_ip(0x40);
    MemoryAccess access = mem;
    access.components = components;
    const unsigned count = access.component_count();
    const ValueId ids =
        b.convert(Op::convert, Type::u32, b.reg_read(Type::u16, lanes, Region::packed(id_place)));
    const ValueId first_base = b.reg_read(Type::u32, 1, Region::packed(base_place));
    const ValueId base = one_place != 0 ? base_of_each(b, first_base) : b.splat(first_base, lanes);
    ValueId address =
        b.lanewise(Op::add, {b.lanewise(Op::mul, {ids, b.constant(Type::u32, lanes, stride)}), base});
    const ValueId from_base = mem.is_based() ? b.constant(Type::u64, 1, from) : no_value;
    if (mem.space == MemSpace::From) address = b.convert(Op::bitcast, Type::s32, address);
    if (cut != 0) address = b.lanewise(Op::and_, {address, b.constant(Type::u32, lanes, cut)});
    const ValueId mask = masked ? b.mask_get(0) : no_value;
    if (store) {
      std::vector<ValueId> values;
      for (unsigned k = 0; k < count; ++k)
        values.push_back(b.reg_read(type, lanes, Region::packed(512 + 128 * k)));
      b.store(access, address, values, mask, from_base);
    } else {
      const ValueId first = b.load(type, access, address, mask, from_base);
      for (unsigned k = 0; k < count; ++k) b.reg_write(Region::packed(1024 + 256 * k), first + k);
    }
    // The loaded values are used, since otherwise registers that need not be exact could be dropped.
    ValueId all = b.constant(Type::u32, 16, 0);
    for (unsigned k = 0; k < count && !store; ++k)
      for (unsigned at = 0; at < lanes * size_of(type); at += 64)
        all = b.lanewise(Op::add, {b.lanewise(Op::mul, {all, b.constant(Type::u32, 16, 0x9e3779b1)}),
                                   b.reg_read(Type::u32, 16, Region::packed(1024 + 256 * k + at))});
    if (far)
      all = b.load(Type::u32, MemoryAccess::in_surface(World::indirect_surface),
                   b.reg_read(Type::u32, 16, Region::packed(2048)), no_value);
    if (!store || far) b.block_store(MemoryAccess::in(MemSpace::Slm), b.constant(Type::u32, 1, 0), all);
    b.exit();
    return function;
  }

 private:
  ValueId base_of_each(Builder& b, ValueId first) const {
    ValueId all = no_value;
    for (unsigned lane = 0; lane < lanes; lane += one_place) {
      const ValueId own = b.lanewise(Op::add, {first, b.constant(Type::u32, 1, 28 * lane)});
      const ValueId part = b.splat(own, one_place);
      all = all == no_value ? part : b.concat(all, part);
    }
    return all;
  }
};

void check_site(const Site& site, unsigned run) {
  static SiteSample sample(EUMULATE_STEP);
  if (!sample.takes_next()) return;
  const Function function = site.build();
  const auto compile = [&](Engine& engine, bool promise) {
    CompileOptions options{.exact_registers = false};
    if (promise) options.launch.ids = {id_place, site.lanes, run};
    // With `apart`, the code for lanes known not to be a run would be shorter than the code for a run.
    if (!promise) options.optimisations.disable(Optimisation::apart);
    options.launch.beyond_caches = site.far;
    return compiled(engine, function, options);
  };
  const auto reference = compile(*make_reference_engine(), false);
  const bool reduced = eum::test::reduced_by_environment().left != Optimisations();
  for (const auto& engine : other_engines()) {
    const auto plain = compile(*engine, false), promised = compile(*engine, true);
    if (plain->code_bytes() != 0 && !reduced) CHECK(promised->code_bytes() <= plain->code_bytes());
    static World expected, found;
    for (const std::uint32_t base :
         {0u,      4u,       40u,      64u,         100u,        168u,        480u,
          900u,    996u,     1000u,    0x2000u,     0x2100u,     0x21f0u,     0xffe0u,
          0xfffcu, 0x10004u, 0x2fff8u, 0x80000000u, 0xfffffffcu, 0xfffffff0u, 0xffffff80u}) {
      // Some or no channels are active: the run may leave memory in inactive lanes.
      Random random(base + site.stride);
      std::uint32_t on = ~0u;
      if (site.masked) on = static_cast<std::uint32_t>(random() & (random() | 0xff00ff00));
      if (site.masked && random() % 8 == 0) on = 0;
      const auto place = [&](World& world) {
        world.reset(function, base / 4);
        world.masks()[0] = on & lane_mask(site.lanes);
        for (unsigned lane = 0; lane < site.lanes; ++lane) {
          const auto id = static_cast<std::uint16_t>(lane % run + run * (lane / run % 2 == 0 ? 3 : 1));
          std::memcpy(world.file() + id_place + 2 * lane, &id, sizeof id);
        }
        std::memcpy(world.file() + base_place, &base, sizeof base);
      };
      place(expected);
      place(found);
      const std::string problem = difference(expected.run(*reference), found.run(*promised), false);
      if (problem.empty()) continue;
      FAIL_CHECK(fmt::format("base {:#x}, run {}: {}\n{}", base, run, problem, print(function)));
      return;
    }
  }
}

}  // namespace

TEST_CASE("addresses that are promised to go up: in bounds, beyond them, around the end of 32 bits") {
  for (const MemoryAccess& mem : {MemoryAccess::in_surface(World::surface), MemoryAccess::in(MemSpace::A32)})
    for (const auto& [store, masked] :
         {std::pair{false, false}, std::pair{true, false}, std::pair{false, true}, std::pair{true, true}})
      for (const unsigned lanes : {8u, 16u, 32u})
        for (unsigned run = 8; run <= lanes; run *= 2) {
          for (const Type type : {Type::u8, Type::u16, Type::u32, Type::u64})
            if (size_of(type) >= 4 || lanes < 32)
              check_site({mem, type, lanes, 1, size_of(type), store, masked}, run);
          for (const unsigned components : {3u, 15u, 5u, 6u, 9u, 10u, 11u, 13u, 14u})
            check_site({mem, Type::u32, lanes, components, components == 3 ? 8u : 16u, store, masked}, run);
          if (!store) check_site({mem, Type::u32, lanes, 3, 4, store, masked}, run);
        }
}

TEST_CASE("whole lines that are promised, and written past the caches") {
  for (const MemoryAccess& mem : {MemoryAccess::in_surface(World::surface), MemoryAccess::in(MemSpace::A32)})
    for (const bool masked : {false, true})
      for (const unsigned lanes : {16u, 32u})
        for (unsigned run = 16; run <= lanes; run *= 2)
          for (const Type type : {Type::u16, Type::u32, Type::u64}) {
            const unsigned bytes = size_of(type);
            if (bytes < 4 && lanes == 32) continue;
            const auto check = [&, under_mask = masked](unsigned components, unsigned stride) {
              check_site({.mem = mem,
                          .type = type,
                          .lanes = lanes,
                          .components = components,
                          .stride = stride,
                          .store = true,
                          .masked = under_mask,
                          .far = true},
                         run);
            };
            check(1, bytes);
            if (bytes == 4) check(1, 2 * bytes);
            if (bytes >= 4) check(3, 2 * bytes);
            if (bytes == 4) check(15, 4 * bytes);
          }
}

TEST_CASE("addresses of shared local memory that are promised to go up, of which 16 bits count") {
  const MemoryAccess slm = MemoryAccess::in(MemSpace::Slm);
  for (const auto& [store, masked] :
       {std::pair{false, false}, std::pair{true, false}, std::pair{false, true}, std::pair{true, true}})
    for (const unsigned lanes : {8u, 16u, 32u})
      for (unsigned run = 8; run <= lanes; run *= 2)
        for (const std::uint32_t cut : {0xffffu, 0xfffffffu}) {
          for (const Type type : {Type::u8, Type::u16, Type::u32, Type::u64})
            if (size_of(type) >= 4 || lanes < 32)
              check_site({slm, type, lanes, 1, size_of(type), store, masked, cut}, run);
          for (const unsigned components : {3u, 15u, 5u, 6u, 9u, 10u, 11u, 13u, 14u})
            check_site({slm, Type::u32, lanes, components, components == 3 ? 8u : 16u, store, masked, cut},
                       run);
        }
}

TEST_CASE("loads of one address for all lanes, or for each eight of them") {
  for (const MemoryAccess& mem : {MemoryAccess::in_surface(World::surface), MemoryAccess::in(MemSpace::A32),
                                  MemoryAccess::in(MemSpace::Slm)})
    for (const bool masked : {false, true})
      for (const unsigned lanes : {8u, 16u, 32u})
        for (unsigned one = 8; one <= lanes; one *= 2) {
          const std::uint32_t cut = mem.space == MemSpace::Slm ? 0xffff : 0;
          for (const Type type : {Type::u8, Type::u16, Type::u32, Type::u64})
            check_site({mem, type, lanes, 1, 0, false, masked, cut, one}, lanes);
          for (const unsigned components : {3u, 5u, 7u, 15u})
            check_site({mem, Type::u32, lanes, components, 0, false, masked, cut, one}, lanes);
        }
}

TEST_CASE("addresses that are promised to go up by more than what is accessed, or by less, or down") {
  for (const MemoryAccess& mem : {MemoryAccess::in_surface(World::surface), MemoryAccess::in(MemSpace::A32)})
    for (const bool store : {false, true})
      for (const unsigned lanes : {8u, 16u, 32u})
        for (unsigned run = 8; run <= lanes; run *= 2) {
          for (const unsigned stride : {1u, 3u, 4u, 8u, 12u, 16u, 20u, 32u, 66u, 100u})
            for (const unsigned components : {3u, 5u, 7u, 15u})
              check_site({mem, Type::u32, lanes, components, stride, store}, run);
          for (const bool masked : {false, true})
            for (const std::uint32_t stride : {0u - 4u, 0u - 8u})
              check_site({mem, Type::u32, lanes, 1, stride, store, masked}, run);
          for (const Type type : {Type::u8, Type::u16, Type::u32, Type::u64})
            for (const unsigned times : {2u, 3u, 5u})
              if (size_of(type) >= 4 || lanes < 32)
                check_site({mem, type, lanes, 1, times * size_of(type), store}, run);
          for (const unsigned stride : {1u, 3u})
            if (lanes < 32) check_site({mem, Type::u16, lanes, 1, stride, store}, run);
        }
}

TEST_CASE("distances that are promised to go up or down") {
  for (const MemSpace space : {MemSpace::From, MemSpace::FromUnsigned})
    for (const unsigned scale : {1u, 4u, 8u, 12u, 24u})
      for (const auto& [store, masked] :
           {std::pair{false, false}, std::pair{true, false}, std::pair{false, true}, std::pair{true, true}})
        for (const unsigned lanes : {8u, 16u, 32u})
          for (unsigned run = 8; run <= lanes; run *= 2)
            for (const std::uint32_t stride : {1u, 4u, 0u - 1u, 0u - 4u}) {
              MemoryAccess mem = MemoryAccess::in(space);
              mem.scale = scale;
              const std::uint64_t from = World::region + (scale == 1 ? 100 : 0);
              const auto check = [&, stores = store, under_mask = masked](Type type, unsigned components) {
                check_site({mem, type, lanes, components, stride, stores, under_mask, 0, 0, from}, run);
              };
              check(Type::u32, 1);
              check(Type::u32, scale == 8 ? 3 : scale == 12 ? 7 : 15);
              check(Type::u64, scale == 8 ? 1 : 3);
            }
}

TEST_CASE("two qwords of each lane that are promised to go up") {
  for (const MemoryAccess& mem : {MemoryAccess::in_surface(World::surface), MemoryAccess::in(MemSpace::A32),
                                  MemoryAccess::in(MemSpace::Slm)})
    for (const auto& [store, masked] :
         {std::pair{false, false}, std::pair{true, false}, std::pair{false, true}, std::pair{true, true}})
      for (const unsigned lanes : {8u, 16u, 32u})
        for (unsigned run = 8; run <= lanes; run *= 2)
          for (const unsigned stride : {0u, 4u, 8u, 16u, 24u, 32u, 0u - 16u}) {
            if (stride == 0 && store) continue;
            const std::uint32_t cut = mem.space == MemSpace::Slm ? 0xffff : 0;
            check_site({mem, Type::u64, lanes, 3, stride, store, masked, cut}, run);
          }
}

TEST_CASE("loads of single dwords that are promised to lie apart, or to overlap") {
  for (const MemoryAccess& mem : {MemoryAccess::in_surface(World::surface), MemoryAccess::in(MemSpace::A32),
                                  MemoryAccess::in(MemSpace::Slm)})
    for (const bool masked : {false, true})
      for (const unsigned lanes : {8u, 16u, 32u})
        for (unsigned run = 8; run <= lanes; run *= 2)
          for (const unsigned stride : {1u, 3u, 5u, 8u, 12u, 20u, 68u, 1000u, 0u - 4u})
            check_site(
                {mem, Type::u32, lanes, 1, stride, false, masked, mem.space == MemSpace::Slm ? 0xffffu : 0},
                run);
}

TEST_CASE("bytes and words that are promised to go up by one to five bytes") {
  for (const MemoryAccess& mem : {MemoryAccess::in_surface(World::surface), MemoryAccess::in(MemSpace::A32),
                                  MemoryAccess::in(MemSpace::Slm)})
    for (const bool masked : {false, true})
      for (const unsigned lanes : {8u, 16u})
        for (unsigned run = 8; run <= lanes; run *= 2)
          for (const Type type : {Type::u8, Type::u16})
            for (const unsigned stride : {1u, 2u, 3u, 4u, 5u})
              check_site(
                  {mem, type, lanes, 1, stride, false, masked, mem.space == MemSpace::Slm ? 0xffffu : 0},
                  run);
}

TEST_CASE("a promise that is broken gives nonsense, but reaches nothing beyond bounds") {
  const Site site{MemoryAccess::in_surface(World::surface), Type::u32, 16, 1, 4, false};
  const Function function = site.build();
  for (const auto& engine : other_engines()) {
    const auto executable = compiled(
        *engine, function, {.exact_registers = false, .launch = {.ids = {id_place, site.lanes, 16}}});
    static World world;  // a page that must not be touched follows its memory
    for (const std::uint32_t base : {0u, World::surface_bytes - 64, World::surface_bytes - 4, ~0u - 60}) {
      world.reset(function, 5);
      world.masks()[0] = lane_mask(site.lanes);
      std::memcpy(world.file() + base_place, &base, sizeof base);  // the ids are random
      CHECK(world.run(*executable).status == Status::Exited);
    }
  }
}

TEST_CASE("paths on which addresses go up join where some channels took the one and some the other") {
  // Addresses increase by 4 from channel to channel on both paths, but are 32 bytes higher on one of them.
  const Function function = function_of_text(R"(b0: ip 0x0 count 4
  %i = reg_read.u16x8 r1<1;1,0>
  %w = convert.u32.u16x8 %i
  %c = constant.u32x8 4
  %a = mul.u32x8 %w, %c
  reg_write.u32x8 r4<1;1,0>, %a
  %e = mask_get.mx8 mask0
  %f = flag_read.mx8 f0.0
  %m = and.mx8 %f, %e
  %p = andn.mx8 %f, %e
  mask_set.mx8 mask1, %p
  mask_set.mx8 mask0, %m
  branch_any.mx8 %m, b1, b2
b1: ip 0x10 count 1
  %e = mask_get.mx8 mask0
  %a = reg_read.u32x8 r4<1;1,0> ? %e
  %d = constant.u32x8 32
  %s = add.u32x8 %a, %d
  reg_write.u32x8 r4<1;1,0>, %s ? %e
  jump b2
b2: ip 0x20 count 5
  %e = mask_get.mx8 mask0
  %k = mask_get.mx8 mask1
  %o = or.mx8 %e, %k
  mask_set.mx8 mask0, %o
  %z = constant.mx8 0x0
  mask_set.mx8 mask1, %z
  %a = reg_read.u32x8 r4<1;1,0> ? %o
  %x = reg_read.u32x8 r3<1;1,0> ? %o
  store.u32x8 slm[%a], %x ? %o
  exit
)");
  const auto compile = [&](Engine& engine) {
    CompileOptions options{.exact_registers = false};
    options.launch.ids = {id_place, 8, 8};
    return compiled(engine, function, options);
  };
  const auto reference = compile(*make_reference_engine());
  for (const auto& engine : other_engines()) {
    const auto other = compile(*engine);
    static World expected, found;
    for (unsigned taken = 0; taken < 256; ++taken) {
      for (World* world : {&expected, &found}) {
        world->reset(function, taken);
        world->set_flags(taken);
        world->masks()[0] = 0xff;
        world->masks()[1] = 0;
        world->put_ids(id_place, 8);
      }
      INFO("channels " << taken);
      REQUIRE(difference(expected.run(*reference), found.run(*other), false).empty());
    }
  }
}

TEST_CASE("two halves of what goes up are compared with one limit, around the limits of numbers") {
  for (const std::string_view op : {"cmp_lt", "cmp_le", "cmp_gt", "cmp_ge"})
    for (const std::string_view type : {"u32", "s32"})
      for (const unsigned distance : {8u, 7u, 16u}) {
        const Function function = function_of_text(fmt::format(R"(b0: ip 0x0 count 1
  %i = reg_read.u16x8 r1<1;1,0>
  %w = convert.{0}.u16x8 %i
  %x = reg_read.{0}x1 r{3}<1;1,0>
  %s = splat.{0}x8 %x
  %a = add.{0}x8 %w, %s
  %c = constant.{0}x8 {1}
  %b = add.{0}x8 %a, %c
  %l = reg_read.{0}x1 r{3}.1<1;1,0>
  %m = splat.{0}x8 %l
  %t = {2}.{0}x8 %a, %m
  %u = {2}.{0}x8 %b, %m
  %v = concat.mx16 %t, %u
  %n = mask_bits.u32x1 %v
  %z = constant.u32x1 0
  store.u32x1 slm[%z], %n
  exit
)",
                                                               type, distance, op, limits_place / 32));
        const auto reference = compiled(*make_reference_engine(), function, {.exact_registers = false});
        for (const auto& engine : other_engines()) {
          const auto other =
              compiled(*engine, function, {.exact_registers = false, .launch = {.ids = {id_place, 8, 8}}});
          static World expected, found;
          for (const std::uint32_t start :
               {0u, 100u, 0x7ffffff0u, 0x7ffffff8u, 0x80000000u, 0xfffffff0u, 0xfffffffau})
            for (int limit = -3; limit < 30; ++limit) {
              const std::array<std::uint32_t, 2> numbers{start, start + static_cast<std::uint32_t>(limit)};
              for (World* world : {&expected, &found}) {
                world->reset(function, start);
                world->put_ids(id_place, 8);
                std::memcpy(world->file() + limits_place, numbers.data(), sizeof numbers);
              }
              INFO(op << "." << type << " from " << start << " to " << numbers[1] << ", " << distance);
              REQUIRE(difference(expected.run(*reference), found.run(*other), false).empty());
            }
        }
      }
}
