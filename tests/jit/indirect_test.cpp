// The register file at an address per lane, and narrow elements of any region: every engine does what the
// reference engine does, whichever instructions it picks.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "frontend/ir/types.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

constexpr unsigned file_bytes = 2048, addresses_at = 32;

/// The block and another one with ops of other types: code out of line must not depend on which is emitted.
ir::Function function_of(unsigned channels, const std::string& block) {
  std::string other;
  for (unsigned i = 0; i < 8; ++i)
    other += fmt::format("  %f{0} = reg_read.f64x4 r{1}<1;1,0>\n  reg_write.f64x4 r{2}<1;1,0>, %f{0}\n", i,
                         40 + i, 50 + i);
  return function_of_text(
      fmt::format("kernel @k simd {} family gen9 file {} slot 32 masks 1\nb0: ip 0x40 count 1\n{}  jump b1\n"
                  "b1: ip 0x50 count 1\n{}  exit\n",
                  channels, file_bytes, block, other));
}

/// Runs on every engine with random addresses of elements of so many bytes; in one of four runs a lane's is
/// out of bounds or just within, in one of three f0.0 has one bit, or none.
void check(const ir::Function& function, unsigned bytes, unsigned rounds) {
  World world;
  std::vector<std::unique_ptr<Executable>> executables;
  for (Engine* engine : every_engine()) executables.push_back(compiled(*engine, function));
  Random random(bytes);
  for (unsigned round = 0; round < rounds; ++round) {
    std::array<std::uint16_t, 32> addresses;
    for (std::uint16_t& address : addresses)
      address = static_cast<std::uint16_t>(random() % (file_bytes - 2 * bytes + 1));
    if (round % 4 == 0) {
      const std::uint64_t last = file_bytes - bytes;
      const std::uint16_t edges[]{static_cast<std::uint16_t>(last), static_cast<std::uint16_t>(last + 1),
                                  0xffff, 0xfffc};
      addresses[random() % 32] = edges[random() % std::size(edges)];
    }
    std::vector<FinalState> ends;
    for (const auto& executable : executables) {
      world.reset(function, round);
      std::memcpy(world.file() + addresses_at, addresses.data(), sizeof addresses);
      if (round % 3 == 0) world.set_flags(round % 9 == 0 ? 0 : std::uint64_t{1} << round % 32);
      ends.push_back(world.run(*executable));
    }
    for (std::size_t i = 1; i < ends.size(); ++i) {
      INFO(every_engine()[i]->name() << ", round " << round << "\n" << blocks_text(function));
      REQUIRE(difference(ends[0], ends[i]) == "");
    }
  }
}

}  // namespace

TEST_CASE("registers are read and written at an address per lane") {
  for (const std::string_view type : {"u8", "u16", "u32", "f32", "u64"})
    for (const unsigned lanes : {8u, 16u, 24u, 32u})
      for (const bool masked : {false, true})
        for (const bool large : {false, true}) {  // too large for elements to be inserted one by one
          const unsigned bytes = type == "u8" ? 1 : type == "u16" ? 2 : type == "u64" ? 8 : 4;
          if (lanes * bytes > 128) continue;
          const std::string mask = masked ? " ? %m" : "";
          std::string block =
              fmt::format("  %p = reg_read.u16x{0} r1<1;1,0>\n  %m = flag_read.mx{0} f0.0\n", lanes);
          for (unsigned i = 0; i < (large ? 60u : 1u); ++i)
            block += fmt::format("  %x{1} = reg_gather.{0} [%p]{2}\n  reg_write.{0} r{3}<1;1,0>, %x{1}{2}\n",
                                 fmt::format("{}x{}", type, lanes), i, mask, 10 + 4 * (i % 4));
          block += fmt::format("  %v = reg_read.{0} r30<1;1,0>\n  reg_scatter.{0} [%p], %v{1}\n",
                               fmt::format("{}x{}", type, lanes), mask);
          check(function_of(lanes, block), bytes, 60 / EUMULATE_STEP);
        }
}

TEST_CASE("two lanes read the dwords of one qword of the register file") {
  for (const unsigned lanes : {8u, 16u, 32u})
    for (const std::string_view steps : {"0, 4", "4, 8", "0, 8"}) {  // the last are none
      std::string constants;
      for (unsigned i = 0; i < lanes / 2; ++i) constants += fmt::format("{}{}", i == 0 ? "" : ", ", steps);
      for (const std::string_view region : {"<1;2,0>", "<2;2,1>"}) {
        const std::string block = fmt::format(
            "  %q = reg_read.u16x{0} r1{1}\n  %c = vconst.u16x{0} {{{2}}}\n  %p = add.u16x{0} %q, %c\n"
            "  %x = reg_gather.u32x{0} [%p]\n  reg_write.u32x{0} r10<1;1,0>, %x\n",
            lanes, region, constants);
        check(function_of(lanes, block), 8, 60 / EUMULATE_STEP);
      }
    }
}

TEST_CASE("bytes and words of any region are read") {
  Random random(1);
  const auto pick = [&](std::initializer_list<unsigned> from) {
    return from.begin()[random() % from.size()];
  };
  for (unsigned round = 0; round < 600 / EUMULATE_STEP; ++round) {
    const unsigned bytes = pick({1, 2}), lanes = pick({2, 4, 8, 16, 32}), width = pick({1, 2, 4, 8, 16});
    const unsigned vstride = pick({0, 1, 2, 4, 8, 16}), hstride = pick({0, 1, 2, 4});
    const std::string type = fmt::format("u{}x{}", 8 * bytes, lanes);
    const std::string block = fmt::format(
        "  %w = reg_read.u32x8 r4<1;1,0>\n  reg_write.u32x8 r5<1;1,0>, %w\n"  // one that is in a register
        "  %a = reg_read.{0} r5.{1}<{2};{3},{4}>\n  reg_write.{0} r30<1;1,0>, %a\n",
        type, random() % (32 / bytes), vstride, width, hstride);
    check(function_of(32, block), bytes, 2);
  }
}
