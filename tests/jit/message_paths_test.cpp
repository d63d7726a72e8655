// Messages of several lanes with every address pattern that an engine may treat specially: consecutive,
// consecutive in groups of eight, interleaved with components, uniform, scattered, with one stray lane; under
// masks of every kind, with garbage in inactive lanes. Memory, registers and the fault must be those of the
// reference engine.
#include <fmt/format.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cstring>

#include "frontend/ir/builder.hpp"
#include "frontend/ir/printer.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

struct Space {
  MemoryAccess mem;
  std::uint64_t base;  ///< of the addresses
  unsigned bytes;
  std::uint64_t from = 0;  ///< base that distances are added to
};

MemoryAccess distances(MemSpace space, unsigned scale) {
  MemoryAccess access = MemoryAccess::in(space);
  access.scale = scale;
  return access;
}

const Space spaces[] = {
    {MemoryAccess::in_surface(World::surface), 0, World::surface_bytes},
    {MemoryAccess::in(MemSpace::Slm), 0, World::slm_bytes},
    {MemoryAccess::in(MemSpace::A64), World::region, World::region_bytes},
    {MemoryAccess::in(MemSpace::A32), World::low_region, World::low_region_bytes},
    {MemoryAccess::in(MemSpace::Scratch), 0, World::scratch_bytes},
    {MemoryAccess::in(MemSpace::Bindless), 0, World::buffer_bytes},
    {MemoryAccess::in(MemSpace::States), 0, World::buffer_bytes},
    {distances(MemSpace::From, 1), std::uint64_t{0} - 100, World::region_bytes, World::region + 100},
    {distances(MemSpace::From, 4), 0, World::region_bytes / 4, World::region},
    {distances(MemSpace::FromUnsigned, 1), 200, World::region_bytes, World::region - 200},
    {distances(MemSpace::FromUnsigned, 8), 0, World::region_bytes / 8, World::region},
    {distances(MemSpace::From, 12), 0, World::region_bytes / 12, World::region},
    {distances(MemSpace::FromUnsigned, 6), 0, World::region_bytes / 6, World::region},
};

enum class Pattern : std::uint8_t {
  Row,          ///< each lane behind the previous one
  Rows,         ///< rows of eight lanes, the second eight below the first
  BrokenRow,    ///< a row with one lane out of place
  Interleaved,  ///< each lane behind all components of the previous one
  SameInRow,    ///< one address for each eight lanes
  Same,
  Pairs,      ///< two lanes for each address
  Scattered,  ///< random multiples of the element, in bounds
  Unaligned,  ///< random bytes, in bounds
  Wrapped,    ///< a row that starts below the space, and so wraps around 2^32
  AtEnd,      ///< a row of which some lanes lie beyond the last byte
  Stray,      ///< one lane is 2^31 bytes away
  StrayHigh,  ///< one lane is 2^32 bytes away, where addresses are that wide
  Count,
};

struct Site {
  Shape shape;
  Space space;
  Type type;
  unsigned lanes, components;
  bool masked;
  AtomicOp atomic = AtomicOp::add;
  bool returns = true;
  bool by_halves = false;

  Type address_type() const { return info(space.mem.space).address; }
  unsigned count() const { return static_cast<unsigned>(std::popcount(components)); }

  Function build() const {
    Function function;
    function.name = "message";
    function.family = "gen9";
    function.simd = 32;
    function.file_bytes = 4096;
    function.blocks[function.add_block(0x40)].guest_instructions = 1;
    Builder b(function);
    b.set_guest_ip(0x40);
    MemoryAccess mem = space.mem;
    mem.components = components;
    mem.atomic = atomic;
    mem.part_bytes = by_halves ? 4 : 0;
    mem.offset = 4;
    const ValueId mask = masked ? b.slice(b.mask_get(0), 0, lanes) : no_value;
    const SurfaceBy by = info(mem.space).surface;
    const ValueId surface = by == SurfaceBy::Place  ? b.constant(Type::u32, 1, World::buffer_state)
                            : by == SurfaceBy::Base ? b.constant(Type::u64, 1, space.from)
                                                    : no_value;
    // First an access in bounds, so that an engine may cache the region.
    for (bool warm : {true, false}) {
      const ValueId address = b.reg_read(address_type(), lanes, Region::packed(warm ? 3584 : 0));
      const auto data = [&](unsigned k) { return b.reg_read(type, lanes, Region::packed(512 + 256 * k)); };
      const auto keep = [&](ValueId value, unsigned k) {
        b.reg_write(Region::packed(1024 + 256 * k), value);
      };
      if (shape == Shape::Load || warm) {
        const ValueId first = b.load(type, mem, address, mask, surface);
        for (unsigned k = 0; k < count(); ++k) keep(first + k, k);
      } else if (shape == Shape::Store) {
        std::vector<ValueId> values;
        for (unsigned k = 0; k < count(); ++k) values.push_back(data(k % 2));
        b.store(mem, address, values, mask, surface);
      } else {
        const std::array<ValueId, 2> sources{data(0), data(1)};
        const ValueId old = b.atomic(type, mem, address, std::span(sources).first(mem::info(atomic).operands),
                                     returns, mask, surface);
        if (returns) keep(old, 0);
      }
    }
    b.exit();
    return function;
  }

