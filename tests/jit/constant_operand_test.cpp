// Lanewise integer ops whose second operand is the same constant in every lane, for which engines have
// shorter ways: every engine against the reference engine, with constants at the edges of each type.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "frontend/ir/builder.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

Function function_of(Op op, Type type, std::uint64_t constant) {
  Function function;
  function.name = "constant";
  function.family = "gen9";
  function.simd = 16;
  function.file_bytes = 1024;
  function.blocks[function.add_block()].guest_instructions = 1;
  Builder b(function);
  const ValueId a = b.reg_read(type, 16, Region::packed(0));
  const ValueId result = b.lanewise(op, {a, b.constant(type, 16, constant)});
  if (is_mask(b.type_of(result)))
    b.flag_write(0, result);
  else
    b.reg_write(Region::packed(512), result);
  b.exit();
  return function;
}

}  // namespace

TEST_CASE("operands that are constants at the edges of their types") {
  std::size_t cases = 0;
  for (std::size_t o = 0; o < op_count; ++o) {
    const Op op = static_cast<Op>(o);
    const Shape shape = info(op).shape;
    if (shape != Shape::Lanewise2 && shape != Shape::Compare) continue;
    for (std::size_t t = 0; t < type_count; ++t) {
      const Type type = static_cast<Type>(t);
      if (!is_int(type) || !takes(info(op).types, type)) continue;
      const std::uint64_t top = std::uint64_t{1} << (8 * size_of(type) - 1);
      for (const std::uint64_t constant : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5}, top - 1, top,
                                           top + 1, 2 * top - 2, 2 * top - 1}) {
        expect_agreement(function_of(op, type, constant), cases, 3);
        cases += 3;
      }
    }
  }
  CHECK(cases > 1000);
}
