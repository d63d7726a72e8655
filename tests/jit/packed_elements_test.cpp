// Random formulas that bytes and words of dwords undergo, each element by ops of its own, against the
// reference engine, which does them one by one. They are computed in the elements' type or in a wider one.
#include <catch2/catch.hpp>

#include "tests/jit/program_text.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

namespace eum::jit::test {
namespace {

class ElementProgram : ProgramText {
 public:
  ElementProgram(unsigned seed, unsigned lanes, ir::Type element, ir::Type wide)
      : ProgramText(seed), lanes_(lanes), element_(element), wide_(wide) {}

  std::string text() {
    body_ = fmt::format("kernel @elements simd {} family gen9 file 2048 slot 32 masks 1\nb0: ip 0 count 1\n",
                        lanes_);
    line("%e = mask_get.mx{} mask0", lanes_);
    for (unsigned k = 0; k < sources; ++k) line("%d{} = reg_read.u32x{} r{}<1;1,0>", k, lanes_, 2 * k);
    line("%s = reg_read.{}x1 r8<1;1,0>", name(element_));
    line("%far = reg_read.{}x1 r8.2<1;1,0>", name(wide_));
    line("%by = constant.{}x1 {}", name(wide_), below(8 * ir::size_of(wide_)));
    line("%near = {}.{}x1 %far, %by", ir::is_signed(wide_) ? "asr" : "shr", name(wide_));
    const unsigned bits = 8 * ir::size_of(element_), elements = 32 / bits;
    const unsigned formula_seed = static_cast<unsigned>(random_());
    for (unsigned k = 0; k < elements; ++k) {
      random_.seed(formula_seed);  // the same for each element
      shift_ = k * bits;
      const std::string result = narrowed(formula(depth));
      line("reg_write.{}x{} r{}.{}<{};1,0>, {}{}", name(element_), lanes_, target, k, elements, result,
           masked() ? " ? %e" : "");
    }
    return body_ + "  exit\n";
  }

 private:
  static constexpr unsigned sources = 3, depth = 3, target = 12;

  static std::string_view name(ir::Type type) { return ir::info(type).name; }
  bool masked() { return below(2) == 0; }
  std::string op(std::string_view name_of_op, std::string_view operands) {
    return define("{}.{}x{} {}", name_of_op, name(wide_), lanes_, operands);
  }
  std::string converted(ir::Type to, ir::Type from, const std::string& value) {
    return to == from ? value : define("convert.{}.{}x{} {}", name(to), name(from), lanes_, value);
  }
  /// The element of a result: its low bits, bits from a shift up, or what the element can hold.
  std::string narrowed(const std::string& value) {
    if (element_ == wide_) return value;
    switch (below(3)) {
      case 0:
        return converted(element_, wide_, limited(value));
      case 1:
        return converted(element_, wide_, op("shr", fmt::format("{}, {}", value, constant(1 + below(8)))));
      default:
        return converted(element_, wide_, value);
    }
  }
  std::string limited(const std::string& value) {
    const unsigned bits = 8 * ir::size_of(element_) - (ir::is_signed(element_) ? 1 : 0);
    const std::string least =
        ir::is_signed(wide_) ? op("max", fmt::format("{}, {}", value, least_element())) : value;
    return op("min", fmt::format("{}, {}", least, constant((1u << bits) - 1)));
  }
  std::string least_element() {
    if (!ir::is_signed(element_)) return constant(0);
    return op("neg", constant(1u << (8 * ir::size_of(element_) - 1)));
  }
  std::string constant(unsigned value) { return define("constant.{}x{} {}", name(wide_), lanes_, value); }

  std::string leaf() {
    const unsigned bits = 8 * ir::size_of(element_);
    switch (below(5)) {
      case 0:
        return constant(below(1u << (bits - 1)));
      case 1:
        return converted(wide_, element_, define("splat.{}x{} %s", name(element_), lanes_));
      default: {
        const unsigned source = below(sources);
        const std::string by = define("constant.u32x{} {}", lanes_, shift_);
        const std::string low = define("shr.u32x{} %d{}, {}", lanes_, source, by);
        return converted(wide_, element_, define("convert.{}.u32x{} {}", name(element_), lanes_, low));
      }
    }
  }
  std::string formula(unsigned levels) {
    if (levels == 0 || below(6) == 0) return leaf();
    constexpr std::array unary{"not", "neg", "abs"};
    constexpr std::array binary{"and", "or", "xor", "add", "sub", "mul", "min", "max", "avg"};
    constexpr std::array shifts{"shl", "shr", "asr"};
    constexpr std::array comparisons{"cmp_eq", "cmp_ne", "cmp_lt", "cmp_le", "cmp_gt", "cmp_ge"};
    const std::string a = formula(levels - 1);
    switch (below(10)) {
      case 8: {
        const std::string b = leaf(), x = leaf();
        return limited(op(below(2) == 0 ? "add" : "sub", fmt::format("{}, {}", x, b)));
      }
      case 9: {
        const std::string b = leaf(), x = leaf();
        std::string sum = op("add", fmt::format("{}, {}", x, b));
        if (below(2) == 0) sum = op("add", fmt::format("{}, {}", sum, constant(1)));
        return op("shr", fmt::format("{}, {}", sum, constant(1)));
      }
      case 0:
        return op(unary[below(unary.size())], a);
      case 1: {
        const std::string_view shift = shifts[below(shifts.size())];
        return op(shift, fmt::format("{}, {}", a, constant(below(8 * ir::size_of(element_)))));
      }
      case 2: {
        const std::string b = formula(levels - 1), x = leaf();
        const std::string y =
            below(3) != 0 ? leaf()
                          : define("splat.{}x{} {}", name(wide_), lanes_, below(4) == 0 ? "%far" : "%near");
        const std::string mask =
            define("{}.{}x{} {}, {}", comparisons[below(comparisons.size())], name(wide_), lanes_, x, y);
        return op("select", fmt::format("{}, {}, {}", mask, a, b));
      }
      case 3: {
        const std::string b = formula(levels - 1), c = leaf();
        return op("mad", fmt::format("{}, {}, {}", a, b, c));
      }
      default: {
        const std::string b = formula(levels - 1);
        return op(binary[below(binary.size())], fmt::format("{}, {}", a, b));
      }
    }
  }

  unsigned lanes_;
  ir::Type element_, wide_;
  unsigned shift_ = 0;  ///< of the element in its dword
};

}  // namespace

TEST_CASE("bytes and words that are computed together are what they are one by one") {
  constexpr unsigned formulas = 25, seeds = 4;
  using enum ir::Type;
  for (const ir::Type element : {u8, s8, u16, s16})
    for (const ir::Type wide : {element, s16, u32, s32}) {
      if (wide != element && ir::size_of(wide) <= ir::size_of(element)) continue;
      for (const unsigned lanes : {8u, 16u})
        for (unsigned k = 0; k < formulas; ++k) {
          const std::string text = ElementProgram(1000 * k + lanes, lanes, element, wide).text();
          INFO(text);
          expect_agreement(function_of_text(text), k, seeds);
        }
    }
}

}  // namespace eum::jit::test
