// All words of the vectors: they decode, and the text is the same as iga64's; for Gen7 it is also compared
// with the assembly that they were made from.
#include <catch2/catch.hpp>
#include <cstdio>

#include "frontend/gen/instruction.hpp"
#include "tests/frontend/gen/disagreements.hpp"
#include "tests/frontend/gen/iga64.hpp"
#include "tests/frontend/gen/older_syntax.hpp"

namespace eum::gen::test {
namespace {

struct Vector {
  std::vector<std::byte> bytes;
  std::string text;
};

std::vector<Vector> vectors(const char* file = "vectors.txt") {
  std::vector<Vector> out;
  for (const std::string& line : read_lines(data_path(file))) {
    Vector v;
    for (std::size_t i = 0; i < 32; i += 2)
      v.bytes.push_back(static_cast<std::byte>(std::stoul(line.substr(i, 2), nullptr, 16)));
    v.text = line.substr(33);
    out.push_back(std::move(v));
  }
  return out;
}

/// iga64 prints two-source Align16 instructions as Align1, which loses swizzles such as xyxy; we print them.
bool has_swizzle(const Instruction& i) { return i.align16 && !align1_form(i, Family::Gen9); }

}  // namespace

TEST_CASE("every word of the Gen9 vectors decodes to the text of iga64") {
  const std::vector<Vector> all = vectors();
  REQUIRE(all.size() == 2678);
  std::size_t swizzled = 0;
  for (const Vector& v : all) {
    const Result<Instruction> i = decode(v.bytes, 0, Family::Gen9);
    if (!i) FAIL(i.error().message);
    if (has_swizzle(*i)) {
      ++swizzled;
      continue;
    }
    if (squeeze(print(*i, Family::Gen9, LabelStyle::Numeric)) != v.text)
      CHECK(squeeze(print(*i, Family::Gen9, LabelStyle::Numeric)) == v.text);
  }
  CHECK(swizzled == 2);
}

TEST_CASE("the Gen9 vectors as one stream agree with iga64 where it is installed") {
  std::vector<std::byte> code;
  for (const Vector& v : vectors()) code.insert(code.end(), v.bytes.begin(), v.bytes.end());
  const auto iga = run_iga64(code, Family::Gen9);
  if (!iga) {
    std::puts("iga64 is not installed: compared with the committed text only");
    return;
  }
  std::size_t equal = 0;
  for (const auto& [offset, line] : *iga) {
    const Result<Instruction> i = decode(code, offset, Family::Gen9);
    if (!i) FAIL(i.error().message);
    const std::string text = squeeze(print(*i, Family::Gen9, LabelStyle::Numeric));
    if (!has_swizzle(*i)) {
      if (text != line.text) CHECK(text == line.text);
      ++equal;
    }
  }
  CHECK(equal == 2676);
}

TEST_CASE("every word of the Gen7 vectors decodes to its assembly") {
  const std::vector<Vector> all = vectors("vectors_gen7.txt");
  REQUIRE(all.size() == 1368);
  for (Family family : {Family::Gen7, Family::Gen7_5})
    for (const Vector& v : all) {
      const Result<Instruction> i = decode(v.bytes, 0, family);
      if (!i) FAIL(i.error().message);
      const std::string text = normalised(older_text(*i, family));
      if (text != normalised(v.text)) CHECK(text == normalised(v.text));
    }
}

TEST_CASE("the Gen7 vectors that iga64 -p 7p5 takes have its text") {
  const std::vector<Vector> all = vectors("vectors_gen7p5.txt");
  REQUIRE(all.size() == 1015);
  std::size_t equal = 0;
  for (const Vector& v : all) {
    const Result<Instruction> i = decode(v.bytes, 0, Family::Gen7_5);
    if (!i) FAIL(i.error().message);
    const std::string text = squeeze(print(*i, Family::Gen7_5, LabelStyle::Numeric));
    if (text == v.text)
      ++equal;
    else if (!find_disagreement(Verdict::Text, Family::Gen7_5, text, v.text))
      CHECK(text == v.text);
  }
  CHECK(equal > 800);
}

}  // namespace eum::gen::test
