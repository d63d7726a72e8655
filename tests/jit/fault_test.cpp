// Ops that can fault do so even if their results are unused, and leave the state as it was before them, as
// the column `leaves` of ops.def says.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <map>

#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

struct Faulting {
  std::string_view text;  ///< the op; its results, if any, are unused
  FaultKind kind;
};

/// Each op of ops.def that can fault, with operands that make it fault: one case for every way in which an op
/// of its shape can be unused.
const std::multimap<ir::Op, Faulting>& faulting_ops() {
  static const std::multimap<ir::Op, Faulting> ops{
      {ir::Op::reg_gather,
       {"  %p = constant.u16x8 600\n  %0 = reg_gather.u32x8 [%p]\n", FaultKind::BadRegister}},
      {ir::Op::reg_gather,
       {"  %p = vconst.u16x2 {0, 511}\n  %m = constant.mx2 2\n  %0 = reg_gather.u16x2 [%p] ? %m\n",
        FaultKind::BadRegister}},
      {ir::Op::reg_scatter,
       {"  %p = constant.u16x1 509\n  %v = constant.u32x1 1\n  reg_scatter.u32x1 [%p], %v\n",
        FaultKind::BadRegister}},
      {ir::Op::load, {"  %p = constant.u64x8 16\n  %0 = load.u32x8 a64[%p]\n", FaultKind::OutOfBounds}},
      {ir::Op::load,
       {"  %p = constant.u32x8 0x10000\n  %0, %1 = load.u8x8 a32[%p] {0, 2}\n", FaultKind::OutOfBounds}},
      {ir::Op::load, {"  %p = constant.u32x1 126\n  %0 = load.u32x1 scratch[%p]\n", FaultKind::OutOfScratch}},
      {ir::Op::store,
       {"  %p = constant.u64x8 16\n  %v = constant.u32x8 1\n  store.u32x8 a64[%p], %v\n",
        FaultKind::OutOfBounds}},
      {ir::Op::atomic,
       {"  %p = constant.u64x8 16\n  %v = constant.u32x8 1\n  atomic.u32x8 add a64[%p], %v\n",
        FaultKind::OutOfBounds}},
      {ir::Op::atomic,
       {"  %p = constant.u32x8 0x2002\n  %v = constant.u32x8 1\n  %0 = atomic.u32x8 add a32[%p], %v\n",
        FaultKind::Misaligned}},
      {ir::Op::block_load,
       {"  %p = constant.u64x1 16\n  %0 = block_load.u32x8 a64[%p]\n", FaultKind::OutOfBounds}},
      {ir::Op::block_store,
       {"  %p = constant.u64x1 16\n  %v = constant.u32x8 1\n  block_store.u32x8 a64[%p], %v\n",
        FaultKind::OutOfBounds}},
      // Row 5 lies beyond the memory of the cut image; no dispatch has sampler 7.
      {ir::Op::sample,
       {"  %u = constant.u32x8 5\n  %0, %1 = sample.u32x8 ld_lz surface9 sampler0, %u, %u\n",
        FaultKind::OutOfBounds}},
      {ir::Op::sample,
       {"  %u = constant.u32x8 0\n  %0 = sample.u32x8 sample_lz surface8 sampler7, %u, %u\n",
        FaultKind::Image}},
      {ir::Op::typed_read,
       {"  %u = constant.u32x8 5\n  %0 = typed_read.u32x8 surface9 coordinates 2 components 0x1, %u, %u\n",
        FaultKind::OutOfBounds}},
      {ir::Op::typed_write,
       {"  %u = constant.u32x8 5\n  typed_write.u32x8 surface9 coordinates 2 components 0x1, %u, %u, %u\n",
        FaultKind::OutOfBounds}},
      {ir::Op::typed_atomic,
       {"  %u = constant.u32x8 5\n  %0 = typed_atomic.u32x8 add surface9 coordinates 2, %u, %u, %u\n",
        FaultKind::OutOfBounds}},
      {ir::Op::media_read,
       {"  %x = constant.u32x1 0\n  %y = constant.u32x1 5\n  %s = constant.u32x1 0x1f\n"
        "  %0 = media_read.u32x8 surface9, %x, %y, %s\n",
        FaultKind::OutOfBounds}},
      {ir::Op::media_write,
       {"  %x = constant.u32x1 0\n  %y = constant.u32x1 5\n  %s = constant.u32x1 0x1f\n"
        "  %v = constant.u32x8 1\n  media_write.u32x8 surface9, %x, %y, %s, %v\n",
        FaultKind::OutOfBounds}},
      {ir::Op::jump_ip, {"  %i = constant.u32x1 0x999\n  jump_ip.u32x1 %i\n", FaultKind::BadJump}},
  };
  return ops;
}

