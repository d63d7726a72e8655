// The ops that are not lanewise, on the reference engine, against results computed by hand. Every other
// engine runs the same texts.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <functional>

#include "frontend/ir/parser.hpp"
#include "frontend/ir/verifier.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// A function of 8 channels, 16 registers and 3 mask variables, from the text of its blocks.
ir::Function function_of(std::string_view blocks) {
  auto parsed = ir::parse(fmt::format("kernel @k simd 8 family gen9 file 512 slot 32 masks 3\n{}", blocks));
  if (!parsed) FAIL(parsed.error().message << "\n" << blocks);
  return std::move(*parsed);
}

/// Runs one block on every engine from the same state: each register byte holds its index, flags are 0, all
/// channels are active.
void on_every_engine(std::string_view blocks, const std::function<void(World&, const Executable&)>& body) {
  for (Engine* engine : every_engine()) {
    INFO(engine->name() << "\n" << blocks);
    const ir::Function function = function_of(blocks);
    const auto executable = compiled(*engine, function);
    World world;
    world.reset(function, 1);
    for (unsigned i = 0; i < function.file_bytes; ++i) world.file()[i] = static_cast<std::byte>(i);
    world.masks()[0] = 0xff;
    world.masks()[1] = 0x0f;
    world.masks()[2] = 0x55;
    world.set_flags(0);
    world.state().fp_mode = 0;
    body(world, *executable);
  }
}

void one_block(std::string_view text, const std::function<void(World&)>& check) {
  on_every_engine(fmt::format("b0: ip 0 count 1\n{}  exit\n", text),
                  [&](World& world, const Executable& executable) {
                    REQUIRE(world.run(executable).status == Status::Exited);
                    check(world);
                  });
}

template <class T>
T at(World& world, unsigned offset) {
  T value;
  std::memcpy(&value, world.file() + offset, sizeof value);
  return value;
}

}  // namespace

TEST_CASE("regions: rows, strides, scalars, elements of every size") {
  one_block("  %0 = reg_read.u16x8 r1.1<16;4,2>\n  reg_write.u16x8 r8.2<2;1,0>, %0\n", [](World& world) {
    // Lane i comes from 34 + (i / 4) * 32 + (i % 4) * 4 and goes to 260 + 4 * i.
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned from = 34 + i / 4 * 32 + i % 4 * 4;
      CHECK(at<std::uint8_t>(world, 260 + 4 * i) == from);
      CHECK(at<std::uint8_t>(world, 261 + 4 * i) == from + 1);
      CHECK(at<std::uint8_t>(world, 262 + 4 * i) ==
            ((262 + 4 * i) & 255));  // bytes between the elements are unchanged
    }
  });
  one_block("  %0 = reg_read.u8x8 r0.5<0;1,0>\n  reg_write.u8x8 r2<1;1,0>, %0\n",
            [](World& world) { CHECK(at<std::uint64_t>(world, 64) == 0x0505050505050505); });
  one_block("  %0 = reg_read.u64x2 reg[3]<1;1,0>\n  reg_write.u64x2 reg[65]<1;1,0>, %0\n", [](World& world) {
    CHECK(at<std::uint64_t>(world, 65) == 0x0a09080706050403);
    CHECK(at<std::uint64_t>(world, 73) == 0x1211100f0e0d0c0b);
    CHECK(at<std::uint8_t>(world, 64) == 64);
    CHECK(at<std::uint8_t>(world, 81) == 81);
  });
}

TEST_CASE("a masked write changes the lanes of its mask only") {
  one_block(
      "  %m = mask_get.mx8 mask2\n  %0 = constant.u32x8 0x11111111\n  reg_write.u32x8 r2<1;1,0>, %0 ? %m\n",
      [](World& world) {
        for (unsigned i = 0; i < 8; ++i)
          CHECK(at<std::uint8_t>(world, 64 + 4 * i) == (i % 2 == 0 ? 0x11 : 64 + 4 * i));
      });
}

