#pragma once
// What the manuals forbid, as findings: the decoder accepts what hardware runs, this reports what a compiler
// must not emit. The rules are in rules.def. It must not know containers, nor how a finding is printed.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/gen/instruction.hpp"

namespace eum::gen::check {

enum class Rule : std::uint8_t {
#define GEN_RULE(name, ...) name,
#include "frontend/gen/check/rules.def"
#undef GEN_RULE
};

/// Processors of a family: all, or those with the 64-bit arithmetic of Cherryview and Broxton.
enum class Core : std::uint8_t { Any, Lp };

struct RuleInfo {
  std::string_view name;
  FamilyRange families;
  Core core;
  std::string_view source;  ///< document and section
  std::string_view text;    ///< the requirement
};

inline constexpr auto rule_table = [] {
  using namespace family_range;
  using enum Family;
  return std::to_array<RuleInfo>({
#define GEN_RULE(name, families, core, source, text) {#name, families, Core::core, source, text},
#include "frontend/gen/check/rules.def"
#undef GEN_RULE
  });
}();
constexpr const RuleInfo& info(Rule rule) { return rule_table[static_cast<std::size_t>(rule)]; }

/// The part of an instruction that a finding is about.
enum class Place : std::uint8_t { Instruction, Dst, Src0, Src1, Src2 };
/// "dst"; empty for the instruction as a whole.
std::string_view name(Place place);

struct Finding {
  Rule rule;
  Place place = Place::Instruction;
  std::uint32_t offset = 0;  ///< of the instruction, in bytes

  bool operator==(const Finding&) const = default;
};

struct Target {
  Family family = Family::Gen9;
  Core core = Core::Lp;
};

/// Findings in one instruction, in the order of rules.def. Rules on branch targets are not checked.
std::vector<Finding> check(const Instruction& instruction, const Target& target);

/// Findings in a kernel, instruction by instruction. An error names the instruction that does not decode.
Result<std::vector<Finding>> check(std::span<const std::byte> kernel, const Target& target);

}  // namespace eum::gen::check
