// Lsc instructions that are refused, each with the rule that it breaks, and caching: the legal pairs are
// copied from the document's table.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <string_view>

#include "tests/frontend/visa/lsc_bed.hpp"

using namespace lsc_bed;

namespace {

std::string refused(const std::string& line, unsigned grf = 64) {
  return Bed::refusal(kernel_text(line), grf);
}

void check(const std::string& line, const std::string& rule) {
  CAPTURE(line);
  CHECK_THAT(refused(line), Catch::Contains(rule));
}
void check_accepted(const std::string& line) {
  CAPTURE(line);
  CHECK(refused(line).empty());
}

}  // namespace

TEST_CASE("lsc: caching is what the document's table has for the kind of access") {
  // L1, L3, and which accesses have the pair: b both, l loads, s stores.
  constexpr std::string_view table[] = {"df df b", "uc uc b", "st uc b", "uc ca l", "ca uc l",
                                        "ca ca l", "st ca l", "ri ca l", "uc wb s", "wt uc s",
                                        "wt wb s", "st wb s", "wb wb s"};
  constexpr std::string_view modes[] = {"df", "uc", "ca", "wb", "wt", "st", "ri", "cc"};
  for (const std::string_view l1 : modes)
    for (const std::string_view l3 : modes) {
      char whom = '-';
      for (const std::string_view row : table)
        if (row.substr(0, 2) == l1 && row.substr(3, 2) == l3) whom = row.back();
      const std::string suffix = fmt::format(".{}.{}", l1, l3), found = "found " + suffix;
      const auto expect = [&](bool legal, const std::string& line, const std::string& rule) {
        legal ? check_accepted(line) : check(line, rule + ", " + found);
      };
      expect(whom == 'b' || whom == 'l', "lsc_load.ugm" + suffix + " (M1, 32) V:d32 flat[A]:a64",
             "expected caching that loads have");
      expect(whom == 'b' || whom == 's', "lsc_store.ugm" + suffix + " (M1, 32) flat[A]:a64 V:d32",
             "expected caching that stores have");
      // Atomics have the modes of stores that bypass the first level.
      expect((whom == 'b' || whom == 's') && (l1 == "uc" || l1 == "df"),
             "lsc_atomic_iinc.ugm" + suffix + " (M1, 32) V:d32 flat[A]:a64 %null %null",
             "expected caching that atomics have");
      expect(l1 == "df" && l3 == "df", "lsc_load.slm" + suffix + " (M1, 32) V:d32 flat[A]:a32",
             "expected default caching of shared local memory");
    }
  check("lsc_load.ugm.uc (M1, 32) V:d32 flat[A]:a64", "found .uc.df");
}

TEST_CASE("lsc: what is out of range is refused with the rule and what was found") {
  // Vectors and orders.
  check("lsc_load.ugm (M1, 32) V:d8x4 flat[A]:a64", "expected vectors of d32 or d64, found d8x4");
  check("lsc_store.ugm (M1, 32) flat[A]:a64 V:d16u32x2", "expected vectors of d32 or d64, found d16u32x2");
  check("lsc_load.ugm (M1, 8) V:d32x16 flat[A]:a64",
        "at most 8 elements that are not transposed, found d32x16");
  check("lsc_load.ugm (M1, 8) V:d32x4t flat[A]:a64",
        "expected one channel where data is transposed, found 8");
  check("lsc_load.ugm (M1, 1) V:d8x16t flat[A]:a64", "found d8x16");
  check("lsc_load.ugm (M1, 1) V:d16t flat[A]:a64", "expected transposed data of d32 or d64, found d16t");
  check("lsc_atomic_iadd.ugm (M1, 1) V:d32t flat[A]:a64 Y %null",
        "expected atomics that are not transposed, found d32t");
  check("lsc_atomic_iadd.ugm (M1, 8) V:d32x2 flat[A]:a64 Y %null",
        "expected one element of an atomic, found d32x2");
  for (const char* size : {"d8", "d16", "d8u32", "d16u32h"})
    check(fmt::format("lsc_atomic_iadd.ugm (M1, 8) V:{} flat[A]:a64 Y %null", size),
          fmt::format("expected d16u32, d32 or d64 of an atomic, found {}", size));
  check("lsc_load_status.ugm (M1, 1) V:d32t flat[A]:a64", "expected a status that is not transposed");
  // Addresses.
  check("lsc_load.ugm (M1, 8) V:d32 flat[A]:a16",
        "expected addresses of a32 or a64 for flat of ugm, found a16");
  check("lsc_load.slm (M1, 8) V:d32 flat[A]:a64",
        "expected addresses of a16 or a32 for flat of slm, found a64");
  check("lsc_load.slm (M1, 8) V:d32 bti(3)[A]:a32", "expected an address model of slm, found bti");
  check("lsc_load.slm (M1, 8) V:d32 arg[A]:a32", "expected an address model of slm, found arg");
  check("lsc_load.ugml (M1, 8) V:d32 arg[A]:a32", "expected an address model of ugml, found arg");
  check("lsc_load.ugm (M1, 8) V:d32 surf(3)[A]:a32", "expected an address model of ugm, found surf");
  check("lsc_load.ugm (M1, 8) V:d32 bti(256)[A]:a32",
        "expected an index in the binding table below 256, found 256");
  check("lsc_load.ugm (M1, 8) V:d32 bti(3,1)[A]:a32",
        "expected no index beside that in the binding table, found 1");
  check("lsc_load_strided.ugm (M1, 8) V:d32 flat[A,0x10000]:a64",
        "expected a pitch of at most 65535 bytes, found 65536");
  // Operands.
  check("lsc_store.ugm (M1, 8) flat[A]:a64 %null:d32", "expected data to store, found none");
  check("lsc_atomic_iadd.ugm (M1, 8) V:d32 flat[A]:a64 %null %null",
        "expected 1 sources of lsc_atomic_iadd, found 0");
  check("lsc_atomic_icas.ugm (M1, 8) V:d32 flat[A]:a64 Y %null",
        "expected 2 sources of lsc_atomic_icas, found 1");
  check("lsc_atomic_iinc.ugm (M1, 8) V:d32 flat[A]:a64 Y %null",
        "expected the first source to be null, found Y");
  check("lsc_atomic_iadd.ugm (M1, 8) V:d32 flat[A]:a64 Y Z",
        "expected the second source to be null, found Z");
  check("lsc_load.ugm (M1, 32) Y:d32x3 flat[A]:a64", "expected a destination of 384 bytes, found 256 in Y");
  check("lsc_load.ugm (M1, 32) V:d32 flat[C]:a64", "expected addresses of 256 bytes, found 4 in C");
  check("lsc_atomic_iadd.ugm (M1, 32) V:d64 flat[A]:a64 C %null", "expected data of 256 bytes, found 4 in C");
  // Append counters.
  check("lsc_apndctr_atomic_add.ugm (M1, 16) V:d64 bti(5) Y:d64", "expected d32 of an atomic, found d64");
  check("lsc_apndctr_atomic_add.ugm (M1, 16) V:d32 bti(255) Y:d32",
        "expected the index of a surface, found 255");
  // Typed memory.
  check("lsc_load_quad.tgm (M1, 16) V:d64.x bti(5)[A,B]:a32", "expected d32 of a typed message, found d64");
  check("lsc_load_quad.tgm (M1, 16) V:d32.x bti(254)[A,B]:a32", "expected the index of a surface, found 254");
  check("lsc_load_quad.tgm (M1, 16) V:d32.x bti(5)[%null,B]:a32", "expected addresses, found none");
  // Instructions without effect on results that could be modelled.
  check("lsc_ccs_update.ugm (M1, 32) flat[A]:a64 %null:d32", "lsc_ccs_update of ugm is not modelled");
  check("lsc_read_state_info.tgm V bti(0x4)", "lsc_read_state_info of tgm is not modelled");
}