TEST_CASE("sources are read before what overwrites them") {
  one_block(
      "  %0 = reg_read.u32x8 r1<1;1,0>\n  %1 = reg_read.u32x8 r1.1<1;1,0>\n  reg_write.u32x8 r1.1<1;1,0>, "
      "%0\n"
      "  reg_write.u32x8 r4<1;1,0>, %1\n",
      [](World& world) {
        CHECK(at<std::uint32_t>(world, 32) == 0x23222120);
        CHECK(at<std::uint32_t>(world, 36) == 0x23222120);
        CHECK(at<std::uint32_t>(world, 40) == 0x27262524);
        CHECK(at<std::uint32_t>(world, 128) == 0x27262524);
      });
}

TEST_CASE("indirect registers: gather, scatter, and the fault beyond the file") {
  one_block(
      "  %a = vconst.u16x4 {7, 100, 0, 508}\n  %0 = reg_gather.u32x4 [%a]\n  reg_write.u32x4 r3<1;1,0>, %0\n"
      "  %b = vconst.u16x4 {160, 161, 200, 65535}\n  %m = constant.mx4 0x7\n  reg_scatter.u32x4 [%b], %0 ? "
      "%m\n",
      [](World& world) {
        CHECK(at<std::uint32_t>(world, 96) == 0x0a090807);
        CHECK(at<std::uint32_t>(world, 100) == 0x67666564);
        CHECK(at<std::uint32_t>(world, 108) == 0xfffefdfc);
        CHECK(at<std::uint8_t>(world, 160) == 0x07);
        CHECK(at<std::uint32_t>(world, 161) == 0x67666564);
        CHECK(at<std::uint32_t>(world, 200) == 0x03020100);
      });
  on_every_engine(
      "b0: ip 0 count 1\n  %a = vconst.u16x4 {7, 509, 600, 0} @0x30\n  %0 = reg_gather.u32x4 [%a]\n  "
      "reg_write.u32x4 r3<1;1,0>, %0\n  exit\n",
      [](World& world, const Executable& executable) {
        const FinalState end = world.run(executable);
        REQUIRE(end.status == Status::Faulted);
        CHECK(end.state.fault.kind == FaultKind::BadRegister);
        CHECK(end.state.fault.guest_ip == 0x30);
        CHECK(end.state.fault.lane == 1);
        CHECK(end.state.fault.address == 509);
      });
}

TEST_CASE("masks and lanes: slice, concat, bits, groups, splat") {
  one_block(
      "  %0 = constant.mx8 0x93\n  %1 = slice.mx4 %0, 3\n  %2 = concat.mx12 %0, %1\n"
      "  %3 = mask_bits.u16x1 %2\n  reg_write.u16x1 r0<1;1,0>, %3\n"
      "  %4 = group_any.mx8 %0, 2\n  %5 = group_all.mx8 %0, 2\n  %6 = concat.mx16 %4, %5\n"
      "  flag_write.mx16 f1.0, %6\n  %7 = constant.u32x1 0x1234\n  %8 = bits_mask.mx8 %7\n"
      "  flag_write.mx8 f0.0, %8\n",
      [](World& world) {
        CHECK(at<std::uint16_t>(world, 0) == 0x293);  // lanes 3 to 6 of 0x93 are 0010
        CHECK(world.flags() == (std::uint64_t{0x03f3} << 32 | 0x34));
      });
  one_block(
      "  %0 = reg_read.u16x4 r1<1;1,0>\n  %1 = slice.u16x2 %0, 1\n  %2 = concat.u16x6 %1, %0\n"
      "  %3 = slice.u16x4 %2, 0\n  reg_write.u16x4 r4<1;1,0>, %3\n  %4 = slice.u16x1 %0, 3\n"
      "  %5 = splat.u16x8 %4\n  reg_write.u16x8 r5<1;1,0>, %5\n  %6 = vconst.s8x4 {1, -1, 3, 127}\n"
      "  reg_write.s8x4 r6<1;1,0>, %6\n",
      [](World& world) {
        CHECK(at<std::uint64_t>(world, 128) == 0x2322212025242322);
        CHECK(at<std::uint64_t>(world, 160) == 0x2726272627262726);
        CHECK(at<std::uint64_t>(world, 168) == 0x2726272627262726);
        CHECK(at<std::uint32_t>(world, 192) == 0x7f03ff01);
      });
}

