#pragma once
// `eumulate run`: one kernel over one range.
#include <CLI/CLI.hpp>

namespace eum::cli {

/// Adds the command `run`. `exit_code` outlives the parsing and is set when the command was run.
void add_run_command(CLI::App& app, int& exit_code);

}  // namespace eum::cli
