// Lanewise integer ops whose second operand is the same constant in every lane, and constants bitcast to
// another type, for which engines have shorter code: every engine against the reference engine, with
// constants at the edges of each type.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>

#include "frontend/ir/builder.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

Function empty_function() {
  Function function;
  function.name = "constant";
  function.family = "gen9";
  function.simd = 16;
  function.file_bytes = 1024;
  function.blocks[function.add_block()].guest_instructions = 1;
  return function;
}

Function function_of(Op op, Type type, std::uint64_t constant) {
  Function function = empty_function();
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

/// The edges of integers of `bytes`.
std::array<std::uint64_t, 8> edges(unsigned bytes) {
  const std::uint64_t top = std::uint64_t{1} << (8 * bytes - 1);
  return {0, 1, 5, top - 1, top, top + 1, 2 * top - 2, 2 * top - 1};
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
      for (const std::uint64_t constant : edges(size_of(type))) {
        expect_agreement(function_of(op, type, constant), cases, 3);
        cases += 3;
      }
    }
  }
  CHECK(cases > 1000);
}

TEST_CASE("the lesser and the greater of a number and a constant") {
  std::size_t cases = 0;
  for (const Op op : {Op::min, Op::max})
    for (const Type type : {Type::f32, Type::f64}) {
      const unsigned bits = 8 * size_of(type), fraction = type == Type::f32 ? 23 : 52;
      const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
      const std::uint64_t infinity = sign - (std::uint64_t{1} << fraction);
      const std::uint64_t one = infinity / 2 & infinity;
      for (const std::uint64_t magnitude :
           {std::uint64_t{0}, std::uint64_t{1}, one, infinity, infinity + 1, infinity | infinity >> 1})
        for (const std::uint64_t constant : {magnitude, magnitude | sign})
          for (const bool first : {true, false})
            for (const bool keeps : {true, false}) {
              Function function = empty_function();
              Builder b(function);
              b.effect(Op::fpmode_set, b.constant(Type::u32, 1, keeps ? 0x4c0 : 0x400));
              const ValueId a = b.reg_read(type, 16, Region::packed(0));
              const ValueId c = b.constant(type, 16, constant);
              b.reg_write(Region::packed(512), first ? b.lanewise(op, {c, a}) : b.lanewise(op, {a, c}));
              b.exit();
              expect_agreement(function, cases, 12);
              cases += 12;
            }
    }
  CHECK(cases > 1000);
}

TEST_CASE("constants as another type of the same size, one lane and all, and converted from there") {
  std::size_t cases = 0;
  for (std::size_t f = 0; f < type_count; ++f)
    for (std::size_t t = 0; t < type_count; ++t) {
      const Type from = static_cast<Type>(f), to = static_cast<Type>(t);
      if (from == to || is_mask(from) || is_mask(to) || size_of(from) != size_of(to)) continue;
      for (const std::uint64_t constant : edges(size_of(from)))
        for (const unsigned lanes : {1u, 16u}) {
          Function function = empty_function();
          Builder b(function);
          const ValueId other = b.convert(Op::bitcast, to, b.constant(from, lanes, constant));
          b.reg_write(Region::packed(256), other);
          if (is_int(to)) b.reg_write(Region::packed(512), b.convert(Op::convert, Type::s64, other));
          if (lanes == 1) b.reg_write(Region::packed(768), b.splat(other, 16));
          b.exit();
          expect_agreement(function, cases, 1);
          ++cases;
        }
    }
  CHECK(cases > 100);
}