TEST_CASE("parts of vectors, wherever they begin, and what is put in front of others") {
  constexpr unsigned to = 256, front = 416;  // bytes of the register file, of which each holds its number
  for (const unsigned bytes : {1u, 2u, 4u, 8u})
    for (const unsigned lanes : {8u, 16u, 32u})
      for (const unsigned count : {1u, 2u, 3u, 4u, 8u})
        for (const unsigned first : {0u, 1u, 3u, 4u, lanes - count}) {
          if (first + count > lanes) continue;
          const auto text = fmt::format(
              "  %0 = reg_read.u{0}x{1} r0<1;1,0>\n  %1 = slice.u{0}x{2} %0, {3}\n"
              "  reg_write.u{0}x{2} r8<1;1,0>, %1\n",
              8 * bytes, lanes, count, first);
          one_block(text, [&](World& world) {
            INFO(text);
            for (unsigned i = 0; i < count * bytes; ++i)
              REQUIRE(at<std::uint8_t>(world, to + i) == static_cast<std::uint8_t>(first * bytes + i));
            REQUIRE(at<std::uint8_t>(world, to + count * bytes) ==
                    static_cast<std::uint8_t>(to + count * bytes));
          });
        }
  for (const auto* type : {"u32", "f32"})
    for (const unsigned lanes : {8u, 16u, 32u}) {
      const auto text = fmt::format(
          "  %0 = reg_read.{0}x1 r13<1;1,0>\n  %1 = reg_read.{0}x{1} r0<1;1,0>\n"
          "  %2 = concat.{0}x{2} %0, %1\n  reg_write.{0}x{2} r8<1;1,0>, %2\n",
          type, lanes - 1, lanes);
      one_block(text, [&](World& world) {
        INFO(text);
        for (unsigned i = 0; i < 4 * lanes; ++i)
          REQUIRE(at<std::uint8_t>(world, to + i) == static_cast<std::uint8_t>(i < 4 ? front + i : i - 4));
      });
    }
}

TEST_CASE("groups of lanes that are no power of two") {
  one_block(
      "  %0 = constant.mx6 0x22\n  %1 = group_any.mx6 %0, 3\n  %2 = constant.mx6 0x38\n"
      "  %3 = group_all.mx6 %2, 3\n  %4 = concat.mx12 %1, %3\n  flag_write.mx12 f0.0, %4\n"
      "  %5 = constant.mx15 0x0801\n  %6 = group_any.mx15 %5, 5\n  flag_write.mx15 f1.0, %6\n"
      "  %7 = constant.mx15 0x7c1e\n  %8 = group_all.mx15 %7, 5\n  flag_write.mx15 f1.1, %8\n",
      [](World& world) {
        CHECK(world.flags() ==
              (std::uint64_t{0x7c00} << 48 | std::uint64_t{0x7c1f} << 32 | 0x38 << 6 | 0x3f));
      });
}

TEST_CASE("as many mask variables as a function may have") {
  const unsigned last = ir::max_mask_variables - 1;
  auto parsed = ir::parse(fmt::format(
      "kernel @k simd 8 family gen9 file 512 slot 32 masks {}\nb0: ip 0 count 1\n  %0 = mask_get.mx8 mask0\n"
      "  mask_set.mx8 mask{}, %0\n  jump b1\nb1: ip 0x10 count 1\n  %0 = mask_get.mx8 mask{}\n"
      "  flag_write.mx8 f0.0, %0\n  exit\n",
      last + 1, last, last));
  REQUIRE(parsed);
  REQUIRE(ir::verify(*parsed));
  for (Engine* engine : every_engine()) {
    const auto executable = compiled(*engine, *parsed);
    World world;
    world.reset(*parsed, 1);
    world.masks()[0] = 0x5a;
    const FinalState end = world.run(*executable);
    CHECK(end.status == Status::Exited);
    CHECK((world.flags() & 0xff) == 0x5a);
    CHECK(end.image.parked.at(last - 1) == 0x5a);
  }
}

