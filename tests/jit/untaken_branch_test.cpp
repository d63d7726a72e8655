// An `if` whose mask is zero because the flag was set just before it, as in the macros for IEEE division:
// engines that turn it into a jump leave the masks, flags and registers that the reference engine leaves,
// whatever channels are active or parked at the reconvergence point; so do those that continue there in the
// version for all channels.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "frontend/ir/printer.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// The channels in r5 are parked before the branch; at the start none are. `flag` writes the flag bits of
/// channels 4 to 7, on which the branch depends.
Function macro(std::string_view flag) {
  return function_of_text(fmt::format(R"(b0: ip 0x0 count 2
  %q = reg_read.u32x1 r5<1;1,0>
  %w = bits_mask.m.u32x8 %q
  mask_set.mx8 mask1, %w
  %e = mask_get.mx8 mask0
  %h = slice.mx4 %e, 4
  %x = reg_read.u32x8 r1<1;1,0>
  reg_write.u32x8 r2<1;1,0>, %x ? %e
  %c = constant.mx4 0xf
  {}
  %f = flag_read.mx4 flag[4]
  %n = not.mx4 %f
  %a = and.mx4 %h, %n
  %z = constant.mx4 0x0
  %m = concat.mx8 %z, %a
  %p = andn.mx8 %m, %e
  %k = mask_get.mx8 mask1
  %o = or.mx8 %k, %p
  mask_set.mx8 mask1, %o
  mask_set.mx8 mask0, %m
  branch_any.mx8 %m, b1, b2
b1: ip 0x10 count 1
  %e = mask_get.mx8 mask0
  %x = reg_read.u32x8 r4<1;1,0>
  reg_write.u32x8 r2<1;1,0>, %x ? %e
  jump b2
b2: ip 0x20 count 5
  %k = mask_get.mx8 mask1
  %e = mask_get.mx8 mask0
  %o = or.mx8 %e, %k
  mask_set.mx8 mask0, %o
  %z = constant.mx8 0x0
  mask_set.mx8 mask1, %z
  %x = reg_read.u32x8 r3<1;1,0>
  %y = reg_read.u32x8 r2<1;1,0>
  %s = add.u32x8 %x, %y
  reg_write.u32x8 r3<1;1,0>, %s ? %o
  exit
)",
                                      flag));
}

}  // namespace

TEST_CASE("branches that no channel takes leave what the reference engine leaves") {
  for (const char* flag : {"flag_write.mx4 flag[4], %c ? %h", "flag_write.mx4 flag[4], %c",
                           "%l = slice.mx4 %e, 0\n  flag_write.mx4 flag[4], %c ? %l"}) {
    const Function function = macro(flag);
    const auto reference = compiled(*make_reference_engine(), function);
    for (const auto& engine : other_engines())
      for (const bool exact : {true, false}) {
        const auto other = compiled(*engine, function, {.exact_registers = exact});
        static World expected, found;
        for (const std::uint32_t on : {0xffu, 0xf0u, 0x0fu, 0x81u, 0u})
          for (const std::uint32_t parked : {0u, 0x18u, 0xffu}) {
            const auto place = [&](World& world) {
              world.reset(function, on + parked);
              world.masks()[0] = on;
              world.masks()[1] = 0;
              std::memcpy(world.file() + 5 * function.slot_bytes, &parked, sizeof parked);
            };
            place(expected);
            place(found);
            INFO(fmt::format("{}: on {:#x}, parked {:#x}", flag, on, parked));
            CHECK(difference(expected.run(*reference), found.run(*other), exact) == "");
          }
      }
  }
}
