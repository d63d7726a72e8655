// Every mix of rounding and denormal modes of f32, f64 and f16 against an independent model
// (float_model.hpp), which flushes operands and results by the modes of their own types. The engines'
// switching of MXCSR is tested by mixing types in one block.
#include <fmt/format.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "jit/fpmode.hpp"
#include "tests/jit/float_model.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;
using ir::Type;

namespace {

/// Zero, denormals and numbers next to the least normal one: within a factor of 2^60 of each other in each
/// format.
std::vector<std::uint64_t> operands(const Format& f) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * f.bytes - 1), one = std::uint64_t{1} << f.fraction;
  return {0,       sign,        1,          sign | 1,         one - 1,     sign | (one - 1),
          one,     sign | one,  one + 1,    sign | (one + 1), one * 2 + 3, sign | (one * 3 - 1),
          one / 2, one * 2 - 1, one | 0x55, sign | one * 2};
}
/// Factors whose products with those operands are near the least normal number.
std::vector<std::uint64_t> factors(const Format& f) {
  const auto bias = static_cast<std::uint64_t>(1 - f.least);
  const auto make = [&](int exponent, std::uint64_t fraction) {
    return (bias + static_cast<std::uint64_t>(exponent)) << f.fraction | fraction;
  };
  return {make(0, 0), make(-1, 0), make(-1, 1), make(0, 3), make(-3, 5), make(1, 1), make(-2, 7), make(2, 0)};
}

/// One op of the block: 16 lanes of results from two or three operands in registers.
struct Op {
  std::string text;  ///< over %a, %b, %c
  const Format *from, *to;
  bool is_compare = false;

  bool is_convert() const { return text.starts_with("convert"); }
};

std::uint64_t expected(const Op& op, const Mode& mode, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const Number x = mode.operand(a, *op.from);
  if (op.text == "convert") return mode.result(x, *op.to);
  if (op.text == "convert_keep") return encode(decode(a, *op.from), *op.to, mode.rounding(), true);
  const Number y = mode.operand(b, *op.from);
  if (op.is_compare) {
    const Number difference = add(x, {!y.is_negative, y.significand, y.exponent}, 0);
    return difference.significand != 0 && difference.is_negative ? 1 : 0;
  }
  if (op.text == "add") return mode.result(add(x, y, mode.rounding()), *op.to);
  if (op.text == "mul") return mode.result(mul(x, y), *op.to);
  return mode.result(add(mul(x, y), mode.operand(c, *op.from), mode.rounding()), *op.to);
}

}  // namespace

