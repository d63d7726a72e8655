// Distances from a base in a region of more than 2 GiB, where a 32-bit offset may lie inside the region or
// below its start.
#include <sys/mman.h>

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "frontend/ir/builder.hpp"
#include "jit/passes/passes.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

constexpr std::uint64_t start = 0x10'0000'0000, bytes = 3ull << 30;

/// A function of one block, to be filled.
Function begin_function(unsigned simd) {
  Function function;
  function.name = "distances";
  function.family = "gen9";
  function.simd = simd;
  function.file_bytes = 4096;
  function.blocks[function.add_block(0)].guest_instructions = 1;
  return function;
}

/// A thread that can access nothing but an address space; all channels are active.
class SpaceThread {
 public:
  SpaceThread(const Executable& executable, mem::AddressSpace& space, unsigned simd)
      : executable_(executable),
        layout_(executable.layout()),
        bytes_(static_cast<std::byte*>(std::aligned_alloc(64, layout_.size)), &std::free) {
    std::memset(bytes_.get(), 0, layout_.size);
    new (bytes_.get()) ThreadState;
    environment_.space = &space;
    state().environment = &environment_;
    layout_.masks_of(state())[0] = lane_mask(simd);
  }
  std::byte* file() { return layout_.file_of(state()); }
  Status run() { return executable_.run(state()); }

 private:
  ThreadState& state() { return *reinterpret_cast<ThreadState*>(bytes_.get()); }

  const Executable& executable_;
  const StateLayout layout_;
  const std::unique_ptr<std::byte, decltype(&std::free)> bytes_;
  Environment environment_;
};

/// Loads eight dwords at the distances in r0, then at those in r1.
Function loads(MemSpace space, std::uint32_t scale, std::uint64_t base, bool masked) {
  Function function = begin_function(8);
  Builder b(function);
  const ValueId from = b.constant(Type::u64, 1, base), mask = masked ? b.mask_get(0) : no_value;
  for (unsigned i = 0; i < 2; ++i) {
    MemoryAccess access = MemoryAccess::in(space);
    access.scale = scale;
    const ValueId distance = b.reg_read(info(space).address, 8, Region::packed(32 * i));
    b.reg_write(Region::packed(64 + 32 * i), b.load(Type::u32, access, distance, mask, from));
  }
  b.exit();
  return function;
}

/// How each distance is widened to 64 bits.
struct Widening {
  Type type;
  std::uint32_t scale;  ///< powers of two by shifts, others by products
  std::uint32_t added;  ///< to the address
  /// The bits that the shift loses are assembled from the sign and the distance's upper bits, and `added` is
  /// added to the halves with a carry.
  bool apart = false;
};

