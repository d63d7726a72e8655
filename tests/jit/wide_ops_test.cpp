// Random formulas of 64 bits as compilers write them for hardware that computes on dwords, between loads and
// stores of both halves, against the reference engine, which does them on dwords.
#include <catch2/catch.hpp>

#include "tests/jit/program_text.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

namespace eum::jit::test {
namespace {

class PairProgram : ProgramText {
 public:
  PairProgram(unsigned seed, unsigned lanes) : ProgramText(seed), lanes_(lanes) {}

  std::string text() {
    body_ = fmt::format("kernel @pairs simd {} family gen9 file 2048 slot 32 masks 1\nb0: ip 0 count 1\n",
                        lanes_);
    line("%e = mask_get.mx{} mask0", lanes_);
    line("%aligned = constant.u32x{} 0x3f8", lanes_);
    for (unsigned k = 0; k < sources; ++k) {
      line("%r{} = reg_read.u32x{} r{}<1;1,0>", k, lanes_, 2 * k);
      line("%a{0} = and.u32x{1} %r{0}, %aligned", k, lanes_);
      line("%l{0}, %h{0} = load.u32x{1} surface3[%a{0}] {{0, 1}}{2}", k, lanes_,
           below(2) == 0 ? " ? %e" : "");
    }
    line("%sl = reg_read.u32x1 r8<1;1,0>");
    line("%sh = reg_read.u32x1 r8.1<1;1,0>");
    for (unsigned k = 0; k < stores; ++k) {
      const Pair result = formula(depth);
      line("store.u32x{} surface3[%a{}] {{0, 1}}, {}, {} ? %e", lanes_, below(sources), result.low,
           result.high);
      if (below(3) == 0) line("reg_write.u32x{} r{}<1;1,0>, {}", lanes_, 20 + 2 * k, result.high);
      if (below(4) == 0) {
        const std::string changed = op("not", result.low);
        line("store.u32x{} surface3[%a{} + 512] {{0}}, {}", lanes_, below(sources), changed);
      }
    }
    return body_ + "  exit\n";
  }

 private:
  static constexpr unsigned sources = 3, stores = 3, depth = 4;
  struct Pair {
    std::string low, high;
  };

  std::string op(std::string_view name, std::string_view operands) {
    return define("{}.u32x{} {}", name, lanes_, operands);
  }
  std::string op(std::string_view name, const std::string& a, const std::string& b) {
    return op(name, below(2) == 0 || name == "sub" || name.starts_with("sh") ? a + ", " + b : b + ", " + a);
  }
  std::string constant(std::uint32_t value) { return define("constant.u32x{} {}", lanes_, value); }
  std::string asr(const std::string& value, unsigned by) {
    const std::string number = define("bitcast.s32.u32x{} {}", lanes_, value);
    const std::string count = define("constant.s32x{} {}", lanes_, by);
    return define("bitcast.u32.s32x{} {}", lanes_, define("asr.s32x{} {}, {}", lanes_, number, count));
  }

