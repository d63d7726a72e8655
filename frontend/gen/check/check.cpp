// Runs every rule of the family in order.
#include "frontend/gen/check/check.hpp"

#include "frontend/gen/check/subject.hpp"

namespace eum::gen::check {
namespace {

using Function = void (*)(const Subject&, Report&);

constexpr std::array functions{
#define GEN_RULE(name, ...) Function{&rule_##name},
#include "frontend/gen/check/rules.def"
#undef GEN_RULE
};

bool applies(const RuleInfo& rule, const Target& target) {
  return rule.families.contains(target.family) && (rule.core == Core::Any || rule.core == target.core);
}

/// The subject as rules expect it: with execution sizes and regions in elements of the operands' types.
Subject subject(const Instruction& instruction, Family family, std::span<const std::byte> word,
                const KernelPlaces* kernel) {
  const Result<Instruction> form = whole_doubles(instruction, family);
  return {form ? *form : instruction, family, word, kernel, !form};
}

void check_one(const Subject& s, const Target& target, std::vector<Finding>& to) {
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (!applies(rule_table[i], target)) continue;
    Report report(to, static_cast<Rule>(i), s.in.offset);
    functions[i](s, report);
  }
}

}  // namespace

std::string_view name(Place place) {
  constexpr std::string_view names[] = {"", "dst", "src0", "src1", "src2"};
  return names[static_cast<std::size_t>(place)];
}

std::vector<Finding> check(const Instruction& instruction, const Target& target) {
  std::vector<Finding> findings;
  check_one(subject(instruction, target.family, {}, nullptr), target, findings);
  return findings;
}

Result<std::vector<Finding>> check(std::span<const std::byte> kernel, const Target& target) {
  std::vector<Instruction> instructions;
  KernelPlaces places{kernel.size(), {}};
  for (std::size_t at = 0; at < kernel.size();) {
    auto decoded = decode(kernel, at, target.family);
    if (!decoded) return decoded.error();
    places.starts.push_back(static_cast<std::uint32_t>(at));
    at += decoded->length;
    instructions.push_back(*decoded);
  }
  std::vector<Finding> findings;
  for (const Instruction& in : instructions)
    check_one(subject(in, target.family, kernel.subspan(in.offset, in.length), &places), target, findings);
  return findings;
}

}  // namespace eum::gen::check