/// Loads a dword for each distance in r1 and r2 from the base in r0 and writes the dwords to r3 and r4. The
/// 64-bit sums are made of 32-bit halves, eight channels each, as the Gen9 compiler does.
Function loads_by_halves(const Widening& widening) {
  Function function = begin_function(16);
  Builder b(function);
  const auto in_u32 = [&](ValueId value) { return b.convert(Op::bitcast, Type::u32, value); };
  const auto constant = [&](unsigned lanes, std::uint32_t bits) {
    return b.constant(Type::u32, lanes, bits);
  };
  const ValueId x = b.reg_read(widening.type, 16, Region::packed(32));
  const bool is_signed = widening.type == Type::s32;
  const unsigned shift = static_cast<unsigned>(std::countr_zero(widening.scale));
  ValueId low = in_u32(b.lanewise(Op::shl, {x, b.convert(Op::bitcast, widening.type, constant(16, shift))}));
  const ValueId lost =
      b.convert(Op::bitcast, widening.type, constant(16, is_signed && shift == 0 ? 31 : 32 - shift));
  ValueId high = shift == 0 && !is_signed ? constant(16, 0)
                                          : in_u32(b.lanewise(is_signed ? Op::asr : Op::shr, {x, lost}));
  const auto sign = [&] {
    return in_u32(b.lanewise(Op::asr, {x, b.convert(Op::bitcast, Type::s32, constant(16, 31))}));
  };
  if (!std::has_single_bit(widening.scale)) {
    const auto product = [&](unsigned part) {
      return b.wide(Op::mul_wide, {b.slice(in_u32(x), 8 * part, 8), constant(8, widening.scale)});
    };
    const auto left = product(0), right = product(1);
    low = b.concat(left.first, right.first);
    high = b.concat(left.second, right.second);
    if (is_signed)
      high = b.lanewise(Op::add, {high, b.lanewise(Op::mul, {sign(), constant(16, widening.scale)})});
  } else if (widening.apart && is_signed) {
    high = b.lanewise(Op::or_, {b.lanewise(Op::shl, {sign(), constant(16, shift)}),
                                b.lanewise(Op::shr, {in_u32(x), constant(16, 32 - shift)})});
  }
  const auto base = [&](unsigned dword) {
    return b.splat(b.reg_read(Type::u32, 1, Region::packed(4 * dword)), 8);
  };
  const ValueId base_low = base(0), base_high = base(1);
  std::array<ValueId, 2> parts{};
  for (unsigned part = 0; part < 2; ++part) {
    const auto [sum, carry] =
        b.wide(Op::addc, {b.slice(widening.scale == 1 ? in_u32(x) : low, 8 * part, 8), base_low});
    const ValueId above = b.lanewise(Op::add, {b.slice(high, 8 * part, 8), base_high});
    const ValueId upper = b.lanewise(Op::add, {carry, above});
    if (widening.apart) {
      // The upper half of `added` is 0.
      const auto [last, last_carry] = b.wide(Op::addc, {sum, constant(8, widening.added)});
      parts[part] = b.join(last, b.lanewise(Op::add, {last_carry, upper}));
      continue;
    }
    parts[part] = b.join(sum, upper);
    if (widening.added != 0)
      parts[part] = b.lanewise(Op::add, {parts[part], b.constant(Type::u64, 8, widening.added)});
  }
  const ValueId address = b.concat(parts[0], parts[1]);
  b.reg_write(Region::packed(96), b.load(Type::u32, MemoryAccess::in(MemSpace::A64), address, no_value));
  b.exit();
  return function;
}

}  // namespace

TEST_CASE("addresses whose halves were added by themselves are a base and distances") {
  // The region has a multiple of 2^32 in its middle.
  constexpr std::uint64_t middle = 0x11'0000'0000, half = 0x1000;
  std::vector<std::uint32_t> memory(2 * half / 4);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::uint32_t>(i * 2654435761u);
  mem::AddressSpace space;
  REQUIRE(space.map(middle - half, 2 * half, reinterpret_cast<std::byte*>(memory.data()),
                    mem::Access::ReadWrite, "middle"));
  for (const Widening& widening :
       {Widening{Type::u32, 4, 0}, Widening{Type::s32, 4, 16}, Widening{Type::s32, 1, 0},
        Widening{Type::u32, 32, 16}, Widening{Type::u32, 1, 4}, Widening{Type::s32, 4, 12, true},
        Widening{Type::u32, 16, 8, true}, Widening{Type::s32, 12, 0}, Widening{Type::u32, 12, 8},
        Widening{Type::s32, 20, 4, true}, Widening{Type::u32, 44, 0, true}}) {
    Function shape = loads_by_halves(widening);
    distances(shape);
    REQUIRE(shape.accesses.back().scale == widening.scale);
    CHECK(shape.accesses.back().space ==
          (widening.type == Type::s32 ? MemSpace::From : MemSpace::FromUnsigned));
    for (Engine* engine : every_engine()) {
      INFO(info(widening.type).name << " * " << widening.scale << " + " << widening.added);
      Function function = loads_by_halves(widening);
      auto executable = engine->compile(function, {});
      REQUIRE(executable);
      SpaceThread thread(**executable, space, 16);
      const std::uint64_t base = middle - 0x80;
      std::array<std::uint32_t, 24> file{static_cast<std::uint32_t>(base),
                                         static_cast<std::uint32_t>(base >> 32)};
      std::array<std::uint32_t, 16> expected{};
      for (std::uint32_t i = 0; i < 16; ++i) {
        const bool is_signed = widening.type == Type::s32;
        const std::int64_t distance =
            (is_signed ? 37 - 7 * std::int64_t{i} : 5 * std::int64_t{i}) * (widening.scale == 1 ? 4 : 1);
        file[8 + i] = static_cast<std::uint32_t>(distance);
        const std::uint64_t address =
            base + static_cast<std::uint64_t>(distance * widening.scale) + widening.added;
        expected[i] = memory[(address - (middle - half)) / 4];
      }
      std::memcpy(thread.file(), file.data(), sizeof file);
      REQUIRE(thread.run() == Status::Exited);
      CHECK(std::memcmp(thread.file() + 96, expected.data(), sizeof expected) == 0);
    }
  }
}

