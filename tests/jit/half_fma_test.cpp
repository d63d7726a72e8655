// fma of f16 rounds once: compared with exact sums (float_model.hpp) in every rounding and denormal mode, for
// operands whose sums lie on and next to midpoints of f16, where an intermediate f32 would round to a tie.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "tests/jit/float_model.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

struct Operands {
  std::uint16_t a, b, c;
};

constexpr unsigned fraction = 10, exponents = 31;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {
    for (unsigned m = 1024; m < 2048; ++m)
      for (unsigned n = m; n < 2048; ++n)
        for (const unsigned power : {1u << 20, 1u << 21})
          if (m * n + 40 > power && m * n < power + 40) near_power_.push_back({m, n});
  }

  Operands next() {
    switch (below(5)) {
      case 0:
        return {half(), half(), half()};
      case 1: {  // c, and a product near half of c's last place
        const std::uint16_t c = half();
        const auto [m, n] = near_power_[below(near_power_.size())];
        const int place = std::max<int>(c >> fraction & exponents, 1) - 25 - 1;  // 2^place is that half
        const int first = static_cast<int>(below(20)) - 14;
        return {float_of(m, first), float_of(n, place - first + static_cast<int>(below(3)) - 1), c};
      }
      case 2: {  // a product with few bits, and a much smaller addend
        const unsigned m = 2 * below(32) + 1, n = 2 * below(32) + 1;
        const int first = static_cast<int>(below(24)) - 14, second = static_cast<int>(below(24)) - 14;
        return {float_of(m, first), float_of(n, second), static_cast<std::uint16_t>(half() & 0x87ff)};
      }
      case 3:
        return {half(), half(), static_cast<std::uint16_t>(half() & 0x83ff)};
      default: {  // c such that the sum is next to a midpoint
        const std::uint16_t a = half(), b = half();
        const Number product = mul(decode(a, f16), decode(b, f16));
        const auto near = static_cast<std::uint16_t>(encode(product, f16, 3, true));
        if ((near & 0x7fff) >= 0x7b00) return {a, b, half()};
        Number middle = decode(near + below(4), f16);
        middle.significand = 2 * middle.significand + 1;
        middle.exponent -= 1;
        const Number rest = add(middle, {!product.is_negative, product.significand, product.exponent}, 0);
        return {a, b, static_cast<std::uint16_t>(encode(rest, f16, below(4), true))};
      }
    }
  }

 private:
  unsigned below(std::size_t bound) { return static_cast<unsigned>(random_() % bound); }
  /// A random finite number.
  std::uint16_t half() {
    for (;;) {
      const auto bits = static_cast<std::uint16_t>(random_());
      if ((bits >> fraction & exponents) != exponents) return bits;
    }
  }
  /// `significand` scaled until its leading bit has the exponent `first`, rounded to zero, with a random
  /// sign.
  std::uint16_t float_of(unsigned significand, int first) {
    int top = 31;
    while ((significand >> top & 1) == 0) --top;
    const bool is_negative = below(2) != 0;
    return static_cast<std::uint16_t>(encode({is_negative, significand, first - top}, f16, 3, true));
  }

  std::mt19937_64 random_;
  std::vector<std::pair<unsigned, unsigned>> near_power_;
};

}  // namespace

TEST_CASE("fma of f16 rounds once, in every mode") {
  constexpr unsigned lanes = 32, ops = 60, bytes = 2 * lanes;
  std::string text =
      fmt::format("kernel @k simd 32 family gen9 file 16384 slot 32 masks 1\nb0: ip 0 count 1\n");
  for (unsigned o = 0; o < ops; ++o) {
    // Some ops are narrow, and some operands are used again.
    const unsigned wide = o % 6 == 4 ? 8 : o % 6 == 5 ? 16 : lanes;
    for (unsigned k = 0; k < 3; ++k)
      text +=
          fmt::format("  %{}{} = reg_read.f16x{} reg[{}]<1;1,0>\n", "abc"[k], o, wide, (4 * o + k) * bytes);
    text += fmt::format("  %r{0} = fma.f16x{1} %a{0}, %b{0}, %c{0}\n", o, wide);
    text += fmt::format("  reg_write.f16x{1} reg[{2}]<1;1,0>, %r{0}\n", o, wide, (4 * o + 3) * bytes);
  }
  text += "  exit\n";
  const ir::Function function = function_of_text(text);

  for (Engine* engine : every_engine()) {
    const auto executable = compiled(*engine, function);
    Generator generator(20261123);
    World world;
    std::size_t hard = 0, denormal = 0;
    const unsigned rounds = engine == every_engine().front() ? 80 : 400;
    for (unsigned round = 0; round < rounds; ++round) {
      const Mode mode{(round & 3) << 4 | (round >> 2 & 1) << 7 | (round >> 3 & 1) << 10 | 1u << 6};
      world.reset(function, 1);
      world.state().fp_mode = mode.cr0;
      world.masks()[0] = 0xffffffff;
      std::vector<Operands> operands(ops * lanes);
      for (std::size_t i = 0; i < operands.size(); ++i) {
        operands[i] = generator.next();
        std::byte* const at = world.file() + 4 * (i / lanes) * bytes + 2 * (i % lanes);
        std::memcpy(at, &operands[i].a, 2);
        std::memcpy(at + bytes, &operands[i].b, 2);
        std::memcpy(at + 2 * bytes, &operands[i].c, 2);
      }
      REQUIRE(world.run(*executable).status == Status::Exited);
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const unsigned o = static_cast<unsigned>(i / lanes), lane = static_cast<unsigned>(i % lanes);
        if (lane >= (o % 6 == 4 ? 8 : o % 6 == 5 ? 16 : lanes)) continue;
        std::uint16_t got;
        std::memcpy(&got, world.file() + (4 * o + 3) * bytes + 2 * lane, 2);
        const auto [a, b, c] = operands[i];
        const Number sum =
            add(mul(mode.operand(a, f16), mode.operand(b, f16)), mode.operand(c, f16), mode.rounding());
        const std::uint64_t wanted = mode.result(sum, f16);
        if (mode.result(decode(encode(sum, f32, mode.rounding(), true), f32), f16) != wanted) ++hard;
        if ((wanted & 0x7fff) != 0 && (wanted & 0x7c00) == 0) ++denormal;
        if (got != wanted) {
          FAIL_CHECK(
              engine->name() << fmt::format(": cr0 {:#x}, {:#x} * {:#x} + {:#x}: {:#x}, expected {:#x}",
                                            mode.cr0, a, b, c, got, wanted));
          return;
        }
      }
    }
    // More than this many results would be wrong with an intermediate f32.
    CHECK(hard > 5 * rounds);
    CHECK(denormal > 10 * rounds);
  }
}