TEST_CASE("fp mode: every mix of cr0 x op x type, alone and mixed, is that of a model of its own") {
  constexpr unsigned lanes = 16, step = 128;  // registers of 16 lanes of 8 bytes
  std::vector<Op> ops;
  for (const Format* f : {&f32, &f64, &f16})
    for (const char* name : {"add", "mul", "fma", "cmp_lt"})
      ops.push_back({name, f, f, std::string_view(name) == "cmp_lt"});
  for (const Format* from : {&f64, &f32, &f16})
    for (const Format* to : {&f32, &f16, &f64})
      if (from != to && !(from == &f64 && to == &f16)) ops.push_back({"convert", from, to});
  ops.push_back({"convert_keep", &f64, &f32});
  ops.push_back({"convert_keep", &f32, &f64});

  // Each op has its own operands. In this order types alternate, and switches go in both directions.
  std::string text =
      fmt::format("kernel @k simd 16 family gen9 file 16384 slot 32 masks 1\nb0: ip 0 count 1\n");
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::size_t o = i * 5 % ops.size();
    const Op& op = ops[o];
    const auto from = ir::info(op.from->type).name, to = ir::info(op.to->type).name;
    for (unsigned k = 0; k < 3; ++k)
      text += fmt::format("  %{}{} = reg_read.{}x16 reg[{}]<1;1,0>\n", "abc"[k], o, from, (4 * o + k) * step);
    const std::string place = fmt::format("reg[{}]<1;1,0>", (4 * o + 3) * step);
    if (op.is_convert())
      text += fmt::format("  %r{0} = {1}.{2}.{3}x16 %a{0}\n", o, op.text, to, from);
    else if (op.text == "fma")
      text += fmt::format("  %r{0} = fma.{1}x16 %a{0}, %b{0}, %c{0}\n", o, to);
    else
      text += fmt::format("  %r{0} = {1}.{2}x16 %a{0}, %b{0}\n", o, op.text, to);
    if (op.is_compare)
      text += fmt::format("  %n{0} = mask_bits.u16x1 %r{0}\n  reg_write.u16x1 {1}, %n{0}\n", o, place);
    else
      text += fmt::format("  reg_write.{}x16 {}, %r{}\n", to, place, o);
  }
  text += "  exit\n";
  const ir::Function function = function_of_text(text);

  std::size_t compared = 0, denormal = 0;
  for (Engine* engine : every_engine()) {
    const auto executable = compiled(*engine, function);
    World world;
    for (unsigned mix = 0; mix < 32; ++mix)
      for (unsigned round = 0; round < 8; ++round) {
        const Mode mode{(mix & 3) << 4 | (mix >> 2 & 1) << 6 | (mix >> 3 & 1) << 7 | (mix >> 4 & 1) << 10};
        world.reset(function, 1);
        world.state().fp_mode = mode.cr0;
        world.masks()[0] = 0xffff;
        std::vector<std::array<std::array<std::uint64_t, lanes>, 3>> inputs(ops.size());
        for (std::size_t o = 0; o < ops.size(); ++o) {
          const Format& f = *ops[o].from;
          std::vector<std::uint64_t> small = operands(f), near = factors(f);
          // Narrowing conversions: numbers of the wider format around the least ones of the narrower.
          if (ops[o].is_convert() && f.fraction > ops[o].to->fraction) {
            const Format& to = *ops[o].to;
            small = operands(to);
            for (std::size_t i = 0; i < small.size(); ++i) {
              const Number n = decode(small[i], to);
              small[i] = encode({n.is_negative, n.significand * 8 + i % 8, n.exponent - 3}, f, 0, true);
            }
            small[0] = 1;  // the wider format's own least number
          }
          for (unsigned lane = 0; lane < lanes; ++lane) {
            const bool is_sum = ops[o].text == "add" || ops[o].is_compare;
            inputs[o][0][lane] = small[(lane + round) % small.size()];
            inputs[o][1][lane] = is_sum ? small[(lane * 3 + round * 5) % small.size()]
                                        : near[(lane + round * 3) % near.size()];
            inputs[o][2][lane] = small[(lane * 7 + round) % small.size()];
          }
          for (unsigned k = 0; k < 3; ++k)
            for (unsigned lane = 0; lane < lanes; ++lane)
              std::memcpy(world.file() + (4 * o + k) * step + lane * f.bytes, &inputs[o][k][lane], f.bytes);
        }
        REQUIRE(world.run(*executable).status == Status::Exited);
        CHECK(world.state().fp_mode == mode.cr0);
        for (std::size_t o = 0; o < ops.size(); ++o)
          for (unsigned lane = 0; lane < lanes; ++lane) {
            const Op& op = ops[o];
            std::uint64_t got = 0;
            if (op.is_compare) {
              std::memcpy(&got, world.file() + (4 * o + 3) * step, 2);
              got = got >> lane & 1;
            } else {
              std::memcpy(&got, world.file() + (4 * o + 3) * step + lane * op.to->bytes, op.to->bytes);
            }
            const auto& in = inputs[o];
            const std::uint64_t wanted = expected(op, mode, in[0][lane], in[1][lane], in[2][lane]);
            ++compared;
            if (!op.is_compare && wanted != 0 && decode(wanted, *op.to).significand >> op.to->fraction == 0)
              ++denormal;
            if (got != wanted) {
              FAIL_CHECK(engine->name()
                         << fmt::format(": {}.{}.{} cr0 {:#x} of {:#x}, {:#x}, {:#x}: {:#x}, expected {:#x}",
                                        op.text, ir::info(op.to->type).name, ir::info(op.from->type).name,
                                        mode.cr0, in[0][lane], in[1][lane], in[2][lane], got, wanted));
              return;
            }
          }
      }
  }
  CHECK(compared == every_engine().size() * 32 * 8 * ops.size() * lanes);
  CHECK(denormal > compared / 20);  // the modes matter here
}

