// Loads under parts of a mask whose other lanes are selected from elsewhere, at random, against the reference
// engine, which clears what the parts exclude.
#include <array>
#include <catch2/catch.hpp>

#include "jit/analysis/uncleared_loads.hpp"
#include "tests/jit/program_text.hpp"
#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

namespace eum::jit::test {
namespace {

class PartsProgram : ProgramText {
 public:
  explicit PartsProgram(unsigned seed) : ProgramText(seed) {}

  /// Each choice mostly is the one with which the load's other lanes do not matter.
  std::string text() {
    body_ = "kernel @parts simd 32 family gen9 file 2048 slot 32 masks 1\nb0: ip 0 count 1\n";
    line("%e = mask_get.mx32 mask0");
    line("%g = flag_read.mx32 f0.0");
    line("%i = reg_read.u16x16 r1<1;1,0>");
    line("%k = constant.u32x16 4");
    line("%d = convert.u32.u16x16 %i");
    line("%p = mul.u32x16 %d, %k");
    for (unsigned k = 0; k < loads; ++k) {
      line("%a{} = reg_read.u16x32 r{}<1;1,0>", k, 40 + 2 * k);
      line("%b{} = reg_read.u16x32 r{}<1;1,0>", k, 50 + 2 * k);
      line("%f{0} = cmp_lt.u16x32 %a{0}, %b{0}", k);
      const bool swapped = below(2) == 0;
      const std::string on = flag(k);
      line("%n{} = and.mx32 {}, {}", k, swapped ? on : "%e", swapped ? "%e" : on);
      line("%o{} = andn.mx32 {}, {}", k, flag(k), rarely() ? "%g" : "%e");
      const unsigned half = below(2);
      const auto slice_of = [&](const std::string& mask) {
        return define("slice.mx16 {}, {}", mask, 16 * (rarely() ? 1 - half : half));
      };
      const std::string at = rarely() ? "%d" : "%p";
      line("%x{} = load.u32x16 surface3[{} + {}] ? {}", k, at, 300 * k, slice_of(fmt::format("%n{}", k)));
      line("%y{} = reg_read.u32x16 r{}<1;1,0>", k, 20 + 2 * k);
      const std::string mask = slice_of(fmt::format("%{}{}", rarely() ? 'n' : 'o', k));
      const std::string both = below(4) == 0 ? define("select.u32x16 {1}, %x{0}, %y{0}", k, mask)
                                             : define("select.u32x16 {1}, %y{0}, %x{0}", k, mask);
      const std::string result = below(3) == 0 ? define("add.u32x16 {}, %y{}", both, k) : both;
      if (rarely())
        line("reg_write.u32x16 r{}<1;1,0>, {}", 30 + 2 * k, result);
      else
        line("reg_write.u32x16 r{}<1;1,0>, {} ? {}", 30 + 2 * k, result, slice_of("%e"));
    }
    return body_ + "  exit\n";
  }

 private:
  static constexpr unsigned loads = 3;

  bool rarely() { return below(6) == 0; }
  std::string flag(unsigned k) { return rarely() ? "%g" : fmt::format("%f{}", k); }
};

/// Whether a load of the function needs not be cleared.
bool has_uncleared(const ir::Function& function) {
  const UnclearedLoads uncleared(function);
  for (const ir::Inst& inst : function.blocks[0].insts)
    if (inst.op == ir::Op::load && uncleared.has(inst.result)) return true;
  return false;
}

}  // namespace

TEST_CASE("loads of which other lanes than those of their mask are taken from elsewhere") {
  constexpr unsigned programs = 240, seeds = 3;
  unsigned found = 0;
  for (unsigned k = 0; k < programs; ++k) {
    const std::string text = PartsProgram(31 * k).text();
    INFO(text);
    const ir::Function function = function_of_text(text);
    expect_agreement(function, k, seeds);
    found += has_uncleared(function) ? 1 : 0;
  }
  CHECK(found > programs / 3);
  CHECK(found < programs);
}

}  // namespace eum::jit::test
