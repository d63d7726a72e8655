// Masked writes of a constant to flags: the flag bits that the mask preserves count as read, so earlier
// writes to them must not be dropped. Every engine is compared with the reference engine.
#include <catch2/catch.hpp>

#include "frontend/ir/builder.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// Writes sixteen flags, then four of them, then all of them again as `value` under the execution mask.
Function function_of(std::uint64_t value) {
  Function function;
  function.name = "flags";
  function.family = "gen9";
  function.simd = 32;
  function.file_bytes = 1024;
  function.blocks[function.add_block()].guest_instructions = 1;
  Builder b(function);
  const ValueId number = b.reg_read(Type::s32, 16, Region::packed(0));
  b.flag_write(16, b.compare(Op::cmp_lt, number, b.constant(Type::s32, 16, 0)));
  const ValueId few = b.reg_read(Type::s32, 4, Region::packed(128));
  const ValueId mask = b.mask_get(0);
  b.flag_write(16, b.compare(Op::cmp_ne, few, b.constant(Type::s32, 4, 0)), b.slice(mask, 16, 4));
  b.flag_write(16, b.constant(Type::m, 16, value), b.slice(mask, 0, 16));
  b.exit();
  return function;
}

}  // namespace

TEST_CASE("a constant written to flags under a mask leaves the others as they were") {
  for (const std::uint64_t value : {0x0000u, 0xffffu, 0x5a3cu}) expect_agreement(function_of(value), 1, 8);
}
