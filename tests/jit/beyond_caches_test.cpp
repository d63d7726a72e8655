// Which runs are prefetched, and which stores bypass the caches, when buffers are larger than the caches.
#include "jit/codegen/beyond_caches.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "jit/engine.hpp"
#include "tests/jit/text_cases.hpp"

using namespace eum;
using namespace eum::jit;

namespace {

struct Found {
  bool fetches_ahead = false;
  std::string streams;  ///< of each store, in order
};

/// A block with `body`, which may branch back to itself, between blocks with `before` and `behind`. %a holds
/// consecutive addresses of 16 channels; nothing is known about %d.
Found find(std::string_view before, std::string_view body, bool loops = false, std::string_view behind = "") {
  constexpr std::string_view addresses =
      "  %i = reg_read.u16x16 r1<1;1,0>\n  %w = convert.u32.u16x16 %i\n  %s = constant.u32x16 2\n"
      "  %a = shl.u32x16 %w, %s\n  %b = shl.u32x16 %a, %s\n  %d = reg_read.u32x16 r3<1;1,0>\n";
  ir::Function function = test::function_of_text(
      fmt::format("b0: ip 0 count 1\n{0}{1}  jump b1\n"
                  "b1: ip 16 count 1\n{0}{2}  %m = flag_read.mx16 f0.0\n  branch_any.mx16 %m, b{4}, b2\n"
                  "b2: ip 32 count 1\n{0}{3}  exit\n",
                  addresses, before, body, behind, loops ? 1 : 2));
  function.ids = {.offset = 32, .count = 16, .run = 16};
  Liveness liveness(function, 32, true);
  const codegen::LoopSlots slots(function, liveness);
  const Optimisations all;
  const LinearUses uses(function, liveness, false);
  const ScalarRuns runs(function, liveness, uses, all);
  const codegen::BeyondCaches found(function, runs, slots, RegionNumbers(function, StateLayout::of(function)),
                                    all);
  Found result{found.fetches_ahead(), {}};
  for (const ir::Block& block : function.blocks)
    for (const ir::Inst& inst : block.insts)
      if (inst.op == ir::Op::store) result.streams += found.is_stream(inst) ? '1' : '0';
  return result;
}

constexpr std::string_view load = "  %r = load.u32x16 surface3[%a]\n",
                           store = "  store.u32x16 surface4[%a], %d\n";

}  // namespace

TEST_CASE("stores of what is computed from other buffers are streams") {
  CHECK(find(load, store).streams == "1");
  CHECK(find("", store, false, load).streams == "1");
  CHECK(find("", store).streams == "0");  // nothing is read
  CHECK(find(load, "  store.u32x16 surface3[%a], %d\n").streams == "0");
  CHECK(find(load, fmt::format("{}  store.u32x16 surface3[%a], %d\n", store)).streams == "10");
  CHECK(find(load, fmt::format("{}  %o = atomic.u32x16 add surface4[%a], %d\n", store)).streams == "0");
}

TEST_CASE("stores in loops, and those of functions that read local memory, are no streams") {
  CHECK(find(load, store, true).streams == "0");
  CHECK(find(load, load, true, store).streams == "1");
  CHECK(find(fmt::format("{}{}", load, store), load, true).streams == "1");
  CHECK(find(load, store, false, "  %l = load.u32x16 slm[%a]\n").streams == "0");
  CHECK(find(load, store, false, "  store.u32x16 slm[%a], %d\n").streams == "10");
}

TEST_CASE("a surface that is known at run time alone may be any") {
  constexpr std::string_view index = "  %n = reg_read.u32x1 r6<1;1,0>\n";
  CHECK(find(load, store, false, fmt::format("{}  %q = load.u32x16 surface[%n][%a]\n", index)).streams ==
        "0");
  CHECK(find(load, fmt::format("{}  store.u32x16 surface[%n][%a], %d\n", index)).streams == "0");
}

TEST_CASE(
    "what is no run, or not all of one, is no stream, and neither are elements of less than four bytes") {
  CHECK(find(load, "  store.u32x16 surface4[%d], %a\n").streams == "0");
  CHECK(find(load, "  store.u32x16 surface4[%b], %d\n").streams == "0");
  CHECK(find(load, "  store.u32x16 surface4[%b] {0, 1, 2, 3}, %d, %d, %d, %d\n").streams == "1");
  CHECK(find(load, "  %h = convert.u16.u32x16 %d\n  store.u16x16 surface4[%a], %h\n").streams == "0");
}

TEST_CASE("runs are fetched ahead where several buffers are written, one of them by way of the caches") {
  const std::string both = fmt::format("{}  store.u32x16 surface5[%a], %d\n", store);
  CHECK(find("", both).fetches_ahead);
  CHECK_FALSE(find(load, both).fetches_ahead);
  CHECK(find(load, both, false, "  %q = load.u32x16 surface5[%a]\n").fetches_ahead);
  CHECK_FALSE(find("", store, false, store).fetches_ahead);
  CHECK_FALSE(find("", fmt::format("{}  store.u32x16 slm[%a], %d\n", store)).fetches_ahead);
  CHECK(find(load, fmt::format("{}  store.u32x16 surface5[%b] {{0, 1, 2, 3}}, %d, %d, %d, %d\n", store))
            .fetches_ahead);
  CHECK_FALSE(codegen::BeyondCaches().fetches_ahead());
}