  std::uint64_t address(Pattern pattern, unsigned lane, Random& random) const {
    const unsigned element = size_of(type);
    const std::uint64_t row = std::uint64_t{lane} * element, odd = lanes / 2 + 1;
    const std::uint64_t room = space.bytes / 2 / element;
    switch (pattern) {
      case Pattern::Row:
        return space.base + row;
      case Pattern::Rows:
        return space.base + (lane / 8 % 2 == 0 ? 8 * element + 16 : 0) + lane % 8 * element;
      case Pattern::BrokenRow:
        return space.base + row + (lane == odd ? element : 0);
      case Pattern::Interleaved:
        return space.base + row * count();
      case Pattern::SameInRow:
        return space.base + lane / 8 * 16;
      case Pattern::Same:
        return space.base + 8;
      case Pattern::Pairs:
        return space.base + lane / 2 * element;
      case Pattern::Scattered:
        return space.base + random() % room * element;
      case Pattern::Unaligned:
        return space.base + random() % room * element + (element > 1 ? random() % element : 0);
      case Pattern::Wrapped:
        return space.base + row - 4 - 4 * element;
      case Pattern::AtEnd:
        return space.base + space.bytes - (by_halves ? 8 : 4) + row - std::uint64_t{lanes / 2} * element;
      case Pattern::Stray:
        return space.base + row + (lane == odd ? 1u << 31 : 0);
      default:
        return space.base + row + (lane == odd ? std::uint64_t{1} << 32 : 0);
    }
  }
};

/// Execution masks of 32 channels.
constexpr std::uint32_t masks[] = {~0u,        0,          1,          0x80008000, 0x00ff00ff,
                                   0xff00ff00, 0x55555555, 0x7ffe7ffe, 0x0ff00ff0, 0xfffefffe,
                                   0x00010000, 0x0007ffff, 0x71ff07ff};

void check_site(const Site& site) {
  static SiteSample sample(many_runs_step);
  if (!sample.takes_next()) return;
  const Function function = site.build();
  const auto reference = compiled(*make_reference_engine(), function);
  std::vector<std::unique_ptr<Executable>> others;
  for (const auto& engine : other_engines()) others.push_back(compiled(*engine, function));
  static World expected, found;
  // Atomics are done lane by lane, so one of the row patterns suffices for them.
  const bool by_lane = site.shape == Shape::Atomic;
  for (unsigned p = 0; p < static_cast<unsigned>(Pattern::Count); ++p) {
    if (by_lane && p > 0 && p < static_cast<unsigned>(Pattern::Same)) continue;
    for (std::size_t m = 0; m < std::size(masks); m += by_lane ? 3 : 1) {
      const std::uint32_t mask = masks[m];
      if (!site.masked && mask != ~0u) continue;
      const auto place = [&](World& world) {
        Random random(p * 64 + site.lanes);
        world.reset(function, 11 + p);
        world.masks()[0] = mask;
        const unsigned bytes = size_of(site.address_type());
        for (unsigned lane = 0; lane < site.lanes; ++lane) {
          std::uint64_t address = site.address(static_cast<Pattern>(p), lane, random);
          if (site.masked && (mask >> lane & 1) == 0) address = random();
          std::memcpy(world.file() + lane * bytes, &address, bytes);
          std::memcpy(world.file() + 3584 + lane * bytes, &site.space.base, bytes);
        }
      };
      place(expected);
      const FinalState wanted = expected.run(*reference);
      for (const auto& other : others) {
        place(found);
        const std::string problem = difference(wanted, found.run(*other));
        if (problem.empty()) continue;
        FAIL_CHECK("pattern " << p << fmt::format(", mask {:#x}: ", mask) << problem << "\n"
                              << print(function));
        return;
      }
    }
  }
}

}  // namespace

