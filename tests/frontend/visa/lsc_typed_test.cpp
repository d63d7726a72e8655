// Lsc messages for images, counters and scratch space; fences; and the state after a fault.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "tests/frontend/visa/lsc_bed.hpp"

using namespace lsc_bed;
using lsc_model::Machine;

namespace {

std::uint32_t dword(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  std::uint32_t value;
  std::memcpy(&value, bytes.data() + at, 4);
  return value;
}
void put(std::vector<std::uint8_t>& bytes, std::size_t at, std::uint32_t value) {
  std::memcpy(bytes.data() + at, &value, 4);
}

/// Bytes between the data of successive components.
unsigned step(unsigned exec, unsigned grf) { return (exec * 4 + grf - 1) / grf * grf; }

/// A machine with coordinates inside the image and beyond its edges, and with operands that name the
/// surfaces.
Machine image_machine(const Bed& bed, unsigned grf, unsigned exec, std::uint64_t seed) {
  Machine machine = bed.machine(grf, seed);
  Random random(seed);
  for (unsigned n = 0; n < exec; ++n) {
    put(machine.registers, addresses + 4 * n, static_cast<std::uint32_t>(random() % (image_width + 4) - 2));
    put(machine.registers, more_addresses + 4 * n,
        static_cast<std::uint32_t>(random() % (image_height + 2) - 1));
  }
  put(machine.registers, scalars + 4 * 2, image_index);
  put(machine.registers, scalars + 4 * 3, state_place + 64 + 11);
  return machine;
}
/// Offset of a texel in area Surface, or `outside`.
constexpr unsigned outside = ~0u;
unsigned texel(const Machine& machine, unsigned n) {
  const std::uint32_t u = dword(machine.registers, addresses + 4 * n),
                      v = dword(machine.registers, more_addresses + 4 * n);
  return u < image_width && v < image_height ? 4 * (v * image_width + u) : outside;
}

constexpr const char* image_models[] = {"bti(5)", "bti(S.2)", "ss(S.3)", "ss(0xc0,1)", "bss(S.3)"};
constexpr std::uint32_t masks[] = {~0u, 0x0f0f3355, 0};

void check(Bed& bed, const std::string& line, std::uint32_t mask, unsigned grf, const Machine& before,
           const Machine& after) {
  const Bed::Kernel kernel = Bed::compile(kernel_text(line), grf);
  const std::string problem = bed.difference(kernel, mask, before, after, true);
  CHECK(problem + line == line);
}

}  // namespace

TEST_CASE("lsc: typed loads give the channels of the mask, stores write the first one") {
  Bed bed;
  unsigned seed = 0;
  for (const char* model : image_models)
    for (const unsigned exec : {1u, 8u, 16u, 32u})
      for (unsigned channels = 1; channels < 16; ++channels) {
        const std::uint32_t mask = masks[++seed % 3];
        const unsigned grf = seed % 2 == 0 ? 32 : 64;
        std::string letters;
        for (unsigned k = 0; k < 4; ++k)
          if ((channels >> k & 1) != 0) letters += "xyzw"[k];
        const Machine before = image_machine(bed, grf, exec, seed);
        Machine loaded = before, stored = before;
        for (unsigned n = 0; n < exec; ++n) {
          if ((mask >> n & 1) == 0) continue;
          const unsigned at = texel(before, n);
          for (unsigned k = 0, m = 0; k < 4; ++k) {
            if ((channels >> k & 1) == 0) continue;
            // R32_UINT lacks green and blue, which read 0, and alpha, which reads 1.
            const std::uint32_t value = at == outside ? 0
                                        : k == 0      ? dword(before.areas[Surface].bytes, at)
                                                      : k == 3;
            put(loaded.registers, values + m++ * step(exec, grf) + 4 * n, value);
          }
          if ((channels & 1) != 0 && at != outside)
            put(stored.areas[Surface].bytes, at, dword(before.registers, values + 4 * n));
        }
        check(bed, fmt::format("lsc_load_quad.tgm (M1, {}) V:d32.{} {}[A,B]:a32", exec, letters, model), mask,
              grf, before, loaded);
        check(bed, fmt::format("lsc_store_quad.tgm (M1, {}) {}[A,B]:a32 V:d32.{}", exec, model, letters),
              mask, grf, before, stored);
      }
}