TEST_CASE("distances in a region of more than 2 GiB") {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  mem::AddressSpace space;
  REQUIRE(space.map(start, bytes, static_cast<std::byte*>(memory), mem::Access::ReadWrite, "large"));
  struct Way {
    MemSpace space;
    std::uint64_t base;
    std::uint32_t first;  ///< distance of the first lane
    bool inside;
    std::uint32_t scale = 1;
  };
  const Way ways[] = {
      {MemSpace::From, start + 0x100, 0u - 0x100, true},        // the first bytes of the region
      {MemSpace::From, start + 0x100, 0u - 0x200, false},       // below it: the offset's low half is 3.99 GiB
      {MemSpace::From, start + 0x100, 0x80000000u, false},      // 2 GiB below: the low 32 bits say 2 GiB
      {MemSpace::From, start + 0x7fffff00, 0x7ffff000, false},  // beyond the end
      {MemSpace::From, start + 0x7fffff00, 0x3ffff000, true},   // beyond 2 GiB
      {MemSpace::From, start + 0x90000000, 0u - 0x1000, true},  // base beyond 2 GiB
      {MemSpace::FromUnsigned, start + 0x100, 0xa0000000u, true},  // beyond 2 GiB
      {MemSpace::FromUnsigned, start + 0x100, 0xfffffe00u, false},
      {MemSpace::FromUnsigned, start - 0xff000000ull, 0xff000100u, true},
      {MemSpace::From, start - 0x100, 0x100, true},  // base below the region
      {MemSpace::From, start - 0x100, 0xfc, false},
      {MemSpace::From, start - 0x100, 0u - 0x100, false},
      {MemSpace::From, start - 0x7fffff00, 0x7fffff00, true},  // nearly 2 GiB below
      {MemSpace::From, start - 0x70000000, 0x80000000u,
       false},  // both are below it: the low 32 bits of the offset are 256 MiB
      {MemSpace::From, start - 0x80000000ull, 0x80000000u, false},
      {MemSpace::From, start - 0x80000100ull, 0x7ffffff0, false},
      {MemSpace::FromUnsigned, start - 0x100, 0x100, true},
      {MemSpace::FromUnsigned, start - 0x100, 0xfc, false},
      {MemSpace::From, start, 0x0aaaaaab, true, 12},   // the product has just more than 31 bits
      {MemSpace::From, start, 0x15555556, false, 12},  // 4 GiB: the low 32 bits of the offset are 8
      {MemSpace::From, start - 0x100000000ull, 0x15555560, true, 12},  // in the region only with all bits
      {MemSpace::From, start + 0x80000000ull, 0u - 0x0aaaaaaa, true, 12},
      {MemSpace::From, start + 0x80000000ull, 0u - 0x0aaaaaab, false, 12},
      {MemSpace::From, start + 0x100, 0u - 0x15555556, false, 12},
      {MemSpace::FromUnsigned, start, 0x0aaaaaab, true, 12},
      {MemSpace::FromUnsigned, start, 0x15555556, false, 12},
      {MemSpace::FromUnsigned, start - 0x100000000ull, 0x15555560, true, 12},
      {MemSpace::FromUnsigned, start, 0x2aaaaaac, false, 6},
      {MemSpace::From, start, 0x7fffff00, false, 4},
      {MemSpace::FromUnsigned, start, 0x40000000, false, 4},
  };
  for (const Way& way : ways)
    for (const bool masked : {false, true})
      for (const unsigned step : {4u, 8u}) {
        INFO(info(way.space).name << " base " << std::hex << way.base << " distance " << way.first << " step "
                                  << step << (masked ? " masked" : ""));
        for (Engine* engine : every_engine()) {
          Function function = loads(way.space, way.scale, way.base, masked);
          auto executable = engine->compile(function, {});
          REQUIRE(executable);
          SpaceThread thread(**executable, space, 8);
          std::uint32_t distances[16];
          const auto near = static_cast<std::int64_t>(start + 0x1000 - way.base);
          for (std::uint32_t i = 0; i < 8; ++i) {
            // The first load is in bounds, so that the region is cached.
            distances[i] = static_cast<std::uint32_t>(near / way.scale) + 4 * i;
            distances[8 + i] = way.first + step * i;
          }
          const std::int64_t known = near / way.scale;
          const bool reaches = way.space == MemSpace::From ? known == static_cast<std::int32_t>(known)
                                                           : known == static_cast<std::uint32_t>(known);
          if (!reaches) std::memcpy(distances, distances + 8, 32);
          std::memcpy(thread.file(), distances, sizeof distances);
          const Status status = thread.run();
          CHECK((status == Status::Exited) == way.inside);
        }
      }
  munmap(memory, bytes);
}