TEST_CASE("messages: components of dwords, wherever the lanes are") {
  for (const Space& space : spaces)
    for (Shape shape : {Shape::Load, Shape::Store})
      for (unsigned components : {1u, 2u, 3u, 5u, 6u, 7u, 9u, 13u, 15u, 255u})
        for (unsigned lanes : {2u, 4u, 8u, 16u, 32u})
          for (bool masked : {false, true}) check_site({shape, space, Type::u32, lanes, components, masked});
}

TEST_CASE("messages: elements of every size, wherever the lanes are") {
  for (const Space& space : spaces)
    for (Shape shape : {Shape::Load, Shape::Store})
      for (Type type : {Type::u8, Type::u16, Type::u64})
        for (unsigned components : {1u, 3u, 15u})
          for (unsigned lanes : {2u, 4u, 8u, 16u, 32u})
            for (bool masked : {false, true}) check_site({shape, space, type, lanes, components, masked});
}

TEST_CASE("messages: elements whose halves end where memory does, wherever the lanes are") {
  for (const Space& space : spaces)
    for (Shape shape : {Shape::Load, Shape::Store})
      for (unsigned components : {1u, 2u, 3u})
        for (unsigned lanes : {1u, 4u, 8u, 16u})
          for (bool masked : {false, true}) {
            Site site{shape, space, Type::u64, lanes, components, masked};
            site.by_halves = true;
            check_site(site);
          }
}

TEST_CASE("messages: every atomic, wherever the lanes are") {
  for (const Space& space : spaces)
    for (std::size_t op = 0; op < mem::atomic_table.size(); ++op)
      for (Type type : {Type::u16, Type::u32, Type::u64})
        for (unsigned lanes : {1u, 8u, 16u})
          for (bool masked : {false, true})
            for (bool returns : {false, true})
              check_site({Shape::Atomic, space, type, lanes, 1, masked, static_cast<AtomicOp>(op), returns});
}

// Constants give up their registers first, so that the atomic may get any register that held one.
TEST_CASE("atomics of one lane, where general registers are few") {
  const auto program = [](unsigned living, std::string_view atomic, std::string_view mask) {
    std::string before, behind;
    for (unsigned k = 0; k < living; ++k) {
      before += fmt::format("  %w{0} = reg_read.u32x1 r2.{0}<1;1,0>\n  %v{0} = {1}.u32x1 %w{0}\n", k,
                            k % 2 == 0 ? "cbit" : "lzd");
      behind += fmt::format("  reg_write.u32x1 r{}<1;1,0>, %v{}\n", 5 + k, k);
    }
    return fmt::format(
        "b0: ip 0 count 1\n"
        "  %some = constant.mx22 0x24cc04\n  %groups = group_all.mx22 %some, 2\n{}"
        "  %bits = reg_read.u16x1 r1<1;1,0>\n  %m = bits_mask.m.u16x1 %bits\n"
        "  %r = reg_read.u32x1 r1.1<1;1,0>\n  %few = constant.u32x1 60\n  %at = and.u32x1 %r, %few\n"
        "  %x = reg_read.u32x1 r1.2<1;1,0>\n  %y = reg_read.u32x1 r1.3<1;1,0>\n"
        "  %old = atomic.u32x1 {}{}\n  reg_write.u32x1 r3<1;1,0>, %old\n{}"
        "  %wide = reg_read.u16x22 r2<1;1,0>\n  reg_write.u16x22 r13<1;1,0>, %wide ? %some\n"
        "  reg_write.u16x22 r14<1;1,0>, %wide ? %groups\n"
        "  reg_write.u32x1 r4<1;1,0>, %at\n  reg_write.u32x1 r4.1<1;1,0>, %x\n"
        "  reg_write.u32x1 r4.2<1;1,0>, %y\n  exit\n",
        before, atomic, mask, behind);
  };
  for (unsigned living = 0; living <= 8; ++living)
    for (const std::string_view mask : {"", " ? %m"})
      for (const std::string_view atomic : {"and surface3[%at], %x", "cmpwr slm[%at], %x, %y"})
        expect_agreement(function_of_text(program(living, atomic, mask)), 100 * living, 8);
}