TEST_CASE("lsc: typed coordinates may have offsets, and those that lack are null") {
  Bed bed;
  const Machine before = image_machine(bed, 64, 16, 3);
  Machine moved = before, after = before;
  for (unsigned n = 0; n < 16; ++n) {
    put(moved.registers, addresses + 4 * n, dword(before.registers, addresses + 4 * n) + 2);
    put(moved.registers, more_addresses + 4 * n, dword(before.registers, more_addresses + 4 * n) - 1);
    const unsigned at = texel(moved, n);
    put(after.registers, values + 4 * n, at == outside ? 0 : dword(before.areas[Surface].bytes, at));
  }
  check(bed, "lsc_load_quad.tgm (M1, 16) V:d32.x bti(5)[A+0x2,B-0x1,%null,%null]:a32", ~0u, 64, before,
        after);
  check(bed, "lsc_load_quad.tgm (M1, 16) %null:d32.x bti(5)[A,B]:a32", ~0u, 64, before, before);
}

TEST_CASE("lsc: typed atomics and append counters add up channel by channel") {
  Bed bed;
  unsigned seed = 0;
  for (const char* model : image_models)
    for (const unsigned exec : {8u, 16u, 32u})
      for (const bool returns : {true, false}) {
        const std::uint32_t mask = masks[++seed % 3];
        const Machine before = image_machine(bed, 64, exec, seed);
        Machine added = before, counted = before;
        for (unsigned n = 0; n < exec; ++n) {
          if ((mask >> n & 1) == 0) continue;
          const std::uint32_t source = dword(before.registers, first_source + 4 * n);
          const unsigned at = texel(before, n);
          const std::uint32_t old = at == outside ? 0 : dword(added.areas[Surface].bytes, at);
          if (at != outside) put(added.areas[Surface].bytes, at, old + source);
          if (returns) put(added.registers, values + 4 * n, old);
          const std::size_t counter = counter_address - low_base;
          const std::uint32_t count = dword(counted.areas[Low].bytes, counter);
          put(counted.areas[Low].bytes, counter, count - source);
          if (returns) put(counted.registers, values + 4 * n, count);
        }
        const char* dst = returns ? "V" : "%null";
        check(bed, fmt::format("lsc_atomic_iadd.tgm (M1, {}) {}:d32 {}[A,B]:a32 Y %null", exec, dst, model),
              mask, 64, before, added);
        check(bed, fmt::format("lsc_apndctr_atomic_sub.ugm (M1, {}) {}:d32 {} Y:d32", exec, dst, model), mask,
              64, before, counted);
      }
}

TEST_CASE("lsc: a typed block is rows of bytes, each at a power of two") {
  Bed bed;
  constexpr unsigned x = 8, y = 3;
  const struct { unsigned width, height; } blocks[] = {{4, 5}, {8, 4}, {12, 3}, {36, 4}, {4, 1}, {16, 5}};
  for (const auto& block : blocks)
    for (const unsigned grf : {32u, 64u}) {
      Machine before = image_machine(bed, grf, 8, block.width);
      put(before.registers, scalars + 4 * 5, x);
      put(before.registers, scalars + 4 * 6, y);
      Machine loaded = before, stored = before;
      unsigned row = 4;
      while (row < block.width) row *= 2;
      for (unsigned r = 0; r < block.height; ++r)
        for (unsigned c = 0; c < row; ++c) {
          const std::size_t at = std::size_t{4} * image_width * (y + r) + x + c, reg = values + r * row + c;
          if (c < block.width) {
            loaded.registers[reg] = before.areas[Surface].bytes[at];
            stored.areas[Surface].bytes[at] = before.registers[reg];
          } else {
            loaded.registers[reg] = 0;
          }
        }
      const std::string shape = fmt::format("V:{}x{}", block.width, block.height);
      check(bed, "lsc_load_block2d.tgm " + shape + " bti(5)[S.5,S.6]", ~0u, grf, before, loaded);
      check(bed, "lsc_store_block2d.tgm bti(5)[S.5,S.6] " + shape, ~0u, grf, before, stored);
    }
}

TEST_CASE("lsc: the surface that r0 names is the thread's scratch space, else a state of the heap") {
  Bed bed;
  Machine before = bed.machine(64, 7);
  for (unsigned n = 0; n < 16; ++n) put(before.registers, addresses + 4 * n, 4 * n + 64);
  Machine after = before;
  std::memcpy(after.registers.data() + values, before.areas[Scratch].bytes.data() + 64, 64);
  check(bed, "shr (M1_NM, 1) C(0,0)<1> %r0(0,5)<0;1,0> 0x4:uw\n    lsc_load.ugm (M1, 16) V:d32 ss(C)[A]:a32",
        ~0u, 64, before, [&] {
          Machine only = before;
          std::memcpy(only.registers.data() + values, before.areas[Scratch].bytes.data() + 64, 64);
          return only;
        }());
  // Shifted by another count it is not the scratch space.
  put(before.registers, 20, state_place << 5);
  after = before;
  std::memcpy(after.registers.data() + values, before.areas[Surface].bytes.data() + 64, 64);
  check(bed, "shr (M1_NM, 1) C(0,0)<1> %r0(0,5)<0;1,0> 0x5:uw\n    lsc_load.ugm (M1, 16) V:d32 ss(C)[A]:a32",
        ~0u, 64, before, after);
}