TEST_CASE("addresses of 64 bits and what is added to them wrap around") {
  constexpr std::uint64_t low = 0x1000, last = ~std::uint64_t{0} - 15;
  std::array<std::uint32_t, 64> memory{};
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::uint32_t>(7 * i + 1);
  mem::AddressSpace space;
  REQUIRE(space.map(low, sizeof memory, reinterpret_cast<std::byte*>(memory.data()), mem::Access::ReadWrite,
                    "low"));
  for (const bool is_based : {false, true})
    for (Engine* engine : every_engine()) {
      INFO(engine->name() << (is_based ? " from a base" : " a64"));
      Function function = begin_function(8);
      Builder b(function);
      MemoryAccess access = MemoryAccess::in(is_based ? MemSpace::FromUnsigned : MemSpace::A64);
      access.offset = static_cast<std::uint32_t>(low - last);
      const ValueId distance = b.reg_read(Type::u32, 8, Region::packed(0));
      const ValueId base = b.constant(Type::u64, is_based ? 1 : 8, last);
      const ValueId all =
          is_based ? distance : b.lanewise(Op::add, {b.convert(Op::convert, Type::u64, distance), base});
      b.reg_write(Region::packed(64), b.load(Type::u32, access, all, no_value, is_based ? base : no_value));
      b.exit();
      auto executable = engine->compile(function, {});
      REQUIRE(executable);
      SpaceThread thread(**executable, space, 8);
      const std::array<std::uint32_t, 8> distances{0, 4, 8, 12, 16, 20, 64, 252};
      std::memcpy(thread.file(), distances.data(), sizeof distances);
      REQUIRE(thread.run() == Status::Exited);
      std::array<std::uint32_t, 8> found{};
      std::memcpy(found.data(), thread.file() + 64, sizeof found);
      for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == memory[distances[i] / 4]);
    }
}