TEST_CASE("fp mode: set to constants one after the other, in blocks that part and meet") {
  Random random(7);
  const std::vector<std::string_view> types{"f32", "f64", "f16"};
  const auto pick = [&](std::size_t count) { return random() % count; };
  std::size_t compared = 0;
  for (unsigned round = 0; round < 400; ++round) {
    unsigned next = 0;
    std::string text = "kernel @k simd 8 family gen9 file 4096 slot 32 masks 1\n";
    const auto set = [&] {
      const unsigned n = next++;
      text += fmt::format(
          "  %m{} = constant.u32x1 {:#x}\n  fpmode_set.u32x1 %m{}\n", n,
          pick(4) << cr0_bit::Rounding | pick(4) << cr0_bit::Keep64 | pick(2) << cr0_bit::Keep16, n);
    };
    const auto compute = [&] {
      const unsigned n = next++;
      const std::string_view from = types[pick(3)], to = types[pick(3)];
      text += fmt::format("  %a{0} = reg_read.{1}x8 reg[{2}]<1;1,0>\n", n, from, 64 * pick(16));
      if (from == to || pick(3) == 0)
        text += fmt::format("  %r{0} = mul.{1}x8 %a{0}, %a{0}\n  reg_write.{1}x8 reg[{2}]<1;1,0>, %r{0}\n", n,
                            from, 1024 + 64 * pick(48));
      else
        text += fmt::format("  %r{0} = convert.{1}.{2}x8 %a{0}\n  reg_write.{1}x8 reg[{3}]<1;1,0>, %r{0}\n",
                            n, to, from, 1024 + 64 * pick(48));
      if (pick(4) == 0)
        text += fmt::format(
            "  %p{0} = constant.u32x8 {1}\n  %v{0} = reg_read.u32x8 reg[0]<1;1,0>\n"
            "  store.u32x8 surface3[%p{0}], %v{0}\n",
            n, pick(240) * 4);
    };
    const auto block = [&](unsigned number, std::string_view end) {
      text += fmt::format("b{}: ip {:#x} count 1\n", number, 16 * number);
      for (std::size_t parts = 1 + pick(6); parts > 0; --parts) pick(2) == 0 ? set() : compute();
      text += end;
    };
    const bool begins = pick(2) == 0;
    if (begins) {
      text += "b0: ip 0 count 1\n";
      set();
      text += "  jump b1\n";
    } else {
      block(0, "  jump b1\n");
    }
    block(1,
          "  %q = reg_read.u8x8 reg[0]<1;1,0>\n  %k = constant.u8x8 0x18\n"
          "  %c = cmp_lt.u8x8 %q, %k\n  branch_any.mx8 %c, b2, b3\n");
    block(2, "  jump b3\n");
    block(3, "  exit\n");
    const ir::Function function = function_of_text(text);
    const auto reference = make_reference_engine();
    for (const auto& engine : other_engines()) {
      World x, y;
      x.reset(function, round);
      y.reset(function, round);
      const std::string found =
          difference(x.run(*compiled(*reference, function)), y.run(*compiled(*engine, function)));
      if (!found.empty()) FAIL(engine->name() << ": " << found << '\n' << text);
      ++compared;
    }
  }
  CHECK(compared == 400 * other_engines().size());
}