TEST_CASE("lsc: addresses of packed numbers count one after the other, whatever they are added to") {
  // The finaliser turns the first vector into 0, 4, 8, 12 (GenX_IR -platform PVC and BXT).
  Bed bed;
  Machine before = bed.machine(64, 15);
  put(before.registers, scalars, 32);
  Machine after = before;
  for (unsigned n = 0; n < 4; ++n) {
    put(after.registers, addresses + 4 * n, 32 + 4 * n);
    put(after.registers, values + 4 * n, dword(before.areas[Slm].bytes, 32 + 4 * n));
  }
  check(bed, "add (M1_NM, 4) A(0,0)<1> S(0,0)<0;1,0> 0xc840:uv\n    lsc_load.slm (M1, 4) V:d32 flat[A]:a32",
        ~0u, 64, before, after);
}

TEST_CASE("lsc: fences and prefetches change nothing, wherever addresses lead") {
  Bed bed;
  const Machine before = bed.machine(64, 9);
  for (const char* line : {"lsc_fence.ugm.evict.gpu", "lsc_fence.slm.none.group",
                           "lsc_fence.tgm.clean.sysrel", "lsc_load.ugm.ca.ca (M1, 32) %null:d32 flat[A]:a64",
                           "lsc_load_quad.ugm (M1, 16) %null:d32.xy flat[A]:a64",
                           "lsc_load.ugm (M1_NM, 1) %null:d32x16t flat[A]:a64",
                           "lsc_load_strided.ugm (M1, 16) %null:d32 flat[A]:a64",
                           "lsc_load_block2d.ugm (M1, 1) %null:d32.1x8x8nn flat[Q.0,S.2,S.3,S.4,S.5,S.6]"})
    check(bed, line, ~0u, 64, before, before);
}

TEST_CASE("lsc: a load that faults leaves every register, and so does a surface whose state is none") {
  Bed bed;
  Machine before = bed.machine(64, 11);
  for (unsigned n = 0; n < 32; ++n) {
    const std::uint64_t address = n == 29 ? high_base + area_bytes - 4 : high_base + 16 * n;
    std::memcpy(before.registers.data() + addresses + 8 * n, &address, 8);
  }
  put(before.registers, scalars + 4 * 3, 64);
  const auto faults = [&](const std::string& line, std::uint32_t mask) {
    const Bed::Kernel kernel = Bed::compile(kernel_text(line), 64);
    CHECK(bed.difference(kernel, mask, before, before, false).empty());
  };
  faults("lsc_load.ugm (M1, 32) V:d32x8 flat[A]:a64", ~0u);
  faults("lsc_load.ugm (M1_NM, 1) V:d64x64t flat[A+0xfc0]:a64", ~0u);
  faults("lsc_load.ugm (M1, 1) V:d64x64t flat[A+0xfc0]:a64", ~0u);
  faults("lsc_load.ugm (M1, 8) V:d32 bss(S.3)[B]:a32", ~0u);
  faults("lsc_load.ugm (M1, 8) V:d32 ss(0x7000)[B]:a32", ~0u);
  // The surface state is not read while no channel is active.
  const Bed::Kernel kernel = Bed::compile(kernel_text("lsc_load.ugm (M1, 8) V:d32 bss(S.3)[B]:a32"), 64);
  CHECK(bed.difference(kernel, 0, before, before, true).empty());
}

TEST_CASE("lsc: predicates and channels behind the first ones count") {
  Bed bed;
  Machine before = bed.machine(64, 13);
  for (unsigned n = 0; n < 16; ++n) put(before.registers, addresses + 4 * n, 4 * n);
  put(before.registers, scalars, 0x5a5a1234);
  Machine after = before;
  constexpr std::uint32_t mask = 0x0ff0ffff;
  for (unsigned n = 0; n < 16; ++n)
    if (((mask & 0x5a5a1234) >> (16 + n) & 1) != 0)
      put(after.registers, values + 4 * n, dword(before.areas[Slm].bytes, 4 * n));
  check(bed, "setp (M1_NM, 32) P S(0,0)<0;1,0>\n    (P) lsc_load.slm (M5, 16) V:d32 flat[A]:a32", mask, 64,
        before, after);
}