/// Runs the same text on every engine; `check` sees how each ends.
void on_every_engine(std::string_view text, bool exact,
                     const std::function<void(World&, const FinalState&)>& check) {
  for (Engine* engine : every_engine()) {
    INFO(engine->name() << (exact ? ", exact\n" : "\n") << text);
    ir::Function function = function_of_text(text);
    CompileOptions options;
    options.exact_registers = exact;
    auto executable = engine->compile(function, options);
    if (!executable) FAIL(executable.error().message);
    World world;
    world.reset(function, 5);
    std::memset(world.file(), 0, function.file_bytes);
    world.masks()[0] = 0xff;
    world.masks()[2] = 0;
    world.set_flags(0);
    world.state().fp_mode = 0;
    check(world, world.run(**executable));
  }
}

std::uint32_t dword_of(const FinalState& end, unsigned offset) {
  std::uint32_t value;
  std::memcpy(&value, end.image.registers.data() + offset, sizeof value);
  return value;
}

}  // namespace

TEST_CASE("faults: every op that can fault has a case") {
  for (std::size_t o = 0; o < ir::op_count; ++o) {
    const auto op = static_cast<ir::Op>(o);
    INFO(ir::op_name(op));
    CHECK((ir::info(op).leaves == ir::Leaves::Faults) == (faulting_ops().count(op) != 0));
  }
}

TEST_CASE("faults: an op whose result is dead faults all the same") {
  for (const auto& [op, one] : faulting_ops())
    for (bool exact : {true, false}) {
      const bool ends = ir::info(op).effect == ir::Effect::Control;
      const std::string text = fmt::format("b0: ip 0x40 count 1\n{}{}", one.text, ends ? "" : "  exit\n");
      on_every_engine(text, exact, [&, kind = one.kind](World&, const FinalState& end) {
        CHECK(end.status == Status::Faulted);
        CHECK(end.state.fault.kind == kind);
        CHECK(end.state.fault.guest_ip == 0x40);
      });
    }
}

TEST_CASE("faults: lanes that are instructions of their own have been done up to the one that faults") {
  const auto text = [](std::string_view places, bool same = false) {
    return fmt::format(
        "b0: ip 0x40 count 4\n  %v = vconst.u32x8 {{1, 2, 3, 4, 5, 6, 7, 8}}\n  reg_write.u32x8 r1<1;1,0>, "
        "%v\n"
        "  %p = vconst.u16x8 {{{}}}\n  %0 = reg_read.u32x8 r1<{};1,0>\n"
        "  reg_scatter.u32x8 [%p own {}32 ip 16], %0\n  exit\n",
        places, same ? 0 : 1, same ? "same " : "");
  };
  // The third lane overwrites what the second one has read.
  on_every_engine(text("64, 68, 36, 72, 76, 80, 84, 28"), true, [](World&, const FinalState& end) {
    CHECK(end.status == Status::Exited);
    CHECK(dword_of(end, 68) == 2);
    CHECK(dword_of(end, 36) == 3);
    CHECK(dword_of(end, 28) == 8);
  });
  // Each lane writes what the next one reads.
  on_every_engine(text("36, 40, 44, 48, 52, 56, 60, 64"), true, [](World&, const FinalState& end) {
    for (unsigned at = 32; at <= 64; at += 4) CHECK(dword_of(end, at) == 1);
  });
  on_every_engine(text("64, 68, 72, 76, 80, 84, 88, 509"), true, [](World&, const FinalState& end) {
    REQUIRE(end.status == Status::Faulted);
    CHECK(end.state.fault.kind == FaultKind::BadRegister);
    CHECK(end.state.fault.guest_ip == 0x40 + 7 * 16);
    CHECK(end.state.fault.lane == 0);
    CHECK(end.state.fault.address == 509);
    CHECK(dword_of(end, 88) == 7);
  });
  // All lanes read the first value, of which the third lane overwrites a byte.
  on_every_engine(text("64, 68, 33, 72, 76, 80, 84, 88", true), true, [](World&, const FinalState& end) {
    CHECK(end.status == Status::Exited);
    CHECK(dword_of(end, 68) == 1);
    CHECK(dword_of(end, 32) == 0x101);
    CHECK(dword_of(end, 36) == 0);
    CHECK(dword_of(end, 88) == 0x101);
  });
  // Lanes 2 and 3 write next to that value, not into it.
  on_every_engine(text("64, 68, 36, 28, 76, 80, 84, 509", true), true, [](World&, const FinalState& end) {
    REQUIRE(end.status == Status::Faulted);
    CHECK(end.state.fault.guest_ip == 0x40 + 7 * 16);
    CHECK(dword_of(end, 28) == 1);
    CHECK(dword_of(end, 36) == 1);
    CHECK(dword_of(end, 84) == 1);
  });
}

