// How much host code a function becomes: the size is proportional to its instructions, whatever its control
// flow.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "frontend/ir/parser.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// Bytes of host code for a function of `blocks` blocks, each printed by `block`.
template <class Block>
std::size_t code_bytes(Engine& engine, unsigned blocks, Block block) {
  std::string text = "kernel @k simd 16 family gen9 file 4096 slot 32 masks 1\n";
  for (unsigned b = 0; b < blocks; ++b) text += fmt::format("b{}: ip {:#x} count 1\n{}", b, 16 * b, block(b));
  auto function = ir::parse(text);
  if (!function) FAIL(function.error().message);
  auto executable = engine.compile(*function, {});
  if (!executable) FAIL(executable.error().message);
  return (*executable)->code_bytes();
}

}  // namespace

TEST_CASE("code size: computed jumps cost each the same, however many blocks there are") {
  const auto block = [](unsigned) { return "  %ip = reg_read.u32x1 r0<1;1,0>\n  jump_ip.u32x1 %ip\n"; };
  for (const auto& engine : other_engines()) {
    const std::size_t few = code_bytes(*engine, 50, block), many = code_bytes(*engine, 2000, block);
    INFO(engine->name() << ": " << few << " bytes for 50 blocks, " << many << " for 2000");
    CHECK(many < 41 * few);
    CHECK(many < 2000 * 200);
  }
}

TEST_CASE("code size: at most 200 bytes of host code for a block of one branch") {
  const auto block = [](unsigned b) {
    return fmt::format("  %f = flag_read.mx16 f0.0\n  branch_any.mx16 %f, b{}, b{}\n", (b * 7 + 3) % 1000,
                       (b + 1) % 1000);
  };
  for (const auto& engine : other_engines()) {
    const std::size_t bytes = code_bytes(*engine, 1000, block);
    INFO(engine->name() << ": " << bytes << " bytes for 1000 blocks");
    CHECK(bytes < 1000 * 200);
  }
}
