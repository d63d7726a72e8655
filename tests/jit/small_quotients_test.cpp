// Quotients of bytes and words by constants, as compilers write them for dwords: every dividend, divided by
// every kind of divisor, against C++. And functions that look like quotients but are none.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "jit/passes/passes.hpp"
#include "tests/jit/program_text.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

namespace eum::jit::test {
namespace {

constexpr unsigned lanes = 16;

/// Reads words from r1 and r2, of `type`, which may be smaller than 16 bits, and widens them to %x; products
/// of eight lanes each follow, the high halves of which are %high.
std::string products(std::string_view type, bool is_signed, std::uint32_t factor) {
  const std::string_view wide = is_signed ? "s32" : "u32";
  return fmt::format(R"(kernel @k simd 16 family gen9 file 512 slot 32 masks 1
b0: ip 0 count 1
  %n = reg_read.{0}x16 r1<1;1,0>
  %x = convert.{1}.{0}x16 %n
  %xl = slice.{1}x8 %x, 0
  %xh = slice.{1}x8 %x, 8
  %f = constant.{1}x8 {2}
  %ll, %lh = mul_wide.{1}x8 %xl, %f
  %hl, %hh = mul_wide.{1}x8 %f, %xh
  %high = concat.{1}x16 %lh, %hh
)",
                     type, wide, factor);
}
std::string with(std::string_view op, std::string_view type, std::string_view result, std::string_view a,
                 std::uint32_t number) {
  return fmt::format("  %{0}_by = constant.{1}x16 {2}\n  %{0} = {3}.{1}x16 %{4}, %{0}_by\n", result, type,
                     number, op, a);
}
std::string with_end(std::string text, std::string_view quotient, std::string_view type) {
  return text + fmt::format("  reg_write.{}x16 r3<1;1,0>, %{}\n  exit\n", type, quotient);
}

/// As compilers divide unsigned dwords: Hacker's Delight, 10-8.
std::string unsigned_quotient(std::string_view type, std::uint32_t by) {
  const unsigned bits = static_cast<unsigned>(std::bit_width(by - 1));
  for (unsigned shift = 0; shift <= bits; ++shift) {
    const std::uint64_t power = std::uint64_t{1} << (32 + shift), factor = (power + by - 1) / by;
    if (factor < std::uint64_t{1} << 32 && factor * by - power <= std::uint64_t{1} << shift)
      return with_end(
          products(type, false, static_cast<std::uint32_t>(factor)) + with("shr", "u32", "q", "high", shift),
          "q", "u32");
  }
  const std::uint64_t factor = ((std::uint64_t{1} << (32 + bits)) + by - 1) / by;
  return with_end(products(type, false, static_cast<std::uint32_t>(factor)) +
                      "  %less = sub.u32x16 %x, %high\n" + with("shr", "u32", "half", "less", 1) +
                      "  %sum = add.u32x16 %half, %high\n" + with("shr", "u32", "q", "sum", bits - 1),
                  "q", "u32");
}

/// And signed ones: with the sign bit of the product added, or by a selection.
std::string signed_quotient(std::string_view type, std::uint32_t by, bool selects) {
  unsigned shift = 0;
  std::uint64_t factor = 0;
  for (;; ++shift) {
    const std::uint64_t power = std::uint64_t{1} << (32 + shift);
    factor = power / by + 1;
    if (factor * by - power <= std::uint64_t{1} << (shift + 1)) break;
  }
  std::string text = products(type, true, static_cast<std::uint32_t>(factor));
  std::string_view product = "high";
  if (factor >= std::uint64_t{1} << 31) {
    text += "  %sum = add.s32x16 %high, %x\n";
    product = "sum";
  }
  text += with("asr", "s32", "down", product, shift);
  if (selects) {
    text += with("cmp_lt", "s32", "negative", product, 0) + with("add", "s32", "up", "down", 1);
    text += "  %q = select.s32x16 %negative, %up, %down\n";
  } else {
    text +=
        fmt::format("  %bits = bitcast.u32.s32x16 %{}\n", product) + with("shr", "u32", "sign", "bits", 31);
    text += "  %one = bitcast.s32.u32x16 %sign\n  %q = add.s32x16 %down, %one\n";
  }
  return with_end(text, "q", "s32");
}

unsigned products_of_words(const ir::Function& function) {
  return static_cast<unsigned>(std::ranges::count(function.blocks[0].insts, ir::Op::mul_high, &ir::Inst::op));
}

/// Every number of type T, divided on each engine.
template <class T>
void check_all(const std::string& text, std::int32_t by) {
  ir::Function function = function_of_text(text), passed = function_of_text(text);
  small_quotients(passed);
  constexpr std::int32_t first = std::numeric_limits<T>::min(), last = std::numeric_limits<T>::max();
  INFO(by << '\n' << text);
  const bool is_reached = by <= last;
  if (is_reached && !std::has_single_bit(static_cast<std::uint32_t>(by)))
    CHECK(products_of_words(passed) >= 1);  // another one may be that of a factor of the divisor
  World world;
  for (const auto& engine : other_engines()) {
    const auto executable = compiled(*engine, function);
    for (std::int32_t start = first; start <= last; start += lanes) {
      world.reset(function, 1);
      world.masks()[0] = 0xffff;
      std::array<T, lanes> numbers;
      for (unsigned k = 0; k < lanes; ++k) numbers[k] = static_cast<T>(start + static_cast<int>(k));
      std::memcpy(world.file() + 32, numbers.data(), sizeof numbers);
      REQUIRE(world.run(*executable).status == Status::Exited);
      std::array<std::int32_t, lanes> quotients;
      std::memcpy(quotients.data(), world.file() + 96, sizeof quotients);
      for (unsigned k = 0; k < lanes; ++k)
        if (quotients[k] != numbers[k] / by)
          FAIL(engine->name() << ": " << +numbers[k] << " / " << by << " is " << quotients[k]);
    }
  }
}

/// Divisors of 8 bits, powers of two and their neighbours, and some others.
std::vector<std::int32_t> divisors(std::int32_t most) {
  std::vector<std::int32_t> all;
  for (std::int32_t by = 2; by <= std::min(most, 32); ++by) all.push_back(by);
  for (std::int32_t power = 64; power <= most; power *= 2)
    for (const std::int32_t by : {power - 1, power, power + 1}) all.push_back(by);
  for (const std::int32_t by : {100, 255 / 3, 255, 641, 1000, 7919, 10000, 12345, 28657, 32767, 40961, 65535})
    if (by <= most) all.push_back(by);
  return all;
}

}  // namespace