  Pair leaf() {
    switch (below(7)) {
      case 0:
        return {constant(static_cast<std::uint32_t>(random_())), constant(below(2) == 0 ? 0 : ~0u)};
      case 1: {
        const std::string low = fmt::format("%l{}", below(sources));
        return {low, below(2) == 0 ? constant(0) : asr(low, 31)};
      }
      case 2:
        return {define("splat.u32x{} %sl", lanes_), define("splat.u32x{} %sh", lanes_)};
      default: {
        const unsigned source = below(sources);
        return {fmt::format("%l{}", source), fmt::format("%h{}", source)};
      }
    }
  }
  /// Few different numbers, so that halves are equal.
  Pair few(const Pair& pair) {
    return {op("and", pair.low, constant(0x80000001)), op("and", pair.high, constant(0x80000000))};
  }
  std::string comparison(Pair a, Pair b) {
    if (below(2) == 0) a = few(a), b = few(b);
    const auto compare = [&](std::string_view name, const std::string& x, const std::string& y) {
      return define("{}.u32x{} {}, {}", name, lanes_, x, y);
    };
    const auto masks = [&](std::string_view name, const std::string& x, const std::string& y) {
      return define("{}.mx{} {}, {}", name, lanes_, x, y);
    };
    if (below(3) == 0) {
      const bool equal = below(2) == 0;
      const std::string_view each = equal ? "cmp_eq" : "cmp_ne";
      return masks(equal ? "and" : "or", compare(each, a.low, b.low), compare(each, a.high, b.high));
    }
    constexpr std::array lows{"cmp_lt", "cmp_le", "cmp_gt", "cmp_ge"};
    const unsigned which = below(4);
    const std::string low = compare(lows[which], a.low, b.low), equal = compare("cmp_eq", a.high, b.high);
    const std::string both = masks("and", low, equal);
    std::string high;
    const std::string_view strict = which < 2 ? "cmp_lt" : "cmp_gt";
    if (below(2) == 0) {
      high = compare(strict, a.high, b.high);
    } else {
      const auto number = [&](const std::string& value) {
        return define("bitcast.s32.u32x{} {}", lanes_, value);
      };
      const std::string x = number(a.high), y = number(b.high);
      high = define("{}.s32x{} {}, {}", strict, lanes_, x, y);
    }
    return masks("or", both, below(2) == 0 ? masks("andn", both, high) : high);
  }

