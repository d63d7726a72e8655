// Consistency of the tables, and comparison with iga64's lists.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <set>

#include "frontend/gen/instruction.hpp"
#include "tests/frontend/gen/iga64.hpp"

namespace eum::gen::test {

TEST_CASE("each family has the instructions that iga64 -Xlist-ops counts") {
  // iga64 has no Gen7, which is Gen7.5 without dim and calla.
  const std::map<Family, std::size_t> counts{
      {Family::Gen7, 62}, {Family::Gen7_5, 64}, {Family::Gen8, 66}, {Family::Gen9, 68}, {Family::Gen11, 61}};
  for (const auto& [family, count] : counts) {
    INFO(info(family).name);
    std::set<unsigned> numbers;
    std::set<std::string_view> names;
    for (std::size_t n = 0; n < opcode_count; ++n) {
      const auto opcode = static_cast<Opcode>(n);
      if (!exists_on(opcode, family)) continue;
      CHECK(numbers.insert(info(opcode).number).second);
      CHECK(names.insert(info(opcode).name).second);
    }
    CHECK(names.size() == count);
  }
}

TEST_CASE("families parse in every spelling") {
  for (const char* name : {"Gen9", "gen9", "GEN9", "9"}) CHECK(parse_family(name) == Family::Gen9);
  CHECK(parse_family("8") == Family::Gen8);
  CHECK(parse_family("gen11") == Family::Gen11);
  for (const char* name : {"Gen7.5", "gen7.5", "gen7_5", "Gen7p5", "7p5", "7P5", "7_5"})
    CHECK(parse_family(name) == Family::Gen7_5);
  for (const char* name : {"10", "", "gen", "gen99", "9 ", "gen9.", "en9", "ggen9", "gengen9"})
    CHECK_FALSE(parse_family(name));
  for (std::size_t i = 0; i < family_count; ++i)
    CHECK(parse_family(family_table[i].name) == static_cast<Family>(i));
}

TEST_CASE("operands of compiled kernels have types that their rows allow") {
  for (const auto& entry : std::filesystem::directory_iterator(data_path(""))) {
    if (entry.path().extension() != ".dat") continue;
    const Family family = family_of_data(entry.path().stem().string());
    const std::vector<std::byte> code = read_bytes(entry.path().string());
    for (std::size_t offset = 0; offset + 16 <= code.size();) {
      const Result<Instruction> i = decode(code, offset, family);
      REQUIRE(i);
      const OpcodeShape& row = shape(i->opcode, family);
      INFO(print(*i, family));
      if (i->has_dst) CHECK(contains(row.dst_types, i->dst.type));
      for (unsigned n = 0; n < i->source_count; ++n) CHECK(contains(row.src_types, i->src[n].type));
      offset += i->length;
    }
  }
}

}  // namespace eum::gen::test
