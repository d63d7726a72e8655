#pragma once
// `eumulate info`: what a compiled program holds.
#include <CLI/CLI.hpp>

namespace eum::cli {

/// Adds the command `info`. `exit_code` outlives the parsing and is set when the command was run.
void add_info_command(CLI::App& app, int& exit_code);

}  // namespace eum::cli
