// Which vector widths a disassembly uses.
#include <catch2/catch.hpp>

#include "perf/contenders/host_code.hpp"

using namespace eum::perf;

TEST_CASE("packed instructions are told from scalar ones and from moves", "[perf]") {
  const HostCode code = inspect_listing(
      "0000 <f>:\n"
      "L1:\n"
      "; a comment with ymm0\n"
      "\tvmovups (%rdi),%zmm0\n"
      "\tvaddps %zmm0,%zmm1,%zmm2\n"
      "  vfmadd231ps ymm1, ymm2, ymm3\n"
      "  vpaddd xmm1, xmm2, xmm3\n"
      "\tvaddss %xmm0,%xmm1,%xmm2\n"
      "\tvcvtsi2ss %eax,%xmm0,%xmm0\n"
      "\tvpextrd $1,%xmm0,%eax\n"
      "\tadd %eax,%ebx\n"
      "\tjne L1\n");
  CHECK(code.packed == std::array<unsigned, 3>{1, 1, 1});
  CHECK(code.other == 5);
  CHECK(code.bits() == 512);
  CHECK(code.packed_share() == Approx(3.0 / 8));
  CHECK(code.text() == "512 (38 %)");
}

TEST_CASE("a few packed instructions among many do not make a vector loop", "[perf]") {
  CHECK(HostCode{96, {4, 0, 0}}.text() == "scalar");
  CHECK(HostCode{97, {0, 3, 0}}.bits() == 256);
  CHECK(HostCode{99, {0, 1, 0}}.bits() == 64);
  CHECK(HostCode{}.text() == "scalar");
}

TEST_CASE("a file that is not there is an error", "[perf]") { CHECK_FALSE(inspect_file("/nowhere", "")); }
