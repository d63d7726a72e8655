// In which order the two halves of a block's channels are computed.
#include "jit/codegen/schedule.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "jit/avx2/registers.hpp"
#include "tests/jit/analysed_text.hpp"

using namespace eum;
using namespace eum::jit;

namespace {

/// Six numbers for each half of the channels (24 vectors in all) and products of them, alternating between
/// the halves. Each product depends on the one `apart` products before it in its half.
std::string products(unsigned count, unsigned apart) {
  std::string text;
  for (unsigned half = 0; half < 2; ++half)
    for (unsigned i = 0; i < 6; ++i)
      text += fmt::format(
          "  %v{0}_{1} = reg_read.f32x16 r{2}<1;1,0>\n  %p{0}_{1} = add.f32x16 %v{0}_{1}, %v{0}_{1}\n", half,
          i, 2 + 2 * (6 * half + i));
  for (unsigned i = 6; i < count; ++i)
    for (unsigned half = 0; half < 2; ++half)
      text += fmt::format("  %p{0}_{1} = mul.f32x16 %p{0}_{2}, %v{0}_{3}\n", half, i, i - apart, i % 6);
  for (unsigned half = 0; half < 2; ++half)
    for (unsigned i = 0; i < apart; ++i)
      text += fmt::format("  reg_write.f32x16 r{}<1;1,0>, %p{}_{}\n", 30 + 2 * (6 * half + i), half,
                          count - 1 - i);
  return "kernel @k simd 16 family gen9 file 4096 slot 32 masks 1\nb0: ip 0 count 1\n" + text + "  exit\n";
}

/// Visits the instructions of the text's block in the order in which they are emitted.
template <class Visit>
void visit_ordered(const std::string& text, bool exact, Visit visit) {
  const test::AnalysedText of(text, exact);
  codegen::Scheduler scheduler(of.function, of.liveness, avx2::target);
  codegen::BlockCode code(of.function, of.liveness, of.runs, {.scheduler = &scheduler});
  code.build(0, true);
  for (const codegen::CodeInst& inst : code.insts()) visit(inst);
}

/// How often a product belongs to a different half than the product before it.
unsigned turns(const std::string& text) {
  unsigned turns = 0;
  ir::ValueId last = ir::no_value;
  visit_ordered(text, true, [&](const codegen::CodeInst& inst) {
    if (inst.op != ir::Op::mul) return;
    turns += last != ir::no_value && (inst.result ^ last) % 2 != 0;
    last = inst.result;
  });
  return turns;
}

/// The minima of four dwords a channel from two buffers, for both halves of the channels: all is loaded, then
/// computed, then stored. `behind`: an instruction behind the loads of the first half.
std::string minima(const std::string& behind) {
  std::string text = "  %a0 = reg_read.u32x16 r2<1;1,0>\n  %a1 = reg_read.u32x16 r4<1;1,0>\n";
  for (unsigned half = 0; half < 2; ++half) {
    for (const char* buffer : {"x", "y"})
      text += fmt::format(
          "  %{0}{1}0, %{0}{1}1, %{0}{1}2, %{0}{1}3 = load.u32x16 surface{2}[%a{1}] {{0, 1, 2, 3}}\n", buffer,
          half, buffer[0] - 'x');
    if (half == 0) text += behind;
  }
  for (unsigned k = 0; k < 4; ++k)
    for (unsigned half = 0; half < 2; ++half)
      text += fmt::format("  %m{0}{1} = min.u32x16 %x{0}{1}, %y{0}{1}\n", half, k);
  for (unsigned half = 0; half < 2; ++half)
    text +=
        fmt::format("  store.u32x16 surface2[%a{0}] {{0, 1, 2, 3}}, %m{0}0, %m{0}1, %m{0}2, %m{0}3\n", half);
  return "kernel @k simd 16 family gen9 file 4096 slot 32 masks 1\nb0: ip 0 count 1\n" + text + "  exit\n";
}

/// Sums of what is loaded from ten buffers: all is loaded before anything is added. `halves`: those of the
/// channels are added by themselves, in turns.
std::string sums(bool halves) {
  constexpr unsigned buffers = 10;
  std::string text = "  %a = reg_read.u32x32 r2<1;1,0>\n";
  for (unsigned k = 0; k < buffers; ++k) {
    text += fmt::format("  %x{0} = load.u32x32 surface{0}[%a]\n", k);
    for (unsigned half = 0; half < 2; ++half)
      text += fmt::format("  %x{0}_{1} = slice.u32x16 %x{0}, {2}\n", k, half, 16 * half);
  }
  text += "  %s0 = add.u32x32 %x0, %x0\n  %s0_0 = slice.u32x16 %s0, 0\n  %s0_1 = slice.u32x16 %s0, 16\n";
  for (unsigned k = 1; k < buffers; ++k)
    if (halves)
      for (unsigned half = 0; half < 2; ++half)
        text += fmt::format("  %s{0}_{1} = add.u32x16 %s{2}_{1}, %x{0}_{1}\n", k, half, k - 1);
    else
      text += fmt::format("  %s{0} = add.u32x32 %s{1}, %x{0}\n", k, k - 1);
  if (halves) text += fmt::format("  %s{0} = concat.u32x32 %s{0}_0, %s{0}_1\n", buffers - 1);
  text += fmt::format("  store.u32x32 surface{}[%a], %s{}\n", buffers, buffers - 1);
  return "kernel @k simd 32 family gen9 file 4096 slot 32 masks 1\nb0: ip 0 count 1\n" + text + "  exit\n";
}

/// Loads, sums, minima and stores of the text, in the order in which they are emitted, by their first
/// letters, and fences (f).
std::string order_of(const std::string& text, bool exact = false) {
  std::string order;
  visit_ordered(text, exact, [&](const codegen::CodeInst& inst) {
    switch (inst.op) {
      case ir::Op::load:
      case ir::Op::store:
      case ir::Op::min:
      case ir::Op::add:
      case ir::Op::fence:
        order += ir::info(inst.op).name[0];
        break;
      default:
        break;
    }
  });
  return order;
}

}  // namespace

