// Prints the instruction set of a family as a table or as JSON.
#include "runtime/cli/isa/isa_command.hpp"

#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "frontend/gen/isa/isa.hpp"
#include "runtime/cli/exit_code.hpp"
#include "runtime/cli/family_option.hpp"
#include "runtime/cli/output.hpp"

namespace eum::cli {
namespace {

using nlohmann::json;

struct IsaOptions {
  std::string family = "gen9";
  bool as_json = false;
};

/// The reference engine interprets every micro-op.
std::string_view on_reference(gen::Execution execution) {
  return gen::name(execution == gen::Execution::Unsupported ? execution : gen::Execution::Native);
}

/// The types, or other conditions, that fault.
std::string fault_text(const gen::IsaInstruction& row) {
  if (row.reason.empty()) return "";
  if (row.unsupported == 0) return row.reason;
  return fmt::format("fault with {}: {}", gen::types_of(row.unsupported), row.reason);
}

json types_json(gen::TypeSet set) {
  json names = json::array();
  for (std::size_t t = 0; t < gen::type_table.size(); ++t)
    if (set >> t & 1 && static_cast<gen::Type>(t) != gen::Type::none)
      names.push_back(gen::type_table[t].name);
  return names;
}

json to_json(gen::Execution execution) {
  return {{"avx2", gen::name(execution)}, {"reference", on_reference(execution)}};
}

void print_json(const gen::Isa& isa, gen::Family family) {
  json instructions = json::array(), messages = json::array();
  for (const gen::IsaInstruction& row : isa.instructions)
    instructions.push_back({{"name", row.text},
                            {"opcode", gen::info(row.opcode).number},
                            {"operands", gen::operands_of(row.shape.format)},
                            {"destination_types", types_json(row.shape.dst_types)},
                            {"source_types", types_json(row.shape.src_types)},
                            {"modifiers", gen::capabilities_of(row.shape)},
                            {"engines", to_json(row.execution)},
                            {"unsupported_types", types_json(row.unsupported)},
                            {"reason", row.reason}});
  for (const gen::IsaMessage& row : isa.messages) {
    const gen::MessageInfo& info = gen::info(row.kind);
    messages.push_back({{"name", info.name},
                        {"shared_function", gen::shared_function_name(info.sfid, family)},
                        {"text", info.text},
                        {"engines", to_json(row.execution)},
                        {"reason", row.reason}});
  }
  const json result = {{"family", gen::info(family).name},
                       {"instructions", std::move(instructions)},
                       {"messages", std::move(messages)}};
  print("{}\n", result.dump(2, ' ', true, json::error_handler_t::replace));
}

void print_table(const gen::Isa& isa, gen::Family family) {
  print("{}: {} instructions, {} messages\n\n", gen::info(family).name, isa.instructions.size(),
        isa.messages.size());
  const auto line = [](const auto&... column) {
    std::string text = fmt::format("{:<11} {:<6} {:<21} {:<29} {:<38} {:<26} {:<11} {:<11} {}", column...);
    text.erase(text.find_last_not_of(' ') + 1);
    print("{}\n", text);
  };
  line("instruction", "opcode", "operands", "destination", "sources", "modifiers", "avx2", "reference", "");
  for (const gen::IsaInstruction& row : isa.instructions)
    line(row.text, fmt::format("{:#04x}", gen::info(row.opcode).number), gen::operands_of(row.shape.format),
         gen::types_of(row.shape.dst_types), gen::types_of(row.shape.src_types),
         gen::capabilities_of(row.shape), gen::name(row.execution), on_reference(row.execution),
         fault_text(row));
  const auto message_line = [](const auto&... column) {
    std::string text = fmt::format("{:<10} {:<31} {:<37} {:<11} {:<11} {}", column...);
    text.erase(text.find_last_not_of(' ') + 1);
    print("{}\n", text);
  };
  print("\n");
  message_line("to", "message", "text", "avx2", "reference", "");
  for (const gen::IsaMessage& row : isa.messages) {
    const gen::MessageInfo& info = gen::info(row.kind);
    message_line(gen::shared_function_name(info.sfid, family), info.name, info.text, gen::name(row.execution),
                 on_reference(row.execution), row.reason);
  }
}

int execute(const IsaOptions& options) {
  const auto family = family_of(options.family);
  if (!family) return fail(ExitCode::Usage, family.error());
  const gen::Isa isa = gen::instruction_set(*family);
  if (options.as_json)
    print_json(isa, *family);
  else
    print_table(isa, *family);
  return number(ExitCode::Ok);
}

}  // namespace

void add_isa_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<IsaOptions>();
  CLI::App* command =
      app.add_subcommand("isa", "list the instructions and messages of a family and what executes them");
  command->add_option("--family", options->family, fmt::format("one of {}", family_names()))
      ->capture_default_str();
  command->add_flag("--json", options->as_json, "as JSON");
  command->footer(
      "native: host code; helper: some of it is a call of the definition; expanded: rewritten into simpler\n"
      "operations first; unsupported: a fault with exit code 4.\n\n"
      "Example:\n  eumulate isa --family gen9\n");
  command->callback([options, &exit_code] { exit_code = execute(*options); });
}

}  // namespace eum::cli
