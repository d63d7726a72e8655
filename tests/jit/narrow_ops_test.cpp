// Random formulas of bytes and words as C computes them, on int, before they are cut and stored, against the
// reference engine, which does them on dwords.
#include <array>
#include <catch2/catch.hpp>

#include "jit/passes/passes.hpp"
#include "tests/jit/program_text.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

namespace eum::jit::test {
namespace {

class NarrowProgram : ProgramText {
 public:
  NarrowProgram(unsigned seed, unsigned lanes) : ProgramText(seed), lanes_(lanes) {}

  std::string text() {
    body_ = fmt::format("kernel @narrow simd {} family gen9 file 2048 slot 32 masks 1\nb0: ip 0 count 1\n",
                        lanes_);
    line("%e = mask_get.mx{} mask0", lanes_);
    line("%within = constant.u32x{} 0x1fe", lanes_);
    for (unsigned k = 0; k < sources; ++k) {
      constexpr std::array types{"u8", "s8", "u16", "s16"};
      types_[k] = types[below(below(3) == 0 ? 4 : 2)];
      line("%r{} = reg_read.u32x{} r{}<1;1,0>", k, lanes_, 4 * k);
      line("%a{0} = and.u32x{1} %r{0}, %within", k, lanes_);
      line("%l{0} = load.{1}x{2} surface3[%a{0}]{3}", k, types_[k], lanes_, below(2) == 0 ? " ? %e" : "");
    }
    line("%one = reg_read.u32x1 r16<1;1,0>");
    for (unsigned k = 0; k < stores; ++k) {
      constexpr std::array cuts{"u8", "s8", "u16", "s16"};
      const bool is_word = below(4) == 0;
      const std::string_view type = is_word ? "s16" : "s32", to = cuts[below(is_word ? 2 : 4)];
      const std::string value = number(depth, type);
      std::string cut = define("convert.{}.{}x{} {}", to, type, lanes_, value);
      line("store.{}x{} surface3[%a{} + 300], {} ? %e", to, lanes_, below(sources), cut);
      if (below(6) == 0)
        line("store.{}x{} surface3[%a{} + 200], {} ? %e", type, lanes_, below(sources), value);
      if (below(3) == 0) {  // bytes and words that dwords choose
        const std::string on = mask(type), from = fmt::format("%l{}", below(sources));
        const std::string_view of = types_[static_cast<std::size_t>(from.back() - '0')];
        const std::string other = define("constant.{}x{} {}", of, lanes_, below(100));
        const std::string choice = define("select.{}x{} {}, {}, {}", of, lanes_, on, from, other);
        line("store.{}x{} surface3[%a{} + 500], {} ? %e", of, lanes_, below(sources), choice);
      }
      if (below(3) == 0) {  // what was cut is computed with again
        const std::string wide = define("convert.s32.{}x{} {}", to, lanes_, cut);
        const std::string sum = op("add", "s32", wide, number(1, "s32"));
        if (below(2) == 0) line("store.s32x{} surface3[%a{} + 100], {} ? %e", lanes_, below(sources), wide);
        cut = define("convert.u8.s32x{} {}", lanes_, sum);
        line("store.u8x{} surface3[%a{} + 400], {} ? %e", lanes_, below(sources), cut);
      }
    }
    return body_ + "  exit\n";
  }

 private:
  static constexpr unsigned sources = 3, stores = 3, depth = 4;

  std::string op(std::string_view name, std::string_view type, const std::string& a, const std::string& b) {
    return define("{}.{}x{} {}, {}", name, type, lanes_, a, b);
  }
  std::string constant(std::string_view type, unsigned value) {
    return define("constant.{}x{} {}", type, lanes_, type == "s16" ? value & 0xffff : value);
  }
  static std::string unsigned_of(std::string_view type) { return "u" + std::string(type.substr(1)); }
  std::string cast(std::string_view to, std::string_view from, const std::string& value) {
    return define("bitcast.{}.{}x{} {}", to, from, lanes_, value);
  }

  std::string leaf(std::string_view type) {
    const unsigned what = below(8);
    if (what == 0) return constant(type, below(300));
    if (what == 1 && type == "s32") {
      return cast("s32", "u32", define("splat.u32x{} %one", lanes_));
    }
    unsigned source = below(sources);
    for (unsigned k = 0; type == "s16" && k < sources && types_[source].ends_with("16"); ++k)
      source = (source + 1) % sources;
    if (type == "s16" && types_[source] == "s16") return fmt::format("%l{}", source);
    if (type == "s16" && types_[source] == "u16") return cast("s16", "u16", fmt::format("%l{}", source));
    return define("convert.{}.{}x{} %l{}", type, types_[source], lanes_, source);
  }

  std::string shifted(std::string_view name, std::string_view type, const std::string& value, unsigned by) {
    if (name != "shr") return op(name, type, value, constant(type, by));
    const std::string as = unsigned_of(type);
    const std::string number = cast(as, type, value), count = constant(as, by);
    return cast(type, as, op("shr", as, number, count));
  }
  std::string compared(std::string_view type, const std::string& a, const std::string& b) {
    constexpr std::array names{"cmp_eq", "cmp_ne", "cmp_lt", "cmp_le", "cmp_gt", "cmp_ge"};
    const std::string_view name = names[below(names.size())];
    if (below(2) == 0) return op(name, type, a, b);
    const std::string as = unsigned_of(type);
    const std::string x = cast(as, type, a), y = cast(as, type, b);
    return op(name, as, x, y);
  }
  std::string mask(std::string_view type) {
    const std::string a = compared(type, number(1, type), leaf(type));
    switch (below(4)) {
      case 0:
        return define("not.mx{} {}", lanes_, a);
      case 1:
        return define("and.mx{} {}, %e", lanes_, a);
      case 2:
        return define("or.mx{} {}, {}", lanes_, a, compared(type, leaf(type), leaf(type)));
      default:
        return a;
    }
  }

