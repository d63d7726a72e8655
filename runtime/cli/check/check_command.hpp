#pragma once
// `eumulate check`: what of a program the manuals forbid.
#include <CLI/CLI.hpp>

namespace eum::cli {

/// Adds the command `check`. `exit_code` outlives the parsing and is set when the command was run.
void add_check_command(CLI::App& app, int& exit_code);

}  // namespace eum::cli