TEST_CASE("lsc: blocks that there are not are refused with the limit") {
  const auto load = [](const std::string& shape) {
    return "lsc_load_block2d.ugm (M1, 1) V:" + shape + " flat[Q.0,S.2,S.3,S.4,S.5,S.6]";
  };
  const auto store = [](const std::string& shape) {
    return "lsc_store_block2d.ugm (M1, 1) flat[Q.0,S.2,S.3,S.4,S.5,S.6] V:" + shape;
  };
  check_accepted(load("d8.2x16x32nn"));
  check_accepted(load("d16.1x32x16tn"));
  check_accepted(load("d16.1x16x32nt"));
  check_accepted(store("d16.16x32nn"));
  check(load("d8u32.1x4x4nn"), "expected blocks of d8, d16, d32 or d64, found d8u32");
  check(load("d8.3x4x4nn"), "expected 1, 2 or 4 blocks of d8, found 3");
  check(load("d32.4x4x4nn"), "expected 1 or 2 blocks of d32, found 4");
  check(load("d64.2x4x4nn"), "expected one block of d64, found 2");
  check(load("d32.2x4x4tn"), "expected one block of d32, found 2");
  check(store("d8.2x4x4nn"), "expected one block of d8, found 2");
  check(load("d32.2x16x4nn"), "expected rows of at most 64 bytes, found 128");
  check(load("d8.1x4x33nn"), "expected at most 32 rows, found 33");
  check(load("d8.1x64x4tn"), "expected transposed blocks of d8 at most 32 elements wide, found 64");
  check(load("d64.1x4x4nt"), "expected a VNNI transform of d8, d16 or d32, found d64");
  check(load("d8.1x4x6nt"),
        "expected a height that is a multiple of 4 for the VNNI transform of d8, found 6");
  check(load("d16.1x3x4tt"),
        "expected a width that is a multiple of 2 for the VNNI transform of d16, found 3");
  check(store("d8.1x4x4nt"), "expected a store without VNNI transform");
  check("lsc_load_block2d.ugm (M1, 8) V:d32.1x4x4nn flat[Q.0,S.2,S.3,S.4,S.5,S.6]",
        "expected one channel of a block, found 8");
  check("lsc_load_block2d.ugm (M1, 1) Y:d32.1x16x32nn flat[Q.0,S.2,S.3,S.4,S.5,S.6]",
        "expected a destination of 2048 bytes, found 256 in Y");
  check("lsc_load_block2d.slm (M1, 1) V:d32.1x4x4nn flat[Q.0,S.2,S.3,S.4,S.5,S.6]",
        "expected flat addresses of global memory for block2d, found flat of slm");
  check("lsc_load_block2d.tgm V:65x1 bti(0x5)[S.5,S.6]",
        "expected a block of 1 to 64 bytes and rows, found 65x1");
  check("lsc_load_block2d.tgm V:64x5 bti(0x5)[S.5,S.6]",
        "expected a block of at most 256 bytes of registers, found 320");
}