TEST_CASE("halves whose values are more than the registers are computed one after the other") {
  CHECK(turns(products(100, 6)) == 1);
  CHECK(turns(products(20, 1)) == 1);
}

TEST_CASE("halves that are long chains stay beside each other") {
  CHECK(turns(products(100, 1)) == 2 * 94 - 1);
}

TEST_CASE("loads wait until their half is computed, if there are too few registers for both") {
  CHECK(order_of(minima("")) == "llmmmmllsmmmms");
  CHECK(order_of(minima(""), true) == "llllmmmmmmmmss");
}

TEST_CASE("what is loaded is added at once, if there are too few registers for all of it") {
  CHECK(order_of(sums(false)) == "lalalalalalalalalalas");
  CHECK(order_of(sums(true)) == "lalaalaalaalaalaalaalaalaalaas");
  CHECK(order_of(sums(true), true) == "llllllllll" + std::string(19, 'a') + 's');
}

TEST_CASE("loads stay behind stores to the same memory, and behind fences") {
  const std::string value = "  %n = constant.u32x16 7\n";
  CHECK(order_of(minima(value + "  store.u32x16 surface1[%a1], %n\n")) == "llsmmmmllsmmmms");
  CHECK(order_of(minima(value + "  store.u32x16 slm[%a1], %n\n")) == "sllmmmmllsmmmms");
  CHECK(order_of(minima("  fence\n")) == "llfllmmmmmmmmss");
}

TEST_CASE("loads that may fault stay in place") {
  std::string text = minima("");
  for (std::size_t at = 0; (at = text.find("surface1[", at)) != std::string::npos;)
    text.replace(at, 9, "scratch[");
  CHECK(order_of(text) == "llllmmmmmmmmss");
}
