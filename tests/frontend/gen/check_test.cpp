// The rules of frontend/gen/check: a violating word for each, compared with iga64's warnings where it has the
// rule.
#include "frontend/gen/check/check.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include "tests/frontend/gen/iga64.hpp"

namespace eum::gen::test {
namespace {

using check::Place;
using check::Rule;

struct Case {
  Rule rule;
  Family family;
  const char* text;
  std::array<std::uint32_t, 4> word;
};

constexpr Case cases[] = {
#define CHECK_CASE(rule, family, text, ...) {Rule::rule, Family::family, text, {__VA_ARGS__}},
#include "tests/frontend/gen/check_cases.def"
#undef CHECK_CASE
};

std::array<std::byte, 16> bytes_of(const Case& c) {
  std::array<std::byte, 16> bytes;
  std::memcpy(bytes.data(), c.word.data(), bytes.size());
  return bytes;
}

std::string names(const std::vector<check::Finding>& findings) {
  std::string text;
  for (const check::Finding& f : findings) {
    if (!text.empty()) text += ", ";
    text += std::string(check::info(f.rule).name) + " " + std::string(check::name(f.place));
  }
  return text;
}

bool has(const std::vector<check::Finding>& findings, Rule rule) {
  return std::any_of(findings.begin(), findings.end(), [&](const auto& f) { return f.rule == rule; });
}

}  // namespace

TEST_CASE("each rule of the validator has a word that breaks it") {
  std::set<Rule> tested;
  for (const Case& c : cases) {
    INFO(c.text);
    const auto word = bytes_of(c);
    const auto decoded = decode(word, 0, c.family);
    REQUIRE(decoded);
    CHECK(squeeze(print(*decoded, c.family)) == c.text);
    const auto findings = check::check(word, {c.family, check::Core::Lp});
    REQUIRE(findings);
    INFO("found: " << names(*findings));
    CHECK(has(*findings, c.rule));
    tested.insert(c.rule);
    for (const check::Finding& finding : *findings) CHECK(finding.offset == 0);
  }
  for (std::size_t i = 0; i < check::rule_table.size(); ++i) {
    INFO("no word of check_cases.def breaks " << check::rule_table[i].name);
    CHECK(tested.count(static_cast<Rule>(i)) == 1);
  }
}

TEST_CASE("rules of one family or core are not asked of another") {
  for (const Case& c : cases) {
    INFO(c.text);
    const auto word = bytes_of(c);
    for (std::size_t f = 0; f < family_count; ++f) {
      const auto family = static_cast<Family>(f);
      if (family_table[f].encoding != info(c.family).encoding) continue;
      for (const check::Core core : {check::Core::Any, check::Core::Lp}) {
        const auto findings = check::check(word, {family, core});
        REQUIRE(findings);
        const check::RuleInfo& rule = check::info(c.rule);
        const bool asked =
            rule.families.contains(family) && (rule.core == check::Core::Any || core == check::Core::Lp);
        CHECK(has(*findings, c.rule) == asked);
      }
    }
  }
}

TEST_CASE("doubles of Gen7 are pairs of channels to each rule") {
  // mov (16|M0) r4.0<1>:df r2.0<4;4,1>:df: two registers on Gen7, four on Gen7.5.
  const std::array<std::uint32_t, 4> word{0x00800001, 0x20800339, 0x00690040, 0};
  const auto bytes = std::as_bytes(std::span(word));
  const auto gen7 = check::check(bytes, {Family::Gen7, check::Core::Any});
  const auto gen7_5 = check::check(bytes, {Family::Gen7_5, check::Core::Any});
  REQUIRE((gen7 && gen7_5));
  CHECK(names(*gen7) == "");
  CHECK(has(*gen7_5, Rule::execution_bytes));
}

TEST_CASE("the validator says where a kernel does not decode") {
  std::array<std::byte, 32> words{};
  words[0] = std::byte{0x7e};   // nop
  words[16] = std::byte{0x7f};  // undefined opcode
  const auto findings = check::check(words, {});
  REQUIRE_FALSE(findings);
  CHECK_THAT(findings.error().message, Catch::Contains("0x10"));
}

TEST_CASE("a branch into the middle of an instruction is found, one between instructions is not") {
  // endif (8|M0) to the next instruction, or into it.
  for (const std::uint32_t offset : {16u, 24u, 32u}) {
    const std::array<std::uint32_t, 8> words{0x00600025, 0x20000000, 0x0e000000, offset, 0x0000007e};
    const auto findings = check::check(std::as_bytes(std::span(words)), {});
    REQUIRE(findings);
    CHECK(has(*findings, Rule::target_inside) == (offset != 16));
  }
}

namespace {

/// Restrictions by the manual's number, which iga64 prints, and our rules.
constexpr std::pair<const char*, Rule> numbered[] = {
    {"1.1", Rule::execution_bytes}, {"2.1", Rule::src_width},      {"2.2", Rule::src_vertical_stride},
    {"2.4", Rule::src_width_one},   {"2.5", Rule::src_scalar},     {"2.6", Rule::src_replicated},
    {"2.8", Rule::src_row_crosses}, {"2.7", Rule::dst_stride_zero}};

/// Where iga64 interprets a restriction differently, and why.
struct Reading {
  const char* name;
  Rule rule;
  bool ours;  ///< true: we report it and iga64 does not; false: the reverse
  bool (*holds)(const Instruction& in);
};
constexpr Reading readings[] = {
    // 2.4 says "Width = 1 ... regardless of the values of ExecSize"; iga64 checks it only where the execution
    // size is 1.
    {"width 1 in several channels", Rule::src_width_one, true,
     [](const Instruction& in) { return in.exec_size > 1 && in.src[0].region.width == 1; }},
    {"one channel of a wider row", Rule::src_width_one, false,
     [](const Instruction& in) { return in.exec_size == 1 && in.src[0].region.width > 1; }},
    // Elements of a row beyond the execution size do not exist, so they cross nothing (2.1 forbids such
    // rows).
    {"row longer than the execution size", Rule::src_row_crosses, false,
     [](const Instruction& in) { return in.src[0].region.width > in.exec_size; }},
    // 2.8 says "elements within a Width cannot cross GRF boundaries"; iga64 does not check the later rows.
    {"later row", Rule::src_row_crosses, true,
     [](const Instruction& in) { return in.src[0].region.width < in.exec_size; }},
};

/// Every region of a mov or add that can be encoded.
std::vector<Instruction> regions() {
  std::vector<Instruction> all;
  const auto add = [&](Opcode opcode, Type type, unsigned size, Region region, unsigned subreg) {
    Instruction in;
    in.opcode = opcode;
    in.exec_size = static_cast<std::uint8_t>(size);
    in.has_dst = true;
    in.dst.kind = OperandKind::Direct;
    in.dst.reg = 10;
    in.dst.type = type;
    in.dst.region.hstride = 1;
    in.source_count = opcode == Opcode::mov ? 1 : 2;
    in.src[0] = in.dst;
    in.src[0].reg = 20;
    in.src[0].subreg = static_cast<std::uint8_t>(subreg * size_of(type));
    in.src[0].region = region;
    in.src[1] = in.dst;
    in.src[1].reg = 40;
    in.src[1].region = {0, 1, 0};
    all.push_back(in);
  };
  for (const Type type : {Type::uw, Type::d, Type::df})
    for (unsigned size = 1; size <= 32; size *= 2)
      for (const unsigned vstride : {0u, 1u, 2u, 4u, 8u, 16u, 32u})
        for (unsigned width = 1; width <= 16; width *= 2)
          for (const unsigned hstride : {0u, 1u, 2u, 4u})
            for (const unsigned subreg : {0u, 1u}) {
              const Region region{static_cast<std::uint8_t>(vstride), static_cast<std::uint8_t>(width),
                                  static_cast<std::uint8_t>(hstride)};
              add(vstride % 2 ? Opcode::add : Opcode::mov, type, size, region, subreg);
            }
  return all;
}

}  // namespace

TEST_CASE("the validator finds what iga64 warns of") {
  const auto instructions = regions();
  std::string assembly;
  for (const Instruction& in : instructions) assembly += squeeze(print(in, Family::Gen9)) + "\n";
  const auto warnings = iga64_warnings(assembly, Family::Gen9);
  if (!warnings) {
    std::puts("iga64 is not installed: warnings were not compared");
    return;
  }
  std::size_t agreed = 0;
  std::map<std::string_view, std::size_t> otherwise;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& in = instructions[i];
    const auto findings = check::check(in, {Family::Gen9, check::Core::Any});
    std::string all;
    if (const auto at = warnings->find(i + 1); at != warnings->end())
      for (const std::string& text : at->second) all += text + " ";
    INFO(squeeze(print(in, Family::Gen9)) << "\niga64: " << all << "\nours: " << names(findings));
    for (const auto& [number, rule] : numbered) {
      const bool theirs = all.find("(Restriction " + std::string(number) + ")") != std::string::npos;
      const bool ours = has(findings, rule);
      agreed += theirs && ours ? 1 : 0;
      if (theirs == ours) continue;
      const auto reading = std::find_if(
          std::begin(readings), std::end(readings),
          [&, rule = rule](const Reading& r) { return r.rule == rule && r.ours == ours && r.holds(in); });
      if (reading == std::end(readings))
        FAIL_CHECK(number);
      else
        ++otherwise[reading->name];
    }
  }
  std::printf("%zu instructions, %zu findings that iga64 warns of too", instructions.size(), agreed);
  for (const auto& [name, times] : otherwise) std::printf("; %zu %s", times, std::string(name).c_str());
  std::puts("");
  CHECK(otherwise.size() == std::size(readings));
  CHECK(agreed > 1000);
}

}  // namespace eum::gen::test