TEST_CASE("quotients of bytes by constants are those of C++") {
  for (const std::int32_t by : divisors(300)) {
    check_all<std::uint8_t>(unsigned_quotient("u8", static_cast<std::uint32_t>(by)), by);
    check_all<std::int8_t>(signed_quotient("s8", static_cast<std::uint32_t>(by), by % 2 == 0), by);
    // Unsigned numbers that the compiler takes for signed ones, as C does.
    check_all<std::uint8_t>(signed_quotient("u8", static_cast<std::uint32_t>(by), by % 2 == 0), by);
  }
}

TEST_CASE("quotients of words by constants are those of C++") {
  unsigned turn = 0;
  for (const std::int32_t by : divisors(65535)) {
    if (++turn % EUMULATE_STEP != 0) continue;
    check_all<std::uint16_t>(unsigned_quotient("u16", static_cast<std::uint32_t>(by)), by);
    check_all<std::int16_t>(signed_quotient("s16", static_cast<std::uint32_t>(by), by % 2 == 0), by);
    check_all<std::uint16_t>(signed_quotient("u16", static_cast<std::uint32_t>(by), by % 2 == 0), by);
  }
}

TEST_CASE("functions that are no quotients stay as they are") {
  const auto is_kept = [](const std::string& text) {
    INFO(text);
    ir::Function function = function_of_text(text);
    expect_agreement(function, 5, 3);
    small_quotients(function);
    CHECK(products_of_words(function) == 0);
  };
  // A factor that is wrong for large words only, one that is too small, and a correction that is missing.
  is_kept(with_end(products("u16", false, 0x24920000), "high", "u32"));
  is_kept(with_end(products("u8", false, 0xffffffffu / 7), "high", "u32"));
  is_kept(with_end(products("s8", true, 0x55555556), "high", "s32"));
  // Lanes that come in another order, and products of another number.
  std::string swapped = products("u8", false, 0x33333334);
  swapped.replace(swapped.find("%lh, %hh\n"), 9, "%hh, %lh\n");
  is_kept(with_end(swapped, "high", "u32"));
  std::string other = products("u8", false, 0x33333334);
  other.replace(other.find("mul_wide.u32x8 %f, %xh"), 22, "mul_wide.u32x8 %f, %xl");
  is_kept(with_end(other, "high", "u32"));
  // A dividend of which nothing is known.
  std::string dword = products("u8", false, 0x33333334);
  dword.replace(dword.find("  %n = reg_read.u8x16 r1<1;1,0>\n  %x = convert.u32.u8x16 %n"), 59,
                "  %x = reg_read.u32x16 r1<1;1,0>");
  is_kept(with_end(dword, "high", "u32"));
}

}  // namespace eum::jit::test
