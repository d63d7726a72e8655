#pragma once
// `eumulate isa`: what a family has, and what executes it.
#include <CLI/CLI.hpp>

namespace eum::cli {

/// Adds the command `isa`. `exit_code` outlives the parsing and is set when the command was run.
void add_isa_command(CLI::App& app, int& exit_code);

}  // namespace eum::cli
