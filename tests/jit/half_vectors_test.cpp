// Random formulas of bytes that both halves of 32 channels compute, of the same shape or of nearly the same,
// against the reference engine.
#include <array>
#include <catch2/catch.hpp>

#include "jit/passes/passes.hpp"
#include "tests/jit/program_text.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

namespace eum::jit::test {
namespace {

class HalvesProgram : ProgramText {
 public:
  explicit HalvesProgram(unsigned seed) : ProgramText(seed) {}

  std::string text() {
    body_ = "kernel @halves simd 32 family gen9 file 2048 slot 32 masks 1\nb0: ip 0 count 1\n";
    line("%e = mask_get.mx32 mask0");
    line("%one = reg_read.u8x1 r16<1;1,0>");
    for (unsigned half = 0; half < 2; ++half) {
      line("%h{} = slice.mx16 %e, {}", half, 16 * half);
      line("%i{} = reg_read.u16x16 r{}<1;1,0>", half, 1 + half);
      line("%p{0} = convert.u32.u16x16 %i{0}", half);
    }
    for (unsigned k = 0; k < sources; ++k)
      for (unsigned half = 0; half < 2; ++half) {
        line("%l{}_{} = load.u8x16 surface3[%p{} + {}] ? %h{}", k, half, half, 64 * k, half);
        line("%w{}_{} = reg_read.u16x16 r{}<1;1,0>", k, half, 20 + 2 * k + half);
      }
    for (unsigned k = 0; k < stores; ++k) {
      // Both halves take the same decisions, but for an odd one.
      const bool stores_late = below(2) == 0;
      const unsigned odd = below(12);
      const std::mt19937 decisions = random_;
      std::array<std::string, 2> data;
      for (half_ = 0; half_ < 2; ++half_) {
        random_ = decisions;
        odd_ = half_ == 1 && k == 0 ? odd : none;
        data[half_] = number(depth);
        if (!stores_late) store(k, half_, data[half_]);
      }
      for (unsigned half = 0; stores_late && half < 2; ++half) store(k, half, data[half]);
    }
    return body_ + "  exit\n";
  }

 private:
  static constexpr unsigned sources = 3, stores = 3, depth = 3, none = ~0u;

  void store(unsigned k, unsigned half, const std::string& data) {
    line("store.u8x16 surface3[%p{} + {}], {} ? %h{}", half, 256 + 64 * k, data, half);
  }
  /// A choice that the odd half takes differently once.
  unsigned choice(unsigned limit) {
    const unsigned chosen = below(limit);
    return odd_ != none && odd_-- == 0 ? (chosen + 1) % limit : chosen;
  }

  std::string leaf() {
    switch (choice(6)) {
      case 0:
        return define("constant.u8x16 {}", choice(256));
      case 1:
        return define("splat.u8x16 %one");
      case 2:
        return define("convert.u8.u16x16 %w{}_{}", choice(sources), half_);
      case 3: {
        const std::string word = define("add.u16x16 %w{0}_{1}, %w0_{1}", choice(sources), half_);
        return define("convert_sat.u8.u16x16 {}", word);
      }
      default:
        return fmt::format("%l{}_{}", choice(sources), half_);
    }
  }
  std::string mask() {
    constexpr std::array names{"cmp_eq", "cmp_ne", "cmp_lt", "cmp_ge"};
    const std::string a = number(1), b = leaf();
    const std::string on = define("{}.u8x16 {}, {}", names[choice(names.size())], a, b);
    switch (choice(4)) {
      case 0:
        return define("not.mx16 {}", on);
      case 1: {
        const std::string c = leaf();
        return define("or.mx16 {}, {}", on, define("cmp_gt.u8x16 {}, {}", c, a));
      }
      case 2:
        return choice(3) == 0 ? define("and.mx16 {}, %h{}", on, half_) : on;
      default:
        return on;
    }
  }
  std::string number(unsigned levels) {
    if (levels == 0) return leaf();
    const std::string a = number(levels - 1);
    switch (choice(6)) {
      case 0: {
        const std::string on = mask(), b = number(levels - 1);
        return define("select.u8x16 {}, {}, {}", on, a, b);
      }
      case 1:
        return define("bitcast.u8.s8x16 {}", define("neg.s8x16 {}", define("bitcast.s8.u8x16 {}", a)));
      case 2:
        return define("not.u8x16 {}", a);
      default:
        break;
    }
    constexpr std::array names{"add", "sub", "and", "or", "xor", "min", "max", "avg"};
    const std::string b = number(levels - 1);
    return define("{}.u8x16 {}, {}", names[choice(names.size())], a, b);
  }

  unsigned half_ = 0, odd_ = none;
};

}  // namespace

TEST_CASE("bytes of both halves of the channels that are computed together are what each half computes") {
  constexpr unsigned programs = 240, seeds = 3;
  unsigned joined = 0;
  for (unsigned k = 0; k < programs; ++k) {
    const std::string text = HalvesProgram(77 * k).text();
    INFO(text);
    const ir::Function function = function_of_text(text);
    expect_agreement(function, k, seeds);
    joined += expect_agreement(function, half_vectors, seeds);
  }
  CHECK(joined > programs / 3);
}

}  // namespace eum::jit::test
