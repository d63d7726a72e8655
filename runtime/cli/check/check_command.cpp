// Prints findings of frontend/gen/check as lines or as JSON.
#include "runtime/cli/check/check_command.hpp"

#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "frontend/gen/check/check.hpp"
#include "runtime/cli/exit_code.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/program_file.hpp"
#include "runtime/cli/raw_words.hpp"
#include "runtime/translation.hpp"

namespace eum::cli {
namespace {

using nlohmann::json;
namespace check = gen::check;

struct CheckOptions {
  ProgramFile program;
  RawOptions raw;
  std::string kernel;
  bool big_core = false, as_json = false, rules = false;
};

/// Named code, and the findings in it.
struct Checked {
  std::string kernel;
  std::span<const std::byte> code;
  std::vector<check::Finding> findings;
};

std::string text_at(const Checked& checked, const check::Finding& finding, gen::Family family) {
  const auto decoded = gen::decode(checked.code, finding.offset, family);
  return decoded ? rt::single_spaced(gen::print(*decoded, family)) : decoded.error().message;
}

/// Names such as "broxton" stand for a family that also includes processors with other rules.
check::Target target_of(const CheckOptions& options, gen::Family family) {
  return {family, options.big_core ? check::Core::Any : check::Core::Lp};
}

void print_rules() {
  for (const check::RuleInfo& rule : check::rule_table) {
    std::string families;
    for (std::size_t i = 0; i < gen::family_count; ++i)
      if (rule.families.contains(static_cast<gen::Family>(i)))
        families += (families.empty() ? "" : " ") + std::string(gen::family_table[i].iga64);
    print("{:<24} {:<15}{:<4} {:<26} {}\n", rule.name, families, rule.core == check::Core::Lp ? "lp" : "",
          rule.source, rule.text);
  }
}

void print_findings(const std::vector<Checked>& all, gen::Family family) {
  std::size_t count = 0;
  std::set<check::Rule> rules;
  for (const Checked& checked : all)
    for (const check::Finding& finding : checked.findings) {
      const check::RuleInfo& rule = check::info(finding.rule);
      const std::string_view place = check::name(finding.place);
      print("{}{}{:#x}: {}{}{}: {} ({})\n  {}\n", visible(checked.kernel), checked.kernel.empty() ? "" : "+",
            finding.offset, rule.name, place.empty() ? "" : ", ", place, rule.text, rule.source,
            text_at(checked, finding, family));
      ++count;
      rules.insert(finding.rule);
    }
  print("{} kernel{}, {} finding{} of {} rule{}\n", all.size(), all.size() == 1 ? "" : "s", count,
        count == 1 ? "" : "s", rules.size(), rules.size() == 1 ? "" : "s");
}

void print_json(const std::vector<Checked>& all, gen::Family family) {
  json kernels = json::array();
  for (const Checked& checked : all) {
    json findings = json::array();
    for (const check::Finding& finding : checked.findings) {
      const check::RuleInfo& rule = check::info(finding.rule);
      findings.push_back({{"rule", rule.name},
                          {"offset", finding.offset},
                          {"operand", check::name(finding.place)},
                          {"text", rule.text},
                          {"source", rule.source},
                          {"instruction", text_at(checked, finding, family)}});
    }
    kernels.push_back({{"kernel", checked.kernel}, {"findings", std::move(findings)}});
  }
  const json result = {{"family", gen::info(family).name}, {"kernels", std::move(kernels)}};
  print("{}\n", result.dump(2, ' ', true, json::error_handler_t::replace));
}

int check_all(const CheckOptions& options, std::vector<Checked>& all, gen::Family family) {
  std::size_t count = 0;
  for (Checked& checked : all) {
    auto findings = check::check(checked.code, target_of(options, family));
    if (!findings)
      return fail(ExitCode::BadInput,
                  error("{}: {}", checked.kernel.empty() ? options.program.file : checked.kernel,
                        findings.error().message));
    checked.findings = std::move(*findings);
    count += checked.findings.size();
  }
  if (options.as_json)
    print_json(all, family);
  else
    print_findings(all, family);
  if (count == 0) return number(ExitCode::Ok);
  return fail(ExitCode::GuestFault, error("{}: the manuals forbid what it does, in {} place{}",
                                          options.program.file, count, count == 1 ? "" : "s"));
}

int execute(const CheckOptions& options) {
  if (options.rules) {
    print_rules();
    return number(ExitCode::Ok);
  }
  if (options.program.file.empty()) return fail(ExitCode::Usage, error("FILE: expected one, or --rules"));
  if (options.raw.raw) {
    RawWords words;
    if (const auto failed = read_raw(options.program.file, options.raw, words))
      return fail(failed->code, failed->error);
    std::vector<Checked> all{{"", words.bytes, {}}};
    return check_all(options, all, words.family);
  }
  rt::Program program;
  if (const auto failed = read_program(options.program, program)) return fail(failed->code, failed->error);
  std::vector<Checked> all;
  for (const rt::Kernel& kernel : program.kernels) {
    if (!options.kernel.empty() && kernel.name != options.kernel) continue;
    if (kernel.text.file)
      return fail(ExitCode::Mismatch, error("{}: expected machine code, found vISA text", kernel.name));
    all.push_back({kernel.name, kernel.code, {}});
  }
  if (all.empty())
    return fail(ExitCode::Mismatch,
                error("{}: {}", options.program.file, rt::no_such_kernel(program, options.kernel)));
  return check_all(options, all, program.family);
}

}  // namespace

void add_check_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command =
      app.add_subcommand("check", "say what of a program's instructions the manuals forbid, with the rule");
  add_program_options(*command, options->program);
  command->get_option("file")->required(false);
  add_raw_options(*command, options->raw, options->kernel);
  command->add_flag("--big-core", options->big_core,
                    "leave out rules of Cherryview and Broxton, as for code for Skylake");
  command->add_flag("--rules", options->rules, "list the rules and their sources");
  command->add_flag("--json", options->as_json, "as JSON");
  command->footer(
      "Exit code 0 if nothing was found, 4 if something was, 2 if an instruction does not decode.\n\n"
      "Examples:\n  eumulate check saxpy_Gen9lp.bin\n  eumulate check words.dat --raw --family gen9 --json\n"
      "  eumulate check --rules\n");
  command->callback([options, &exit_code] { exit_code = execute(*options); });
}

}  // namespace eum::cli