TEST_CASE("faults: no lane under the mask, no fault") {
  for (std::string_view op : {"  %0 = reg_gather.u32x8 [%p] ? %m\n", "  reg_scatter.u32x8 [%p], %v ? %m\n",
                              "  %0 = load.u32x8 a64[%q] ? %m\n", "  store.u32x8 a64[%q], %v ? %m\n",
                              "  atomic.u32x8 add a64[%q], %v ? %m\n"})
    for (std::string_view mask : {"constant.mx8 0", "flag_read.mx8 f0.0"})
      on_every_engine(
          fmt::format("b0: ip 0x40 count 1\n  %m = {}\n  %v = constant.u32x8 1\n  %p = constant.u16x8 "
                      "600\n  %q = constant.u64x8 16\n{}  exit\n",
                      mask, op),
          true, [](World&, const FinalState& end) { CHECK(end.status == Status::Exited); });
}

TEST_CASE("faults: the state is that before the instruction, also where it is overwritten behind it") {
  for (const auto& [op, one] : faulting_ops()) {
    const bool ends = ir::info(op).effect == ir::Effect::Control;
    const std::string text = fmt::format(
        "b0: ip 0x10 count 2\n"
        "  %seven = constant.u32x8 7\n  reg_write.u32x8 r10<1;1,0>, %seven\n"
        "  %half = constant.u16x1 0x55\n  reg_write.u16x1 r11.3<1;1,0>, %half\n"
        "  %f = constant.mx16 0xa5a5\n  flag_write.mx16 f0.0, %f\n"
        "  %k = constant.mx8 0x0f\n  mask_set.mx8 mask2, %k\n"
        "{}{}",
        // The op gets an ip of its own.
        std::string(one.text).insert(one.text.rfind('\n'), " @0x40"),
        ends ? ""
             : "  %nine = constant.u32x8 9\n  reg_write.u32x8 r10<1;1,0>, %nine\n"
               "  reg_write.u32x8 r11<1;1,0>, %nine\n  %g = constant.mx16 1\n  flag_write.mx16 f0.0, %g\n"
               "  mask_set.mx8 mask2, %k\n  exit\n");
    on_every_engine(text, true, [&](World&, const FinalState& end) {
      REQUIRE(end.status == Status::Faulted);
      CHECK(end.image.ip == 0x40);
      for (unsigned lane = 0; lane < 8; ++lane) CHECK(dword_of(end, 10 * 32 + 4 * lane) == 7);
      CHECK(dword_of(end, 11 * 32 + 4) == 0x550000);
      CHECK(end.image.flags[0] == std::byte{0xa5});
      CHECK(end.image.flags[1] == std::byte{0xa5});
      CHECK(end.image.parked[1] == 0x0f);
    });
  }
}

TEST_CASE("faults: register addresses end where the function says, not where the file does") {
  const auto text = [](std::string_view op, unsigned address) {
    return fmt::format(
        "kernel @k simd 8 family gen9 file 512 slot 32 indirect 256 masks 3\nb0: ip 0x40 count 1\n"
        "  %p = constant.u16x1 {}\n  %v = constant.u32x1 0x12345678\n{}  exit\n",
        address, op);
  };
  const std::string_view gather = "  %0 = reg_gather.u32x1 [%p]\n  reg_write.u32x1 r0<1;1,0>, %0\n",
                         scatter = "  reg_scatter.u32x1 [%p], %v\n";
  for (std::string_view op : {gather, scatter}) {
    on_every_engine(text(op, 252), true,
                    [](World&, const FinalState& end) { CHECK(end.status == Status::Exited); });
    for (unsigned address : {253u, 256u, 288u, 508u, 512u, 0xfffeu})
      on_every_engine(text(op, address), true, [address](World&, const FinalState& end) {
        REQUIRE(end.status == Status::Faulted);
        CHECK(end.state.fault.kind == FaultKind::BadRegister);
        CHECK(end.state.fault.address == address);
        for (unsigned at = 0; at < 512; at += 4) CHECK(dword_of(end, at) == 0);
      });
  }
}

TEST_CASE("faults: an element larger than the file") {
  on_every_engine(
      "kernel @k simd 8 family gen9 file 4 slot 32 masks 3\nb0: ip 0x40 count 1\n  %p = constant.u16x1 "
      "0x4000\n"
      "  %v = constant.u64x1 1\n  reg_scatter.u64x1 [%p], %v\n  exit\n",
      true, [](World&, const FinalState& end) {
        REQUIRE(end.status == Status::Faulted);
        CHECK(end.state.fault.kind == FaultKind::BadRegister);
      });
}