  Pair formula(unsigned levels) {
    if (levels == 0) return leaf();
    const Pair a = formula(levels - 1);
    switch (below(13)) {
      case 9:
      case 10:
        return product(a, below(2) == 0 ? leaf() : formula(levels - 1));
      case 11:
        return shifted_far(a);
      case 12:
        return negated(a);
      case 0:
      case 1:
        return carried("addc", "add", a, formula(levels - 1));
      case 2:
        return carried("subb", "sub", a, formula(levels - 1));
      case 3:
        return shifted(a);
      case 4: {
        const Pair b = formula(levels - 1), x = leaf(), y = leaf();
        const std::string mask = comparison(x, y);
        return {define("select.u32x{} {}, {}, {}", lanes_, mask, a.low, b.low),
                define("select.u32x{} {}, {}, {}", lanes_, mask, a.high, b.high)};
      }
      case 5:
        return {op("xor", a.low, constant(static_cast<std::uint32_t>(random_()))), a.high};
      case 6:
        return {op("not", a.low), op("not", a.high)};
      default: {
        constexpr std::array bitwise{"and", "or", "xor"};
        const std::string_view name = bitwise[below(3)];
        const Pair b = formula(levels - 1);
        return {op(name, a.low, b.low), op(name, a.high, b.high)};
      }
    }
  }
  /// A sum or difference: `step` adds or subtracts the high halves and what comes from the low ones.
  Pair carried(std::string_view low, std::string_view step, const Pair& a, const Pair& b) {
    const std::string result = new_value(), carry = new_value();
    line("{}, {} = {}.u32x{} {}, {}", result, carry, low, lanes_, a.low, b.low);
    if (below(2) == 0) return {result, op(step, op(step, a.high, b.high), carry)};
    return {result, op(step, op(step, a.high, carry), b.high)};
  }
  /// The product of the low halves; to its high half, those of a low and a high one each are added.
  Pair product(const Pair& a, const Pair& b) {
    const unsigned parts = lanes_ == 16 && below(3) != 0 ? 2 : 1, lanes = lanes_ / parts;
    // Products have eight lanes each, as the guest's have.
    std::array<std::string, 4> joined;
    for (unsigned part = 0; part < parts; ++part) {
      const auto part_of = [&](const std::string& value) {
        return parts == 1 ? value : define("slice.u32x{} {}, {}", lanes, value, part * lanes);
      };
      const std::string low = part_of(a.low), other = part_of(b.low);
      std::array<std::string, 4> results{new_value(), new_value(), "", ""};
      line("{}, {} = mul_wide.u32x{} {}, {}", results[0], results[1], lanes, low, other);
      results[2] = low_product(lanes, low, part_of(b.high));
      results[3] = low_product(lanes, part_of(a.high), other);
      for (unsigned k = 0; k < 4; ++k)
        joined[k] = part == 0 ? results[k] : define("concat.u32x{} {}, {}", lanes_, joined[k], results[k]);
    }
    const bool is_wide = below(4) != 0;  // else the other factor has 32 bits, and the product is another one
    std::string high = op("add", joined[1], joined[2]);
    if (is_wide) high = below(2) == 0 ? op("add", high, joined[3]) : op("add", joined[3], high);
    return {joined[0], high};
  }
  std::string low_product(unsigned lanes, const std::string& a, const std::string& b) {
    if (below(3) == 0) return define("mul.u32x{} {}, {}", lanes, a, b);
    const bool is_signed = below(2) == 0;
    const std::string low = new_value(), high = new_value();
    if (!is_signed) {
      line("{}, {} = mul_wide.u32x{} {}, {}", low, high, lanes, b, a);
      return low;
    }
    const std::string x = define("bitcast.s32.u32x{} {}", lanes, a);
    const std::string y = define("bitcast.s32.u32x{} {}", lanes, b);
    line("{}, {} = mul_wide.s32x{} {}, {}", low, high, lanes, x, y);
    return define("bitcast.u32.s32x{} {}", lanes, low);
  }
  /// By 32 bits or more.
  Pair shifted_far(const Pair& a) {
    const unsigned by = 1 + below(31);
    const auto shift = [&](std::string_view name, const std::string& value, unsigned count) {
      return define("{}.u32x{} {}, {}", name, lanes_, value, constant(count));
    };
    switch (below(3)) {
      case 0:
        return {op(below(2) == 0 ? "xor" : "or", a.low, below(3) == 0 ? a.high : shift("shr", a.high, by)),
                a.high};
      case 1:
        return {below(3) == 0 ? a.high : shift("shr", a.high, by), constant(0)};
      default: {
        const std::string low = op("or", shift("shl", a.high, by), shift("shr", a.low, 32 - by));
        const std::string high = op("or", shift("shl", a.low, by), shift("shr", a.high, 32 - by));
        return {low, high};
      }
    }
  }
  Pair negated(const Pair& a) {
    const std::string result = new_value(), borrow = new_value();
    line("{}, {} = subb.u32x{} {}, {}", result, borrow, lanes_, constant(0), a.low);
    return {result, op("sub", op("neg", borrow), a.high)};
  }
  Pair shifted(const Pair& a) {
    const unsigned by = 1 + below(31);
    const auto shift = [&](std::string_view name, const std::string& value, unsigned count) {
      return define("{}.u32x{} {}, {}", name, lanes_, value, constant(count));
    };
    switch (below(4)) {
      case 0: {
        const std::string high = op("or", shift("shl", a.high, by), shift("shr", a.low, 32 - by));
        return {shift("shl", a.low, by), high};
      }
      case 1: {
        const std::string low = op("or", shift("shr", a.low, by), shift("shl", a.high, 32 - by));
        return {low, shift("shr", a.high, by)};
      }
      case 2: {
        const std::string low = op("or", shift("shr", a.low, by), shift("shl", a.high, 32 - by));
        return {low, asr(a.high, by)};
      }
      default: {
        const std::string low = op("or", shift("shl", a.low, by), shift("shr", a.high, 32 - by));
        const std::string high = op("or", shift("shl", a.high, by), shift("shr", a.low, 32 - by));
        return {low, high};
      }
    }
  }

  unsigned lanes_;
};

}  // namespace

TEST_CASE("64 bits that are computed as qwords are what their halves are") {
  constexpr unsigned programs = 120, seeds = 3;
  for (const unsigned lanes : {8u, 16u})
    for (unsigned k = 0; k < programs; ++k) {
      const std::string text = PairProgram(1000 * k + lanes, lanes).text();
      INFO(text);
      expect_agreement(function_of_text(text), k, seeds);
    }
}

}  // namespace eum::jit::test