  std::string number(unsigned levels, std::string_view type) {
    if (levels == 0) return leaf(type);
    const std::string a = number(levels - 1, type);
    switch (below(20)) {
      case 0:
        return shifted("shr", type, a, below(10));
      case 1:
        return shifted("asr", type, a, below(10));
      case 2:
        return shifted("shl", type, a, below(4));
      case 3:
        return define("abs.{}x{} {}", type, lanes_, a);
      case 4:
        return define("{}.{}x{} {}", below(2) == 0 ? "neg" : "not", type, lanes_, a);
      case 5: {
        std::string sum = op("add", type, leaf(type), leaf(type));
        if (type == "s32" && below(3) == 0) {  // one that may not fit its word
          const std::string x = cast("u16", "s16", leaf("s16")), y = cast("u16", "s16", leaf("s16"));
          sum = define("convert.s32.u16x{} {}", lanes_, op("add", "u16", x, y));
        }
        const std::string up = below(2) == 0 ? sum : op("add", type, sum, constant(type, 1));
        return shifted(below(2) == 0 ? "shr" : "asr", type, up, 1);
      }
      case 6: {
        const std::string on = mask(type), b = number(levels - 1, type);
        return define("select.{}x{} {}, {}, {}", type, lanes_, on, a, b);
      }
      case 7:
        return op(below(2) == 0 ? "min" : "max", type, a, number(levels - 1, type));
      case 8: {
        const std::string bits = constant(type, below(2) == 0 ? 255 : below(65536)), b = leaf(type);
        return define("bfi2.{}x{} {}, {}, {}", type, lanes_, bits, a, b);
      }
      case 11: {
        const unsigned by = type == "s16" ? 8 : 8 * (1 + below(3));
        return shifted(below(2) == 0 ? "asr" : "shr", type, shifted("shl", type, a, by), by);
      }
      case 12: {  // words that are computed as such
        if (type == "s16") break;
        const std::string word = number(levels - 1, "s16");
        if (below(2) == 0) return define("convert.s32.s16x{} {}", lanes_, word);
        return define("convert.s32.u16x{} {}", lanes_, cast("u16", "s16", word));
      }
      case 9:
        return op("mul", type, a, leaf(type));
      case 13: {  // a shift by another number in each lane, sometimes by more than a word has
        const std::string count = op("and", type, leaf(type), constant(type, below(3) == 0 ? 31 : 15));
        constexpr std::array shifts{"shl", "asr", "shr"};
        const std::string_view name = shifts[below(shifts.size())];
        if (name != "shr") return op(name, type, a, count);
        const std::string as = unsigned_of(type);
        const std::string number = cast(as, type, a), by = cast(as, type, count);
        return cast(type, as, op("shr", as, number, by));
      }
      case 14: {  // limits of a sum or difference
        std::string value = op(below(2) == 0 ? "add" : "sub", type, leaf(type), leaf(type));
        constexpr std::array<std::array<int, 2>, 5> limits{
            {{0, 255}, {0, 65535}, {-128, 127}, {-32768, 32767}, {0, 254}}};
        const std::array<int, 2> bounds = limits[below(limits.size())];
        const auto limit = [&](bool is_low) {
          const int by = bounds[is_low ? 0 : 1];
          return op(is_low ? "max" : "min", type, value, constant(type, static_cast<unsigned>(by)));
        };
        const bool low_first = below(2) == 0;
        if (below(4) != 0) value = limit(low_first);
        return below(4) != 0 ? limit(!low_first) : value;
      }
      case 15: {
        const std::string bits =
            define("cbit.{}x{} {}", unsigned_of(type), lanes_, cast(unsigned_of(type), type, leaf(type)));
        return cast(type, unsigned_of(type), bits);
      }
      case 10:
        return op("and", type, a, constant(type, below(2) == 0 ? 255 : 15));
      default:
        break;
    }
    constexpr std::array names{"add", "sub", "and", "or", "xor", "add"};
    return op(names[below(names.size())], type, a, number(levels - 1, type));
  }

  unsigned lanes_;
  std::array<std::string_view, sources> types_{};
};

}  // namespace

TEST_CASE("what is computed of bytes and words is what the dwords would be cut to") {
  constexpr unsigned programs = 240, seeds = 3;
  unsigned narrowed = 0;
  for (unsigned k = 0; k < programs; ++k) {
    const unsigned lanes = k % 3 == 0 ? 32 : 16;
    const std::string text = NarrowProgram(1000 * k + lanes, lanes).text();
    INFO(text);
    const ir::Function function = function_of_text(text);
    expect_agreement(function, k, seeds);
    narrowed += expect_agreement(function, narrow_ops, seeds);
  }
  CHECK(narrowed > programs / 3);
}

}  // namespace eum::jit::test
