// Names of optimisations on the command line; the table is jit/optimisations.def.
#include "runtime/cli/disable.hpp"

namespace eum::cli {
namespace {

constexpr const char* option_name = "--disable";

/// Every name with its description.
std::string help() {
  std::string text = fmt::format(
      "translate without these optimisations (NAME,NAME...), or without {} of them", jit::every_optimisation);
  for (const jit::OptimisationInfo& row : jit::optimisation_table)
    if (row.can_be_disabled()) text += fmt::format("\n  {}  {}", row.name, row.doc);
  return text;
}

}  // namespace

void add_disable_option(CLI::App& command, std::vector<std::string>& to) {
  command.add_option(option_name, to, help())->delimiter(',')->allow_extra_args(false);
}

Result<jit::Optimisations> left_without(const std::vector<std::string>& disabled) {
  auto left = jit::without(disabled);
  if (!left) return error("{}: {}", option_name, left.error().message);
  return left;
}

}  // namespace eum::cli
