// Line tables of binaries, intact and damaged.
#include "runtime/loader/debug_line.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <random>

using namespace eum;

namespace {

std::vector<std::byte> bytes_of(const std::string& name) {
  std::ifstream file(EUMULATE_SOURCE_DIR "/tests/" + name, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("a line table says where instructions come from, as readelf decodes it") {
  const auto table = rt::read_line_table(bytes_of("runtime/bin/lines.zebin.bin"), "lines");
  REQUIRE(table);
  CHECK(table->files == std::vector<std::string>{"lines.cl"});
  CHECK(table->rows.size() == 25);
  struct Place {
    std::uint32_t ip, line;
    bool statement;
  };
  for (const Place& p : {Place{0, 2, true}, Place{0x18, 2, true}, Place{0x28, 5, true}, Place{0x48, 3, false},
                         Place{0x148, 6, true}, Place{0x210, 5, false}, Place{0x3b0, 11, false}}) {
    INFO(p.ip);
    REQUIRE(table->at(p.ip));
    CHECK(table->at(p.ip)->line == p.line);
    CHECK(table->at(p.ip)->statement == p.statement);
  }
  CHECK_FALSE(table->at(0x3c0));  // the end
  CHECK(table->find("lines.cl", 6) == 0x148);
  CHECK(table->find("", 10) == 0x350);
  CHECK(table->find("x/lines.cl", 6) == std::nullopt);
  CHECK(table->find("", 7) == std::nullopt);
}

TEST_CASE("binaries without lines have an empty table") {
  for (const char* name : {"kernels/bin/saxpy.zebin.bin", "kernels/bin/saxpy.patch.bin"}) {
    const auto table = rt::read_line_table(bytes_of(name), "saxpy");
    REQUIRE(table);
    CHECK(table->rows.empty());
  }
  const auto other = rt::read_line_table(bytes_of("runtime/bin/lines.zebin.bin"), "another");
  REQUIRE(other);
  CHECK(other->rows.empty());
}

TEST_CASE("a damaged line table is an error or another table") {
  const auto good = bytes_of("runtime/bin/lines.zebin.bin");
  constexpr std::size_t section = 0x170b, section_bytes = 0x9d, relocations = 0x1a6c, symbols = 0x480;
  std::mt19937_64 random(7);
  std::size_t refused = 0;
  for (int i = 0; i < 4000; ++i) {
    auto bytes = good;
    for (unsigned k = 0; k <= random() % 3; ++k) {
      const std::size_t at = i % 4 == 0   ? relocations + random() % 24
                             : i % 4 == 1 ? symbols + random() % 216
                                          : section + random() % section_bytes;
      bytes[at] = static_cast<std::byte>(random());
    }
    const auto table = rt::read_line_table(bytes, "lines");
    if (!table) {
      ++refused;
      CHECK_FALSE(table.error().message.empty());
      continue;
    }
    for (std::size_t row = 1; row < table->rows.size(); ++row)
      REQUIRE(table->rows[row - 1].ip <= table->rows[row].ip);
  }
  CHECK(refused > 100);
  auto version = good;
  version[section + 4] = std::byte{5};
  const auto refusal = rt::read_line_table(version, "lines");
  REQUIRE_FALSE(refusal);
  CHECK_THAT(refusal.error().message, Catch::Contains("expected version 2 to 4, found 5"));
}
