// The tables against themselves and against what iga64 lists.
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "frontend/gen/instruction.hpp"
#include "tests/frontend/gen/iga64.hpp"

namespace eum::gen::test {

TEST_CASE("each family has the instructions that iga64 -Xlist-ops counts") {
  std::size_t gen8 = 0, gen9 = 0;
  std::set<unsigned> numbers;
  std::set<std::string_view> names;
  for (std::size_t n = 0; n < opcode_count; ++n) {
    const auto opcode = static_cast<Opcode>(n);
    gen8 += exists_on(opcode, Family::Gen8);
    gen9 += exists_on(opcode, Family::Gen9);
    CHECK(numbers.insert(info(opcode).number).second);
    CHECK(names.insert(info(opcode).name).second);
  }
  CHECK(gen8 == 66);
  CHECK(gen9 == 68);
}

TEST_CASE("families parse by both spellings") {
  CHECK(parse_family("Gen9") == Family::Gen9);
  CHECK(parse_family("8") == Family::Gen8);
  CHECK_FALSE(parse_family("10"));
  CHECK_FALSE(parse_family(""));
}

TEST_CASE("operands of compiled kernels have types that their rows allow") {
  for (const auto& entry : std::filesystem::directory_iterator(data_path(""))) {
    if (entry.path().extension() != ".dat") continue;
    const Family family = entry.path().stem().string().starts_with("gen8") ? Family::Gen8 : Family::Gen9;
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