TEST_CASE("flags and mask variables") {
  one_block(
      "  %0 = constant.mx8 0xa5\n  %m = constant.mx8 0xf0\n  flag_write.mx8 f0.1, %0\n"
      "  flag_write.mx8 flag[33], %0 ? %m\n  %1 = flag_read.mx8 flag[18]\n  mask_set.mx8 mask1, %1\n"
      "  %2 = mask_get.mx8 mask2\n  mask_set.mx8 mask0, %2\n",
      [](World& world) {
        CHECK(world.flags() == (std::uint64_t{0xa5} << 16 | std::uint64_t{0xa0} << 33));
        CHECK(world.masks()[1] == 0xa5 >> 2);
        CHECK(world.masks()[0] == 0x55);
      });
}

TEST_CASE("control: loop, budget at back edges, resume, barrier") {
  // b1 adds 1 to the first element of r0 until it is 5; every turn costs 2 instructions.
  const std::string_view blocks =
      "b0: ip 0x0 count 1\n  %0 = constant.u32x1 0\n  reg_write.u32x1 r0<1;1,0>, %0\n  jump b1\n"
      "b1: ip 0x10 count 2\n  %0 = reg_read.u32x1 r0<1;1,0>\n  %1 = constant.u32x1 1\n  %2 = add.u32x1 %0, "
      "%1\n"
      "  reg_write.u32x1 r0<1;1,0>, %2\n  %3 = constant.u32x1 5\n  %4 = cmp_lt.u32x1 %2, %3\n"
      "  branch_any.mx1 %4, b1, b2\n"
      "b2: ip 0x40 count 1\n  barrier_signal\n  wait b3\n"
      "b3: ip 0x50 count 1\n  exit\n";
  on_every_engine(blocks, [](World& world, const Executable& executable) {
    world.state().budget = 5;  // 1, and two turns of the loop
    FinalState end = world.run(executable);
    REQUIRE(end.status == Status::Paused);
    CHECK(end.state.resume == 1);
    CHECK(end.state.budget == 0);
    CHECK(at<std::uint32_t>(world, 0) == 2);
    world.state().budget = 1;  // one more turn; the budget may go below 0
    end = world.run(executable);
    REQUIRE(end.status == Status::Paused);
    CHECK(end.state.budget == -1);
    CHECK(at<std::uint32_t>(world, 0) == 3);
    world.state().budget = 100;
    end = world.run(executable);
    REQUIRE(end.status == Status::Waiting);
    CHECK(end.state.resume == 3);
    CHECK(end.state.barrier_signals == 1);
    CHECK(at<std::uint32_t>(world, 0) == 5);
    CHECK(end.state.budget == 100 - 4 - 1);
    CHECK(world.run(executable).status == Status::Exited);
  });
}

TEST_CASE("jump_ip goes to the block of that address, or faults; trap is a named fault") {
  const std::string_view blocks =
      "b0: ip 0x0 count 1\n  %0 = reg_read.u32x1 r0<1;1,0> @0x8\n  jump_ip.u32x1 %0\n"
      "b1: ip 0x10 count 1\n  exit\n"
      "b2: ip 0x20 count 1\n  trap \"not this\" @0x28\n";
  const auto run_from = [&](std::uint32_t ip, Status status, FaultKind kind, std::uint32_t fault_ip,
                            std::uint64_t address) {
    on_every_engine(blocks, [&](World& world, const Executable& executable) {
      std::memcpy(world.file(), &ip, 4);
      const FinalState end = world.run(executable);
      REQUIRE(end.status == status);
      CHECK(end.state.fault.kind == kind);
      CHECK(end.state.fault.guest_ip == fault_ip);
      CHECK(end.state.fault.address == address);
    });
  };
  run_from(0x10, Status::Exited, FaultKind::None, 0, 0);
  run_from(0x20, Status::Faulted, FaultKind::Unsupported, 0x28, 0);
  run_from(0x24, Status::Faulted, FaultKind::BadJump, 0x8, 0x24);
}

TEST_CASE("is_place holds where jump_ip finds a block; none finds one at an odd offset") {
  const std::string_view blocks =
      "b0: ip 0x0 count 1\n  %0 = reg_read.u32x1 r0<1;1,0>\n  %1 = is_place.u32x1 %0\n"
      "  %2 = mask_bits.u32x1 %1\n  reg_write.u32x1 r1<1;1,0>, %2\n  jump_ip.u32x1 %0 @0x8\n"
      "b1: ip 0x10 count 1\n  exit\n"
      "b2: ip 0x21 count 1\n  exit\n";
  for (const auto& [ip, place] : {std::pair{0x10u, 1u}, {0x18u, 0u}, {0x21u, 0u}, {0xffffffffu, 0u}})
    on_every_engine(blocks, [&, ip = ip, place = place](World& world, const Executable& executable) {
      CAPTURE(ip);
      std::memcpy(world.file(), &ip, 4);
      const FinalState end = world.run(executable);
      CHECK(at<std::uint32_t>(world, 32) == place);
      CHECK(end.status == (place != 0 ? Status::Exited : Status::Faulted));
    });
}

TEST_CASE("the FP mode acts and the host's comes back") {
  const std::string_view blocks =
      "b0: ip 0x0 count 1\n  %a = reg_read.f32x8 r0<0;1,0>\n  %b = reg_read.f32x8 r0.1<0;1,0>\n"
      "  %0 = add.f32x8 %a, %b\n  reg_write.f32x8 r4<1;1,0>, %0\n"
      "  %up = constant.u32x1 0x4d0\n  fpmode_set.u32x1 %up\n  %1 = add.f32x8 %a, %b\n"
      "  reg_write.f32x8 r5<1;1,0>, %1\n  exit\n";
  on_every_engine(blocks, [](World& world, const Executable& executable) {
    const unsigned host = __builtin_ia32_stmxcsr();
    const std::uint32_t one = 0x3f800000, tiny = 0x30000000;
    std::memcpy(world.file(), &one, 4);
    std::memcpy(world.file() + 4, &tiny, 4);
    const FinalState end = world.run(executable);
    REQUIRE(end.status == Status::Exited);
    CHECK(end.state.fp_mode == 0x4d0);
    CHECK((__builtin_ia32_stmxcsr() & ~0x3fu) == (host & ~0x3fu));
  });
  one_block(
      "  %a = constant.f32x8 0x3f800000\n  %b = constant.f32x8 0x30000000\n  %0 = add.f32x8 %a, %b\n"
      "  %up = constant.u32x1 0x4d0\n  fpmode_set.u32x1 %up\n  %1 = add.f32x8 %a, %b\n"
      "  reg_write.f32x8 r4<1;1,0>, %0\n  reg_write.f32x8 r5<1;1,0>, %1\n",
      [](World& world) {
        CHECK(at<std::uint32_t>(world, 128) == 0x3f800000);
        CHECK(at<std::uint32_t>(world, 160) == 0x3f800001);
      });
}

TEST_CASE("an engine refuses what is not well formed") {
  ir::Function broken = function_of("b0: ip 0 count 1\n  %0 = reg_read.u32x8 r15.1<1;1,0>\n  exit\n");
  auto executable = make_reference_engine()->compile(broken, {});
  REQUIRE_FALSE(executable);
  CHECK(executable.error().message.find("beyond the register file of 512 bytes") != std::string::npos);
}
